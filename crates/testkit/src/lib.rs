//! Tools for the tests of Sinew: random mechanisms, naive dense algebra, finite differences, reference numbers.
//!
//! | I want … | use |
//! |---|---|
//! | the same random numbers on every machine | [`Rng`] |
//! | a random forest of bodies and joints | [`random_forest`], [`ForestShape`] |
//! | a slow, obviously right matrix | [`Dense`] |
//! | a derivative to compare an analytic one with | [`gradient`], [`jacobian`], [`derivative`] |
//! | a test that grows under `cargo xtask soak` | [`soak_scale`] |
//! | an assertion that prints both values | [`assert_close!`] |
//! | the reference numbers of `fixtures/golden` | [`golden`] |
//!
//! Depends on no crate of the workspace, so that every one of them, sinew-math included, may use it in its tests.
//! Nothing here is fast, and nothing calls a transcendental function: results are the same bits on every platform.

mod approx;
mod dense;
mod fd;
pub mod golden;
mod rng;
mod shapes;
mod soak;

pub use approx::{Close, scaled_difference, worst_difference};
pub use dense::{Dense, Lu, norm};
pub use fd::{derivative, gradient, jacobian};
pub use rng::Rng;
pub use shapes::{ForestShape, Link, random_forest, random_rotation_matrix, random_spd};
pub use soak::soak_scale;
