//! Points of a shape that can touch flat ground, with a radius. Frame of the shape, metres.

use crate::{primitives::ground_points, shape::ContactShape};
use glam::DVec3;

/// A point with a ball around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroundPoint {
    pub(crate) feature: u64,
    pub(crate) point: DVec3,
    pub(crate) radius: f64,
}

/// The points of one shape.
#[derive(Default)]
pub(crate) struct GroundPoints(Vec<GroundPoint>);

impl GroundPoints {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &GroundPoint> {
        self.0.iter()
    }

    /// The points of a shape in whose frame the ground is along `down`.
    pub(crate) fn fill(&mut self, shape: &ContactShape, down: DVec3) {
        self.0.clear();
        let mut add = |feature, point, radius| self.0.push(GroundPoint { feature, point, radius });
        match shape {
            ContactShape::Plane | ContactShape::Field(_) => {}
            ContactShape::Solid(shape) => ground_points(shape, down, add),
            ContactShape::Convex(hull) => {
                for (i, &corner) in hull.corners().iter().enumerate() {
                    add(i as u64, corner, 0.0);
                }
            }
            ContactShape::Mesh(mesh) => {
                for (i, corner) in mesh.features.corners.iter().enumerate() {
                    add(i as u64, corner.place, 0.0);
                }
            }
        }
    }
}
