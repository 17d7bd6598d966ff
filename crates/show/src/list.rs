//! Draw lists: solids with poses, points, lines and surfaces of one moment as plain data, with the colours that the
//! scene gives. No camera, no graphics library. World axes, metres.

use std::sync::Arc;

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sinew_math::{Pose, Shape};
use sinew_mechanism::{BodyId, JointId};

/// Everything that a world shows at one moment. Saved with serde, it is without triangles, which are the same at any moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DrawList {
    /// Shapes of bodies.
    pub solids: Vec<DrawSolid>,
    /// Joints.
    pub points: Vec<DrawPoint>,
    /// Springs and grabs.
    pub lines: Vec<DrawLine>,
    /// Constraints on bones by a score.
    pub constraints: Vec<DrawConstraint>,
    /// Surfaces through points of bodies, then meshes of bodies, which have no controls.
    pub surfaces: Vec<DrawSurface>,
    /// Surfaces of flesh.
    pub flesh: Vec<DrawFlesh>,
}

/// The surface of one body of flesh.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DrawFlesh {
    /// Its points.
    pub points: Vec<DVec3>,
    /// Three points each, counterclockwise from outside. Clones share them.
    #[serde(skip)]
    pub triangles: Arc<[[u32; 3]]>,
    /// sRGB red, green, blue from 0 to 1, if the scene gives a colour.
    pub color: Option<DVec3>,
}

/// One shape of a body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrawSolid {
    /// Its body.
    pub body: BodyId,
    /// World from the frame of the shape.
    pub world_from_shape: Pose,
    /// Its shape.
    pub shape: Shape,
    /// sRGB red, green, blue from 0 to 1, if the scene gives a colour.
    pub color: Option<DVec3>,
}

/// A smooth surface through points of bodies, visible from both sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DrawSurface {
    /// The points it passes through, row by row.
    pub controls: Vec<DVec3>,
    /// Its vertices, row by row.
    pub points: Vec<DVec3>,
    /// Unit normals at the vertices.
    pub normals: Vec<DVec3>,
    /// Three vertices each, counterclockwise seen from the side of the normals. Clones share them.
    #[serde(skip)]
    pub triangles: Arc<[[u32; 3]]>,
    /// sRGB red, green, blue from 0 to 1, if the scene gives a colour.
    pub color: Option<DVec3>,
}

/// A joint as a point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrawPoint {
    /// The joint.
    pub joint: JointId,
    /// Its anchor on the first body.
    pub position: DVec3,
}

/// A line between two points of the world.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrawLine {
    /// What it represents.
    pub kind: LineKind,
    /// First end; the grabbed point of a grab.
    pub from: DVec3,
    /// Second end; the target of a grab.
    pub to: DVec3,
}

/// A constraint of a score on a bone, while its phase lasts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrawConstraint {
    /// What the score holds.
    pub kind: HeldQuantity,
    /// The constrained point.
    pub position: DVec3,
}

/// What a score holds of a bone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum HeldQuantity {
    /// Its rotation, or the rate of it.
    Rotation,
    /// The place of a point, its height, or the rate of it.
    Place,
}

/// What a line represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum LineKind {
    /// A spring between two points.
    Spring,
    /// A grab of a body.
    Grab,
}

impl DrawList {
    /// Shares the triangles of another moment, as saved lists need, which have none; false if that has other surfaces.
    pub fn share_triangles(&mut self, other: &Self) -> bool {
        let is_alike = (self.surfaces.len(), self.flesh.len()) == (other.surfaces.len(), other.flesh.len());
        for (to, from) in self.surfaces.iter_mut().zip(&other.surfaces) {
            to.triangles = Arc::clone(&from.triangles);
        }
        for (to, from) in self.flesh.iter_mut().zip(&other.flesh) {
            to.triangles = Arc::clone(&from.triangles);
        }
        is_alike
    }

    /// The points of meshes of bodies (m).
    pub fn mesh_points(&self) -> impl Iterator<Item = DVec3> + Clone + '_ {
        let meshes = self.surfaces.iter().filter(|surface| surface.controls.is_empty());
        meshes.flat_map(|mesh| mesh.points.iter().copied())
    }

    /// Centre and half diagonal of the bounding box of all solids, meshes and some points (m); at least 5 cm.
    pub fn extent_with(&self, points: impl Iterator<Item = DVec3>) -> (DVec3, f64) {
        let corners = self.solids.iter().flat_map(|solid| {
            let half = solid.shape.half_extents();
            let signs =
                (0..8).map(|k| DVec3::from_array([1, 2, 4].map(|bit| if k & bit == 0 { -1.0 } else { 1.0 })));
            signs.map(move |sign| solid.world_from_shape.transform_point(sign * half))
        });
        let start = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let points = points.chain(corners).chain(self.mesh_points()).filter(|point| point.is_finite());
        let (low, high) = points.fold(start, |(low, high), point| (low.min(point), high.max(point)));
        if low.x > high.x {
            return (DVec3::ZERO, 1.0);
        }
        (0.5 * (low + high), (0.5 * low.distance(high)).max(0.05))
    }
}
