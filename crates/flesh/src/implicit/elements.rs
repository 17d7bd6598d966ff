//! The tetrahedra of one body of flesh in an implicit step (docs/maths/flesh.md).
//!
//! Let the nodes be at `x_k`, which already contains the displacement `h d`. With elastic forces `f_k`, projected
//! stiffness `K_k`, stiffness damping `β`, bone damping `c` and masses `M`, the velocities `u` of free nodes at the end
//! of the step obey
//! ```text
//! A u = M v̂ + h (M g + f_k + h K_k d) + hcM u_bone        A = (1 + hc) M + h(h + β) K_k
//! ```
//! In steps of first order, with `d = 0`, cells turn: `h(h + β) Σ K_k w` is added (`turns.rs`).
//!
//! Fixed nodes move with their bone, `u_i = G_i V`, and their equations are added to those of the bone by `Gᵀ`. Of the
//! bones' part `D = Gᵀ A G` of the matrix, the block of each bone with itself is given to the skeleton
//! (`bone_loads.rs`). Dampers of active fibres add `h C` to `A`.
//!
//! World axes; twists at centres of mass. Cost: the stiffness of all elements per linearization, a sparse product per
//! iteration. An element that is not finite adds nothing and is reported.

use glam::{DMat3, DVec3};
use sinew_fem::{
    CellFlow, FemReport, FemScratch, FemShape, FemState, FibrePlace, Lame, Projection, STIFFNESS_PAIRS,
    for_each_fibre, for_each_flowing, for_each_star, for_each_tangent,
};
use sinew_math::{Force, Motion, SurfacePoint, Sym3};
use sinew_mechanism::CouplingPoint;
use sinew_solvers::{BlockFill, BlockMatrix, NodeRole, TwoLevel, UpperBlocks};

use super::elastic_impulses::{CellPoint, ElasticImpulses};
use super::flow_point::{FlowPoint, LinearizedCells};
use super::turns::NodeTurns;
use super::{bone_loads::BoneLoads, carriers::Carriers};
use crate::node_vectors::{get_node, set_node, velocity_at, wrench_at};
use crate::{body::FleshBody, state::NodeHistory};

/// Scratch of one body of flesh. Its content never changes a result.
#[derive(Clone, Debug)]
pub(crate) struct Elements {
    pub(super) fem: FemScratch,
    /// `A` of the elements alone, and with the contacts of the current solve.
    pub(super) elastic: UpperBlocks,
    matrix: BlockMatrix,
    preconditioner: TwoLevel,
    carriers: Carriers,
    /// Linearization point, m.
    pub(super) positions: Vec<DVec3>,
    /// Displacement `d` in it, per unit of time; zero at the start of a step.
    pub(super) displaced: Vec<DVec3>,
    /// Lever arm of each node from the centre of mass of its bone, or of the bone that damps it, m.
    arms: Vec<DVec3>,
    /// Velocities to which the unknowns are corrections, m/s.
    pub(crate) value: Vec<DVec3>,
    /// Of elements alone.
    pub(super) elastic_impulses: ElasticImpulses,
    turns: NodeTurns,
    /// Constant impulses on all nodes, with contacts.
    pub(crate) constant: Vec<DVec3>,
    pub(crate) bones: BoneLoads,
    /// `hc`.
    pub(super) drag: f64,
    u: Vec<f64>,
    pub(crate) report: FemReport,
}

impl Elements {
    /// `slots` are the slots of all bodies among those that are solved for.
    pub(crate) fn new(body: &FleshBody, slots: &[u32]) -> Self {
        let n = body.fem.n_nodes();
        let (carriers, roles) = Carriers::new(body, slots);
        let zeros = || vec![DVec3::ZERO; n];
        Self {
            fem: FemScratch::new(&body.fem),
            preconditioner: preconditioner(body, &roles),
            carriers,
            elastic: UpperBlocks::new(&body.pattern),
            matrix: BlockMatrix::new(body.pattern.clone()),
            positions: zeros(),
            displaced: zeros(),
            arms: zeros(),
            value: zeros(),
            elastic_impulses: ElasticImpulses::new(n),
            turns: NodeTurns::new(n),
            constant: zeros(),
            bones: BoneLoads::new(body.bones.len()),
            drag: 0.0,
            u: vec![0.0; 3 * n],
            report: FemReport::default(),
        }
    }

