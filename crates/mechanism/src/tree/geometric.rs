//! Geometric stiffness of joints: how the torque of a joint force changes as a body turns under it.
//!
//! A joint pulls its body with the force `f` at the end of the arm `r`. If the body turns by `δθ`, the torque `r × f`
//! changes by `[f][r] δθ`. Without this term the transverse motion of a loaded chain is explicit and stable only while
//! `h² f/(m ℓ)` is of order one: a long chain under its own weight, or a light one with a heavy end, explodes at 60 Hz.
//! The full term `−[f][r] = (f·r)1 − r fᵀ` is neither symmetric nor definite. With `c = f·r`, `m = |f||r|` the
//! eigenvalues of its symmetric part are `c`, `(c + m)/2` and `(c − m)/2 ≤ 0`, the last along `s = r|f| + f|r|`. Used
//! is
//! ```text
//! K = (c + m)/2 · (1 − s sᵀ/|s|²) = (c + m)/2 · 1 − s sᵀ/(4m)
//! ```
//! the smallest multiple of the projector that bounds it from above. It is exact where the joint pulls along the arm
//! (the case that needs it), zero where it pushes, positive semidefinite, and block-diagonal, so the tree keeps its
//! pattern. Forces are those of the previous step or Newton iterate.
//!
//! The term also damps, so a first solve takes only what is needed: with `I` the inertia of the body about the anchor,
//! `K` is scaled by `1 − β I/(h² (c + m)/2)`, and bodies whose motion the step resolves (`h²(c + m)/2 ≤ β I`) have
//! none. A displaced solve (Newton, BDF2) uses all of it: there `K` acts on `v − d`, which vanishes.

use glam::DVec3;
use sinew_math::Sym3;
use sinew_topology::NONE;

use crate::model::{AnchorInertia, Model};

/// `β`: the share of the explicit stability limit that is left alone.
pub(crate) const RESOLVED: f64 = 0.1;

/// What a force at an arm does to a body that turns.
#[derive(Clone, Copy)]
pub(crate) struct ArmForce {
    pub(crate) arm: DVec3,
    /// Length of the arm, m.
    pub(crate) reach: f64,
    pub(crate) force: DVec3,
    /// Size of the force, N.
    pub(crate) strength: f64,
}

impl ArmForce {
    /// `h² (c + m)/2`, less what `spared` (N·m) leaves out, and that times `1/(2m(c + m))`; `None` where nothing is left.
    #[inline]
    fn bound(&self, spared: f64, h_squared: f64) -> Option<[f64; 2]> {
        let m = self.reach * self.strength;
        let bound = 0.5 * (self.arm.dot(self.force) + m);
        let square = bound * m;
        // Forces that fade from step to step get so small that their squares are no longer numbers to divide by.
        let left = (bound - spared) * h_squared;
        (square > f64::MIN_POSITIVE && bound > spared).then(|| [left, 0.25 * left / square])
    }

    /// `h²K` in N·m·s²; `None` where `spared` leaves nothing.
    #[inline]
    pub(crate) fn stiffness(&self, spared: f64, h_squared: f64) -> Option<Sym3> {
        let [left, share] = self.bound(spared, h_squared)?;
        let s = self.arm * self.strength + self.force * self.reach;
        Some(less_outer(left, s, s * share))
    }

    /// `(1 − aaᵀ) h²K (1 − aaᵀ)` for an arm along `a`: what the stiffness does across it. Turns about the arm move no anchor and
    /// change no torque; the bound `K` holds them back where a joint pulls at an angle, and a slender body would take many iterations
    /// to find its spin. Of `s` only the part of the force across the arm is left.
    #[inline]
    pub(crate) fn stiffness_across(&self, spared: f64, h_squared: f64) -> Option<Sym3> {
        let [left, share] = self.bound(spared, h_squared)?;
        let axis = self.arm * (1.0 / self.reach);
        let across = (self.force - axis * self.force.dot(axis)) * self.reach;
        Some(less_outer(left, across, across * share).add_outer(-left, axis))
    }
}

/// `k 1 − t sᵀ`, for `t` along `s`.
#[inline]
fn less_outer(k: f64, s: DVec3, t: DVec3) -> Sym3 {
    Sym3 {
        xx: k - t.x * s.x,
        yy: k - t.y * s.y,
        zz: k - t.z * s.z,
        xy: -t.x * s.y,
        xz: -t.x * s.z,
        yz: -t.y * s.z,
    }
}

