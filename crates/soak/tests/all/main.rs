//! Short runs of the soaks; `cargo xtask soak` makes them ten times longer, `cargo xtask soak mechanisms` and `momentum` run all.

mod mechanisms;
mod oracle;
