//! The tetrahedra of one body of flesh in an implicit step (docs/maths/flesh.md).
//!
//! With nodes at `x_k` that already contain the displacement `h d`, elastic forces `f_k` and stiffness `K_k` (projected),
//! stiffness damping `β`, bone damping `c` and masses `M` of free nodes, the velocities `u` at the end of the step obey
//! ```text
//! A u = M v̂ + h (M g + f_k + h K_k d) + hcM u_bone        A = (1 + hc) M + h(h + β) K_k
//! ```
//! on free nodes; fixed nodes move with their bone, `u_i = G_i V`, and what they feel goes to it: `V` gets `Gᵀ(…)`. Of the
//! bones' part `D = Gᵀ A G` of the matrix, what couples a bone with itself is handed to the skeleton, as is the geometric
//! stiffness of the forces on its fixed nodes: `tr S 1 − S`, `S = Σ sym(r fᵀ)`, negative parts cut off.
//!
//! World axes; twists at centres of mass. Cost: the stiffness of all elements once per linearization, a sparse product per
//! iteration.

use glam::DVec3;
use sinew_fem::{FemReport, FemScratch, FemState, Projection, STIFFNESS_PAIRS, for_each_tangent};
use sinew_math::{Force, Motion, Sym3, Sym6, skew, symmetric_eigen};
use sinew_mechanism::CouplingPoint;
use sinew_solvers::{BlockMatrix, Load, NodeRole, TwoLevel, UpperBlocks};

use crate::NodeHistory;
use crate::body::{FREE, FleshBody};
use crate::model::NOWHERE;

/// Scratch of one body of flesh: losing it changes no result.
#[derive(Clone, Debug)]
pub(crate) struct Elements {
    fem: FemScratch,
    /// `A` of the elements alone, and with the contacts of the moment.
    elastic: UpperBlocks,
    matrix: BlockMatrix,
    preconditioner: TwoLevel,
    /// Places of the bodies that carry nodes among those that are solved for, and where they are.
    carriers: Vec<u32>,
    carrier_bodies: Vec<usize>,
    felt: Vec<Force>,
    followed: Vec<Motion>,
    centres: Vec<DVec3>,
    /// Linearization point.
    pub(crate) positions: Vec<DVec3>,
    /// Displacement `d` in it; zero at the start of a step.
    displaced: Vec<DVec3>,
    /// From the centre of mass of its bone, or of the one that damps it, to each node.
    arms: Vec<DVec3>,
    /// Velocities that the unknowns are changes of.
    pub(crate) value: Vec<DVec3>,
    /// Constant impulses on all nodes, of elements and with contacts.
    elastic_constant: Vec<DVec3>,
    pub(crate) constant: Vec<DVec3>,
    elastic_forces: Vec<DVec3>,
    /// Own block of `A` and constant impulse of each bone, of elements and with contacts.
    elastic_loads: Vec<Load>,
    pub(crate) loads: Vec<Load>,
    /// Geometric stiffness `h²K` of each bone.
    pub(crate) geometric: Vec<Sym3>,
    /// `Σ sym(r fᵀ)` of each bone, N·m.
    turned: Vec<Sym3>,
    /// `hc`.
    drag: f64,
    u: Vec<f64>,
    pub(crate) report: FemReport,
}

impl Elements {
    /// `slots` are the places of the bodies that can move among those that are solved for.
    pub(crate) fn new(body: &FleshBody, slots: &[u32]) -> Self {
        let n = body.fem.n_nodes();
        let has_nodes = |bone: &usize| body.bone_of.contains(&(*bone as u32));
        let is_solved = |bone: &usize| slots[body.bones[*bone]] != NOWHERE;
        let carriers: Vec<usize> = (0..body.bones.len()).filter(has_nodes).filter(is_solved).collect();
        let role = |&bone: &u32| match carriers.binary_search(&(bone as usize)) {
            _ if bone == FREE => NodeRole::Free,
            Ok(carrier) => NodeRole::Carried(carrier as u32),
            Err(_) => NodeRole::Fixed,
        };
        let roles: Vec<NodeRole> = body.bone_of.iter().map(role).collect();
        let carrier_bodies: Vec<usize> = carriers.iter().map(|&bone| body.bones[bone]).collect();
        let carriers: Vec<u32> = carrier_bodies.iter().map(|&body| slots[body]).collect();
        let rest = body.fem.mesh().positions();
        Self {
            fem: FemScratch::new(&body.fem),
            preconditioner: TwoLevel::with_carriers(&body.pattern, rest, &roles),
            centres: vec![DVec3::ZERO; carriers.len()],
            carriers,
            carrier_bodies,
            felt: Vec::new(),
            followed: Vec::new(),
            elastic: UpperBlocks::new(&body.pattern),
            matrix: BlockMatrix::new(body.pattern.clone()),
            positions: vec![DVec3::ZERO; n],
            displaced: vec![DVec3::ZERO; n],
            arms: vec![DVec3::ZERO; n],
            value: vec![DVec3::ZERO; n],
            elastic_constant: vec![DVec3::ZERO; n],
            constant: vec![DVec3::ZERO; n],
            elastic_forces: vec![DVec3::ZERO; n],
            elastic_loads: vec![Load::ZERO; body.bones.len()],
            loads: vec![Load::ZERO; body.bones.len()],
            geometric: vec![Sym3::ZERO; body.bones.len()],
            turned: vec![Sym3::ZERO; body.bones.len()],
            drag: 0.0,
            u: vec![0.0; 3 * n],
            report: FemReport::default(),
        }
    }

