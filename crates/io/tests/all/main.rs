//! Tests of readers and writers.

mod bvh;
mod glb;
mod gltf;
mod table;
mod urdf;
