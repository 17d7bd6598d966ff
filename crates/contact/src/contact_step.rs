//! One contact inside an implicit step: a linear law `impulse = q − B v'` for the velocity `v'` at the end of the step.
//!
//! The law at the end of a step of length `h` (docs/maths/contact.md §2), with the depth `d` at its start, the stretch
//! `ξ` of the contact along the surface and the lagged damping `c_n d⁺`, `d⁺ = max(d, 0)`:
//!
//! ```text
//! p_n = max(0, h k_n d − β_n n·v')        β_n = h (h k_n + c_n d⁺)
//! p_t = −h k_t ξ − β_t v_t' − c_n d⁺ s    β_t = h (h k_t + c_n d⁺)      cut to |p_t| ≤ μ p_n
//! ```
//! `s` is what the contact slides beside `h v_t'`; it is a part of `ξ`, too.
//!
//! Each [`Grip`] makes the law linear, with a symmetric, positive semidefinite `B` that is diagonal in (n, t, n×t). A
//! sticking contact has the law above. A sliding contact has the chord `−(μ p_n/|v_t|) v'` of Coulomb's law, which
//! never reverses a velocity. A contact that has just begun to slide has the force `μ p_n` against the load.
//! [`ContactStart::predict`] guesses the grip from the contact alone; [`ContactStart::review`] checks it with the
//! velocity of a solve. A contact with a gap `d < 0` acts if it would close within the step. World axes; `v'` is the
//! velocity of the first side minus that of the other at the contact point. About 100 flops. Numbers that are not
//! finite give an open contact.

use crate::{contact_force::within, material::ContactLaw};
use glam::DVec3;
use sinew_math::Sym3;

/// Friction of a contact that begins to slide grows with speed by this part of the normal resistance, so that every row
/// of an active contact has a finite compliance.
const SLIDING_SLOPE: f64 = 1e-6;
/// A review accepts a grip if friction is wrong by less than this part of its limit.
const REVIEW_TOLERANCE: f64 = 0.01;

/// A load is that of the last step if it has changed by less than this part.
const STEADY: f64 = 0.1;

/// How many times its own mass a contact that bears others is assumed to move.
const BORNE_MASSES: f64 = 10.0;

/// By how much contacts that bounce are stiffer than others: their speed is then right to a thousandth.
const FIRM: f64 = 1e3;
const BOUNCING: f64 = 100.0;

/// The state of a contact in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Grip {
    /// No force.
    #[default]
    Open,
    /// Sticks: acts like a spring along the surface.
    Stick,
    /// Slides against friction.
    Slip,
}

/// A contact at the start of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactStart {
    /// The law between the surfaces.
    pub law: ContactLaw,
    /// Unit normal, from the other side towards the first (world).
    pub normal: DVec3,
    /// Depth (m); negative for a gap.
    pub depth: f64,
    /// Stretch along the surface kept from the last step, with the slide (m, world).
    pub stretch: DVec3,
    /// How far the first side slides within the step that velocities do not show (m, world), see [`Approach::slide`](crate::Approach::slide).
    pub slide: DVec3,
    /// Mass that a push along the normal has to move, `1/(nᵀ G M⁻¹ Gᵀ n)` (kg), for guesses only. Too small a number is
    /// harmless (of an articulated body, take the mass that the touching body has alone), too large a one costs solves.
    pub mass: f64,
    /// Speed at which the sides separate because they bounce (m/s); 0 if they do not.
    pub rebound: f64,
    /// Whether it is a point of flesh, on which other points rest.
    pub is_soft: bool,
}

/// The linear law of a contact in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactStep {
    /// What the contact does.
    pub grip: Grip,
    /// Orthonormal axes (world): the normal, the direction of sliding, and the one across.
    pub axes: [DVec3; 3],
    /// `B` along the axes (kg), ≥ 0.
    pub resistance: [f64; 3],
    /// `q` along the axes (N·s).
    pub impulse: [f64; 3],
}

/// One row of a contact between two bodies: `direction·(v₁ − v₂) + compliance λ = rhs`, with the impulse
/// `+λ direction` on the first body and its negative on the second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactRow {
    /// Unit vector (world).
    pub direction: DVec3,
    /// Velocity per impulse (1/kg), > 0.
    pub compliance: f64,
    /// Velocity at which the row gives no impulse (m/s).
    pub rhs: f64,
}

