//! Flesh and contacts in one implicit solve with the bodies.

mod balance;
mod bone_loads;
mod carriers;
mod companion;
mod contact_sides;
mod contacts;
mod couplings;
mod damped_ends;
mod elastic_impulses;
mod elements;
mod end_contacts;
mod far_contacts;
mod flow_point;
mod gain;
mod jolt;
mod outside;
mod reached;
mod sleepers;
mod touching;
mod touching_islands;
mod touching_pairs;
mod touching_point;
mod touching_sweeps;
mod turns;

pub use companion::{Flesh, FleshWorkspace};
pub use sleepers::AWAKE;
