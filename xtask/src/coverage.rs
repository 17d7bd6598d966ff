//! Line coverage: the tests run in a build that counts, and each library tells how many of its lines they reached.
//!
//! The counters are those of `rustc -C instrument-coverage`, read by the `llvm-profdata` and `llvm-cov` of the same toolchain. Cargo calls this program
//! in place of the compiler for the packages of the workspace ([`compile`]), so that dependencies are neither counted nor slowed down. Results lie in
//! `target/coverage`. Documentation tests do not count, nor do lines of tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::shell::{Call, TaskFailure, TaskOutcome, relative, root, target_dir};
use crate::source::{code_only, files_below, read, without_tests};

/// Set for the calls of the compiler.
const COMPILER: &str = "SINEW_COVERAGE_COMPILER";
/// All packages but this, which must not be built anew while cargo calls it.
const ALL: &str = "--workspace --exclude xtask";
/// Programs and tools, whose lines are not those of a library.
const NO_LIBRARIES: [&str; 4] = ["cli", "soak", "studio", "testkit"];
/// Files that are listed because tests reach fewer of their lines, per cent.
const GOOD: f64 = 90.0;

/// Executions of the lines of a file that are code.
type LineCounts = BTreeMap<usize, u64>;

/// What is measured.
#[derive(Debug, Default, PartialEq)]
struct CoverageOptions {
    /// Libraries by name, with their own tests; none for all, with all tests.
    libraries: Vec<String>,
    /// Whether the last run is told again.
    is_report: bool,
}

impl CoverageOptions {
    fn parse(args: &[String]) -> Result<Self, TaskFailure> {
        let mut options = Self::default();
        for arg in args {
            match arg.as_str() {
                "--report" => options.is_report = true,
                name if library_of(&format!("crates/{name}/src/lib.rs")).is_some()
                    && root().join("crates").join(name).is_dir() =>
                {
                    options.libraries.push(name.to_owned());
                }
                other => return Err(TaskFailure::Usage(format!("there is no library `{other}`"))),
            }
        }
        Ok(options)
    }

    /// The call of cargo that builds and runs the tests.
    fn tests(&self) -> String {
        let named = self.libraries.iter().map(|name| format!("--package sinew-{name}")).collect::<Vec<_>>();
        let packages = if named.is_empty() { ALL.to_owned() } else { named.join(" ") };
        format!("test {packages} --lib --bins --tests")
    }

    fn is_measured(&self, library: &str) -> bool {
        self.libraries.is_empty() || self.libraries.iter().any(|name| name == library)
    }
}

/// Measures the libraries.
pub(crate) fn run(args: &[String]) -> TaskOutcome {
    let options = CoverageOptions::parse(args)?;
    let [merge, export] = tools()?;
    let folder = target_dir().join("coverage");
    let counts = folder.join("counts");
    if !options.is_report {
        let _ = fs::remove_dir_all(&counts);
        // A test that fails has run; whether all hold is another question.
        let tests = counted(&options.tests(), &folder)?.args(["--no-fail-fast"]);
        if let Err(TaskFailure::Check(failed)) = tests.run() {
            println!("coverage: {failed}");
        }
    }
    let merged = folder.join("merged.profdata");
    let all = files_below(&counts, ".profraw");
    if all.is_empty() {
        return Err(TaskFailure::Check("coverage: there are no counts yet; leave out `--report`".into()));
    }
    Call::new(merge).args(["merge", "--sparse", "-o"]).args([&merged]).args(all).stdout()?;
    let objects = executables(&options, &folder)?;
    let [first, rest @ ..] = &objects[..] else {
        return Err(TaskFailure::Check("coverage: cargo built no tests".into()));
    };
    let profile = format!("--instr-profile={}", merged.display());
    let call = Call::new(export).args(["export", "--format=lcov", &profile]).args([first]);
    let text = call.args(rest.iter().map(|path| format!("--object={}", path.display()))).stdout()?;
    let _ = fs::write(folder.join("lines.lcov"), &text);
    let mut files = files_of(&text);
    files.retain(|file, _| library_of(file).is_some_and(|library| options.is_measured(library)));
    report(&files);
    Ok(())
}

/// Acts as the compiler if cargo calls this program as one: its arguments are the compiler and its arguments.
pub(crate) fn compile(args: &[String]) -> Option<ExitCode> {
    std::env::var_os(COMPILER)?;
    let (compiler, rest) = args.split_first()?;
    let status = Command::new(compiler).args(rest).args(["-C", "instrument-coverage"]).status().ok()?;
    Some(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The programs that merge and read counts; they come with the toolchain.
fn tools() -> Result<[PathBuf; 2], TaskFailure> {
    let libraries = Call::new("rustc").args(["--print", "target-libdir"]).stdout()?;
    let folder = Path::new(libraries.trim()).with_file_name("bin");
    let tools = ["llvm-profdata", "llvm-cov"];
    let paths = tools.map(|name| folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)));
    match paths.iter().find(|path| !path.is_file()) {
        Some(path) => {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let remedy = "get it by `rustup component add llvm-tools`";
            Err(TaskFailure::Check(format!("coverage: {name} is missing; {remedy}")))
        }
        None => Ok(paths),
    }
}

/// A call of cargo that builds with counters.
fn counted(line: &str, folder: &Path) -> Result<Call, TaskFailure> {
    let own = std::env::current_exe();
    let own = own.map_err(|error| TaskFailure::Check(format!("coverage: where is this program? {error}")))?;
    // Processes add to four files, which bounds how many there are.
    let counts = folder.join("counts").join("%4m.profraw");
    let call = Call::cargo(line).env(COMPILER, "1").env("RUSTC_WORKSPACE_WRAPPER", &own.to_string_lossy());
    let call = call.env("CARGO_TARGET_DIR", &folder.to_string_lossy());
    Ok(call.env("LLVM_PROFILE_FILE", &counts.to_string_lossy()))
}

