#![doc = include_str!("../README.md")]

mod base64;
mod clip;
mod error;
mod export_error;
mod export_report;
mod files;
mod json;
mod keys;
mod report;
mod storage;
mod up;
mod xml_text;

mod extent;
mod part_file;
mod xml;

mod mesh_files;
mod rig;
mod robot;

mod exported;
mod imported;

mod geometry;
mod table;

mod bvh;
mod gltf;
mod import;
mod mjcf;
mod sdf;
mod urdf;

mod outgoing;

mod bvh_text;
mod glb;
mod mjcf_text;
mod page;
mod surfaces;
mod urdf_text;
mod vtu;

pub use bvh::read_bvh;
pub use bvh_text::{BvhOptions, bvh};
pub use clip::{
    Clip, ClipBody, ClipCamera, ClipFlesh, ClipFrame, ClipJoint, ClipMeasures, ClipMesh, ClipSkin,
};
pub use error::{ImportError, ImportFault};
pub use export_error::ExportError;
pub use export_report::{ExportFinding, ExportOutcome, ExportReport};
pub use exported::Exported;
pub use files::{Files, FoundFile};
pub use glb::{GlbOptions, glb};
pub use gltf::read_gltf;
pub use import::{ENDINGS, import};
pub use imported::Imported;
pub use mjcf::read_mjcf;
pub use mjcf_text::mjcf;
pub use page::{PageOptions, page};
pub use part_file::{PartFile, StreamMark, is_stream, unless_closed, write_file};
pub use report::{FilePlace, ImportFinding, ImportReport, Outcome};
pub use rig::RigOptions;
pub use robot::{ImportFormat, ImportOptions, MeshContact, RootHold};
pub use sdf::read_sdf;
pub use storage::{Disk, Storage};
pub use surfaces::obj;
pub use table::{Sampler, TABLE_ENDINGS, TableChoice, TableFormat, TableQuantity, TableWriter};
pub use urdf::read_urdf;
pub use urdf_text::urdf;
pub use vtu::{pvd, vtu};
