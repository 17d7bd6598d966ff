//! Exact integrals over the common part of a tetrahedron and a closed chain of triangles.
//!
//! These are the fill ratio and the nodal masses of KP08 §4.1. In a tetrahedron K the barycentric coordinates u = (φ₁,
//! φ₂, φ₃) are the space. The part of a chain beyond φ₀ = 0 is cut off and closed by a fan of signed triangles. The
//! rest is clipped by uᵢ ≥ 0. It need not be closed, because all three planes contain the apex u = 0 of the signed
//! tetrahedra (0, a, b, c) that are summed: `V(K ∩ solid)/V(K) = Σ det(a, b, c)`,
//! `∫φᵢ/V(K) = Σ det(a, b, c) (aᵢ + bᵢ + cᵢ)/4`.
//!
//! No allocation; a few tens of nanoseconds per triangle. The result is exact up to rounding, also where triangles and
//! faces coincide.

use glam::DVec3;

/// The running integrals over one tetrahedron, in its barycentric coordinates.
#[derive(Default)]
pub(crate) struct OverlapSum {
    fill: f64,
    first: DVec3,
}

impl OverlapSum {
    /// Adds what a triangle of a closed chain contributes.
    pub(crate) fn add(&mut self, corners: [DVec3; 3]) {
        let near = corners.map(|p| first_coordinate(p) >= 0.0);
        let outside = |axis: usize| corners.iter().all(|p| p[axis] <= 0.0);
        if near == [true; 3] {
            if !(outside(0) || outside(1) || outside(2)) {
                self.add_within(ClippedPolygon::new(corners));
            }
            return;
        }
        if near == [false; 3] {
            return;
        }
        let mut part = ClippedPolygon::new(corners);
        let cut = part.clip(first_coordinate);
        self.add_within(part);
        if let Some([leaves, returns]) = cut {
            // the fan from the node (1, 0, 0): flat, thus empty, against the two planes through it
            let miss = |axis: usize| leaves[axis] <= 0.0 && returns[axis] <= 0.0;
            if !(miss(1) || miss(2)) {
                self.add_within(ClippedPolygon::new([DVec3::X, returns, leaves]));
            }
        }
    }

    /// Adds the signed tetrahedra between the origin and the part of a polygon with no negative coordinate.
    fn add_within(&mut self, mut polygon: ClippedPolygon) {
        for axis in 0..3 {
            polygon.clip(|p| p[axis]);
        }
        for k in 2..polygon.n {
            let [a, b, c] = [polygon.corners[0], polygon.corners[k - 1], polygon.corners[k]];
            let det = a.dot(b.cross(c));
            self.fill += det;
            self.first += (a + b + c) * (0.25 * det);
        }
    }

    /// Integrals of φ₀ to φ₃ over the volume of the tetrahedron.
    pub(crate) fn nodal(&self) -> [f64; 4] {
        let Self { fill, first } = *self;
        [fill - first.x - first.y - first.z, first.x, first.y, first.z]
    }
}

/// φ₀ from the other three.
fn first_coordinate(p: DVec3) -> f64 {
    1.0 - p.x - p.y - p.z
}

/// A triangle clipped by up to four planes: at most seven corners, thirteen if rounding dents it at every cut.
struct ClippedPolygon {
    corners: [DVec3; 16],
    n: usize,
}

impl ClippedPolygon {
    fn new(triangle: [DVec3; 3]) -> Self {
        let mut corners = [DVec3::ZERO; 16];
        corners[..3].copy_from_slice(&triangle);
        Self { corners, n: 3 }
    }

    /// Keeps the part where `level` is not negative; returns where the outline leaves it and where it comes back.
    fn clip(&mut self, level: impl Fn(DVec3) -> f64) -> Option<[DVec3; 2]> {
        let old = self.corners;
        let n_old = std::mem::replace(&mut self.n, 0);
        let (mut leaves, mut returns) = (None, None);
        for k in 0..n_old {
            let (p, q) = (old[k], old[(k + 1) % n_old]);
            let (at_p, at_q) = (level(p), level(q));
            if at_p >= 0.0 {
                self.push(p);
            }
            if (at_p >= 0.0) != (at_q >= 0.0) {
                let x = if at_p < at_q {
                    p + (q - p) * (at_p / (at_p - at_q))
                } else {
                    q + (p - q) * (at_q / (at_q - at_p))
                };
                self.push(x);
                *(if at_p >= 0.0 { &mut leaves } else { &mut returns }) = Some(x);
            }
        }
        Some([leaves?, returns?])
    }

    fn push(&mut self, p: DVec3) {
        self.corners[self.n] = p;
        self.n += 1;
    }
}

/// The twelve outward triangles of a box.
pub(crate) fn box_triangles(lo: DVec3, hi: DVec3) -> impl Iterator<Item = [DVec3; 3]> {
    let corner = move |bits: usize| {
        let pick = |axis: usize| if bits >> axis & 1 == 1 { hi[axis] } else { lo[axis] };
        DVec3::new(pick(0), pick(1), pick(2))
    };
    const QUADS: [[usize; 4]; 6] =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    QUADS.into_iter().flat_map(move |[a, b, c, d]| [[a, b, c], [a, c, d]].map(|t| t.map(corner)))
}
