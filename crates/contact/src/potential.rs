//! One contact inside an implicit step, as the slope of a convex potential of the velocity `v'` at its end.
//!
//! With the depth `d` at the start of a step of length `h`, the stretch `ξ` along the surface with the slide `s` of the step and the lagged damping `c_n d⁺`:
//!
//! ```text
//! p_n = max(0, a − β_n u' + f e³)    a = h k_n d       β_n = h (h k_n + H c)    u' = n·v'      c = c_n d⁺, less where d is deep
//!                                    f = h k_n/s²      e = max(0, d − o − h u') o = max(0, d − 20 s); e³ goes on straight from e = 5 s
//!                                    H = 1 + (e³ at u' = 0)/(s² d)
//! p_t = −w cut to |w| ≤ L            w = h k_t ξ + c s + β_t v_t'          β_t = h (h k_t + c)
//! φ   = g(u') − g(u₀) + |w|²/2β_t    g = (a − β_n u')²/2β_n + f e⁴/4h       where it slides, the second is (L|w| − L²/2)/β_t
//! p = −∂φ/∂v',    S = ∂²φ/∂v'²
//! ```
//! with the speed `u₀` from which on `p_n = 0`. What has hardened drives out with `H` times the force and is damped `H` times as much: so a contact opens at `u₀`, about `k_n d/c`,
//! however hard it was hit and however short the step is.
//!
//! For a fixed friction limit `L` the potential is convex and once continuously differentiable, so all contacts and bodies together have
//! one solution, which Newton's method with a line search always finds; a contact across a gap acts only if it closes, and none ever pulls.
//! Coulomb's law `L = μ p_n` is met by setting `L` again between iterations ([`ContactPotential::limit_at`]). World axes. About 60 flops.

use crate::contact_step::{ContactStart, ContactStep, Grip, PressedStart};
use glam::DVec3;
use sinew_math::Sym3;

/// Time in which a contact that is deeper than its damping was made for comes out again (s), and the speed that this may not exceed (m/s).
const RECOVERY: f64 = 1.0 / 60.0;
const FASTEST_RECOVERY: f64 = 1.0;

/// Where a contact is deeper than this many hardening depths at the start of a step, hardening resists what goes deeper, but drives nothing out.
const HARDENED: f64 = 20.0;

/// Hardening depths from which on the force of hardening grows no more than linearly.
const FULLY_HARD: f64 = 5.0;

/// Iterations for the load of a contact alone, and the relative error that is left.
const SETTLING: u32 = 8;
const SETTLED: f64 = 1e-3;

/// Iterations for the speed at which a contact opens.
const OPENING: u32 = 6;

/// Iterations for the speed of a load.
const INVERTING: u32 = 12;

/// The law of a contact in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactPotential {
    /// Unit normal (world).
    pub normal: DVec3,
    /// `a` (N·s).
    pub push: f64,
    /// `β_n` (kg).
    pub resistance: f64,
    /// `f` (N·s/m³).
    pub hardening: f64,
    /// `d − o` (m).
    pub depth: f64,
    /// Largest `e` of the third power (m).
    pub hardest: f64,
    /// `u₀` (m/s).
    pub opening: f64,
    /// `h` (s).
    pub dt: f64,
    /// `h k_t ξ + c s` (N·s, world).
    pub pull: DVec3,
    /// `β_t` (kg).
    pub grip: f64,
    /// `μ`.
    pub friction: f64,
    /// `L` (N·s).
    pub limit: f64,
}

/// What a contact does at a velocity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactSlope {
    /// `p` (N·s, world).
    pub impulse: DVec3,
    /// `S` (kg, world): positive semidefinite.
    pub slope: Sym3,
}