    /// Three numbers per node, zero for fixed ones.
    pub(crate) fn n_unknowns(&self) -> usize {
        self.u.len()
    }

    /// Matrix and constant impulses of the elements at a linearization point; as they are if it is the same.
    pub(crate) fn linearize(
        &mut self,
        body: &FleshBody,
        moment: &CouplingPoint<'_>,
        (state, history): (&FemState, &NodeHistory),
        (activations, flowing): (&[f64], &mut FlowPoint),
    ) {
        if moment.is_same && !flowing.has_moved && !self.turns.has_moved {
            return self.begin_contacts();
        }
        // Where directions are kept, cells stay where they are and turn as the solve before has found.
        let stays = moment.keeps_directions && self.turns.is_on;
        if stays && !moment.is_same {
            self.lead_on(body, moment);
        } else if !moment.is_same {
            // Both are zero in steps of first order, and not negative.
            self.turns.begin(!moment.is_ahead && moment.ratio <= 0.0 && moment.carry <= 0.0);
            self.place(body, moment, state, history);
            flowing.clear();
        }
        let is_ahead = moment.is_ahead && !stays;
        (flowing.has_moved, self.turns.has_moved) = (false, false);
        self.drag = moment.h * body.options.bone_damping_per_s;
        self.elastic_impulses.clear();
        self.assemble(body, (moment, is_ahead), (&state.flow, flowing), activations);
        self.push_nodes(body, moment, state, history);
        let turns = self.turns.is_on || is_ahead;
        let ElasticImpulses { constant, forces, .. } = &self.elastic_impulses;
        self.bones.load(body, moment, turns, [constant, forces], &self.arms);
        if self.drag > 0.0 {
            let weights = dragged(body)
                .map(|(node, bone)| (bone, self.arms[node], self.drag * body.fem.masses()[node]));
            self.bones.add_dampers(weights);
        }
        self.begin_contacts();
    }

