//! Integration tests of `sinew-control`.
#![expect(clippy::unwrap_used, reason = "a test that cannot build its input has failed")]

mod frames;
mod guidance;
mod hierarchy;
mod keys;
mod limits;
mod paths;
mod posing;
mod scores;
mod support;
mod times;
