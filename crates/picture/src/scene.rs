//! What is in a picture.

use glam::DVec3;

use crate::{Color, Mesh};

/// Everything to be drawn at one time. World axes, metres. What is not finite is left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// What hides what is behind it.
    pub solid: Mesh,
    /// What shows faintly through everything, such as bones in flesh.
    pub inside: Mesh,
    /// What nothing hides, such as forces.
    pub front: Mesh,
    /// Lines.
    pub lines: Vec<Line>,
    /// Ground and walls.
    pub planes: Vec<Plane>,
}

impl Scene {
    /// Takes everything away; the memory stays.
    pub fn clear(&mut self) {
        self.solid.clear();
        self.inside.clear();
        self.front.clear();
        self.lines.clear();
        self.planes.clear();
    }

    /// Adds an arrow that nothing hides, with a head of this length (m) as far as there is room for it.
    pub fn push_force(&mut self, from: DVec3, to: DVec3, head: f64, color: Color) {
        let length = from.distance(to);
        let head = head.min(0.35 * length);
        let Some(direction) = (to - from).try_normalize().filter(|_| head > 0.0 && from.is_finite()) else {
            return;
        };
        let (y, z) = direction.any_orthonormal_pair();
        let rotation = glam::DQuat::from_mat3(&glam::DMat3::from_cols(direction, y, z));
        let at = |along: f64| sinew_math::Pose::new(rotation, from + direction * along);
        let shaft = length - head;
        self.front.push(&Mesh::cylinder(0.12 * head, shaft, 8), &at(0.5 * shaft), color);
        self.front.push(&Mesh::cone(0.4 * head, head, 16), &at(length - 0.5 * head), color);
    }

    /// Adds a line with the head of an arrow at its second end.
    pub fn push_arrow(&mut self, line: Line, head: f64) {
        let way = line.to - line.from;
        let head = head.min(way.length());
        let Some(direction) = way.try_normalize().filter(|_| head > 0.0) else { return };
        let rotation = glam::DQuat::from_mat3(&{
            let (y, z) = direction.any_orthonormal_pair();
            glam::DMat3::from_cols(direction, y, z)
        });
        let pose = sinew_math::Pose::new(rotation, line.to - direction * (0.5 * head));
        self.solid.push(&Mesh::cone(0.35 * head, head, 16), &pose, line.color);
        self.lines.push(Line { to: line.to - direction * (0.9 * head), ..line });
    }
}

/// A straight line that light makes no difference to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// One end (m).
    pub from: DVec3,
    /// The other end (m).
    pub to: DVec3,
    /// Thickness in pixels.
    pub width: f64,
    /// Colour.
    pub color: Color,
}

/// A checkered plane, seen from its free side only, that fades out far from what the camera looks at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// A point of it (m).
    pub point: DVec3,
    /// The direction in which it is free, of any length.
    pub normal: DVec3,
}
