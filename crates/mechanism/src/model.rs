//! The immutable model: bodies, joints, forces and the elimination plan, laid out for the step.
//!
//! Three tables by consumer: [`BodyModel`] and [`JointModel`] in the user's order for set-up, measures and the
//! general joint path; [`PairModel`] in elimination order with everything the fused sweep reads, so that a
//! step streams through memory. Equal force sets are stored once. Inside, every body is
//! seen from its central frame (centre of mass, principal axes); outside, from the body frame the user chose.

use glam::{DQuat, DVec3};
use sinew_math::{Pose, PrincipalInertia};
use sinew_topology::{EliminationPlan, Graph, NONE};

use crate::loops::Extent;
use crate::{
    BodyId, BodyKind, DriveCoordinate, JointFrames, JointId, JointKind, RotationForce, ScalarForce, State,
};

/// Index of the world in body positions.
pub(crate) const WORLD: u32 = u32::MAX;

/// An immutable mechanism; many states may share it.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) bodies: Vec<BodyModel>,
    pub(crate) joints: Vec<JointModel>,
    /// Unique force sets; joints and pairs refer to them.
    pub(crate) forces: Vec<ForceSet>,
    /// Springs across joints, grouped by joint.
    pub(crate) joint_springs: Vec<PointSpring>,
    /// Springs from a body to something immovable.
    pub(crate) ground_springs: Vec<PointSpring>,
    pub(crate) pairs: Vec<PairModel>,
    /// Pair → the tree it belongs to.
    pub(crate) extents: Vec<Extent>,
    /// Joints outside the tree, those that may open last.
    pub(crate) loops: Vec<LoopModel>,
    /// Springs between bodies that no tree joint connects.
    pub(crate) loop_springs: Vec<LoopSpring>,
    /// Fingerprint of what a workspace depends on.
    pub(crate) stamp: u64,
    pub(crate) graph: Graph,
    pub(crate) plan: EliminationPlan,
    /// Variable of the graph → body.
    pub(crate) body_of_variable: Vec<u32>,
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
    pub(crate) body_names: Vec<String>,
    pub(crate) joint_names: Vec<String>,
    pub(crate) initial: State,
}

/// Mass and linear drag rate of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LinearInertia {
    pub(crate) mass: f64,
    pub(crate) damping: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BodyModel {
    pub(crate) kind: BodyKind,
    pub(crate) mass: f64,
    pub(crate) inertia: PrincipalInertia,
    /// Centre of mass and principal axes in the body frame: `body_from_central`.
    pub(crate) central: Pose,
    pub(crate) linear_damping: f64,
    pub(crate) angular_damping: f64,
}

impl BodyModel {
    /// A point of the body frame, seen from the central frame.
    pub(crate) fn central_point(&self, point: DVec3) -> DVec3 {
        self.central.rotation.conjugate() * (point - self.central.translation)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JointModel {
    pub(crate) kind: JointKind,
    pub(crate) body1: u32,
    pub(crate) body2: u32,
    /// Relative to the central frames.
    pub(crate) frames: JointFrames,
    /// Index into `Model::forces`.
    pub(crate) forces: u32,
    pub(crate) springs: (u32, u32),
    pub(crate) drives_twist: bool,
    pub(crate) drives_slide: bool,
    pub(crate) compliance: f64,
    /// Whether the continuous twist angle is needed.
    pub(crate) tracks_twist: bool,
    /// Importance outside the tree.
    pub(crate) weight: f64,
    /// Whether it was declared secondary.
    pub(crate) may_open: bool,
}

impl JointModel {
    pub(crate) fn n_driven(&self) -> usize {
        usize::from(self.drives_twist) + usize::from(self.drives_slide)
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.kind.n_rows() + self.n_driven()
    }

    /// Free directions of the pair form; soft rows are springs there and remove none.
    pub(crate) fn free_dimension(&self) -> usize {
        if self.compliance > 0.0 { 6 } else { 6 - self.n_rows() }
    }

    pub(crate) fn drives(&self, coordinate: DriveCoordinate) -> bool {
        match coordinate {
            DriveCoordinate::Twist => self.drives_twist,
            DriveCoordinate::Slide => self.drives_slide,
        }
    }
}

/// All forces of one joint.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(crate) struct ForceSet {
    pub(crate) twist: Option<ScalarForce>,
    pub(crate) slide: Option<ScalarForce>,
    pub(crate) rotation: Option<RotationForce>,
}

impl ForceSet {
    /// Number of rows that the forces need outside the tree.
    pub(crate) fn n_rows(&self) -> usize {
        let rotation = self.rotation.map_or(0, |r| 3 + usize::from(r.cone.is_some()));
        usize::from(self.twist.is_some()) + usize::from(self.slide.is_some()) + rotation
    }

