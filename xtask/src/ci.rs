//! Everything a change must pass, in the order in which it fails fastest.

use crate::shell::{Call, TaskOutcome, no_arguments};
use crate::{api, docs, fixtures, layers, lines, release};

/// Format → lints → layers → sizes → documents → public API → manifests → tests (doc tests included) → feature sets → rustdoc → fixtures.
pub(crate) fn run(args: &[String]) -> TaskOutcome {
    no_arguments(args)?;
    Call::cargo("fmt --all --check").run()?;
    Call::cargo("clippy --workspace --all-targets -- -D warnings").run()?;
    layers::run(&[])?;
    lines::run(&[])?;
    docs::run(&[])?;
    api::check()?;
    release::check()?;
    Call::cargo("test --workspace").run()?;
    feature_sets()?;
    Call::cargo("doc --workspace --no-deps").env("RUSTDOCFLAGS", "-D warnings").run()?;
    fixtures::run(&[])
}

/// The libraries with nothing and with everything switched on, `portable` included, so without AVX; `cargo test --workspace` covers the
/// defaults.
fn feature_sets() -> TaskOutcome {
    Call::cargo("test -p sinew-math --no-default-features --lib --tests").run()?;
    Call::cargo("test -p sinew-math --all-features").run()?;
    for package in ["sinew-topology", "sinew-solvers", "sinew-mechanism", "sinew-engine"] {
        Call::cargo(&format!("check -p {package} --no-default-features")).run()?;
    }
    Call::cargo("check -p sinew --features portable").run()?;
    Call::cargo("test -p sinew-fem --features portable --lib --tests").run()?;
    Call::cargo(
        "test -p sinew-solvers -p sinew-mechanism -p sinew-engine -p sinew-sim --all-features --lib --tests",
    )
    .run()
}
