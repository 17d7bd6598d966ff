//! Constraint rows of every joint kind: derivatives, shift identity, golden numbers, rolling, drives, hard places.

use glam::{DMat3, DQuat, DVec3};
use serde_json::Value;
use sinew_math::{Motion, Pose, exp_so3, ops};
use sinew_mechanism::{
    Drive, DriveCoordinate, JointFrames, JointKind, PairState, RelativeState, RowForm, Rows, evaluate_rows,
};
use sinew_testkit::{Rng, assert_close, derivative};
use std::f64::consts::{FRAC_PI_2, PI};

const FORMS: [RowForm; 3] = [RowForm::Position, RowForm::Acceleration, RowForm::SmallError];
const MISALIGNMENTS: [f64; 5] = [0.0, 1e-9, 0.2, 1.3, PI - 0.1];

/// One joint at one state, with its drives as quadratic functions of time.
#[derive(Clone)]
struct Joint {
    kind: JointKind,
    frames: JointFrames,
    drives: Vec<Drive>,
    pair: PairState,
}

impl Joint {
    fn state(&self) -> RelativeState {
        RelativeState::new(&self.frames, &self.pair)
    }

    fn rows(&self, form: RowForm) -> Rows {
        evaluate_rows(self.kind, &self.state(), &self.drives, form)
    }

    /// Bodies moved by `t` times the twist pair `(ω₁, v₁, ω₂, v₂)`; drives untouched.
    fn displaced(&self, t: f64, twists: &[Motion; 2]) -> Self {
        let mut moved = self.clone();
        moved.pair.pose1 = retract(&self.pair.pose1, &twists[0], t);
        moved.pair.pose2 = retract(&self.pair.pose2, &twists[1], t);
        moved
    }

    /// The state after time `t` at constant motions, drives advanced too.
    fn after(&self, t: f64) -> Self {
        let mut moved = self.displaced(t, &[self.pair.motion1, self.pair.motion2]);
        for drive in &mut moved.drives {
            drive.value += drive.rate * t + 0.5 * drive.acceleration * t * t;
            drive.rate += drive.acceleration * t;
        }
        moved
    }
}

fn retract(pose: &Pose, twist: &Motion, t: f64) -> Pose {
    Pose {
        rotation: (exp_so3(twist.angular * t) * pose.rotation).normalize(),
        translation: pose.translation + twist.linear * t,
    }
}

fn motion(angular: DVec3, linear: DVec3) -> Motion {
    Motion { angular, linear }
}

/// Random bodies and frames whose relative rotation is `relative` and whose point 1 is at `offset` in frame 2.
fn placed(rng: &mut Rng, kind: JointKind, relative: DQuat, offset: DVec3) -> Joint {
    let frames = JointFrames {
        rotation1: rng.rotation(),
        point1: rng.vec3(-0.5, 0.5),
        rotation2: rng.rotation(),
        point2: rng.vec3(-0.5, 0.5),
    };
    let pose2 = Pose { rotation: rng.rotation(), translation: rng.vec3(-1.0, 1.0) };
    let axes2 = pose2.rotation * frames.rotation2;
    let rotation = (axes2 * relative * frames.rotation1.conjugate()).normalize();
    let point1 = pose2.translation + pose2.rotation * frames.point2 + axes2 * offset;
    let pose1 = Pose { rotation, translation: point1 - rotation * frames.point1 };
    let pair = PairState {
        pose1,
        pose2,
        motion1: motion(rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0)),
        motion2: motion(rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0)),
        previous_twist: 0.0,
    };
    let drive = |coordinate| Drive { coordinate, value: 0.3, rate: -0.7, acceleration: 1.9 };
    let drives = [DriveCoordinate::Twist, DriveCoordinate::Slide]
        .into_iter()
        .filter(|&coordinate| kind.can_drive(coordinate))
        .map(drive)
        .collect();
    Joint { kind, frames, drives, pair }
}