    /// Three numbers per node, zero for fixed ones.
    pub(crate) fn n_unknowns(&self) -> usize {
        self.u.len()
    }

    /// Everything that the elements do at a linearization point.
    pub(crate) fn linearize(
        &mut self,
        body: &FleshBody,
        moment: &CouplingPoint<'_>,
        state: &FemState,
        history: &NodeHistory,
    ) {
        self.place(body, moment, state, history);
        let (h, beta) = (moment.h, body.options.stiffness_damping_s);
        let drag = h * body.options.bone_damping_per_s;
        self.drag = drag;
        let Self { elastic_constant: constant, elastic_forces: forces, elastic_loads: loads, .. } = self;
        constant.fill(DVec3::ZERO);
        forces.fill(DVec3::ZERO);
        loads.fill(Load::ZERO);
        let Self { fem, elastic, positions, displaced, .. } = self;
        let (tets, scale) = (body.fem.mesh().tets(), h * (h + beta));
        let mut report = FemReport::default();
        elastic.assemble(&body.pattern, |fill| {
            report = for_each_tangent(&body.fem, positions, Projection::Semidefinite, fem, |tet, element| {
                let nodes = tets[tet].map(|node| node as usize);
                for (a, &node) in nodes.iter().enumerate() {
                    constant[node] += element.forces[a] * h;
                    forces[node] += element.forces[a];
                }
                if moment.is_ahead {
                    let moved = nodes.map(|node| displaced[node] * (h * h));
                    for (&(a, b), block) in STIFFNESS_PAIRS.iter().zip(&element.stiffness) {
                        constant[nodes[a]] += *block * moved[b];
                        if a != b {
                            constant[nodes[b]] += block.transpose() * moved[a];
                        }
                    }
                }
                fill.add_element(tet, &element.stiffness);
            });
            fill.scale(scale);
            for free in body.attachments.free() {
                let node = free.node as usize;
                fill.add_mass(node, body.fem.masses()[node] * (1.0 + drag));
            }
        });
        self.report = report;
        self.push_nodes(body, moment, state, history);
        self.load_bones(body, moment);
        self.begin_contacts();
    }

    /// Positions, velocities and displacements of the linearization point.
    fn place(
        &mut self,
        body: &FleshBody,
        moment: &CouplingPoint<'_>,
        state: &FemState,
        history: &NodeHistory,
    ) {
        for free in body.attachments.free() {
            let node = free.node as usize;
            let (x, v) = (state.positions[node], state.velocities[node]);
            if !moment.is_again {
                let before = history.velocities.get(node).copied().unwrap_or(v);
                self.value[node] = v + (v - before) * moment.ratio;
            }
            let value = self.value[node];
            self.positions[node] =
                if moment.is_ahead { carried(x, history, node, moment.carry) + value * moment.h } else { x };
            self.displaced[node] = if moment.is_ahead { value } else { DVec3::ZERO };
            if let Some(bone) = free.reference {
                self.arms[node] = self.positions[node] - moment.poses[body.bones[bone as usize]].translation;
            }
        }
        for (centre, &body) in self.centres.iter_mut().zip(&self.carrier_bodies) {
            *centre = moment.poses[body].translation;
        }
        for attached in body.attachments.attached() {
            let (node, bone) = (attached.node as usize, body.bones[attached.bone as usize]);
            let (pose, motion) = (&moment.poses[bone], moment.motions[bone]);
            let arm = pose.rotation * attached.point_in_bone;
            self.arms[node] = arm;
            self.positions[node] = pose.translation + arm;
            self.displaced[node] = if moment.is_ahead { at_arm(motion, arm) } else { DVec3::ZERO };
        }
    }