impl ContactStart {
    /// The law of a step of `dt` seconds, with a first friction limit from two relative velocities (m/s): `now`, at the start, whose load is that
    /// of a contact at rest; and for a gap `free`, at the end without contacts, whose load is that of a particle of mass [`ContactStart::mass`].
    pub fn potential(&self, now: DVec3, free: DVec3, dt: f64) -> ContactPotential {
        let bounces = self.rebound > 0.0;
        let (law, PressedStart { depth, stiffness, .. }) = self.linear_law(self.recovering_damping(dt), dt);
        let hardening = if bounces { 0.0 } else { dt * stiffness / self.law.hardening.powi(2) };
        let law = law.hardened(
            hardening,
            (depth, depth.min(HARDENED * self.law.hardening)),
            FULLY_HARD * self.law.hardening,
        );
        let ContactPotential { normal, push, resistance, pull, grip, friction, .. } = law;
        let alone = (push - resistance * normal.dot(free)) / (1.0 + resistance / self.mass);
        let load = if self.depth >= 0.0 && !bounces { law.load(now) } else { alone };
        // Numbers that are not finite give a contact that does nothing.
        let is_finite = push.is_finite() && resistance > 0.0 && grip > 0.0 && (pull + free).is_finite();
        if !(is_finite && load.is_finite()) {
            return ContactPotential::default();
        }
        ContactPotential { limit: friction * load.max(0.0), ..law }
    }

    /// The law without hardening, with the friction limit of the load at a relative velocity (m/s); one that does nothing if that is not finite.
    pub(crate) fn law_at(&self, velocity: DVec3, dt: f64) -> ContactPotential {
        let (law, _) = self.linear_law(self.lagged_damping(), dt);
        let limit = law.limit_at(velocity);
        if limit.is_finite() { ContactPotential { limit, ..law } } else { ContactPotential::default() }
    }

    /// The law without hardening and friction limit, with a damping (N·s/m).
    fn linear_law(&self, damping: f64, dt: f64) -> (ContactPotential, PressedStart) {
        let pressed = self.pressed(dt, damping);
        let PressedStart { depth, stiffness, grip, damping } = pressed;
        let law = ContactPotential {
            normal: self.normal,
            push: dt * stiffness * depth,
            resistance: dt * (dt * stiffness + damping),
            opening: dt * stiffness * depth / (dt * (dt * stiffness + damping)),
            dt,
            pull: self.pull(dt * grip, damping),
            grip: dt * (dt * grip + damping),
            friction: self.law.friction,
            ..ContactPotential::default()
        };
        (law, pressed)
    }

    /// `c_n d⁺` (N·s/m), but no more than it takes to leave a deep contact within [`RECOVERY`] and no faster than [`FASTEST_RECOVERY`].
    fn recovering_damping(&self, h: f64) -> f64 {
        let depth = self.depth.max(0.0);
        let most = RECOVERY.max(depth / FASTEST_RECOVERY - h);
        (self.law.damping * depth).min(most * self.law.stiffness)
    }
}

impl ContactPotential {
    /// `p_n` (N·s) at a relative velocity (m/s).
    #[inline]
    pub fn load(&self, velocity: DVec3) -> f64 {
        self.normal_at(velocity).0
    }

    /// `p_n` (N·s) at a relative velocity (m/s), and by how much it falls with the speed of separation (kg).
    #[inline]
    fn normal_at(&self, velocity: DVec3) -> (f64, f64) {
        let (load, slope) = self.pushing_at(self.normal.dot(velocity));
        if load > 0.0 { (load, slope) } else { (0.0, 0.0) }
    }

    /// The same at a speed of separation (m/s); negative where the contact would pull.
    #[inline]
    fn pushing_at(&self, speed: f64) -> (f64, f64) {
        let e = (self.depth - self.dt * speed).max(0.0);
        let bent = e.min(self.hardest);
        let hard = self.hardening * bent * bent;
        let load = self.push - self.resistance * speed + hard * (3.0 * e - 2.0 * bent);
        (load, self.resistance + 3.0 * self.dt * hard)
    }

