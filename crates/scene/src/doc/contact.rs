//! Colliders, and the contact properties of surfaces. Plain data; m, N/m, N·s/m².

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::{omit::is_default, pose::PoseDoc, shape::ShapeDoc};

document! {
    /// How a surface touches.
    #[derive(Copy)]
    pub struct ContactDoc {
        /// Coefficient of friction; of two surfaces the geometric mean counts.
        pub friction: f64 = 0.5,
        /// Speed after an impact over the speed before it, 0 to 1; of two surfaces the larger counts. For bodies: flesh bounces by its elasticity.
        pub restitution: f64,
        /// Rolling friction (m): the largest moment against rolling over the load; of two surfaces the larger counts. For bodies.
        [omit] pub rolling_friction: f64,
        /// Torsional friction (m): the largest moment about the normal over the load; of two surfaces the larger counts. For bodies.
        [omit] pub torsional_friction: f64,
        /// How far it gives under its own weight.
        pub firmness: FirmnessDoc,
        /// Groups it belongs to, one bit each.
        pub groups: u32 = u32::MAX,
        /// Groups it touches.
        pub touches: u32 = u32::MAX,
    }
}

document! {
    /// What holds between two things instead of what their surfaces give together; what is left out stays.
    pub struct PairDoc {
        /// A collider, by its name or that of its body, or flesh.
        pub a: String,
        /// The other; it may be the same.
        pub b: String,
        /// Coefficient of friction.
        [omit] pub friction: Option<f64>,
        /// Speed after an impact over the speed before it, 0 to 1.
        [omit] pub restitution: Option<f64>,
        /// Whether they never touch: then both are bodies with all that is on them, or one is `world`, and nothing else is given.
        [omit] pub apart: bool,
    }
}

/// How a contact resists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum FirmnessDoc {
    /// From the mass of the body: it sinks in by 0.1 mm under its weight, and does not bounce.
    #[default]
    Auto,
    /// As told.
    Given {
        /// Normal stiffness of one contact point (N/m).
        stiffness: f64,
        /// Damping (N·s/m²): force per depth and speed.
        damping: f64,
    },
    /// The numbers of `Auto` times factors.
    Scaled {
        /// Factor on the stiffness, above 0.
        stiffness: f64,
        /// Factor on the damping, at least 0.
        damping: f64,
    },
}

/// Something that can be touched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColliderDoc {
    /// What events and rules call it; if left out, the name of its body, or `world`. Several may have the same name.
    #[serde(default, skip_serializing_if = "is_default")]
    pub name: String,
    /// The body it is fixed to, or `world`.
    #[serde(default = "world", skip_serializing_if = "is_world")]
    pub body: String,
    /// Its form.
    pub shape: ColliderShapeDoc,
    /// Its surface.
    #[serde(default, skip_serializing_if = "is_default")]
    pub contact: ContactDoc,
    /// Whether it only feels what overlaps it, and pushes nothing.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sensor: bool,
}

impl ColliderDoc {
    /// What events and rules call it.
    pub fn known_as(&self) -> &str {
        if self.name.is_empty() { &self.body } else { &self.name }
    }
}

fn world() -> String {
    "world".to_owned()
}

fn is_world(name: &String) -> bool {
    name == "world"
}

document! {
    /// A convex hull: of points, or of the vertices of a file beside the scene.
    pub struct HullDoc {
        /// Its frame in the body's frame.
        [omit] pub at: PoseDoc,
        /// At least four points in that frame (m), not all in one plane.
        [omit] pub points: Vec<DVec3>,
        /// An OBJ, STL or PLY file beside the scene, instead of points.
        [omit] pub file: String,
        /// Factor on all coordinates, 0.001 for a file in millimetres.
        pub scale: f64 = 1.0,
    }
}

