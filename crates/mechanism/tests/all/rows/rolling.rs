//! Rolling without slipping: the rows are the velocity of the touching point, and exact rolling is at rest.

use super::harness::{for_every_joint, misaligned};
use glam::{DMat3, DQuat, DVec3};
use sinew_math::{Motion, Pose, exp_so3, ops};
use sinew_mechanism::{JointFrames, JointKind, PairState, RelativeState, RowForm, evaluate_rows};
use sinew_testkit::{Rng, assert_close};
use std::f64::consts::PI;

#[test]
fn slip_rows_are_the_velocity_difference_of_the_touching_points() {
    for_every_joint(|joint, _| {
        let rows = joint.rows(RowForm::Position);
        let (Some(radius), false) = (joint.kind.parameter(), joint.kind.is_holonomic()) else { return };
        let state = joint.state();
        let lowest = match joint.kind {
            JointKind::RollingDisc { .. } => lowest_rim_direction(&state),
            _ => DVec3::NEG_X,
        };
        let contact = state.axes2 * (radius * lowest);
        let velocity = |m: &Motion, arm: DVec3| m.linear + m.angular.cross(arm + contact);
        let slip = velocity(&joint.pair.motion1, state.arm1) - velocity(&joint.pair.motion2, state.arm2);
        let expected = state.axes2.transpose() * slip;
        let rates = rows.rate_error(&joint.pair.motion1, &joint.pair.motion2);
        assert_close!([rates[0], rates[1], rates[2]], expected.to_array(), 1e-6);
        // The height of that point above the plane is the residual.
        assert_close!(rows.residual[0], state.offset.x + radius * lowest.x, 1e-12);
    });
}

/// The lowest direction of a disc rim in frame 2, by golden-section search over its angle.
fn lowest_rim_direction(state: &RelativeState) -> DVec3 {
    let (across, up) = (state.matrix.y_axis, state.matrix.z_axis);
    let rim = |angle: f64| {
        let (sin, cos) = ops::sin_cos(angle);
        across * cos + up * sin
    };
    let coarse = (0..360).map(|k| f64::from(k) * PI / 180.0).min_by(|a, b| rim(*a).x.total_cmp(&rim(*b).x));
    let centre = coarse.expect("360 candidates");
    let (mut low, mut high) = (centre - 0.02, centre + 0.02);
    for _ in 0..60 {
        let (a, b) = (high - 0.618 * (high - low), low + 0.618 * (high - low));
        if rim(a).x < rim(b).x { high = b } else { low = a }
    }
    rim(0.5 * (low + high))
}

#[test]
fn a_sphere_or_disc_that_rolls_exactly_has_no_rate() {
    let mut rng = Rng::new(6);
    let radius = 0.35;
    for kind in [JointKind::RollingSphere { radius }, JointKind::RollingDisc { radius }] {
        for misalignment in [0.0, 0.2, 1.3] {
            let mut joint = misaligned(&mut rng, kind, misalignment);
            let state = joint.state();
            let lowest = match kind {
                JointKind::RollingDisc { .. } => {
                    let s = state.axis();
                    (s.x * s - DVec3::X).normalize()
                }
                _ => DVec3::NEG_X,
            };
            // Move body 1 so that its contact point has the velocity of body 2 there, for any spin of either body.
            let contact = state.axes2 * (radius * lowest);
            let floor = joint.pair.motion2;
            let spin = joint.pair.motion1.angular;
            let carried = floor.linear + floor.angular.cross(state.arm2 + contact);
            joint.pair.motion1.linear = carried - spin.cross(state.arm1 + contact);
            let rows = joint.rows(RowForm::Position);
            assert_eq!(rows.velocity_only, [false, true, true, false, false, false]);
            let rate = rows.rate_error(&joint.pair.motion1, &joint.pair.motion2);
            assert_close!(rate, [0.0; 6], 1e-14);
        }
    }
}

#[test]
fn a_rolling_sphere_advances_by_radius_times_angle() {
    let radius = 0.35;
    let up = DQuat::from_mat3(&DMat3::from_cols(DVec3::Z, DVec3::X, DVec3::Y));
    let frames =
        JointFrames { rotation1: DQuat::IDENTITY, point1: DVec3::ZERO, rotation2: up, point2: DVec3::ZERO };
    for angle in [0.0, 1.0, 40.0] {
        let pose1 = Pose {
            rotation: exp_so3(DVec3::Y * angle),
            translation: DVec3::new(radius * angle, 0.0, radius),
        };
        let rolling = Motion::new(DVec3::Y * 2.0, DVec3::X * 2.0 * radius);
        let pair = PairState {
            pose1,
            pose2: Pose::IDENTITY,
            motion1: rolling,
            motion2: Motion::ZERO,
            previous_twist: 0.0,
        };
        let state = RelativeState::new(&frames, &pair);
        let rows = evaluate_rows(JointKind::RollingSphere { radius }, &state, &[], RowForm::Position);
        assert_close!(rows.residual, [0.0; 6], 1e-15);
        assert_close!(rows.rate_error(&rolling, &Motion::ZERO), [0.0; 6], 1e-14);
        assert_close!(rows.bias, [0.0; 6], 1e-14);
    }
}
