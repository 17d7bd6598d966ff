//! Symmetric 3×3 matrices against full ones.

use glam::{DMat3, DVec3};
use sinew_math::{Block, Sym3, skew};
use sinew_testkit::{Rng, assert_close};

fn random(rng: &mut Rng) -> Sym3 {
    let columns = [(); 3].map(|()| rng.vec3(-1.0, 1.0));
    Sym3::from_mat3(&DMat3::from_cols(columns[0], columns[1], columns[2]))
}

#[test]
fn operations_equal_those_of_full_matrices() {
    let mut rng = Rng::new(61);
    for _ in 0..500 {
        let (a, b) = (random(&mut rng), random(&mut rng));
        let (v, w) = (rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0));
        let full = a.to_mat3();
        let r = DMat3::from_quat(rng.rotation());
        let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
        assert_eq!(full, full.transpose());
        assert_close!(a.mul_vec(v), full * v, 1e-15);
        assert_close!(a * v, full * v, 1e-15);
        assert_close!(Sym3::outer(v).to_mat3(), outer(v, v), 1e-16);
        assert_close!(Sym3::outer_pair(v, w).to_mat3(), outer(v, w) + outer(w, v), 1e-15);
        assert_close!(a.add_outer(0.3, v).to_mat3(), full + outer(v, v) * 0.3, 1e-15);
        assert_close!(Sym3::minus_skew_squared(v).to_mat3(), -(skew(v) * skew(v)), 1e-15);
        assert_close!(a.rotated_by(&r).to_mat3(), r * full * r.transpose(), 3e-15);
        assert_close!(a.determinant(), full.determinant(), 1e-15);
        assert_close!(a.trace(), full.x_axis.x + full.y_axis.y + full.z_axis.z, 1e-15);
        assert_close!(a.quadratic_form(v), v.dot(full * v), 1e-15);
        assert_close!((a + b - 2.0 * b).to_mat3(), full - b.to_mat3(), 1e-15);
        assert_eq!((-a).to_mat3(), -full);
        let mut sum = a;
        sum += b;
        sum -= a;
        assert_close!(sum.to_mat3(), b.to_mat3(), 1e-15);
        assert_eq!(DMat3::from(Block::from(a)), full);
        assert_close!(skew(v) * w, v.cross(w), 0.0);
    }
}

#[test]
fn from_mat3_takes_the_symmetric_part() {
    let m = DMat3::from_cols(DVec3::new(1.0, 2.0, 3.0), DVec3::new(4.0, 5.0, 6.0), DVec3::new(7.0, 8.0, 9.0));
    let s = Sym3::from_mat3(&m);
    assert_eq!(s, Sym3 { xx: 1.0, yy: 5.0, zz: 9.0, xy: 3.0, xz: 5.0, yz: 7.0 });
    assert_eq!(s.diagonal_entries(), DVec3::new(1.0, 5.0, 9.0));
    assert_eq!(s.max_abs(), 9.0);
    assert_eq!(Sym3::diagonal(DVec3::ONE), Sym3::IDENTITY);
    assert!(s.is_finite() && !Sym3 { yz: f64::NAN, ..s }.is_finite());
}

#[test]
fn inverse_and_cholesky() {
    let mut rng = Rng::new(62);
    for _ in 0..1000 {
        let scale = rng.power_of_ten(-60, 60);
        let vectors = [(); 4].map(|()| rng.vec3(-1.0, 1.0));
        let definite = vectors.iter().fold(Sym3::IDENTITY * 1e-2, |s, v| s.add_outer(1.0, *v)) * scale;
        let v = rng.vec3(-1.0, 1.0);
        let inverse = definite.inverse().unwrap();
        assert_close!(inverse.to_mat3() * definite.to_mat3(), DMat3::IDENTITY, 1e-11);
        let x = definite.cholesky().unwrap().solve(v);
        assert_close!(definite.mul_vec(x), v, 1e-13);
        assert_close!(definite.mul_vec(inverse.mul_vec(v)), v, 1e-11);
    }
}

#[test]
fn singular_matrices_have_no_inverse() {
    assert_eq!(Sym3::ZERO.inverse(), None);
    assert_eq!(Sym3::outer(DVec3::X).inverse(), None);
    assert_eq!(Sym3::diagonal(DVec3::new(1.0, f64::NAN, 1.0)).inverse(), None);
    assert_eq!(Sym3::outer(DVec3::new(1.0, 2.0, 4.0)).cholesky().unwrap_err().pivot, 1);
    // indefinite: inverse yes, Cholesky no
    let indefinite = Sym3::diagonal(DVec3::new(1.0, -2.0, 4.0));
    assert_eq!(indefinite.inverse().unwrap(), Sym3::diagonal(DVec3::new(1.0, -0.5, 0.25)));
    assert_eq!(indefinite.cholesky().unwrap_err().pivot, 1);
}
