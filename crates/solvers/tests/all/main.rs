//! All tests of sinew-solvers that use its public interface.
#![expect(clippy::unwrap_used, reason = "a test that cannot build its input has failed")]

mod allocation;
mod attached;
mod convex;
mod examples;
mod forms;
mod golden;
mod loops;
mod pairs;
#[cfg(feature = "parallel")]
mod parallel;
mod random_trees;
mod signs;
mod singular;
mod sparse;
mod trees;
