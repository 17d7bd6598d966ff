//! BVH, OBJ and VTU files: positions come back.

use glam::{DMat3, DVec3};
use sinew_io::{BvhOptions, Clip, ImportOptions, bvh, obj, pvd, read_bvh, vtu};
use sinew_mesh::TetFile;
use sinew_sim::{SceneDoc, World};

use crate::clips::moved;
use crate::page::bytes_of;

/// Where the joints of a BVH file are in a frame, by name, as a reader of the format finds them.
fn places(text: &str, frame: usize) -> Vec<(String, DVec3)> {
    let (tree, motion) = text.split_once("MOTION\n").expect("two parts");
    let line = motion.lines().nth(2 + frame).expect("a frame");
    let mut numbers = line.split_whitespace().map(|word| word.parse::<f64>().expect("a number"));
    let (mut out, mut above, mut name) = (Vec::new(), vec![(DMat3::IDENTITY, DVec3::ZERO)], String::new());
    let mut offset = DVec3::ZERO;
    for line in tree.lines().skip(1) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["ROOT" | "JOINT", joint] => name = joint.to_owned(),
            ["End", "Site"] => name.clear(),
            ["{"] => {}
            ["OFFSET", x, y, z] => {
                offset = DVec3::from_array([x, y, z].map(|word| word.parse().expect("a number")));
                if name.is_empty() {
                    above.push((DMat3::IDENTITY, DVec3::ZERO));
                }
            }
            ["CHANNELS", _, ref channels @ ..] => {
                let (turn, at) = above[above.len() - 1];
                let (mut own, mut place) = (DMat3::IDENTITY, offset);
                for channel in channels {
                    let number = numbers.next().expect("a number for each channel");
                    let (s, c) = sinew_math::ops::sin_cos(number.to_radians());
                    match *channel {
                        "Xposition" => place.x = number,
                        "Yposition" => place.y = number,
                        "Zposition" => place.z = number,
                        "Zrotation" => own *= DMat3::from_cols_array(&[c, s, 0.0, -s, c, 0.0, 0.0, 0.0, 1.0]),
                        "Xrotation" => own *= DMat3::from_cols_array(&[1.0, 0.0, 0.0, 0.0, c, s, 0.0, -s, c]),
                        _ => own *= DMat3::from_cols_array(&[c, 0.0, -s, 0.0, 1.0, 0.0, s, 0.0, c]),
                    }
                }
                above.push((turn * own, at + turn * place));
                out.push((name.clone(), at + turn * place));
            }
            ["}"] => {
                above.pop();
            }
            _ => panic!("{line}"),
        }
    }
    assert_eq!(numbers.next(), None, "a number too many");
    assert_eq!(above.len(), 1);
    out
}

#[test]
fn bvh_gives_back_where_joints_are() {
    let (_, clip) = moved(60);
    let text = bvh(&clip, &BvhOptions { speed: 0.5 }).expect("a file");
    assert!(text.contains("Frames: 60\nFrame Time: 0.020000000\n"), "{}", &text[text.len() - 900..]);
    let size = 7.0;
    for frame in [0, 20, 59] {
        let found = places(&text, frame);
        let moment = &clip.frames[frame];
        assert_eq!(found.len(), clip.bodies.len() + 1, "several trees hang on one root");
        for (body, look) in clip.bodies.iter().enumerate() {
            let name = look.name.replace(' ', "_");
            let place = found.iter().find(|it| it.0 == name).expect("a joint").1;
            let anchor = look.joint.filter(|_| look.parent.is_some()).map(|joint| moment.anchors[joint]);
            let [x, y, z] = anchor.unwrap_or(moment.poses[body].translation).to_array();
            assert!(
                place.distance(DVec3::new(x, z, -y)) < 2e-3 * size,
                "{name} in {frame}: {place} {x} {y} {z}"
            );
        }
    }
}