    /// The motor of the joint; it has at most one.
    pub(crate) fn motor(&self) -> Option<crate::Motor> {
        self.twist.and_then(|f| f.motor).or_else(|| self.slide.and_then(|f| f.motor))
    }
}

/// A spring between two points; `body2` may be the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PointSpring {
    pub(crate) body1: u32,
    pub(crate) point1: DVec3,
    pub(crate) body2: u32,
    pub(crate) point2: DVec3,
    pub(crate) rest_length: f64,
    pub(crate) stiffness: f64,
    pub(crate) damping: f64,
}

/// A joint outside the tree: its rows are refined on top of the tree's solution.
#[derive(Clone, Debug)]
pub(crate) struct LoopModel {
    pub(crate) joint: u32,
    /// Pairs of its bodies 1 and 2, `NONE` where forces do not move them.
    pub(crate) ports: [u32; 2],
    /// What the geometric stiffness needs of the two ends.
    pub(crate) ends: [Anchor; 2],
    /// Only ever opened by contradiction or budget, never in favour of a joint that may open.
    pub(crate) is_primary: bool,
    /// A plain ball: three rows in world axes.
    pub(crate) is_point: bool,
}

/// A spring outside the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopSpring {
    pub(crate) spring: PointSpring,
    pub(crate) ports: [u32; 2],
}

/// How a pair is linearized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    /// A body without a tree joint.
    FreeRoot,
    /// Hinge, fused.
    Hinge,
    /// Ball, fused.
    Ball,
    /// Anything, through the row library.
    General,
}

/// A joint's end on a body.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Anchor {
    /// Length of the arm, m; zero where the joint transmits no force.
    pub(crate) reach: f64,
    /// Smallest inertia of the body about the anchor, kg·m².
    pub(crate) inertia: f64,
}

