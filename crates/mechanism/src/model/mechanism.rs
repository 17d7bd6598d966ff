//! The immutable model: bodies, joints, forces and the elimination plan, laid out for the step (`records`).
//!
//! Equal force sets are stored once. Inside, a body is described in its central frame (centre of mass, principal axes);
//! outside, in the body frame of the user.

use std::sync::Arc;

use glam::DVec3;
use sinew_math::{JointKind, Motion, Pose};
use sinew_solvers::{DIRECT_ROWS, LoopMethod};
use sinew_topology::{EliminationPlan, Graph, NONE};

use crate::forces::{ForceSet, PointSpring};
use crate::joints::fading_twist_gradient;
use crate::model::{
    BodyModel, Carried, Islands, JointModel, LinearInertia, LoopModel, LoopSpring, NameTable, PairModel,
    RotorModel, TransmissionModel, TreeExtent, WORLD, pose_of,
};
use crate::{BodyId, BodyKind, BreakLoad, JointFrames, JointId, State, relative_rotation};

/// An immutable mechanism; many states may share it.
#[derive(Clone, Debug)]
pub struct Model {
    /// In the user's order.
    pub(crate) bodies: Vec<BodyModel>,
    pub(crate) joints: Vec<JointModel>,
    /// Unique force sets; joints and pairs refer to them.
    pub(crate) forces: Vec<ForceSet>,
    pub(crate) springs: ModelSprings,
    /// Bodies with their tree joints in elimination order: children before parents.
    pub(crate) pairs: Vec<PairModel>,
    /// What follows from the other tables.
    pub(crate) derived: DerivedTables,
    /// Joints outside the tree, those that may open last.
    pub(crate) loops: Vec<LoopModel>,
    /// Fingerprint of what a workspace depends on.
    pub(crate) stamp: u64,
    pub(crate) structure: Arc<ModelStructure>,
    /// Body → position in the pair table, `NONE` if forces do not move it.
    pub(crate) pair_of_body: Vec<u32>,
    /// Body → what its linear momentum balance needs.
    pub(crate) linear: Vec<LinearInertia>,
    /// Body → it has no joint at all, so its rotation can be integrated on its own.
    pub(crate) spins_free: Vec<bool>,
    /// Bodies that the input moves.
    pub(crate) kinematic: Vec<u32>,
    /// Tree joints with a continuous twist angle, and their pairs.
    pub(crate) twist_joints: Vec<(u32, u32)>,
    pub(crate) names: Arc<ModelNames>,
    /// What the specs described.
    pub(crate) initial: State,
}

/// Most rows of overconstrained loops that are solved with a dense matrix, which tells dependent rows apart best.
const DENSE_ROWS: usize = 128;

/// Springs between points, by how they are solved, and what else acts between bodies without being a joint.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelSprings {
    /// Across tree joints, grouped by joint.
    pub(crate) across_joints: Vec<PointSpring>,
    /// From a body to something immovable.
    pub(crate) to_ground: Vec<PointSpring>,
    /// Between bodies that no tree joint connects.
    pub(crate) in_loops: Vec<LoopSpring>,
    /// Ropes and gears, one row each.
    pub(crate) transmissions: Vec<TransmissionModel>,
}

/// What follows from the other tables of a model.
#[derive(Clone, Debug, Default)]
pub(crate) struct DerivedTables {
    /// Pair → the tree it belongs to.
    pub(crate) extents: Vec<TreeExtent>,
    /// Per joint: size of its bodies, m, which its errors are compared with; infinite for joints that may open.
    pub(crate) joint_sizes: Vec<f64>,
    /// The smallest of them, m.
    pub(crate) smallest_size: f64,
    /// Per spring, in the order of [`ModelSprings::iter`]: stiffness over the reduced mass of its bodies, 1/s², and their size, m.
    pub(crate) spring_rates: Vec<(f64, f64)>,
    /// Joints with bounded forces.
    pub(crate) bounded_joints: Vec<u32>,
    /// Joints that may break.
    pub(crate) breakable_joints: Vec<u32>,
    /// Joints with limits along twist or slide, but no bounded forces.
    pub(crate) limited_joints: Vec<u32>,
    /// Whether a joint with bounded forces is outside the tree.
    pub(crate) has_bounded_loops: bool,
    /// Joints with forces inside, or that yield.
    pub(crate) elastic_joints: Vec<u32>,
    /// Joints whose anchors move apart along some directions and not along others.
    pub(crate) sliding_joints: Vec<u32>,
    /// Per rope or gear: a body of it that forces move, if there is one.
    pub(crate) rope_bodies: Vec<u32>,
    /// Bodies that are connected.
    pub(crate) islands: Islands,
    /// Whether its loops are overconstrained and solved with a dense matrix.
    pub(crate) is_overconstrained: bool,
    /// Whether its loops are so many that they may be solved as a graph.
    pub(crate) has_many_loops: bool,
    /// Bodies that may spin about an axis of symmetry.
    pub(crate) rotors: Vec<RotorModel>,
    /// What the motors carry that compensate gravity.
    pub(crate) carried: Vec<Carried>,
}

