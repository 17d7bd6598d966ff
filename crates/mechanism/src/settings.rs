//! Settings of a step: plain data with working defaults, which a recording stores.

use glam::DVec3;
use sinew_solvers::{CgSettings, LoopSettings};

/// Settings of a step; plain data with working defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Settings {
    /// Step length, s (default 1/60).
    pub dt: f64,
    /// Gravity, world axes, m/s² (default (0, 0, −9.81)).
    pub gravity: DVec3,
    /// The stepper.
    pub scheme: Scheme,
    /// How gyroscopic torques are treated by the implicit stepper.
    pub gyroscopic: Gyroscopic,
    /// How loops are closed.
    pub loops: Loops,
    /// Whether positions and velocities are brought back onto the joints after every step.
    pub stabilize: Option<Assembly>,
    /// Whether islands that nothing holds get back the angular momentum that a step has lost to its order or its stop test.
    pub keep_momentum: bool,
    /// Whether implicit steps take energy that they would gain without a source out of the motion.
    pub limit_energy: bool,
    /// Whether a step leaves wrenches of joints and accelerations in its workspace ([`crate::Workspace::joint_wrenches`],
    /// [`crate::Workspace::accelerations`]). The motion does not depend on it.
    pub reactions: bool,
    /// How precisely bodies and a companion (flesh) are solved together.
    pub together: CgSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            dt: 1.0 / 60.0,
            gravity: DVec3::new(0.0, 0.0, -9.81),
            scheme: Scheme::default(),
            gyroscopic: Gyroscopic::default(),
            loops: Loops::default(),
            stabilize: None,
            keep_momentum: true,
            limit_energy: true,
            reactions: false,
            together: CgSettings::default(),
        }
    }
}

impl Settings {
    /// How long before the end of a step bodies have the places that belong to its twists, s: half an implicit step of first order.
    pub fn twist_age(&self) -> f64 {
        let is_first = matches!(self.scheme, Scheme::Implicit(Implicit { order: Order::First, .. }));
        if is_first { 0.5 * self.dt } else { 0.0 }
    }

    /// Parts that a step may be divided into.
    pub(crate) fn most_substeps(&self) -> u32 {
        match &self.scheme {
            Scheme::Implicit(implicit) if implicit.newton_iterations > 1 => implicit.most_substeps,
            Scheme::Implicit(_) => 1,
            Scheme::Explicit(explicit) => explicit.most_substeps,
            Scheme::Displacement(displacement) => displacement.most_substeps,
        }
    }
}

/// Whether a step of `dt` seconds can be made: it is divided by the square of it.
pub fn is_step_length(dt: f64) -> bool {
    let per_square = 1.0 / (dt * dt);
    dt > 0.0 && dt.is_finite() && per_square.is_finite() && per_square > 0.0
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
    /// Displacements with assembly as the only constraint work (Fau98 §4.2).
    Displacement(Displacement),
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
    /// Linear solves per step at most (1 is the paper's step).
    pub newton_iterations: u32,
    /// Joint error at the end of a step that needs no further solve: anchor distance over the size of the joint's bodies, and
    /// rad.
    pub newton_tolerance: f64,
    /// Parts that a step is divided into at most, where Newton iterations cannot close the joints; 1 switches this off.
    pub most_substeps: u32,
    /// Where Newton iterations take the directions of the joint forces: with [`JacobianAt::Start`] at the start of the step as long
    /// as that converges, which keeps the angular momentum; with [`JacobianAt::Predicted`] at the end, which damps.
    pub jacobian: JacobianAt,
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
            newton_iterations: 10,
            newton_tolerance: 5e-4,
            most_substeps: 32,
            jacobian: JacobianAt::Start,
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

/// How the joints outside the tree are closed, on top of the exact solution of the tree.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Loops {
    /// Method, precision and budget of one solve.
    pub solve: LoopSettings,
    /// Whether a step begins with the forces of the last one.
    pub warm_start: bool,
}

