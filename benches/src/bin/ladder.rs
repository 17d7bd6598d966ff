//! `cargo xtask bench ladder`: the rope ladders of Fau99 table 2 by four methods, whole steps, warm starts, grabs.
//!
//! `--quick` takes seconds instead of minutes, `--json FILE` writes all figures, `--plot FILE` an SVG of time per
//! solve, `--callgrind` makes a few solves and steps and no figures.

use std::process::ExitCode;

fn main() -> ExitCode {
    sinew_benches::run_program("ladder")
}
