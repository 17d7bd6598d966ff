//! Dense blocks and their factors against a naive dense solver.

use glam::{DMat3, DVec3};
use sinew_math::{Block, SingularBlock, skew};
use sinew_testkit::{Dense, Rng, assert_close};

fn random<const R: usize, const C: usize>(rng: &mut Rng) -> Block<R, C> {
    Block { rows: std::array::from_fn(|_| std::array::from_fn(|_| rng.uniform(-1.0, 1.0))) }
}

fn dense<const R: usize, const C: usize>(b: &Block<R, C>) -> Dense {
    Dense::from_rows(R, C, &b.rows.concat())
}

fn assert_same<const R: usize, const C: usize>(b: &Block<R, C>, d: &Dense) {
    assert_close!(b.rows.concat(), d.entries().to_vec(), 1e-14);
}

fn algebra<const R: usize, const C: usize, const K: usize>(rng: &mut Rng) {
    let (a, b, c) = (random::<R, C>(rng), random::<C, K>(rng), random::<R, K>(rng));
    assert_same(&(a * b), &dense(&a).mul(&dense(&b)));
    assert_same(&a.transpose(), &dense(&a).transpose());
    assert_same(&a.transpose_mul(&c), &dense(&a).transpose().mul(&dense(&c)));
    assert_same(&c.mul_transpose(&b), &dense(&c).mul(&dense(&b).transpose()));
    assert_same(&(a * b + c), &dense(&a).mul(&dense(&b)).plus(&dense(&c), 1.0));
    assert_same(&(c - a * b), &dense(&c).plus(&dense(&a).mul(&dense(&b)), -1.0));
    assert_same(&-a, &dense(&a).plus(&dense(&a), -2.0));
    let x: [f64; C] = std::array::from_fn(|_| rng.normal());
    let y: [f64; R] = std::array::from_fn(|_| rng.normal());
    assert_close!(a.mul_vec(&x).to_vec(), dense(&a).mul_vec(&x), 1e-14);
    assert_close!(a.transpose_mul_vec(&y).to_vec(), dense(&a).transpose().mul_vec(&y), 1e-14);
}

/// Positive definite with condition number about `1/small`.
fn definite<const N: usize>(rng: &mut Rng, small: f64) -> Block<N, N> {
    let a = random::<N, N>(rng);
    a.mul_transpose(&a) + Block::from_diagonal([small; N])
}

fn factors<const N: usize>(rng: &mut Rng) {
    let small = rng.power_of_ten(-8, 1);
    let a = definite::<N>(rng, small);
    let rhs: [f64; N] = std::array::from_fn(|_| rng.normal());
    let many = random::<N, 4>(rng);
    let cholesky = a.cholesky().unwrap();
    assert!(dense(&a).backward_error(&cholesky.solve(rhs), &rhs) < 1e-14);
    let solved = cholesky.solve_block(&many).transpose();
    for (column, rhs) in solved.rows.iter().zip(many.transpose().rows) {
        assert!(dense(&a).backward_error(column, &rhs) < 1e-14);
    }
    // Bᵀ A⁻¹ B through the half solve
    let half = cholesky.solve_lower_block(&many);
    let schur = many.transpose_mul(&cholesky.solve_block(&many));
    assert!((half.transpose_mul(&half) - schur).max_abs() <= 1e-12 * schur.max_abs());
    assert_close!(cholesky.solve_upper(cholesky.solve_lower(rhs)), cholesky.solve(rhs), 0.0);
}

#[test]
fn block_algebra_equals_dense_algebra() {
    let mut rng = Rng::new(31);
    for _ in 0..50 {
        algebra::<1, 1, 1>(&mut rng);
        algebra::<2, 3, 4>(&mut rng);
        algebra::<3, 3, 3>(&mut rng);
        algebra::<5, 6, 1>(&mut rng);
        algebra::<6, 6, 6>(&mut rng);
        algebra::<6, 4, 2>(&mut rng);
    }
}

