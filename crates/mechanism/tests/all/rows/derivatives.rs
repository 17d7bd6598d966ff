//! The finite-difference battery: every kind, every form, from no error to almost half a turn.

use super::harness::{FORMS, for_every_joint, speed, step, unit_twists};
use glam::DVec3;
use sinew_mechanism::{RowForm, relative_rotation, swing_gradient};
use sinew_testkit::{assert_close, derivative};

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
fn relative_state_carries_the_rates_of_offset_twist_and_swing() {
    for_every_joint(|joint, misalignment| {
        let (state, h) = (joint.state(), step(misalignment));
        let pair = &joint.pair;
        assert_close!(relative_rotation(&joint.frames, &pair.pose1, &pair.pose2), state.matrix, 1e-15);
        for m in 0..3 {
            let rate = derivative(h, 0.0, |t| joint.after(t).state().offset[m]);
            assert_close!(state.motion.linear[m], rate, 1e-9);
        }
        let twist_rate = derivative(h, 0.0, |t| joint.after(t).state().twist);
        assert!((state.twist_rate() - twist_rate).abs() < 1e-8 * (1.0 + twist_rate.abs()));
        for (m, row) in [1, 2].into_iter().zip(swing_gradient(state.axis())) {
            let rate = derivative(h, 0.0, |t| joint.after(t).state().swing()[m]);
            assert!((row.dot(state.motion.angular) - rate).abs() < 1e-8 * (1.0 + rate.abs()));
        }
    });
}
