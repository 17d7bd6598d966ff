//! `cargo xtask bench contact`: piles of boxes, ragdolls and worms, and batches of ragdolls, one thread, beside Rapier and MuJoCo.
//!
//! `--quick` leaves out the large ones, `--json FILE` writes all figures, `--plot FILE` an SVG of overlap over time,
//! `--rapier` (built with the feature of that name) adds Rapier, `--mujoco` adds MuJoCo if `python3` has the package `mujoco`.

use std::process::ExitCode;

fn main() -> ExitCode {
    sinew_benches::run_program("contact")
}
