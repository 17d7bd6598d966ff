//! Tests of the studio without a window.

mod common;
mod directing;
mod engine;
mod interface;
mod posing;
mod recording;
mod shown;
mod smoke;