#[test]
fn factors_solve_with_small_backward_error() {
    let mut rng = Rng::new(32);
    for _ in 0..300 {
        factors::<1>(&mut rng);
        factors::<2>(&mut rng);
        factors::<3>(&mut rng);
        factors::<4>(&mut rng);
        factors::<5>(&mut rng);
        factors::<6>(&mut rng);
    }
}

#[test]
fn quasi_definite_blocks_are_refused() {
    // [[H, Jᵀ], [J, −C]] with H, C positive definite has three positive and three negative eigenvalues
    let mut rng = Rng::new(33);
    for _ in 0..300 {
        let (h, c) = (definite::<3>(&mut rng, 0.1), definite::<3>(&mut rng, 0.1));
        let j = random::<3, 3>(&mut rng);
        let a = Block::from_quadrants(h.into(), j.transpose().into(), j.into(), (-c).into());
        assert!(a.cholesky().is_err());
    }
}

#[test]
fn factors_do_not_depend_on_units() {
    // rows and columns scaled by powers of ten, as radians beside metres and grams beside tonnes
    let mut rng = Rng::new(34);
    for _ in 0..200 {
        let scale: [f64; 6] = std::array::from_fn(|_| rng.power_of_ten(-9, 9));
        let s = Block::from_diagonal(scale);
        let a = s * definite::<6>(&mut rng, 0.01) * s;
        let rhs: [f64; 6] = std::array::from_fn(|i| rng.normal() * scale[i]);
        let back = a.mul_vec(&a.cholesky().unwrap().solve(rhs));
        for i in 0..6 {
            assert!((back[i] - rhs[i]).abs() < 1e-10 * scale[i], "row {i}");
        }
    }
}

#[test]
fn singular_blocks_are_named() {
    let rank_two = Block::from(skew(DVec3::new(1.0, 2.0, -0.5)));
    let gram = rank_two.transpose_mul(&rank_two);
    let error = gram.cholesky().unwrap_err();
    assert_eq!(error.pivot, 2);
    assert!(error.magnitude.abs() < 1e-14);
    assert!(error.to_string().contains("pivot 2"));
    let indefinite = Block::from_rows([[1.0, 2.0], [2.0, 1.0]]);
    assert_eq!(indefinite.cholesky().unwrap_err(), SingularBlock { pivot: 1, magnitude: -3.0 });
    assert_eq!(Block::<3, 3>::ZERO.cholesky().unwrap_err(), SingularBlock { pivot: 0, magnitude: 0.0 });
    let nan = Block::from_diagonal([1.0, f64::NAN, 1.0]);
    assert_eq!(nan.cholesky().unwrap_err().pivot, 1);
    assert!(Block::from_diagonal([1.0, f64::INFINITY]).cholesky().is_err());
}

#[test]
fn conversions_and_access() {
    let m = DMat3::from_cols(DVec3::new(1.0, 2.0, 3.0), DVec3::new(4.0, 5.0, 6.0), DVec3::new(7.0, 8.0, 9.0));
    let mut block = Block::from(m);
    assert_eq!(block[(0, 2)], 7.0);
    assert_eq!(DMat3::from(block), m);
    block[(2, 0)] = -30.0;
    assert_eq!(block.max_abs(), 30.0);
    assert!(block.is_finite());
    assert!(
        !Block::from_rows([[1.0, f64::INFINITY]]).is_finite() && !Block::from_rows([[f64::NAN]]).is_finite()
    );
    assert_eq!(Block::<4, 4>::IDENTITY, Block::from_diagonal([1.0; 4]));
    assert_eq!(Block::<2, 5>::default(), Block::ZERO);
    let six = Block::from_quadrants(m, DMat3::ZERO, m * 2.0, DMat3::IDENTITY);
    assert_eq!(six.rows[3], [2.0, 8.0, 14.0, 1.0, 0.0, 0.0]);
}
