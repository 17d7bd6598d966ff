#![doc = include_str!("../README.md")]

// Modules of one group use each other downward, and those of the groups above.
#[cfg(target_arch = "x86_64")]
mod avx;
mod error;
mod lane_pair;
mod lanes;
mod mat3;
mod node_buffer;
mod projection;
mod simd_width;
mod svd;

mod fibre_law;
mod flow_law;
mod materials;

mod fibres;
mod flow_cells;
mod layout;
mod model;
mod regions;
mod stars;

mod ahead;
mod fem_shape;

mod block_forces;
mod element_tangent;
mod fibre_forces;
mod flow_forces;
mod forces;
mod placed_tangent;
mod star_batch;
mod star_forces;
mod star_tangent;
mod tangent;
#[cfg(feature = "parallel")]
mod threads;

mod attach;
mod step;

mod von_mises;

pub use attach::{
    AttachedNode, Attachments, BoneCapsule, BoneState, FreeNode, nearest_bones, nodes_within, paint,
};
pub use block_forces::{Diagonalize, FemReport};
pub use element_tangent::ElementTangent;
pub use error::FemError;
pub use fem_shape::FemShape;
pub use fibre_forces::{FibreTangent, add_active_forces, add_muscle_potentials, for_each_fibre};
pub use fibre_law::{FibreLaw, ForceLength};
pub use fibres::{FibrePlace, Muscle, Tendon};
pub use flow_forces::{advance_flow, fill_yielding, for_each_flowing, shrinkage};
pub use flow_law::{CellFlow, Flow, Plasticity, Viscosity};
pub use forces::{FemScratch, elastic_energy, elastic_forces, elastic_forces_scalar};
pub use materials::{Extension, Lame, Material, StretchBand};
pub use model::{FemModel, FemOptions, Strain};
pub use projection::Projection;
pub use regions::Regions;
pub use sinew_math::{TetMesh, TetMeshError};
pub use star_batch::StarTangent;
pub use star_tangent::for_each_star;
pub use step::{ExplicitStep, FemState, StepScratch, stable_dt, step_explicit};
pub use tangent::{STIFFNESS_PAIRS, for_each_tangent};
