//! Short runs of the soaks; `cargo xtask soak` makes them ten times longer, `cargo xtask soak mechanisms`, `momentum` and `piles` run all.

mod mechanisms;
mod oracle;
mod piles;
mod scores;
