//! How fast bones can vibrate in explicit flesh: it steps around bones that follow their twists, and they feel the mean of its forces, so a step
//! has to resolve that.
//!
//! The free nodes of an element stand still, those fixed to a bone move with a unit of its motion, scaled by its mass `m` and principal moments `I`:
//! no point `r` of the bone (central frame) is faster than `s(r)`,
//!
//! ```text
//! s² = 1/m + (y² + z²)/I₁ + (x² + z²)/I₂ + (x² + y²)/I₃        ω² ≤ Σ_e wV (λ + 2μ) (|Σ ∇φ_n| s(c) + Σ |∇φ_n| t(r_n − c))²
//! ```
//!
//! over the elements with nodes on the bone and others; `n` are those on it, `c` is the middle of these, and `t² = s² − 1/m`. The moduli are those at the upper end of the
//! band. Fibres are left out. The true rate is less, for free nodes yield. Units 1/s; cost linear in tetrahedra, once.

use glam::DVec3;
use sinew_mechanism::{BodyId, Model};

use crate::{body::FleshBody, model::FleshModel};

impl FleshModel {
    /// A bound on the circular frequency of the bones that forces move in their flesh, 1/s; zero if there are none.
    pub fn bone_rate(&self, model: &Model) -> f64 {
        let mut squares = vec![0.0; model.n_bodies()];
        for body in &self.bodies {
            add_squares(body, model, &mut squares);
        }
        squares.into_iter().fold(0.0, f64::max).sqrt()
    }
}

/// In place of the bone of a node that has none.
const FREE_NODE: usize = usize::MAX;

/// Adds what one body of flesh adds to the squared rate of each bone.
fn add_squares(body: &FleshBody, model: &Model, squares: &mut [f64]) {
    let mut points = vec![(FREE_NODE, DVec3::ZERO); body.fem.n_nodes()];
    for attached in body.attachments.attached() {
        points[attached.node as usize] = (body.bones[attached.bone as usize], attached.point_in_bone);
    }
    for (tet, nodes) in body.fem.mesh().tets().iter().enumerate() {
        let corners = nodes.map(|node| points[node as usize]);
        let is_one = corners.iter().all(|corner| corner.0 == corners[0].0);
        let is_moved = |bone: usize| bone != FREE_NODE && model.port_of(BodyId::from_index(bone)).is_some();
        for (k, &(bone, _)) in corners.iter().enumerate() {
            let is_first = corners[..k].iter().all(|corner| corner.0 != bone);
            if !is_one && is_first && is_moved(bone) {
                squares[bone] += square(body, tet, (BodyId::from_index(bone), &corners), model);
            }
        }
    }
}

/// What an element adds to the squared rate of a bone, 1/s².
fn square(
    body: &FleshBody,
    tet: usize,
    (bone, corners): (BodyId, &[(usize, DVec3); 4]),
    model: &Model,
) -> f64 {
    let (mass, moments) = (model.body_mass(bone), model.principal_moments(bone));
    let fem = &body.fem;
    let on_bone = || {
        let nodes = corners.iter().zip(fem.area_normals(tet));
        nodes.filter(|(corner, _)| corner.0 == bone.index()).map(|(corner, normal)| (corner.1, normal))
    };
    let n = on_bone().count() as f64;
    let middle = on_bone().fold(DVec3::ZERO, |sum, (point, _)| sum + point) / n;
    let turned = |r: DVec3| {
        let [x, y, z] = (r * r).to_array();
        (DVec3::new(y + z, x + z, x + y) / moments).element_sum()
    };
    let together = on_bone().fold(DVec3::ZERO, |sum, (_, normal)| sum + normal).length();
    let apart: f64 = on_bone().map(|(point, normal)| normal.length() * turned(point - middle).sqrt()).sum();
    let strain = together * (1.0 / mass + turned(middle)).sqrt() + apart;
    fem.largest_modulus(tet) * strain * strain / fem.filled_volume(tet)
}
