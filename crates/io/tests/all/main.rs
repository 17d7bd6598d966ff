//! Tests of readers and writers.

mod bvh;
mod clips;
mod frames;
mod glb;
mod gltf;
mod hostile;
mod mjcf;
mod oracle;
mod page;
mod table;
mod urdf;
mod written_glb;
