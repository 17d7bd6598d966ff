//! Tests of `sinew-math`: reference numbers, independent oracles, invariants, hard points.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
#![expect(clippy::float_cmp, reason = "tests compare exact values where the arithmetic is exact")]

mod arctangent;
mod block;
mod eigen3;
mod exp_log;
mod gyro;
mod index;
mod joint_kind;
mod mass;
mod mesh_mass;
mod pose;
mod row_space;
mod shape;
mod sines;
mod slices;
mod sym3;
mod sym6;
mod tet_mesh;
mod x2;
