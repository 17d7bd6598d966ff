//! A scene as robots are written: bodies in a tree with the moves of each joint one by one, what closes its loops, and what its bodies look like.
//!
//! This is what the writers of URDF and MJCF share. Frames are body frames of the scene; SI units. Cost: that of building the scene, and linear.

mod forms;
mod gears;
mod joint;
mod meshes;
mod names;
mod read;
mod rest;
mod tree;

pub(crate) use forms::{OutForm, OutGeom, geoms_of};
pub(crate) use gears::{OutGear, gears_of};
pub(crate) use joint::{JointMove, MoveKind, OutJoint};
pub(crate) use meshes::{MeshFiles, file};
pub(crate) use names::OutNames;
pub(crate) use read::OutScene;
pub(crate) use rest::{note_bodies, note_common};
pub(crate) use tree::{OutBody, OutTree};
