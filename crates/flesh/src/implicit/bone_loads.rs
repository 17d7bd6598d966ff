//! What flesh adds to the equations of its bones: the diagonal block of each bone in the system matrix, constant impulses, and
//! geometric stiffness.
//!
//! Geometric stiffness is how the torque of the forces `f` on the fixed nodes of a bone, at lever arms `r`, changes as the bone turns:
//! `(tr S) 1 − S` with `S = Σ sym(r fᵀ)`, negative eigenvalues set to zero. World axes, SI, at centres of mass.

use glam::DVec3;
use sinew_math::{Sym3, Sym6, skew, symmetric_eigen};
use sinew_mechanism::CouplingPoint;
use sinew_solvers::{BlockMatrix, Load};

use crate::{body::FleshBody, node_vectors::wrench_at};

/// The loads of the bones of one body of flesh.
#[derive(Clone, Debug)]
pub(crate) struct BoneLoads {
    /// Own block of `A` and constant impulse, of elements alone and with contacts.
    elastic: Vec<Load>,
    pub(crate) with_contacts: Vec<Load>,
    /// Geometric stiffness `h²K`.
    geometric: Vec<Sym3>,
    /// `S`, N·m.
    moments: Vec<Sym3>,
}

impl BoneLoads {
    pub(crate) fn new(n_bones: usize) -> Self {
        Self {
            elastic: vec![Load::ZERO; n_bones],
            with_contacts: vec![Load::ZERO; n_bones],
            geometric: vec![Sym3::ZERO; n_bones],
            moments: vec![Sym3::ZERO; n_bones],
        }
    }

    /// Starts from the impulses (N·s) and forces (N) on the fixed nodes, at the lever arms `arms` (m). If the flesh `turns` with its bones, only changes of their turn meet the geometric stiffness.
    pub(crate) fn load(
        &mut self,
        body: &FleshBody,
        moment: &CouplingPoint<'_>,
        turns: bool,
        [impulses, forces]: [&[DVec3]; 2],
        arms: &[DVec3],
    ) {
        let Self { elastic: loads, geometric, moments, .. } = self;
        loads.fill(Load::ZERO);
        moments.fill(Sym3::ZERO);
        for attached in body.attachments.attached() {
            let (node, bone) = (attached.node as usize, attached.bone as usize);
            loads[bone].momentum += wrench_at(impulses[node], arms[node]);
            moments[bone] += Sym3::outer_pair(arms[node], forces[node]) * 0.5;
        }
        for (bone, &body) in body.bones.iter().enumerate() {
            let stiffness = Sym3::IDENTITY * moments[bone].trace() - moments[bone];
            geometric[bone] = positive_part(stiffness * (moment.h * moment.h));
            if turns {
                loads[bone].momentum.angular += geometric[bone].mul_vec(moment.motions[body].angular);
            }
        }
    }

    /// Adds dampers: bone, lever arm (m) and weight (kg) of each.
    pub(crate) fn add_dampers(&mut self, dampers: impl Iterator<Item = (usize, DVec3, f64)>) {
        for (bone, arm, weight) in dampers {
            let at_node = Sym6 { linear: Sym3::IDENTITY * weight, ..Sym6::ZERO };
            self.elastic[bone].mass.add(&at_node.shifted(arm));
        }
    }

    /// Removes the contacts of the last solve.
    pub(crate) fn begin_contacts(&mut self) {
        self.with_contacts.copy_from_slice(&self.elastic);
    }

    /// Adds the blocks between nodes of one bone to the block of that bone.
    pub(crate) fn add_matrix(&mut self, body: &FleshBody, matrix: &BlockMatrix, arms: &[DVec3]) {
        for attached in body.attachments.attached() {
            let i = attached.node as usize;
            let mass = &mut self.with_contacts[attached.bone as usize].mass;
            for (j, block) in matrix.upper_row(i).filter(|&(j, _)| body.bone_of[j] == attached.bone) {
                let [ri, rj] = [i, j].map(|node| skew(arms[node]));
                let turned = ri * *block;
                let angular = turned * rj.transpose();
                if i == j {
                    mass.angular += Sym3::from_mat3(&angular);
                    mass.coupling += turned;
                    mass.linear += Sym3::from_mat3(block);
                } else {
                    let transposed = block.transpose();
                    mass.angular += Sym3::from_mat3(&(angular + angular.transpose()));
                    mass.coupling += turned + rj * transposed;
                    mass.linear += Sym3::from_mat3(&(*block + transposed));
                }
            }
        }
    }

    /// The load of each bone, with the geometric stiffness.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Load> {
        self.with_contacts.iter().zip(&self.geometric).map(|(load, geometric)| {
            let mut load = *load;
            load.mass.angular += *geometric;
            load
        })
    }
}

/// A matrix without its negative eigenvalues.
fn positive_part(matrix: Sym3) -> Sym3 {
    let (values, axes) = symmetric_eigen(matrix);
    let axes = [axes.x_axis, axes.y_axis, axes.z_axis];
    let parts = values.to_array().into_iter().zip(axes).filter(|(value, _)| *value > 0.0);
    parts.fold(Sym3::ZERO, |sum, (value, axis)| sum.add_outer(value, axis))
}
