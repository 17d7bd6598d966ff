//! `cargo xtask bench joint_space`: dynamics, matrices and derivatives of two robots of 30 hinges, one thread, beside Pinocchio.
//!
//! `--quick` takes seconds, `--json FILE` writes all figures, `--plot FILE` an SVG of times, `--callgrind` makes a few evaluations and no
//! figures. `--pinocchio` puts Pinocchio in C++ beside, in the same run, if `python3` has the packages `pin` and `cmeel-eigen`.

use std::process::ExitCode;

fn main() -> ExitCode {
    sinew_benches::run_program("joint_space")
}
