//! Von Mises stress of tetrahedra, for pictures and files. Nothing in a step reads it.
//!
//! With the elastic deformation `F_e = F F_p⁻¹ = U diag(s) Vᵀ` the Cauchy stress has the principal values `σ_i = P̂_i(s) s_i / det F` (Pa), and the stress of von
//! Mises is `√(½ Σ_{i<j} (σ_i − σ_j)²)`: in a bar that is pulled, its tension; zero under pressure from all sides. It is that of the material at the strain of the single
//! tetrahedron, also where strain is a mean over neighbours. Viscous parts, fibres and damping are left out. A tetrahedron that is crushed or inverted counts as one
//! of [`LEAST_VOLUME`]. NaN in, NaN out. One SVD per tetrahedron.

use glam::DMat3;

use crate::fibres::FibrePlace;
use crate::mat3::Mat3;
use crate::materials::{law::MaterialLaw, with_law};
use crate::model::FemModel;
use crate::step::FemState;
use crate::svd::signed_svd;

/// Least volume, relative to that at rest, that forces are divided by.
const LEAST_VOLUME: f64 = 0.05;

impl FemModel {
    /// Writes the von Mises stress of every tetrahedron (Pa).
    ///
    /// # Panics
    /// If positions do not have one entry per node.
    pub fn fill_von_mises(&self, state: &FemState, out: &mut Vec<f64>) {
        assert_eq!(state.positions.len(), self.n_nodes(), "there must be one position per node");
        let mut plastic =
            self.flow_cells.places.iter().zip(&state.flow).filter_map(|(place, flow)| match place {
                FibrePlace::Tet(tet) => Some((*tet, flow.plastic)),
                FibrePlace::Patch(_) => None,
            });
        let mut next = plastic.next();
        out.clear();
        out.extend((0..self.n_tets()).map(|tet| {
            let f = self.mesh().deformation(tet, &state.positions);
            let flowed = next.take_if(|(place, _)| *place == tet);
            let shape = flowed.map_or(DMat3::IDENTITY, |(_, shape)| {
                next = plastic.next();
                shape
            });
            self.von_mises(tet, &f, &shape)
        }));
    }

    /// Von Mises stress of a tetrahedron with deformation gradient `F` and `F_p⁻¹`.
    fn von_mises(&self, tet: usize, f: &DMat3, plastic: &DMat3) -> f64 {
        let s = signed_svd::<f64>(&Mat3::from(*f * *plastic)).s;
        let p = with_law!(self.material_of(tet).law(), |law| law.stress(s));
        let volume = f.determinant().max(LEAST_VOLUME);
        let [a, b, c] = [0, 1, 2].map(|i| p[i] * s[i] / volume);
        (0.5 * ((a - b) * (a - b) + (b - c) * (b - c) + (c - a) * (c - a))).sqrt()
    }
}
