//! Generated links are where they should be and hang together.

use glam::DVec3;
use sinew_math::Pose;
use sinew_scene::{
    BodyDoc, ChainDoc, GeneratorDoc, JointDoc, JointFramesDoc, JointKind, JointSpringDoc, MassDoc, RootDoc,
    SceneDoc, Shape, ShapeDoc, TreeDoc, validate,
};

fn link() -> BodyDoc {
    let shape = Shape::Capsule { radius: 0.05, length: 0.4 };
    BodyDoc { shapes: vec![ShapeDoc::centred(shape)], ..BodyDoc::default() }
}

fn scene(generator: GeneratorDoc) -> SceneDoc {
    SceneDoc { name: "test".to_owned(), generators: vec![generator], ..SceneDoc::default() }
}

fn close(a: DVec3, b: DVec3) {
    assert!((a - b).length() < 1e-12, "{a} is not {b}");
}

/// Ends of a link in the world.
fn ends(body: &BodyDoc) -> (DVec3, DVec3) {
    let (pose, half) = (body.pose.to_pose(), 0.5 * body.shapes[0].solid.length());
    (pose.transform_point(DVec3::NEG_X * half), pose.transform_point(DVec3::X * half))
}

#[test]
fn chain_links_follow_each_other_in_any_direction() {
    for direction in
        [DVec3::X, DVec3::NEG_X, DVec3::Z, DVec3::new(-3.0, 1e-9, 0.0), DVec3::new(1.0, -2.0, 0.5)]
    {
        let start = DVec3::new(1.0, 2.0, 3.0);
        let chain = ChainDoc { n: 20, start, direction, link: link(), ..ChainDoc::default() };
        let document = scene(GeneratorDoc::Chain(chain));
        validate(&document).unwrap();
        let all = document.expanded();
        assert_eq!((all.bodies.len(), all.joints.len(), all.generators.len()), (20, 20, 0));
        let mut at = start;
        for (body, joint) in all.bodies.iter().zip(&all.joints) {
            let (near, far) = ends(body);
            close(near, at);
            close((far - near) / 0.4, direction.normalize());
            let JointFramesDoc::World(frame) = &joint.frames else { panic!("frames are in the world") };
            close(frame.anchor, at);
            // A hinge turns about y of the link.
            close(frame.axis, body.pose.to_pose().transform_vector(DVec3::Y));
            at = far;
        }
        assert_eq!(all.joints[0].parent, None);
        assert_eq!(all.joints[7].child, "link_0008");
        assert_eq!(all.joints[7].parent.as_deref(), Some("link_0007"));
    }
}

#[test]
fn chains_hang_from_a_body_or_nothing_and_may_end_heavily() {
    let chain = ChainDoc {
        n: 3,
        link: link(),
        root: RootDoc::Free,
        spacing: Some(0.5),
        last_mass: Some(MassDoc::Total(100.0)),
        joint: JointDoc { kind: JointKind::Ball, ..JointDoc::default() },
        ..ChainDoc::default()
    };
    let free = scene(GeneratorDoc::Chain(chain.clone())).expanded();
    assert_eq!((free.bodies.len(), free.joints.len()), (3, 2));
    assert!((free.bodies[2].mass_properties().mass - 100.0).abs() < 1e-12);
    assert!(free.bodies[1].mass_properties().mass < 10.0);
    close(free.bodies[2].pose.position, DVec3::X * 1.25);
    let JointFramesDoc::World(frame) = &free.joints[0].frames else { panic!("frames are in the world") };
    close(frame.axis, DVec3::X);

    let hook = BodyDoc { name: "hook".to_owned(), ..link() };
    let root = RootDoc::Body("hook".to_owned());
    let mut hung = scene(GeneratorDoc::Chain(ChainDoc { root, ..chain }));
    hung.bodies.push(hook);
    validate(&hung).unwrap();
    let hung = hung.expanded();
    assert_eq!(hung.joints[0].parent.as_deref(), Some("hook"));
    assert_eq!((hung.bodies.len(), hung.joints.len()), (4, 3));
}

#[test]
fn trees_branch_at_their_ends_and_shrink() {
    let spring = JointSpringDoc { stiffness: 80.0, damping: 8.0, ..JointSpringDoc::default() };
    let tree = TreeDoc {
        depth: 4,
        branching: 3,
        spread: 0.7,
        shrink: 0.5,
        link: link(),
        joint: JointDoc { spring: Some(spring), ..JointDoc::default() },
        ..TreeDoc::default()
    };
    let all = scene(GeneratorDoc::Tree(tree)).expanded();
    assert_eq!(all.bodies.len(), 1 + 3 + 9 + 27);
    let trunk_mass = all.bodies[0].mass_properties().mass;
    for (i, joint) in all.joints.iter().enumerate().skip(1) {
        let parent = (i - 1) / 3;
        assert_eq!(joint.parent.as_ref(), Some(&all.bodies[parent].name));
        let ((near, far), (above, fork)) = (ends(&all.bodies[i]), ends(&all.bodies[parent]));
        close(near, fork);
        assert!(
            ((far - near).normalize().dot((fork - above).normalize()) - 0.764_842_187_284_488_5).abs()
                < 1e-12
        );
    }
    // Level 3: a quarter of the size, 1/64 of the mass and stiffness.
    let twig = &all.bodies[12];
    assert!((twig.shapes[0].solid.length() - 0.1).abs() < 1e-15);
    assert!((twig.mass_properties().mass * 64.0 / trunk_mass - 1.0).abs() < 1e-12);
    assert!((all.joints[12].spring.unwrap().stiffness - 80.0 / 64.0).abs() < 1e-12);
    // The three branches are spread evenly: their directions add up to that of the trunk.
    let sum: DVec3 = (1..4).map(|i| ends(&all.bodies[i]).1 - ends(&all.bodies[i]).0).sum();
    close(sum.normalize(), DVec3::Z);
}

#[test]
fn counts_do_not_overflow() {
    let count =
        |depth, branching| GeneratorDoc::Tree(TreeDoc { depth, branching, ..TreeDoc::default() }).n_links();
    assert_eq!(count(4, 3), 40);
    assert_eq!(count(1_000_000, 1), 1_000_000);
    assert_eq!(count(5, 0), 0);
    assert_eq!(count(0, 5), 0);
    assert_eq!(count(u32::MAX, u32::MAX), u64::MAX);
}

#[test]
fn long_chains_stay_assembled() {
    let chain =
        ChainDoc { n: 50_000, link: link(), direction: DVec3::new(1.0, 2.0, 3.0), ..ChainDoc::default() };
    let all = scene(GeneratorDoc::Chain(chain)).expanded();
    for (pair, joint) in all.bodies.windows(2).zip(&all.joints[1..]) {
        let (parent, child) = (pair[0].pose.to_pose(), pair[1].pose.to_pose());
        let (on_child, on_parent) = joint.frames.in_bodies(&child, &parent);
        // Rounding of positions 20 km from the origin.
        assert!((on_parent.translation - DVec3::X * 0.2).length() < 1e-10);
        assert!((on_child.translation + DVec3::X * 0.2).length() < 1e-10);
    }
    let (on_world, _) = all.joints[0].frames.in_bodies(&Pose::IDENTITY, &Pose::IDENTITY);
    close(on_world.translation, DVec3::ZERO);
}