impl ModelSprings {
    /// All springs.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &PointSpring> + Clone {
        let in_loops = self.in_loops.iter().map(|s| &s.spring);
        self.across_joints.iter().chain(&self.to_ground).chain(in_loops)
    }
}

/// The kinematic graph, whose variables are the dynamic bodies, and its elimination plan.
#[derive(Clone, Debug)]
pub(crate) struct ModelStructure {
    pub(crate) graph: Graph,
    /// Which joint each body is eliminated with, and in which order.
    pub(crate) plan: EliminationPlan,
    /// Variable of the graph → body.
    pub(crate) body_of_variable: Vec<u32>,
}

/// Names of bodies, joints, ropes and gears.
#[derive(Clone, Debug)]
pub(crate) struct ModelNames {
    pub(crate) bodies: NameTable,
    pub(crate) joints: NameTable,
    pub(crate) transmissions: NameTable,
}

impl Model {
    /// Number of bodies of all kinds.
    pub fn n_bodies(&self) -> usize {
        self.bodies.len()
    }

    /// Number of joints.
    pub fn n_joints(&self) -> usize {
        self.joints.len()
    }

    /// Number of dynamic bodies.
    pub fn n_dynamic(&self) -> usize {
        self.pairs.len()
    }

    /// Number of scalar rows in the tree and in the loop set.
    pub fn n_rows(&self) -> (usize, usize) {
        let total: usize = self.joints.iter().map(JointModel::n_rows).sum();
        let looped =
            self.structure.plan.loop_constraints().iter().map(|c| self.joints[c.index()].n_rows()).sum();
        (total - looped, looped)
    }

    /// Number of multipliers of the loops, including those of forces outside the tree: the length of
    /// [`crate::LoopState::forces`].
    pub fn n_loop_multipliers(&self) -> usize {
        let joints: usize = self.loops.iter().map(|l| self.loop_multipliers(l)).sum();
        joints + 3 * self.springs.in_loops.len() + self.n_transmission_rows()
    }

    /// Whether its loops have at least as many rows as the tree has freedoms, so that some of them depend on each other if it moves at
    /// all: more than are solved directly in any case, but few enough for a dense matrix.
    pub(crate) fn find_overconstrained(&self) -> bool {
        let n_rows: usize = self.loops.iter().map(|looped| self.joints[looped.joint as usize].n_rows()).sum();
        let freedoms: usize = self.pairs.iter().map(|pair| usize::from(pair.free)).sum();
        n_rows >= freedoms && (DIRECT_ROWS + 1..=DENSE_ROWS).contains(&self.n_loop_multipliers())
    }

    /// Whether its loops are so many that they may be solved as one graph, which joins two bodies at a time; ropes and gears hold more.
    pub(crate) fn find_many_loops(&self) -> bool {
        let is_few = self.n_loop_multipliers() <= DIRECT_ROWS;
        !(is_few || self.n_transmissions() > 0 || self.find_overconstrained())
    }

    /// The method for its loops where one is asked for.
    pub(crate) fn loop_method(&self, asked: LoopMethod) -> LoopMethod {
        let is_dense = asked == LoopMethod::Auto && self.derived.is_overconstrained;
        if is_dense { LoopMethod::Direct } else { asked }
    }

