//! Scenes with closed loops: ladders, meshes, chains held at both ends, and the settings that go with them.

use glam::DVec3;
use sinew_math::Pose;
use sinew_scene::{
    BodyDoc, ChainDoc, DisplacementDoc, EndDoc, GeneratorDoc, GrabDoc, InputDoc, JacobianPoseDoc, JointDoc,
    JointFramesDoc, JointKind, KrylovMethodDoc, LadderDoc, LadderPoseDoc, LoopSolverDoc, LoopsDoc, MeshDoc,
    PriorityDoc, RootDoc, RotationStepDoc, SceneDoc, Shape, ShapeDoc, StabilizeDoc, StepperDoc, validate,
};
use std::collections::BTreeMap;

fn expanded(generator: GeneratorDoc) -> SceneDoc {
    let (links, name) = (generator.n_links(), generator.name().to_owned());
    let scene = SceneDoc { name, generators: vec![generator], ..SceneDoc::default() };
    assert_eq!(SceneDoc::from_ron(&scene.to_ron(), "scene").expect("valid"), scene);
    let all = scene.expanded();
    assert_eq!(all.bodies.len() as u64, links);
    validate(&all).expect("what generators make is valid");
    all
}

fn ladder(p: u32, r: u32) -> LadderDoc {
    LadderDoc { p, r, ..LadderDoc::default() }
}

/// Rows of ball joints that join what was apart when joints are taken in order, and rows of those that close a
/// cycle, the world being one more body.
fn tree_and_loop_rows(scene: &SceneDoc) -> (usize, usize) {
    let ids: BTreeMap<_, _> = scene.bodies.iter().enumerate().map(|(i, b)| (b.name.as_str(), i)).collect();
    let mut group: Vec<_> = (0..=scene.bodies.len()).collect();
    let (mut tree, mut loops) = (0, 0);
    for joint in &scene.joints {
        assert_eq!(joint.kind, JointKind::Ball);
        let a = group[ids[joint.child.as_str()]];
        let b = group[joint.parent.as_ref().map_or(scene.bodies.len(), |parent| ids[parent.as_str()])];
        if a == b || joint.priority == PriorityDoc::Secondary {
            loops += 3;
        } else {
            tree += 3;
            group.iter_mut().filter(|g| **g == a).for_each(|g| *g = b);
        }
    }
    (tree, loops)
}

/// Distances between the two anchors of each joint.
fn gaps(scene: &SceneDoc) -> Vec<f64> {
    let poses: BTreeMap<_, _> = scene.bodies.iter().map(|b| (b.name.as_str(), b.pose.to_pose())).collect();
    let gap = |joint: &JointDoc| {
        let child = poses[joint.child.as_str()];
        let parent = joint.parent.as_ref().map_or(Pose::IDENTITY, |parent| poses[parent.as_str()]);
        let (on_child, on_parent) = joint.frames.in_bodies(&child, &parent);
        (child.compose(&on_child).translation - parent.compose(&on_parent).translation).length()
    };
    scene.joints.iter().map(gap).collect()
}

/// Ends of a bar in the world.
fn ends(body: &BodyDoc) -> [DVec3; 2] {
    let half = 0.5 * body.shapes[0].solid.length();
    [-half, half].map(|x| body.pose.to_pose().transform_point(DVec3::X * x))
}

#[test]
fn ladders_have_the_rows_of_the_paper() {
    // Fau99 table 2: patterns (p, r), acyclic and loop rows.
    for (p, r, a, l) in
        [(12, 1, 75, 3), (12, 4, 300, 12), (1, 48, 432, 144), (1, 96, 864, 288), (6, 96, 3744, 288)]
    {
        for open in [false, true] {
            let all = expanded(GeneratorDoc::Ladder(LadderDoc { open, ..ladder(p, r) }));
            assert_eq!(tree_and_loop_rows(&all), (a, l), "({p}, {r})");
            assert_eq!(3 * all.bodies.len(), a);
            let first_loop = all.joints.len() - r as usize;
            let priorities: Vec<_> = all.joints[first_loop..].iter().map(|j| j.priority).collect();
            let wanted = if open { PriorityDoc::Secondary } else { PriorityDoc::Auto };
            assert!(priorities.iter().all(|priority| *priority == wanted));
        }
    }
}

