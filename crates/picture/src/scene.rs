//! Scenes: the meshes, lines and planes that one picture shows. World axes, metres.

use glam::{DMat3, DQuat, DVec3};
use sinew_math::Pose;

use crate::{color::Color, mesh::Mesh};

/// Everything to be drawn in one picture. World axes, metres. Triangles and lines that are not finite are skipped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// Opaque triangles.
    pub solid: Mesh,
    /// Triangles that show faintly through everything, such as bones in flesh.
    pub inside: Mesh,
    /// Triangles in front of everything, such as arrows of forces.
    pub front: Mesh,
    /// Lines.
    pub lines: Vec<SceneLine>,
    /// Ground and walls.
    pub planes: Vec<Plane>,
}

impl Scene {
    /// Removes everything; keeps the memory.
    pub fn clear(&mut self) {
        self.solid.clear();
        self.inside.clear();
        self.front.clear();
        self.lines.clear();
        self.planes.clear();
    }

    /// Adds a solid arrow in front of everything. `head` is the length of its head (m), limited to 35 % of the arrow.
    pub fn push_force(&mut self, from: DVec3, to: DVec3, head: f64, color: Color) {
        let length = from.distance(to);
        let head = head.min(0.35 * length);
        let Some(direction) = (to - from).try_normalize().filter(|_| head > 0.0 && from.is_finite()) else {
            return;
        };
        let at = |along: f64| along_x(direction, from + direction * along);
        let shaft = length - head;
        self.front.push(&Mesh::cylinder(0.12 * head, shaft, 8), &at(0.5 * shaft), color);
        self.front.push(&Mesh::cone(0.4 * head, head, 16), &at(length - 0.5 * head), color);
    }

    /// Adds a line with an arrow head of length `head` (m) at its second end.
    pub fn push_arrow(&mut self, line: SceneLine, head: f64) {
        let offset = line.to - line.from;
        let head = head.min(offset.length());
        let Some(direction) = offset.try_normalize().filter(|_| head > 0.0) else { return };
        let pose = along_x(direction, line.to - direction * (0.5 * head));
        self.solid.push(&Mesh::cone(0.35 * head, head, 16), &pose, line.color);
        self.lines.push(SceneLine { to: line.to - direction * (0.9 * head), ..line });
    }
}

/// The pose at `point` whose x axis has a direction (of length 1).
fn along_x(direction: DVec3, point: DVec3) -> Pose {
    let (y, z) = direction.any_orthonormal_pair();
    Pose::new(DQuat::from_mat3(&DMat3::from_cols(direction, y, z)), point)
}

/// A straight unlit line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SceneLine {
    /// One end (m).
    pub from: DVec3,
    /// The other end (m).
    pub to: DVec3,
    /// Thickness in pixels.
    pub width: f64,
    /// Colour.
    pub color: Color,
}

/// A checkered plane, visible from its free side only. It fades out far from the focus of the camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// A point on the plane (m).
    pub point: DVec3,
    /// Normal towards the free side, of any length.
    pub normal: DVec3,
}