impl ContactStep {
    /// `q` (N·s, world).
    #[inline]
    pub fn constant_impulse(&self) -> DVec3 {
        let [n, t, s] = self.axes;
        n * self.impulse[0] + t * self.impulse[1] + s * self.impulse[2]
    }

    /// `B` (kg, world): symmetric, positive semidefinite.
    #[inline]
    pub fn matrix(&self) -> Sym3 {
        let [n, t, s] = self.axes;
        let [bn, bt, bs] = self.resistance;
        Sym3::ZERO.add_outer(bn, n).add_outer(bt, t).add_outer(bs, s)
    }

    /// `q − B v'`: the impulse (N·s, world) on the first side at the relative velocity `v'` (m/s).
    #[inline]
    pub fn impulse_at(&self, velocity: DVec3) -> DVec3 {
        let along = |i: usize| self.axes[i] * self.component_at(i, velocity);
        along(0) + along(1) + along(2)
    }

    /// The same as three rows, for contacts between two bodies; none for an open contact. A row without resistance
    /// (friction of a surface that has none) is left out.
    pub fn rows(&self) -> impl Iterator<Item = ContactRow> + use<> {
        let Self { axes, resistance, impulse, .. } = *self;
        (0..3).filter(move |&i| resistance[i] > 0.0).map(move |i| ContactRow {
            direction: axes[i],
            compliance: 1.0 / resistance[i],
            rhs: impulse[i] / resistance[i],
        })
    }

    fn component_at(&self, i: usize, velocity: DVec3) -> f64 {
        self.impulse[i] - self.resistance[i] * self.axes[i].dot(velocity)
    }
}

impl ContactStart {
    /// Guesses the law of a step of `dt` seconds from two relative velocities (m/s): `now`, at the start, and `free`,
    /// at the end without contacts (with gravity and all other known forces). The guess solves for this contact alone,
    /// on a particle of mass [`ContactStart::mass`]. A contact with a gap acts if the gap would close at the velocity
    /// `now`: a body at rest does not close its gaps, although it would fall if it were free.
    pub fn predict(&self, now: DVec3, free: DVec3, dt: f64) -> ContactStep {
        let arrives = self.depth >= 0.0 || self.rebound > 0.0 || self.depth > dt * self.normal.dot(now);
        match arrives {
            true if now == free => self.guess_borne(now, dt),
            true => self.guess_steady(free, dt),
            false => ContactStep::default(),
        }
    }

    /// The law of a particle, or friction of constant size where flesh slid in the last step under the load that it has now: if friction takes less than half
    /// of the speed, it does not turn it round.
    fn guess_steady(&self, free: DVec3, dt: f64) -> ContactStep {
        let step = self.guess(free, dt);
        let sliding = free - self.normal * self.normal.dot(free);
        let speed = sliding.length();
        let limit = self.law.friction * dt * self.law.stiffness * self.depth;
        // the stretch is that of the last friction
        let change = dt * self.law.tangential_stiffness * self.stretch.length() - limit;
        // its chord is that at the speed that is left
        let keeps_on = step.grip == Grip::Slip && step.resistance[1] * speed <= 2.0 * limit;
        if self.is_soft && keeps_on && limit > 0.0 && change.abs() <= STEADY * limit && self.rebound == 0.0 {
            return self.against(self.normal_line(dt), sliding, sliding, [limit, limit / speed]);
        }
        step
    }

    /// The law of a particle that would have the relative velocity `free` without the contact.
    fn guess(&self, free: DVec3, dt: f64) -> ContactStep {
        let normal = self.normal_line(dt);
        let load = normal.alone(self.normal.dot(free), self.mass);
        // a number that is not finite opens the contact
        let acts = load > 0.0 && load.is_finite() && free.is_finite();
        if !acts {
            return ContactStep::default();
        }
        // What rests on other nodes presses here, too, as much as the depth tells, and slides along.
        let borne = if self.is_soft { (normal.0 / load).max(1.0) } else { 1.0 };
        let (load, mass) = (borne * load, borne * self.mass);
        let tangent = self.tangent_line(dt);
        let limit = self.law.friction * load;
        let sliding = free - self.normal * self.normal.dot(free);
        let pull = (tangent.0 + sliding * tangent.1) / (1.0 + tangent.1 / mass);
        if pull.length() <= limit {
            return self.sticking(dt);
        }
        let left = sliding - within(pull, limit) / mass;
        let speed = left.length().max(self.law.slip_speed);
        self.framed(normal, pull, [limit / speed; 2])
    }

