//! A material of one's own: rubber that stiffens as it stretches (Yeoh), on the meshes of the crate, with explicit steps.
//!
//! Energy per volume `W = c₁ (I₁ − 3) + c₂ (I₁ − 3)² + κ/2 (J − 1 − 2c₁/κ)²`, with `I₁ = |F|²` and `J = det F`; first Piola–Kirchhoff stress
//! `P = (2c₁ + 4c₂ (I₁ − 3)) F + κ (J − 1 − 2c₁/κ) cof F`; forces on corners 1 to 3 of an element: the columns of `−V P D⁻ᵀ`, D its edges at rest.

use glam::{DMat3, DVec3};
use sinew_fem::{TetMesh, TetMeshError};

/// Constants (Pa).
struct Yeoh {
    c1: f64,
    c2: f64,
    bulk: f64,
}

impl Yeoh {
    /// First Piola–Kirchhoff stress of a deformation (Pa).
    fn stress(&self, f: DMat3) -> DMat3 {
        let excess = f.x_axis.length_squared() + f.y_axis.length_squared() + f.z_axis.length_squared() - 3.0;
        let cofactors =
            DMat3::from_cols(f.y_axis.cross(f.z_axis), f.z_axis.cross(f.x_axis), f.x_axis.cross(f.y_axis));
        let pressure = self.bulk * (f.determinant() - 1.0) - 2.0 * self.c1;
        f * (2.0 * self.c1 + 4.0 * self.c2 * excess) + cofactors * pressure
    }
}

/// Adds the forces of a material on the nodes (N).
fn add_forces(mesh: &TetMesh, law: &Yeoh, positions: &[DVec3], forces: &mut [DVec3]) {
    for (tet, corners) in mesh.tets().iter().enumerate() {
        let stress = law.stress(mesh.deformation(tet, positions));
        let on_corners = stress * mesh.edge_matrix(tet).inverse().transpose() * -mesh.volume(tet);
        let [a, b, c, d] = corners.map(|corner| corner as usize);
        for (node, force) in
            [b, c, d].into_iter().zip([on_corners.x_axis, on_corners.y_axis, on_corners.z_axis])
        {
            forces[node] += force;
            forces[a] -= force;
        }
    }
}

/// A stretched tetrahedron of 10 cm is let go: its corners after some steps (m), its largest error of an edge at the end (m), and its momentum then (kg·m/s).
pub(crate) fn run(n_steps: u32) -> Result<(Vec<DVec3>, [f64; 2]), TetMeshError> {
    let corners = vec![DVec3::ZERO, DVec3::X * 0.1, DVec3::Y * 0.1, DVec3::Z * 0.1];
    let mesh = TetMesh::new(corners.clone(), vec![[0, 1, 2, 3]])?;
    let law = Yeoh { c1: 1e4, c2: 2e3, bulk: 1e5 };
    let (mass, h, damping) = (0.25 * 1000.0 * mesh.volume(0), 1e-4, 20.0);
    let mut x: Vec<DVec3> = corners.iter().map(|corner| *corner * DVec3::new(2.0, 0.8, 0.9)).collect();
    let mut v = vec![DVec3::ZERO; 4];
    for _ in 0..n_steps {
        let mut forces = vec![DVec3::ZERO; 4];
        add_forces(&mesh, &law, &x, &mut forces);
        for ((x, v), force) in x.iter_mut().zip(&mut v).zip(forces) {
            *v = (*v + h / mass * force) / (1.0 + h * damping);
            *x += h * *v;
        }
    }
    let error = |[a, b]: [u32; 2]| {
        let [a, b] = [a as usize, b as usize];
        (x[a].distance(x[b]) - corners[a].distance(corners[b])).abs()
    };
    let momentum = v.iter().sum::<DVec3>() * mass;
    let error = mesh.edges().into_iter().map(error).fold(0.0, f64::max);
    Ok((x, [error, momentum.length()]))
}

#[expect(clippy::print_stdout, reason = "a program for people")]
fn main() -> Result<(), TetMeshError> {
    let (_, [error, momentum]) = run(10_000)?;
    println!("after a second its edges are off by {error:.1e} m, and its momentum is {momentum:.1e} kg m/s");
    Ok(())
}
