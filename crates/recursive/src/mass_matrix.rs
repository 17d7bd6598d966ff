//! Mass matrix, bias and inverse dynamics of a tree: `M q̈ + bias = τ`; momentum and kinetic energy.
//!
//! Mass matrix by composite rigid bodies: `I^c = I + Σ XᵀI^cX`, `M_ij = S_jᵀ Xᵀ…Xᵀ I^c_i S_i` along the path to the
//! root, with twists and momenta about the origin of the root link. Inverse dynamics: `V̇ = X V̇_p + η + S q̈`,
//! `F = J V̇ − ad(V)ᵀJV − F_ext + Σ XᵀF_child`, `τ = SᵀF` (KP08 Table 3 with every joint prescribed, where no
//! articulated inertia is needed). All at the state of the last `kinematics`. World axes at link origins; wrenches as in
//! `hybrid`. Cost: links × depth for the matrix, linear for the rest. Nothing fails.

use glam::DVec3;
use sinew_math::{Force, Motion, SpatialInertia, Sym3, shift_force, shift_motion};
use sinew_mechanism::JointKind;
use sinew_solvers::vectorized;
use sinew_topology::NONE;

use crate::{dynamics::Dynamics, tree::Tree};

impl Dynamics {
    /// Writes the mass matrix, row by row, `n_dofs²` numbers (kg·m², kg·m, kg by the units of the rates). For a single
    /// row in linear time use [`crate::Derivatives::row`] of [`crate::DerivativeRow::Torque`] with every joint
    /// prescribed.
    ///
    /// # Panics
    /// If `out` has another size.
    pub fn fill_mass_matrix(&mut self, tree: &Tree, out: &mut [f64]) {
        let n = tree.n_dofs();
        assert_eq!(out.len(), n * n, "the matrix has n_dofs² entries");
        out.fill(0.0);
        self.compose(tree);
        vectorized(
            #[inline(always)]
            || self.rooted.fill_pairs(tree, true, out),
        );
    }

    /// Inertia of all links at and below each, and `S` and `I^cS` of all dofs about the origin of the root link.
    pub(crate) fn compose(&mut self, tree: &Tree) {
        vectorized(
            #[inline(always)]
            || self.compose_links(tree),
        );
    }

    #[inline(always)]
    fn compose_links(&mut self, tree: &Tree) {
        // of the link before, whose parent comes next unless it is a leaf
        let mut above = SpatialInertia::ZERO;
        for (k, link) in tree.links.iter().enumerate().rev() {
            let here = &self.motions[k];
            let body = if link.is_leaf { here.inertia } else { above };
            self.composite[k] = body;
            if link.kind == JointKind::Hinge {
                let (dof, axis) = (link.first_dof as usize, here.rotation.x_axis);
                let reach = Force::new(body.rotational.mul_vec(axis), axis.cross(body.first_moment));
                let twist = Motion::new(axis, here.place.cross(axis));
                self.rooted.set(dof, twist, shift_force(reach, here.place));
            } else {
                for dof in link.dofs() {
                    let column = self.columns[dof];
                    let reach = shift_force(body.mul(column), here.place);
                    self.rooted.set(dof, shift_motion(column, -here.place), reach);
                }
            }
            let parent = link.parent as usize;
            if parent != NONE as usize {
                let known = if link.is_first { self.motions[parent].inertia } else { self.composite[parent] };
                above = joined(&known, &body, here.arm);
                self.composite[parent] = above;
            }
        }
    }

    /// Writes the torques (N·m, N) of given joint accelerations, per dof. `external` as in [`Dynamics::hybrid`].
    ///
    /// # Panics
    /// If a slice belongs to another tree.
    pub fn fill_inverse(
        &mut self,
        tree: &Tree,
        accelerations: &[f64],
        gravity: DVec3,
        external: &[Force],
        out: &mut [f64],
    ) {
        assert_eq!(accelerations.len(), tree.n_dofs(), "the accelerations belong to another tree");
        assert!([0, tree.n_links()].contains(&external.len()), "there must be one wrench per link");
        self.inverse(tree, Some(accelerations), gravity, external, out);
    }

