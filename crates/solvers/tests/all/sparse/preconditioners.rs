//! Preconditioners: symmetric, positive definite, and what their formulas say.

use super::lattice::{Lattice, SOFT};
use super::{dense, held, indices, random_vector};
use glam::{DMat3, DVec3};
use sinew_solvers::{BlockJacobi, BlockMatrix, CgSettings, HeldNodes, NodePreconditioner, TwoLevel};
use sinew_solvers::{CgReport, CgScratch, CgStop, conjugate_gradient};
use sinew_testkit::{Dense, Rng, scaled_difference};

const STEP: f64 = 1.0 / 60.0;

/// Every entry of a preconditioner.
fn written(preconditioner: &mut impl NodePreconditioner, n: usize) -> Dense {
    let mut columns = vec![vec![0.0; n]; n];
    for (j, column) in columns.iter_mut().enumerate() {
        let mut unit = vec![0.0; n];
        unit[j] = 1.0;
        preconditioner.apply(&unit, column);
    }
    Dense::from_fn(n, n, |i, j| columns[j][i])
}

fn block_jacobi(matrix: &BlockMatrix, is_fixed: &[bool]) -> BlockJacobi {
    let mut jacobi = BlockJacobi::new(is_fixed);
    assert_eq!(jacobi.refresh(matrix), 0);
    jacobi
}

fn two_level(lattice: &Lattice, matrix: &BlockMatrix, is_fixed: &[bool], size: usize) -> TwoLevel {
    let mut two = TwoLevel::with_group_size(matrix.pattern(), &lattice.rest, is_fixed, size);
    assert_eq!(two.refresh(matrix, &lattice.rest), 0);
    two
}

/// `z₁·r₂ = z₂·r₁` and `z·r > 0`.
fn check_spd(preconditioner: &mut impl NodePreconditioner, is_fixed: &[bool]) {
    let mut rng = Rng::new(5);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    for _ in 0..20 {
        let (a, b) = (random_vector(&mut rng, is_fixed), random_vector(&mut rng, is_fixed));
        let (mut ca, mut cb) = (vec![f64::NAN; a.len()], vec![f64::NAN; a.len()]);
        preconditioner.apply(&a, &mut ca);
        preconditioner.apply(&b, &mut cb);
        let (aca, bcb) = (dot(&a, &ca), dot(&b, &cb));
        assert!(aca > 0.0 && bcb > 0.0);
        assert!((dot(&a, &cb) - dot(&b, &ca)).abs() < 1e-12 * (aca * bcb).sqrt());
        for (i, _) in is_fixed.iter().enumerate().filter(|&(_, &is_fixed)| is_fixed) {
            assert!(ca[3 * i..3 * i + 3].iter().all(|&z| z == 0.0), "node {i} is fixed");
        }
    }
}

#[test]
fn symmetric_and_positive_definite() {
    let lattice = Lattice::cantilever(3);
    for (young, is_fixed) in [(1e6, lattice.clamped()), (1e9, vec![false; lattice.rest.len()])] {
        let matrix = lattice.matrix(super::lattice::Material { young, ..SOFT }, STEP);
        check_spd(&mut block_jacobi(&matrix, &is_fixed), &is_fixed);
        // Groups of 1 and 2 nodes have fewer than six motions.
        for size in [1, 2, 5, 16, usize::MAX] {
            check_spd(&mut two_level(&lattice, &matrix, &is_fixed, size), &is_fixed);
        }
    }
}

#[test]
fn block_jacobi_inverts_the_diagonal_blocks() {
    let lattice = Lattice::new([2, 1, 1], 0.1);
    let (matrix, is_fixed) = (lattice.matrix(SOFT, STEP), lattice.clamped());
    let c = written(&mut block_jacobi(&matrix, &is_fixed), matrix.n_unknowns());
    for node in (0..is_fixed.len()).filter(|&node| !is_fixed[node]) {
        let inverse = DMat3::from_cols_array_2d(&std::array::from_fn(|j| {
            std::array::from_fn(|i| c[(3 * node + i, 3 * node + j)])
        }));
        let unit = inverse * matrix.block(node, node);
        assert!((unit - DMat3::IDENTITY).to_cols_array().iter().all(|e| e.abs() < 1e-12));
    }
}