/// A joint whose rotational error is `misalignment`: the angle of R_rel where it is locked, else the lean of `i₁`.
fn misaligned(rng: &mut Rng, kind: JointKind, misalignment: f64) -> Joint {
    let relative = match kind {
        JointKind::Fixed | JointKind::Prismatic | JointKind::Orientation => {
            exp_so3(rng.unit_vec() * misalignment)
        }
        _ => {
            // A disc stands on its rim: its axis leans by a right angle more or less.
            let disc = matches!(kind, JointKind::RollingDisc { .. });
            let lean = if disc { FRAC_PI_2 - 0.4 * misalignment } else { misalignment };
            let (sin, cos) = ops::sin_cos(rng.uniform(-PI, PI));
            exp_so3(DVec3::new(0.0, cos, sin) * lean) * exp_so3(DVec3::X * rng.uniform(-2.0, 2.0))
        }
    };
    let offset = rng.vec3(-1.0, 1.0) * misalignment.min(0.5);
    placed(rng, kind, relative, offset)
}

/// Calls `check` for every kind and misalignment, several random poses each.
fn for_every_joint(mut check: impl FnMut(&Joint, f64)) {
    let mut rng = Rng::new(20);
    for kind in JointKind::all(0.35) {
        for misalignment in MISALIGNMENTS {
            for _ in 0..6 {
                check(&misaligned(&mut rng, kind, misalignment), misalignment);
            }
        }
    }
}

/// `J₁v₁ + J₂v₂` of rows at one state with twists given from elsewhere.
fn speed(rows: &Rows, twists: &[Motion; 2]) -> [f64; 6] {
    let mut still = *rows;
    still.rate_target = [0.0; 6];
    still.rate_error(&twists[0], &twists[1])
}

/// The unit twist of column `c` of `[J₁ J₂]`.
fn unit_twists(c: usize) -> [Motion; 2] {
    let zero = motion(DVec3::ZERO, DVec3::ZERO);
    let axis = DVec3::AXES[c % 3];
    let unit = if c % 6 < 3 { motion(axis, DVec3::ZERO) } else { motion(DVec3::ZERO, axis) };
    if c < 6 { [unit, zero] } else { [zero, unit] }
}

/// Step of the fourth-order differences. Near α = π derivatives grow like powers of 1/(π − α).
fn step(misalignment: f64) -> f64 {
    if misalignment > 2.0 { 2e-4 } else { 1e-3 }
}

#[test]
fn jacobians_are_the_derivatives_of_the_residuals() {
    let mut worst = 0.0f64;
    for_every_joint(|joint, misalignment| {
        for form in FORMS {
            // Small-error rows are derivatives only where there is no error.
            if form == RowForm::SmallError && misalignment > 1e-8 {
                continue;
            }
            let rows = joint.rows(form);
            for column in 0..12 {
                let twists = unit_twists(column);
                let exact = speed(&rows, &twists);
                let scale = exact.iter().fold(1.0f64, |a, b| a.max(b.abs()));
                for k in (0..rows.n).filter(|&k| !rows.velocity_only[k]) {
                    let slope = derivative(step(misalignment), 0.0, |t| {
                        joint.displaced(t, &twists).rows(form).residual[k]
                    });
                    let error = (slope - exact[k]).abs() / scale;
                    assert!(
                        error < 1e-8,
                        "{:?} {form:?} at {misalignment}: row {k} column {column}: {} is not {slope}",
                        joint.kind,
                        exact[k]
                    );
                    worst = worst.max(error);
                }
            }
        }
    });
    println!("largest Jacobian error {worst:.1e}");
}

#[test]
fn biases_are_the_rates_of_the_jacobians() {
    let mut worst = 0.0f64;
    for_every_joint(|joint, misalignment| {
        let twists = [joint.pair.motion1, joint.pair.motion2];
        for form in FORMS {
            let rows = joint.rows(form);
            let scale = rows.bias.iter().fold(1.0f64, |a, b| a.max(b.abs()));
            for k in 0..rows.n {
                let rate = derivative(step(misalignment), 0.0, |t| {
                    speed(&joint.displaced(t, &twists).rows(form), &twists)[k]
                });
                let error = (rate - rows.bias[k]).abs() / scale;
                assert!(
                    error < 1e-8,
                    "{:?} {form:?} at {misalignment}: row {k}: bias {} is not {rate}",
                    joint.kind,
                    rows.bias[k]
                );
                worst = worst.max(error);
            }
        }
    });
    println!("largest bias error {worst:.1e}");
}

