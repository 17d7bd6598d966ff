//! Forces inside joints, linearized for the implicit step.
//!
//! Every force along a joint coordinate `x` gives body 1 the impulse `q − κ ẋ⁺` along the coordinate's
//! gradient, where `ẋ⁺` is the rate at the end of the step (Her11 eq. 3–6; docs/maths/stiff-joints.md):
//!
//! | force | law | `κ` | `q` |
//! |---|---|---|---|
//! | spring | `−k (x − x₀)` | `h²k` | `−h k (x − x₀) + h²k ẋ_d` |
//! | damper | `−c ẋ` | `h c` | 0 |
//! | limit | `∓τ(e)`, one-sided, C¹ | `(h² + h c/k) σ` | `∓h τ(e_p) + h²σ ẋ_k`, `σ = τ(e_p)/e_p` |
//! | motor | `s (kp (x* − x) + kd (ẋ* − ẋ))` | `s (h²kp + h kd)` | `s h (kp (x* − x) + h kp ẋ_d + kd ẋ*)` |
//! | dry friction | `−τ_c sign ẋ` | `h τ_c / max(|ẋ_k|, v_s)` | 0 |
//! | armature | `−a ẍ` | `a` | `a ẋ̂` |
//!
//! `x` is measured where the step is linearized; `ẋ_k` is the velocity there, `ẋ_d` the velocity whose
//! displacement `h ẋ_d` the pose already contains (0 for the paper's one-solve step), `ẋ̂` the velocity the
//! momentum balance starts from. A limit is linearized at the predicted excess `e_p = x + h(ẋ_k − ẋ_d) − max`,
//! so that a joint that would fly through its stop within the step meets it; the chord `σ` instead of the tangent keeps
//! a soft ramp from giving back more than it took. The gain ratio
//! `s = min(1, F_max / |F|)` with the predicted force keeps a saturated motor implicit; a load that arrives within the
//! step can exceed `F_max` until the next steps (or Newton iterations) have seen it.
//!
//! Units: radians or metres for `x`; N·m/rad or N/m and so on for the gains.

/// A linear spring and damper on one coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Spring {
    /// Stiffness, N·m/rad or N/m.
    pub stiffness: f64,
    /// Rest value of the coordinate, rad or m.
    pub rest: f64,
    /// Damping, N·m·s/rad or N·s/m.
    pub damping: f64,
}

/// A two-sided stop: a stiff one-sided spring at each end.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Limit {
    /// Lower end, rad or m.
    pub min: f64,
    /// Upper end, rad or m.
    pub max: f64,
    /// Stiffness beyond the ends, N·m/rad or N/m.
    pub stiffness: f64,
    /// Damping beyond the ends, N·m·s/rad or N·s/m.
    pub damping: f64,
    /// Width over which the stop grows from soft to stiff, rad or m; 0 is a hard corner.
    pub ramp: f64,
}

impl Limit {
    /// Force magnitude and slope at an excess beyond one end: 0, ½k e²/ε, then k(e − ε/2).
    #[inline]
    pub(crate) fn law(&self, excess: f64) -> (f64, f64) {
        if excess <= 0.0 {
            (0.0, 0.0)
        } else if excess < self.ramp {
            (0.5 * self.stiffness * excess * excess / self.ramp, self.stiffness * excess / self.ramp)
        } else {
            (self.stiffness * (excess - 0.5 * self.ramp), self.stiffness)
        }
    }

    /// Energy stored at an excess, J.
    pub(crate) fn energy(&self, excess: f64) -> f64 {
        if excess <= 0.0 {
            0.0
        } else if excess < self.ramp {
            self.stiffness * excess * excess * excess / (6.0 * self.ramp)
        } else {
            let e = excess - 0.5 * self.ramp;
            0.5 * self.stiffness * e * e + self.stiffness * self.ramp * self.ramp / 24.0
        }
    }
}

/// A servo on one coordinate: position (`kp > 0`), velocity (`kp = 0`), or both.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Motor {
    /// Position gain, N·m/rad or N/m.
    pub kp: f64,
    /// Velocity gain, N·m·s/rad or N·s/m.
    pub kd: f64,
    /// Largest force, N·m or N (infinite: none).
    pub max_force: f64,
    /// Where it goes unless the input says otherwise.
    pub target: MotorTarget,
}

/// The goal of a motor.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MotorTarget {
    /// Coordinate, rad or m.
    pub position: f64,
    /// Rate, per second.
    pub velocity: f64,
}

/// All forces along one joint coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ScalarForce {
    /// Spring and damper.
    pub spring: Spring,
    /// HeldLimits.
    pub limit: Option<Limit>,
    /// Servo.
    pub motor: Option<Motor>,
    /// Inertia of the transmission seen at the joint, kg·m² or kg.
    pub armature: f64,
    /// Dry friction, N·m or N.
    pub friction: f64,
}