#[test]
fn ladders_begin_as_described() {
    let (start, turn) = (DVec3::new(0.3, -1.0, 2.0), DVec3::new(0.1, 1.0, -0.2));
    for (pose, length) in
        [(LadderPoseDoc::Rest, 1.0), (LadderPoseDoc::Swing, 1.0), (LadderPoseDoc::Swing, 0.5)]
    {
        let doc = LadderDoc { start, pose, length, angular_velocity: turn, ..ladder(3, 4) };
        let all = expanded(GeneratorDoc::Ladder(doc));
        assert!(gaps(&all).iter().all(|gap| *gap < 1e-14), "{pose:?}");
        // Bars of both strings follow each other, the second string one bar length beside the first.
        let mut at = start;
        for m in 0..12 {
            let angle: f64 = match pose {
                LadderPoseDoc::Rest => 0.0,
                LadderPoseDoc::Swing => -(0.2 + 0.6 * (f64::from(m) + 0.5) / 12.0),
            };
            let end = at + DVec3::new(sinew_math::ops::cos(angle), 0.0, sinew_math::ops::sin(angle)) * length;
            for (i, beside) in [(m as usize, DVec3::ZERO), (12 + m as usize, DVec3::Y * length)] {
                let [near, far] = ends(&all.bodies[i]);
                assert!((near - at - beside).length() < 1e-14 && (far - end - beside).length() < 1e-14);
            }
            at = end;
        }
        // Rung k leads from the end of bar 3k of the first string to that of the second.
        for k in 1..=4 {
            let [near, far] = ends(&all.bodies[23 + k]);
            assert!((near - ends(&all.bodies[3 * k - 1])[1]).length() < 1e-14);
            assert!((far - ends(&all.bodies[12 + 3 * k - 1])[1]).length() < 1e-14);
            let closing = &all.joints[27 + k];
            assert_eq!(closing.child, format!("ladder_{:04}", 24 + k));
            assert_eq!(closing.parent, Some(format!("ladder_{:04}", 12 + 3 * k)));
            assert_eq!(closing.name, format!("ladder_{:04}", 28 + k));
        }
        // Unit bars are solid cylinders of radius 0.05 that turn together.
        for body in &all.bodies {
            let mass = body.mass_properties();
            let (along, across) = (0.5 * 0.05 * 0.05, (3.0 * 0.05 * 0.05 + length * length) / 12.0);
            assert!((mass.mass - 1.0).abs() < 1e-14 && (mass.inertia.xx - along).abs() < 1e-15);
            assert!((mass.inertia.yy - across).abs() < 1e-15 && (mass.inertia.zz - across).abs() < 1e-15);
            assert_eq!(body.velocity.angular, turn);
            let rigid = turn.cross(body.pose.position - start);
            assert!((body.velocity.linear - rigid).length() < 1e-14);
        }
    }
}

#[test]
fn meshes_have_a_bar_per_edge_and_one_joint_less_than_bars_at_a_vertex() {
    for (n, bars, rows, loop_rows) in [(2, 5, 18, 6), (5, 56, 261, 96), (11, 320, 1557, 600)] {
        let all = expanded(GeneratorDoc::Mesh(MeshDoc { n, ..MeshDoc::default() }));
        let (tree, loops) = tree_and_loop_rows(&all);
        assert_eq!((all.bodies.len(), tree + loops, loops), (bars, rows, loop_rows), "n = {n}");
        assert_eq!(tree, 3 * (bars - 1), "the sheet hangs together and is free");
        assert!(gaps(&all).iter().all(|gap| *gap < 1e-14));
    }
}

#[test]
fn meshes_are_grids_with_one_diagonal() {
    let start = DVec3::new(1.0, 2.0, 3.0);
    let doc = MeshDoc { n: 4, start, spacing: 0.5, mass_per_length: 2.0, ..MeshDoc::default() };
    let all = expanded(GeneratorDoc::Mesh(doc));
    let mut edges = Vec::new();
    for body in &all.bodies {
        let [a, b] = ends(body).map(|end| (end - start) / 0.5);
        assert!((a - a.round()).length() < 1e-14 && (b - b.round()).length() < 1e-14);
        let along = (b - a).round();
        assert!([DVec3::X, DVec3::Y, DVec3::X + DVec3::Y].contains(&along), "{along}");
        assert!((body.mass_properties().mass - along.length()).abs() < 1e-14);
        edges.push((a.round().to_array().map(|x| x as i32), b.round().to_array().map(|x| x as i32)));
    }
    edges.sort_unstable();
    edges.dedup();
    assert_eq!(edges.len(), 3 * 3 * 4 - 3);
}

#[test]
fn the_surface_of_a_mesh_goes_through_its_vertices() {
    let doc = MeshDoc { n: 4, spacing: 0.5, surface: true, ..MeshDoc::default() };
    let all = expanded(GeneratorDoc::Mesh(doc));
    let [surface] = &all.surfaces[..] else { panic!("one surface") };
    assert_eq!((surface.name.as_str(), surface.columns, surface.points.len()), ("mesh", 4, 16));
    for (k, point) in surface.points.iter().enumerate() {
        let EndDoc::Body { name, point } = point else { panic!("a point of a bar") };
        let bar = all.bodies.iter().find(|body| body.name == *name).expect("a bar");
        let vertex = DVec3::new((k % 4) as f64, (k / 4) as f64, 0.0) * 0.5;
        assert!(bar.pose.to_pose().transform_point(*point).distance(vertex) < 1e-14);
    }
}

