#![doc = include_str!("../README.md")]

mod changes;
mod doc;
mod edit;
mod error;
mod files;
mod generate;
mod load;
mod outline;
mod outline_parser;
mod path;
mod read;
mod resolve;
mod suggest;
mod track;
mod validate;
mod version;

pub use changes::Steps;
pub use doc::*;
pub use error::{SceneError, SceneErrors, SceneIssue, SceneIssueKind};
pub use load::SceneSource;
pub use resolve::ForceCoordinate;
pub use sinew_math::{JointKind, Shape};
pub use suggest::{no_such_scene, suggestion};
pub use track::{Track, TrackPoint};
pub use validate::validate;