impl ScalarForce {
    /// Only a spring and damper.
    pub fn spring(stiffness: f64, rest: f64, damping: f64) -> Self {
        Self { spring: Spring { stiffness, rest, damping }, ..Self::default() }
    }
}

/// Angle-axis spring, damper and cone stop of a joint with three free rotations.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct RotationForce {
    /// Stiffness against the rotation vector between the joint frames, N·m/rad.
    pub stiffness: f64,
    /// Damping of the relative angular velocity, N·m·s/rad.
    pub damping: f64,
    /// Stop on the angle between the two frames' `i` axes (only `max` is used).
    pub cone: Option<Limit>,
    /// Inertia added to the relative rotation, kg·m².
    pub armature: f64,
    /// Dry friction of the relative rotation, N·m.
    pub friction: f64,
}

impl RotationForce {
    /// Only a spring and damper.
    pub fn spring(stiffness: f64, damping: f64) -> Self {
        Self { stiffness, damping, ..Self::default() }
    }
}

/// A coordinate where the step is linearized.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Coordinate {
    /// `x`.
    pub(crate) value: f64,
    /// `ẋ_k`.
    pub(crate) rate: f64,
    /// `ẋ_d`.
    pub(crate) displaced: f64,
    /// `ẋ̂`.
    pub(crate) base: f64,
}

/// Speed below which dry friction turns viscous, rad/s or m/s: small against any visible motion.
const STICK_SPEED: f64 = 1e-3;

impl ScalarForce {
    /// `(q, κ)` of all forces, see the module table; `scale` multiplies spring and damper.
    #[inline]
    pub(crate) fn impulse(&self, x: &Coordinate, target: MotorTarget, scale: f64, h: f64) -> (f64, f64) {
        let (k, c) = (self.spring.stiffness * scale, self.spring.damping * scale);
        let mut kappa = h * h * k + h * c + self.armature;
        let mut q = -h * k * (x.value - self.spring.rest - h * x.displaced) + self.armature * x.base;
        if let Some(limit) = &self.limit {
            let predicted = x.value + h * (x.rate - x.displaced);
            for (excess, sign) in [(predicted - limit.max, -1.0), (limit.min - predicted, 1.0)] {
                let (force, _) = limit.law(excess);
                if force > 0.0 {
                    let chord = force / excess;
                    q += sign * h * force + h * h * chord * x.rate;
                    kappa += h * h * chord + h * limit.damping * chord / limit.stiffness;
                }
            }
        }
        if let Some(motor) = &self.motor {
            let predicted = x.value + h * (x.rate - x.displaced);
            let force = motor.kp * (target.position - predicted) + motor.kd * (target.velocity - x.rate);
            let s = if force.abs() > motor.max_force { motor.max_force / force.abs() } else { 1.0 };
            kappa += s * (h * h * motor.kp + h * motor.kd);
            let position = motor.kp * (target.position - x.value + h * x.displaced);
            q += s * h * (position + motor.kd * target.velocity);
        }
        if self.friction > 0.0 {
            kappa += dry_friction(self.friction, x.rate.abs(), h);
        }
        (q, kappa)
    }

    /// Force along the coordinate for the explicit stepper (armature enters its mass matrix).
    pub(crate) fn explicit(&self, value: f64, rate: f64, target: MotorTarget, scale: f64) -> f64 {
        let spring = &self.spring;
        let mut force = -scale * (spring.stiffness * (value - spring.rest) + spring.damping * rate);
        if let Some(limit) = &self.limit {
            for (excess, sign) in [(value - limit.max, -1.0), (limit.min - value, 1.0)] {
                let (f, slope) = limit.law(excess);
                if slope > 0.0 {
                    force += sign * f - limit.damping * slope / limit.stiffness * rate;
                }
            }
        }
        if let Some(motor) = &self.motor {
            let f = motor.kp * (target.position - value) + motor.kd * (target.velocity - rate);
            force += f.clamp(-motor.max_force, motor.max_force);
        }
        force - self.friction * rate / rate.abs().max(STICK_SPEED)
    }

    /// Elastic energy, J (springs and stops; motors do work and store none).
    pub(crate) fn energy(&self, value: f64, scale: f64) -> f64 {
        let x = value - self.spring.rest;
        let stops = self.limit.as_ref().map_or(0.0, |l| l.energy(value - l.max) + l.energy(l.min - value));
        0.5 * scale * self.spring.stiffness * x * x + stops
    }

    /// Whether only the spring and damper act, so that the fused path needs nothing else.
    pub(crate) fn is_simple(&self) -> bool {
        self.limit.is_none() && self.motor.is_none() && self.friction == 0.0
    }
}

/// `κ` of dry friction `torque` at speed `|ẋ_k|`.
#[inline]
pub(crate) fn dry_friction(torque: f64, speed: f64, h: f64) -> f64 {
    h * torque / speed.max(STICK_SPEED)
}
