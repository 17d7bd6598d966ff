//! `cargo xtask bench ladder`: the rope ladders of Fau99 table 2 by four methods, whole steps, warm starts, grabs.
//!
//! `--quick` takes seconds instead of minutes, `--json FILE` writes all figures, `--plot FILE` an SVG of time per
//! solve, `--callgrind` makes a few solves and steps and no figures.
#![expect(clippy::print_stdout, reason = "printing figures is what this program is for")]

use sinew_benches::{
    Ladder, LadderSuite, SuiteFailure, SuiteOptions, goals_table, run_few_ladder_steps, run_program,
};
use std::process::ExitCode;

fn main() -> ExitCode {
    run_program(&["--callgrind"], run)
}

fn run(options: &SuiteOptions) -> Result<(), SuiteFailure> {
    if options.has("--callgrind") {
        return run_few_ladder_steps();
    }
    let mut suite = LadderSuite::new(options.effort());
    println!("{}", suite.machine);
    for ladder in Ladder::ALL {
        suite.measure_solves(ladder)?;
    }
    println!("{}", suite.solves_table());
    for ladder in &Ladder::ALL[2..] {
        suite.measure_steps(*ladder, false)?;
        suite.measure_steps(*ladder, true)?;
    }
    println!("{}", suite.steps_table());
    for ladder in &Ladder::ALL[2..] {
        suite.measure_warm_start(*ladder)?;
    }
    println!("{}", suite.warm_table());
    suite.measure_grabs()?;
    println!("{}", suite.grabs_table());
    println!("{}", goals_table(&suite.goals()));
    options.write(&suite.to_json(), || suite.plot())
}
