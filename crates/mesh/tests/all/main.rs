//! Integration tests of `sinew-mesh`.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
#![expect(clippy::float_cmp, reason = "tests compare exact values where the arithmetic is exact")]

mod characters;
mod embed;
mod golden;
mod hostile;
mod lattice;
mod readers;
mod shapes;
#[cfg(feature = "serde")]
mod store;
mod surface;
mod tet_files;
mod tetgen;