    /// The law of a contact whose sides fall alike, so that nothing tells what presses them together but its depth. A contact that bears others is pressed by more
    /// than a particle of its own mass would be. That counts where friction may stop it, although it moves more than its own mass, too.
    fn guess_borne(&self, now: DVec3, dt: f64) -> ContactStep {
        let step = self.guess(now, dt);
        let borne = self.law.friction * dt * self.law.stiffness * self.depth;
        let speed = (now - self.normal * self.normal.dot(now)).length().max(self.law.slip_speed);
        if step.grip == Grip::Slip && self.rebound == 0.0 && borne >= BORNE_MASSES * speed * self.mass {
            return self.framed(self.normal_line(dt), now, [borne / speed; 2]);
        }
        step
    }

    /// Checks a law with the relative velocity `v'` (m/s) that a solve gave at the end of the step. Returns none if the
    /// grip holds, else the law for another solve. Before the `last` solve, friction is proportional to `v'`, which
    /// dissipates energy even if the guess is wrong. Open contacts then stay open: the next step finds them as deep
    /// ones. See also [`ContactStart::soften_gap`].
    pub fn review(&self, step: &ContactStep, end: DVec3, dt: f64, last: bool) -> Option<ContactStep> {
        let normal = self.normal_line(dt);
        let load = normal.0 - normal.1 * self.normal.dot(end);
        match (step.grip, load > 0.0) {
            (Grip::Open, true) => return (!last).then(|| self.guess(end, dt)),
            (_, false) => return (step.grip != Grip::Open).then(ContactStep::default),
            (_, true) => {}
        }
        if self.law.friction <= 0.0 {
            return (step.grip == Grip::Stick).then(|| self.sticking(dt));
        }
        let limit = self.law.friction * load;
        let sliding = end - self.normal * self.normal.dot(end);
        let speed = sliding.length();
        let chord = |along| Some(self.framed(normal, along, [limit / speed.max(self.law.slip_speed); 2]));
        if step.grip == Grip::Stick {
            let tangent = self.tangent_line(dt);
            let pull = tangent.0 + sliding * tangent.1;
            let size = pull.length();
            return if size <= limit * (1.0 + REVIEW_TOLERANCE) {
                None
            } else if last {
                chord(pull)
            } else {
                Some(self.against(normal, sliding, pull, [limit, limit * tangent.1 / size]))
            };
        }
        if sliding.dot(step.axes[1]) <= 0.0 || speed <= self.law.slip_speed {
            return Some(self.sticking(dt));
        }
        let friction = DVec3::new(0.0, step.component_at(1, end), step.component_at(2, end)).length();
        if (friction - limit).abs() <= REVIEW_TOLERANCE * limit {
            None
        } else if friction < limit || last {
            chord(sliding)
        } else {
            // less friction than what it slid against cannot turn it round
            Some(self.against(normal, sliding, sliding, [limit, limit / speed]))
        }
    }

    /// For the last solve: replaces the spring of a contact with a gap by the chord `−(p_n/u') u` of the normal law.
    /// Both are equal at the velocity `v'` of the previous solve; at other velocities the chord dissipates energy,
    /// while the spring might pull.
    pub fn soften_gap(&self, step: &mut ContactStep, end: DVec3) {
        let (load, closing) = (step.component_at(0, end), -self.normal.dot(end));
        if step.grip != Grip::Open && self.depth < 0.0 && self.rebound == 0.0 && load > 0.0 && closing > 0.0 {
            step.impulse[0] = 0.0;
            step.resistance[0] = load / closing;
        }
    }

    /// The stretch (m, world) for the next step, from the velocity `v'` (m/s) at the end of this one; zero for an open
    /// contact.
    pub fn stretch_after(&self, step: &ContactStep, end: DVec3, dt: f64) -> DVec3 {
        let load = step.component_at(0, end) / dt;
        if step.grip != Grip::Open && load > 0.0 {
            self.law.stretched(
                self.normal,
                load,
                self.stretch,
                (end - self.normal * self.normal.dot(end)) * dt,
            )
        } else {
            DVec3::ZERO
        }
    }

