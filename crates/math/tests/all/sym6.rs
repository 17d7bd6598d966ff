//! Symmetric 6×6 matrices against full ones, entry by entry.

use glam::{DMat3, DVec3};
use sinew_math::{Block, Force, Motion, SpatialInertia, Sym3, Sym6, skew};
use sinew_testkit::{Dense, Rng, assert_close};

fn full(m: &Sym6) -> Block<6, 6> {
    let b = m.coupling;
    Block::from_quadrants(m.angular.to_mat3(), b, b.transpose(), m.linear.to_mat3())
}

fn random_force(rng: &mut Rng) -> Force {
    Force::new(rng.vec3(-2.0, 2.0), rng.vec3(-2.0, 2.0))
}

/// A body, and some products, so that no entry is zero.
fn random(rng: &mut Rng) -> Sym6 {
    let about_com = Sym3::diagonal(rng.vec3(1.0, 1.5)).rotated_by(&DMat3::from_quat(rng.rotation()));
    let body = SpatialInertia::from_parts(rng.uniform(0.5, 3.0), rng.vec3(-1.0, 1.0), about_com);
    let mut m = Sym6::from(&body);
    assert!((full(&m) - body.to_block()).max_abs() < 1e-15);
    for _ in 0..2 {
        m.add_outer(0.3, random_force(rng));
    }
    m
}

/// `k a bᵀ`.
fn outer(k: f64, a: Force, b: Force) -> Block<6, 6> {
    let (a, b) = (a.to_array(), b.to_array());
    Block { rows: a.map(|a| b.map(|b| k * a * b)) }
}

fn assert_same(found: &Sym6, expected: Block<6, 6>) {
    let difference = (full(found) - expected).max_abs();
    assert!(difference < 1e-13 * expected.max_abs(), "{found:?}: {difference:e}");
}

#[test]
fn products_with_vectors() {
    let mut rng = Rng::new(101);
    for _ in 0..100 {
        let m = random(&mut rng);
        let v = Motion::from(random_force(&mut rng).to_array());
        assert_close!(m.mul(v).to_array(), full(&m).mul_vec(&v.to_array()), 1e-14);
        assert_eq!(m.mul_wrench(Force::from(v.to_array())).to_array(), m.mul(v).to_array());
        let turn = Motion::new(v.angular, DVec3::ZERO);
        assert_close!(m.mul_angular(v.angular).to_array(), m.mul(turn).to_array(), 1e-15);
    }
}

#[test]
fn sums_and_outer_products() {
    let mut rng = Rng::new(102);
    for _ in 0..100 {
        let (m, other, g) = (random(&mut rng), random(&mut rng), random_force(&mut rng));
        let k = rng.uniform(-2.0, 2.0);
        let mut sum = m;
        sum.add(&other);
        assert_same(&sum, full(&m) + full(&other));
        let mut sum = m;
        sum.add_outer(k, g);
        assert_same(&sum, full(&m) + outer(k, g, g));
        assert_same(&m.minus_outer(k, g), full(&m) - outer(k, g, g));
        let mut difference = m;
        difference.subtract_product(g * k, g);
        assert_same(&difference, full(&m) - outer(k, g, g));
        assert_close!(m.trace(), (0..6).map(|i| full(&m)[(i, i)]).sum::<f64>(), 1e-15);
    }
    let rigid = Sym6::rigid(Sym3::diagonal(DVec3::new(1.0, 2.0, 3.0)), 7.0);
    assert_eq!(full(&rigid), Block::from_diagonal([1.0, 2.0, 3.0, 7.0, 7.0, 7.0]));
}

#[test]
fn inverses() {
    let mut rng = Rng::new(103);
    for case in 0..100 {
        let mut m = random(&mut rng);
        if case % 4 == 0 {
            m.coupling = DMat3::ZERO;
        }
        let inverse = Dense::from_rows(6, 6, &full(&m).rows.concat()).inverse().unwrap();
        let found = full(&m.inverse().unwrap());
        assert_close!(found.rows.concat(), inverse.entries().to_vec(), 1e-11);
    }
    assert!(Sym6::ZERO.inverse().is_none());
    assert!(Sym6::rigid(Sym3::ZERO, 1.0).inverse().is_none());
}

#[test]
fn changes_of_origin() {
    let mut rng = Rng::new(104);
    for _ in 0..100 {
        let (m, other, d) = (random(&mut rng), random(&mut rng), rng.vec3(-2.0, 2.0));
        let x = Block::from_quadrants(DMat3::IDENTITY, DMat3::ZERO, -skew(d), DMat3::IDENTITY);
        let shifted = |m: &Sym6| x.transpose_mul(&(full(m) * x));
        assert_same(&m.shifted(d), shifted(&m));
        let mut sum = m;
        sum.add_shifted(&other, d);
        assert_same(&sum, full(&m) + shifted(&other));
    }
}
