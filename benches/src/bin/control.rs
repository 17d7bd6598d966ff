//! `cargo xtask bench control`: KP08 Table 2 measured here, dynamics and Cartesian control of skeletons of up to 10,000 bones.
//!
//! `--quick` takes seconds instead of minutes, `--json FILE` writes all figures, `--plot FILE` an SVG of times over the
//! number of bones, `--callgrind` makes a few steps and no figures.

use std::process::ExitCode;

fn main() -> ExitCode {
    sinew_benches::run_program("control")
}