#[test]
fn residual_rate_and_acceleration_of_a_driven_motion_agree() {
    for_every_joint(|joint, misalignment| {
        for form in [RowForm::Position, RowForm::Acceleration] {
            let rows = joint.rows(form);
            let rate = rows.rate_error(&joint.pair.motion1, &joint.pair.motion2);
            let scale = rate.iter().chain(&rows.bias).fold(1.0f64, |a, b| a.max(b.abs()));
            for k in 0..rows.n {
                let h = step(misalignment);
                let rate_error_at = |t: f64| {
                    let moved = joint.after(t);
                    moved.rows(form).rate_error(&moved.pair.motion1, &moved.pair.motion2)[k]
                };
                let acceleration = derivative(h, 0.0, rate_error_at);
                assert_close!(
                    acceleration / scale,
                    (rows.bias[k] - rows.acceleration_target[k]) / scale,
                    1e-8
                );
                if !rows.velocity_only[k] {
                    let slope = derivative(h, 0.0, |t| joint.after(t).rows(form).residual[k]);
                    assert_close!(slope / scale, rate[k] / scale, 1e-8);
                }
            }
        }
    });
}

#[test]
fn rows_of_body_2_are_the_shifted_rows_of_body_1() {
    for_every_joint(|joint, _| {
        let d = joint.pair.pose1.translation - joint.pair.pose2.translation;
        for form in FORMS {
            let rows = joint.rows(form);
            assert_eq!(rows.n, joint.kind.n_rows() + joint.drives.len());
            for k in 0..rows.n {
                let [a, b, c, x, y, z] = rows.jacobian1[k];
                let force = DVec3::new(x, y, z);
                // J₁X = (J₁ω − J₁v [d], J₁v)
                let moment = DVec3::new(a, b, c) + d.cross(force);
                let expected = [-moment.x, -moment.y, -moment.z, -x, -y, -z];
                assert_close!(rows.jacobian2[k], expected, 1e-14);
            }
        }
    });
}

#[test]
fn all_forms_agree_when_the_joint_has_no_error() {
    let mut rng = Rng::new(3);
    for kind in JointKind::all(0.35) {
        for _ in 0..10 {
            let joint = misaligned(&mut rng, kind, 0.0);
            let exact = joint.rows(RowForm::Position);
            for form in [RowForm::Acceleration, RowForm::SmallError] {
                let rows = joint.rows(form);
                assert_close!(rows.residual, exact.residual, 1e-14);
                assert_close!(rows.jacobian1, exact.jacobian1, 1e-14);
                assert_close!(rows.jacobian2, exact.jacobian2, 1e-14);
            }
            assert_close!(joint.rows(RowForm::Acceleration).bias, exact.bias, 1e-13);
        }
    }
}

#[test]
fn locked_masks_name_the_directions_of_the_rows() {
    let mut rng = Rng::new(4);
    for kind in JointKind::all(0.35) {
        let Some(mask) = kind.locked_mask() else { continue };
        let mut joint = placed(&mut rng, kind, DQuat::IDENTITY, DVec3::ZERO);
        joint.drives.clear();
        let (state, rows) = (joint.state(), joint.rows(RowForm::Position));
        for direction in 0..6 {
            // Body 1 turns about or moves along an axis of frame 2 through P₁.
            let axis = state.axes2 * DVec3::AXES[direction % 3];
            let moving =
                if direction < 3 { motion(axis, -axis.cross(state.arm1)) } else { motion(DVec3::ZERO, axis) };
            let rates = speed(&rows, &[moving, motion(DVec3::ZERO, DVec3::ZERO)]);
            let total: f64 = rates.iter().map(|r| r * r).sum();
            let locked = if mask >> direction & 1 == 1 { 1.0 } else { 0.0 };
            assert_close!(total, locked, 1e-14);
        }
    }
}