    /// The same with hardening `f`, at a depth and `d − o`.
    fn hardened(self, hardening: f64, (depth, pressed): (f64, f64), hardest: f64) -> Self {
        let mut law = Self { hardening, depth: pressed, hardest, ..self };
        if depth > 0.0 && hardening > 0.0 {
            let (load, _) = law.pushing_at(0.0);
            let damping = law.resistance - law.dt * law.push / depth;
            law.resistance += damping * (load / law.push - 1.0);
            law.opening = law.push / law.resistance;
            for _ in 0..OPENING {
                // From below: the load is convex.
                let (load, slope) = law.pushing_at(law.opening);
                law.opening += load / slope;
            }
        }
        law
    }

    /// `w` (N·s).
    #[inline]
    fn shear(&self, velocity: DVec3) -> DVec3 {
        let sliding = velocity - self.normal * self.normal.dot(velocity);
        self.pull + sliding * self.grip
    }

    /// Impulse on the first side (N·s, world) at a relative velocity (m/s).
    #[inline]
    pub fn impulse(&self, velocity: DVec3) -> DVec3 {
        let w = self.shear(velocity);
        let length = w.length();
        let cut = if length > self.limit { self.limit / length } else { 1.0 };
        self.normal * self.load(velocity) - w * cut
    }

    /// Impulse and slope at a relative velocity (m/s). Where it slides, the slope is that of a Newton step in which friction is an unknown of its own,
    /// as it is `expected` (N·s, world); the derivative if it is that of the velocity.
    pub fn linearize(&self, velocity: DVec3, expected: DVec3) -> ContactSlope {
        self.with_normal(velocity, self.normal_at(velocity), expected)
    }

    /// As [`Self::linearize`], but with a law along the normal that is linear about the impulse `expected` instead of the velocity; sets the friction
    /// limit of that. A contact that expects none has as much as stops a mass of `1/inverse_mass` (kg), if it closes.
    pub fn linearize_about(&mut self, velocity: DVec3, expected: DVec3, inverse_mass: f64) -> ContactSlope {
        let (speed, mut load) = (self.normal.dot(velocity), self.normal.dot(expected));
        if load <= 0.0 {
            load = self.load(velocity).min(self.stopping_load(velocity, inverse_mass));
        }
        self.limit = self.friction * load;
        let (at, steepness) = if load > 0.0 { self.speed_of(load) } else { (speed, 0.0) };
        self.with_normal(velocity, (load - steepness * (speed - at), steepness), expected)
    }

    /// The load (N·s) that stops a mass of `1/inverse_mass` (kg) with a relative velocity (m/s) where the contact begins to act.
    pub fn stopping_load(&self, velocity: DVec3, inverse_mass: f64) -> f64 {
        (self.opening - self.normal.dot(velocity)).max(0.0) / inverse_mass
    }

    /// The speed (m/s) along the normal at which there is a load (N·s), and by how much the load falls with it there (kg).
    fn speed_of(&self, load: f64) -> (f64, f64) {
        // The load is convex in the speed, and at least this at the start: from there Newton's method never goes too far.
        let mut speed = (self.push - load) / self.resistance;
        let (mut here, mut steepness) = self.normal_at(self.normal * speed);
        for _ in 0..INVERTING {
            if here <= load * (1.0 + SETTLED) || steepness <= 0.0 {
                break;
            }
            speed += (here - load) / steepness;
            (here, steepness) = self.normal_at(self.normal * speed);
        }
        (speed - (load - here) / steepness.max(f64::MIN_POSITIVE), steepness)
    }

