//! Where a place is in a mesh at rest: a walk from tetrahedron to tetrahedron towards it. Metres.
//! Cost: O(n log n) to build; a walk visits a few tetrahedra.

use glam::DVec3;
use sinew_math::{SurfacePoint, TetMesh};

/// Tetrahedra that a walk visits at most.
const WALK: usize = 256;
/// A place is in a tetrahedron if no weight is below this.
pub(crate) const IN_TET: f64 = -1e-9;
/// Marks a face of a tetrahedron without a neighbour.
const NONE: u32 = u32::MAX;

/// The tetrahedra across the faces opposite to the corners of each.
#[derive(Clone, Debug)]
pub(crate) struct TetWalk {
    neighbours: Vec<[u32; 4]>,
}

impl TetWalk {
    pub(crate) fn new(mesh: &TetMesh) -> Self {
        Self { neighbours: neighbours(mesh) }
    }

    /// Walks to the tetrahedron that contains a place; if the walk ends at the border, the best one on the way.
    pub(crate) fn locate(&self, mesh: &TetMesh, start: u32, place: DVec3) -> SurfacePoint {
        let mut best = SurfacePoint { tet: start, weights: weights_in(mesh, start, place) };
        let mut here = best;
        for _ in 0..WALK {
            let (corner, least) = lowest(&here.weights);
            if least > lowest(&best.weights).1 {
                best = here;
            }
            let next = self.neighbours[here.tet as usize][corner];
            if least >= IN_TET || next == NONE {
                break;
            }
            here = SurfacePoint { tet: next, weights: weights_in(mesh, next, place) };
        }
        best
    }
}

/// The smallest weight and its corner.
pub(crate) fn lowest(weights: &[f64; 4]) -> (usize, f64) {
    (1..4).fold((0, weights[0]), |least, i| if weights[i] < least.1 { (i, weights[i]) } else { least })
}

/// Barycentric coordinates of a place in a tetrahedron at rest.
pub(crate) fn weights_in(mesh: &TetMesh, tet: u32, place: DVec3) -> [f64; 4] {
    let from = place - mesh.corners(tet as usize)[0];
    let others = mesh.edge_matrix(tet as usize).inverse() * from;
    [1.0 - others.x - others.y - others.z, others.x, others.y, others.z]
}

/// The tetrahedra next to each.
fn neighbours(mesh: &TetMesh) -> Vec<[u32; 4]> {
    let mut faces: Vec<([u32; 3], u32, usize)> = Vec::with_capacity(4 * mesh.tets().len());
    for (tet, nodes) in mesh.tets().iter().enumerate() {
        for corner in 0..4 {
            let mut face = [0, 1, 2].map(|i| nodes[(corner + 1 + i) % 4]);
            face.sort_unstable();
            faces.push((face, tet as u32, corner));
        }
    }
    faces.sort_unstable();
    let mut out = vec![[NONE; 4]; mesh.tets().len()];
    for pair in faces.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let ((_, a, at_a), (_, b, at_b)) = (pair[0], pair[1]);
        out[a as usize][at_a] = b;
        out[b as usize][at_b] = a;
    }
    out
}
