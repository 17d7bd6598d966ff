//! A benchmark program: its arguments, its one thread, its tables, its files.

#![expect(clippy::print_stdout, reason = "printing figures is what these programs are for")]
#![expect(clippy::print_stderr, reason = "wrong arguments are reported there")]

use crate::{FigureGoal, MeasureEffort, SuiteFailure, goals_table};
use serde_json::{Value, json};
use sinew_picture::Figure;
use sinew_soak::Machine;
use std::process::ExitCode;

/// A suite with all it has measured so far.
pub(crate) trait Suite: SuiteReport + Default {
    /// Its name, which is that of its program.
    const NAME: &'static str;
    /// Flags that not every program has.
    const FLAGS: &'static [&'static str] = &["--callgrind"];

    /// Measures everything; shows every table as soon as it is known.
    fn measure(&mut self, options: &SuiteOptions) -> Result<(), SuiteFailure>;

    /// What is asked of the figures that were measured.
    fn goals(&self) -> Vec<FigureGoal> {
        vec![]
    }

    /// A handful of steps, for tools that count instructions.
    fn run_few_steps() -> Result<(), SuiteFailure> {
        Ok(())
    }
}

/// The figures of a suite for programs and for the eye.
pub(crate) trait SuiteReport {
    /// The figures as a JSON object; list entries have a `name` by which two runs can be compared.
    fn to_json(&self) -> Value;

    /// The curves.
    fn figure(&self) -> Figure;
}

/// What a program was asked to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SuiteOptions {
    /// Seconds instead of minutes.
    quick: bool,
    /// Where to write all figures.
    json: Option<String>,
    /// Where to write a plot.
    plot: Option<String>,
    flags: Vec<String>,
}

impl SuiteOptions {
    /// Whether one of the program's own flags was given.
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|given| given == flag)
    }

    /// Seconds instead of minutes.
    pub(crate) fn is_quick(&self) -> bool {
        self.quick
    }

    /// How much to measure.
    pub(crate) fn effort(&self) -> MeasureEffort {
        if self.quick { MeasureEffort::QUICK } else { MeasureEffort::FULL }
    }

    fn parse(mut args: impl Iterator<Item = String>, flags: &[&str]) -> Result<Self, String> {
        let mut options = Self::default();
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or(format!("`{arg}` needs a file name after it"));
            match arg.as_str() {
                "--quick" => options.quick = true,
                "--json" => options.json = Some(value()?),
                "--plot" => options.plot = Some(value()?),
                flag if flags.contains(&flag) => options.flags.push(arg),
                _ => return Err(format!("unexpected argument `{arg}`")),
            }
        }
        Ok(options)
    }
}

/// The program of a suite: reads its arguments and runs it on one thread.
pub(crate) fn run<S: Suite>() -> ExitCode {
    let options = match SuiteOptions::parse(std::env::args().skip(1), S::FLAGS) {
        Ok(options) => options,
        Err(message) => {
            let own: String = S::FLAGS.iter().map(|flag| format!(" [{flag}]")).collect();
            eprintln!("{message}\nusage: [--quick] [--json FILE] [--plot FILE]{own}");
            return ExitCode::from(2);
        }
    };
    // One thread for everything; who compares threads makes pools for it.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    match pool.map_err(SuiteFailure::from).and_then(|pool| pool.install(|| run_suite::<S>(&options))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run_suite<S: Suite>(options: &SuiteOptions) -> Result<(), SuiteFailure> {
    if options.has("--callgrind") {
        return S::run_few_steps();
    }
    let (machine, mut suite) = (Machine::here(), S::default());
    println!("{machine}");
    suite.measure(options)?;
    let goals = suite.goals();
    let mut json = suite.to_json();
    json["suite"] = json!(S::NAME);
    json["date"] = json!(machine.date);
    json["commit"] = json!(machine.commit);
    json["machine"] = json!({ "cpu": machine.cpu, "threads": machine.n_threads, "system": machine.system });
    json["batches"] = json!(options.effort().n_batches);
    if !goals.is_empty() {
        goals_table(&goals).show();
        json["goals"] = goals.iter().map(FigureGoal::to_json).collect();
    }
    if let Some(path) = &options.json {
        write(path, &format!("{json:#}\n"))?;
    }
    if let Some(path) = &options.plot {
        write(path, &suite.figure().to_svg(&machine.to_string()))?;
    }
    Ok(())
}

fn write(path: &str, text: &str) -> Result<(), SuiteFailure> {
    let written = sinew_io::write_file::<sinew_io::Disk>(path.as_ref(), None, text.as_bytes());
    written.map_err(|error| format!("cannot write {path}: {error}"))?;
    println!("wrote {path}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::SuiteOptions;

    #[test]
    fn arguments_in_any_order() {
        let parse = |line: &str| SuiteOptions::parse(line.split(' ').map(String::from), &["--rapier"]);
        let options = parse("--plot a.svg --rapier --quick").unwrap();
        assert!(options.quick && options.has("--rapier") && !options.has("--callgrind"));
        assert_eq!((options.plot.as_deref(), options.json.as_deref()), (Some("a.svg"), None));
        for line in ["--json", "--callgrind", "file"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
