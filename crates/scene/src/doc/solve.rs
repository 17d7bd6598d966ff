//! Settings of the solvers: stepper, gyroscopic torque, closed loops, stabilization.

use serde::{Deserialize, Serialize};

/// The time stepper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum StepperDoc {
    /// Implicit step with implicit position constraints: stable for any stiffness.
    Implicit(ImplicitDoc),
    /// Acceleration constraints with a Runge–Kutta integrator: a baseline for comparison.
    Explicit(ExplicitDoc),
    /// Poses are predicted, then corrected to satisfy the joints: Faure's displacement constraints.
    Displacement(DisplacementDoc),
    /// Joint coordinates instead of constraints, with actuators for scores: hybrid recursive dynamics. Only trees.
    Reduced(ReducedDoc),
}

impl Default for StepperDoc {
    fn default() -> Self {
        Self::Implicit(ImplicitDoc::default())
    }
}

document! {
    /// Settings of the implicit stepper.
    pub struct ImplicitDoc {
        /// Order of accuracy in time: 1 (backward Euler) or 2.
        pub order: u32 = 1,
        /// Linear solves per step at most, at least 1: Newton iterations close the joints at the end of the step; 1 is the
        /// one-solve step of Her11.
        pub newton_iterations: u32 = 10,
        /// Newton stops once every anchor distance is below this share of the size of its bodies, and rotation errors below
        /// it in rad; with loops at a fiftieth of it.
        pub newton_tolerance: f64 = 5e-4,
        /// Parts that a step is divided into at most, where Newton iterations cannot close the joints; 1 switches this off.
        pub most_substeps: u32 = 32,
        /// Whether joint forces add geometric stiffness, so that load never limits the step.
        pub geometric_stiffness: bool = true,
        /// Which factorization of the tree is used.
        pub solver: TreeSolverDoc = TreeSolverDoc::Pair,
    }
}

/// Factorization of the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TreeSolverDoc {
    /// Body and joint eliminated together: the fast form.
    #[default]
    Pair,
    /// Bodies and joints eliminated one by one: the reference form.
    Block,
}

document! {
    /// Settings of the explicit stepper.
    pub struct ExplicitDoc {
        /// The integrator.
        pub method: ExplicitMethodDoc = ExplicitMethodDoc::Rk4,
        /// Baumgarte rate β of C̈ + 2β Ċ + β² C = 0 (1/s): joint errors decay at this rate; 0 is off.
        pub baumgarte: f64 = 10.0,
        /// Most parts of a step that would tear a joint, at least 1.
        pub most_substeps: u32 = 16,
    }
}

/// Explicit integrators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExplicitMethodDoc {
    /// Fourth-order Runge–Kutta.
    #[default]
    Rk4,
    /// Midpoint rule, second order.
    Rk2,
    /// Forward Euler, first order.
    Euler,
}

/// Treatment of the gyroscopic torque.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum GyroscopicDoc {
    /// Implicit midpoint rule, which keeps energy and momentum, for bodies without joints; implicit for the
    /// others.
    #[default]
    Auto,
    /// One Newton step in the body frame: stable, slightly damped.
    Implicit,
    /// Angular momentum is stepped, velocity derived from it.
    Momentum,
    /// Torque taken at the start of the step; where the step is linearized in second order.
    Explicit,
    /// No gyroscopic torque.
    Off,
}

document! {
    /// Settings of the displacement stepper: Störmer's rule, then the joints closed by displacements (Fau98 §4.2).
    #[derive(Copy)]
    pub struct DisplacementDoc {
        /// Where the directions of the closing displacements are taken.
        pub jacobian: JacobianPoseDoc,
        /// How rotations are continued.
        pub rotation: RotationStepDoc,
        /// Joints count as closed below this error (m, rad).
        pub tolerance: f64 = 1e-10,
        /// Most corrections per step, at least 1.
        pub iterations: u32 = 20,
        /// Most parts of a step whose joints cannot be closed, at least 1.
        pub most_substeps: u32 = 16,
    }
}

