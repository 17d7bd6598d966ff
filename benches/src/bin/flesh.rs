//! `cargo xtask bench flesh`: KP08 Figure 5 and Table 1 measured here, growth to a million tetrahedra, implicit steps.
//!
//! `--quick` takes seconds instead of minutes, `--json FILE` writes all figures, `--plot FILE` an SVG of Figure 5,
//! `--callgrind` makes a few implicit steps and no figures.

use std::process::ExitCode;

fn main() -> ExitCode {
    sinew_benches::run_program("flesh")
}
