//! The tests with very large counts, and the programs of `sinew-soak`: random mechanisms, piles, scores, hours.
//!
//! Convention: a test whose count can grow has `soak` in its name and multiplies the count by
//! `sinew_testkit::soak_scale()`, which is 1 unless the variable `SINEW_SOAK` is set. `cargo test --workspace`
//! therefore runs each of them with its short count.

use crate::shell::{Call, TaskOutcome, no_arguments};

/// Runs every integration test named `…soak…` in release mode with the long counts, or the soak that the first argument names.
pub(crate) fn run(args: &[String]) -> TaskOutcome {
    if let Some("mechanisms" | "momentum" | "piles" | "drops" | "scores" | "scene" | "--hours") =
        args.first().map(String::as_str)
    {
        return Call::cargo("run --release -p sinew-soak --").args(args).run();
    }
    no_arguments(args)?;
    Call::cargo("test --release --workspace --test all soak").env("SINEW_SOAK", "1").run()
}
