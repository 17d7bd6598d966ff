//! `cargo xtask bench chain`: time, memory and error of chains, one thread, beside the paper and Rapier.
//!
//! `--quick` takes seconds instead of minutes, `--json FILE` writes all figures, `--plot FILE` an SVG of time per
//! link, `--rapier` (built with the feature of that name) adds Rapier, `--callgrind` makes a few steps and no figures.
#![expect(clippy::print_stdout, reason = "printing figures is what this program is for")]
#![expect(clippy::print_stderr, reason = "wrong arguments are reported there")]

use sinew_benches::{ChainSuite, Effort, Failure, Series, plot, run_few_steps};
use std::process::ExitCode;

const USAGE: &str = "usage: chain [--quick] [--json FILE] [--plot FILE] [--rapier] [--callgrind]";

#[derive(Default)]
struct Options {
    quick: bool,
    rapier: bool,
    callgrind: bool,
    json: Option<String>,
    plot: Option<String>,
}

fn main() -> ExitCode {
    let options = match parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    // One thread for everything; the comparison of threads makes its own pools.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let outcome = pool.map_err(Failure::from).and_then(|pool| pool.install(|| run(&options)));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options::default();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("`{arg}` needs a file name after it"));
        match arg.as_str() {
            "--quick" => options.quick = true,
            "--rapier" => options.rapier = true,
            "--callgrind" => options.callgrind = true,
            "--json" => options.json = Some(value()?),
            "--plot" => options.plot = Some(value()?),
            _ => return Err(format!("unexpected argument `{arg}`")),
        }
    }
    if options.rapier && !cfg!(feature = "rapier") {
        return Err("`--rapier` needs a build with `--features rapier`".into());
    }
    Ok(options)
}

fn run(options: &Options) -> Result<(), Failure> {
    if options.callgrind {
        return run_few_steps();
    }
    let mut suite = ChainSuite::new(if options.quick { Effort::QUICK } else { Effort::FULL });
    println!("{}", suite.machine);
    for series in Series::all() {
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
    if options.rapier {
        suite.measure_rapier();
        println!("{}", suite.rapier_table());
    }
    println!("{}", suite.errors_table());
    println!("{}", suite.goals_table());
    if let Some(path) = &options.json {
        write(path, &format!("{:#}\n", suite.to_json()))?;
    }
    if let Some(path) = &options.plot {
        let title = "Implicit step of a chain, one thread: µs per link";
        write(path, &plot(title, &suite.machine.to_string(), &suite.curves()))?;
    }
    Ok(())
}

fn write(path: &str, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| format!("cannot write {path}: {error}"))?;
    println!("wrote {path}");
    Ok(())
}
