//! Loops and hard grabs in flesh: the common solve against the iteration on top of flesh, to rounding; and what it costs.

use std::f64::consts::FRAC_PI_2;

use glam::{DQuat, DVec3};
use sinew_flesh::FleshOptions;
use sinew_math::{Pose, exp_so3};
use sinew_mechanism::{
    BodyId, Grab, Implicit, JointFrames, JointKind, JointSpec, LoopMethod, LoopStop, MechanismBuilder,
    RotationForce, ScalarForce, Scheme,
};

use crate::support::{Chain, ChainSpec, Run};

const RADIUS: f64 = 0.03;

/// Where the joint before each bone is, and the one behind the last: not on one line, so that nothing is at full stretch.
fn anchor(bone: usize) -> DVec3 {
    let off = [
        DVec3::ZERO,
        DVec3::new(0.0, 0.03, -0.02),
        DVec3::new(0.0, -0.03, 0.01),
        DVec3::new(-0.03, 0.02, 0.03),
    ];
    DVec3::new(0.2 * bone as f64, 0.05, 0.05) + off[bone % 4]
}

/// A rotation with no axis in a special direction.
fn skewed() -> DQuat {
    exp_so3(DVec3::new(0.36, 0.48, 0.8) * 1.1)
}

/// A joint at an anchor of a bone, to the world or to another bone; closed as the bones stand.
fn joint_at(
    kind: JointKind,
    rotation: DQuat,
    at: usize,
    child: (usize, BodyId),
    parent: Option<(usize, BodyId)>,
) -> JointSpec {
    let centre = |bone: usize| DVec3::new(0.2 * bone as f64 + 0.1, 0.05, 0.05);
    let (mut rotation1, mut point) = (rotation, anchor(at));
    let place = point - parent.map_or(DVec3::ZERO, |(bone, _)| centre(bone));
    if let JointKind::RollingSphere { radius } | JointKind::RollingDisc { radius } = kind {
        point += rotation * DVec3::X * radius;
        if matches!(kind, JointKind::RollingDisc { .. }) {
            rotation1 = rotation * exp_so3(DVec3::Z * FRAC_PI_2);
        }
    }
    let frames =
        JointFrames { rotation1, point1: point - centre(child.0), rotation2: rotation, point2: place };
    JointSpec::new("", kind, child.1, parent.map(|(_, body)| body), frames)
}

/// A joint between the last bone and the world.
fn at_end(kind: JointKind, bones: &[BodyId]) -> JointSpec {
    joint_at(kind, skewed(), 3, (2, bones[2]), None)
}

/// Three bones in flesh, hung from the world by joints of a kind; `more` adds what closes loops.
fn chain_of(
    (kind, rotation): (JointKind, DQuat),
    more: impl FnOnce(&mut MechanismBuilder, &[BodyId]),
) -> Chain {
    let options = FleshOptions { stiffness_damping_s: 0.01, bone_damping_per_s: 1.0, contact: None };
    let spec = ChainSpec { n_bones: 3, cells: [6, 1, 1], young: 2e4, is_hung: true, options, every: 3 };
    let joints = |builder: &mut MechanismBuilder, bones: &[BodyId]| {
        for bone in 0..3 {
            let parent = (bone > 0).then(|| (bone - 1, bones[bone - 1]));
            builder.add_joint(joint_at(kind, rotation, bone, (bone, bones[bone]), parent));
        }
        more(builder, bones);
    };
    Chain::with_joints(&spec, joints, |_| None)
}

/// The same with ball joints.
fn chain(more: impl FnOnce(&mut MechanismBuilder, &[BodyId])) -> Chain {
    chain_of((JointKind::Ball, DQuat::IDENTITY), more)
}

/// The last bone is joined to the world, too.
fn closed(kind: JointKind) -> Chain {
    chain(|builder, bones| {
        builder.add_joint(at_end(kind, bones));
    })
}

/// A run by a method, with whole Newton iterations.
fn run_by(chain: &Chain, method: LoopMethod) -> Run<'_> {
    let mut run = Run::new(chain);
    run.settings.scheme = Scheme::Implicit(Implicit::default());
    run.settings.loops.solve.method = method;
    run.settings.loops.solve.precision = 1e-12;
    run.settings.loops.solve.restarts = 10;
    run
}

