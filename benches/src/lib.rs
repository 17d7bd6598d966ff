//! What the benchmark programs share: chains for every engine, timing of steps, tables, plots, results as JSON.
//!
//! | I want … | use |
//! |---|---|
//! | a chain or a tree of equal links | [`Links`] |
//! | to time steps of the same motion in batches | [`Subject`], [`time_steps`], [`Effort`] |
//! | a mechanism or a fixture to time | [`MechanismRun`], [`SceneRun`] |
//! | the rows of `cargo xtask bench chain` | [`Series`], [`ChainSuite`] |
//! | to print, draw or sign figures | [`Table`], [`plot`], [`Machine`] |
//!
//! Times are seconds inside and microseconds where they are shown; lengths metres.

mod chain_report;
mod chain_suite;
#[cfg(doctest)]
mod documents;
mod links;
mod machine;
mod plot;
#[cfg(feature = "rapier")]
mod rapier;
mod series;
mod subjects;
mod table;
mod timing;

pub use chain_suite::{AnchorError, ChainSuite, Failure, Goal, SceneTime, ThreadTime, run_few_steps};
pub use links::{Link, LinkJoint, Links};
pub use machine::Machine;
pub use plot::{Curve, plot};
#[cfg(feature = "rapier")]
pub use rapier::RapierRun;
pub use series::{Memory, Row, SIZES, Series};
pub use subjects::{MechanismRun, SceneRun};
pub use table::{Table, grouped, short};
pub use timing::{Effort, Subject, Timing, time_steps};
