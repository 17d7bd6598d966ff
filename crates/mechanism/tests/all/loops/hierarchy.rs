//! Which joints open where they contradict each other.

use glam::DVec3;
use sinew_math::Pose;
use sinew_mechanism::{
    BodyId, BodySpec, Grab, JointId, JointKind, JointSpec, LoopStop, MechanismBuilder, Order,
};
use sinew_topology::Priority;

use crate::support::{Chain, Run, add_bar, implicit, joined, pin, settings, slab, tight};

fn gap(run: &Run, joint: JointId) -> f64 {
    let (a, b) = run.model.joint_anchors(&run.state, joint);
    a.distance(b)
}

fn assert_tree_closed(run: &Run, tolerance: f64) {
    for joint in run.model.joints().filter(|j| run.model.is_tree_joint(*j)) {
        assert!(
            gap(run, joint) < tolerance,
            "{joint:?} open by {:e} at {} s",
            gap(run, joint),
            run.state.time
        );
    }
}

#[test]
fn contradictory_loops_end_in_least_squares_and_leave_the_tree_exact() {
    for kind in [JointKind::Fixed, JointKind::Ball] {
        for n in [1, 4] {
            for dt in [1.0 / 60.0, 1e-3] {
                let mut builder = Chain::new(n, kind).build();
                let last = BodyId::from_index(n - 1);
                // The end is asked to be in two places, one of them out of reach.
                let end = DVec3::X * 0.5 * n as f64;
                for place in [end + DVec3::new(1.0, 0.3, 0.2), end - DVec3::new(0.0, 0.5, 0.4)] {
                    let frames = joined(DVec3::X * 0.25, place);
                    builder.add_joint(JointSpec::new("", kind, last, None, frames));
                }
                let mut run = Run::new(builder, settings(dt));
                for step in 0..200 {
                    let report = run.step();
                    let stop = report.loops.stop;
                    assert_eq!(stop, LoopStop::LeastSquares, "{kind:?} {n} at {step}: {:?}", report.loops);
                    assert!(report.loops.residual.is_finite() && report.loops.residual > 1e-3);
                    // Turning bars bend their joints by O(h²) within a step; welded ones cannot turn.
                    if kind == JointKind::Fixed {
                        assert_tree_closed(&run, 1e-12);
                    }
                }
            }
        }
    }
}

/// A closed ring of four bars, hung from the world at a corner; returns its primary loop joint and the lowest corner.
fn hung_ring() -> (MechanismBuilder, JointId, BodyId) {
    let corners = [DVec3::ZERO, DVec3::new(0.4, 0.0, -0.4), DVec3::Z * -0.8, DVec3::new(-0.4, 0.0, -0.4)];
    let mut builder = MechanismBuilder::new();
    let bars: Vec<BodyId> = (0..4).map(|k| add_bar(&mut builder, corners[k], corners[(k + 1) % 4])).collect();
    pin(&mut builder, JointKind::Ball, (bars[0], None), DVec3::ZERO, DVec3::X);
    for k in 1..4 {
        pin(&mut builder, JointKind::Ball, (bars[k], Some(bars[k - 1])), corners[k], DVec3::X);
    }
    let closing = pin(&mut builder, JointKind::Ball, (bars[0], Some(bars[3])), DVec3::ZERO, DVec3::X);
    (builder, closing, bars[2])
}

#[test]
fn only_secondary_joints_and_grabs_open() {
    let far = DVec3::new(3.0, 1.0, -1.0);
    for grabbed in [false, true] {
        for newton in [1, 10] {
            let (mut builder, closing, low) = hung_ring();
            let from = builder.body_pose(low).inverse().transform_point(DVec3::Z * -0.8);
            let mut pulled = None;
            if !grabbed {
                let joint = JointSpec::new("", JointKind::Ball, low, None, joined(from, far));
                pulled = Some(builder.add_joint(joint.with_priority(Priority::Secondary)));
            }
            let mut run = Run::new(builder, tight(implicit(1.0 / 120.0, Order::First, newton)));
            if grabbed {
                let (stiffness, damping) = (f64::INFINITY, 0.0);
                run.input.grabs.push(Grab { body: low, point: from, target: far, stiffness, damping });
            }
            assert!(!run.model.is_tree_joint(closing), "the ring is closed by a loop joint");
            let mut worst = 0.0f64;
            for _ in 0..240 {
                run.step();
                worst = worst.max(gap(&run, closing));
            }
            let end = run.state.poses[low.index()].transform_point(from);
            let open = end.distance(far);
            println!(
                "grab {grabbed}, {newton} solves: ring open by {worst:e} at most, secondary by {open:.3}"
            );
            // The ring of bars of 0.57 m reaches 1.13 m.
            assert!(open > far.length() - 1.2, "{open}");
            assert!(end.length() > 1.1 && end.normalize().dot(far.normalize()) > 0.99, "points at {end}");
            assert!(gap(&run, closing) < 1e-6, "the ring is open by {:e} in the end", gap(&run, closing));
            assert_tree_closed(&run, 1e-6);
            assert!(pulled.is_none_or(|joint| gap(&run, joint) > 1.0));
        }
    }
}

#[test]
fn heavier_loops_open_less() {
    let gaps = |weights: [f64; 2]| {
        // A body on a rail along x, asked to be at x = −1 and at x = 1.
        let mut builder = MechanismBuilder::new();
        let body = builder.add_body(BodySpec::dynamic("", Pose::IDENTITY, slab(DVec3::splat(0.2))));
        pin(&mut builder, JointKind::Prismatic, (body, None), DVec3::ZERO, DVec3::X);
        let joints = [-1.0, 1.0].map(|x| joined(DVec3::ZERO, DVec3::X * x));
        let ids: Vec<JointId> = joints
            .into_iter()
            .zip(weights)
            .map(|(frames, weight)| {
                builder.add_joint(JointSpec::new("", JointKind::Ball, body, None, frames).with_weight(weight))
            })
            .collect();
        let mut run = Run::new(builder, tight(settings(0.01)));
        run.steps(20);
        [gap(&run, ids[0]), gap(&run, ids[1])]
    };
    let even = gaps([1.0, 1.0]);
    assert!((even[0] - 1.0).abs() < 1e-6 && (even[1] - 1.0).abs() < 1e-6, "{even:?}");
    // Weighted least squares: w₁ g₁ = w₂ g₂.
    for weight in [2.0, 10.0, 100.0] {
        let [light, heavy] = gaps([1.0, weight]);
        println!("weight {weight}: gaps {light:.4} and {heavy:.4}");
        assert!((light / heavy / weight - 1.0).abs() < 1e-6, "{light} {heavy}");
    }
}
