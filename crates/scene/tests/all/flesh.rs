//! Flesh, colliders and characters: written and read back, generated, and set by path.

use std::collections::BTreeMap;
use std::path::PathBuf;

use glam::DVec3;
use sinew_math::Pose;
use sinew_mesh::characters;
use sinew_scene::{
    AttachedDoc, BodyKindDoc, CharacterDoc, CharacterKindDoc, FleshMaterialDoc, FleshMeshDoc, FollowDoc,
    GeneratorDoc, JointFramesDoc, JointSpringDoc, MotorDoc, PoseDoc, RotationDoc, SceneDoc, SceneIssueKind,
    Shape, TrackDoc, validate,
};

/// Every choice and every field of flesh and contact, none at its default.
const EVERYTHING: &str = r#"(
  format: 1,
  name: "everything",
  duration_s: 2,
  bodies: [
    (name: "bone", shapes: [Capsule(radius: 0.01, length: 0.1), Sphere(radius: 0.02)]),
    (name: "egg", shapes: [Ellipsoid(semi_axes: (1, 1, 2))]),
  ],
  flesh: [
    (
      name: "beam",
      mesh: Beam(size: (1, 0.2, 0.2), cells: (10, 2, 2)),
      pose: (position: (1, 2, 3), rotation: Vector(0, 0, 1)),
      velocity: (0, 0, -1),
      material: StVenantKirchhoff(young: 1e6, poisson: 0.45, band: (0.5, 2), extension: PerStretch),
      density: 1100,
      stiffness_damping_s: 0.01,
      bone_damping: 3,
      mass_floor: 0.05,
      attach: [
        (body: "world", nodes: Inside(low: (0, 0, 0), high: (0, 1, 1))),
        (body: "bone", nodes: Within(0.01)),
        (nodes: Within(0)),
        (body: "egg", nodes: List([5, 7])),
      ],
      contact: (friction: 0.8, firmness: Given(stiffness: 1e4, damping: 10), groups: 1, touches: 6),
      stepping: Implicit,
      disturbed: Random(amount: 0.01, seed: 18446744073709551615),
      color: (1, 0.5, 0),
    ),
    (
      name: "tet", mesh: Tets(nodes: [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], tets: [(0, 1, 2, 3)]),
      material: NeoHookean(young: 1, poisson: -0.5), disturbed: Scaled(1, 1, -1), stepping: Explicit(substeps: 0),
    ),
    (
      name: "tetgen", mesh: TetGen(node: "a.1.node", ele: "a.1.ele"), disturbed: Twisted(3),
      material: StVenantKirchhoff(young: 1, poisson: 0, extension: Conservative), contact: (),
    ),
    (name: "embedded", mesh: Embedded(file: "a.ron"), stepping: Explicit(substeps: 100)),
    (name: "surface", mesh: Surface(file: "parts/A.STL", cells: 12)),
    (
      name: "fish", mesh: Character(kind: WormFine(cells: (20, 3, 3))),
      attach: [(nodes: OfCharacter("worm"))],
    ),
  ],
  colliders: [
    (shape: Plane(point: (0, 0, -1), normal: (0, 0, 2)), contact: (friction: 0)),
    (body: "egg", shape: Solid(Cylinder(radius: 1, length: 2, at: (position: (1, 0, 0))))),
    (body: "bone", shape: OfBody),
    (shape: HeightField(at: (position: (0, 0, 1)), size: (4, 2), heights: [[0, 0.1, 0], [0, -0.1, 0.5]])),
  ],
  flesh_solver: (precision: 1e-8, iterations: 50),
  generators: [
    Character(
      name: "worm", kind: Worm, pose: (position: (0, 0, 2)), root: Kinematic, density: 900,
      material: NeoHookean(young: 1e5, poisson: 0.4), stiffness_damping_s: 0.001, bone_damping: 1,
      contact: (friction: 1), joint: (stiffness: 2, damping: 0.1, rest: 0.2),
      follow: [(joint: "hinge_3", track: "wave")],
    ),
  ],
  tracks: [(name: "wave", curve: Sine(amplitude: (1, 0, 0)))],
  expect: (
    max_inverted: 0, max_penetration_m: 0.01, flesh_rest_m: 0.001,
    flesh: [(flesh: "beam", node: 98, at_s: 1.5, position: (1, 2, 3), tolerance_m: 0.1), (flesh: "worm", tolerance_m: 9)],
  ),
)"#;

const KINDS: [CharacterKindDoc; 5] = [
    CharacterKindDoc::Worm,
    CharacterKindDoc::WormFine { cells: [15, 4, 4] },
    CharacterKindDoc::Fish,
    CharacterKindDoc::Finger,
    CharacterKindDoc::Hand,
];

