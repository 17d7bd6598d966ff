//! Short runs of the soaks; `cargo xtask soak` makes them ten times longer, `cargo xtask soak mechanisms`, `momentum`, `piles` and `--hours H` run all.

mod hours;
mod mechanisms;
mod oracle;
mod piles;
mod scores;