document! {
    /// Settings of the stepper in joint coordinates (KP08 appendix A).
    #[derive(Copy)]
    pub struct ReducedDoc {
        /// How time is integrated.
        pub method: ReducedMethodDoc,
        /// Most substeps of a step, 1 to 1,000: more than one are made while contact is violent. 0 stands for 1.
        [omit] pub most_substeps: u32,
    }
}

/// Integrators in joint coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReducedMethodDoc {
    /// Forces change the velocities, then everything moves by inertia, which is resolved to second order.
    #[default]
    SymplecticEuler,
    /// Fourth-order Runge–Kutta; forces of flesh and contact are those at the beginning of the step.
    Rk4,
    /// Symplectic Euler with springs and dampers of joints taken at the end of the step.
    Implicit,
}

/// Where the directions of closing displacements are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum JacobianPoseDoc {
    /// At the start of the step: keeps energy.
    #[default]
    Start,
    /// At the predicted pose, as in the paper: loses energy.
    Predicted,
}

/// How the displacement stepper continues rotations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RotationStepDoc {
    /// Angular momentum is carried on and corrected: second order, momentum kept.
    #[default]
    Momentum,
    /// Angular momentum is carried on; corrections are applied as rotations: first order in three dimensions.
    Exponential,
    /// The last rotation is repeated, as in the paper: no gyroscopic effect.
    Plain,
}

document! {
    /// How closed loops are solved.
    #[derive(Copy)]
    pub struct LoopsDoc {
        /// Which system is solved, and how.
        pub solver: LoopSolverDoc,
        /// The iteration of the iterative solvers.
        pub method: KrylovMethodDoc,
        /// Whether the iteration is preconditioned with the blocks of single loop joints.
        pub precondition: bool = true,
        /// Iterations stop once the largest loop residual is below this (m/s and rad/s; m/s² and rad/s² in the
        /// explicit stepper; m and rad in assembly).
        pub precision: f64 = 1e-10,
        /// Most iterations per solve; with 0 loops stay open.
        pub iterations: u32 = 200,
        /// How often a solve may restart when its true residual is ten times too large.
        pub restarts: u32 = 3,
        /// Whether a solve begins with the loop forces of the step before.
        pub warm_start: bool = true,
    }
}

/// Which system of closed loops is solved, and how: the four methods of Fau99 table 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LoopSolverDoc {
    /// The tree exactly; few loops directly, many by iteration.
    #[default]
    Auto,
    /// The tree exactly, the loops directly, however many.
    StructuredDirect,
    /// The tree exactly, the loops by iteration.
    StructuredIterative,
    /// The tree exactly, the loops by a dense factorization.
    StructuredDense,
    /// Every joint by iteration: for comparison.
    FullIterative,
    /// Every joint by a dense factorization: for comparison.
    FullDense,
}

/// The iteration on loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum KrylovMethodDoc {
    /// Smallest residual; ends in the least-squares motion when loops contradict each other.
    #[default]
    ConjugateResidual,
    /// For loops that do not contradict each other.
    ConjugateGradient,
    /// As the paper has it: the iterates of conjugate gradients at twice the work.
    BiConjugateGradient,
}

/// When bodies that rest fall asleep: they stay where they are until something wakes them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum SleepDoc {
    /// They never do.
    Never,
    /// Once all that touch or are jointed to each other have rested.
    AtRest(RestDoc),
}

impl Default for SleepDoc {
    fn default() -> Self {
        Self::AtRest(RestDoc::default())
    }
}

document! {
    /// What rest is.
    #[derive(Copy)]
    pub struct RestDoc {
        /// No body has gone further than this (m), by its centre and by its turn,
        pub distance_m: f64 = 1e-3,
        /// for so long (s).
        pub after_s: f64 = 0.5,
    }
}

document! {
    /// Correction of poses after every step.
    #[derive(Copy)]
    pub struct StabilizeDoc {
        /// Joints count as closed below this error (m, rad).
        pub tolerance: f64 = 1e-9,
        /// Most corrections per step, at least 1.
        pub iterations: u32 = 10,
        /// Whether velocities are projected onto the joints, too.
        pub velocities: bool = true,
    }
}
