//! Benchmark programs: run one, keep its numbers, compare with kept numbers.
//!
//! A suite is a program `benches/src/bin/SUITE.rs`. It understands `--quick` (a few seconds), `--json FILE` (its
//! numbers as one JSON document) and `--plot FILE` (its curves as SVG); `chain` and `contact`, built with the feature `rapier`, also
//! `--rapier`; `contact` also `--mujoco`, `joint_space` also `--pinocchio`.

use std::path::{Path, PathBuf, absolute};
use std::{collections::BTreeSet, fs};

use crate::json;
use crate::shell::{Call, TaskFailure, TaskOutcome, root, target_dir};

/// The suite that runs when none is named.
pub(crate) const DEFAULT_SUITE: &str = "chain";

#[derive(Default)]
struct BenchOptions {
    suite: Option<String>,
    quick: bool,
    rapier: bool,
    /// Flags that only one suite understands.
    own: Vec<String>,
    json: Option<String>,
    plot: Option<String>,
    save: Option<String>,
    against: Option<String>,
}

/// Runs a suite; copies its JSON to where it is wanted; prints ratios to a saved run.
pub(crate) fn run(args: &[String]) -> TaskOutcome {
    let options = parse(args)?;
    let suite = known_suite(options.suite.as_deref())?;
    // Read the baseline first: a wrong name should not cost a benchmark run, and saving may replace it.
    let baseline = options.against.as_deref().map(|name| read(&saved(name)?)).transpose()?;
    let features = if options.rapier { " --features rapier" } else { "" };
    let result = saved("last")?;
    let folder = result.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| cannot("create", folder, &error))?;

    let mut call = Call::cargo(&format!("run --release -p sinew-benches{features} --bin {suite} --"));
    call = call.args(options.quick.then_some("--quick")).args(options.rapier.then_some("--rapier"));
    call = call.args(&options.own);
    if let Some(file) = &options.plot {
        // The program is started in the workspace root, which need not be where the user is.
        let path = absolute(file).map_err(|error| cannot("write", Path::new(file), &error))?;
        call = call.args([Path::new("--plot"), &path]);
    }
    call.args([Path::new("--json"), &result]).run()?;

    let mut copies: Vec<PathBuf> = options.json.iter().map(PathBuf::from).collect();
    if let Some(name) = &options.save {
        copies.push(saved(name)?);
    }
    for path in &copies {
        fs::copy(&result, path).map_err(|error| cannot("write", path, &error))?;
        println!("wrote {}", path.display());
    }
    if let Some(baseline) = baseline {
        print_ratios(&baseline, &read(&result)?);
    }
    Ok(())
}

fn parse(args: &[String]) -> Result<BenchOptions, TaskFailure> {
    let mut options = BenchOptions::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || {
            args.next().cloned().ok_or_else(|| TaskFailure::Usage(format!("`{arg}` needs a value after it")))
        };
        match arg.as_str() {
            "--quick" => options.quick = true,
            "--rapier" => options.rapier = true,
            "--mujoco" | "--pinocchio" => options.own.push(arg.clone()),
            "--json" => options.json = Some(value()?),
            "--plot" => options.plot = Some(value()?),
            "--save" => options.save = Some(value()?),
            "--against" => options.against = Some(value()?),
            name if !name.starts_with('-') && options.suite.is_none() => options.suite = Some(name.into()),
            other => return Err(TaskFailure::Usage(format!("unexpected argument `{other}`"))),
        }
    }
    Ok(options)
}

/// The named suite, or the default one, if its program exists.
pub(crate) fn known_suite(name: Option<&str>) -> Result<&str, TaskFailure> {
    let name = name.unwrap_or(DEFAULT_SUITE);
    let folder = root().join("benches/src/bin");
    let names: BTreeSet<String> = fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".rs").map(String::from))
        .collect();
    if names.contains(name) {
        Ok(name)
    } else {
        Err(TaskFailure::Usage(format!("no suite `{name}`; there is: {}", Vec::from_iter(names).join(", "))))
    }
}

/// Where the run called `name` is kept.
fn saved(name: &str) -> Result<PathBuf, TaskFailure> {
    if name.is_empty() || name.contains(['/', '\\', '.']) {
        return Err(TaskFailure::Usage(format!(
            "`{name}` is not a name for a saved run: letters, digits, `-`, `_`"
        )));
    }
    Ok(target_dir().join("sinew-bench").join(format!("{name}.json")))
}

fn read(path: &Path) -> Result<Vec<json::Leaf>, TaskFailure> {
    let text = fs::read_to_string(path).map_err(|error| cannot("read", path, &error))?;
    json::leaves(&text).ok_or_else(|| TaskFailure::Check(format!("{} is not JSON", path.display())))
}

fn cannot(verb: &str, path: &Path, error: &std::io::Error) -> TaskFailure {
    TaskFailure::Check(format!("cannot {verb} {}: {error}", path.display()))
}

/// Prints saved value, new value and their ratio for every number that both runs have and that moved.
fn print_ratios(old: &[json::Leaf], new: &[json::Leaf]) {
    let moved: Vec<(&str, f64, f64)> = new
        .iter()
        .filter_map(|(path, text)| {
            Some((path.as_str(), json::find(old, path)?.parse().ok()?, text.parse().ok()?))
        })
        .filter(|(_, before, now): &(&str, f64, f64)| before.to_bits() != now.to_bits())
        .collect();
    let width = moved.iter().map(|(path, ..)| path.chars().count()).max().unwrap_or(0);
    println!("\n{:<width$} {:>12} {:>12} {:>8}", "number", "saved", "now", "ratio");
    for (path, before, now) in moved {
        println!("{path:<width$} {before:>12.5} {now:>12.5} {:>8.3}", now / before);
    }
}

#[cfg(test)]
mod tests {
    use super::{parse, saved};

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(String::from).collect()
    }

    #[test]
    fn options_in_any_order() {
        let options =
            parse(&words("--quick hand --save a --against b --json c.json --plot d.svg")).ok().unwrap();
        assert!(options.quick && !options.rapier);
        assert_eq!((options.suite.as_deref(), options.save.as_deref()), (Some("hand"), Some("a")));
        assert_eq!((options.against.as_deref(), options.json.as_deref()), (Some("b"), Some("c.json")));
        assert_eq!(options.plot.as_deref(), Some("d.svg"));
    }

    #[test]
    fn wrong_options_are_refused() {
        for line in ["a b", "--save", "--plot", "--fast"] {
            assert!(parse(&words(line)).is_err(), "{line}");
        }
        assert!(saved("../x").is_err());
    }
}
