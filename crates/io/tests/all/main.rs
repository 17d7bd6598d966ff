//! Tests of readers and writers.

mod mjcf;
mod oracle;
mod table;
mod urdf;