    /// Impulse and slope with a load (N·s) that falls with the speed of separation (kg).
    fn with_normal(&self, velocity: DVec3, (load, steepness): (f64, f64), expected: DVec3) -> ContactSlope {
        let mut impulse = self.normal * load;
        let mut slope = Sym3::ZERO.add_outer(steepness, self.normal);
        if self.limit > 0.0 {
            let w = self.shear(velocity);
            let length = w.length();
            let cut = if length > self.limit { self.limit / length } else { 1.0 };
            let along = self.grip * cut;
            impulse -= w * cut;
            // In the plane of the surface all of it where it sticks, less `sym(q tᵀ)` where it slides.
            slope += Sym3::diagonal(DVec3::splat(along));
            slope = slope.add_outer(-along, self.normal);
            if cut < 1.0 {
                let (t, q) = (w / length, self.friction_of(expected) / -self.limit);
                slope = slope.add_outer(-0.25 * along, t + q).add_outer(0.25 * along, t - q);
            }
        }
        ContactSlope { impulse, slope }
    }

    /// The part of an impulse (N·s, world) along the surface, cut to the friction limit.
    #[inline]
    pub fn friction_of(&self, impulse: DVec3) -> DVec3 {
        (impulse - self.normal * self.normal.dot(impulse)).clamp_length_max(self.limit)
    }

    /// The impulse (N·s, world) with which this contact alone would be in balance, and its friction limit: `velocity` is that with the impulse
    /// `before`, and changes by `inverse_mass` (1/kg), along the normal and across it, per impulse.
    pub fn settle(&mut self, velocity: DVec3, before: DVec3, inverse_mass: [f64; 2]) -> DVec3 {
        let pushed = self.normal.dot(before);
        let load = self.settled_load(self.normal.dot(velocity) - inverse_mass[0] * pushed, inverse_mass[0]);
        self.limit = self.friction * load;
        let without = velocity - (before - self.normal * pushed) * inverse_mass[1];
        let sticking = self.shear(without) / -(1.0 + self.grip * inverse_mass[1]);
        self.normal * load + sticking.clamp_length_max(self.limit)
    }

    /// `p = p_n(u + w p)` for the speed `u` without it; Newton's method from below, where the law without hardening has its solution.
    fn settled_load(&self, speed: f64, inverse_mass: f64) -> f64 {
        let mut load = (self.push - self.resistance * speed) / (1.0 + self.resistance * inverse_mass);
        for _ in 0..SETTLING {
            let (given, steepness) = self.normal_at(self.normal * (speed + inverse_mass * load.max(0.0)));
            let change = (given - load.max(0.0)) / (1.0 + steepness * inverse_mass);
            load = load.max(0.0) + change;
            if change.abs() <= SETTLED * load {
                break;
            }
        }
        load.max(0.0)
    }

    /// `φ` (J) at a relative velocity (m/s).
    pub fn energy(&self, velocity: DVec3) -> f64 {
        if self.resistance <= 0.0 {
            return 0.0;
        }
        let speed = self.normal.dot(velocity);
        let normal = if speed < self.opening { self.stored(speed) - self.stored(self.opening) } else { 0.0 };
        let length = self.shear(velocity).length();
        let shear = if length > self.limit {
            (length - 0.5 * self.limit) * self.limit
        } else {
            0.5 * length * length
        };
        normal + shear / self.grip
    }

    /// `g` (J) at a speed of separation (m/s).
    fn stored(&self, speed: f64) -> f64 {
        let linear = self.push - self.resistance * speed;
        let e = (self.depth - self.dt * speed).max(0.0);
        let bent = e.min(self.hardest);
        let straight = e - bent;
        let hard = (0.25 * bent * bent + bent * straight + 1.5 * straight * straight) * bent * bent;
        0.5 * linear * linear / self.resistance + hard * self.hardening / self.dt
    }

    /// The friction limit (N·s) of the load at a relative velocity (m/s).
    pub fn limit_at(&self, velocity: DVec3) -> f64 {
        self.friction * self.load(velocity)
    }

    /// By how much friction (N·s) would change at a relative velocity (m/s) with another limit.
    pub fn friction_change(&self, velocity: DVec3, limit: f64) -> f64 {
        let shear = self.shear(velocity).length();
        shear.min(limit) - shear.min(self.limit)
    }

