//! Tests of readers and writers.

mod clips;
mod frames;
mod written_glb;
mod page;
mod mjcf;
mod oracle;
mod table;
mod urdf;