fn made(kind: CharacterKindDoc) -> characters::Character {
    match kind {
        CharacterKindDoc::Worm => characters::worm(),
        CharacterKindDoc::WormFine { cells } => characters::worm_with_cells(cells),
        CharacterKindDoc::Fish => characters::fish(),
        CharacterKindDoc::Finger => characters::finger(),
        CharacterKindDoc::Hand => characters::hand(),
    }
}

fn scene(character: CharacterDoc) -> SceneDoc {
    SceneDoc {
        name: "test".to_owned(),
        generators: vec![GeneratorDoc::Character(character)],
        ..SceneDoc::default()
    }
}

/// A folder of this test's own, gone when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sinew-scene-{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join("parts")).expect("a temporary folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn everything_reads_back_equal() {
    let scene = SceneDoc::from_ron(EVERYTHING, "everything.ron").unwrap_or_else(|errors| panic!("{errors}"));
    let again = SceneDoc::from_ron(&scene.to_ron(), "again").unwrap();
    assert_eq!(again, scene);
    let all = scene.expanded();
    assert_eq!(SceneDoc::from_ron(&all.to_ron(), "all").unwrap(), all);
    assert_eq!((all.bodies.len(), all.joints.len(), all.flesh.len()), (2 + 7, 6, 7));
}

#[test]
fn what_is_left_out_has_the_usual_values() {
    let text =
        "(format: 1, name: \"x\", flesh: [(name: \"a\", mesh: Beam(size: (1, 1, 1), cells: (1, 1, 1)))])";
    let scene = SceneDoc::from_ron(text, "x.ron").unwrap();
    let flesh = &scene.flesh[0];
    assert_eq!((flesh.density, flesh.contact, flesh.attach.len()), (None, None, 0));
    let FleshMaterialDoc::StVenantKirchhoff { young, poisson, band, .. } = flesh.material else { panic!() };
    assert_eq!((young, poisson, band), (1e5, 0.4, [2.0 / 3.0, 5.0 / 3.0]));
    assert!(!scene.to_ron().contains("flesh_solver"));
}

#[test]
fn characters_are_written_out_as_they_are() {
    for kind in KINDS {
        let turn = DVec3::new(0.3, -1.0, 0.2);
        let pose = PoseDoc { position: DVec3::new(1.0, 2.0, 3.0), rotation: RotationDoc::Vector(turn) };
        let joint = JointSpringDoc { stiffness: 3.0, damping: 0.5, ..JointSpringDoc::default() };
        let document =
            scene(CharacterDoc { name: "pet".to_owned(), kind, pose, joint, ..CharacterDoc::default() });
        validate(&document).unwrap();
        let all = document.expanded();
        validate(&all).unwrap();

        let character = made(kind);
        let world = pose.to_pose();
        assert_eq!(all.bodies.len(), character.bones.len());
        for (body, bone) in all.bodies.iter().zip(&character.bones) {
            assert_eq!((&body.name, body.kind), (&format!("pet_{}", bone.name), BodyKindDoc::Dynamic));
            let found = body.pose.to_pose();
            for point in [DVec3::ZERO, DVec3::X, DVec3::Y] {
                let wanted = world.transform_point(bone.pose.transform_point(point));
                assert!(found.transform_point(point).distance(wanted) < 1e-14, "{kind:?} {}", body.name);
            }
            let mass = match bone.shape {
                Shape::Capsule { radius, length } => {
                    radius * radius * std::f64::consts::PI * (length + 4.0 / 3.0 * radius)
                }
                Shape::Box { size } => size.x * size.y * size.z,
                _ => panic!("bones are capsules or boxes"),
            } * bone.density;
            assert_eq!(body.shapes.len(), bone.seen.len().max(1));
            assert!((body.mass_properties().mass - mass).abs() < 1e-12 * mass);
        }

        assert_eq!(all.joints.len(), character.joints.len());
        let poses: BTreeMap<_, _> = all.bodies.iter().map(|b| (b.name.as_str(), b.pose.to_pose())).collect();
        for (found, joint) in all.joints.iter().zip(&character.joints) {
            assert_eq!(found.name, format!("pet_{}", joint.name));
            assert_eq!(found.child, all.bodies[joint.child as usize].name);
            assert_eq!(found.parent, joint.parent.map(|parent| all.bodies[parent as usize].name.clone()));
            assert_eq!(found.limits.map(|limits| [limits.min, limits.max]), joint.limits);
            assert_eq!(found.spring.is_some(), joint.driven);
            assert_eq!(found.kind, joint.kind);
            let JointFramesDoc::World(frame) = found.frames else { panic!("frames are in the world") };
            assert!(frame.anchor.distance(world.transform_point(joint.anchor)) < 1e-14);
            assert!(frame.axis.distance(world.transform_vector(joint.axis)) < 1e-14);
            // Joints begin closed.
            let parent = found.parent.as_deref().map_or(Pose::IDENTITY, |name| poses[name]);
            let child = poses[found.child.as_str()];
            let (on_child, on_parent) = found.frames.in_bodies(&child, &parent);
            let gap = child.compose(&on_child).translation - parent.compose(&on_parent).translation;
            assert!(gap.length() < 1e-14, "{}", found.name);
        }

        let [flesh] = &all.flesh[..] else { panic!("one flesh") };
        assert_eq!((flesh.name.as_str(), &flesh.mesh), ("pet", &FleshMeshDoc::Character { kind }));
        assert_eq!((flesh.pose, flesh.density), (pose, Some(character.bones[0].density)));
        assert_eq!(flesh.attach[0].nodes, AttachedDoc::OfCharacter("pet".to_owned()));
        let generator = &document.generators[0];
        assert!(all.bodies.iter().all(|body| generator.makes_body(&body.name)));
        assert!(all.joints.iter().all(|joint| generator.makes_joint(&joint.name)));
        assert!(
            generator.makes_flesh("pet") && !generator.makes_body("pet") && !generator.makes_joint("pet_x")
        );
    }
}

