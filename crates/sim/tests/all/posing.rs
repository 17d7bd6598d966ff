//! Characters posed by hand: flesh follows bones that no time has moved.

use glam::DVec3;
use sinew_math::{Pose, exp_so3, signed_svd};
use sinew_sim::{BodyId, World};

use crate::common::world;

/// Turns a hinge with all that hangs on it, by hand.
fn bend(world: &mut World, joint: &str, angle: f64) {
    let id = world.joint(joint).expect("a joint");
    let (child, parent) = world.model().joint_bodies(id);
    let (child, parent) = (child.expect("a body"), parent.expect("a body"));
    let frames = world.model().joint_frames(id);
    let (_, anchor) = world.model().joint_anchors(world.state(), id);
    let axis = world.pose(child).rotation * frames.rotation1 * DVec3::X;
    let turn = exp_so3(axis * angle);
    let turn = Pose::new(turn, anchor - turn * anchor);
    let mut moved: Vec<BodyId> = vec![child];
    let mut i = 0;
    while i < moved.len() {
        for other in world.model().joints().filter(|&other| other != id) {
            if let (Some(a), Some(b)) = world.model().joint_bodies(other) {
                for (a, b) in [(a, b), (b, a)] {
                    if a == moved[i] && !moved.contains(&b) {
                        moved.push(b);
                    }
                }
            }
        }
        i += 1;
    }
    assert!(!moved.contains(&parent));
    for body in moved {
        let pose = world.state().poses[body.index()];
        world.state_mut().poses[body.index()] = turn.compose(&pose);
    }
}

/// Least and largest principal stretch, and the number of inverted tetrahedra.
fn stretches(world: &World) -> (f64, f64, usize) {
    let body = &world.model().flesh().expect("flesh").bodies()[0];
    let positions = &world.state().flesh.nodes[0].positions;
    let (mut low, mut high, mut n) = (f64::INFINITY, 0.0f64, 0);
    for tet in 0..body.fem().n_tets() {
        let (_, s, _) = signed_svd(body.fem().mesh().deformation(tet, positions));
        low = low.min(s.z);
        high = high.max(s.x);
        n += usize::from(s.z <= 0.0);
    }
    (low, high, n)
}

#[test]
fn measure() {
    for (name, joints, angles) in [
        ("worm", &["worm_hinge_3"][..], &[0.3, 0.6, 0.9, 1.2][..]),
        ("worm", &["worm_hinge_1", "worm_hinge_2", "worm_hinge_3"][..], &[0.2, 0.52, 0.8, 1.2][..]),
        ("fish", &["fish_hinge_3"][..], &[0.3, 0.6, 0.7][..]),
        ("hand_flesh", &["hand_index_near"][..], &[0.5, 1.0, 1.57][..]),
        ("hand_flesh", &["hand_index_middle"][..], &[0.5, 1.0, 1.57,1.9][..]),
        ("hand_flesh", &["hand_thumb_metacarpal"][..], &[-0.3,0.5, 0.9][..]),
        ("hand_flesh", &["hand_index_far", "hand_index_middle", "hand_index_near"][..], &[0.5, 1.0, 1.4][..]),
    ] {
        for &angle in angles {
            let mut world = world(name);
            let rest = stretches(&world);
            let before = world.state().bodies.clone();
            for joint in joints {
                bend(&mut world, joint, angle);
            }
            let after = world.state().bodies.clone();
            let model = world.model().clone();
            let t = std::time::Instant::now();
            let mut flesh = world.state().flesh.clone();
            model.flesh().unwrap().carry(&before, &after, &mut flesh);
            let t1 = t.elapsed();
            let mut flesh = world.state().flesh.clone();
            let t = std::time::Instant::now();
            model.flesh().unwrap().carry(&before, &after, &mut flesh);
            let t2 = t.elapsed();
            world.state_mut().flesh = flesh;
            let carried = stretches(&world);
            let e0 = world.model().flesh().unwrap().energy(&world.state().flesh, DVec3::ZERO).elastic;
            // Relaxed
            eprintln!("{name} {joints:?} {angle}: {:?} -> {:?} E={e0:.3} {t1:?} {t2:?}", rest, carried);
        }
    }
}

#[test]
fn measure_run() {
    for (name, step) in [("hand_flesh", 83), ("hand_flesh", 60), ("worm", 15), ("worm", 45)] {
    let mut start = world(name);
    let mut world = world(name);
    for _ in 0..step { world.step(); }
    let after = world.state().bodies.clone();
    let model = world.model().clone();
    let before = start.state().bodies.clone();
    let mut flesh = start.state().flesh.clone();
    model.flesh().unwrap().carry(&before, &after, &mut flesh);
    start.state_mut().flesh = flesh;
    eprintln!("{name} {step} run {:?} {:?}", stretches(&world), world.model().flesh().unwrap().energy(&world.state().flesh, DVec3::ZERO).elastic);
    eprintln!("  carried {:?} {:?}", stretches(&start), start.model().flesh().unwrap().energy(&start.state().flesh, DVec3::ZERO).elastic);
    }
}

#[test]
fn measure_ik() {
    use sinew_sim::{Assembly, Grab};
    for y in [0.0, 0.001, -0.0024, 0.02] {
        let mut world = world("hand_flesh");
        let palm = world.body("hand_palm").unwrap();
        let far = world.body("hand_index_far").unwrap();
        let mut input = world.input_at(0.0);
        for (body, point, off) in [(palm, DVec3::ZERO, DVec3::ZERO), (palm, DVec3::X * 0.03, DVec3::ZERO), (palm, DVec3::Y * 0.03, DVec3::ZERO), (far, DVec3::ZERO, DVec3::new(-0.04, y, -0.05))] {
            let target = world.pose(body).transform_point(point) + off;
            input.grabs.push(Grab { body, point, target, stiffness: f64::INFINITY, damping: 0.0 });
        }
        let report = world.assemble(&input, &Assembly::default());
        let readings: Vec<f64> = world.model().joints().map(|j| world.reading(j).twist).collect();
        eprintln!("{y} {report:?} {readings:.2?}");
    }
}
