//! From documents to the quantities of `sinew-math`.
//!
//! Frames: `world_from_body` poses of body frames, joint frames in body coordinates, x as the main axis.
//! Units as in the documents. Documents that pass `validate` always resolve to finite values; zero axes and
//! quaternions, which it refuses, give the identity.

use glam::{DMat3, DQuat, DVec3};
use sinew_math::{DriveCoordinate, MassProperties, Pose, Sym3, exp_so3, mat3_to_quat, normalize_quat};

use crate::doc::{
    BodyDoc, CoordinateDoc, FrameDoc, InertiaDoc, JointDoc, JointFramesDoc, MassDoc, MassPropertiesDoc,
    PoseDoc, RotationDoc,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doc::{LocalFramesDoc, ShapeDoc};
    use sinew_math::{JointKind, Shape};

    const QUARTER: f64 = std::f64::consts::FRAC_PI_2;

    fn close(a: DVec3, b: DVec3) {
        assert!((a - b).length() < 1e-14, "{a} is not {b}");
    }

    #[test]
    fn all_ways_to_write_a_rotation_agree() {
        let half = 0.5_f64.sqrt();
        for rotation in [
            RotationDoc::Vector(DVec3::Z * QUARTER),
            RotationDoc::AxisAngle { axis: DVec3::Z * 7.0, angle: QUARTER },
            RotationDoc::Quaternion { w: 2.0 * half, x: 0.0, y: 0.0, z: 2.0 * half },
        ] {
            close(rotation.to_quat() * DVec3::X, DVec3::Y);
        }
    }

    #[test]
    fn a_frame_has_its_axis_first_and_its_reference_second() {
        let frame = FrameDoc {
            anchor: DVec3::ONE,
            axis: DVec3::new(0.0, 0.0, 3.0),
            reference: Some(DVec3::new(-2.0, 0.0, 9.0)),
        };
        let pose = frame.to_pose();
        close(pose.transform_vector(DVec3::X), DVec3::Z);
        close(pose.transform_vector(DVec3::Y), DVec3::NEG_X);
        close(pose.translation, DVec3::ONE);
        for axis in [DVec3::X, DVec3::Y, DVec3::Z, DVec3::NEG_X, DVec3::ONE, DVec3::new(1e-9, -2.0, 1e-9)] {
            let rotation = FrameDoc { axis, ..FrameDoc::default() }.to_pose().rotation;
            close(rotation * DVec3::X, axis.normalize());
            assert!((rotation.length() - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn world_frames_meet_at_the_initial_poses() {
        let child = Pose::new(exp_so3(DVec3::new(0.3, -1.0, 0.2)), DVec3::new(1.0, 2.0, 3.0));
        let parent = Pose::new(exp_so3(DVec3::new(-2.0, 0.1, 0.7)), DVec3::new(-1.0, 0.5, 0.0));
        let frame =
            FrameDoc { anchor: DVec3::new(0.2, 0.4, 0.6), axis: DVec3::new(1.0, 1.0, 0.0), reference: None };
        let (on_child, on_parent) = JointFramesDoc::World(frame).in_bodies(&child, &parent);
        let (a, b) = (child.compose(&on_child), parent.compose(&on_parent));
        close(a.translation, frame.anchor);
        close(b.translation, frame.anchor);
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            close(a.transform_vector(axis), b.transform_vector(axis));
        }
        let local = JointFramesDoc::Local(LocalFramesDoc { child: frame, parent: FrameDoc::default() });
        assert_eq!(local.in_bodies(&child, &parent), (frame.to_pose(), Pose::IDENTITY));
    }

    #[test]
    fn mass_comes_from_shapes_or_is_written_out() {
        let at = PoseDoc { position: DVec3::X, ..PoseDoc::default() };
        let shapes = vec![
            ShapeDoc::centred(Shape::Box { size: DVec3::ONE }),
            ShapeDoc { solid: Shape::Box { size: DVec3::ONE }, at },
        ];
        let mut body = BodyDoc { shapes, mass: MassDoc::Density(3.0), ..BodyDoc::default() };
        // Two unit cubes side by side are one 2×1×1 box.
        let whole = MassProperties::cuboid(DVec3::new(2.0, 1.0, 1.0), 3.0);
        let found = body.mass_properties();
        assert!((found.mass - 6.0).abs() < 1e-14);
        close(found.com, DVec3::X * 0.5);
        assert!((found.inertia - whole.inertia).max_abs() < 1e-14);
        body.mass = MassDoc::Total(12.0);
        assert!((body.mass_properties().inertia - whole.inertia * 2.0).max_abs() < 1e-14);
        let inertia = InertiaDoc::Full { xx: 2.0, yy: 3.0, zz: 4.0, xy: 0.1, yz: 0.2, xz: 0.3 };
        body.mass = MassDoc::Properties(MassPropertiesDoc { mass: 5.0, com: DVec3::Y, inertia });
        let matrix = body.mass_properties().inertia.to_mat3();
        close(matrix * DVec3::X, DVec3::new(2.0, 0.1, 0.3));
        close(matrix * DVec3::Y, DVec3::new(0.1, 3.0, 0.2));
    }

    #[test]
    fn forces_act_on_what_the_kind_leaves_free() {
        let of = |kind, coordinate| JointDoc { kind, coordinate, ..JointDoc::default() }.force_coordinate();
        assert_eq!(of(JointKind::Hinge, None), Some(ForceCoordinate::Angle));
        assert_eq!(of(JointKind::Cylindrical, Some(CoordinateDoc::Slide)), Some(ForceCoordinate::Slide));
        assert_eq!(of(JointKind::Hinge, Some(CoordinateDoc::Slide)), None);
        assert_eq!(of(JointKind::Ball, None), Some(ForceCoordinate::Rotation));
        assert_eq!(of(JointKind::Fixed, None), None);
    }
}
