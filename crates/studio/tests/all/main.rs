//! Tests of the studio without a window.

mod common;
mod directing;
mod dropped;
mod engine;
mod films;
mod interface;
mod posing;
mod recording;
mod saved;
mod shown;
mod smoke;
