//! Points and tetrahedra that `<flexcomp>` makes, in the order of MuJoCo, by which points are pinned.
//!
//! A grid has six tetrahedra per cube, all around its diagonal from (1, 0, 0) to (0, 1, 1). A box, a cylinder and an ellipsoid have points on their
//! surface and one in the middle, point 0, to which all tetrahedra go. Windings are as they come. Metres; the middle is the origin.

use std::collections::BTreeMap;

use glam::DVec3;

/// Points and the four corners of each tetrahedron.
pub(super) type Tetrahedra = (Vec<DVec3>, Vec<[u32; 4]>);

/// A shape that is made of points on a lattice of its surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HollowShape {
    Box,
    Cylinder,
    Ellipsoid,
}

/// Corners of the six tetrahedra of a cube: bits are the steps along x, y and z.
const CUBE: [[u8; 4]; 6] = [
    [0b000, 0b010, 0b100, 0b011],
    [0b000, 0b100, 0b001, 0b011],
    [0b100, 0b010, 0b110, 0b011],
    [0b100, 0b110, 0b111, 0b011],
    [0b100, 0b101, 0b001, 0b011],
    [0b100, 0b111, 0b101, 0b011],
];

/// A lattice of points; all counts are at least two.
pub(super) fn grid(count: [u32; 3], spacing: DVec3) -> Tetrahedra {
    let middle = DVec3::from_array(count.map(|n| 0.5 * f64::from(n - 1)));
    let id = |[x, y, z]: [u32; 3]| (x * count[1] + y) * count[2] + z;
    let points = lattice(count).map(|at| spacing * (DVec3::from_array(at.map(f64::from)) - middle)).collect();
    let cubes = lattice(count.map(|n| n - 1));
    let corner = |[x, y, z]: [u32; 3], bits: u8| {
        let step = |shift: u8| u32::from(bits >> shift & 1);
        id([x + step(2), y + step(1), z + step(0)])
    };
    let tets = cubes.flat_map(|at| CUBE.map(|tet| tet.map(|bits| corner(at, bits)))).collect();
    (points, tets)
}

/// All places of a lattice, the last coordinate quickest.
fn lattice(count: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    let row = move |x: u32, y: u32| (0..count[2]).map(move |z| [x, y, z]);
    (0..count[0]).flat_map(move |x| (0..count[1]).flat_map(move |y| row(x, y)))
}

/// Points on a surface, with one in the middle; all counts are at least two.
pub(super) fn hollow(shape: HollowShape, count: [u32; 3], spacing: DVec3) -> Tetrahedra {
    let half = spacing * 0.5 * DVec3::from_array(count.map(|n| f64::from(n - 1)));
    let mut ids: BTreeMap<[u32; 3], u32> = BTreeMap::new();
    let mut points = vec![DVec3::ZERO];
    // Sides across z, then y, then x; what is on an edge belongs to the first.
    let sides = [2, 1, 0].into_iter().flat_map(|axis| [(axis, 0), (axis, count[axis] - 1)]);
    for (axis, level) in sides.clone() {
        for at in on_side(count, axis, level, 0) {
            ids.entry(at).or_insert_with(|| {
                let unit = DVec3::from_array(
                    [0, 1, 2].map(|k| 2.0 * f64::from(at[k]) / f64::from(count[k] - 1) - 1.0),
                );
                points.push(projected(shape, unit) * half);
                points.len() as u32 - 1
            });
        }
    }
    let mut tets = Vec::new();
    for (axis, level) in sides {
        let [a, b] = [[1, 2], [0, 2], [0, 1]][axis];
        for at in on_side(count, axis, level, 1) {
            let corner = |da: u32, db: u32| {
                let mut at = at;
                (at[a], at[b]) = (at[a] + da, at[b] + db);
                ids[&at]
            };
            let [low, right, left, high] = [corner(0, 0), corner(1, 0), corner(0, 1), corner(1, 1)];
            tets.extend([[0, low, right, high], [0, low, high, left]]);
        }
    }
    (points, tets)
}

/// Places of a side, the later coordinate quickest, without the last `less` along each.
fn on_side(count: [u32; 3], axis: usize, level: u32, less: u32) -> impl Iterator<Item = [u32; 3]> {
    let [a, b] = [[1, 2], [0, 2], [0, 1]][axis];
    let place = move |i: u32, j: u32| {
        let mut at = [level; 3];
        (at[a], at[b]) = (i, j);
        at
    };
    (0..count[a] - less).flat_map(move |i| (0..count[b] - less).map(move |j| place(i, j)))
}

/// Where a point of the surface of the cube from −1 to 1 goes.
fn projected(shape: HollowShape, at: DVec3) -> DVec3 {
    match shape {
        HollowShape::Box => at,
        HollowShape::Cylinder => {
            let flat = at.truncate();
            (flat.normalize_or_zero() * flat.abs().max_element()).extend(at.z)
        }
        HollowShape::Ellipsoid => at.normalize_or_zero(),
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use sinew_math::TetMesh;

    use super::{HollowShape, grid, hollow};

    fn volume((points, tets): super::Tetrahedra) -> f64 {
        let (mesh, _) = TetMesh::with_repaired_winding(points, tets).expect("a mesh");
        (0..mesh.tets().len()).map(|tet| mesh.volume(tet)).sum()
    }

    #[test]
    fn grids_and_boxes_are_full() {
        let spacing = DVec3::new(0.1, 0.2, 0.3);
        assert!((volume(grid([3, 4, 2], spacing)) - 0.2 * 0.6 * 0.3).abs() < 1e-15);
        assert!((volume(hollow(HollowShape::Box, [3, 4, 3], spacing)) - 0.2 * 0.6 * 0.6).abs() < 1e-15);
        let [fine, coarse] = [9, 3]
            .map(|n| volume(hollow(HollowShape::Ellipsoid, [n; 3], DVec3::splat(2.0 / f64::from(n - 1)))));
        assert!(coarse < fine && fine < 4.19 && fine > 3.8, "{coarse} {fine}");
        assert!((volume(hollow(HollowShape::Cylinder, [9; 3], DVec3::splat(0.25))) - 6.2).abs() < 0.2);
    }

    /// MuJoCo 3.17 says so.
    #[test]
    fn points_are_in_the_order_of_mujoco() {
        let (points, tets) = hollow(HollowShape::Box, [3, 4, 3], DVec3::new(0.1, 0.2, 0.3));
        assert_eq!((points.len(), tets.len()), (35, 64));
        for (id, expected) in
            [(1, [-0.1, -0.3, -0.3]), (13, [-0.1, -0.3, 0.3]), (28, [-0.1, 0.3, 0.0]), (32, [-0.1, 0.1, 0.0])]
        {
            assert!(points[id].distance(DVec3::from_array(expected)) < 1e-15, "{id}: {}", points[id]);
        }
        assert!(tets.contains(&[0, 31, 15, 14]) || tets.contains(&[0, 31, 15, 32]));
        let (_, tets) = grid([2, 2, 3], DVec3::ONE);
        assert_eq!(tets[..2], [[0, 3, 6, 4], [0, 6, 1, 4]]);
    }
}
