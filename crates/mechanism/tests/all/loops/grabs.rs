//! Holds of the user: exact ones are loops to the world, and every hold reports what it feels.

use glam::DVec3;
use sinew_math::{Motion, Pose, exp_so3};
use sinew_mechanism::{
    Assembly, BodyId, BodySpec, Grab, Gyroscopic, JointKind, LoopStop, MechanismBuilder, Order, Settings,
};
use sinew_testkit::assert_close;

use crate::support::{Chain, GRAVITY, Run, implicit, ladder, settings, slab, tight, with_gyroscopic};

fn hard(body: BodyId, point: DVec3, target: DVec3) -> Grab {
    Grab { body, point, target, stiffness: f64::INFINITY, damping: 0.0 }
}

fn free_body() -> MechanismBuilder {
    let mut builder = MechanismBuilder::new();
    let pose = Pose::new(exp_so3(DVec3::new(0.3, -0.2, 0.5)), DVec3::new(0.1, 0.2, 0.3));
    let motion = Motion::new(DVec3::new(1.0, -2.0, 0.5), DVec3::new(0.3, 0.1, -0.4));
    let mass = slab(DVec3::new(0.6, 0.3, 0.2));
    builder.add_body(BodySpec::dynamic("", pose, mass).with_motion(motion));
    builder
}

fn distance_to_target(run: &Run) -> f64 {
    let grab = run.input.grabs[0];
    run.model.body_pose(&run.state, grab.body).transform_point(grab.point).distance(grab.target)
}

#[test]
fn a_hard_grab_takes_the_point_to_the_target_within_the_step() {
    let point = DVec3::new(0.2, 0.1, -0.1);
    let stabilized = |settings: Settings| {
        let mut settings = tight(settings);
        settings.stabilize = Some(Assembly::default());
        settings
    };
    let ways = [
        ("Newton", tight(implicit(0.01, Order::First, 20))),
        ("BDF2, Newton", tight(implicit(0.01, Order::Second, 20))),
        ("assembly", stabilized(settings(0.01))),
        ("assembly after BDF2", stabilized(implicit(0.01, Order::Second, 1))),
    ];
    for (name, settings) in ways {
        for make in [free_body as fn() -> MechanismBuilder, || Chain::new(4, JointKind::Ball).build()] {
            let mut run = Run::new(make(), settings);
            let body = BodyId::from_index(run.model.n_bodies() - 1);
            let start = run.model.body_pose(&run.state, body).transform_point(point);
            run.input.grabs.push(hard(body, point, start));
            for k in 1..=40 {
                // In towards the first joint, and around.
                let t = 0.02 * f64::from(k);
                run.input.grabs[0].target = start + DVec3::new(-0.6 * t, 0.3 * t, 0.8 * t * t);
                let report = run.step();
                let left = distance_to_target(&run);
                assert!(left < 1e-9, "{name}, step {k}: {left:e}, {report:?}");
            }
        }
    }
    let mut run = Run::new(free_body(), tight(settings(0.01)));
    let body = BodyId::from_index(0);
    let start = run.model.body_pose(&run.state, body).transform_point(point);
    run.input.grabs.push(hard(body, point, start + DVec3::X * 0.01));
    run.step();
    // One linear solve leaves the curvature of the step, and what a target 1 cm off makes the hold yield.
    assert!(distance_to_target(&run) < 0.05 * 0.01);
}

#[test]
fn a_hard_grab_feels_the_weight_it_holds() {
    for n in [1, 3] {
        // A chain that hangs straight down from the hand.
        let mut builder = MechanismBuilder::new();
        let mut above: Option<BodyId> = None;
        for k in 0..n {
            let (from, to) = (DVec3::Z * -0.5 * f64::from(k), DVec3::Z * -0.5 * f64::from(k + 1));
            let bar = crate::support::add_bar(&mut builder, from, to);
            if let Some(above) = above {
                crate::support::pin(&mut builder, JointKind::Ball, (bar, Some(above)), from, DVec3::X);
            }
            above = Some(bar);
        }
        let mut run = Run::new(builder, settings(0.01));
        run.input.grabs.push(hard(BodyId::from_index(0), DVec3::X * -0.25, DVec3::ZERO));
        for _ in 0..50 {
            let report = run.step();
            assert_eq!(report.loops.stop, LoopStop::Converged, "{report:?}");
            let wrench = run.workspace.grab_wrenches()[0];
            assert_close!(wrench.linear, GRAVITY * -f64::from(n), 1e-8);
            assert!(wrench.angular.length() < 1e-8, "{}", wrench.angular);
        }
    }
}