    /// Momentum and gravity of free nodes.
    fn push_nodes(
        &mut self,
        body: &FleshBody,
        moment: &CouplingPoint<'_>,
        state: &FemState,
        history: &NodeHistory,
    ) {
        for free in body.attachments.free() {
            let node = free.node as usize;
            let v = state.velocities[node];
            let before = history.velocities.get(node).copied().unwrap_or(v);
            let base = v + (v - before) * moment.carry;
            self.elastic_constant[node] += (base + moment.gravity * moment.h) * body.fem.masses()[node];
        }
    }

    /// What bones feel of the forces on their fixed nodes, with the geometric stiffness, and of the dampers.
    fn load_bones(&mut self, body: &FleshBody, moment: &CouplingPoint<'_>) {
        let Self { elastic_loads: loads, elastic_constant: constant, elastic_forces: forces, arms, .. } =
            self;
        let turned = &mut self.turned;
        turned.fill(Sym3::ZERO);
        for attached in body.attachments.attached() {
            let (node, bone) = (attached.node as usize, attached.bone as usize);
            loads[bone].momentum += force_at(constant[node], arms[node]);
            turned[bone] += Sym3::outer_pair(arms[node], forces[node]) * 0.5;
        }
        let bones = loads.iter_mut().zip(&mut self.geometric).zip(&*turned).zip(&body.bones);
        for (((load, geometric), turned), &bone) in bones {
            let stiffness = Sym3::IDENTITY * turned.trace() - *turned;
            let stiffness = positive_part(stiffness * (moment.h * moment.h));
            *geometric = stiffness;
            if moment.is_ahead {
                load.momentum.angular += stiffness.mul_vec(moment.motions[bone].angular);
            }
        }
        if self.drag > 0.0 {
            for (node, bone) in dragged(body) {
                let weight = Sym3::IDENTITY * (self.drag * body.fem.masses()[node]);
                let at_node = Sym6 { linear: weight, ..Sym6::ZERO };
                loads[bone].mass.add(&at_node.shifted(arms[node]));
            }
        }
    }

    /// Forgets the contacts of the last solve.
    pub(crate) fn begin_contacts(&mut self) {
        self.constant.copy_from_slice(&self.elastic_constant);
        self.loads.copy_from_slice(&self.elastic_loads);
    }

    /// Adds contacts to the matrix: for each a tetrahedron, the weights of its corners and `B`; then prepares to solve.
    pub(crate) fn finish_matrix(&mut self, body: &FleshBody, contacts: &[(u32, [f64; 4], Sym3)]) {
        self.matrix.assemble_onto(&self.elastic, |fill| {
            for (tet, weights, resistance) in contacts {
                let block = resistance.to_mat3();
                let blocks = STIFFNESS_PAIRS.map(|(a, b)| block * (weights[a] * weights[b]));
                fill.add_element(*tet as usize, &blocks);
            }
        });
        self.add_to_bones(body);
        // Also where only contacts have changed: bones feel their new laws, and with the old ones between nodes the preconditioner
        // would not be positive definite.
        self.preconditioner.refresh_carried(&self.matrix, &self.positions, &self.centres);
    }

