//! Project chores: `cargo xtask COMMAND`.
//!
//! One file per command; every command is a list of plain process calls, each printed before it runs, so that any of
//! them can be repeated by hand. Standard library only: this crate must build in a second on a fresh clone.
//!
//! Exit codes: 0 all good, 1 a check failed, 2 unknown command or argument.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks to its user")]

use std::process::ExitCode;

mod api;
mod api_source;
mod audit;
mod bench;
mod callgrind;
mod ci;
mod coverage;
mod determinism;
mod docs;
mod fixtures;
mod fuzz;
mod items;
mod json;
mod layers;
mod lines;
mod modules;
mod pictures;
mod release;
mod shell;
mod sizes;
mod soak;
mod source;

use shell::TaskFailure;

const HELP: &str = "\
usage: cargo xtask COMMAND

  ci                       everything a change must pass: format, clippy, layers, lines, docs, api, tests, features, fixtures
  layers                   dependency direction between packages and between modules, one glam, no unsafe, no files
                           or clocks in numeric crates
  api [--check]            write the listings of the public API, docs/api/*.txt, or compare them with the sources
  docs                     links and names in the documents
  fixtures [check|list]
                           check and run every fixture; every file of fixtures/invalid must fail with exit code 2
  determinism [PART_OF_NAME] [--all] [--write]
                           table of state digests against fixtures/golden/digests.ron: in release mode at 1, 2, 3 and 8 threads; with the
                           feature `portable`, without AVX, and in debug mode the cheap ones, at 2 threads; --all: everything at all
                           thread counts, and the library without threads; --write: the committed table first
  bench [SUITE] [--quick] [--json FILE] [--plot FILE] [--save NAME] [--against NAME] [--rapier] [--mujoco] [--pinocchio]
                           run a benchmark program (default suite: chain); --json writes its figures, --plot draws
                           them as SVG; saved runs live in target/sinew-bench/
  callgrind [SUITE]        instruction counts where valgrind exists
  soak                     the tests named `…soak…` in release mode, with ten times the counts of `cargo test`
  soak mechanisms [--count N] [--seed FIRST] [--seconds S] [--threads N] [--out FOLDER] [--shrink RUNS] [--stabilize]
                           random mechanisms at default settings: gaps, energy, freezing, non-finite states; --out writes
                           the scenes that fail, --shrink makes them smaller, --stabilize corrects joints after every
                           step and judges that, too
  soak momentum [--count N] [--seed FIRST] [--steps N] [--threads N] [--scheme PART_OF_NAME]
                           momentum of floating mechanisms in every scheme
  soak piles [--count MOST_BOXES] [--seed FIRST] [--seconds S]
                           heaps, pyramids and towers of boxes: overlap by separating axes, energy, drift, time per step
  soak scores [FILE.ron ...] [--count N] [--seed FIRST] [--threads N] [--scheme PART_OF_NAME]
                           every score with half the step, and with times, stiffness, mass and friction changed by up to 5 %:
                           how many keep what their scenes expect
  soak --hours H [--seed FIRST] [--scheme PART_OF_SCENE] [--out FOLDER]
                           hand, ladder, worms, puppet and piles in turn for H hours, pushed and held at random: memory, gaps,
                           depths and energy inside bounds; report, plots and table in FOLDER (target/soak), every minute
  soak scene FILE          one scene judged in the same way, with a line per step
  fuzz [TARGET ...] [--minutes N]
                           readers, scenes, states and pages fed with mutated files of our own, N minutes each (3); needs
                           nightly Rust and cargo-fuzz
  coverage [LIBRARY ...] [--report]
                           how many lines of the libraries all tests reach, or of some libraries their own, and which files they
                           reach little of; needs the component llvm-tools; --report: of the last run
  lines                    size report of the sources; bounds on functions, arguments, fields and type names
  audit                    cargo deny and cargo audit, where they are installed, and yanked packages of Cargo.lock
  release --dry-run        whether the packages can be published: licences, manifests, versions, order, change log, and a build of
                           every package as it would be downloaded
  pictures [--pages]       make the pictures of the documents anew, and the gallery of pages (--pages: that alone)
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(code) = coverage::compile(&args) {
        return code;
    }
    let rest = args.get(1..).unwrap_or_default();
    let outcome = match args.first().map(String::as_str) {
        Some("ci") => ci::run(rest),
        Some("layers") => layers::run(rest),
        Some("api") => api::run(rest),
        Some("docs") => docs::run(rest),
        Some("fixtures") => fixtures::run(rest),
        Some("determinism") => determinism::run(rest),
        Some("bench") => bench::run(rest),
        Some("callgrind") => callgrind::run(rest),
        Some("soak") => soak::run(rest),
        Some("fuzz") => fuzz::run(rest),
        Some("coverage") => coverage::run(rest),
        Some("lines") => lines::run(rest),
        Some("audit") => audit::run(rest),
        Some("release") => release::run(rest),
        Some("pictures") => pictures::run(rest),
        Some("help" | "--help" | "-h") => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Some(other) => Err(TaskFailure::Usage(format!("unknown command `{other}`"))),
        None => Err(TaskFailure::Usage("a command is needed".into())),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(TaskFailure::Check(message)) => {
            eprintln!("xtask: {message}");
            ExitCode::from(1)
        }
        Err(TaskFailure::Usage(message)) => {
            eprint!("xtask: {message}\n\n{HELP}");
            ExitCode::from(2)
        }
    }
}
