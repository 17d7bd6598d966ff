//! `sinew embed`.

use sinew_mesh::EmbeddedBody;

use crate::{Folder, sinew, stderr, stdout};

const TETRAHEDRON: &str = "v 0 0 0\nv 300 0 0\nv 0 300 0\nv 0 0 300\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

#[test]
fn a_surface_becomes_a_body() {
    let folder = Folder::new("embed");
    folder.write("wedge.obj", TETRAHEDRON);
    let output = sinew(
        &folder,
        &["embed", "wedge.obj", "--cells", "5", "--scale", "0.001", "--density", "2000", "-o", "wedge.ron"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stdout(&output);
    for words in ["4 vertices, 4 triangles", "9 kg", "60.0° to 90.0°", "wrote          wedge.ron"] {
        assert!(said.contains(words), "{words} is not in {said}");
    }
    let text = folder.read("wedge.ron");
    assert!(text.starts_with("(\n  format: 1,\n") && text.lines().all(|line| line.len() < 200));
    let body: EmbeddedBody = ron::from_str(&text).expect("what is written can be read");
    assert!((body.masses().iter().sum::<f64>() - 9.0).abs() < 1e-11);

    let bricks = stdout(&sinew(&folder, &["embed", "wedge.obj", "--bricks", "--mass-floor", "0.2"]));
    assert!(bricks.contains("45.0° to 90.0°") && bricks.contains("made heavier"), "{bricks}");
}

#[test]
fn programs_get_one_object() {
    let folder = Folder::new("embed-json");
    folder.write("wedge.obj", TETRAHEDRON);
    folder.write("one.node", "5 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 9 9 9\n");
    folder.write("one.ele", "1 4 0\n1 1 3 2 4\n");
    let report = |args: &[&str]| -> serde_json::Value {
        let output = sinew(&folder, &[&["embed", "--json"], args].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stderr(&output).is_empty(), "no progress bar in a pipe: {}", stderr(&output));
        serde_json::from_str(&stdout(&output)).expect("one JSON object and nothing else")
    };
    let wedge = report(&["wedge.obj", "--scale", "0.001", "--density", "2000", "-o", "wedge.ron"]);
    let body: EmbeddedBody = ron::from_str(&folder.read("wedge.ron")).expect("what is written can be read");
    assert_eq!((&wedge["vertices"], &wedge["triangles"]), (&4.into(), &4.into()));
    assert_eq!(wedge["tetrahedra"], body.tets().len());
    assert_eq!(wedge["nodes"], body.nodes().len());
    assert!((wedge["quality"]["mass"].as_f64().expect("a number") - 9.0).abs() < 1e-9, "{wedge}");
    assert!((wedge["volume"].as_f64().expect("a number") - 0.0045).abs() < 1e-12);
    assert_eq!((&wedge["flipped"], &wedge["output"]), (&false.into(), &"wedge.ron".into()));
    let one = report(&["one.ele"]);
    assert_eq!((&one["turned"], &one["unused"]), (&1.into(), &1.into()));
    assert!(one.get("output").is_none());
}

#[test]
fn tetrahedra_are_taken_as_they_are() {
    let folder = Folder::new("embed-tetgen");
    folder.write("one.node", "5 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 9 9 9\n");
    folder.write("one.ele", "1 4 0\n1 1 3 2 4\n");
    for name in ["one.ele", "one.node"] {
        let output = sinew(&folder, &["embed", name]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let said = stdout(&output);
        assert!(said.contains("1 inverted tetrahedron turned, 1 unused node left out"), "{said}");
        assert!(said.contains("4 nodes, 1 tetrahedron"), "{said}");
    }
}

#[test]
fn bad_input_exits_with_two_and_says_where() {
    let folder = Folder::new("embed-bad");
    folder.write("good.obj", TETRAHEDRON);
    folder.write("hole.obj", &TETRAHEDRON.replace("f 1 2 4\n", ""));
    folder.write("typo.obj", &TETRAHEDRON.replace("v 0 300 0", "v 0 3OO 0"));
    folder.write("wedge.txt", TETRAHEDRON);
    folder.write("alone.ele", "1 4 0\n1 1 3 2 4\n");
    folder.write("short.stl", "not much");
    for (args, words) in [
        (&["hole.obj"][..], "hole.obj: the surface is open at edge"),
        (&["typo.obj"], "typo.obj: line 3: "),
        (&["short.stl"], "short.stl: not an STL file"),
        (&["wedge.txt"], ".obj, .stl, .ply, .ele, .node, .msh, .vtk or .vtu"),
        (&["none.obj"], "none.obj: cannot read"),
        (&["alone.ele"], "alone.node: cannot read"),
        (&["good.obj", "--cells", "0"], "number of cells is 0"),
        (&["good.obj", "--cells", "100000"], "number of cells"),
        (&["good.obj", "--cells", "-3"], "--cells"),
        (&["good.obj", "--density", "-1"], "density is -1"),
        (&["good.obj", "--scale", "0"], "scale is 0"),
        (&["good.obj", "--mass-floor", "2"], "mass floor is 2"),
        (&["good.obj", "-o", "good.obj"], "call it good.ron"),
        (&["good.obj", "-o", "no/such/folder/x.ron"], "cannot write no/such/folder/x.ron"),
    ] {
        let output = sinew(&folder, &[&["embed"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(words), "{args:?}: {}", stderr(&output));
        assert!(stdout(&output).is_empty(), "{args:?}");
    }
}

/// The scene of a block of the wedge, and the energy that its weight has 1 m up: 9.81 J/kg.
fn mass_of_flesh(folder: &Folder, rest: &str) -> f64 {
    let scene =
        format!("(format: 1, duration_s: 0, flesh: [(name: \"a\", {rest}, pose: (position: (0, 0, 1)))])");
    folder.write("a.ron", &scene);
    let output = sinew(folder, &["run", "a.ron", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("a report");
    // the wedge reaches from 0 to 0.3 m, its centre is a quarter up
    report["energy_initial"].as_f64().expect("a number") / (9.81 * 1.075)
}

#[test]
fn a_body_keeps_the_density_it_was_embedded_with() {
    let folder = Folder::new("embed-density");
    folder.write("wedge.obj", TETRAHEDRON);
    let args = [
        "embed",
        "wedge.obj",
        "--scale",
        "0.001",
        "--density",
        "2000",
        "--mass-floor",
        "0",
        "-o",
        "wedge.ron",
    ];
    let output = sinew(&folder, &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for (rest, expected) in [
        ("mesh: Embedded(file: \"wedge.ron\")", 9.0),
        ("mesh: Embedded(file: \"wedge.ron\"), density: 1000", 4.5),
        ("mesh: Surface(file: \"wedge.obj\", cells: 4, scale: 0.001)", 4.5),
        ("mesh: Surface(file: \"wedge.obj\", cells: 4, scale: 0.001), density: 3000", 13.5),
    ] {
        let found = mass_of_flesh(&folder, rest);
        assert!((found - expected).abs() < 1e-6 * expected, "{rest}: {found} kg, not {expected}");
    }
}

#[test]
fn a_mesh_in_millimetres_is_found_out() {
    let folder = Folder::new("embed-millimetres");
    folder.write("wedge.obj", TETRAHEDRON);
    folder.write("one.node", "4 3 0 0\n1 0 0 0\n2 300 0 0\n3 0 300 0\n4 0 0 300\n");
    folder.write("one.ele", "1 4 0\n1 1 3 2 4\n");
    assert_eq!(sinew(&folder, &["embed", "one.ele", "-o", "one.ron"]).status.code(), Some(0));
    let bone = "bodies: [(name: \"bone\", shapes: [Box(size: (0.2, 0.1, 0.1))])]";
    let flesh = |mesh: &str| format!("{bone},\n flesh: [(name: \"a\", mesh: {mesh})]");
    let shape = |kind: &str, scale: &str| {
        format!("{bone},\n colliders: [(body: \"bone\", shape: {kind}(file: \"wedge.obj\"{scale}))]")
    };
    let check = |rest: &str| {
        folder.write("a.ron", &format!("(format: 1, duration_s: 0, {rest})"));
        ["check", "run"].map(|command| {
            let output = sinew(&folder, &[command, "a.ron"]);
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            stdout(&output)
        })
    };
    for (rest, words) in [
        (
            flesh("Surface(file: \"wedge.obj\", cells: 2)"),
            "a.ron:2:28: flesh[0].mesh: `wedge.obj` is 300 m long",
        ),
        (flesh("TetGen(node: \"one.node\", ele: \"one.ele\")"), "`one.node` is 300 m long"),
        (flesh("Embedded(file: \"one.ron\")"), "sinew embed --scale 0.001"),
        (shape("Convex", ""), "colliders[0].shape.file: `wedge.obj` is 300 m long"),
        (shape("TriMesh", ""), "add scale: 0.001"),
        (shape("Decomposed", ""), "colliders[0].shape.file: `wedge.obj` is 300 m long"),
        (shape("Decomposed", ", scale: 0.001").replace("(body: \"bone\", ", "("), "`bone` has no collider"),
    ] {
        for said in check(&rest) {
            assert!(said.contains("WARNING") && said.contains(words), "{words} is not in {said}");
        }
    }
    let ground = format!(
        "{bone}, colliders: [(body: \"bone\", shape: OfBody), (shape: TriMesh(file: \"wedge.obj\", scale: 0.3))]"
    );
    for good in [
        flesh("Surface(file: \"wedge.obj\", cells: 2, scale: 0.001)"),
        flesh("TetGen(node: \"one.node\", ele: \"one.ele\", scale: 0.001)"),
        shape("Convex", ", scale: 0.001"),
        shape("Decomposed", ", scale: 0.001"),
        ground,
    ] {
        for said in check(&good) {
            assert!(!said.contains("WARNING"), "{said}");
        }
    }
    folder.write(
        "a.ron",
        &format!("(format: 1, {})", flesh("Surface(file: \"wedge.obj\", cells: 2, scale: 0)")),
    );
    assert!(stderr(&sinew(&folder, &["check", "a.ron"])).contains("flesh[0].mesh.scale: 0 is not positive"));
}
