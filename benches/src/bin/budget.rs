//! `cargo xtask bench budget`: how far loops are open, for how much time per step; a sheet of bars and a plate on
//! strings, one thread.
//!
//! `--quick` takes seconds, `--json FILE` writes all figures, `--plot FILE` an SVG of error over time.

use std::process::ExitCode;

fn main() -> ExitCode {
    sinew_benches::run_program("budget")
}
