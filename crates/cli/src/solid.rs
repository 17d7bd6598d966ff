//! Shapes of bodies reduced to what a drawing needs: corner points, flat faces, and a radius around them.
//!
//! A ball is one point with a radius, a capsule two; boxes and cylinders have faces and no radius.

use glam::DVec3;
use sinew_math::ops;
use sinew_sim::DrawShape;

/// A convex solid in its own frame: the hull of `points`, grown by `radius` (m).
#[derive(Clone, Debug, Default)]
pub(crate) struct Solid {
    pub(crate) points: Vec<DVec3>,
    /// Corners of each flat face, counter-clockwise from outside; empty for round solids.
    pub(crate) faces: Vec<Vec<usize>>,
    pub(crate) radius: f64,
    /// Ends of its middle line, and its thickness across it (m): all that a drawing of very many bodies keeps.
    pub(crate) spine: (DVec3, DVec3),
    pub(crate) thickness: f64,
}

/// Corners on the rim of a drawn cylinder, and meridians of a drawn ellipsoid.
const RIM: usize = 20;

impl Solid {
    /// What is drawn of a shape.
    pub(crate) fn of(shape: &DrawShape) -> Self {
        match *shape {
            DrawShape::Box { size } => Self::cuboid(size),
            DrawShape::Sphere { radius } => Self::ball(radius),
            DrawShape::Capsule { radius, length } => Self::capsule(radius, length),
            DrawShape::Cylinder { radius, length } => Self::cylinder(radius, length),
            DrawShape::Ellipsoid { semi_axes } => Self::ellipsoid(semi_axes),
        }
    }

    /// A box with these full edge lengths.
    pub(crate) fn cuboid(size: DVec3) -> Self {
        let corner = |i: usize| {
            let side = |bit: usize| if i & bit == 0 { -0.5 } else { 0.5 };
            DVec3::new(side(1), side(2), side(4)) * size
        };
        let faces = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        Self {
            points: (0..8).map(corner).collect(),
            faces: faces.map(|face| face.to_vec()).to_vec(),
            ..Self::line(size, 0.0)
        }
    }

    /// A ball.
    pub(crate) fn ball(radius: f64) -> Self {
        Self { points: vec![DVec3::ZERO], ..Self::line(DVec3::splat(2.0 * radius), radius) }
    }

    /// A capsule along x; `length` is that of its cylinder part.
    pub(crate) fn capsule(radius: f64, length: f64) -> Self {
        let end = DVec3::X * (0.5 * length);
        let whole = DVec3::new(length + 2.0 * radius, 2.0 * radius, 2.0 * radius);
        Self { points: vec![-end, end], spine: (-end, end), ..Self::line(whole, radius) }
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
        Self { points, faces, ..Self::line(DVec3::new(length, 2.0 * radius, 2.0 * radius), 0.0) }
    }

    /// An ellipsoid with these half lengths, as the points of a fine net.
    pub(crate) fn ellipsoid(semi_axes: DVec3) -> Self {
        let ring = |k: i32| {
            let (sin, cos) = (ops::sin(0.25 * f64::from(k)), ops::cos(0.25 * f64::from(k)));
            (0..RIM).map(move |i| (circle(i) * cos + DVec3::X * sin) * semi_axes)
        };
        Self { points: (-6..=6).flat_map(ring).collect(), ..Self::line(2.0 * semi_axes, 0.0) }
    }

    /// Only the middle line of a solid of this size: along its longest edge, as thick as the others on average, and
    /// shorter by the round ends of a thick line.
    fn line(size: DVec3, radius: f64) -> Self {
        let longest = size.max_element();
        let axis = [DVec3::X, DVec3::Y, DVec3::Z].into_iter().find(|axis| axis.dot(size) >= longest);
        let thickness = 0.5 * (size.element_sum() - longest);
        let end = axis.unwrap_or(DVec3::X) * (0.5 * (longest - thickness).max(0.0));
        Self { radius, spine: (-end, end), thickness, ..Self::default() }
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
    fn the_middle_line_runs_along_the_longest_edge() {
        let rod = Solid::cuboid(DVec3::new(0.1, 3.0, 0.1));
        assert!((rod.spine.1 - DVec3::Y * 1.45).length() < 1e-12 && (rod.thickness - 0.1).abs() < 1e-12);
        let ball = Solid::ball(1.0);
        assert!(ball.spine.0 == ball.spine.1 && (ball.thickness - 2.0).abs() < 1e-12);
        let capsule = Solid::capsule(0.1, 1.0);
        assert!((capsule.spine.1 - DVec3::X * 0.5).length() < 1e-12);
    }
}
