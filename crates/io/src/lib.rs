#![doc = include_str!("../README.md")]

mod base64;
mod bvh;
mod clip;
mod export_error;
mod extent;
mod gltf;
mod json;
mod keys;
mod page;
mod report;
mod surfaces;
mod up;
mod vtu;

mod error;
mod files;

mod xml;

mod mesh_files;
mod robot;

mod geometry;
mod table;

mod import;
mod urdf;

pub use bvh::{BvhOptions, bvh};
pub use clip::{
    Clip, ClipBody, ClipCamera, ClipFlesh, ClipFrame, ClipJoint, ClipMeasures, ClipMesh, ClipSkin,
};
pub use error::{ImportError, ImportFault};
pub use export_error::ExportError;
pub use files::{Files, FoundFile};
pub use gltf::{GlbOptions, glb};
pub use import::{ENDINGS, Imported, import};
pub use page::{PageOptions, page};
pub use report::{Finding, ImportReport, Outcome, Place};
pub use robot::{ImportOptions, MeshContact, RootHold};
pub use surfaces::obj;
pub use table::{Quantity, Sampler, TABLE_ENDINGS, TableChoice, TableFormat, TableWriter};
pub use urdf::read_urdf;
pub use vtu::{pvd, vtu};
