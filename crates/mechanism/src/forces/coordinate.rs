//! A joint coordinate where a step is linearized, and the impulse of the forces along it.
//!
//! Every force along a coordinate `x` gives body 1 the impulse `q − κ ẋ⁺` along the gradient of `x`, with `ẋ⁺` the rate at the
//! end of the step (Her11 eq. 3–6; docs/maths/stiff-joints.md). `x` is measured where the step is linearized. `ẋ_k` is the rate
//! there. `ẋ_d` is the rate whose displacement `h ẋ_d` the pose already contains; it is 0 in the paper's one-solve step. `ẋ̂` is
//! the rate that the momentum balance starts from. Units: rad or m, and per second.
//!
//! **Bend.** Rates along the gradient are those of a straight line. What slides on something that turns leaves its circle along the
//! tangent: over a step of first order `x` changes by `h (ẋ⁺ + b)`, `b = ½ h ω² r` for a rail that turns by `ω`. Forces act on what `x`
//! does, so they see all rates with their bend, and the impulse `q − κ (ẋ⁺ + b)` is handed on as one of `ẋ⁺`.

/// A coordinate and its rates.
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

impl Coordinate {
    /// The value at the end of the step if the rate stays as it is.
    #[inline]
    pub(crate) fn predicted(&self, h: f64) -> f64 {
        self.value + h * (self.rate - self.displaced)
    }
}

/// What the rates of a coordinate in a step are beyond those along its gradient, per second.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bend {
    /// Of the step: `b`.
    pub(crate) step: f64,
    /// Of the rate where it is linearized.
    pub(crate) rate: f64,
    /// Of the displacement that the pose already contains.
    pub(crate) displaced: f64,
    /// Of the rate that the momentum balance starts from.
    pub(crate) base: f64,
}

impl Coordinate {
    /// The same with its bend.
    #[inline]
    pub(crate) fn bent(self, bend: &Bend) -> Self {
        Self {
            value: self.value,
            rate: self.rate + bend.rate,
            displaced: self.displaced + bend.displaced,
            base: self.base + bend.base,
        }
    }
}

/// The impulse `q − κ ẋ⁺` along a coordinate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ScalarImpulse {
    /// `q`, N·m·s or N·s.
    pub(crate) q: f64,
    /// `κ`, kg·m² or kg.
    pub(crate) kappa: f64,
}

impl ScalarImpulse {
    /// An impulse on the rate with its bend, as one on the rate along the gradient.
    #[inline]
    pub(crate) fn unbent(self, bend: &Bend) -> Self {
        Self { q: self.q - self.kappa * bend.step, kappa: self.kappa }
    }
}

/// A force over a step, for steppers in joint coordinates: `torque − resistance · ẍ`.
///
/// From the impulse `q − κ ẋ⁺` and `ẋ⁺ = ẋ + h ẍ`: `torque = (q − κ ẋ)/h`, `resistance = κ`, stable at any stiffness. With
/// `h = 0` it is the force at the beginning, and the resistance is the armature.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Response<T> {
    /// At no acceleration, N·m or N.
    pub torque: T,
    /// Per acceleration, kg·m² or kg.
    pub resistance: f64,
}