/// Forces that the tree joints transmit to the bodies of their pairs, from the net force of all joints on each body.
pub(crate) fn transmit(model: &Model, joint_forces: &[DVec3], pulls: &mut Vec<DVec3>) {
    pulls.clear();
    pulls.extend(model.pairs.iter().map(|pair| joint_forces[pair.body as usize]));
    for (k, pair) in model.pairs.iter().enumerate().filter(|(_, pair)| pair.parent != NONE) {
        let pull = pulls[k];
        pulls[pair.parent as usize] += pull;
    }
}

/// Whether a joint that pulls with a force turns a body back faster than an explicit step of length `h` can follow.
pub(crate) fn is_taut(arm: DVec3, end: AnchorInertia, pull: DVec3, h: f64) -> bool {
    h * h * 0.5 * (arm.dot(pull) + end.reach * pull.length()) > end.inertia
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_math::{skew, symmetric_eigen};
    use sinew_testkit::Rng;

    fn at(arm: DVec3, force: DVec3) -> ArmForce {
        ArmForce { arm, reach: arm.length(), force, strength: force.length() }
    }

    #[test]
    fn bounds_the_symmetric_tangent_and_is_semidefinite() {
        let mut rng = Rng::new(3);
        for _ in 0..1000 {
            let (arm, pull) =
                (rng.unit_vec() * rng.uniform(0.01, 2.0), rng.unit_vec() * rng.uniform(0.1, 1e4));
            let k = at(arm, pull).stiffness(0.0, 1.0).unwrap_or(Sym3::ZERO);
            let exact = Sym3::from_mat3(&(skew(pull) * skew(arm) * -1.0));
            let scale = arm.length() * pull.length();
            assert!(symmetric_eigen(k).0.min_element() > -1e-14 * scale);
            assert!(symmetric_eigen(k - exact).0.min_element() > -1e-14 * scale);
        }
    }

    #[test]
    fn forces_that_fade_away_are_nothing_at_last() {
        let arm = DVec3::new(0.3, -0.2, 0.5);
        let mut pull = DVec3::new(3.0, 1.0, -2.0);
        for _ in 0..8000 {
            for pull in [pull, -pull, arm * pull.length()] {
                let k = at(arm, pull).stiffness(0.0, 1e-4).unwrap_or(Sym3::ZERO);
                assert!(k.max_abs() <= 1e-4 * pull.length(), "{pull}: {k:?}");
            }
            pull *= 0.9;
        }
    }

    #[test]
    fn across_an_arm_it_is_the_same_and_nothing_about_it() {
        let mut rng = Rng::new(5);
        for _ in 0..100 {
            let (arm, force) =
                (rng.unit_vec() * rng.uniform(0.01, 2.0), rng.unit_vec() * rng.uniform(0.1, 1e4));
            let pull = at(arm, force);
            let k = pull.stiffness(0.0, 1.0).unwrap_or(Sym3::ZERO);
            let found = pull.stiffness_across(0.0, 1.0).unwrap_or(Sym3::ZERO);
            let scale = arm.length() * force.length();
            assert!(found.mul_vec(arm).length() < 1e-14 * scale * arm.length());
            let sides = arm.normalize().any_orthonormal_pair();
            for (a, b) in [(sides.0, sides.0), (sides.0, sides.1), (sides.1, sides.1)] {
                assert!((a.dot(found.mul_vec(b)) - a.dot(k.mul_vec(b))).abs() < 1e-14 * scale);
            }
        }
    }

    #[test]
    fn is_exact_for_a_pull_along_the_arm_and_zero_for_a_push() {
        let arm = DVec3::new(0.3, -0.2, 0.5);
        let exact = |pull: DVec3| Sym3::from_mat3(&(skew(pull) * skew(arm) * -1.0));
        let pull = arm * 7.0;
        let of = |pull: DVec3, spared| at(arm, pull).stiffness(spared, 1.0);
        assert!((of(pull, 0.0).unwrap() - exact(pull)).max_abs() < 1e-15 * 7.0);
        assert!(of(-pull, 0.0).is_none_or(|k| k.max_abs() < 1e-14));
        assert_eq!(at(DVec3::ZERO, pull).stiffness(0.0, 1.0), None);
        // half of it spared, all of it spared
        let bound = arm.dot(pull);
        assert!((of(pull, 0.5 * bound).unwrap() - exact(pull) * 0.5).max_abs() < 1e-14);
        assert_eq!(of(pull, bound), None);
    }
}