    /// Writes the bias of `M q̈ + bias = τ`: gravity, velocity products and external wrenches (as in [`Dynamics::hybrid`]), per
    /// dof.
    ///
    /// # Panics
    /// If a slice belongs to another tree.
    pub fn fill_bias(&mut self, tree: &Tree, gravity: DVec3, external: &[Force], out: &mut [f64]) {
        assert!([0, tree.n_links()].contains(&external.len()), "there must be one wrench per link");
        self.inverse(tree, None, gravity, external, out);
    }

    /// Also leaves the acceleration of each link, gravity included, and the wrench of each joint on its link in the scratch.
    pub(crate) fn inverse(
        &mut self,
        tree: &Tree,
        accelerations: Option<&[f64]>,
        gravity: DVec3,
        external: &[Force],
        out: &mut [f64],
    ) {
        vectorized(
            #[inline(always)]
            || {
                self.accelerate_links(tree, accelerations, gravity, external);
                self.sum_loads(tree, out);
            },
        );
    }

    #[inline(always)]
    fn accelerate_links(
        &mut self,
        tree: &Tree,
        accelerations: Option<&[f64]>,
        gravity: DVec3,
        external: &[Force],
    ) {
        let world = Motion::new(DVec3::ZERO, -gravity);
        for (k, link) in tree.links.iter().enumerate() {
            let here = &self.motions[k];
            let above = if link.parent == NONE { world } else { self.rates[link.parent as usize] };
            let mut rate = shift_motion(above, here.arm) + here.product;
            if let Some(accelerations) = accelerations {
                for dof in link.dofs() {
                    rate += self.columns[dof] * accelerations[dof];
                }
            }
            self.rates[k] = rate;
            self.loads[k] = here.inertia.mul(rate) + here.gyroscopic();
            if let Some(wrench) = external.get(k) {
                self.loads[k] -= shift_force(*wrench, here.rotation * link.central.translation);
            }
        }
    }

    /// Sums the loads of links from the leaves to the roots, and writes their part along each dof.
    #[inline(always)]
    pub(crate) fn sum_loads(&mut self, tree: &Tree, out: &mut [f64]) {
        for (k, link) in tree.links.iter().enumerate().rev() {
            for dof in link.dofs() {
                out[dof] = self.columns[dof].dot(self.loads[k]);
            }
            if link.parent != NONE {
                let handed = shift_force(self.loads[k], self.motions[k].arm);
                self.loads[link.parent as usize] += handed;
            }
        }
    }

    /// Momentum of all links, angular about the world origin, world axes (kg·m²/s, kg·m/s).
    pub fn momentum(&self) -> Force {
        let mut sum = Force::ZERO;
        for here in &self.motions {
            sum += shift_force(here.inertia.mul(here.velocity), here.origin);
        }
        sum
    }

    /// Kinetic energy of all links, J.
    pub fn kinetic_energy(&self) -> f64 {
        self.motions.iter().map(|here| here.inertia.kinetic_energy(here.velocity)).sum()
    }

    /// All links as one rigid body: mass, first moment and inertia about the world origin, world axes.
    pub fn total_inertia(&self) -> SpatialInertia {
        let mut sum = SpatialInertia::ZERO;
        for here in &self.motions {
            sum += here.inertia.shifted_by(here.origin);
        }
        sum
    }
}

/// A body and another one whose origin is at `arm`: `I + I' + 2(g·r)1 − (g rᵀ + r gᵀ)`, `g = h' + ½m'r`.
#[inline(always)]
fn joined(known: &SpatialInertia, other: &SpatialInertia, arm: DVec3) -> SpatialInertia {
    let half = other.first_moment + arm * (0.5 * other.mass);
    let along = (half + half) * arm;
    let (i, j) = (&known.rotational, &other.rotational);
    SpatialInertia {
        mass: known.mass + other.mass,
        first_moment: known.first_moment + (other.first_moment + arm * other.mass),
        rotational: Sym3 {
            xx: i.xx + j.xx + (along.y + along.z),
            yy: i.yy + j.yy + (along.x + along.z),
            zz: i.zz + j.zz + (along.x + along.y),
            xy: i.xy + j.xy - (half.x * arm.y + half.y * arm.x),
            xz: i.xz + j.xz - (half.x * arm.z + half.z * arm.x),
            yz: i.yz + j.yz - (half.y * arm.z + half.z * arm.y),
        },
    }
}
