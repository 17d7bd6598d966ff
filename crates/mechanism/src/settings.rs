//! How a step is made.

use glam::DVec3;

/// Settings of a step; plain data with working defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Settings {
    /// Step length, s (default 1/60).
    pub dt: f64,
    /// Gravity, m/s² (default (0, 0, −9.81)).
    pub gravity: DVec3,
    /// The stepper.
    pub scheme: Scheme,
    /// How gyroscopic torques are treated by the implicit stepper.
    pub gyroscopic: Gyroscopic,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            dt: 1.0 / 60.0,
            gravity: DVec3::new(0.0, 0.0, -9.81),
            scheme: Scheme::default(),
            gyroscopic: Gyroscopic::default(),
        }
    }
}

/// The stepper.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Scheme {
    /// Everything implicit: the default.
    Implicit(Implicit),
    /// Acceleration constraints with a Runge–Kutta integrator: the baseline.
    Explicit(Explicit),
}

impl Default for Scheme {
    fn default() -> Self {
        Self::Implicit(Implicit::default())
    }
}

/// Implicit steps with implicit position constraints (Her11).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Implicit {
    /// Order of accuracy.
    pub order: Order,
    /// Linear solves per step at most (1 is the paper).
    pub newton_iterations: u32,
    /// Joint error at a linearization point that needs no further solve, m and rad.
    pub newton_tolerance: f64,
    /// Whether joint forces stiffen the rotations they pull on: unconditional stability under load. The paper has no
    /// such term.
    pub geometric_stiffness: bool,
    /// Which elimination solves the tree.
    pub form: TreeForm,
}

impl Default for Implicit {
    fn default() -> Self {
        Self {
            order: Order::First,
            newton_iterations: 1,
            newton_tolerance: 1e-10,
            geometric_stiffness: true,
            form: TreeForm::Pair,
        }
    }
}

/// Order of accuracy of the implicit stepper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Order {
    /// Backward Euler, linearized at the start of the step.
    #[default]
    First,
    /// BDF2, linearized at the extrapolated end of the step.
    Second,
}

/// The elimination behind an implicit step; both give the same motion to rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum TreeForm {
    /// Body and joint in one step: fast.
    #[default]
    Pair,
    /// The paper's block LDLᵀ with parent and grandparent blocks: the reference, several times slower.
    Block,
}

/// Explicit steps with stabilized acceleration constraints.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Explicit {
    /// The integrator.
    pub method: RungeKutta,
    /// Baumgarte frequency, 1/s: joint errors decay like a critically damped oscillator at this rate; 0 is off.
    pub baumgarte: f64,
}

impl Default for Explicit {
    fn default() -> Self {
        Self { method: RungeKutta::Fourth, baumgarte: 10.0 }
    }
}

/// Explicit integrators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum RungeKutta {
    /// Forward Euler, order 1.
    First,
    /// Midpoint rule, order 2.
    Second,
    /// The classical method, order 4.
    #[default]
    Fourth,
}

/// Gyroscopic torque `−ω × Iω` in implicit steps (docs/maths/spatial.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Gyroscopic {
    /// Implicit midpoint for bodies without joints (keeps energy and momentum; first order only), implicit body-frame
    /// step for the others (stable, slightly damped). Newton iterations and the second-order scheme take the torque of
    /// jointed bodies at the point they linearize at.
    #[default]
    Auto,
    /// Implicit body-frame step for all bodies.
    Implicit,
    /// Keep the angular momentum of every body over its rotation; energy may grow. Only in one-solve first-order steps;
    /// others treat it as `Explicit` at their linearization point.
    Momentum,
    /// Torque on the right-hand side: only for small `hω`.
    Explicit,
    /// No gyroscopic torque.
    None,
}
