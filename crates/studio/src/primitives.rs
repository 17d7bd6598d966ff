//! Primitives of a drawing: solids, surfaces, lines, arrows, and their colours. World axes, metres.

use glam::{DMat3, DQuat, DVec3};
use sinew_math::Pose;

/// Red, green, blue from 0 to 1, as on a screen.
pub type Rgb = [f32; 3];

pub(crate) const BLACK: Rgb = [0.05, 0.05, 0.06];
pub(crate) const RED: Rgb = [0.82, 0.16, 0.16];
pub(crate) const GREEN: Rgb = [0.18, 0.62, 0.30];
pub(crate) const BLUE: Rgb = [0.20, 0.42, 0.85];
pub(crate) const MOSS: Rgb = [0.05, 0.60, 0.25];
pub(crate) const ORANGE: Rgb = [0.95, 0.55, 0.15];
pub(crate) const STONE: Rgb = [0.72, 0.74, 0.77];
pub(crate) const DARK: Rgb = [0.20, 0.23, 0.28];
pub(crate) const LIGHT: Rgb = [1.0, 0.92, 0.35];

/// A unit solid that is placed and stretched. The unit box has edges of 1, the unit ball a radius of 1, cylinder and cone (tip towards +x) a
/// radius of 1 and a length of 1 along x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instance {
    /// World from its snapshot.
    pub pose: Pose,
    /// Stretch along its axes.
    pub scale: DVec3,
    /// Colour.
    pub color: Rgb,
    /// Whether it is seen through flesh.
    pub is_bone: bool,
}

/// A smooth surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShownSurface {
    /// Its points, m.
    pub points: Vec<DVec3>,
    /// Three points each, counterclockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Colour.
    pub color: Rgb,
    /// Colours of the points, if they have their own.
    pub colors: Vec<Rgb>,
}

impl ShownSurface {
    /// The colour of a point.
    pub fn color_at(&self, point: usize) -> Rgb {
        self.colors.get(point).copied().unwrap_or(self.color)
    }
}

/// A straight line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShownLine {
    /// One end, m.
    pub from: DVec3,
    /// The other end, m.
    pub to: DVec3,
    /// Colour.
    pub color: Rgb,
}

impl ShownLine {
    /// The cylinder along it, of a thickness in m.
    pub fn along(&self, thickness: f64) -> Instance {
        let way = self.to - self.from;
        Instance {
            pose: Pose::new(turn_to(way.normalize_or(DVec3::X)), 0.5 * (self.from + self.to)),
            scale: DVec3::new(way.length(), 0.5 * thickness, 0.5 * thickness),
            color: self.color,
            is_bone: false,
        }
    }
}

/// A force, seen through everything.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrow {
    /// Where it acts, m.
    pub from: DVec3,
    /// Its tip, m.
    pub to: DVec3,
    /// Colour.
    pub color: Rgb,
}

impl Arrow {
    /// Its shaft, a cylinder, and its head, a cone; `reach` is that of the scene, m.
    pub fn parts(&self, reach: f64) -> [Instance; 2] {
        let way = self.to - self.from;
        let length = way.length();
        let direction = way.normalize_or(DVec3::X);
        let rotation = turn_to(direction);
        let head = (0.35 * length).min(0.06 * reach);
        let part = |from: f64, to: f64, radius: f64| Instance {
            pose: Pose::new(rotation, self.from + direction * (0.5 * (from + to))),
            scale: DVec3::new(to - from, radius, radius),
            color: self.color,
            is_bone: false,
        };
        [part(0.0, length - head, 0.12 * head), part(length - head, length, 0.4 * head)]
    }
}

/// The turn that takes x to a direction.
pub(crate) fn turn_to(direction: DVec3) -> DQuat {
    let (y, z) = direction.any_orthonormal_pair();
    DQuat::from_mat3(&DMat3::from_cols(direction, y, z))
}
