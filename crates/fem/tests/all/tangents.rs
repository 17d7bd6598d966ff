//! Element matrices: derivatives, symmetry, kernel, the forces beside them.

use crate::meshes::{lattice, model, shaken, unit_tet};
use glam::{DMat3, DVec3};
use sinew_fem::{
    Diagonalize, ElementTangent, Extension, FemModel, FemScratch, Material, Projection, STIFFNESS_PAIRS,
    elastic_forces, for_each_tangent,
};
use sinew_testkit::{Rng, assert_close};

fn materials() -> [Material; 2] {
    let stvk = Material::st_venant_kirchhoff(1.0, 0.4).unwrap();
    [stvk.with_extension(Extension::Conservative), Material::neo_hookean(1.0, 0.4).unwrap()]
}

fn tangents(model: &FemModel, x: &[DVec3], projection: Projection) -> Vec<ElementTangent> {
    let mut all = vec![None; model.n_tets()];
    let report = for_each_tangent(model, x, projection, &mut FemScratch::new(model), |tet, tangent| {
        assert!(all[tet].replace(*tangent).is_none(), "{tet} twice");
    });
    assert_eq!(report.non_finite, None);
    all.into_iter().map(Option::unwrap).collect()
}

fn forces(model: &FemModel, x: &[DVec3]) -> Vec<DVec3> {
    let mut forces = vec![DVec3::NAN; model.n_nodes()];
    elastic_forces(model, x, Diagonalize::Selective, &mut FemScratch::new(model), &mut forces);
    forces
}

/// The block of corners `a, b`, transposed from the other side if needed.
fn block(tangent: &ElementTangent, a: usize, b: usize) -> DMat3 {
    let at = |a: usize, b: usize| STIFFNESS_PAIRS.iter().position(|&pair| pair == (a, b)).unwrap();
    if a <= b { tangent.stiffness[at(a, b)] } else { tangent.stiffness[at(b, a)].transpose() }
}

#[test]
fn exact_stiffness_is_minus_the_derivative_of_the_forces() {
    let mut rng = Rng::new(51);
    for material in materials() {
        for amplitude in [0.05, 0.5, 1.5] {
            for _ in 0..40 {
                let model = model(unit_tet(), material);
                let x = shaken(model.mesh(), amplitude, &mut rng);
                let tangent = tangents(&model, &x, Projection::Exact)[0];
                for b in 0..4 {
                    for axis in 0..3 {
                        let moved = |t: f64| {
                            let mut x = x.clone();
                            x[b][axis] += t;
                            forces(&model, &x)
                        };
                        let h = 1e-6;
                        let (plus, minus) = (moved(h), moved(-h));
                        for a in 0..4 {
                            let slope = (minus[a] - plus[a]) / (2.0 * h);
                            let column = block(&tangent, a, b).col(axis);
                            let size = tangent.stiffness.iter().map(|k| k.x_axis.length()).sum::<f64>();
                            // a kink within h of the state costs half the jump of the tangent; none of the seeds has one
                            assert!((slope - column).length() < 1e-6 * size.max(1.0), "{slope} {column}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn element_matrices_are_symmetric_semidefinite_and_know_translations() {
    let mut rng = Rng::new(52);
    for material in materials() {
        let mesh = lattice([3, 3, 3], 0.3);
        let x = shaken(&mesh, 0.2, &mut rng);
        let model = model(mesh, material);
        for tangent in tangents(&model, &x, Projection::Semidefinite) {
            let size = tangent.stiffness.iter().map(|k| k.x_axis.length()).sum::<f64>();
            for a in 0..4 {
                assert_close!(
                    block(&tangent, a, a),
                    block(&tangent, a, a).transpose(),
                    1e-14 * size.max(1.0)
                );
                let sum: DMat3 = (0..4).map(|b| block(&tangent, a, b)).fold(DMat3::ZERO, |s, k| s + k);
                assert!(sum.x_axis.length() + sum.y_axis.length() + sum.z_axis.length() < 1e-14 * size);
            }
            for _ in 0..20 {
                let v: [DVec3; 4] = std::array::from_fn(|_| rng.vec3(-1.0, 1.0));
                let energy: f64 = (0..4)
                    .flat_map(|a| (0..4).map(move |b| (a, b)))
                    .map(|(a, b)| v[a].dot(block(&tangent, a, b) * v[b]))
                    .sum();
                assert!(energy > -1e-13 * size, "{energy}");
            }
        }
    }
}

#[test]
fn forces_beside_the_stiffness_are_the_elastic_forces() {
    let mut rng = Rng::new(53);
    let [conservative, neo_hookean] = materials();
    for material in [conservative, neo_hookean, conservative.with_extension(Extension::PerStretch)] {
        let mesh = lattice([4, 3, 3], 0.3);
        let x = shaken(&mesh, 0.15, &mut rng);
        let model = model(mesh, material);
        let mut assembled = vec![DVec3::ZERO; model.n_nodes()];
        for (tangent, nodes) in tangents(&model, &x, Projection::default()).iter().zip(model.mesh().tets()) {
            for (force, &node) in tangent.forces.iter().zip(nodes) {
                assembled[node as usize] += *force;
            }
        }
        for (a, b) in assembled.iter().zip(forces(&model, &x)) {
            assert!((*a - b).length() < 1e-14, "{a} {b}");
        }
    }
}

#[test]
fn bad_numbers_give_zeros_and_a_report() {
    let model = model(lattice([2, 2, 2], 0.1), materials()[0]);
    for bad in [f64::NAN, f64::INFINITY, 1e200] {
        let mut x = model.mesh().positions().to_vec();
        x[5].z = bad;
        let mut n_zero = 0;
        let mut scratch = FemScratch::new(&model);
        let report = for_each_tangent(&model, &x, Projection::Semidefinite, &mut scratch, |tet, tangent| {
            let is_bad = model.mesh().tets()[tet].contains(&5);
            assert!(tangent.stiffness.iter().all(|k| k.is_finite()));
            if is_bad {
                n_zero += 1;
                assert_eq!(tangent.stiffness[0], DMat3::ZERO);
            }
        });
        assert!(n_zero > 0 && report.non_finite.is_some(), "{bad}");
    }
}
