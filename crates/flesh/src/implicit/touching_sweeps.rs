//! A first guess for contacts of bodies that nothing else connects: each contact in turn is put in balance as if it alone could change.
//!
//! These are the sweeps of Gauss and Seidel on the impulses `p`, with the mass that a contact feels along its normal and across it:
//! ```text
//! p_n = p_n(u + w_n (p_n − p_n⁰))          w_n = n·W n        W = Σ G A⁻¹ Gᵀ, both sides
//! p_t = −(h k_t ξ + β_t (v_t − w_t p_t⁰))/(1 + β_t w_t),   cut to |p_t| ≤ μ p_n        w_t: the larger eigenvalue of W across n
//! ```
//! Which contacts open, close and slide is decided one by one, where a step of Newton's method has one length for all of them. So few Newton steps
//! are left after impacts. World axes at centres of mass, SI. Cost: about 0.1 µs per contact and sweep. Nothing allocates once warm.

use glam::{DMat3, DVec3};
use sinew_math::{Force, Motion, Sym6};

use super::touching_point::TouchingPoint;
use crate::node_vectors::{velocity_at, wrench_at};

/// Sweeps at most, and the change of all impulses, relative, at which they end.
const SWEEPS: usize = 30;
const SETTLED: f64 = 2e-2;

/// Settles contacts of bodies from a first one on, beginning with their impulses where they were linearized; `responses` are the inverse masses of the bodies. The twists are
/// those without contacts, and those with them on return; `impulses` become those of all contacts on each body. What a solution has found needs no sweeps.
pub(super) fn settle(
    points: &mut [TouchingPoint],
    first: usize,
    responses: &[Sym6],
    (motions, impulses): (&mut [Motion], &mut [Force]),
) {
    impulses.fill(Force::ZERO);
    let is_solved = points.iter().any(|point| point.is_known);
    for point in &mut *points {
        point.inverse_masses = inverse_masses(point, first, responses);
        point.impulse = if is_solved { found(point) } else { likely(point) };
        point.sides.push(point.impulse, first, impulses);
    }
    for (motion, (response, impulse)) in motions.iter_mut().zip(responses.iter().zip(&*impulses)) {
        *motion += response.mul_wrench(*impulse);
    }
    let sweeps = if is_solved { 0 } else { SWEEPS };
    for sweep in 0..sweeps {
        let (mut moved, mut all) = (0.0, 0.0);
        for k in 0..points.len() {
            // Forth and back.
            let k = if sweep % 2 == 0 { k } else { points.len() - 1 - k };
            let point = &mut points[k];
            let velocity = point.given + point.sides.relative(first, motions);
            let impulse = point.law.settle(velocity, point.impulse, point.inverse_masses);
            let change = std::mem::replace(&mut point.impulse, impulse) - impulse;
            moved += change.length();
            all += impulse.length();
            for (i, change) in [-change, change].into_iter().enumerate() {
                let place = point.sides.place(i, first);
                if let Some(response) = responses.get(place) {
                    let wrench = wrench_at(change, point.sides.arms[i]);
                    motions[place] += response.mul_wrench(wrench);
                    impulses[place] += wrench;
                }
            }
        }
        if moved <= SETTLED * all {
            break;
        }
    }
    points.iter_mut().for_each(|point| point.friction = point.impulse);
}

/// The impulse that a solution has found, with the friction limit of its load; none for a contact that it did not have.
fn found(point: &mut TouchingPoint) -> DVec3 {
    if !point.is_known {
        return DVec3::ZERO;
    }
    point.law.limit = point.law.limit_at(point.velocity);
    point.law.impulse(point.velocity)
}

/// The impulse where a contact was linearized, if that is likely: no more than at rest or than what stops its bodies, and none across a gap.
fn likely(point: &TouchingPoint) -> DVec3 {
    let law = &point.law;
    let load = law.normal.dot(point.impulse);
    let most = law.load(DVec3::ZERO).max(law.stopping_load(point.velocity, point.inverse_masses[0]));
    match law.push < 0.0 {
        true => DVec3::ZERO,
        false if load > most => point.impulse * (most / load),
        false => point.impulse,
    }
}

/// `w_n` and `w_t`.
fn inverse_masses(point: &TouchingPoint, first: usize, responses: &[Sym6]) -> [f64; 2] {
    let mut all = DMat3::ZERO;
    for (i, &arm) in point.sides.arms.iter().enumerate() {
        if let Some(response) = responses.get(point.sides.place(i, first)) {
            let column = |axis: DVec3| velocity_at(response.mul_wrench(wrench_at(axis, arm)), arm);
            all += DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z));
        }
    }
    let normal = point.law.normal;
    let (t, b) = normal.any_orthonormal_pair();
    let (tt, bb, tb) = (t.dot(all * t), b.dot(all * b), t.dot(all * b));
    let spread = 0.5 * (tt - bb);
    [normal.dot(all * normal), 0.5 * (tt + bb) + (spread * spread + tb * tb).sqrt()]
}