#[test]
fn surfaces_come_back() {
    let (_, clip) = moved(5);
    let text = obj(&clip, 4).expect("a frame");
    let found = sinew_mesh::read_triangles("frame.obj", text.as_bytes()).expect("a surface");
    let wanted = clip.meshes.iter().map(|mesh| mesh.triangles.len()).sum::<usize>()
        + clip.skins.iter().map(|skin| skin.triangles.len()).sum::<usize>();
    assert_eq!(text.lines().filter(|line| line.starts_with("f ")).count(), wanted);
    assert!(text.contains("\no fore_arm\n") && found.positions.len() > 100);
    let height =
        |points: &mut dyn Iterator<Item = DVec3>| points.fold(f64::INFINITY, |low, it| low.min(it.z));
    let flesh = height(&mut clip.frames[4].skins[0].iter().copied());
    let ball = clip.bodies.iter().position(|body| body.name == "ball").expect("a ball");
    let lowest = flesh.min(clip.frames[4].poses[ball].translation.z - 0.3);
    assert!((height(&mut found.positions.iter().copied()) - lowest).abs() < 2e-3);
    assert_eq!(obj(&clip, 5), None);
}

/// The numbers of an array of a `.vtu` file of ours.
fn array(text: &str, wanted: &str) -> Vec<f32> {
    let document = roxmltree::Document::parse(text).expect("XML");
    let array = document.descendants().find(|node| node.attribute("Name") == Some(wanted)).expect("an array");
    let bytes = bytes_of(array.text().expect("letters").trim());
    let n = u32::from_le_bytes(bytes[..4].try_into().expect("four bytes")) as usize;
    bytes[4..4 + n].chunks_exact(4).map(|word| f32::from_le_bytes(word.try_into().expect("four"))).collect()
}

#[test]
fn a_cube_that_is_stretched_has_its_stress_in_the_file() {
    // Held at both ends, 2 % longer: σ₁₁ − σ₂₂ = 1.02 S₁₁ − S₂₂/1.02 with E₁₁ = (1.02² − 1)/2 = 0.0202, S₁₁ = (λ + 2μ) E₁₁, S₂₂ = λ E₁₁.
    // Young's modulus 200 kPa and Poisson's ratio 0.3: λ = 115,384.615 Pa, μ = 76,923.077 Pa.
    let text = r#"(format: 1, gravity: (0, 0, 0), flesh: [(
        name: "cube", mesh: Beam(size: (1, 1, 1), cells: (1, 1, 1)), material: StVenantKirchhoff(young: 2e5, poisson: 0.3),
    )])"#;
    let scene = SceneDoc::from_ron(text, "cube.ron").expect("a scene");
    let mut world = World::from_scene(&scene).expect("a world");
    world.state_mut().flesh.nodes[0].positions.iter_mut().for_each(|x| x.x *= 1.02);
    let mut clip = Clip::new("cube", &world);
    clip.push(&world);
    let stresses = array(&vtu(&clip, 0).expect("a frame"), "stress");
    assert_eq!(stresses.len(), 6);
    let (along, across) = (269_230.769 * 0.0202, 115_384.615 * 0.0202);
    let wanted = 1.02 * along - across / 1.02;
    assert!(
        stresses.iter().all(|stress| (f64::from(*stress) - wanted).abs() < 1e-3 * wanted),
        "{stresses:?}, not {wanted}"
    );
}