    /// Adds what the matrix does between nodes of one bone to that bone's own block.
    fn add_to_bones(&mut self, body: &FleshBody) {
        for attached in body.attachments.attached() {
            let i = attached.node as usize;
            let mass = &mut self.loads[attached.bone as usize].mass;
            for (j, block) in self.matrix.upper_row(i).filter(|&(j, _)| body.bone_of[j] == attached.bone) {
                let [ri, rj] = [i, j].map(|node| skew(self.arms[node]));
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

    /// `E` of these elements: `own` per node, twists of the bones; overwrites `out`, adds to `impulses` of the bones.
    pub(crate) fn apply(
        &mut self,
        body: &FleshBody,
        own: &[f64],
        twists: impl Fn(usize) -> Motion,
        out: &mut [f64],
        mut push: impl FnMut(usize, Force),
    ) {
        let Self { u, matrix, arms, loads, drag, .. } = self;
        u.copy_from_slice(own);
        for attached in body.attachments.attached() {
            let (node, bone) = (attached.node as usize, attached.bone as usize);
            set_node(u, node, at_arm(twists(bone), arms[node]));
        }
        matrix.times(u, out);
        for attached in body.attachments.attached() {
            let (node, bone) = (attached.node as usize, attached.bone as usize);
            push(bone, force_at(get_node(out, node), arms[node]));
            set_node(out, node, DVec3::ZERO);
        }
        if *drag > 0.0 {
            for (node, bone) in dragged(body) {
                let weight = *drag * body.fem.masses()[node];
                let along = at_arm(twists(bone), arms[node]);
                let left = get_node(out, node) - along * weight;
                set_node(out, node, left);
                push(bone, force_at((along - get_node(u, node)) * weight, arms[node]));
            }
        }
        for (bone, load) in loads.iter().enumerate() {
            push(bone, load.mass.mul(twists(bone)) * -1.0);
        }
    }

    /// What a node had in the last product.
    pub(crate) fn multiplied(&self, node: usize) -> DVec3 {
        get_node(&self.u, node)
    }

    /// Adds an impulse on a node to a product: to its own entry, or to its bone.
    pub(crate) fn give(
        &self,
        body: &FleshBody,
        node: usize,
        impulse: DVec3,
        out: &mut [f64],
        push: impl FnOnce(usize, Force),
    ) {
        match body.attached_bone(node) {
            Some(bone) => push(bone, force_at(impulse, self.arms[node])),
            None => set_node(out, node, get_node(out, node) + impulse),
        }
    }

    /// Adds a constant impulse on a node.
    pub(crate) fn push(&mut self, body: &FleshBody, node: usize, impulse: DVec3) {
        match body.attached_bone(node) {
            Some(bone) => self.loads[bone].momentum += force_at(impulse, self.arms[node]),
            None => self.constant[node] += impulse,
        }
    }

    /// Velocity of a fixed node whose bone has a twist.
    pub(crate) fn velocity_with(&self, twist: Motion, node: usize) -> DVec3 {
        at_arm(twist, self.arms[node])
    }

    /// The preconditioner and the places of its carriers among the bodies that are solved for.
    pub(crate) fn carried(&self) -> (&TwoLevel, &[u32]) {
        (&self.preconditioner, &self.carriers)
    }

    /// The first half of a preconditioning: takes from the impulses on bodies what the nodes answer with.
    pub(crate) fn restrict(&mut self, r: &[f64], impulses: &mut [Force]) {
        let Self { preconditioner, carriers, felt, .. } = self;
        felt.clear();
        felt.extend(carriers.iter().map(|&slot| impulses[slot as usize]));
        preconditioner.restrict(r, felt);
        carriers.iter().zip(felt).for_each(|(&slot, felt)| impulses[slot as usize] = *felt);
    }

    /// The second half, with the twists of the bodies.
    pub(crate) fn prolong(&mut self, r: &[f64], twists: &[Motion], z: &mut [f64]) {
        let Self { preconditioner, carriers, followed, .. } = self;
        followed.clear();
        followed.extend(carriers.iter().map(|&slot| twists[slot as usize]));
        preconditioner.prolong(r, followed, z);
    }
}

/// Free nodes with the bone that damps them.
fn dragged(body: &FleshBody) -> impl Iterator<Item = (usize, usize)> + '_ {
    let free = body.attachments.free().iter();
    free.filter_map(|free| Some((free.node as usize, free.reference? as usize)))
}

/// A matrix without its negative eigenvalues.
fn positive_part(matrix: Sym3) -> Sym3 {
    let (values, axes) = symmetric_eigen(matrix);
    let axes = [axes.x_axis, axes.y_axis, axes.z_axis];
    let parts = values.to_array().into_iter().zip(axes).filter(|(value, _)| *value > 0.0);
    parts.fold(Sym3::ZERO, |sum, (value, axis)| sum.add_outer(value, axis))
}

/// Velocity at an arm from the centre of mass.
#[inline]
pub(crate) fn at_arm(motion: Motion, arm: DVec3) -> DVec3 {
    motion.linear + motion.angular.cross(arm)
}

/// A force at an arm from the centre of mass.
#[inline]
pub(crate) fn force_at(force: DVec3, arm: DVec3) -> Force {
    Force::new(arm.cross(force), force)
}

#[inline]
pub(crate) fn get_node(values: &[f64], node: usize) -> DVec3 {
    DVec3::from_slice(&values[3 * node..])
}

#[inline]
pub(crate) fn set_node(values: &mut [f64], node: usize, value: DVec3) {
    value.write_to_slice(&mut values[3 * node..]);
}

/// Where the scheme begins: the position itself, or what a step of second order carries on.
pub(crate) fn carried(x: DVec3, history: &NodeHistory, node: usize, carry: f64) -> DVec3 {
    match history.increments.get(node) {
        Some(&increment) => x + increment * carry,
        None => x,
    }
}
