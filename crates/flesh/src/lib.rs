#![doc = include_str!("../README.md")]

mod body;
mod carry;
mod contacts;
mod elements;
mod error;
mod explicit;
mod explicit_contacts;
mod model;
mod relax;
mod shares;
mod state;
mod together;

pub use body::{FleshBody, FleshOptions};
pub use carry::CarryScratch;
pub use error::FleshError;
pub use explicit::{
    ExplicitFlesh, ExplicitReport, ExplicitWorkspace, finish_explicit, predict_bodies, step_explicit,
};
pub use explicit_contacts::rigid_wrenches;
pub use model::{FleshModel, FleshReport};
pub use sinew_math::SurfacePoint;
pub use state::{FleshEnergy, FleshState, NodeHistory};
pub use together::{Flesh, FleshWorkspace};
