//! Surfaces to test with.

use glam::{DQuat, DVec3};
use sinew_mesh::{MeshError, RoundShape, Surface, mesh_shapes};
use sinew_testkit::Rng;

/// Positions and outward triangles of a box.
pub(crate) fn box_parts(lo: DVec3, hi: DVec3) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let unit = sinew_mesh::cube(1.0, 1).unwrap();
    (unit.positions().iter().map(|&p| lo + (hi - lo) * p).collect(), unit.boundary())
}

/// A box.
pub(crate) fn box_surface(lo: DVec3, hi: DVec3) -> Surface {
    let (positions, triangles) = box_parts(lo, hi);
    Surface::new(positions, triangles).unwrap()
}

/// Several lists of triangles as one.
pub(crate) fn together(parts: &[(Vec<DVec3>, Vec<[u32; 3]>)]) -> Result<Surface, MeshError> {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for (points, corners) in parts {
        let first = positions.len() as u32;
        positions.extend(points);
        triangles.extend(corners.iter().map(|t| t.map(|i| i + first)));
    }
    Surface::new(positions, triangles)
}

/// A random lump of molten capsules and ellipsoids, about one metre across.
pub(crate) fn lump(rng: &mut Rng, cell: f64) -> Surface {
    let mut shapes = Vec::new();
    let mut at = DVec3::ZERO;
    for _ in 0..2 + rng.below(3) {
        let next = at + rng.unit_vec() * rng.uniform(0.2, 0.4);
        shapes.push(match rng.below(2) {
            0 => RoundShape::Ellipsoid { centre: at, half: rng.vec3(0.15, 0.3) },
            _ => RoundShape::Capsule {
                ends: [at, next],
                radii: [rng.uniform(0.1, 0.2), rng.uniform(0.1, 0.2)],
            },
        });
        at = next;
    }
    mesh_shapes(&shapes, 0.1, DVec3::splat(cell)).unwrap()
}

/// The same surface elsewhere.
pub(crate) fn moved(surface: &Surface, rotation: DQuat, by: DVec3) -> Surface {
    let positions = surface.positions().iter().map(|&p| rotation * p + by).collect();
    Surface::new(positions, surface.triangles().to_vec()).unwrap()
}