    /// Turns cells as their nodes and bones go after the last solve.
    fn lead_on(&mut self, body: &FleshBody, moment: &CouplingPoint<'_>) {
        let Self { value, arms, turns, .. } = self;
        let motion = |bone: u32| moment.motions[body.bones[bone as usize]];
        for attached in body.attachments.attached() {
            let node = attached.node as usize;
            value[node] = velocity_at(motion(attached.bone), arms[node]);
        }
        turns.lead_on(body, moment.h, value, |bone, node| (motion(bone as u32), arms[node]));
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
                if moment.is_ahead { history.carried(x, node, moment.carry) + value * moment.h } else { x };
            self.displaced[node] = if moment.is_ahead { value } else { DVec3::ZERO };
            self.turns.place(node, v);
            if let Some(bone) = free.reference {
                self.arms[node] = self.positions[node] - moment.poses[body.bones[bone as usize]].translation;
            }
        }
        self.carriers.place(moment.poses);
        self.place_fixed(body, moment);
    }

    /// Positions and displacements of fixed nodes.
    fn place_fixed(&mut self, body: &FleshBody, moment: &CouplingPoint<'_>) {
        for attached in body.attachments.attached() {
            let (node, bone) = (attached.node as usize, body.bones[attached.bone as usize]);
            let (pose, motion) = (&moment.poses[bone], moment.motions[bone]);
            let arm = pose.rotation * attached.point_in_bone;
            self.arms[node] = arm;
            self.positions[node] = pose.translation + arm;
            self.value[node] = velocity_at(motion, arm);
            self.displaced[node] = if moment.is_ahead { self.value[node] } else { DVec3::ZERO };
            self.turns.place_fixed(node, motion, arm, moment.h);
        }
    }

    /// `A`, and the impulses of the elastic forces.
    fn assemble(
        &mut self,
        body: &FleshBody,
        (moment, is_ahead): (&CouplingPoint<'_>, bool),
        (flow, flowing): (&[CellFlow], &FlowPoint),
        activations: &[f64],
    ) {
        let (h, beta) = (moment.h, body.stiffness_damping(0));
        // Beside the factor that all have.
        let damped = |region: usize| (h + body.stiffness_damping(region)) / (h + beta);
        let displaced = is_ahead.then_some(&self.displaced[..]);
        let (positions, projection) = (&self.positions, Projection::Semidefinite);
        let turns = self.turns.is_on.then_some(&self.turns);
        let point = CellPoint { displaced, turns, positions, h, beta };
        let impulses = &mut self.elastic_impulses;
        let shape = FemShape { positions, flow, dt_s: moment.dt, yields: false };
        self.elastic.assemble(&body.pattern, |fill| {
            self.report = for_each_tangent(&body.fem, shape, projection, &mut self.fem, |tet, element| {
                let damped = damped(body.fem.region(tet));
                impulses.add_element(&point, element, body.corners(tet as u32), damped);
                add_scaled(fill, tet, &element.stiffness, damped);
            });
            let bad = for_each_star(&body.fem, shape, projection, &mut self.fem, |star, tangent| {
                let damped = damped(body.fem.star_region(star));
                impulses.add_star(&point, tangent, damped);
                fill.add_patch(star, tangent.stiffness.iter().map(|block| *block * damped));
                let weight = tangent.excess * (h * (h + beta)) * damped;
                self.preconditioner.set_pressure(star, weight, tangent.stiffest);
            });
            self.report.non_finite = self.report.non_finite.or(bad);
            for part in flowing.parts(shape, displaced) {
                let found =
                    add_flowing(body, (&part, &point), (fill, impulses), &damped, &mut self.preconditioner);
                self.report = self.report.with(found);
            }
            for_each_fibre(&body.fem, positions, &self.value, activations, projection, |fibre| {
                let damped = damped(body.fem.place_region(fibre.place));
                impulses.add_fibre(&point, fibre, damped);
                let matrix = fibre.stiffness * damped + fibre.damping * (1.0 / (h + beta));
                body.add_fibre(fill, fibre, matrix);
            });
            fill.scale(h * (h + beta));
            add_masses(fill, body, 1.0 + self.drag);
        });
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
            let impulse = (base + moment.gravity * moment.h) * body.fem.masses()[node];
            self.elastic_impulses.constant[node] += impulse;
        }
    }

    /// Takes the turns of cells from the velocities that a solve has found, with the twists of the bones; whether the step must be solved again.
    pub(crate) fn follow_turns(
        &mut self,
        body: &FleshBody,
        (h, ends): (f64, &[DVec3]),
        twists: impl Fn(usize) -> Motion,
    ) -> bool {
        let Self { turns, arms, positions, .. } = self;
        turns.follow(body, (positions, h), ends, |bone, node| (twists(bone), arms[node]))
    }

    /// What the velocities of nodes leave out of their ways in the step because their bone turns, m/s.
    pub(super) fn bend(&self) -> &[DVec3] {
        &self.turns.bend
    }

    /// Where a node begins in a step of the effective length `h` (s): at constant speed it is at the linearization point when that ends.
    pub(crate) fn begin(&self, node: usize, h: f64) -> DVec3 {
        self.positions[node] - self.displaced[node] * h
    }

    /// Removes the contacts of the last solve.
    pub(crate) fn begin_contacts(&mut self) {
        self.constant.copy_from_slice(&self.elastic_impulses.constant);
        self.bones.begin_contacts();
    }

    /// Adds contacts to the matrix, each a surface point and its `B`, and prepares to solve.
    pub(crate) fn finish_matrix(&mut self, body: &FleshBody, contacts: &[(SurfacePoint, Sym3)]) {
        self.matrix.assemble_onto(&self.elastic, |fill| {
            for (SurfacePoint { tet, weights }, resistance) in contacts {
                let block = resistance.to_mat3();
                let blocks = STIFFNESS_PAIRS.map(|(a, b)| block * (weights[a] * weights[b]));
                fill.add_element(*tet as usize, &blocks);
            }
        });
        self.bones.add_matrix(body, &self.matrix, &self.arms);
        // Also if only contacts have changed: bones have their new laws, and with the old ones between nodes the
        // preconditioner would not be positive definite.
        self.preconditioner.refresh_carried(&self.matrix, &self.positions, &self.carriers.centres);
    }

    /// Product with `A` without the bones' own blocks: `own` per node and twists of the bones. Overwrites `out` and
    /// gives the impulses on the bones to `push`.
    pub(crate) fn apply(
        &mut self,
        body: &FleshBody,
        own: &[f64],
        twists: impl Fn(usize) -> Motion,
        out: &mut [f64],
        mut push: impl FnMut(usize, Force),
    ) {
        let Self { u, matrix, arms, .. } = self;
        u.copy_from_slice(own);
        for attached in body.attachments.attached() {
            let (node, bone) = (attached.node as usize, attached.bone as usize);
            set_node(u, node, velocity_at(twists(bone), arms[node]));
        }
        matrix.times(u, out);
        for attached in body.attachments.attached() {
            let (node, bone) = (attached.node as usize, attached.bone as usize);
            push(bone, wrench_at(get_node(out, node), arms[node]));
            set_node(out, node, DVec3::ZERO);
        }
        if self.drag > 0.0 {
            self.apply_drag(body, &twists, out, &mut push);
        }
        for (bone, load) in self.bones.with_contacts.iter().enumerate() {
            push(bone, load.mass.mul(twists(bone)) * -1.0);
        }
    }

    /// The part of the dampers in a product.
    fn apply_drag(
        &self,
        body: &FleshBody,
        twists: &impl Fn(usize) -> Motion,
        out: &mut [f64],
        push: &mut impl FnMut(usize, Force),
    ) {
        for (node, bone) in dragged(body) {
            let (weight, arm) = (self.drag * body.fem.masses()[node], self.arms[node]);
            let along = velocity_at(twists(bone), arm);
            let left = get_node(out, node) - along * weight;
            set_node(out, node, left);
            push(bone, wrench_at((along - get_node(&self.u, node)) * weight, arm));
        }
    }

    /// Mass of free nodes in the matrix, with their dampers, kg.
    pub(crate) fn mass_with_drag(&self, body: &FleshBody) -> f64 {
        let free = body.attachments.free().iter();
        (1.0 + self.drag) * free.map(|free| body.fem.masses()[free.node as usize]).sum::<f64>()
    }

    /// Nodes at the linearization point, m.
    pub(crate) fn positions(&self) -> &[DVec3] {
        &self.positions
    }

    /// Where a node is without its motion in the step, m.
    pub(crate) fn start_of(&self, node: usize, h: f64) -> DVec3 {
        self.positions[node] - self.displaced[node] * h
    }

    /// Velocity of a node in the last product.
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
            Some(bone) => push(bone, wrench_at(impulse, self.arms[node])),
            None => set_node(out, node, get_node(out, node) + impulse),
        }
    }

    /// Adds a constant impulse on a node.
    pub(crate) fn push(&mut self, body: &FleshBody, node: usize, impulse: DVec3) {
        match body.attached_bone(node) {
            Some(bone) => self.bones.with_contacts[bone].momentum += wrench_at(impulse, self.arms[node]),
            None => self.constant[node] += impulse,
        }
    }

    /// Velocity of a fixed node whose bone has a twist.
    pub(crate) fn velocity_with(&self, twist: Motion, node: usize) -> DVec3 {
        velocity_at(twist, self.arms[node])
    }

    /// The preconditioner, and the slots of its carriers among the bodies that are solved for.
    pub(crate) fn carried(&self) -> (&TwoLevel, &[u32]) {
        (&self.preconditioner, &self.carriers.slots)
    }

    /// First half of a preconditioning: reduces the impulses on bodies by the response of the nodes.
    pub(crate) fn restrict(&mut self, r: &[f64], impulses: &mut [Force]) {
        self.carriers.restrict(&mut self.preconditioner, r, impulses);
    }

    /// Second half of a preconditioning, with the twists of the bodies.
    pub(crate) fn prolong(&mut self, r: &[f64], twists: &[Motion], z: &mut [f64]) {
        self.carriers.prolong(&mut self.preconditioner, r, twists, z);
    }
}

