#![doc = include_str!("../README.md")]

// Modules of one group use each other, and those of the groups above.
mod bone_shares;
mod error;
mod node_vectors;
mod refine;
mod state;

mod pins;
mod tet_walk;

mod flesh_skin;

mod body;
mod carry;
mod relax;

mod model;
mod outline;
mod skin_loads;
mod surface_contacts;

mod inside;

mod explicit;
mod implicit;

pub use body::{FleshBody, FleshOptions};
pub use carry::CarryScratch;
pub use error::FleshError;
pub use explicit::{
    ExplicitFlesh, ExplicitReport, ExplicitWorkspace, finish_explicit, predict_bodies, rigid_wrenches,
    step_explicit,
};
pub use implicit::{AWAKE, Flesh, FleshWorkspace};
pub use model::{FleshModel, FleshReport};
pub use outline::OutlineBuffer;
pub use sinew_math::SurfacePoint;
pub use state::{FleshEnergy, FleshState, NodeHistory};
