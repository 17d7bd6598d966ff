//! Regions with a material of their own: derivatives, the flesh around them, two springs in a row, same bits at any width.

use crate::meshes::{lattice, shaken};
use crate::stars::{assembled, energy, forces, irregular};
use glam::DVec3;
use sinew_fem::{
    Diagonalize, Extension, FemModel, FemOptions, FemScratch, Lame, Material, Projection, Regions, Strain,
    TetMesh, elastic_energy, elastic_forces_scalar, stable_dt,
};
use sinew_testkit::Rng;

fn stvk(young: f64, poisson: f64) -> Material {
    Material::st_venant_kirchhoff(young, poisson).unwrap().with_extension(Extension::Conservative)
}

/// Three regions beside each other along x, the last with another law.
fn parted(mesh: TetMesh, strain: Strain) -> FemModel {
    let middle = |tet: &[u32; 4]| tet.iter().map(|&n| mesh.positions()[n as usize].x).sum::<f64>() / 4.0;
    let of_tets = mesh.tets().iter().map(|tet| (middle(tet) as u32).min(2)).collect();
    let materials = vec![stvk(7.0, 0.1), Material::neo_hookean(0.3, 0.45).unwrap()];
    let options = FemOptions { strain, regions: Regions { materials, of_tets }, ..FemOptions::default() };
    FemModel::new(mesh, stvk(1.0, 0.4), &options).unwrap()
}

#[test]
fn forces_and_stiffness_of_regions_are_derivatives() {
    let mut rng = Rng::new(5);
    for strain in [Strain::Local, Strain::Mean] {
        let model = parted(irregular(&mut rng), strain);
        assert!((0..model.n_stars()).any(|star| model.star_region(star) == 2) || strain == Strain::Local);
        let x = shaken(model.mesh(), 0.3, &mut rng);
        let (found, (matrix, beside)) = (forces(&model, &x), assembled(&model, &x, Projection::Exact));
        found.iter().zip(&beside).for_each(|(a, b)| assert!((*a - *b).length() < 1e-12, "{a} {b}"));
        for (node, axis) in (0..x.len()).flat_map(|node| [(node, 0), (node, 1), (node, 2)]) {
            let moved = |t: f64| {
                let mut x = x.clone();
                x[node][axis] += t;
                x
            };
            let h = 1e-6;
            let slope = (energy(&model, &moved(h)) - energy(&model, &moved(-h))) / (2.0 * h);
            assert!((slope + found[node][axis]).abs() < 1e-6, "{slope} {}", found[node]);
            let (plus, minus) = (forces(&model, &moved(h)), forces(&model, &moved(-h)));
            for (other, (plus, minus)) in plus.iter().zip(&minus).enumerate() {
                let column = (*minus - *plus) / (2.0 * h);
                for k in 0..3 {
                    let entry = matrix[3 * other + k][3 * node + axis];
                    assert!((entry - column[k]).abs() < 3e-5, "{entry} {column}");
                }
            }
        }
    }
}

/// Each region has the energy that flesh of its material alone would have there.
#[test]
fn energy_is_the_sum_of_the_regions() {
    let mut rng = Rng::new(9);
    let mesh = lattice([6, 2, 2], 0.5);
    let model = parted(mesh.clone(), Strain::Local);
    let x = shaken(&mesh, 0.1, &mut rng);
    let each = |tet: usize| model.material_of(tet).energy(&mesh.deformation(tet, &x)) * mesh.volume(tet);
    let sum: f64 = (0..mesh.tets().len()).map(each).sum();
    let found = elastic_energy(&model, &x, Diagonalize::Selective, &mut FemScratch::new(&model));
    assert!((found - sum).abs() < 1e-12 * sum, "{found} {sum}");
    let mut scalar = vec![DVec3::ZERO; model.n_nodes()];
    elastic_forces_scalar(&model, &x, Diagonalize::Selective, &mut FemScratch::new(&model), &mut scalar);
    assert_eq!(scalar, forces(&model, &x), "the same bits without SIMD");
}

/// A region of the same material changes nothing but the order of sums; another one changes the stable step.
#[test]
fn a_region_of_the_same_material_is_no_region() {
    let mut rng = Rng::new(11);
    for strain in [Strain::Local, Strain::Mean] {
        let mesh = lattice([4, 3, 2], 0.3);
        let x = shaken(&mesh, 0.02, &mut rng);
        let of_tets: Vec<u32> =
            (0..mesh.tets().len()).map(|tet| u32::from(tet < mesh.tets().len() / 2)).collect();
        let built = |regions: Regions| {
            let options = FemOptions { strain, regions, ..FemOptions::default() };
            FemModel::new(mesh.clone(), stvk(2.0, 0.3), &options).unwrap()
        };
        let with =
            |material: Material| built(Regions { materials: vec![material], of_tets: of_tets.clone() });
        let (plain, alike) = (built(Regions::default()), with(stvk(2.0, 0.3)));
        for (a, b) in forces(&plain, &x).iter().zip(forces(&alike, &x)) {
            assert!((*a - b).length() < if strain == Strain::Local { 1e-14 } else { 1e-2 }, "{a} {b}");
        }
        assert!((stable_dt(&alike) / stable_dt(&plain) - 1.0).abs() < 1e-12);
        let stiff = stable_dt(&with(stvk(200.0, 0.3)));
        assert!((stable_dt(&plain) / stiff - 10.0).abs() < 1.0, "{stiff}");
    }
}

#[test]
fn regions_that_do_not_fit_are_refused() {
    let mesh = lattice([1, 1, 1], 1.0);
    let built = |of_tets: Vec<u32>| {
        let regions = Regions { materials: vec![stvk(1.0, 0.3)], of_tets };
        FemModel::new(mesh.clone(), stvk(1.0, 0.3), &FemOptions { regions, ..FemOptions::default() })
    };
    let n = mesh.tets().len();
    assert!(built(vec![0; n - 1]).is_err() && built(vec![2; n]).is_err());
    let model = built(vec![1; n]).unwrap();
    assert_eq!(model.region(0), 1);
    assert_eq!(model.material_of(0).lame(), Lame::new(1.0, 0.3).unwrap());
}
