//! From documents to the quantities of `sinew-math`.
//!
//! Frames: `world_from_body` poses of body frames, joint frames in body coordinates, x as the main axis.
//! Units as in the documents. Documents that pass `validate` always resolve to finite values; zero axes and
//! quaternions, which it refuses, give the identity.

use glam::{DMat3, DQuat, DVec3};
use sinew_math::{DriveCoordinate, MassProperties, Pose, Sym3, exp_so3, mat3_to_quat, normalize_quat};

use crate::doc::{
    BodyDoc, CoordinateDoc, EndDoc, FrameDoc, InertiaDoc, JointDoc, JointFramesDoc, LocalFramesDoc, MassDoc,
    MassPropertiesDoc, PoseDoc, RopeDoc, RotationDoc,
};

impl RotationDoc {
    /// The rotation as a unit quaternion.
    pub fn to_quat(&self) -> DQuat {
        match *self {
            Self::Identity => DQuat::IDENTITY,
            Self::Vector(vector) => exp_so3(vector),
            Self::AxisAngle { axis, angle } => exp_so3(axis.normalize_or_zero() * angle),
            Self::Quaternion { w, x, y, z } => {
                let q = DQuat::from_xyzw(x, y, z, w);
                if q.length_squared() > 0.0 { normalize_quat(q) } else { DQuat::IDENTITY }
            }
        }
    }
}

impl PoseDoc {
    /// `outer_from_frame`, where outer is the frame the pose is written in.
    pub fn to_pose(&self) -> Pose {
        Pose::new(self.rotation.to_quat(), self.position)
    }
}

impl FrameDoc {
    /// `outer_from_joint`: origin at the anchor, x along the main axis, y towards the reference.
    pub fn to_pose(&self) -> Pose {
        let x = self.axis.normalize_or(DVec3::X);
        let reference = self.reference.unwrap_or_else(|| across(x));
        let y = (reference - x * x.dot(reference)).normalize_or_zero();
        Pose::new(mat3_to_quat(&DMat3::from_cols(x, y, x.cross(y))), self.anchor)
    }
}

/// The coordinate axis that follows, in the cycle x y z, the one nearest to `x`.
fn across(x: DVec3) -> DVec3 {
    let along = x.abs();
    if along.x >= along.y && along.x >= along.z {
        DVec3::Y
    } else if along.y >= along.z {
        DVec3::Z
    } else {
        DVec3::X
    }
}

impl JointFramesDoc {
    /// `(child_from_joint, parent_from_joint)` in body frames, given the initial poses of the bodies
    /// (identity for the world).
    pub fn in_bodies(&self, world_from_child: &Pose, world_from_parent: &Pose) -> (Pose, Pose) {
        match self {
            Self::World(frame) => {
                let world_from_joint = frame.to_pose();
                (
                    world_from_child.inverse().compose(&world_from_joint),
                    world_from_parent.inverse().compose(&world_from_joint),
                )
            }
            Self::Local(frames) => (frames.child.to_pose(), frames.parent.to_pose()),
        }
    }

    /// Whether it is a frame of the world; one that is none is left for the rules of scenes to refuse.
    pub fn is_in_world(&self) -> bool {
        match self {
            Self::World(frame) => frame.anchor.is_finite() && frame.axis.try_normalize().is_some(),
            Self::Local(_) => false,
        }
    }

    /// The same frames written on the bodies, which are at these poses (identity for the world): a joint that is made of them joins the same points
    /// of its bodies wherever those are.
    #[must_use]
    pub fn on_bodies(&self, world_from_child: &Pose, world_from_parent: &Pose) -> Self {
        let (child, parent) = match self {
            Self::Local(_) => return self.clone(),
            Self::World(_) => self.in_bodies(world_from_child, world_from_parent),
        };
        let frame = |pose: Pose| FrameDoc {
            anchor: pose.translation,
            axis: pose.rotation * DVec3::X,
            reference: Some(pose.rotation * DVec3::Y),
        };
        Self::Local(LocalFramesDoc { child: frame(child), parent: frame(parent) })
    }
}

impl RopeDoc {
    /// Length of its path (m) with the bodies at the poses that `pose` gives; ends on bodies without one count as points of the world.
    pub fn path_length(&self, pose: impl Fn(&str) -> Option<Pose>) -> f64 {
        let place = |end: &EndDoc| match end {
            EndDoc::World(point) => *point,
            EndDoc::Body { name, point } => pose(name).map_or(*point, |pose| pose.transform_point(*point)),
        };
        self.path.windows(2).map(|pair| place(&pair[0]).distance(place(&pair[1]))).sum()
    }
}

/// What the forces of a joint act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForceCoordinate {
    /// Angle about the main axis (rad).
    Angle,
    /// Slide along the main axis (m).
    Slide,
    /// The whole relative rotation (rad).
    Rotation,
}

impl JointDoc {
    /// What the forces of this joint act on; `None` if its kind has no such coordinate, or not the one
    /// that `coordinate` asks for.
    pub fn force_coordinate(&self) -> Option<ForceCoordinate> {
        use ForceCoordinate::{Angle, Rotation, Slide};
        if self.free.is_some() {
            return None;
        }
        let angle = self.kind.can_drive(DriveCoordinate::Twist).then_some(Angle);
        let slide = self.kind.can_drive(DriveCoordinate::Slide).then_some(Slide);
        match self.coordinate {
            None => angle.or(slide).or_else(|| self.kind.accepts_rotation_force().then_some(Rotation)),
            Some(CoordinateDoc::Angle) => angle,
            Some(CoordinateDoc::Slide) => slide,
        }
    }
}

impl BodyDoc {
    /// Mass, centre of mass and inertia in the body frame; zero if nothing gives the body mass.
    pub fn mass_properties(&self) -> MassProperties {
        let filled = |density| {
            let parts: Vec<_> =
                self.shapes.iter().map(|s| (s.at.to_pose(), s.solid.mass_properties(density))).collect();
            MassProperties::combine(&parts)
        };
        match self.mass {
            MassDoc::Density(density) => filled(density),
            MassDoc::Total(mass) if !self.shapes.is_empty() => filled(1.0).with_mass(mass),
            MassDoc::Total(_) => MassProperties::default(),
            MassDoc::Properties(written) => written.to_mass_properties(),
        }
    }
}

impl From<MassProperties> for MassPropertiesDoc {
    fn from(mass: MassProperties) -> Self {
        let Sym3 { xx, yy, zz, xy, xz, yz } = mass.inertia;
        Self { mass: mass.mass, com: mass.com, inertia: InertiaDoc::Full { xx, yy, zz, xy, yz, xz } }
    }
}

impl MassPropertiesDoc {
    /// The same in the types of `sinew-math`.
    pub fn to_mass_properties(&self) -> MassProperties {
        let inertia = match self.inertia {
            InertiaDoc::Diagonal(moments) => Sym3::diagonal(moments),
            InertiaDoc::Full { xx, yy, zz, xy, yz, xz } => Sym3 { xx, yy, zz, xy, xz, yz },
        };
        MassProperties { mass: self.mass, com: self.com, inertia }
    }
}
