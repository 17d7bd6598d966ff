//! Integration tests of `sinew-contact`.
#![expect(clippy::unwrap_used, reason = "a test that cannot build its input has failed")]

mod cast;
mod decomposition;
mod distances;
mod law;
mod memory;
mod pair_rules;
mod pairs;
mod potential;
mod probe;
mod queries;
mod rigid;
mod scenes;
mod sensors;
mod skin;
mod skin_pair;
mod slopes;
mod tri_mesh;
mod turning;