    /// Springs across a tree joint.
    pub(crate) fn springs_across(&self, joint: &JointModel) -> &[PointSpring] {
        &self.springs.across_joints[joint.springs.0 as usize..joint.springs.1 as usize]
    }

    /// Multipliers of one joint outside the tree: those of its rows, then those of its forces.
    pub(crate) fn loop_multipliers(&self, looped: &LoopModel) -> usize {
        let joint = &self.joints[looped.joint as usize];
        joint.n_rows() + self.forces[joint.forces as usize].n_rows()
    }

    /// Whether a joint of it may break.
    pub fn may_break(&self) -> bool {
        !self.derived.breakable_joints.is_empty()
    }

    /// The load that breaks a joint; none if nothing does.
    pub fn breaks_at(&self, joint: JointId) -> Option<BreakLoad> {
        self.joints[joint.index()].breaks_at
    }

    /// The elimination plan, for those who want to look.
    pub fn plan(&self) -> &EliminationPlan {
        &self.structure.plan
    }

    /// Whether it has the bodies, the joints, the plan and the tables of another model, as [`MechanismBuilder::build_like`] makes them: a workspace of one
    /// fits the other.
    ///
    /// [`MechanismBuilder::build_like`]: crate::MechanismBuilder::build_like
    pub fn is_like(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.structure, &other.structure) && self.stamp == other.stamp
    }

    /// The state the specs described.
    pub fn initial_state(&self) -> State {
        self.initial.clone()
    }

    /// All bodies.
    pub fn bodies(&self) -> impl ExactSizeIterator<Item = BodyId> + use<> {
        (0..self.bodies.len()).map(BodyId::from_index)
    }

    /// All joints.
    pub fn joints(&self) -> impl ExactSizeIterator<Item = JointId> + use<> {
        (0..self.joints.len()).map(JointId::from_index)
    }

    /// The body called `name`, in constant time.
    pub fn body(&self, name: &str) -> Option<BodyId> {
        self.names.bodies.find(name).map(BodyId::from_index)
    }

    /// The joint called `name`, in constant time.
    pub fn joint(&self, name: &str) -> Option<JointId> {
        self.names.joints.find(name).map(JointId::from_index)
    }

    /// Name of a body; empty if it has none.
    pub fn body_name(&self, body: BodyId) -> &str {
        self.names.bodies.get(body.index())
    }

    /// Name of a joint; empty if it has none.
    pub fn joint_name(&self, joint: JointId) -> &str {
        self.names.joints.get(joint.index())
    }

    /// Who moves a body.
    pub fn body_kind(&self, body: BodyId) -> BodyKind {
        self.bodies[body.index()].kind
    }

    /// Mass of a body, kg; 0 for bodies that forces do not move.
    pub fn body_mass(&self, body: BodyId) -> f64 {
        self.bodies[body.index()].mass
    }

    /// Centre of mass in the body frame, m.
    pub fn center_of_mass(&self, body: BodyId) -> DVec3 {
        self.bodies[body.index()].central.translation
    }

    /// The frame of principal axes at the centre of mass, `body_from_central`: that of the poses in a [`State`].
    pub fn central_frame(&self, body: BodyId) -> Pose {
        self.bodies[body.index()].central
    }

    /// Principal moments of inertia of a body about its centre of mass, along the axes of its central frame, kg·m².
    pub fn principal_moments(&self, body: BodyId) -> DVec3 {
        self.bodies[body.index()].inertia.moments
    }

    /// Number of the island that joints, springs, ropes and gears connect a body with; none for a body that nothing is connected with.
    pub fn island_of(&self, body: BodyId) -> Option<usize> {
        self.derived.islands.of_bodies([body.index() as u32])
    }

    /// The frames of a joint, in the central frames of its bodies.
    pub fn joint_frames(&self, joint: JointId) -> JointFrames {
        self.joints[joint.index()].frames
    }

    /// Where a body stands in the order of elimination, which is its port for a [`crate::Companion`]; `None` if forces do not
    /// move it.
    pub fn port_of(&self, body: BodyId) -> Option<u32> {
        let port = self.pair_of_body[body.index()];
        (port != NONE).then_some(port)
    }

    /// Kind of a joint.
    pub fn joint_kind(&self, joint: JointId) -> JointKind {
        self.joints[joint.index()].kind
    }

    /// Bodies 1 and 2 of a joint; `None` is the world.
    pub fn joint_bodies(&self, joint: JointId) -> (Option<BodyId>, Option<BodyId>) {
        let j = &self.joints[joint.index()];
        let id = |b: u32| (b != WORLD).then(|| BodyId::from_index(b as usize));
        (id(j.body1), id(j.body2))
    }

    /// World positions of the two anchors of a joint: origins of frames 1 and 2 (m).
    pub fn joint_anchors(&self, state: &State, joint: JointId) -> (DVec3, DVec3) {
        self.joints[joint.index()].anchors(&state.poses).into()
    }

    /// Pose of the body frame (not of the centre of mass), `world_from_body`.
    pub fn body_pose(&self, state: &State, body: BodyId) -> Pose {
        state.poses[body.index()].compose(&self.bodies[body.index()].central.inverse())
    }

    /// Moves the body frame to a pose, `world_from_body`, and forgets the history of the second-order scheme. The twist at the centre of mass
    /// stays.
    pub fn set_body_pose(&self, state: &mut State, body: BodyId, world_from_body: Pose) {
        state.poses[body.index()] = self.central_pose(body.index(), world_from_body);
        state.forget_history();
    }

    /// Rate of the twist angle of a joint, rad/s, as its forces see it.
    pub(crate) fn twist_rate(
        &self,
        poses: &[Pose],
        joint: &JointModel,
        motion: impl Fn(u32) -> Motion,
    ) -> f64 {
        let (pose1, pose2) = (pose_of(poses, joint.body1), pose_of(poses, joint.body2));
        let gradient = if self.forces[joint.forces as usize].leans {
            fading_twist_gradient(relative_rotation(&joint.frames, &pose1, &pose2).x_axis)
        } else {
            DVec3::X
        };
        (pose2.rotation * (joint.frames.rotation2 * gradient))
            .dot(motion(joint.body1).angular - motion(joint.body2).angular)
    }

    /// Origin of the body frame at a central pose.
    pub(crate) fn body_origin(&self, pose: &Pose, body: usize) -> DVec3 {
        pose.transform_point(self.bodies[body].central.inverse().translation)
    }

    /// Central pose from the pose of the body frame.
    pub(crate) fn central_pose(&self, body: usize, world_from_body: Pose) -> Pose {
        world_from_body.compose(&self.bodies[body].central)
    }

    /// Bytes held by all tables of this model, for the memory report; without the text of names.
    pub fn bytes(&self) -> usize {
        use std::mem::size_of;
        self.bodies.len() * (size_of::<BodyModel>() + size_of::<Pose>() + 6 * 8)
            + self.joints.len() * (size_of::<JointModel>() + 8 + 20)
            + self.forces.len() * size_of::<ForceSet>()
            + (self.springs.across_joints.len() + self.springs.to_ground.len()) * size_of::<PointSpring>()
            + self.pairs.len()
                * (size_of::<PairModel>() + size_of::<TreeExtent>() + 16 + 4 + 4 + 4 + 2 * 12 + 8)
            + self.loops.len() * size_of::<LoopModel>()
            + self.springs.in_loops.len() * size_of::<LoopSpring>()
            + self.springs.transmissions.len() * size_of::<TransmissionModel>()
            + self.names.bodies.bytes()
            + self.names.joints.bytes()
            + self.names.transmissions.bytes()
    }
}

impl State {
    /// Whether this state has the bodies and joints of a model.
    pub fn fits(&self, model: &Model) -> bool {
        let n = model.n_bodies();
        let past = [self.history.motions.len(), self.history.increments.len()];
        [self.poses.len(), self.motions.len(), self.pulls.len()] == [n; 3]
            && self.twists.len() == model.n_joints()
            && self.loops.forces.len() == model.n_loop_multipliers()
            && self.loops.pulls.len() == model.loops.len()
            && (past == [n; 2] || (self.history.step <= 0.0 && past.into_iter().all(|m| m == 0 || m == n)))
    }
}