#[test]
fn a_soft_grab_feels_its_spring_and_damper() {
    for (stiffness, damping) in [(0.0, 3.0), (40.0, 0.0), (1e4, 50.0), (1e8, 1e3)] {
        let mut run = Run::new(free_body(), with_gyroscopic(settings(0.01), Gyroscopic::None));
        let (body, point) = (BodyId::from_index(0), DVec3::new(0.2, 0.1, -0.1));
        let pose = run.model.body_pose(&run.state, body);
        let (arm, x) = (pose.rotation * point, pose.translation);
        let target = x + arm + DVec3::new(0.05, -0.02, 0.03);
        run.input.grabs.push(Grab { body, point, target, stiffness, damping });
        // The point leaves its circle along the tangent: the damper does not see that as a velocity.
        let before = run.state.motions[0].angular;
        let bend = (exp_so3(before * 0.01) * arm - arm) / 0.01 - before.cross(arm);
        let bend = bend / (1.0 + (before.length() * 0.01).powi(4));
        run.step();
        let Motion { angular, linear } = run.state.motions[0];
        // The gap at the end of the step as the linearized step sees it.
        let velocity = linear + angular.cross(arm);
        let gap = target - (x + arm + velocity * 0.01);
        let force = gap * stiffness - (velocity + bend) * damping;
        let wrench = run.workspace.grab_wrenches()[0];
        let scale = force.length().max(1.0) + stiffness;
        assert_close!(wrench.linear / scale, force / scale, 1e-12);
        assert_close!(wrench.angular, arm.cross(wrench.linear), 1e-9);
    }
}

#[test]
fn wrenches_keep_the_order_of_the_input() {
    let mut run = Run::new(ladder(4), settings(0.01));
    let ids: Vec<BodyId> = run.model.bodies().collect();
    let at = |run: &Run, body: BodyId| run.model.body_pose(&run.state, body).translation;
    let soft = |run: &Run, body: BodyId, stiffness: f64| Grab {
        body,
        point: DVec3::ZERO,
        target: at(run, body) + DVec3::Y,
        stiffness,
        damping: 0.0,
    };
    let grabs = [
        soft(&run, ids[0], 10.0),
        hard(ids[3], DVec3::ZERO, at(&run, ids[3])),
        soft(&run, ids[5], 20.0),
        Grab { stiffness: f64::NAN, ..soft(&run, ids[1], 1.0) },
        hard(ids[9], DVec3::ZERO, at(&run, ids[9])),
    ];
    run.input.grabs.extend(grabs);
    let report = run.step();
    assert_eq!(report.loops.stop, LoopStop::Converged);
    let wrenches = run.workspace.grab_wrenches();
    assert_eq!(wrenches.len(), 5);
    assert!((wrenches[0].linear.y - 10.0).abs() < 0.5 && (wrenches[2].linear.y - 20.0).abs() < 1.0);
    assert_eq!(wrenches[3], sinew_math::Force::ZERO);
    // Both held bodies carry something against gravity.
    assert!(wrenches[1].linear.z > 1.0 && wrenches[4].linear.z > 1.0, "{wrenches:?}");
}

#[test]
fn a_target_that_leaves_the_reach_stretches_the_arm() {
    for newton in [1, 3] {
        let mut run = Run::new(Chain::new(3, JointKind::Ball).build(), implicit(0.01, Order::First, newton));
        let (start, end) = (DVec3::X * 1.5, DVec3::new(1.0, 1.5, 2.0));
        run.input.grabs.push(hard(BodyId::from_index(2), DVec3::X * 0.25, start));
        let mut worst = 0.0f64;
        for k in 0..400 {
            run.input.grabs[0].target = start + (end - start) * (f64::from(k) / 200.0).min(1.0);
            let report = run.step();
            worst = worst.max(run.worst_anchor());
            assert!(report.loops.residual.is_finite());
        }
        let hand = run.state.poses[2].transform_point(DVec3::X * 0.25);
        let report = run.step();
        println!("{newton} solves: hand at {hand}, tree open by {worst:e} on the way, {:?}", report.loops);
        assert_eq!(report.loops.stop, LoopStop::LeastSquares, "{:?}", report.loops);
        assert!(hand.normalize().dot(end.normalize()) > 0.999 && hand.length() > 1.49, "{hand}");
        assert!(run.worst_anchor() < 1e-4, "{:e}", run.worst_anchor());
        assert!(worst < 0.05, "{worst}");
    }
}

#[test]
fn a_target_that_jumps_out_of_reach_loses_no_numbers() {
    let mut run = Run::new(Chain::new(3, JointKind::Ball).build(), settings(0.01));
    run.input.grabs.push(hard(BodyId::from_index(2), DVec3::X * 0.25, DVec3::new(2.0, 3.0, 4.0)));
    for _ in 0..400 {
        let report = run.step();
        assert!(report.loops.residual.is_finite() && run.worst_anchor() < 3.0, "{report:?}");
    }
    // Let go, the arm comes together again.
    run.input.grabs.clear();
    run.steps(200);
    assert!(run.worst_anchor() < 0.05, "{:e}", run.worst_anchor());
}

#[test]
fn a_grab_let_go_leaves_nothing_behind() {
    // Held, then free again: the same as never held, if nothing moved meanwhile.
    let mut builder = MechanismBuilder::new();
    let pose = Pose::from_translation(DVec3::Z);
    builder.add_body(BodySpec::dynamic("", pose, slab(DVec3::splat(0.3))));
    let mut held = Run::new(builder.clone(), settings(0.01));
    held.input.grabs.push(hard(BodyId::from_index(0), DVec3::ZERO, DVec3::Z));
    held.steps(10);
    assert!(held.state.motions[0].linear.length() < 1e-9);
    held.input.grabs.clear();
    let mut free = Run::new(builder, settings(0.01));
    held.steps(10);
    free.steps(10);
    assert_close!(held.state.poses[0].translation, free.state.poses[0].translation, 1e-9);
}
