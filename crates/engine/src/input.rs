//! Copies of inputs that reuse the memory of the target.

use sinew_mechanism::Input;

/// Copies an input into one that may already have room for it.
pub fn copy_input(from: &Input, to: &mut Input) {
    to.kinematic.clone_from(&from.kinematic);
    to.wrenches.clone_from(&from.wrenches);
    to.grabs.clone_from(&from.grabs);
    to.motors.clone_from(&from.motors);
    to.drives.clone_from(&from.drives);
    to.released.clone_from(&from.released);
    to.spring_scale = from.spring_scale;
    to.loop_iterations = from.loop_iterations;
}
