//! Barycentric coordinates of points in a tetrahedron, and its volume (m³). Constant cost.

use glam::{DMat3, DVec3};

/// The map from world to the last three barycentric coordinates of a tetrahedron: `φ = inverse (x − origin)`.
#[derive(Clone, Copy)]
pub(crate) struct Barycentric {
    origin: DVec3,
    inverse: DMat3,
}

impl Barycentric {
    pub(crate) fn new([a, b, c, d]: [DVec3; 4]) -> Self {
        Self { origin: a, inverse: DMat3::from_cols(b - a, c - a, d - a).inverse() }
    }

    /// The coordinates φ₁, φ₂, φ₃; φ₀ is 1 minus their sum.
    pub(crate) fn of(&self, x: DVec3) -> DVec3 {
        self.inverse * (x - self.origin)
    }

    /// All four coordinates, and the smallest of them.
    pub(crate) fn all(&self, x: DVec3) -> ([f64; 4], f64) {
        let p = self.of(x);
        let first = 1.0 - p.x - p.y - p.z;
        ([first, p.x, p.y, p.z], first.min(p.min_element()))
    }
}

/// Signed volume (m³). Masses of embedded bodies are made of this product; [`sinew_math::TetMesh::volume`] rounds
/// differently in the last bit.
pub(crate) fn signed_volume([a, b, c, d]: [DVec3; 4]) -> f64 {
    (b - a).dot((c - a).cross(d - a)) / 6.0
}
