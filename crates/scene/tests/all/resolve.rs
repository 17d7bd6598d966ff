//! Documents resolve to the quantities that they describe.

use glam::DVec3;
use sinew_math::{MassProperties, Pose, exp_so3};
use sinew_scene::{
    BodyDoc, CoordinateDoc, ForceCoordinate, FrameDoc, InertiaDoc, JointDoc, JointFramesDoc, JointKind,
    LocalFramesDoc, MassDoc, MassPropertiesDoc, PoseDoc, RotationDoc, Shape, ShapeDoc,
};

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