/// `Q = W (Wᵀ A W)⁻¹ Wᵀ` is characterized by `Q A Q = Q`, its rank and its range.
#[test]
fn coarse_part_is_the_galerkin_correction() {
    let lattice = Lattice::new([4, 2, 2], 0.05);
    let n = 3 * lattice.rest.len();
    for is_fixed in [lattice.clamped(), vec![false; lattice.rest.len()]] {
        let matrix = lattice.matrix(SOFT, STEP);
        let a = held(&dense(&matrix), &is_fixed);
        let jacobi = written(&mut block_jacobi(&matrix, &is_fixed), n);
        for size in [4, 8, usize::MAX] {
            let mut two = two_level(&lattice, &matrix, &is_fixed, size);
            let q = written(&mut two, n).plus(&jacobi, -1.0);
            let qa = q.mul(&a);
            assert!(scaled_difference(qa.mul(&q).entries(), q.entries()) < 1e-10);
            let rank: f64 = (0..n).map(|i| qa[(i, i)]).sum();
            assert!((rank - 6.0 * two.n_groups() as f64).abs() < 1e-7, "rank {rank}");
            let mut rng = Rng::new(9);
            let (spin, drift) = (rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0));
            let motion: Vec<f64> = (lattice.rest.iter().zip(&is_fixed))
                .flat_map(
                    |(&x, &is_fixed)| {
                        if is_fixed { [0.0; 3] } else { (drift + spin.cross(x)).to_array() }
                    },
                )
                .collect();
            assert!(scaled_difference(&qa.mul_vec(&motion)[..], &motion[..]) < 1e-8);
        }
    }
}

/// A step under gravity of the clamped lattice, in the shape `place(rest)`.
fn fall(lattice: &Lattice, young: f64, rotation: DMat3, two_levels: bool) -> CgReport {
    let is_fixed = lattice.clamped();
    let turned = Lattice {
        rest: lattice.rest.iter().map(|&x| rotation * x).collect(),
        elements: lattice.elements.clone(),
    };
    let mut matrix = turned.matrix(super::lattice::Material { young, ..SOFT }, STEP);
    let masses = lattice.masses(SOFT.density);
    let gravity = rotation * DVec3::new(0.0, 0.0, -9.81 * STEP);
    let b: Vec<f64> = (masses.iter().zip(&is_fixed))
        .flat_map(|(&mass, &is_fixed)| if is_fixed { [0.0; 3] } else { (gravity * mass).to_array() })
        .collect();
    let (mut x, mut scratch) = (vec![0.0; b.len()], CgScratch::new());
    let (fixed, settings) = (indices(&is_fixed), CgSettings::default());
    let report = if two_levels {
        let mut two = TwoLevel::new(matrix.pattern(), &lattice.rest, &is_fixed);
        two.refresh(&matrix, &turned.rest);
        let mut system = HeldNodes { matrix: &mut matrix, preconditioner: &mut two, fixed: &fixed };
        conjugate_gradient(&mut system, &b, &mut x, &settings, &mut scratch)
    } else {
        let mut jacobi = block_jacobi(&matrix, &is_fixed);
        let mut system = HeldNodes { matrix: &mut matrix, preconditioner: &mut jacobi, fixed: &fixed };
        conjugate_gradient(&mut system, &b, &mut x, &settings, &mut scratch)
    };
    assert_eq!(report.stop, CgStop::Converged);
    report
}

#[test]
fn iterations_stay_bounded_on_finer_and_stiffer_meshes() {
    let iterations = |n, young| fall(&Lattice::cantilever(n), young, DMat3::IDENTITY, true).iterations;
    let [coarse, fine, finer] = [2, 4, 8].map(|n| iterations(n, 1e6));
    assert!(2 * fine < 3 * coarse && 2 * finer < 3 * fine, "{coarse}, {fine}, {finer} iterations");
    let stiff = iterations(4, 1e8);
    assert!(2 * stiff < 3 * fine, "{fine} iterations at 1 MPa, {stiff} at 100 MPa");
    let rigid = iterations(4, 1e11);
    assert!(2 * rigid < 3 * stiff, "{stiff} iterations at 100 MPa, {rigid} at 100 GPa");
    let jacobi = fall(&Lattice::cantilever(8), 1e6, DMat3::IDENTITY, false).iterations;
    assert!(jacobi > 6 * finer, "{jacobi} iterations without groups, {finer} with them");
}

#[test]
fn a_turned_body_is_as_easy() {
    let lattice = Lattice::cantilever(4);
    let straight = fall(&lattice, 1e7, DMat3::IDENTITY, true).iterations;
    let mut rng = Rng::new(3);
    for _ in 0..4 {
        let turned = fall(&lattice, 1e7, DMat3::from_quat(rng.rotation()), true).iterations;
        assert!(turned.abs_diff(straight) <= 1, "{straight} iterations straight, {turned} turned");
    }
}
