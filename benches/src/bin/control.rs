//! `cargo xtask bench control`: KP08 Table 2 measured here, dynamics and Cartesian control of skeletons of up to 10,000 bones.
//!
//! `--quick` takes seconds instead of minutes, `--json FILE` writes all figures, `--plot FILE` an SVG of times over the
//! number of bones, `--callgrind` makes a few steps and no figures.
#![expect(clippy::print_stdout, reason = "printing figures is what this program is for")]

use sinew_benches::{
    ControlSuite, SuiteFailure, SuiteOptions, goals_table, run_few_control_steps, run_program,
};
use std::process::ExitCode;

fn main() -> ExitCode {
    run_program(&["--callgrind"], run)
}

fn run(options: &SuiteOptions) -> Result<(), SuiteFailure> {
    if options.has("--callgrind") {
        return run_few_control_steps();
    }
    let mut suite = ControlSuite::new(options.effort());
    println!("{}", suite.machine);
    suite.measure_characters()?;
    println!("{}", suite.characters_table());
    println!("{}", suite.parts_table());
    suite.measure_skeletons()?;
    println!("{}", suite.dynamics_table());
    println!("{}", suite.cartesian_table());
    println!("{}", goals_table(&suite.goals()));
    options.write(&suite.to_json(), || suite.plot())
}
