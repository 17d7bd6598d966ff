#![doc = include_str!("../README.md")]

mod all_finite;
mod builders;
mod changes;
mod doc;
mod edit;
mod editable;
mod error;
mod excerpt;
mod files;
mod generate;
mod journal;
mod load;
mod outline;
mod outline_parser;
mod path;
mod read;
mod resolve;
mod slots;
mod suggest;
mod track;
mod validate;
mod version;

pub use builders::ScenePart;
pub use changes::Steps;
pub use doc::*;
pub use editable::{EditableScene, SceneHandles};
pub use error::{SceneError, SceneErrors, SceneIssue, SceneIssueKind};
pub use excerpt::Excerpt;
pub use load::SceneSource;
pub use resolve::ForceCoordinate;
pub use sinew_math::{JointKind, Shape};
pub use slots::{GONE, Handle};
pub use suggest::{no_such_scene, suggestion};
pub use track::{Track, TrackPoint};
pub use validate::validate;