/// Poisson's ratio 0.45: above it the nodes of a patch are too stiff for a smoother without pressures.
const NEARLY_INCOMPRESSIBLE: f64 = 9.0;

fn preconditioner(body: &FleshBody, roles: &[NodeRole]) -> TwoLevel {
    let rest = body.fem.mesh().positions();
    let levels = TwoLevel::with_carriers(&body.pattern, rest, roles);
    let is_easy = |Lame { lambda_pa, mu_pa }: Lame| lambda_pa <= NEARLY_INCOMPRESSIBLE * mu_pa;
    if body.fem.materials().all(|material| is_easy(material.lame())) {
        return levels;
    }
    let stars: Vec<&[u32]> = body.fem.star_nodes().collect();
    if stars.is_empty() { levels } else { levels.with_pressures(&stars, rest) }
}

/// Adds the matrix of a tetrahedron, times a factor.
#[inline]
fn add_scaled(fill: &mut BlockFill<'_>, tet: usize, stiffness: &[DMat3; 10], factor: f64) {
    if factor.to_bits() == 1.0_f64.to_bits() {
        fill.add_element(tet, stiffness);
    } else {
        fill.add_element(tet, &stiffness.map(|block| block * factor));
    }
}

/// Adds cells that flow; `damped` is the factor of a region beside that which all have.
fn add_flowing(
    body: &FleshBody,
    (cells, point): (&LinearizedCells<'_>, &CellPoint<'_>),
    (fill, impulses): (&mut BlockFill<'_>, &mut ElasticImpulses),
    damped: &impl Fn(usize) -> f64,
    preconditioner: &mut TwoLevel,
) -> FemReport {
    let point = CellPoint { displaced: cells.displaced, ..*point };
    let (scale, chosen) = (point.h * (point.h + point.beta), |cell| cells.has(cell));
    for_each_flowing(&body.fem, cells.shape, Projection::Semidefinite, chosen, |place, tangent| {
        let damped = damped(body.fem.place_region(place));
        impulses.add_star(&point, tangent, damped);
        body.add_blocks(fill, place, tangent.stiffness.iter().map(|block| *block * damped));
        if let FibrePlace::Patch(star) = place {
            preconditioner.set_pressure(star, tangent.excess * scale * damped, tangent.stiffest);
        }
    })
}

/// Adds the masses of free nodes, times a factor.
fn add_masses(fill: &mut BlockFill<'_>, body: &FleshBody, factor: f64) {
    for free in body.attachments.free() {
        let node = free.node as usize;
        fill.add_mass(node, body.fem.masses()[node] * factor);
    }
}

/// Free nodes with the bone that damps them.
fn dragged(body: &FleshBody) -> impl Iterator<Item = (usize, usize)> + '_ {
    let free = body.attachments.free().iter();
    free.filter_map(|free| Some((free.node as usize, free.reference? as usize)))
}