/// Largest difference of poses and nodes of two runs, m and rad.
fn apart(one: &Run<'_>, other: &Run<'_>) -> f64 {
    let of_poses = |(a, b): (&Pose, &Pose)| {
        a.translation.distance(b.translation).max(2.0 * (a.rotation - b.rotation).length())
    };
    let poses = one.state.poses.iter().zip(&other.state.poses).map(of_poses);
    let nodes = one.soft.nodes[0].positions.iter().zip(&other.soft.nodes[0].positions);
    poses.chain(nodes.map(|(a, b)| a.distance(*b))).fold(0.0, f64::max)
}

/// Steps both ways and compares; returns how far the first has moved.
fn compare(chain: &Chain, steps: u32, what: &str, mut act: impl FnMut(&mut Run<'_>, u32)) -> f64 {
    let [mut one, mut slow] = [LoopMethod::Auto, LoopMethod::ConjugateResidual].map(|m| run_by(chain, m));
    let start = one.state.poses.clone();
    for step in 0..steps {
        act(&mut one, step);
        act(&mut slow, step);
        let (found, _) = one.step();
        slow.step();
        assert_ne!(found.loops.stop, LoopStop::None, "{what}: nothing was closed");
        let error = apart(&one, &slow);
        assert!(error < 1e-9, "{what}, step {step}: {error:e} apart, {:?}", found.loops);
    }
    let moved = |(a, b): (&Pose, &Pose)| a.translation.distance(b.translation);
    one.state.poses.iter().zip(&start).map(moved).fold(0.0, f64::max)
}

#[test]
fn any_joint_closes_a_loop_in_flesh_as_the_iteration_does() {
    for kind in JointKind::all(RADIUS) {
        if kind != JointKind::Free {
            let moved = compare(&closed(kind), 12, &format!("{kind:?}"), |_, _| {});
            assert!(moved > 1e-4, "{kind:?} moved by {moved}");
        }
    }
}

#[test]
fn soft_and_sprung_loops_in_flesh_are_those_of_the_iteration() {
    let soft = chain(|builder, bones| {
        builder.add_joint(at_end(JointKind::Hinge, bones).with_compliance(1e-4));
    });
    compare(&soft, 12, "compliance", |_, _| {});
    let sprung = chain(|builder, bones| {
        let force = ScalarForce::spring(3.0, 0.2, 0.05);
        builder.add_joint(at_end(JointKind::Hinge, bones).with_twist(force));
    });
    compare(&sprung, 12, "spring about the hinge", |_, _| {});
    let between = chain(|builder, bones| {
        let force = RotationForce::spring(2.0, 0.1);
        let joint = joint_at(JointKind::Universal, skewed(), 3, (2, bones[2]), Some((0, bones[0])));
        builder.add_joint(joint.with_rotation(force));
    });
    compare(&between, 12, "loop between bones", |_, _| {});
}

/// A hard grab of the middle of the last bone, on its way.
fn grab(run: &mut Run<'_>, step: u32) {
    let body = run.chain.model.bodies().nth(2).expect("a bone");
    let target = DVec3::new(0.5, 0.05, 0.05) + DVec3::new(-0.1, 0.2, 0.3) * (f64::from(step + 1) / 60.0);
    run.input.grabs.clear();
    run.input.grabs.push(Grab { body, point: DVec3::ZERO, target, stiffness: f64::INFINITY, damping: 0.0 });
}

#[test]
fn a_hard_grab_in_flesh_is_that_of_the_iteration() {
    compare(&chain(|_, _| {}), 20, "grab", grab);
    compare(&closed(JointKind::PointOnPlane), 12, "grab and loop", grab);
}

#[test]
fn hard_grabs_and_loops_take_one_solve_of_the_flesh() {
    let free = chain(|_, _| {});
    let closed = closed(JointKind::Ball);
    let iterations = |chain: &Chain, grabs: bool| {
        let mut run = Run::new(chain);
        let mut sum = 0;
        for step in 0..10 {
            if grabs {
                grab(&mut run, step);
            }
            let (_, felt) = run.step();
            assert_eq!(felt.n_solves, 1);
            sum += felt.iterations;
        }
        sum
    };
    let [alone, held, looped] =
        [iterations(&free, false), iterations(&free, true), iterations(&closed, false)];
    assert!(alone > 0 && held <= alone * 13 / 10 && looped <= alone * 13 / 10, "{alone}, {held}, {looped}");
}

#[test]
fn loops_without_iterations_leave_flesh_as_the_iteration_does() {
    compare(&closed(JointKind::Ball), 12, "no iterations after a while", |run, step| {
        // What is left open would decide about further solves.
        run.settings.scheme = Run::new(run.chain).settings.scheme;
        run.input.loop_iterations = (step >= 6).then_some(0);
    });
}

#[test]
fn redundant_loops_in_flesh_move_and_stay_closed() {
    // More rows than are solved directly without flesh among them.
    for copies in [2, 24] {
        let pins = chain(|builder, bones| {
            (0..copies).for_each(|_| _ = builder.add_joint(at_end(JointKind::Ball, bones)));
        });
        let pin = closed(JointKind::Ball);
        let [mut many, mut once] = [&pins, &pin].map(|chain| run_by(chain, LoopMethod::Auto));
        // Joints that share a force stiffen their bodies a little otherwise than one.
        let mut implicit = Implicit::default();
        implicit.geometric_stiffness = false;
        (many.settings.scheme, once.settings.scheme) =
            (Scheme::Implicit(implicit), Scheme::Implicit(implicit));
        for step in 0..20 {
            let (report, _) = many.step();
            once.step();
            assert_eq!(report.loops.stop, LoopStop::Converged);
            let error = apart(&many, &once);
            assert!(error < 1e-9, "{copies} pins, step {step}: {error:e}");
        }
    }
}

#[test]
fn a_four_bar_of_hinges_in_flesh_moves_as_one_without_redundant_rows() {
    let along_y = exp_so3(DVec3::Z * FRAC_PI_2);
    let four_bar = |kind: JointKind| {
        chain_of((JointKind::Hinge, along_y), |builder, bones| {
            builder.add_joint(joint_at(kind, along_y, 3, (2, bones[2]), None));
        })
    };
    let [hinges, points] = [JointKind::Hinge, JointKind::PointOnLine].map(four_bar);
    let [mut hinges, mut points] = [&hinges, &points].map(|chain| run_by(chain, LoopMethod::Auto));
    for step in 0..60 {
        let (report, _) = hinges.step();
        points.step();
        assert!(report.noticed.dependent.is_some() && report.unclosed == 0.0, "{report:?}");
        let error = apart(&hinges, &points);
        assert!(error < 1e-11, "step {step}: {error:e}");
    }
    let moved = hinges.state.poses[1].translation - hinges.chain.model.initial_state().poses[1].translation;
    assert!(moved.length() > 3e-3, "{moved}");
}

#[test]
fn contradictory_loops_in_flesh_open_and_leave_the_tree_closed() {
    let torn = chain(|builder, bones| {
        for shift in [-1e-3, 1e-3] {
            let mut joint = at_end(JointKind::Ball, bones);
            joint.frames.point2.z += shift;
            builder.add_joint(joint);
        }
    });
    let mut run = Run::new(&torn);
    for step in 0..20 {
        grab(&mut run, step);
        let (report, _) = run.step();
        assert!(report.non_finite.is_none());
        assert_eq!(report.loops.stop, LoopStop::LeastSquares);
    }
    let place = |bone: usize, point: DVec3| {
        let pose = &run.state.poses[bone];
        let frame = torn.model.central_frame(torn.model.bodies().nth(bone).expect("a bone"));
        pose.transform_point(frame.inverse().transform_point(point))
    };
    // Midway between the two, and the tree to the precision of one solve per step.
    let last = place(2, anchor(3) - DVec3::new(0.5, 0.05, 0.05));
    assert!((last - anchor(3)).length() < 2e-3, "{last}");
    let [first, second] =
        [(1, 0.3), (0, 0.1)].map(|(bone, x)| place(bone, anchor(1) - DVec3::new(x, 0.05, 0.05)));
    assert!(first.distance(second) < 1e-4, "{first} {second}");
}

#[test]
fn loops_in_flesh_allocate_nothing_once_warm_and_a_restored_state_has_the_same_bits() {
    let chain = closed(JointKind::Hinge);
    let mut run = run_by(&chain, LoopMethod::Auto);
    let act = |run: &mut Run<'_>, steps: std::ops::Range<u32>| {
        for step in steps {
            grab(run, step);
            run.step();
        }
    };
    act(&mut run, 0..6);
    let mut again = run_by(&chain, LoopMethod::Auto);
    (again.state, again.soft) = (run.state.clone(), run.soft.clone());
    let allocated = allocation_counter::measure(|| act(&mut run, 6..12)).count_total;
    assert_eq!(allocated, 0, "allocations");
    act(&mut again, 6..12);
    assert!(run.state == again.state && run.soft == again.soft, "other bits");
}
