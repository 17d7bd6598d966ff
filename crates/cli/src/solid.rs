//! Shapes of bodies reduced to what a drawing needs: corner points, flat faces, and a radius around them.
//!
//! A ball is one point with a radius, a capsule two; boxes and cylinders have faces and no radius.

use glam::DVec3;
use sinew_math::{Pose, ops};

/// A convex solid in the body frame: the hull of `points`, grown by `radius` [m].
#[derive(Clone, Debug, Default)]
pub(crate) struct Solid {
    pub(crate) points: Vec<DVec3>,
    /// Corners of each flat face, counter-clockwise from outside; empty for round solids.
    pub(crate) faces: Vec<Vec<usize>>,
    pub(crate) radius: f64,
}

/// Corners on the rim of a drawn cylinder, and meridians of a drawn ellipsoid.
const RIM: usize = 20;

impl Solid {
    /// A box with these full edge lengths.
    pub(crate) fn cuboid(size: DVec3) -> Self {
        let corner = |i: usize| {
            let side = |bit: usize| if i & bit == 0 { -0.5 } else { 0.5 };
            DVec3::new(side(1), side(2), side(4)) * size
        };
        let faces = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        Self { points: (0..8).map(corner).collect(), faces: faces.map(|face| face.to_vec()).to_vec(), radius: 0.0 }
    }

    /// A ball.
    pub(crate) fn ball(radius: f64) -> Self {
        Self { points: vec![DVec3::ZERO], faces: Vec::new(), radius }
    }

    /// A capsule along x; `length` is that of its cylinder part.
    pub(crate) fn capsule(radius: f64, length: f64) -> Self {
        Self { points: vec![DVec3::X * (-0.5 * length), DVec3::X * (0.5 * length)], faces: Vec::new(), radius }
    }

    /// A cylinder along x.
    pub(crate) fn cylinder(radius: f64, length: f64) -> Self {
        let rim = |x: f64| (0..RIM).map(move |i| circle(i) * radius + DVec3::X * x);
        let points = rim(-0.5 * length).chain(rim(0.5 * length)).collect();
        let mut faces: Vec<Vec<usize>> = (0..RIM)
            .map(|i| {
                let next = (i + 1) % RIM;
                vec![i, next, next + RIM, i + RIM]
            })
            .collect();
        faces.push((0..RIM).rev().collect());
        faces.push((RIM..2 * RIM).collect());
        Self { points, faces, radius: 0.0 }
    }

    /// An ellipsoid with these half lengths, as the points of a fine net.
    pub(crate) fn ellipsoid(semi_axes: DVec3) -> Self {
        let ring = |k: i32| {
            let (sin, cos) = (ops::sin(0.25 * f64::from(k)), ops::cos(0.25 * f64::from(k)));
            (0..RIM).map(move |i| (circle(i) * cos + DVec3::X * sin) * semi_axes)
        };
        Self { points: (-6..=6).flat_map(ring).collect(), faces: Vec::new(), radius: 0.0 }
    }

    /// The solid moved into another frame.
    pub(crate) fn moved(mut self, pose: &Pose) -> Self {
        for point in &mut self.points {
            *point = pose.rotation * *point + pose.translation;
        }
        self
    }

    /// The ends of its longest line between points; the drawing of very many bodies keeps only this.
    pub(crate) fn spine(&self) -> (DVec3, DVec3) {
        let Some(&first) = self.points.first() else { return (DVec3::ZERO, DVec3::ZERO) };
        let farthest = |from: DVec3| {
            let by_distance = |a: &&DVec3, b: &&DVec3| from.distance_squared(**a).total_cmp(&from.distance_squared(**b));
            *self.points.iter().max_by(by_distance).expect("there is a first point")
        };
        let one = farthest(first);
        (one, farthest(one))
    }
}

/// Point `i` of the unit circle across x.
fn circle(i: usize) -> DVec3 {
    let angle = std::f64::consts::TAU * i as f64 / RIM as f64;
    DVec3::new(0.0, ops::cos(angle), ops::sin(angle))
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::Solid;

    #[test]
    fn faces_look_outwards() {
        for solid in [Solid::cuboid(DVec3::new(1.0, 2.0, 3.0)), Solid::cylinder(0.4, 2.0)] {
            for face in &solid.faces {
                let [a, b, c] = [0, 1, 2].map(|i| solid.points[face[i]]);
                let center = face.iter().map(|&i| solid.points[i]).sum::<DVec3>() / face.len() as f64;
                assert!((b - a).cross(c - b).dot(center) > 0.0, "{face:?}");
            }
        }
    }

    #[test]
    fn the_spine_is_the_longest_line() {
        let (a, b) = Solid::cuboid(DVec3::new(3.0, 0.1, 0.1)).spine();
        assert!(a.distance(b) > 3.0);
        let (a, b) = Solid::ball(1.0).spine();
        assert_eq!(a, b);
    }
}
