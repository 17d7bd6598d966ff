#![doc = include_str!("../README.md")]

mod base64;
mod clip;
mod error;
mod export_error;
mod files;
mod json;
mod keys;
mod report;
mod up;

mod extent;
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
mod mjcf;
mod urdf;

mod bvh_text;
mod glb;
mod page;
mod surfaces;
mod vtu;

pub use bvh::read_bvh;
pub use bvh_text::{BvhOptions, bvh};
pub use clip::{
    Clip, ClipBody, ClipCamera, ClipFlesh, ClipFrame, ClipJoint, ClipMeasures, ClipMesh, ClipSkin,
};
pub use error::{ImportError, ImportFault};
pub use export_error::ExportError;
pub use files::{Files, FoundFile};
pub use glb::{GlbOptions, glb};
pub use gltf::read_gltf;
pub use import::{ENDINGS, import};
pub use imported::Imported;
pub use mjcf::read_mjcf;
pub use page::{PageOptions, page};
pub use report::{FilePlace, ImportFinding, ImportReport, Outcome};
pub use rig::RigOptions;
pub use robot::{ImportFormat, ImportOptions, MeshContact, RootHold};
pub use surfaces::obj;
pub use table::{Sampler, TABLE_ENDINGS, TableChoice, TableFormat, TableQuantity, TableWriter};
pub use urdf::read_urdf;
pub use vtu::{pvd, vtu};
