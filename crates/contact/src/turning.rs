//! Rolling and torsional friction of two bodies in an implicit step, as the slope of a convex potential of their relative spin `ω'`.
//!
//! ```text
//! m = −L_r ω_t/max(|ω_t|, ω₀) − L_t ω_n/max(|ω_n|, ω₀)        L_r = ρ p_n   L_t = τ p_n   ω_n = (n·ω') n   ω_t = ω' − ω_n
//! φ = L_r H(|ω_t|) + L_t H(|ω_n|)                             H(s) = s − ω₀/2, or s²/2ω₀ below ω₀
//! ```
//! with the loads `p_n` that the contacts have at rest where the step begins. Below `ω₀` the spin is damped, not stopped: what is held creeps at less
//! than that, until it sleeps. World axes, SI. About 30 flops.

use glam::DVec3;
use sinew_math::Sym3;

/// `ω₀`, rad/s.
const CREEP: f64 = 1e-3;

/// The law of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TurningLaw {
    /// Unit normal (world).
    pub normal: DVec3,
    /// `L_r` (N·m·s).
    pub rolling: f64,
    /// `L_t` (N·m·s).
    pub torsion: f64,
}

impl TurningLaw {
    /// Whether it never resists.
    pub fn is_free(&self) -> bool {
        self.rolling <= 0.0 && self.torsion <= 0.0
    }

    /// Angular impulse on the first body (N·m·s, world) at a relative spin (rad/s), and by how much it falls with the spin (N·m·s²): positive semidefinite.
    pub fn at(&self, spin: DVec3) -> (DVec3, Sym3) {
        let along = self.normal * self.normal.dot(spin);
        let across = spin - along;
        let (slow, fast) = (across.length(), along.length());
        let [rolling, torsion] = [self.rolling / slow.max(CREEP), self.torsion / fast.max(CREEP)];
        let mut slope = Sym3::diagonal(DVec3::splat(rolling)).add_outer(-rolling, self.normal);
        if slow > CREEP {
            slope = slope.add_outer(-rolling, across / slow);
        }
        if fast <= CREEP {
            slope = slope.add_outer(torsion, self.normal);
        }
        (across * -rolling - along * torsion, slope)
    }

    /// `φ` (J·s/s) at a relative spin (rad/s).
    pub fn energy(&self, spin: DVec3) -> f64 {
        let along = self.normal.dot(spin);
        let way = |s: f64| if s > CREEP { s - 0.5 * CREEP } else { 0.5 * s * s / CREEP };
        self.rolling * way((spin - self.normal * along).length()) + self.torsion * way(along.abs())
    }
}