#[test]
fn a_held_root_needs_no_joint() {
    for root in [BodyKindDoc::Fixed, BodyKindDoc::Kinematic] {
        let kind = CharacterKindDoc::Finger;
        let finger = CharacterDoc { kind, root, density: Some(900.0), ..CharacterDoc::default() };
        let all = scene(finger).expanded();
        validate(&all).unwrap();
        assert_eq!(all.bodies.iter().filter(|body| body.kind == root).count(), 1);
        assert_eq!(all.bodies[0].kind, root);
        assert!(all.joints.iter().all(|joint| joint.parent.is_some()));
        assert_eq!((all.joints.len(), all.flesh[0].density), (4, Some(900.0)));
    }
}

#[test]
fn joints_follow_tracks_or_rest() {
    let follow = vec![FollowDoc { joint: "hinge_2".to_owned(), track: "wave".to_owned() }];
    let joint = JointSpringDoc { stiffness: 3.0, damping: 0.5, rest: 0.1, ..JointSpringDoc::default() };
    let mut document = scene(CharacterDoc { joint, follow, ..CharacterDoc::default() });
    let curve = sinew_scene::CurveDoc::Scalars(vec![(0.0, 0.0)]);
    document.tracks = vec![TrackDoc { name: "wave".to_owned(), curve, ..TrackDoc::default() }];
    validate(&document).unwrap();
    let all = document.expanded();
    for joint in &all.joints {
        let follows = joint.name == "character_hinge_2";
        assert_eq!((joint.spring.is_none(), joint.motor.is_some()), (follows, follows), "{}", joint.name);
        if let Some(MotorDoc::Position(motor)) = &joint.motor {
            assert_eq!((motor.stiffness, motor.damping), (3.0, 0.5));
        }
    }
    // Springs that do not pull are left out.
    let limp = scene(CharacterDoc::default()).expanded();
    assert!(limp.joints.iter().all(|joint| joint.spring.is_none()));
}

#[test]
fn flesh_is_set_by_path() {
    let mut scene = SceneDoc::from_ron(EVERYTHING, "everything.ron").unwrap();
    scene.files.insert("a.ron".to_owned(), vec![1, 2, 3]);
    scene.set("flesh[\"beam\"].material.young", "2e6").unwrap();
    scene.set("flesh[\"beam\"].mesh.cells[0]", "20").unwrap();
    scene.set("flesh[\"tet\"].contact.friction", "0.1").unwrap();
    scene.set("generators[\"worm\"].kind", "WormFine(cells: (30, 5, 5))").unwrap();
    scene.set("generators[\"worm\"].joint.stiffness", "7").unwrap();
    scene.set("colliders[3].shape.heights[1][2]", "0.25").unwrap();
    scene.set("flesh_solver.iterations", "77").unwrap();
    scene.set("expect.max_inverted", "3").unwrap();
    assert!(matches!(scene.flesh[0].material, FleshMaterialDoc::StVenantKirchhoff { young: 2e6, .. }));
    assert!(matches!(scene.flesh[0].mesh, FleshMeshDoc::Beam { cells: [20, 2, 2], .. }));
    assert_eq!(scene.flesh[1].contact.map(|contact| contact.friction), Some(0.1));
    let GeneratorDoc::Character(worm) = &scene.generators[0] else { panic!() };
    assert_eq!((worm.kind, worm.joint.stiffness), (CharacterKindDoc::WormFine { cells: [30, 5, 5] }, 7.0));
    assert_eq!((scene.flesh_solver.iterations, scene.expect.max_inverted), (77, Some(3)));
    // Contents of files stay.
    assert_eq!(scene.files["a.ron"], [1, 2, 3]);
    let errors = scene.set("flesh[\"tet\"].mesh.tets[0][3]", "9").unwrap_err();
    assert_eq!(errors.as_slice()[0].issue.kind, SceneIssueKind::BadMesh);
    assert!(errors.to_string().contains("tetrahedron 0 refers to node 9"), "{errors}");
    let bare = scene.set("colliders[2].shape", "Sphere(radius: 1)").unwrap_err().to_string();
    assert!(bare.contains("there is no `Sphere` here") && bare.contains("Solid"), "{bare}");
}

