//! Changes of settings at given times of a run (s).

use glam::DVec3;

use super::solve::StepperDoc;

document! {
    /// New settings from a time on. Settings that are left out stay as they are.
    ///
    /// Factors multiply the values of the scene as written, not each other: 2 and later 3 gives 3 times the written
    /// value.
    pub struct ChangeDoc {
        /// When (s): before the first step whose middle is not earlier, so that rounding of times never moves it by a
        /// step. 0 is from the beginning.
        pub at_s: f64,
        /// Acceleration of gravity (m/s²), world axes.
        [omit] pub gravity: Option<DVec3>,
        /// Time step (s), 1e-12 to 1e6.
        [omit] pub dt: Option<f64>,
        /// The time stepper.
        [omit] pub stepper: Option<StepperDoc>,
        /// Most iterations on closed loops per solve; with 0 loops stay open.
        [omit] pub loop_iterations: Option<u32>,
        /// Factor on the stiffness of the springs of all joints, at least 0.
        [omit] pub joint_stiffness: Option<f64>,
        /// Factor on the damping of all joints and their springs, at least 0.
        [omit] pub joint_damping: Option<f64>,
        /// Factor on Young's modulus of all flesh and on the stiffness of its fibres, above 0.
        [omit] pub flesh_stiffness: Option<f64>,
        /// Factor on the normal stiffness of all contacts, above 0.
        [omit] pub contact_stiffness: Option<f64>,
        /// Factor on the damping of all contacts, at least 0.
        [omit] pub contact_damping: Option<f64>,
        /// Factor on the friction of all contacts, at least 0.
        [omit] pub friction: Option<f64>,
    }
}
