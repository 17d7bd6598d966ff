#![doc = include_str!("../README.md")]

mod clip;
mod report;

mod error;
mod files;

mod xml;

mod mesh_files;
mod robot;

mod geometry;
mod imported;
mod table;

mod import;
mod mjcf;
mod urdf;

pub use clip::{Clip, ClipBody, ClipFrame, ClipJoint, ClipMesh, ClipSkin};
pub use error::{ImportError, ImportFault};
pub use files::{Files, FoundFile};
pub use import::{ENDINGS, import};
pub use imported::Imported;
pub use mjcf::read_mjcf;
pub use report::{Finding, ImportReport, Outcome, Place};
pub use robot::{ImportOptions, MeshContact, RootHold};
pub use table::{Quantity, Sampler, TABLE_ENDINGS, TableChoice, TableFormat, TableWriter};
pub use urdf::read_urdf;
