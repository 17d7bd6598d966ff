//! Inverse masses of free bodies, for preconditioners and for bodies without a tree.

use sinew_math::{Pose, Sym3, quat_to_mat3};
use sinew_solvers::{FreeMass, Load};
use sinew_topology::NONE;

use crate::model::mechanism::Model;
use crate::tree::body_terms::add_own;
use crate::tree::point::Iterate;

/// Inverse mass of a body on its own; what a preconditioner needs.
pub(crate) fn free_mass(model: &Model, poses: &[Pose], port: u32) -> FreeMass {
    if port == NONE {
        return FreeMass::IMMOVABLE;
    }
    let pair = &model.pairs[port as usize];
    let rotation = quat_to_mat3(poses[pair.body as usize].rotation);
    let inertia = Sym3::diagonal(pair.inertia.moments).rotated_by(&rotation);
    FreeMass { inverse_mass: 1.0 / pair.mass, inverse_inertia: inertia.inverse().unwrap_or(Sym3::ZERO) }
}

/// Inverse of all that a free body's block of the implicit system holds.
pub(crate) fn loaded_mass(at: &Iterate<'_>, k: usize) -> FreeMass {
    let pair = &at.model.pairs[k];
    let rotation = quat_to_mat3(at.poses[pair.body as usize].rotation);
    let mut load = Load::ZERO;
    add_own(at, k, pair, &rotation, &mut load);
    FreeMass {
        inverse_mass: 1.0 / load.mass.linear.xx,
        inverse_inertia: load.mass.angular.inverse().unwrap_or(Sym3::ZERO),
    }
}
