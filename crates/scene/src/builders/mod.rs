//! Documents written in code: a constructor with what must be given, then one method per field that is often set.
//!
//! The words are those of the scene format, so a scene in code reads as its file does. Every field stays public: whatever has no method
//! here is set with `..` or by assignment. Frames and units are those of the fields.

mod body;
mod collider;
mod joint;
mod part;

pub use part::ScenePart;
pub(crate) use part::{N_LISTS, for_each_list};
