//! The records that a model stores of its bodies, joints and springs.
//!
//! [`BodyModel`] and [`JointModel`] are in the user's order, for set-up, measures and the general joint path. [`PairModel`] is in
//! elimination order and holds everything the fused sweep reads, so that a step streams through memory. Points and frames are
//! relative to central frames (centre of mass, principal axes).

use glam::{DQuat, DVec3};
use sinew_math::{DriveCoordinate, JointKind, Motion, Pose, PrincipalInertia};
use sinew_topology::NONE;

use crate::forces::PointSpring;
use crate::{BodyKind, BreakLoad, JointFrames, PairState, RelativeState, Spring};

/// Index of the world in body positions.
pub(crate) const WORLD: u32 = u32::MAX;

/// Mass and linear drag rate of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LinearInertia {
    /// kg; 0 for bodies that forces do not move.
    pub(crate) mass: f64,
    /// 1/s.
    pub(crate) damping: f64,
}

/// A body in the user's order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BodyModel {
    pub(crate) kind: BodyKind,
    /// kg; 0 for bodies that forces do not move.
    pub(crate) mass: f64,
    /// Principal moments about the centre of mass, kg·m².
    pub(crate) inertia: PrincipalInertia,
    /// Centre of mass and principal axes in the body frame: `body_from_central`.
    pub(crate) central: Pose,
    /// Drag rates, 1/s.
    pub(crate) linear_damping: f64,
    pub(crate) angular_damping: f64,
}

impl BodyModel {
    /// A point of the body frame, seen from the central frame.
    pub(crate) fn central_point(&self, point: DVec3) -> DVec3 {
        self.central.rotation.conjugate() * (point - self.central.translation)
    }
}

/// A joint in the user's order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JointModel {
    pub(crate) kind: JointKind,
    /// The child.
    pub(crate) body1: u32,
    /// The parent; `WORLD` if there is none.
    pub(crate) body2: u32,
    /// Relative to the central frames.
    pub(crate) frames: JointFrames,
    /// Index into `Model::forces`.
    pub(crate) forces: u32,
    /// Range of `Model::springs` across this joint.
    pub(crate) springs: (u32, u32),
    pub(crate) drives_twist: bool,
    pub(crate) drives_slide: bool,
    /// Whether the input may give it laws.
    pub(crate) is_actuated: bool,
    /// m/N and rad/(N·m); 0 is rigid.
    pub(crate) compliance: f64,
    /// Whether the continuous twist angle is needed.
    pub(crate) tracks_twist: bool,
    /// Importance outside the tree.
    pub(crate) weight: f64,
    /// Whether it was declared secondary.
    pub(crate) may_open: bool,
    pub(crate) breaks_at: Option<BreakLoad>,
}

impl JointModel {
    /// Number of driven coordinates.
    pub(crate) fn n_driven(&self) -> usize {
        usize::from(self.drives_twist) + usize::from(self.drives_slide)
    }

    /// Number of rows, drives included.
    pub(crate) fn n_rows(&self) -> usize {
        self.kind.n_rows() + self.n_driven()
    }

    /// Free directions of the pair form; soft rows are springs there and remove none.
    pub(crate) fn free_dimension(&self) -> usize {
        if self.compliance > 0.0 { 6 } else { 6 - self.n_rows() }
    }

    /// The driven coordinates, twist first.
    pub(crate) fn driven(&self) -> impl Iterator<Item = DriveCoordinate> + use<> {
        let twist = self.drives_twist.then_some(DriveCoordinate::Twist);
        twist.into_iter().chain(self.drives_slide.then_some(DriveCoordinate::Slide))
    }

    /// Anchors on the two bodies at some poses, world.
    #[inline]
    pub(crate) fn anchors(&self, poses: &[Pose]) -> [DVec3; 2] {
        let frames = &self.frames;
        let anchor = |body: u32, point: DVec3| pose_of(poses, body).transform_point(point);
        [anchor(self.body1, frames.point1), anchor(self.body2, frames.point2)]
    }

    /// Frame 1 relative to frame 2, the bodies at some poses and moving as told.
    #[inline]
    pub(crate) fn relative(
        &self,
        poses: &[Pose],
        motion: impl Fn(u32) -> Motion,
        previous_twist: f64,
    ) -> RelativeState {
        RelativeState::new(&self.frames, &self.pair(poses, motion, previous_twist))
    }

    /// The same without velocity products.
    #[inline]
    pub(crate) fn relative_without_bias(
        &self,
        poses: &[Pose],
        motion: impl Fn(u32) -> Motion,
        previous_twist: f64,
    ) -> RelativeState {
        RelativeState::without_bias(&self.frames, &self.pair(poses, motion, previous_twist))
    }

    /// The same of bodies at rest.
    #[inline]
    pub(crate) fn relative_at_rest(&self, poses: &[Pose], previous_twist: f64) -> RelativeState {
        let (pose1, pose2) = (pose_of(poses, self.body1), pose_of(poses, self.body2));
        RelativeState::at_rest(&self.frames, [&pose1, &pose2], previous_twist)
    }

    #[inline]
    fn pair(&self, poses: &[Pose], motion: impl Fn(u32) -> Motion, previous_twist: f64) -> PairState {
        let (pose1, pose2) = (pose_of(poses, self.body1), pose_of(poses, self.body2));
        let (motion1, motion2) = (motion(self.body1), motion(self.body2));
        PairState { pose1, pose2, motion1, motion2, previous_twist }
    }

