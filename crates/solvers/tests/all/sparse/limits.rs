//! Singular, indefinite and non-finite input: reported, never a panic, never a poisoned answer.

use super::lattice::{Lattice, Material, SOFT};
use super::{indices, random_vector};
use glam::DVec3;
use sinew_solvers::{BlockMatrix, CgReport, CgScratch, CgSettings, CgStop, SpdSystem};
use sinew_solvers::{HeldNodes, SparsePattern, TwoLevel, conjugate_gradient};
use sinew_testkit::Rng;

fn solve(
    matrix: &BlockMatrix,
    positions: &[DVec3],
    is_fixed: &[bool],
    b: &[f64],
) -> (CgReport, Vec<f64>, u32) {
    let mut two = TwoLevel::new(matrix.pattern(), positions, is_fixed);
    let n_left_out = two.refresh(matrix, positions);
    let fixed = indices(is_fixed);
    let mut system = HeldNodes { matrix: &mut matrix.clone(), preconditioner: &mut two, fixed: &fixed };
    let mut x = vec![0.0; b.len()];
    let settings = CgSettings::default();
    let report = conjugate_gradient(&mut system, b, &mut x, &settings, &mut CgScratch::new());
    (report, x, n_left_out)
}

#[test]
fn nothing_to_do() {
    let lattice = Lattice::new([2, 1, 1], 0.1);
    let (matrix, n) = (lattice.matrix(SOFT, 0.01), lattice.rest.len());
    let (report, x, _) = solve(&matrix, &lattice.rest, &vec![false; n], &vec![0.0; 3 * n]);
    assert_eq!((report.iterations, report.stop), (0, CgStop::Converged));
    assert!(report.residual <= 0.0 && x.iter().all(|&x| x == 0.0));
    // All nodes fixed; no nodes.
    let (report, ..) = solve(&matrix, &lattice.rest, &vec![true; n], &vec![0.0; 3 * n]);
    assert_eq!(report.stop, CgStop::Converged);
    let none = BlockMatrix::new(SparsePattern::new(0, &[]).unwrap());
    assert_eq!(solve(&none, &[], &[], &[]).0.stop, CgStop::Converged);
}

#[test]
fn singular_stiffness_without_mass() {
    let lattice = Lattice::new([3, 2, 2], 0.1);
    let mut matrix = lattice.matrix(Material { density: 0.0, ..SOFT }, 0.01);
    let free = vec![false; lattice.rest.len()];
    let mut rng = Rng::new(1);
    // A right-hand side within the range: solved.
    let mut b = vec![0.0; 3 * free.len()];
    matrix.times(&random_vector(&mut rng, &free), &mut b);
    let (report, ..) = solve(&matrix, &lattice.rest, &free, &b);
    assert_eq!(report.stop, CgStop::Converged, "{report:?}");
    // A push that nothing resists: said.
    let (report, x, _) = solve(&matrix, &lattice.rest, &free, &vec![1.0; b.len()]);
    assert!(report.stop != CgStop::Converged && report.residual > 0.1, "{report:?}");
    assert!(x.iter().all(|x| x.is_finite()));
}

#[test]
fn nodes_without_mass_are_counted() {
    // A chain of two tetrahedra, and a node that belongs to none and weighs nothing.
    let elements = [[0, 1, 2, 3], [1, 2, 3, 4]];
    let mut matrix = BlockMatrix::new(SparsePattern::new(6, &elements).unwrap());
    matrix.assemble(|fill| (0..5).for_each(|node| fill.add_mass(node, 1.0)));
    let positions = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0].map(|x| DVec3::new(x, x * x, 0.0));
    let mut b = [1.0; 18];
    b[15..].fill(0.0);
    let (report, x, n_left_out) = solve(&matrix, &positions, &[false; 6], &b);
    assert_eq!((report.stop, n_left_out), (CgStop::Converged, 3));
    assert!(x[..15].iter().all(|x| (x - 1.0).abs() < 1e-4), "{x:?}");
    b[15] = 1.0;
    let (report, x, _) = solve(&matrix, &positions, &[false; 6], &b);
    assert!(report.stop != CgStop::Converged && x.iter().all(|x| x.is_finite()), "{report:?}");
}

#[test]
fn separate_pieces_and_coincident_nodes() {
    // Two cubes far apart, numbered alternately, the second one shrunk to a point.
    let cube = Lattice::new([1, 1, 1], 0.1);
    let elements: Vec<[u32; 4]> =
        (0..2).flat_map(|piece| cube.elements.iter().map(move |e| e.map(|node| 2 * node + piece))).collect();
    let mut rest = vec![DVec3::splat(50.0); 16];
    (0..8).for_each(|node| rest[2 * node] = cube.rest[node]);
    let stiffness = cube.stiffness(SOFT);
    let mut matrix = BlockMatrix::new(SparsePattern::new(16, &elements).unwrap());
    matrix.assemble(|fill| {
        (0..12).for_each(|element| fill.add_element(element, &stiffness[element % 6]));
        (0..16).for_each(|node| fill.add_mass(node, 1.0));
    });
    let free = [false; 16];
    let b = random_vector(&mut Rng::new(2), &free);
    let (report, ..) = solve(&matrix, &rest, &free, &b);
    assert_eq!(report.stop, CgStop::Converged, "{report:?}");
}

