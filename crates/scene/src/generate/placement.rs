//! Placement of links: names, poses, and the bars and ball joints that several generators use.

use glam::{DQuat, DVec3};
use sinew_math::{JointKind, Pose, Shape, exp_so3, ops};

use crate::doc::{BodyDoc, JointDoc, MassDoc, PoseDoc, RotationDoc, ShapeDoc};

/// Name of the `i`-th link, counted from 1.
pub(crate) fn link_name(prefix: &str, i: usize) -> String {
    format!("{prefix}_{i:04}")
}

/// Where a link is: from `start`, along x of `rotation`, over `length`.
#[derive(Clone, Copy)]
pub(super) struct LinkPlacement {
    pub(super) start: DVec3,
    pub(super) rotation: DQuat,
    pub(super) length: f64,
}

impl LinkPlacement {
    pub(super) fn middle(&self) -> DVec3 {
        self.start + self.rotation * (DVec3::X * (0.5 * self.length))
    }

    pub(super) fn end(&self) -> DVec3 {
        self.start + self.rotation * (DVec3::X * self.length)
    }

    /// Pose of the body frame.
    pub(super) fn pose(&self) -> PoseDoc {
        pose_doc(&Pose { rotation: self.rotation, translation: self.middle() })
    }
}

/// A pose as a document.
pub(super) fn pose_doc(pose: &Pose) -> PoseDoc {
    let DQuat { w, x, y, z } = pose.rotation;
    let is_turned = pose.rotation != DQuat::IDENTITY;
    let rotation = if is_turned { RotationDoc::Quaternion { w, x, y, z } } else { RotationDoc::Identity };
    PoseDoc { position: pose.translation, rotation }
}

/// A bar at `place`: a solid cylinder.
pub(super) fn bar(name: String, place: &LinkPlacement, radius: f64, mass: f64) -> BodyDoc {
    let shape = Shape::Cylinder { radius, length: place.length };
    BodyDoc {
        name,
        pose: place.pose(),
        shapes: vec![ShapeDoc::centred(shape)],
        mass: MassDoc::Total(mass),
        ..BodyDoc::default()
    }
}

/// A ball joint without frames.
pub(super) fn ball(name: String, child: String, parent: Option<String>, damping: f64) -> JointDoc {
    JointDoc { name, kind: JointKind::Ball, child, parent, damping, ..JointDoc::default() }
}

/// The shortest rotation that takes x to `direction`; half a turn about z if it points exactly backwards.
pub(super) fn rotation_to(direction: DVec3) -> DQuat {
    let unit = direction.normalize_or(DVec3::X);
    let axis = DVec3::new(0.0, -unit.z, unit.y);
    let angle = ops::atan2(axis.length(), unit.x);
    exp_so3(axis.normalize_or(DVec3::Z) * angle)
}
