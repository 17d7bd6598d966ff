//! Parts of MJCF that become many: copies, height fields, flesh.

use std::collections::BTreeSet;

use glam::DVec3;
use sinew_io::{Files, ImportOptions, Imported, Outcome, read_mjcf};
use sinew_scene::{AttachedDoc, ColliderShapeDoc, FleshMeshDoc, SceneDoc};
use sinew_sim::World;
use sinew_testkit::assert_close;

use crate::oracle::{path, read};

fn parse(inside: &str, files: &[(&str, &[u8])]) -> Result<Imported, String> {
    let files = files.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect();
    let text = format!("<mujoco>\n{inside}</mujoco>");
    read_mjcf(&text, "model.xml", &Files::in_memory(files), &ImportOptions::default())
        .map_err(|error| error.to_string())
}

fn model(inside: &str) -> Imported {
    parse(inside, &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn findings(read: &Imported, outcome: Outcome) -> Vec<String> {
    read.report.of(outcome).map(|it| format!("{}: {}", it.place, it.what)).collect()
}

#[test]
fn copies_and_what_names_them_have_the_names_of_mujoco() {
    let read = read(&path("models").join("copies.xml"), &ImportOptions::default());
    let joints: BTreeSet<&str> = read.scene.joints.iter().map(|joint| joint.name.as_str()).collect();
    for name in ["turn_0", "bend0_0", "slide1_2", "roll0", "roll1", "swing"] {
        assert!(joints.contains(name), "{name}: {joints:?}");
    }
    let gears: Vec<&str> = read.scene.gears.iter().map(|gear| gear.name.as_str()).collect();
    assert_eq!(gears, ["follow0_0", "follow1_0", "follow0_1", "follow1_1", "follow0_2", "follow1_2"]);
    let motors = read.scene.joints.iter().filter(|joint| joint.motor.is_some());
    assert_eq!(motors.map(|joint| joint.name.as_str()).collect::<Vec<_>>(), ["turn_0", "turn_1", "turn_2"]);
    // Each once, though there are six of them.
    let ignored = findings(&read, Outcome::Ignored);
    assert_eq!(ignored.iter().filter(|it| it.contains("<gyro> `spin`")).count(), 1, "{ignored:?}");
    assert_eq!(ignored.iter().filter(|it| it.contains("<motor> `pull`")).count(), 1, "{ignored:?}");
    let mut world = World::from_scene(&read.scene).expect("a world");
    (0..20).for_each(|_| assert!(world.step().health.is_good()));
}

#[test]
fn copies_stand_one_step_after_the_other() {
    let scene = model(
        "<worldbody><replicate count=\"3\" offset=\"1 0 0\" euler=\"0 0 90\" sep=\"-\">
         <body name=\"b\" pos=\"0 0 1\"><joint/><geom size=\"0.1\"/></body><geom size=\"0.2\"/></replicate></worldbody>",
    )
    .scene;
    let places: Vec<(&str, DVec3)> =
        scene.bodies.iter().map(|body| (body.name.as_str(), body.pose.to_pose().translation)).collect();
    assert_eq!(places.iter().map(|it| it.0).collect::<Vec<_>>(), ["b-0", "b-1", "b-2"]);
    for (found, expected) in places.iter().zip([[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0]]) {
        assert_close!(found.1, DVec3::from_array(expected), 1e-14);
    }
    assert_eq!(scene.colliders.len(), 6);
}

#[test]
fn copies_are_bounded_and_faults_name_their_line() {
    let inside = |attributes: &str, within: &str| {
        format!("<worldbody>\n<replicate {attributes}>{within}</replicate></worldbody>")
    };
    for (text, expected) in [
        (inside("count=\"0\"", ""), "model.xml:3: <replicate>: `count` is a whole number from 1"),
        (inside("count=\"1.5\"", ""), "`count` is a whole number"),
        (inside("offset=\"1 0 0\"", ""), "`count` is a whole number"),
        (inside("count=\"20000\"", "<geom/><geom/>"), "the copies have more than 20000 elements together"),
        (inside("count=\"2\"", "<geom size=\"0\"/>"), "takes 1 positive numbers"),
    ] {
        let error = parse(&text, &[]).expect_err(&text);
        assert!(error.contains(expected), "{text}: {error}");
    }
    let nested =
        format!("{}<geom size=\"1\"/>{}", "<replicate count=\"9\">".repeat(40), "</replicate>".repeat(40));
    let error = parse(&format!("<worldbody>{nested}</worldbody>"), &[]).expect_err("too many");
    assert!(error.contains("more than 20000 elements"), "{error}");
    let one = "<replicate count=\"1\"></replicate>".repeat(1001);
    let error = parse(&format!("<worldbody>{one}</worldbody>"), &[]).expect_err("too many");
    assert!(error.contains("more than 1000 <replicate>"), "{error}");
}

#[test]
fn what_names_copies_and_others_is_told() {
    let read = model(
        "<worldbody><replicate count=\"2\"><body name=\"b\"><joint name=\"j\"/><geom size=\"0.1\"/></body></replicate>
         <body name=\"c\"><joint name=\"k\"/><geom size=\"0.1\"/></body></worldbody>
         <equality>\n<joint joint1=\"j\" joint2=\"k\"/></equality>
         <contact><exclude body1=\"world\" body2=\"b\"/></contact>",
    );
    assert!(read.scene.gears.is_empty());
    let told = findings(&read, Outcome::Ignored);
    assert_eq!(
        told,
        ["model.xml:5: <joint>: it names what is copied and what is not: no copy of it is made"]
    );
    assert_eq!(read.report.used["excluded pairs"], 2);
}

fn heights(scene: &SceneDoc) -> (&[f64; 2], &[Vec<f64>]) {
    match &scene.colliders[0].shape {
        ColliderShapeDoc::HeightField { size, heights, .. } => (size, heights),
        other => panic!("{other:?}"),
    }
}

/// Values of MuJoCo 3.17.
#[test]
fn height_fields_are_those_of_mujoco() {
    let field = |attributes: &str, file: &[u8]| {
        let text = format!(
            "<asset><hfield name=\"h\" size=\"1 2 0.7 0.1\" {attributes}/></asset>
             <worldbody><geom type=\"hfield\" hfield=\"h\"/></worldbody>"
        );
        parse(&text, &[("h.bin", file)])
    };
    let read = field("nrow=\"2\" ncol=\"3\" elevation=\"1 2 3 4 5 8\"", &[]).expect("a model");
    let (size, rows) = heights(&read.scene);
    assert_close!(*size, [2.0, 4.0], 0.0);
    assert_close!(rows.concat()[..], [0.3, 0.4, 0.7, 0.0, 0.1, 0.2][..], 1e-15);
    let mut file: Vec<u8> = [2_i32, 3].iter().flat_map(|n| n.to_le_bytes()).collect();
    file.extend([1.0_f32, 2.0, 3.0, 4.0, 5.0, 8.0].iter().flat_map(|x| x.to_le_bytes()));
    let read = field("file=\"h.bin\"", &file).expect("a model");
    assert_close!(heights(&read.scene).1.concat()[..], [0.0, 0.1, 0.2, 0.3, 0.4, 0.7][..], 1e-15);
    for (attributes, expected) in [
        ("nrow=\"2\" ncol=\"3\" elevation=\"1 2\"", "2 rows of 3 heights are meant, and 2 are there"),
        ("nrow=\"2\"", "`ncol` is a whole number from 2"),
        ("nrow=\"2000\" ncol=\"2000\"", "more than 2000000 heights"),
        ("file=\"none.png\"", "there is no file `none.png`"),
    ] {
        let read = field(attributes, &[]).expect("a model");
        let told = findings(&read, Outcome::Ignored);
        assert!(told.iter().any(|it| it.contains(expected)), "{attributes}: {told:?}");
        assert!(read.scene.colliders.is_empty());
    }
}

#[test]
fn balls_come_to_rest_on_height_fields() {
    let read = model(
        "<asset><hfield name=\"bowl\" nrow=\"3\" ncol=\"3\" size=\"1 1 0.3 0.1\" elevation=\"1 1 1 1 0 1 1 1 1\"/></asset>
         <worldbody><geom type=\"hfield\" hfield=\"bowl\" pos=\"0 0 1\"/>
         <body name=\"ball\" pos=\"0.3 0.2 1.5\"><freejoint/><geom size=\"0.1\"/></body></worldbody>",
    );
    let mut world = World::from_scene(&read.scene).expect("a world");
    (0..1500).for_each(|_| _ = world.step());
    let place = world.pose(world.body("ball").expect("a body")).translation;
    assert!(place.x.abs() < 0.35 && place.y.abs() < 0.35 && place.z > 1.05 && place.z < 1.3, "{place}");
}

const BAR: &str = "<worldbody><body name=\"wall\" pos=\"0 0 1\"><flexcomp name=\"bar\" type=\"grid\" dim=\"3\" count=\"6 3 3\"
   spacing=\"0.1 0.05 0.05\" mass=\"2\" radius=\"0.01\" pos=\"0.25 0 0\">
   <elasticity young=\"2e5\" poisson=\"0.3\" damping=\"0.02\"/><contact friction=\"0.7\"/><pin gridrange=\"0 0 0 0 2 2\"/>
   </flexcomp></body></worldbody>";

#[test]
fn a_flex_of_three_dimensions_is_flesh_on_its_body() {
    let read = model(BAR);
    let [flesh] = &read.scene.flesh[..] else { panic!("{:?}", read.scene.flesh) };
    let FleshMeshDoc::Tets { nodes, tets } = &flesh.mesh else { panic!("{:?}", flesh.mesh) };
    assert_eq!((nodes.len(), tets.len(), flesh.material.elasticity()), (54, 6 * 5 * 4, (2e5, 0.3)));
    let volume = 0.5 * 0.1 * 0.1;
    assert_close!(flesh.density.expect("a density") * volume, 2.0, 1e-12);
    assert_eq!(flesh.attach[0].nodes, AttachedDoc::List((0..9).collect()));
    assert_close!(flesh.contact.as_ref().expect("contact").friction, 0.7, 0.0);
    let mut world = World::from_scene(&read.scene).expect("a world");
    let tip = |world: &World| world.state().flesh.nodes[0].positions[53];
    assert_close!(tip(&world), DVec3::new(0.5, 0.05, 1.05), 1e-14);
    (0..300).for_each(|_| assert!(world.step().health.is_good()));
    let sag = 1.05 - tip(&world).z;
    assert!(sag > 0.02 && sag < 0.4, "{sag}");
}

#[test]
fn flexes_that_are_no_flesh_are_told() {
    let flex = |attributes: &str, inside: &str| {
        model(&format!("<worldbody><flexcomp name=\"f\" {attributes}>{inside}</flexcomp></worldbody>"))
    };
    let stiff = "<elasticity young=\"1e4\"/>";
    for (attributes, inside, expected) in [
        ("dim=\"2\"", stiff, "flesh has dim=\"3\""),
        ("", stiff, "flesh has dim=\"3\""),
        ("dim=\"3\"", "", "it has no Young's modulus"),
        ("dim=\"3\" rigid=\"true\"", stiff, "make it a geom"),
        ("dim=\"3\" dof=\"trilinear\"", stiff, "fewer freedoms"),
        ("dim=\"3\" type=\"mesh\" file=\"a.obj\"", stiff, "there is no file `a.obj`"),
        ("dim=\"3\" type=\"circle\"", stiff, "a flex of type circle has no tetrahedra"),
    ] {
        let read = flex(attributes, inside);
        assert!(read.scene.flesh.is_empty());
        let told = findings(&read, Outcome::Ignored);
        assert!(told.len() == 1 && told[0].contains("<flexcomp> `f`"), "{told:?}");
        assert!(told[0].contains(expected), "{told:?}");
    }
    for (attributes, expected) in [
        ("count=\"1 3 3\"", "three numbers from 2"),
        ("count=\"100 100 100\"", "50000 points at most"),
        ("type=\"direct\" point=\"0 0 0 1 0 0 0 1 0\" element=\"0 1 2 3\"", "3 is no number of a point"),
        ("type=\"direct\" point=\"0 0 0 1 0 0 0 1 0 1 1 0\" element=\"0 1 2 3\"", "<flexcomp> `f`"),
    ] {
        let text =
            format!("<worldbody><flexcomp name=\"f\" dim=\"3\" {attributes}>{stiff}</flexcomp></worldbody>");
        let error = parse(&text, &[]).expect_err(attributes);
        assert!(error.contains(expected), "{attributes}: {error}");
    }
}

#[test]
fn flesh_of_flexes_comes_from_files_and_lists() {
    let text = |attributes: &str| {
        format!(
            "<worldbody><flexcomp name=\"f\" dim=\"3\" mass=\"1\" {attributes}><elasticity young=\"1e4\"/><pin id=\"0\"/></flexcomp></worldbody>"
        )
    };
    let obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    let gmsh = b"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n$Elements\n1\n1 4 0 1 2 3 4\n$EndElements\n";
    let files: [(&str, &[u8]); 2] = [("a.obj", obj), ("a.msh", gmsh)];
    for (attributes, n_nodes, n_tets) in [
        ("type=\"mesh\" file=\"a.obj\" origin=\"0.2 0.2 0.2\" scale=\"2 2 2\"", 5, 4),
        ("type=\"gmsh\" file=\"a.msh\"", 4, 1),
        ("type=\"direct\" point=\"0 0 0 1 0 0 0 1 0 0 0 1\" element=\"0 1 2 3\"", 4, 1),
    ] {
        let scene = parse(&text(attributes), &files).unwrap_or_else(|error| panic!("{error}")).scene;
        let FleshMeshDoc::Tets { nodes, tets } = &scene.flesh[0].mesh else { panic!("{attributes}") };
        assert_eq!((nodes.len(), tets.len()), (n_nodes, n_tets), "{attributes}");
        World::from_scene(&scene).unwrap_or_else(|error| panic!("{attributes}: {error}"));
    }
}

#[test]
fn sensors_and_what_is_not_used_are_told_one_by_one() {
    let read = model(
        "<worldbody/>\n<sensor>\n<clock name=\"a\"/>\n<clock name=\"b\"/></sensor>\n<deformable><flex name=\"c\" dim=\"3\"/></deformable>
<custom><numeric name=\"d\" data=\"1\"/></custom>",
    );
    let told = findings(&read, Outcome::Ignored);
    let expected = ["4: <clock> `a`", "5: <clock> `b`", "6: <flex> `c`", "7: <numeric> `d`"];
    assert_eq!(told, expected.map(|it| format!("model.xml:{it}: this element is not used")));
}

#[test]
fn ranges_without_end_and_tendons_of_balls_do_not_refuse_a_model() {
    let read = model(
        "<worldbody><body><joint name=\"a\" range=\"-inf inf\"/><geom size=\"1\"/>
         <body><joint name=\"b\" type=\"slide\" range=\"-0.5 +Inf\"/><geom size=\"1\"/>
         <body><joint name=\"c\" type=\"ball\"/><geom size=\"1\"/></body></body></body></worldbody>
         <tendon>\n<fixed name=\"t\" stiffness=\"2\"><joint joint=\"a\" coef=\"1\"/><joint joint=\"c\" coef=\"1\"/></fixed></tendon>
         <equality><tendon tendon1=\"t\"/></equality>",
    );
    let [a, b, _] = &read.scene.joints[..] else { panic!("{:?}", read.scene.joints) };
    assert!(a.limits.is_none());
    let limits = b.limits.expect("limits");
    assert!(limits.min > -0.6 && limits.max > 1e8, "{limits:?}");
    assert!(read.scene.gears.is_empty() && read.scene.joints.iter().all(|joint| joint.spring.is_none()));
    let told = findings(&read, Outcome::Ignored);
    assert!(
        told.iter().any(|it| it.starts_with("model.xml:6: <fixed> `t`: one of its joints neither turns")),
        "{told:?}"
    );
    assert_eq!(told.iter().filter(|it| it.contains("`t`")).count(), 1, "{told:?}");
    World::from_scene(&read.scene).expect("a world");
}