#[test]
fn non_finite_numbers_are_named() {
    let lattice = Lattice::new([3, 1, 1], 0.1);
    let is_fixed = lattice.clamped();
    let good = lattice.matrix(SOFT, 0.01);
    let b = random_vector(&mut Rng::new(3), &is_fixed);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut b = b.clone();
        b[20] = bad;
        let (report, x, _) = solve(&good, &lattice.rest, &is_fixed, &b);
        assert_eq!(report.stop, CgStop::NonFinite);
        assert!(x.iter().all(|&x| x == 0.0));

        let mut matrix = lattice.matrix(SOFT, 0.01);
        let stiffness = lattice.stiffness(SOFT);
        matrix.assemble(|fill| {
            stiffness.iter().enumerate().for_each(|(element, blocks)| fill.add_element(element, blocks));
            fill.add_mass(9, bad);
        });
        let (report, x, _) =
            solve(&matrix, &lattice.rest, &is_fixed, &random_vector(&mut Rng::new(3), &is_fixed));
        assert!(matches!(report.stop, CgStop::NonFinite), "{report:?}");
        assert!(x.iter().all(|x| x.is_finite()));

        let mut positions = lattice.rest.clone();
        positions[9].y = bad;
        let b = random_vector(&mut Rng::new(3), &is_fixed);
        let (report, x, _) = solve(&good, &positions, &is_fixed, &b);
        assert_eq!(report.stop, CgStop::NonFinite);
        assert!(x.iter().all(|x| x.is_finite()));
    }
}

#[test]
fn indefinite_matrices_are_named() {
    let lattice = Lattice::new([3, 1, 1], 0.1);
    let is_fixed = lattice.clamped();
    let b = random_vector(&mut Rng::new(3), &is_fixed);
    // Heavier than stiff, with the wrong sign on one node only.
    let (masses, mut matrix) = (lattice.masses(SOFT.density), lattice.matrix(SOFT, 0.01));
    matrix.assemble(|fill| {
        masses
            .iter()
            .enumerate()
            .for_each(|(node, &mass)| fill.add_mass(node, if node == 9 { -mass } else { mass }));
    });
    let (report, x, n_left_out) = solve(&matrix, &lattice.rest, &is_fixed, &b);
    assert!(report.stop != CgStop::Converged && n_left_out == 3, "{report:?}");
    assert!(x.iter().all(|x| x.is_finite()));
}

/// A diagonal matrix and preconditioner.
struct Diagonal([f64; 3], [f64; 3]);

impl SpdSystem for Diagonal {
    fn n_unknowns(&self) -> usize {
        3
    }

    fn apply(&mut self, x: &[f64], y: &mut [f64]) {
        (0..3).for_each(|k| y[k] = self.0[k] * x[k]);
    }

    fn precondition(&mut self, r: &[f64], z: &mut [f64]) {
        (0..3).for_each(|k| z[k] = self.1[k] * r[k]);
    }
}

#[test]
fn every_reason_to_stop() {
    let stop = |a, c| {
        let mut x = [0.0; 3];
        let (settings, mut scratch) = (CgSettings { precision: 1e-10, iterations: 9 }, CgScratch::new());
        let report =
            conjugate_gradient(&mut Diagonal(a, c), &[1.0, 2.0, 3.0], &mut x, &settings, &mut scratch);
        assert!(x.iter().all(|x| x.is_finite()));
        report.stop
    };
    assert_eq!(stop([1.0, 2.0, 3.0], [1.0; 3]), CgStop::Converged);
    assert_eq!(stop([1.0, 2.0, -3.0], [1.0; 3]), CgStop::NegativeCurvature);
    assert_eq!(stop([0.0; 3], [1.0; 3]), CgStop::NegativeCurvature);
    assert_eq!(stop([1.0, 2.0, 3.0], [-1.0; 3]), CgStop::Breakdown);
    assert_eq!(stop([1.0, 2.0, 3.0], [0.0; 3]), CgStop::Breakdown);
    assert_ne!(stop([1.0, 2.0, 3.0], [1.0, 1.0, 0.0]), CgStop::Converged);
    assert_eq!(stop([1.0, f64::NAN, 3.0], [1.0; 3]), CgStop::NonFinite);
    assert_eq!(stop([1.0, 2.0, 3.0], [1.0, f64::INFINITY, 1.0]), CgStop::NonFinite);
    assert_eq!(stop([1e300; 3], [1e300; 3]), CgStop::NonFinite);
}

#[test]
fn an_old_preconditioner_still_serves() {
    let lattice = Lattice::cantilever(3);
    let (is_fixed, fixed) = (lattice.clamped(), indices(&lattice.clamped()));
    let mut two = TwoLevel::new(&lattice.pattern(), &lattice.rest, &is_fixed);
    two.refresh(&lattice.matrix(SOFT, 1.0 / 60.0), &lattice.rest);
    let mut stiffer = lattice.matrix(Material { young: 2e6, ..SOFT }, 1.0 / 60.0);
    let b = random_vector(&mut Rng::new(4), &is_fixed);
    let mut x = vec![0.0; b.len()];
    let mut system = HeldNodes { matrix: &mut stiffer, preconditioner: &mut two, fixed: &fixed };
    let report = conjugate_gradient(&mut system, &b, &mut x, &CgSettings::default(), &mut CgScratch::new());
    assert_eq!(report.stop, CgStop::Converged, "{report:?}");
}
