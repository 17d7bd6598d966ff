//! Motions as tables: what bodies, joints and contacts do at each sample, for CSV, NumPy and JSON.
//!
//! A column group is one quantity of one item, for instance `ball.position` with the parts x, y and z. World axes unless stated; SI and radians.

mod glob;
mod npy;
mod sampler;
mod writer;

pub use sampler::{Sampler, TableChoice, TableQuantity};
pub use writer::{TABLE_ENDINGS, TableFormat, TableWriter};
