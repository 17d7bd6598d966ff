//! Tests of readers and writers.

mod clips;
mod frames;
mod gltf;
mod page;
mod mjcf;
mod oracle;
mod table;
mod urdf;
