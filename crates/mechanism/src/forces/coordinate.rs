//! A joint coordinate where a step is linearized, and the impulse of the forces along it.
//!
//! Every force along a coordinate `x` gives body 1 the impulse `q − κ ẋ⁺` along the gradient of `x`, with `ẋ⁺` the rate at the
//! end of the step (Her11 eq. 3–6; docs/maths/stiff-joints.md). `x` is measured where the step is linearized. `ẋ_k` is the rate
//! there. `ẋ_d` is the rate whose displacement `h ẋ_d` the pose already contains; it is 0 in the paper's one-solve step. `ẋ̂` is
//! the rate that the momentum balance starts from. Units: rad or m, and per second.

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

/// The impulse `q − κ ẋ⁺` along a coordinate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ScalarImpulse {
    /// `q`, N·m·s or N·s.
    pub(crate) q: f64,
    /// `κ`, kg·m² or kg.
    pub(crate) kappa: f64,
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