    /// The linear law with an impulse and a slope at a relative velocity (m/s).
    pub(crate) fn sloped_step(&self, velocity: DVec3, at: &ContactSlope) -> ContactStep {
        let (t, s) = self.normal.any_orthonormal_pair();
        // Axes of the slope along the surface.
        let [tt, ts, ss] = [(t, t), (t, s), (s, s)].map(|(a, b)| a.dot(at.slope.mul_vec(b)));
        let half = 0.5 * (tt - ss);
        let most = 0.5 * (tt + ss) + (half * half + ts * ts).sqrt();
        let along = if half >= 0.0 { t * (most - ss) + s * ts } else { t * ts + s * (most - tt) };
        let along = along.try_normalize().unwrap_or(t);
        let axes = [self.normal, along, self.normal.cross(along)];
        let resistance = axes.map(|axis| axis.dot(at.slope.mul_vec(axis)).max(0.0));
        let is_open = at.impulse == DVec3::ZERO && resistance.iter().all(|&b| b <= 0.0);
        let slides = self.shear(velocity).length() > self.limit;
        ContactStep {
            grip: if is_open {
                Grip::Open
            } else if slides {
                Grip::Slip
            } else {
                Grip::Stick
            },
            axes,
            resistance,
            impulse: [0, 1, 2].map(|i| axes[i].dot(at.impulse) + resistance[i] * axes[i].dot(velocity)),
        }
    }

    /// The law at a relative velocity (m/s) as one that is linear around it.
    pub fn step_at(&self, velocity: DVec3) -> ContactStep {
        let (load, steepness) = self.normal_at(velocity);
        if load <= 0.0 {
            return ContactStep::default();
        }
        let w = self.shear(velocity);
        let length = w.length();
        let t =
            w.try_normalize().map(|t| t - self.normal * self.normal.dot(t)).and_then(DVec3::try_normalize);
        let t = t.unwrap_or_else(|| self.normal.any_orthonormal_vector());
        let across = self.normal.cross(t);
        let (grip, along) = if length > self.limit {
            (Grip::Slip, self.limit / length * self.grip)
        } else {
            (Grip::Stick, self.grip)
        };
        let friction = t.dot(self.impulse(velocity));
        ContactStep {
            grip,
            axes: [self.normal, t, across],
            resistance: [steepness, along, along],
            impulse: [
                load + steepness * self.normal.dot(velocity),
                friction + along * t.dot(velocity),
                along * across.dot(velocity),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_testkit::Rng;

    /// Laws that stick, slide and are open, linearized with friction that is expected elsewhere.
    #[test]
    fn a_linear_step_has_the_impulse_and_the_slope_it_is_made_of() {
        let mut rng = Rng::new(11);
        for _ in 0..1000 {
            let law = ContactPotential {
                normal: rng.unit_vec(),
                push: rng.uniform(-1.0, 1.0),
                resistance: rng.uniform(0.1, 10.0),
                dt: 0.01,
                pull: rng.vec3(-1.0, 1.0),
                grip: rng.uniform(0.1, 10.0),
                friction: 0.5,
                limit: rng.uniform(0.0, 2.0),
                ..ContactPotential::default()
            };
            let (velocity, expected) = (rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0));
            let pull = law.pull - law.normal * law.normal.dot(law.pull);
            let law = ContactPotential { pull, ..law };
            let at = law.linearize(velocity, expected);
            let step = law.sloped_step(velocity, &at);
            assert!((step.impulse_at(velocity) - at.impulse).length() < 1e-12);
            for axis in DVec3::AXES {
                let (got, want) = (step.matrix().mul_vec(axis), at.slope.mul_vec(axis));
                assert!((got - want).length() < 1e-12 * (law.resistance + law.grip), "{got} {want}");
            }
        }
    }
}
