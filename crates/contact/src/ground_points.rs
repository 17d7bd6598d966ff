//! The points of a shape that can touch flat ground, in the frame of the shape.

use crate::shape::ContactShape;
use glam::DVec3;

/// Corners of a polygon inscribed in the rim of a cylinder: (cos, sin) of multiples of 60°.
const HEXAGON: [(f64, f64); 6] = {
    const S: f64 = 0.866_025_403_784_438_6;
    [(1.0, 0.0), (0.5, S), (-0.5, S), (-1.0, 0.0), (-0.5, -S), (0.5, -S)]
};
/// Feature of the deepest point of the rim at `−x`; the other rim has the next one.
const DEEPEST: u64 = 12;

/// The deepest point of a rim counts only if it is deeper than the six by this part of the radius. Otherwise a standing
/// cylinder would rock on a point that jumps from side to side.
const DEEPER: f64 = 1e-4;

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

    /// Corners, centres and ends; on a cylinder, six points per rim and the one deepest along `down`.
    pub(crate) fn fill(&mut self, shape: &ContactShape, down: DVec3) {
        self.0.clear();
        match shape {
            ContactShape::Plane | ContactShape::Field(_) => {}
            ContactShape::Box { edges } => {
                for i in 0..8 {
                    self.add(i, box_corner(*edges * 0.5, i as usize), 0.0);
                }
            }
            ContactShape::Sphere { radius } => self.add(0, DVec3::ZERO, *radius),
            ContactShape::Capsule { radius, length } => {
                self.add(0, DVec3::X * (-0.5 * length), *radius);
                self.add(1, DVec3::X * (0.5 * length), *radius);
            }
            ContactShape::Cylinder { radius, length } => self.rims(*radius, 0.5 * length, down),
            ContactShape::Convex(hull) => {
                for (i, &corner) in hull.corners().iter().enumerate() {
                    self.add(i as u64, corner, 0.0);
                }
            }
        }
    }

    fn rims(&mut self, radius: f64, half: f64, down: DVec3) {
        let radial = DVec3::new(0.0, down.y, down.z);
        let length = radial.length();
        // how much deeper than the six the deepest point is, for a radius of 1
        let six = HEXAGON.iter().fold(0.0, |most: f64, &(y, z)| most.max(y * down.y + z * down.z));
        let below = length - six;
        for (rim, x) in [-half, half].into_iter().enumerate() {
            for (k, (y, z)) in HEXAGON.into_iter().enumerate() {
                self.add((6 * rim + k) as u64, DVec3::new(x, y * radius, z * radius), 0.0);
            }
            if below > DEEPER {
                self.add(DEEPEST + rim as u64, DVec3::X * x + radial * (radius / length), 0.0);
            }
        }
    }

    fn add(&mut self, feature: u64, point: DVec3, radius: f64) {
        self.0.push(GroundPoint { feature, point, radius });
    }
}

/// FaceCorner `i` of a box: bits 0, 1, 2 choose the side along x, y, z.
pub(crate) fn box_corner(half: DVec3, i: usize) -> DVec3 {
    let side = |bit: usize, half: f64| if i >> bit & 1 == 1 { half } else { -half };
    DVec3::new(side(0, half.x), side(1, half.y), side(2, half.z))
}
