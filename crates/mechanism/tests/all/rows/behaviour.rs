//! What the rows are for: agreement of the forms, masks, assembly, turn counting, and the degenerate places.

use super::harness::{FORMS, all_kinds, misaligned, placed, speed};
use glam::{DQuat, DVec3};
use sinew_math::{Motion, Pose, RowSpace, exp_so3};
use sinew_mechanism::{JointFrames, JointKind, PairState, RelativeState, RowForm, evaluate_rows};
use sinew_testkit::{Rng, assert_close};
use std::f64::consts::PI;

#[test]
fn all_forms_agree_when_the_joint_has_no_error() {
    let mut rng = Rng::new(3);
    for kind in all_kinds() {
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
    for kind in all_kinds() {
        let Some(mask) = kind.locked_mask() else { continue };
        let mut joint = placed(&mut rng, kind, DQuat::IDENTITY, DVec3::ZERO);
        joint.drives.clear();
        let (state, rows) = (joint.state(), joint.rows(RowForm::Position));
        for direction in 0..6 {
            // Body 1 turns about or moves along an axis of frame 2 through P₁.
            let axis = state.axes2 * DVec3::AXES[direction % 3];
            let moving = if direction < 3 {
                Motion::new(axis, -axis.cross(state.arm1))
            } else {
                Motion::new(DVec3::ZERO, axis)
            };
            let rates = speed(&rows, &[moving, Motion::ZERO]);
            let total: f64 = rates.iter().map(|r| r * r).sum();
            let locked = if mask >> direction & 1 == 1 { 1.0 } else { 0.0 };
            assert_close!(total, locked, 1e-14);
        }
    }
}

#[test]
fn rows_are_independent_away_from_the_degenerate_places() {
    let mut rng = Rng::new(11);
    for kind in all_kinds() {
        for misalignment in [0.0, 1e-9, 0.2, 1.0] {
            let joint = misaligned(&mut rng, kind, misalignment);
            for form in FORMS {
                let rows = joint.rows(form);
                assert_eq!(RowSpace::factor(&rows.jacobian1[..rows.n]).rank(), rows.n, "{kind:?} {form:?}");
            }
        }
    }
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
            joint.pair.pose1 = joint.pair.pose1.retract(Motion::new(turn, DVec3::ZERO));
            let after = joint.rows(RowForm::SmallError);
            for k in rotational {
                assert!(after.residual[k].abs() < 5e-15, "{kind:?} at {angle}: {:e}", after.residual[k]);
            }
        }
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
    for kind in all_kinds() {
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
        let pair =
            PairState { pose1, pose2, motion1: Motion::ZERO, motion2: Motion::ZERO, previous_twist: 0.0 };
        let state = RelativeState::new(&JointFrames::coincident(&pose1, &pose2, &joint), &pair);
        let rows = evaluate_rows(kind, &state, &[], RowForm::Position);
        assert_close!(rows.residual, [0.0; 6], 1e-14);
    }
}
