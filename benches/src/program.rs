//! The outside of a benchmark program: its arguments, its one thread, its files.

#![expect(clippy::print_stdout, reason = "printing figures is what these programs are for")]
#![expect(clippy::print_stderr, reason = "wrong arguments are reported there")]

use crate::{MeasureEffort, SuiteFailure};
use std::process::ExitCode;

/// What a program was asked to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SuiteOptions {
    /// Seconds instead of minutes.
    pub quick: bool,
    /// Where to write all figures.
    pub json: Option<String>,
    /// Where to write a plot.
    pub plot: Option<String>,
    flags: Vec<String>,
}

impl SuiteOptions {
    /// Whether one of the program's own flags was given.
    pub fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|given| given == flag)
    }

    /// How much to measure.
    pub fn effort(&self) -> MeasureEffort {
        if self.quick { MeasureEffort::QUICK } else { MeasureEffort::FULL }
    }

    /// Writes the files that were asked for.
    ///
    /// # Errors
    /// If one cannot be written.
    pub fn write(&self, json: &serde_json::Value, plot: impl FnOnce() -> String) -> Result<(), SuiteFailure> {
        if let Some(path) = &self.json {
            write(path, &format!("{json:#}\n"))?;
        }
        if let Some(path) = &self.plot {
            write(path, &plot())?;
        }
        Ok(())
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

/// Runs a program on one thread, with its arguments; `flags` are those that not every program has.
pub fn run_program(
    flags: &[&str],
    run: impl FnOnce(&SuiteOptions) -> Result<(), SuiteFailure> + Send,
) -> ExitCode {
    let options = match SuiteOptions::parse(std::env::args().skip(1), flags) {
        Ok(options) => options,
        Err(message) => {
            let own: String = flags.iter().map(|flag| format!(" [{flag}]")).collect();
            eprintln!("{message}\nusage: [--quick] [--json FILE] [--plot FILE]{own}");
            return ExitCode::from(2);
        }
    };
    // One thread for everything; who compares threads makes pools for it.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    match pool.map_err(SuiteFailure::from).and_then(|pool| pool.install(|| run(&options))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(path: &str, text: &str) -> Result<(), SuiteFailure> {
    std::fs::write(path, text).map_err(|error| format!("cannot write {path}: {error}"))?;
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
