//! `cargo xtask bench chain`: time, memory and error of chains, one thread, beside the paper and Rapier.
//!
//! `--quick` takes seconds instead of minutes, `--json FILE` writes all figures, `--plot FILE` an SVG of time per
//! link, `--rapier` (built with the feature of that name) adds Rapier, `--callgrind` makes a few steps and no figures.

use std::process::ExitCode;

fn main() -> ExitCode {
    sinew_benches::run_program("chain")
}
