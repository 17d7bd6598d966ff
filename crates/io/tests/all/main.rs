//! Tests of readers and writers.

mod clips;
mod frames;
mod gltf;
mod page;
mod table;
mod urdf;
