#![doc = include_str!("../README.md")]

mod clip;
mod report;

mod error;
mod files;

mod xml;

mod mesh_files;
mod rig;
mod robot;

mod imported;

mod geometry;
mod table;

mod bvh;
mod gltf;
mod import;
mod urdf;

pub use bvh::read_bvh;
pub use clip::{Clip, ClipBody, ClipFrame, ClipJoint, ClipMesh, ClipSkin};
pub use error::{ImportError, ImportFault};
pub use files::{Files, FoundFile};
pub use gltf::read_gltf;
pub use import::{ENDINGS, import};
pub use imported::Imported;
pub use report::{Finding, ImportReport, Outcome, Place};
pub use rig::RigOptions;
pub use robot::{ImportOptions, MeshContact, RootHold};
pub use table::{Quantity, Sampler, TABLE_ENDINGS, TableChoice, TableFormat, TableWriter};
pub use urdf::read_urdf;