#[test]
fn golden_rows_are_reproduced() {
    let golden: Value =
        serde_json::from_str(include_str!("../../../../fixtures/golden/joint.json")).expect("valid fixture");
    let input = &golden["input"];
    let vec3 = |key: &str| vector(&input[key], 0);
    let twist = |key: &str| motion(vector(&input[key], 0), vector(&input[key], 3));
    let frames = JointFrames {
        rotation1: exp_so3(vec3("q1")),
        point1: vec3("p1"),
        rotation2: exp_so3(vec3("q2")),
        point2: vec3("p2"),
    };
    let pair = PairState {
        pose1: Pose { rotation: exp_so3(vec3("phi1")), translation: vec3("x1") },
        pose2: Pose { rotation: exp_so3(vec3("phi2")), translation: vec3("x2") },
        motion1: twist("V1"),
        motion2: twist("V2"),
        previous_twist: 0.0,
    };
    let state = RelativeState::new(&frames, &pair);
    let cases = golden["cases"].as_array().expect("a list of cases");
    assert_eq!(cases.len(), 15);
    for case in cases {
        let pitch = input["pitch"].as_f64().expect("a pitch");
        let kind = JointKind::from_name(case["kind"].as_str().expect("a name"), pitch).expect("a known kind");
        let form = if case["form"] == "position" { RowForm::Position } else { RowForm::Acceleration };
        let rows = evaluate_rows(kind, &state, &[], form);
        assert_eq!(rows.n, case["residual"].as_array().map_or(0, Vec::len));
        for k in 0..rows.n {
            assert_close!(rows.residual[k], number(&case["residual"][k]), 1e-10);
            for column in 0..6 {
                assert_close!(rows.jacobian1[k][column], number(&case["jacobian1"][k][column]), 1e-10);
                assert_close!(rows.jacobian2[k][column], number(&case["jacobian2"][k][column]), 1e-10);
            }
            let rate = rows.rate_error(&pair.motion1, &pair.motion2)[k];
            assert_close!(rate, number(&case["rate"][k]), 1e-10);
            if let Some(bias) = case.get("bias") {
                assert_close!(rows.bias[k], number(&bias[k]), 1e-10);
            }
        }
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn vector(value: &Value, from: usize) -> DVec3 {
    DVec3::new(number(&value[from]), number(&value[from + 1]), number(&value[from + 2]))
}

#[test]
fn one_retraction_with_small_error_rows_removes_a_rotation_error() {
    let mut rng = Rng::new(5);
    for kind in [JointKind::Orientation, JointKind::Fixed, JointKind::Hinge, JointKind::Cylindrical] {
        for angle in [1e-6, 0.5, 1.9, 3.0] {
            let mut joint = misaligned(&mut rng, kind, angle);
            joint.drives.clear();
            let rows = joint.rows(RowForm::SmallError);
            let rotational = (0..rows.n).filter(|&k| rows.jacobian1[k][3..].iter().all(|x| x.abs() < 1e-300));
            // Rotation rows are orthonormal: δθ = −Jᵀ C.
            let mut turn = DVec3::ZERO;
            for k in rotational.clone() {
                let [a, b, c, ..] = rows.jacobian1[k];
                turn -= rows.residual[k] * DVec3::new(a, b, c);
            }
            joint.pair.pose1 = retract(&joint.pair.pose1, &motion(turn, DVec3::ZERO), 1.0);
            let after = joint.rows(RowForm::SmallError);
            for k in rotational {
                assert!(after.residual[k].abs() < 5e-15, "{kind:?} at {angle}: {:e}", after.residual[k]);
            }
        }
    }
}

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
    let still = motion(DVec3::ZERO, DVec3::ZERO);
    for angle in [0.0, 1.0, 40.0] {
        let pose1 = Pose {
            rotation: exp_so3(DVec3::Y * angle),
            translation: DVec3::new(radius * angle, 0.0, radius),
        };
        let rolling = motion(DVec3::Y * 2.0, DVec3::X * 2.0 * radius);
        let pair = PairState {
            pose1,
            pose2: Pose { rotation: DQuat::IDENTITY, translation: DVec3::ZERO },
            motion1: rolling,
            motion2: still,
            previous_twist: 0.0,
        };
        let state = RelativeState::new(&frames, &pair);
        let rows = evaluate_rows(JointKind::RollingSphere { radius }, &state, &[], RowForm::Position);
        assert_close!(rows.residual, [0.0; 6], 1e-15);
        assert_close!(rows.rate_error(&rolling, &still), [0.0; 6], 1e-14);
        assert_close!(rows.bias, [0.0; 6], 1e-14);
    }
}

#[test]
fn screws_and_drives_count_turns() {
    let (pitch, speed) = (0.02, 0.9);
    let mut rng = Rng::new(7);
    for direction in [1.0, -1.0] {
        let mut previous_twist = 0.0;
        for step in 0..40 {
            let truth = direction * speed * f64::from(step);
            let offset = DVec3::X * pitch * truth;
            let kind = JointKind::Screw { pitch };
            let mut joint = placed(&mut rng, kind, exp_so3(DVec3::X * truth), offset);
            joint.drives[0].value = truth;
            joint.pair.previous_twist = previous_twist;
            previous_twist = joint.state().twist;
            assert_close!(previous_twist, truth, 1e-13);
            for form in FORMS {
                assert_close!(joint.rows(form).residual, [0.0; 6], 1e-12);
            }
        }
    }
}

#[test]
fn degenerate_places_give_finite_rows() {
    let mut rng = Rng::new(8);
    let poses = [
        DQuat::from_xyzw(0.0, 1.0, 0.0, 0.0),                     // i₁ = −i₂
        DQuat::from_xyzw(0.0, 0.6, 0.8, 0.0),                     // i₁ = −i₂, about another axis
        DQuat::from_xyzw(1.0, 0.0, 0.0, 0.0),                     // half a twist
        DQuat::from_xyzw(0.0, 0.0, 0.5f64.sqrt(), 0.5f64.sqrt()), // i₁ = j₂
        DQuat::from_xyzw(0.0, 0.5f64.sqrt(), 0.0, 0.5f64.sqrt()), // i₁ = −k₂
        DQuat::IDENTITY,                                          // a disc lying flat
    ];
    for kind in JointKind::all(0.35) {
        for relative in poses {
            for form in FORMS {
                let rows = placed(&mut rng, kind, relative, DVec3::ZERO).rows(form);
                let finite = |values: &[f64]| values.iter().all(|x| x.is_finite());
                assert!(finite(&rows.residual) && finite(&rows.bias), "{kind:?} {form:?} {relative}");
                for k in 0..rows.n {
                    assert!(
                        finite(&rows.jacobian1[k]) && finite(&rows.jacobian2[k]),
                        "{kind:?} {form:?} {relative}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_reversed_axis_is_not_mistaken_for_an_aligned_one() {
    let mut rng = Rng::new(9);
    let joint = placed(&mut rng, JointKind::Hinge, DQuat::from_xyzw(0.0, 0.6, 0.8, 0.0), DVec3::ZERO);
    for form in [RowForm::Position, RowForm::SmallError] {
        let error = joint.rows(form).residual;
        assert_close!((error[3] * error[3] + error[4] * error[4]).sqrt(), PI, 1e-5);
    }
}

#[test]
fn coincident_frames_start_without_error() {
    let mut rng = Rng::new(10);
    for kind in JointKind::all(0.0) {
        let pose = |rng: &mut Rng| Pose { rotation: rng.rotation(), translation: rng.vec3(-3.0, 3.0) };
        let (pose1, pose2, joint) = (pose(&mut rng), pose(&mut rng), pose(&mut rng));
        let still = motion(DVec3::ZERO, DVec3::ZERO);
        let pair = PairState { pose1, pose2, motion1: still, motion2: still, previous_twist: 0.0 };
        let state = RelativeState::new(&JointFrames::coincident(&pose1, &pose2, &joint), &pair);
        let rows = evaluate_rows(kind, &state, &[], RowForm::Position);
        assert_close!(rows.residual, [0.0; 6], 1e-14);
    }
}