    /// Whether a coordinate is driven.
    pub(crate) fn drives(&self, coordinate: DriveCoordinate) -> bool {
        match coordinate {
            DriveCoordinate::Twist => self.drives_twist,
            DriveCoordinate::Slide => self.drives_slide,
        }
    }
}

/// A joint outside the tree: its rows are refined on top of the tree's solution.
#[derive(Clone, Debug)]
pub(crate) struct LoopModel {
    pub(crate) joint: u32,
    /// Pairs of its bodies 1 and 2, `NONE` where forces do not move them.
    pub(crate) ports: [u32; 2],
    /// What the geometric stiffness needs of the two ends.
    pub(crate) ends: [AnchorInertia; 2],
    /// Only ever opened by contradiction or budget, never in favour of a joint that may open.
    pub(crate) is_primary: bool,
    /// A plain ball: three rows in world axes.
    pub(crate) is_point: bool,
}

/// A spring outside the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopSpring {
    pub(crate) spring: PointSpring,
    /// Pairs of its two bodies.
    pub(crate) ports: [u32; 2],
}

/// How a pair is linearized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PairPath {
    /// A body without a tree joint.
    FreeRoot,
    /// Hinge, fused.
    Hinge,
    /// Ball, fused.
    Ball,
    /// Anything, through the row library.
    General,
}

/// What the geometric stiffness needs of a joint's anchor on a body.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AnchorInertia {
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
    pub(crate) path: PairPath,
    /// Free dimension.
    pub(crate) free: u8,
    /// The body is the joint's body 2.
    pub(crate) flipped: bool,
    /// First of its parent's children to be eliminated.
    pub(crate) first_child: bool,
    /// Loads of children wait for it on the stack.
    pub(crate) has_children: bool,
    /// The body has no joint at all.
    pub(crate) spins_free: bool,
    /// It turns about an axis that nothing moves and that is no principal axis.
    pub(crate) is_skew: bool,
    pub(crate) inertial: BodyInertia,
    pub(crate) forces: PairForces,
    /// The joint on the body and on the parent, in their central frames.
    pub(crate) own: JointSide,
    pub(crate) other: JointSide,
    /// `Q_a Q_bᵀ` of a ball's frames on the body and on the parent.
    pub(crate) frame_from_parent_frame: DQuat,
}

/// The bodies that move with a coordinate of a joint.
#[derive(Clone, Debug)]
pub(crate) struct Carried {
    pub(crate) joint: u32,
    pub(crate) along: DriveCoordinate,
    pub(crate) bodies: Vec<u32>,
    /// 1 if they are on the side of body 1, else −1.
    pub(crate) side: f64,
}

/// A body that may spin about an axis of symmetry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RotorModel {
    pub(crate) body: u32,
    pub(crate) pair: u32,
    /// Unit, central frame.
    pub(crate) axis: DVec3,
    /// Moment about the axis, kg·m².
    pub(crate) polar: f64,
    /// Moment about the others, kg·m².
    pub(crate) equator: f64,
}

/// Mass and drag of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BodyInertia {
    /// kg.
    pub(crate) mass: f64,
    /// Principal moments, kg·m².
    pub(crate) inertia: PrincipalInertia,
    /// Drag rates, 1/s.
    pub(crate) linear_damping: f64,
    pub(crate) angular_damping: f64,
}

/// Forces of a tree joint.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PairForces {
    /// Index into `Model::forces`.
    pub(crate) set: u32,
    /// Spring of the fused paths; a ball's has no rest angle.
    pub(crate) spring: Spring,
    /// The hinge has forces on its twist angle.
    pub(crate) tracks_twist: bool,
    /// The hinge has forces beyond spring and damper.
    pub(crate) is_complex: bool,
}

/// One side of a tree joint.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JointSide {
    /// Anchor, m.
    pub(crate) point: DVec3,
    /// For the geometric stiffness.
    pub(crate) anchor: AnchorInertia,
    /// Hinge axis and reference direction.
    pub(crate) axis: DVec3,
    pub(crate) reference: DVec3,
}

impl PairModel {
    /// Whether the fused path has a spring or damper.
    #[inline]
    pub(crate) fn has_spring(&self) -> bool {
        self.forces.spring.stiffness != 0.0 || self.forces.spring.damping != 0.0
    }
}

/// Pose of a body position; the world is the identity.
#[inline]
pub(crate) fn pose_of(poses: &[Pose], body: u32) -> Pose {
    if body == WORLD { Pose::IDENTITY } else { poses[body as usize] }
}

/// Twist of a body position; the world is at rest.
#[inline]
pub(crate) fn motion_of(motions: &[Motion], body: u32) -> Motion {
    if body == WORLD { Motion::ZERO } else { motions[body as usize] }
}

const _: () = assert!(WORLD == NONE);

/// Weight of a joint that may open, next to one that may not.
pub(crate) const SECONDARY: f64 = 1e-2;

impl LoopModel {
    /// Weight among the loops.
    pub(crate) fn weight(&self, joint: &JointModel) -> f64 {
        joint.weight * if self.is_primary { 1.0 } else { SECONDARY }
    }
}
