//! Conjugate gradients against dense solves, and what they report.

use super::lattice::{Lattice, SOFT};
use super::{dense, held, indices, random_element, random_elements, random_vector};
use glam::DVec3;
use sinew_solvers::{BlockJacobi, BlockMatrix, CgReport, CgScratch, CgSettings, CgStop};
use sinew_solvers::{HeldNodes, NodePreconditioner, SparsePattern, TwoLevel, conjugate_gradient};
use sinew_testkit::{Rng, scaled_difference};

fn solve(
    matrix: &BlockMatrix,
    preconditioner: &mut impl NodePreconditioner,
    is_fixed: &[bool],
    b: &[f64],
    x: &mut [f64],
    settings: &CgSettings,
) -> CgReport {
    let fixed = indices(is_fixed);
    let mut system = HeldNodes { matrix: &mut matrix.clone(), preconditioner, fixed: &fixed };
    conjugate_gradient(&mut system, b, x, settings, &mut CgScratch::new())
}

const TIGHT: CgSettings = CgSettings { precision: 1e-12, iterations: 2000 };

/// Solves by both preconditioners and compares with the dense solution.
fn compare(matrix: &BlockMatrix, rest: &[DVec3], is_fixed: &[bool], rng: &mut Rng, tolerance: f64) {
    let b = random_vector(rng, is_fixed);
    let expected = held(&dense(matrix), is_fixed).solve(&b).unwrap();
    let mut jacobi = BlockJacobi::new(is_fixed);
    jacobi.refresh(matrix);
    let mut two = TwoLevel::new(matrix.pattern(), rest, is_fixed);
    two.refresh(matrix, rest);
    let mut x = vec![0.0; b.len()];
    let report = solve(matrix, &mut jacobi, is_fixed, &b, &mut x, &TIGHT);
    assert_eq!(report.stop, CgStop::Converged, "{report:?}");
    assert!(scaled_difference(&x[..], &expected[..]) < tolerance);
    // From a start that is far away.
    let mut x = random_vector(rng, is_fixed);
    let report = solve(matrix, &mut two, is_fixed, &b, &mut x, &TIGHT);
    assert_eq!(report.stop, CgStop::Converged, "{report:?}");
    assert!(scaled_difference(&x[..], &expected[..]) < tolerance);
}

#[test]
fn random_elements_as_dense() {
    let mut rng = Rng::new(2);
    for n_nodes in [4, 7, 20, 40] {
        let elements = random_elements(&mut rng, 2 * n_nodes, n_nodes);
        let mut matrix = BlockMatrix::new(SparsePattern::new(n_nodes, &elements).unwrap());
        matrix.assemble(|fill| {
            (0..elements.len()).for_each(|element| fill.add_element(element, &random_element(&mut rng)));
            (0..n_nodes).for_each(|node| fill.add_mass(node, 0.01));
        });
        let rest: Vec<DVec3> = (0..n_nodes).map(|_| rng.vec3(-1.0, 1.0)).collect();
        let is_fixed: Vec<bool> = (0..n_nodes).map(|_| rng.chance(0.2)).collect();
        compare(&matrix, &rest, &is_fixed, &mut rng, 1e-8);
    }
}

#[test]
fn elastic_lattices_as_dense() {
    let mut rng = Rng::new(4);
    let lattice = Lattice::new([6, 2, 2], 0.05);
    for (h, is_fixed) in
        [(1.0 / 60.0, lattice.clamped()), (1e-3, lattice.clamped()), (1e-2, vec![false; lattice.rest.len()])]
    {
        compare(&lattice.matrix(SOFT, h), &lattice.rest, &is_fixed, &mut rng, 1e-8);
    }
}

#[test]
fn the_residual_reported_is_that_of_the_answer() {
    let mut rng = Rng::new(6);
    let lattice = Lattice::cantilever(3);
    let (matrix, is_fixed) = (lattice.matrix(SOFT, 1.0 / 60.0), lattice.clamped());
    let b = random_vector(&mut rng, &is_fixed);
    let mut jacobi = BlockJacobi::new(&is_fixed);
    jacobi.refresh(&matrix);
    let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    for (settings, stop) in [
        (CgSettings { precision: 1e-5, iterations: 1000 }, CgStop::Converged),
        (CgSettings { precision: 1e-5, iterations: 7 }, CgStop::Budget),
        (CgSettings { precision: 1e-5, iterations: 0 }, CgStop::Budget),
        (CgSettings { precision: 1e-17, iterations: 9999 }, CgStop::Rounding),
    ] {
        let mut x = vec![0.0; b.len()];
        let report = solve(&matrix, &mut jacobi, &is_fixed, &b, &mut x, &settings);
        assert_eq!(report.stop, stop, "{report:?}");
        assert!(report.iterations <= settings.iterations);
        let mut r = vec![0.0; b.len()];
        matrix.clone().times(&x, &mut r);
        for k in 0..r.len() {
            r[k] = if is_fixed[k / 3] { 0.0 } else { b[k] - r[k] };
        }
        assert!((report.residual - norm(&r) / norm(&b)).abs() < 1e-9 * report.residual, "{report:?}");
        if stop == CgStop::Rounding {
            assert!(report.residual < 1e-13, "{report:?}");
        }
    }
}

#[test]
fn a_good_start_saves_iterations() {
    let mut rng = Rng::new(7);
    let lattice = Lattice::cantilever(3);
    let (matrix, is_fixed) = (lattice.matrix(SOFT, 1.0 / 60.0), lattice.clamped());
    let b = random_vector(&mut rng, &is_fixed);
    let mut two = TwoLevel::new(matrix.pattern(), &lattice.rest, &is_fixed);
    two.refresh(&matrix, &lattice.rest);
    let settings = CgSettings::default();
    let mut x = vec![0.0; b.len()];
    let cold = solve(&matrix, &mut two, &is_fixed, &b, &mut x, &settings);
    let again = solve(&matrix, &mut two, &is_fixed, &b, &mut x, &settings);
    assert_eq!((again.iterations, again.stop), (0, CgStop::Converged));
    x.iter_mut().for_each(|x| *x *= 0.999);
    let warm = solve(&matrix, &mut two, &is_fixed, &b, &mut x, &settings);
    assert!(3 * warm.iterations < 2 * cold.iterations, "{} cold, {} warm", cold.iterations, warm.iterations);
}

#[test]
fn nothing_allocates_after_set_up() {
    let mut rng = Rng::new(8);
    let lattice = Lattice::cantilever(3);
    let (mut matrix, is_fixed) = (lattice.matrix(SOFT, 1.0 / 60.0), lattice.clamped());
    let (stiffness, fixed) = (lattice.stiffness(SOFT), indices(&is_fixed));
    let b = random_vector(&mut rng, &is_fixed);
    let mut two = TwoLevel::new(matrix.pattern(), &lattice.rest, &is_fixed);
    let (mut x, mut scratch) = (vec![0.0; b.len()], CgScratch::new());
    for expected in [4, 0] {
        let info = allocation_counter::measure(|| {
            matrix.assemble(|fill| {
                stiffness.iter().enumerate().for_each(|(element, blocks)| fill.add_element(element, blocks));
                (0..is_fixed.len()).for_each(|node| fill.add_mass(node, 1e5));
            });
            two.refresh(&matrix, &lattice.rest);
            x.fill(0.0);
            let mut system = HeldNodes { matrix: &mut matrix, preconditioner: &mut two, fixed: &fixed };
            conjugate_gradient(&mut system, &b, &mut x, &CgSettings::default(), &mut scratch);
        });
        assert_eq!(info.count_total, expected, "the four vectors of the first solve");
    }
}