#[test]
fn files_are_read_beside_the_scene() {
    let folder = Folder::new("files");
    let path = folder.0.join("everything.ron");
    std::fs::write(&path, EVERYTHING).unwrap();
    for (name, contents) in [("a.1.node", "n"), ("a.1.ele", "e"), ("a.ron", "r"), ("parts/A.STL", "s")] {
        std::fs::write(folder.0.join(name), contents).unwrap();
    }
    let scene = SceneDoc::load(&path).unwrap_or_else(|errors| panic!("{errors}"));
    let names: Vec<_> = scene.files.keys().map(String::as_str).collect();
    assert_eq!(names, ["a.1.ele", "a.1.node", "a.ron", "parts/A.STL"]);
    assert_eq!(scene.files["parts/A.STL"], b"s");
    assert_eq!(scene.expanded().files, scene.files);
    // Text alone has no files.
    assert!(SceneDoc::from_ron(EVERYTHING, "everything.ron").unwrap().files.is_empty());

    std::fs::remove_file(folder.0.join("a.ron")).unwrap();
    std::fs::create_dir(folder.0.join("a.ron")).unwrap();
    let large = std::fs::File::create(folder.0.join("a.1.ele")).unwrap();
    large.set_len(256_000_001).unwrap();
    let errors = SceneDoc::load(&path).unwrap_err();
    let [ele, ron] = errors.as_slice() else { panic!("two errors: {errors}") };
    assert_eq!((ele.issue.kind, ele.issue.field.as_str()), (SceneIssueKind::Unreadable, "flesh[2].mesh.ele"));
    assert!(ele.issue.message.contains("256000001 bytes, more than 256000000"), "{ele}");
    assert_eq!((ron.line, ron.issue.field.as_str()), (39, "flesh[3].mesh.file"));
    assert!(ron.issue.message.contains("this is not a file"), "{ron}");
}

#[test]
fn the_guide_shows_scenes_that_can_be_read() {
    let guide = include_str!("../../../../docs/guide/scene-format.md");
    let examples: Vec<_> =
        guide.split("```ron\n").skip(1).filter_map(|rest| Some(rest.split_once("```")?.0)).collect();
    assert!(examples.len() >= 7, "{}", examples.len());
    for example in examples {
        let text = format!("(format: 1, name: \"example\", {example})");
        // Examples may name what they do not show.
        let errors = SceneDoc::from_ron(&text, "guide").err();
        for error in errors.iter().flat_map(|errors| errors.as_slice()) {
            assert_eq!(error.issue.kind, SceneIssueKind::UnknownName, "{error}");
        }
    }
}

#[test]
fn files_are_given_other_names_and_keep_their_contents() {
    let mut scene = SceneDoc::from_ron(EVERYTHING, "everything.ron").expect("a good scene");
    scene.files.insert("a.1.ele".to_owned(), vec![7]);
    scene.rename_files(|name| format!("../{name}"));
    assert_eq!(scene.files["../a.1.ele"], [7]);
    let text = scene.to_ron();
    for name in ["../a.1.node", "../a.1.ele", "../a.ron", "../parts/A.STL"] {
        assert!(text.contains(&format!("\"{name}\"")), "{name}");
    }
}

#[test]
fn a_plane_is_a_floor_unless_it_says_otherwise() {
    let plane = |text: &str| {
        let text = format!("(format: 1, colliders: [(shape: {text})])");
        SceneDoc::from_ron(&text, "floor.ron").expect("a good scene")
    };
    assert_eq!(plane("Plane()"), plane("Plane(point: (0, 0, 0), normal: (0, 0, 1))"));
    assert_eq!(plane("Plane(normal: (1, 0, 0))"), plane("Plane(point: (0, 0, 0), normal: (1, 0, 0))"));
    assert!(plane("Plane(point: (0, 0, 0.0))").to_ron().contains("Plane()"));
}
