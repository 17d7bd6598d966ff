//! What the benchmark programs share: scenes built in code, timing, results as JSON.

mod chains;

pub use chains::{ChainJoint, chain};
