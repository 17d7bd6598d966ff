//! Tests of the studio without a window.

mod common;
mod recording;
