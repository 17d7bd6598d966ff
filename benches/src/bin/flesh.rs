//! `cargo xtask bench flesh`: KP08 Figure 5 and Table 1 measured here, growth to a million tetrahedra, implicit steps.
//!
//! `--quick` takes seconds instead of minutes, `--json FILE` writes all figures, `--plot FILE` an SVG of Figure 5,
//! `--callgrind` makes a few implicit steps and no figures.
#![expect(clippy::print_stdout, reason = "printing figures is what this program is for")]

use sinew_benches::{FleshSuite, SuiteFailure, SuiteOptions, goals_table, run_few_flesh_steps, run_program};
use std::process::ExitCode;

fn main() -> ExitCode {
    run_program(&["--callgrind"], run)
}

fn run(options: &SuiteOptions) -> Result<(), SuiteFailure> {
    if options.has("--callgrind") {
        return run_few_flesh_steps();
    }
    let mut suite = FleshSuite::new(options.effort());
    println!("{}", suite.machine);
    suite.measure_shares()?;
    println!("{}", suite.shares_table());
    suite.measure_motions()?;
    println!("{}", suite.motions_table());
    println!("{}", suite.gains_table());
    suite.measure_sizes()?;
    println!("{}", suite.sizes_table());
    suite.measure_implicit()?;
    println!("{}", suite.implicit_table());
    println!("{}", goals_table(&suite.goals()));
    options.write(&suite.to_json(), || suite.plot())
}
