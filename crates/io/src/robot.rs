//! What readers of robots share: options, joint frames, links without mass, shapes from meshes.

use glam::{DMat3, DQuat, DVec3};
use sinew_math::{MassProperties, Pose, Sym3, exp_so3, quat_to_mat3};
use sinew_scene::{FrameDoc, LimitsDoc};

use crate::report::{FilePlace, ImportReport, Outcome};
use crate::rig::RigOptions;

/// What holds the root of an imported robot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RootHold {
    /// As the file says; a URDF, which does not say, is fixed to the world.
    #[default]
    AsWritten,
    /// It is fixed to the world.
    Fixed,
    /// Nothing.
    Free,
}

/// What the triangles of a collider become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MeshContact {
    /// Their convex hull.
    #[default]
    Hull,
    /// Several convex hulls that fill them.
    Decomposed,
    /// Themselves.
    Triangles,
}

/// A format that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportFormat {
    /// Robots of ROS.
    Urdf,
    /// Models of MuJoCo.
    Mjcf,
    /// Models and worlds of Gazebo.
    Sdf,
    /// Rigs and meshes.
    Gltf,
    /// Captured motions.
    Bvh,
}

impl ImportFormat {
    /// Its name, with the endings of its files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Urdf => "URDF (.urdf)",
            Self::Mjcf => "MJCF (.xml, .mjcf)",
            Self::Sdf => "SDFormat (.sdf, .world)",
            Self::Gltf => "glTF (.gltf, .glb)",
            Self::Bvh => "BVH (.bvh)",
        }
    }
}

/// How a file is read.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ImportOptions {
    /// What holds the root of a robot.
    pub root: RootHold,
    /// What the triangles of a collider become.
    pub mesh_contact: MeshContact,
    /// Whether parts of a robot that no joint connects touch each other. An MJCF file says so itself.
    pub self_contact: bool,
    /// Name or number of the keyframe in which a model begins; its own pose if left out.
    pub key: Option<String>,
    /// How rigs and motions are read.
    pub rig: RigOptions,
}

impl ImportOptions {
    /// What each option that is not as usual is for; of a file in a format, or of one that is not imported, only those that it has no use for.
    pub fn misplaced(&self, format: Option<ImportFormat>) -> Vec<String> {
        use ImportFormat::{Bvh, Gltf, Mjcf, Sdf, Urdf};
        let (rig, usual) = (&self.rig, RigOptions::default());
        let all: [(&str, bool, &[ImportFormat]); 11] = [
            ("--root", self.root != RootHold::default(), &[Urdf, Sdf, Mjcf, Gltf, Bvh]),
            ("--mesh-contact", self.mesh_contact != MeshContact::default(), &[Urdf, Sdf, Mjcf, Gltf]),
            ("--self-contact", self.self_contact, &[Urdf, Gltf, Bvh]),
            ("--key", self.key.is_some(), &[Mjcf]),
            ("--flesh", rig.flesh, &[Gltf]),
            ("--flesh-cells", rig.cells.is_some(), &[Gltf]),
            ("--flesh-young", rig.young.to_bits() != usual.young.to_bits(), &[Gltf]),
            ("--density", rig.density.to_bits() != usual.density.to_bits(), &[Gltf, Bvh]),
            ("--spring-hz", rig.spring_hz.is_some(), &[Gltf, Bvh]),
            ("--animation", rig.animation.is_some(), &[Gltf]),
            ("--scale", rig.scale.is_some(), &[Bvh]),
        ];
        let misplaced = all
            .into_iter()
            .filter(|(_, is_set, formats)| *is_set && format.is_none_or(|format| !formats.contains(&format)));
        misplaced
            .map(|(option, _, formats)| {
                let names: Vec<&str> = formats.iter().map(|format| format.name()).collect();
                format!("{option} is for {}; leave it out", names.join(", "))
            })
            .collect()
    }
}

/// A range or bound of this size (N, N·m, m/s, rad/s, m) is none.
pub(crate) const UNBOUNDED: f64 = 1e9;

/// Angular frequency of what a joint moves at its limit (1/s): under its weight, it gives 0.1 mm or so.
const FIRM: f64 = 300.0;

/// Limits of a joint that moves an inertia (kg·m² or kg).
pub(crate) fn firm_limits(min: f64, max: f64, inertia: f64) -> LimitsDoc {
    LimitsDoc {
        min,
        max,
        stiffness: (inertia * FIRM * FIRM).max(f64::MIN_POSITIVE),
        damping: 2.0 * inertia * FIRM,
        ramp: 1e-4,
    }
}

/// Tells of effort and velocity that a joint may have at most; 0 is none.
pub(crate) fn note_bounds([effort, velocity]: [f64; 2], place: &FilePlace, report: &mut ImportReport) {
    let is_bound = |bound: f64| bound > 0.0 && bound < UNBOUNDED;
    if is_bound(effort) || is_bound(velocity) {
        let what = format!(
            "effort {effort} and velocity {velocity} bound a motor, and the file has none; give the joint `motor: \
             Position(stiffness: …, damping: …, max_force: {effort})`"
        );
        report.note(Outcome::Ignored, place.clone(), what);
    }
}

/// The group of what is imported, if its parts do not touch each other.
const ROBOT: u32 = 1 << 31;

impl ImportOptions {
    /// Sets whether parts of a robot touch each other in what a collider is in and touches.
    pub(crate) fn groups(&self) -> (u32, u32) {
        if self.self_contact { (u32::MAX, u32::MAX) } else { (ROBOT, !ROBOT) }
    }
}

/// The rotation of roll, pitch and yaw about the fixed axes x, y and z, in this order (rad).
pub(crate) fn roll_pitch_yaw(angles: DVec3) -> DQuat {
    exp_so3(DVec3::Z * angles.z) * exp_so3(DVec3::Y * angles.y) * exp_so3(DVec3::X * angles.x)
}

/// The frame of a joint along `axis`, written in a frame that sees it at `pose`.
pub(crate) fn joint_frame(pose: &Pose, axis: DVec3) -> FrameDoc {
    let axis = axis.normalize_or(DVec3::X);
    let across = axis.any_orthonormal_vector();
    FrameDoc {
        anchor: pose.translation,
        axis: pose.transform_vector(axis),
        reference: Some(pose.transform_vector(across)),
    }
}

/// Least principal moment of inertia over the mass (m²): that of a body of some hundredths of a millimetre.
const LEAST_MOMENT: f64 = 1e-10;

/// Mass properties that a body can have: moments that are too small, or too different for a real body, are raised.
pub(crate) fn physical(mass: MassProperties, place: &FilePlace, report: &mut ImportReport) -> MassProperties {
    if mass.is_physical().is_ok() {
        return mass;
    }
    let (rotation, moments) = mass.principal_axes();
    let mut raised = moments.max(DVec3::splat(LEAST_MOMENT * mass.mass));
    let lacks = 2.0 * raised.max_element() - raised.element_sum();
    if lacks > 0.0 {
        let largest = raised.max_element();
        let raise = |moment: f64| if moment < largest { moment + 0.5 * lacks } else { moment };
        raised = DVec3::from_array(raised.to_array().map(raise));
    }
    let what = format!("no body has the principal moments of inertia {moments}; {raised} kg·m² are used");
    report.note(Outcome::Repaired, place.clone(), what);
    let axes: DMat3 = quat_to_mat3(rotation);
    MassProperties { inertia: Sym3::diagonal(raised).rotated_by(&axes), ..mass }
}