/// All programs that the tests consist of.
fn executables(options: &CoverageOptions, folder: &Path) -> Result<Vec<PathBuf>, TaskFailure> {
    let messages = counted(&options.tests(), folder)?.args(["--no-run", "--message-format=json"]).stdout()?;
    let paths = messages.lines().filter_map(|line| {
        let (_, rest) = line.split_once("\"executable\":\"")?;
        Some(PathBuf::from(rest.split_once('"')?.0.replace("\\\\", "\\")))
    });
    Ok(paths.collect())
}

/// The lines of each library's files, from a report in the format of `lcov`.
fn files_of(lcov: &str) -> BTreeMap<String, LineCounts> {
    let mut files: BTreeMap<String, LineCounts> = BTreeMap::new();
    for record in lcov.split("end_of_record") {
        let lines = || record.lines().map(str::trim);
        let Some(path) = lines().find_map(|line| line.strip_prefix("SF:")) else { continue };
        let file = relative(Path::new(path));
        if library_of(&file).is_none() {
            continue;
        }
        let code = without_tests(&code_only(&read(&root().join(&file))));
        let is_code: Vec<bool> = code.lines().map(|line| !line.trim().is_empty()).collect();
        let counts = lines().filter_map(|line| {
            let (line, count) = line.strip_prefix("DA:")?.split_once(',')?;
            Some((line.parse::<usize>().ok()?, count.parse::<u64>().ok()?))
        });
        let counts = counts.filter(|(line, _)| is_code.get(line - 1) == Some(&true));
        files.entry(file).or_default().extend(counts);
    }
    files
}

/// The library that a file belongs to.
fn library_of(file: &str) -> Option<&str> {
    let name = match file.strip_prefix("crates/") {
        Some(rest) => rest.split_once("/src/")?.0,
        None if file.starts_with("fixtures/src/") => "scenes",
        None => return None,
    };
    (!NO_LIBRARIES.contains(&name) && !file.ends_with("/tests.rs")).then_some(name)
}

/// Prints a table of the libraries, then files that tests reach little of, the worst first, with the lines.
fn report(files: &BTreeMap<String, LineCounts>) {
    let mut libraries: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for (file, lines) in files {
        let [reached, all] = libraries.entry(library_of(file).unwrap_or_default()).or_default();
        (*reached, *all) = (*reached + n_reached(lines), *all + lines.len());
    }
    println!("\n{:<12} {:>8} {:>8} {:>8}", "library", "lines", "reached", "%");
    let row = |name: &str, [reached, all]: [usize; 2]| {
        println!("{name:<12} {all:>8} {reached:>8} {:>8.1}", share(reached, all));
    };
    libraries.iter().for_each(|(name, counts)| row(name, *counts));
    let sum = |k: usize| libraries.values().map(|counts| counts[k]).sum();
    row("all", [sum(0), sum(1)]);

    let mut poor: Vec<(f64, &String, &LineCounts)> = files
        .iter()
        .map(|(file, lines)| (share(n_reached(lines), lines.len()), file, lines))
        .filter(|(share, ..)| *share < GOOD)
        .collect();
    poor.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (share, file, lines) in poor {
        let missed: Vec<usize> =
            lines.iter().filter(|(_, count)| **count == 0).map(|(line, _)| *line).collect();
        println!("{share:>5.1} % of {file}; not {}", ranges(&missed));
    }
}

fn n_reached(lines: &LineCounts) -> usize {
    lines.values().filter(|&&count| count > 0).count()
}

fn share(reached: usize, all: usize) -> f64 {
    100.0 * reached as f64 / all.max(1) as f64
}

/// Ascending numbers as ranges: `3–5, 9`.
fn ranges(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let texts = runs.map(|run| match run {
        [first, .., last] => format!("{first}–{last}"),
        _ => run[0].to_string(),
    });
    texts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::{CoverageOptions, files_of, library_of, n_reached, ranges};

    #[test]
    fn libraries_are_chosen_by_name() {
        let parse = |line: &str| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            CoverageOptions::parse(&words).ok()
        };
        let options = parse("math --report").unwrap();
        assert!(options.is_report && options.is_measured("math") && !options.is_measured("fem"));
        assert_eq!(options.tests(), "test --package sinew-math --lib --bins --tests");
        assert!(parse("").unwrap().is_measured("fem"));
        for wrong in ["maths", "testkit", "--fast"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn lines_of_libraries_are_counted_and_those_of_tests_are_not() {
        let here = crate::shell::root();
        let record =
            |file: &str, lines: &str| format!("SF:{}/{file}\n{lines}end_of_record\n", here.display());
        // The header of a file is no code, and nobody writes a thousand million lines.
        let text = record("crates/math/src/index.rs", "DA:1,7\nDA:1000000000,1\n")
            + &record("crates/math/tests/all/main.rs", "DA:1,1\n")
            + &record("crates/cli/src/main.rs", "DA:1,1\n");
        let files = files_of(&text);
        assert_eq!(files.len(), 1);
        assert_eq!(n_reached(&files["crates/math/src/index.rs"]), 0);
        assert_eq!(library_of("fixtures/src/lib.rs"), Some("scenes"));
        assert_eq!(library_of("fixtures/build.rs"), None);
    }

    #[test]
    fn numbers_become_ranges() {
        assert_eq!(ranges(&[3, 4, 5, 9, 11, 12]), "3–5, 9, 11–12");
        assert_eq!(ranges(&[]), "");
    }
}