document! {
    /// Triangles: written out, or of a file beside the scene.
    pub struct TriMeshDoc {
        /// Its frame in the body's frame.
        [omit] pub at: PoseDoc,
        /// Vertices in that frame (m).
        [omit] pub points: Vec<DVec3>,
        /// Three vertices each, counter-clockwise from outside.
        [omit] pub triangles: Vec<[u32; 3]>,
        /// An OBJ, STL or PLY file beside the scene, instead of points and triangles.
        [omit] pub file: String,
        /// Factor on all coordinates, 0.001 for a file in millimetres.
        pub scale: f64 = 1.0,
        /// Whether the inside of a closed mesh counts; otherwise it is a sheet that touches on both sides. Without a choice, closed meshes are solid.
        [omit] pub solid: Option<bool>,
    }
}

document! {
    /// A closed mesh as several convex hulls.
    pub struct DecomposedDoc {
        /// Its frame in the body's frame.
        [omit] pub at: PoseDoc,
        /// Vertices in that frame (m).
        [omit] pub points: Vec<DVec3>,
        /// Three vertices each, counter-clockwise from outside.
        [omit] pub triangles: Vec<[u32; 3]>,
        /// An OBJ, STL or PLY file beside the scene, instead of points and triangles.
        [omit] pub file: String,
        /// Factor on all coordinates, 0.001 for a file in millimetres.
        pub scale: f64 = 1.0,
        /// The largest number of hulls.
        pub max_parts: u32 = 32,
        /// How far hulls may reach out of the mesh (m); if left out, a hundredth of its diagonal.
        [omit] pub tolerance: Option<f64>,
    }
}

/// The form of a collider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum ColliderShapeDoc {
    /// Everything behind a plane; only of the world.
    Plane {
        /// A point of it (m).
        #[serde(default, skip_serializing_if = "is_default")]
        point: DVec3,
        /// Where it is free; any length but zero.
        #[serde(default = "up", skip_serializing_if = "is_up")]
        normal: DVec3,
    },
    /// A solid; ellipsoids cannot be touched.
    Solid(ShapeDoc),
    /// All shapes of the body.
    OfBody,
    /// The convex hull of points.
    Convex(HullDoc),
    /// Triangles.
    TriMesh(TriMeshDoc),
    /// Convex hulls that together fill a closed mesh.
    Decomposed(DecomposedDoc),
    /// Heights over a grid in the xy-plane of its frame.
    HeightField {
        /// Frame in the body's frame.
        #[serde(default, skip_serializing_if = "is_default")]
        at: PoseDoc,
        /// Extent along x and y (m), centred on the frame.
        size: [f64; 2],
        /// Rows along y of heights along x (m), all of the same length, at least two each.
        heights: Vec<Vec<f64>>,
    },
}

impl ColliderShapeDoc {
    /// Whether it has triangles that can be filled and drawn.
    pub fn is_mesh(&self) -> bool {
        matches!(self, Self::Convex(_) | Self::TriMesh(_) | Self::Decomposed(_))
    }

    /// The file that it names, or an empty name.
    pub(crate) fn file(&self) -> &str {
        match self {
            Self::Convex(HullDoc { file, .. })
            | Self::TriMesh(TriMeshDoc { file, .. })
            | Self::Decomposed(DecomposedDoc { file, .. }) => file,
            Self::Plane { .. } | Self::Solid(_) | Self::OfBody | Self::HeightField { .. } => "",
        }
    }

    /// Gives another name to the file that it names.
    pub(crate) fn rename_file(&mut self, rename: impl FnOnce(&str) -> String) {
        if let Self::Convex(HullDoc { file, .. })
        | Self::TriMesh(TriMeshDoc { file, .. })
        | Self::Decomposed(DecomposedDoc { file, .. }) = self
            && !file.is_empty()
        {
            *file = rename(file);
        }
    }
}

/// The free side of a floor.
fn up() -> DVec3 {
    DVec3::Z
}

fn is_up(normal: &DVec3) -> bool {
    *normal == up()
}
