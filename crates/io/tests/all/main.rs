//! Tests of readers and writers.

mod urdf;
