//! Evaluating forces allocates nothing.

use crate::meshes::{lattice, model, shaken};
use glam::DVec3;
use sinew_fem::{Diagonalize, FemScratch, Material, elastic_energy, elastic_forces_scalar};
use sinew_testkit::Rng;

#[test]
fn forces_and_energy_allocate_nothing() {
    let mesh = lattice([6, 6, 6], 0.1);
    let x = shaken(&mesh, 0.05, &mut Rng::new(41));
    let model = model(mesh, Material::st_venant_kirchhoff(1e5, 0.4).unwrap());
    let mut scratch = FemScratch::new(&model);
    let mut f = vec![DVec3::ZERO; model.n_nodes()];
    let info = allocation_counter::measure(|| {
        for mode in [Diagonalize::Selective, Diagonalize::Always, Diagonalize::Never] {
            // the serial path: handing work to rayon's threads is rayon's business
            elastic_forces_scalar(&model, &x, mode, &mut scratch, &mut f);
            #[cfg(not(feature = "parallel"))]
            sinew_fem::elastic_forces(&model, &x, mode, &mut scratch, &mut f);
            elastic_energy(&model, &x, mode, &mut scratch);
        }
    });
    assert_eq!(info.count_total, 0);
}