#[test]
fn scattered_bars_know_where_they_belong() {
    let fitted = MeshDoc { n: 5, spacing: 0.5, ..MeshDoc::default() };
    let scattered = MeshDoc { scatter: 0.1, ..fitted.clone() };
    let [together, apart] = [fitted, scattered].map(|doc| expanded(GeneratorDoc::Mesh(doc)));
    assert_eq!(together.joints, apart.joints);
    let gaps = gaps(&apart);
    assert!(gaps.iter().filter(|gap| **gap > 0.01).count() > gaps.len() / 2);
    for (fits, is) in together.bodies.iter().zip(&apart.bodies) {
        let shift = is.pose.position - fits.pose.position;
        assert!(shift.length() > 0.0 && shift.abs().max_element() <= 0.1 + 1e-15);
        let turn = is.pose.to_pose().rotation.angle_between(fits.pose.to_pose().rotation);
        assert!(turn > 0.0 && turn <= 0.2 * 3.0_f64.sqrt() + 1e-12);
    }
}

#[test]
fn chains_may_be_held_at_both_ends() {
    let chain = |root, tip| ChainDoc {
        n: 3,
        spacing: Some(0.5),
        root,
        tip,
        link: BodyDoc {
            shapes: vec![ShapeDoc::centred(Shape::Sphere { radius: 0.1 })],
            ..BodyDoc::default()
        },
        joint: JointDoc { kind: JointKind::Ball, weight: 2.0, ..JointDoc::default() },
        ..ChainDoc::default()
    };
    let held = expanded(GeneratorDoc::Chain(chain(RootDoc::World, RootDoc::World)));
    assert_eq!(tree_and_loop_rows(&held), (9, 3));
    let tip = &held.joints[3];
    assert_eq!((tip.name.as_str(), tip.child.as_str(), &tip.parent), ("link_0004", "link_0003", &None));
    let JointFramesDoc::World(frame) = &tip.frames else { panic!("frames are in the world") };
    assert!((frame.anchor - DVec3::X * 1.5).length() < 1e-15);
    assert!(held.joints.iter().all(|joint| joint.weight.to_bits() == 2.0_f64.to_bits()));
    let hung = expanded(GeneratorDoc::Chain(chain(RootDoc::Free, RootDoc::Body("link_0001".to_owned()))));
    assert_eq!(tree_and_loop_rows(&hung), (6, 3));
}

#[test]
fn loop_settings_are_read_and_written() {
    let text = r#"(
        format: 1,
        name: "all",
        stepper: Displacement(jacobian: Predicted, rotation: Exponential, tolerance: 1e-8, iterations: 7, most_substeps: 4),
        loops: (solver: FullDense, method: BiConjugateGradient, precondition: false, precision: 1e-3,
            iterations: 0, restarts: 0, warm_start: false),
        assemble: true,
        stabilize: (),
        tracks: [(name: "up", curve: Points([(0, (0, 0, 1))]))],
        bodies: [(name: "bob", shapes: [Sphere(radius: 0.1)])],
        joints: [(name: "pivot", child: "bob", weight: 0.5, priority: Secondary)],
        inputs: [Grab(body: "bob", track: "up", stiffness: inf)],
    )"#;
    let scene = SceneDoc::from_ron(text, "all.ron").unwrap();
    let stepper = DisplacementDoc {
        jacobian: JacobianPoseDoc::Predicted,
        rotation: RotationStepDoc::Exponential,
        tolerance: 1e-8,
        iterations: 7,
        most_substeps: 4,
    };
    assert_eq!(scene.stepper, StepperDoc::Displacement(stepper));
    let loops = LoopsDoc {
        solver: LoopSolverDoc::FullDense,
        method: KrylovMethodDoc::BiConjugateGradient,
        precondition: false,
        precision: 1e-3,
        iterations: 0,
        restarts: 0,
        warm_start: false,
    };
    assert_eq!((scene.loops, scene.assemble, scene.stabilize), (loops, true, Some(StabilizeDoc::default())));
    assert!(matches!(&scene.inputs[0], InputDoc::Grab(GrabDoc { stiffness: f64::INFINITY, .. })));
    assert_eq!(SceneDoc::from_ron(&scene.to_ron(), "again").unwrap(), scene);
}

#[test]
fn scenes_without_loops_are_written_as_before() {
    let text = SceneDoc::from_ron("(format: 1)", "empty.ron").unwrap().to_ron();
    for word in ["loops", "assemble", "stabilize"] {
        assert!(!text.contains(word), "{text}");
    }
}
