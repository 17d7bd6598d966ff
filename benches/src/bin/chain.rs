//! `cargo xtask bench chain`: time, memory and error of chains, one thread, beside the paper and Rapier.
//!
//! `--quick` takes seconds instead of minutes, `--json FILE` writes all figures, `--plot FILE` an SVG of time per
//! link, `--rapier` (built with the feature of that name) adds Rapier, `--callgrind` makes a few steps and no figures.
#![expect(clippy::print_stdout, reason = "printing figures is what this program is for")]

use sinew_benches::{
    ChainSeries, ChainSuite, SuiteFailure, SuiteOptions, goals_table, run_few_steps, run_program,
};
use std::process::ExitCode;

fn main() -> ExitCode {
    run_program(&["--rapier", "--callgrind"], run)
}

fn run(options: &SuiteOptions) -> Result<(), SuiteFailure> {
    if options.has("--rapier") && !cfg!(feature = "rapier") {
        return Err("`--rapier` needs a build with `--features rapier`".into());
    }
    if options.has("--callgrind") {
        return run_few_steps();
    }
    let mut suite = ChainSuite::new(options.effort());
    println!("{}", suite.machine);
    for series in ChainSeries::all() {
        suite.measure_series(&series)?;
        println!("{}", suite.series_table(&series));
    }
    println!("{}", suite.memory_table());
    suite.measure_scenes()?;
    println!("{}", suite.scenes_table());
    println!("{}", suite.paper_table());
    suite.measure_threads()?;
    println!("{}", suite.threads_table());
    suite.measure_errors()?;
    #[cfg(feature = "rapier")]
    if options.has("--rapier") {
        suite.measure_rapier();
        println!("{}", suite.rapier_table());
    }
    println!("{}", suite.errors_table());
    println!("{}", goals_table(&suite.goals()));
    options.write(&suite.to_json(), || suite.plot())
}
