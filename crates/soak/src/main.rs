//! `cargo xtask soak mechanisms`, `momentum`, `piles`, `drops`, `scores`, `scene FILE` and `--hours H`: runs, a table of what failed, and scenes that fail.
//!
//! Exit codes: 0 all held, 1 something failed without a word, 2 wrong arguments.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks to its user")]

mod drop_table;
mod hours;
mod mechanisms;
mod momenta;
mod options;
mod pile_table;
mod scene;
mod score_table;

use std::process::ExitCode;

const USAGE: &str = "\
usage: soak mechanisms [--count N] [--seed FIRST] [--seconds S] [--threads N] [--out FOLDER] [--shrink RUNS] [--stabilize]
       soak momentum [--count N] [--seed FIRST] [--steps N] [--threads N] [--scheme PART_OF_NAME]
       soak piles [--count MOST_BOXES] [--seed FIRST] [--seconds S]
       soak drops [--scheme PART_OF_SHAPE]
       soak scores [FILE.ron ...] [--count N] [--seed FIRST] [--threads N] [--scheme PART_OF_NAME]
       soak scene FILE
       soak --hours H [--seed FIRST] [--scheme PART_OF_SCENE] [--out FOLDER]";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match &words[..] {
        ["mechanisms", rest @ ..] => options::Options::parse(rest).map(|options| mechanisms::run(&options)),
        ["momentum", rest @ ..] => options::Options::parse(rest).map(|options| momenta::run(&options)),
        ["piles", rest @ ..] => options::Options::parse(rest).map(|options| pile_table::run(&options)),
        ["drops", rest @ ..] => options::Options::parse(rest).map(|options| drop_table::run(&options)),
        ["scores", rest @ ..] => score_table::run(rest),
        ["--hours", ..] => options::Options::parse(&words).and_then(|options| hours::run(&options)),
        ["scene", file] => scene::run(file),
        _ => Err("which soak?".to_owned()),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("{message}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}
