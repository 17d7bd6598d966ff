//! Tests of readers and writers.

mod table;
mod urdf;
