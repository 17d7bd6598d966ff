//! What errors say to people who begin.

use sinew_scene::{SceneDoc, SceneSource};

/// The errors of a scene with these fields.
fn said(fields: &str) -> String {
    SceneDoc::from_ron(&format!("(\n  format: 1,\n{fields})"), "a.ron").expect_err("an error").to_string()
}

#[test]
fn a_shape_in_place_of_a_collider_is_wrapped() {
    let text = said("colliders: [(shape: Box(size: (1, 1, 1)))]");
    assert!(text.contains("there is no `Box` here (write Solid(Box(…)), or OfBody"), "{text}");
    let text = said("bodies: [(name: \"a\", shapes: [Bax(size: (1, 1, 1))])]");
    assert!(text.contains("did you mean `Box`?"), "{text}");
}

#[test]
fn fields_of_surfaces_belong_to_contact() {
    let text = said("colliders: [(shape: OfBody, restitution: 0.5)]");
    assert!(text.contains("no field `restitution` here (write contact: (restitution: …))"), "{text}");
    let text = said("bodies: [(name: \"a\", friction: 0.5)]");
    assert!(text.contains("write contact: (friction: …)"), "{text}");
}

#[test]
fn a_missing_comma_is_between_what_is_around_it() {
    let text = said("  dt: 0.01\n  duration_s: 1,\n");
    assert!(text.contains("a.ron:4:3: a comma is missing"), "{text}");
    assert!(text.contains("between `dt: 0.01` and `duration_s: 1,`"), "{text}");
    let long = format!("  name: \"{}\"\n  dt: 0.01,", "ä".repeat(200));
    let text = said(&long);
    assert!(text.contains("ää\"` and `dt: 0.01,)`") && text.len() < 300, "{text}");
    let text = said("  dt: = 3,");
    assert!(text.contains("at `= 3,)`"), "{text}");
}

#[test]
fn a_file_that_is_not_there_reminds_of_one_that_is() {
    let folder = std::env::temp_dir().join(format!("sinew-messages-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("mug.obj"), "").expect("a file");
    let scene = folder.join("a.ron");
    for (file, words) in
        [("mugs.obj", "did you mean `mug.obj`?"), ("chair_high.stl", "there is no such file (")]
    {
        std::fs::write(&scene, format!("(format: 1, colliders: [(shape: Decomposed(file: \"{file}\"))])"))
            .expect("a file");
        let text = SceneSource::load(&scene).expect("a file").parse().expect_err("an error").to_string();
        assert!(text.contains(words), "{text}");
    }
    std::fs::remove_dir_all(&folder).expect("a file");
}
