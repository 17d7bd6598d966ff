//! Tests of readers and writers.

mod bvh;
mod clips;
mod exported;
mod frames;
mod glb;
mod gltf;
mod hostile;
mod mjcf;
mod mjcf_parts;
mod oracle;
mod page;
mod random_tree;
mod round_trips;
mod same_dynamics;
mod sdf;
mod table;
mod urdf;
mod written_glb;