    /// Friction of constant size `limit` (N·s) against `pull`, and a resistance across it; both are exact at the
    /// velocity `sliding`.
    fn against(
        &self,
        normal: ImpulseLine,
        sliding: DVec3,
        pull: DVec3,
        [limit, across]: [f64; 2],
    ) -> ContactStep {
        let along = SLIDING_SLOPE * normal.1;
        let mut step = self.framed(normal, pull, [along, across]);
        step.impulse[1] = along * step.axes[1].dot(sliding) - limit;
        step.impulse[2] = across * step.axes[2].dot(sliding);
        step
    }

    /// Sticks; without friction it slides, along nothing.
    fn sticking(&self, dt: f64) -> ContactStep {
        if self.law.friction <= 0.0 {
            return self.framed(self.normal_line(dt), DVec3::ZERO, [0.0; 2]);
        }
        let tangent = self.tangent_line(dt);
        let mut step = self.framed(self.normal_line(dt), tangent.0, [tangent.1; 2]);
        step.impulse[1] = -step.axes[1].dot(tangent.0);
        step.impulse[2] = -step.axes[2].dot(tangent.0);
        step.grip = Grip::Stick;
        step
    }

    /// A law that resists sliding, along and across a direction.
    fn framed(&self, normal: ImpulseLine, along: DVec3, resistance: [f64; 2]) -> ContactStep {
        // after rounding, a vector nearly along the normal has no direction on the surface
        let laid = |t: DVec3| (t - self.normal * self.normal.dot(t)).try_normalize();
        let t = along.try_normalize().and_then(laid).unwrap_or_else(|| self.normal.any_orthonormal_vector());
        ContactStep {
            grip: Grip::Slip,
            axes: [self.normal, t, self.normal.cross(t)],
            resistance: [normal.1, resistance[0], resistance[1]],
            impulse: [normal.0, 0.0, 0.0],
        }
    }

    fn normal_line(&self, h: f64) -> ImpulseLine {
        let PressedStart { depth, stiffness, damping, .. } = self.pressed(h, self.lagged_damping());
        ImpulseLine(h * stiffness * depth, h * (h * stiffness + damping))
    }

    /// `(h k_t ξ + c_n d⁺ s, β_t)`: damping resists the slide `s`, too.
    fn tangent_line(&self, h: f64) -> (DVec3, f64) {
        let PressedStart { grip, damping, .. } = self.pressed(h, self.lagged_damping());
        (self.pull(h * grip, damping), h * (h * grip + damping))
    }

    /// `h k_t ξ + c s` in the plane of the surface (N·s), with `h k_t` and `c` given.
    pub(crate) fn pull(&self, grip: f64, damping: f64) -> DVec3 {
        let laid = |v: DVec3| v - self.normal * self.normal.dot(v);
        laid(self.stretch) * grip + laid(self.slide) * damping
    }

    pub(crate) fn lagged_damping(&self) -> f64 {
        self.law.damping * self.depth.max(0.0)
    }

    /// Depth and stiffnesses of the law in a step of length `h`. A contact that bounces is a stiff spring that is without force at the speed of the
    /// rebound: `d = h v`, wherever its sides are.
    pub(crate) fn pressed(&self, h: f64, damping: f64) -> PressedStart {
        let ContactLaw { stiffness, tangential_stiffness: grip, .. } = self.law;
        if self.rebound > 0.0 {
            // Firm in short steps, too: h² k is many times the mass that it turns back.
            let firm = f64::max(BOUNCING, FIRM * self.mass / (h * h * stiffness));
            let (stiffness, grip) = (stiffness * firm, grip * firm);
            return PressedStart { depth: h * self.rebound, stiffness, grip, damping: 0.0 };
        }
        PressedStart { depth: self.depth, stiffness, grip, damping }
    }
}

/// The numbers of a contact law in a step: depth (m), stiffnesses along the normal and the surface (N/m), damping (N·s/m).
pub(crate) struct PressedStart {
    pub(crate) depth: f64,
    pub(crate) stiffness: f64,
    pub(crate) grip: f64,
    pub(crate) damping: f64,
}

/// `p = q − β u`.
#[derive(Clone, Copy)]
struct ImpulseLine(f64, f64);

impl ImpulseLine {
    /// The impulse if it acts on a particle of mass `m` that would have the velocity `u` without it.
    fn alone(self, u: f64, m: f64) -> f64 {
        (self.0 - self.1 * u) / (1.0 + self.1 / m)
    }
}
