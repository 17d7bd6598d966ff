//! Primitives of a drawing: solids, balls, surfaces, lines, arrows, and their colours. World axes, metres.

use std::sync::Arc;

use glam::{DMat3, DQuat, DVec3};
use sinew_math::{Pose, Shape};
use sinew_picture::Color;

/// sRGB red, green, blue from 0 to 1.
pub type Rgb = [f64; 3];

pub(crate) const STONE: Rgb = [0.72, 0.74, 0.77];
pub(crate) const DARK: Rgb = [0.20, 0.23, 0.28];
pub(crate) const JOINT: Rgb = [0.16, 0.18, 0.22];
pub(crate) const GRAB: Rgb = [0.80, 0.15, 0.16];
/// Constraints of scores.
pub(crate) const HELD: Rgb = [1.0, 0.02, 0.05];
pub(crate) const PIN: Rgb = [0.20, 0.42, 0.85];
pub(crate) const CONTACT: Rgb = [0.05, 0.60, 0.25];
pub(crate) const JOINT_FORCE: Rgb = [0.95, 0.55, 0.15];
pub(crate) const HIGHLIGHT: Rgb = [1.0, 0.92, 0.35];
pub(crate) const EDGE: Rgb = [0.45, 0.49, 0.55];
pub(crate) const FIXED_NODE: Rgb = [0.10, 0.10, 0.12];
pub(crate) const FREE_NODE: Rgb = [0.82, 0.13, 0.12];

/// A solid of a body or of the scenery.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShownSolid {
    /// Its shape.
    pub shape: Shape,
    /// World from the frame of the shape.
    pub pose: Pose,
    /// Its colour.
    pub color: Rgb,
    /// Whether it shows through flesh.
    pub is_bone: bool,
}

/// A smooth surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShownSurface {
    /// Its points (m).
    pub points: Vec<DVec3>,
    /// Three points each, counterclockwise from outside.
    pub triangles: Arc<[[u32; 3]]>,
    /// Its colour.
    pub color: Rgb,
    /// Colour of each point; empty if all have the colour of the surface.
    pub colors: Vec<Color>,
}

/// A straight line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShownLine {
    /// First end (m).
    pub from: DVec3,
    /// Second end (m).
    pub to: DVec3,
    /// Its colour.
    pub color: Rgb,
    /// Width relative to other lines.
    pub weight: f64,
}

impl ShownLine {
    /// The cylinder along the line; `width` is the width of lines of weight 1 (m).
    pub fn along(&self, width: f64) -> Instance {
        let (offset, radius) = (self.to - self.from, 0.5 * self.weight * width);
        Instance {
            pose: Pose::new(rotation_to(offset.normalize_or(DVec3::X)), 0.5 * (self.from + self.to)),
            scale: DVec3::new(offset.length(), radius, radius),
            color: self.color,
        }
    }
}

/// A force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShownArrow {
    /// Point of application (m).
    pub from: DVec3,
    /// Tip (m).
    pub to: DVec3,
    /// Its colour.
    pub color: Rgb,
}

impl ShownArrow {
    /// Length of the heads of arrows in a scene of this reach (m).
    pub(crate) fn head(reach: f64) -> f64 {
        0.05 * reach
    }

    /// Shaft (a cylinder) and head (a cone) of the arrow in a scene of this reach (m).
    pub fn parts(&self, reach: f64) -> [Instance; 2] {
        let offset = self.to - self.from;
        let (length, direction) = (offset.length(), offset.normalize_or(DVec3::X));
        let (rotation, head) = (rotation_to(direction), Self::head(reach).min(0.35 * length));
        let part = |from: f64, to: f64, radius: f64| Instance {
            pose: Pose::new(rotation, self.from + direction * (0.5 * (from + to))),
            scale: DVec3::new(to - from, radius, radius),
            color: self.color,
        };
        [part(0.0, length - head, 0.12 * head), part(length - head, length, 0.4 * head)]
    }
}

/// A scaled unit solid, for graphics cards. The unit box has edges of length 1, the unit ball radius 1, the unit
/// cylinder and the unit cone (tip towards +x) radius 1 and length 1 along x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instance {
    /// World from the frame of the solid.
    pub pose: Pose,
    /// Scale along the axes of the solid.
    pub scale: DVec3,
    /// Its colour.
    pub color: Rgb,
}

impl Instance {
    /// A ball.
    pub(crate) fn ball(center: DVec3, radius: f64, color: Rgb) -> Self {
        Self { pose: Pose::from_translation(center), scale: DVec3::splat(radius), color }
    }
}

/// The rotation that takes x to a direction of length 1.
fn rotation_to(direction: DVec3) -> DQuat {
    let (y, z) = direction.any_orthonormal_pair();
    DQuat::from_mat3(&DMat3::from_cols(direction, y, z))
}