#[test]
fn tetrahedra_come_back_with_their_data() {
    let (_, clip) = moved(40);
    let text = vtu(&clip, 39).expect("a frame");
    let found = TetFile::from_bytes("frame.vtu", text.as_bytes()).expect("a file");
    assert_eq!(found.mesh.tets().len(), clip.flesh[0].tets.len());
    for (found, wanted) in found.mesh.positions().iter().zip(&clip.frames[39].nodes[0]) {
        assert!(found.distance(*wanted) < 1e-6);
    }
    let document = roxmltree::Document::parse(&text).expect("XML");
    let piece = document.descendants().find(|node| node.has_tag_name("Piece")).expect("a piece");
    let number =
        |name: &str| piece.attribute(name).and_then(|text| text.parse::<usize>().ok()).expect("a number");
    let triangles: usize = clip.meshes.iter().map(|mesh| mesh.triangles.len()).sum();
    let contacts = clip.frames[39].contacts.len();
    assert!(contacts > 0, "the ball or the worm lies on the ground");
    assert_eq!(number("NumberOfCells"), clip.flesh[0].tets.len() + triangles + contacts);
    for array in document.descendants().filter(|node| node.has_tag_name("DataArray")) {
        let name = array.attribute("Name").expect("a name");
        let items = match array.parent().expect("an owner").tag_name().name() {
            "Points" | "PointData" => number("NumberOfPoints"),
            _ if name == "connectivity" => continue,
            _ => number("NumberOfCells"),
        };
        let width: usize = array.attribute("NumberOfComponents").expect("a width").parse().expect("a number");
        let size = if array.attribute("type") == Some("UInt8") { 1 } else { 4 };
        let letters = array.text().expect("letters").trim().len();
        assert_eq!(letters, (4 + items * width * size).div_ceil(3) * 4, "{name}");
    }
    let times = pvd([(0.0, "a&b.vtu".to_owned()), (0.5, "c.vtu".to_owned())]);
    let document = roxmltree::Document::parse(&times).expect("XML");
    let sets: Vec<_> = document.descendants().filter_map(|node| node.attribute("file")).collect();
    assert_eq!(sets, ["a&b.vtu", "c.vtu"]);
}

#[test]
fn names_are_one_word_each_and_ends_lie_along_their_bodies() {
    let body = |name: &str, x: f64, shape: &str| {
        format!("(name: \"{name}\", pose: (position: ({x}, 0, 0)), shapes: [{shape}])")
    };
    let capsule = "Capsule(radius: 0.1, length: 0.8)";
    let text = format!(
        r#"(format: 1, name: "odd", gravity: (0, 0, -9.81), bodies: [{}, {}, {}, {}], joints: [
            (name: "a", kind: Hinge, child: "upper arm", frames: World(anchor: (0, 0, 0), axis: (0, 1, 0))),
            (name: "b", kind: Ball, child: "upper_arm", parent: "upper arm", frames: World(anchor: (1, 0, 0))),
            (name: "c", kind: Ball, child: "{{", parent: "upper_arm", frames: World(anchor: (2, 0, 0))),
            (name: "d", kind: Ball, child: "hand}} {{", parent: "upper_arm", frames: World(anchor: (2.5, 0, 0))),
        ])"#,
        body("upper arm", 0.5, capsule),
        body("upper_arm", 1.5, capsule),
        body("{", 2.5, capsule),
        body("hand} {", 2.5, "Box(size: (0.1, 0.1, 0.4))"),
    );
    let scene = SceneDoc::from_ron(&text, "odd.ron").expect("a scene");
    let world = World::from_scene(&scene).expect("a world");
    let mut clip = Clip::new("odd", &world);
    clip.push(&world);
    let text = bvh(&clip, &BvhOptions::default()).expect("a file");
    let names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("ROOT ").or(line.trim().strip_prefix("JOINT ")))
        .collect();
    assert_eq!(names, ["upper_arm", "upper_arm_2", "body", "hand"]);
    let end = |text: &str| {
        let numbers = text.split_once("OFFSET ").expect("an offset").1.split_whitespace().take(3);
        DVec3::from_slice(&numbers.map(|number| number.parse().expect("a number")).collect::<Vec<_>>())
    };
    let ends: Vec<DVec3> = text.split("End Site").skip(1).map(end).collect();
    assert_eq!(ends.len(), 2);
    assert!(ends[0].distance(DVec3::X) < 1e-5 && ends[1].distance(0.2 * DVec3::Y) < 1e-5, "{ends:?}");
    let read = read_bvh(&text, "odd.bvh", &ImportOptions::default()).expect("it is read back");
    assert_eq!(read.scene.bodies.len(), 4);
}