impl Default for Loops {
    fn default() -> Self {
        Self { solve: LoopSettings::default(), warm_start: true }
    }
}

/// Assembly: from any poses to poses that meet the joints.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Assembly {
    /// Largest joint error that counts as met, m and rad.
    pub tolerance: f64,
    /// Linearizations at most.
    pub iterations: u32,
    /// Largest turn of a body in one iteration, rad.
    pub max_turn: f64,
    /// Whether velocities are made compatible with the joints, too.
    pub velocities: bool,
    /// How much joints outside the tree and hard grabs yield in every iteration, at least, in terms of the masses of their trees.
    /// With 0 they are met soonest; with a few hundredths each iteration leaves as much of their error, and targets that are out
    /// of reach or contradict each other (a hand that is dragged) no longer throw the rest about.
    #[cfg_attr(feature = "serde", serde(default))]
    pub yielding: f64,
    /// Whether joints stay within the ends of their ranges (and of a cone): positions beyond are brought back, and none is taken
    /// beyond. Else ranges play no part.
    #[cfg_attr(feature = "serde", serde(default))]
    pub limits: bool,
}

impl Default for Assembly {
    fn default() -> Self {
        Self {
            tolerance: 1e-10,
            iterations: 100,
            max_turn: 0.8,
            velocities: true,
            yielding: 0.0,
            limits: false,
        }
    }
}

/// Displacement steps (Störmer) with assembly.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Displacement {
    /// Where the directions of the joint forces are taken.
    pub jacobian: JacobianAt,
    /// How rotations are carried from step to step.
    pub rotation: CarriedRotation,
    /// Largest joint error left by the assembly of a step, m and rad.
    pub tolerance: f64,
    /// Linearizations at most per step.
    pub iterations: u32,
    /// Parts that a step is divided into at most, where the assembly does not close the joints; 1 is off.
    pub most_substeps: u32,
}

impl Default for Displacement {
    fn default() -> Self {
        Self {
            jacobian: JacobianAt::Start,
            rotation: CarriedRotation::Momentum,
            tolerance: 1e-10,
            iterations: 20,
            most_substeps: 16,
        }
    }
}

/// Pose at which the directions of joint forces are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum JacobianAt {
    /// At the start of the step, as SHAKE does: energy is kept.
    #[default]
    Start,
    /// At the predicted end of the step, as printed in Fau98: loses energy quickly.
    Predicted,
}

/// What a displacement step carries over of a rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum CarriedRotation {
    /// The angular momentum, corrections included: momentum is exact, second order.
    #[default]
    Momentum,
    /// The angular momentum; corrections turn the body: first order.
    Exponential,
    /// The rotation vector, without gyroscopic torque, as printed.
    Plain,
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
    /// Parts that a step is divided into at most, where it would tear a joint; 1 is off.
    pub most_substeps: u32,
}

impl Default for Explicit {
    fn default() -> Self {
        Self { method: RungeKutta::Fourth, baumgarte: 10.0, most_substeps: 16 }
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
    /// Implicit midpoint for bodies without joints (keeps energy and momentum; first order only). Spin and swing apart for bodies in
    /// joints that spin about an axis of symmetry (wheels, tops; not with one solve per step). Torque at the velocity for
    /// bodies on hinges that nothing moves. Implicit body-frame step for the others (stable, slightly damped); the
    /// second-order scheme, and Newton iterations that move their point, take the torque of these where they linearize.
    #[default]
    Auto,
    /// Implicit body-frame step for all bodies.
    Implicit,
    /// Keep the angular momentum of every body over its rotation; energy may grow. Only in one-solve first-order steps;
    /// others treat it as `Explicit` at their linearization point.
    Momentum,
    /// Torque of the start of the step: only for small `hω`. The second-order scheme, and Newton iterations that move their point, take
    /// it where they linearize.
    Explicit,
    /// No gyroscopic torque.
    None,
}
