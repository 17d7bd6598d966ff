//! `cargo xtask bench budget`: how far loops are open, for how much time per step; a sheet of bars and a plate on
//! strings, one thread.
//!
//! `--quick` takes seconds, `--json FILE` writes all figures, `--plot FILE` an SVG of error over time.
#![expect(clippy::print_stdout, reason = "printing figures is what this program is for")]

use sinew_benches::{BudgetSuite, SuiteFailure, SuiteOptions, run_program};
use std::process::ExitCode;

fn main() -> ExitCode {
    run_program(&[], run)
}

fn run(options: &SuiteOptions) -> Result<(), SuiteFailure> {
    let mut suite = BudgetSuite::new(options.effort());
    println!("{}", suite.machine);
    suite.measure()?;
    println!("{}", suite.table());
    options.write(&suite.to_json(), || suite.plot())
}