/// A body and its tree joint, as the sweep reads them.
#[derive(Clone, Debug)]
pub(crate) struct PairModel {
    pub(crate) body: u32,
    /// Body on the other side, `WORLD` if none.
    pub(crate) parent_body: u32,
    /// Position of the parent pair, `NONE` at a root.
    pub(crate) parent: u32,
    /// `WORLD` at a free root.
    pub(crate) joint: u32,
    pub(crate) path: Path,
    /// Free dimension.
    pub(crate) free: u8,
    /// The body is the joint's body 2.
    pub(crate) flipped: bool,
    /// First of its parent's children to be eliminated.
    pub(crate) first_child: bool,
    pub(crate) has_children: bool,
    /// The hinge has forces beyond spring and damper.
    pub(crate) complex: bool,
    /// The hinge has forces on its twist angle.
    pub(crate) tracks_twist: bool,
    /// The body has no joint at all.
    pub(crate) spins_free: bool,
    pub(crate) forces: u32,
    pub(crate) mass: f64,
    pub(crate) inertia: PrincipalInertia,
    pub(crate) linear_damping: f64,
    pub(crate) angular_damping: f64,
    /// Anchor on the body and on the parent, in their central frames.
    pub(crate) point: DVec3,
    pub(crate) parent_point: DVec3,
    /// What the geometric stiffness needs of the two ends.
    pub(crate) own_end: Anchor,
    pub(crate) parent_end: Anchor,
    /// Hinge axes and reference directions on the body and on the parent.
    pub(crate) axis: DVec3,
    pub(crate) parent_axis: DVec3,
    pub(crate) reference: DVec3,
    pub(crate) parent_reference: DVec3,
    /// `Q_a Q_bᵀ` of a ball's frames on the body and on the parent.
    pub(crate) frame_from_parent_frame: DQuat,
    /// Spring of the fused paths, N·m/rad, N·m·s/rad, rad.
    pub(crate) stiffness: f64,
    pub(crate) damping: f64,
    pub(crate) rest: f64,
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
        let looped = self.plan.loop_constraints().iter().map(|c| self.joints[c.index()].n_rows()).sum();
        (total - looped, looped)
    }

    /// Number of multipliers of the loops, including those of forces outside the tree: the length of
    /// [`crate::LoopState::forces`].
    pub fn n_loop_multipliers(&self) -> usize {
        let joints: usize = self.loops.iter().map(|l| self.loop_multipliers(l)).sum();
        joints + 3 * self.loop_springs.len()
    }

    pub(crate) fn loop_multipliers(&self, looped: &LoopModel) -> usize {
        let joint = &self.joints[looped.joint as usize];
        joint.n_rows() + self.forces[joint.forces as usize].n_rows()
    }

    /// The elimination plan, for those who want to look.
    pub fn plan(&self) -> &EliminationPlan {
        &self.plan
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

    /// The body called `name`.
    pub fn body(&self, name: &str) -> Option<BodyId> {
        self.body_names.iter().position(|n| n == name).map(BodyId::from_index)
    }

    /// The joint called `name`.
    pub fn joint(&self, name: &str) -> Option<JointId> {
        self.joint_names.iter().position(|n| n == name).map(JointId::from_index)
    }

    /// Name of a body; empty if it has none.
    pub fn body_name(&self, body: BodyId) -> &str {
        self.body_names.get(body.index()).map_or("", String::as_str)
    }

    /// Name of a joint; empty if it has none.
    pub fn joint_name(&self, joint: JointId) -> &str {
        self.joint_names.get(joint.index()).map_or("", String::as_str)
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

    /// World positions of the two anchor points of a joint.
    pub fn joint_anchors(&self, state: &State, joint: JointId) -> (DVec3, DVec3) {
        let j = &self.joints[joint.index()];
        let (pose1, pose2) = (pose_of(&state.poses, j.body1), pose_of(&state.poses, j.body2));
        (pose1.transform_point(j.frames.point1), pose2.transform_point(j.frames.point2))
    }

    /// Pose of the body frame (not of the centre of mass), `world_from_body`.
    pub fn body_pose(&self, state: &State, body: BodyId) -> Pose {
        state.poses[body.index()].compose(&self.bodies[body.index()].central.inverse())
    }

    /// Moves the body frame to a pose, and forgets the history of the second-order scheme.
    pub fn set_body_pose(&self, state: &mut State, body: BodyId, world_from_body: Pose) {
        state.poses[body.index()] = self.central_pose(body.index(), world_from_body);
        state.forget_history();
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
            + (self.joint_springs.len() + self.ground_springs.len()) * size_of::<PointSpring>()
            + self.pairs.len() * (size_of::<PairModel>() + size_of::<Extent>() + 16 + 4 + 4 + 4 + 2 * 12 + 8)
            + self.loops.len() * size_of::<LoopModel>()
            + self.loop_springs.len() * size_of::<LoopSpring>()
            + (self.body_names.len() + self.joint_names.len()) * size_of::<String>()
    }
}

/// Pose of a body position; the world is the identity.
#[inline]
pub(crate) fn pose_of(poses: &[Pose], body: u32) -> Pose {
    if body == WORLD { Pose::IDENTITY } else { poses[body as usize] }
}

const _: () = assert!(WORLD == NONE);
