//! Eigenvalues and singular values: reconstruction, order, orientation, degenerate and extreme input.

use glam::{DMat3, DVec3};
use sinew_math::{Sym3, signed_svd, symmetric_eigen};
use sinew_testkit::{Rng, assert_close};

fn check_eigen(s: Sym3) -> (DVec3, DMat3) {
    let (d, q) = symmetric_eigen(s);
    let size = s.max_abs().max(f64::MIN_POSITIVE);
    assert!(d.x <= d.y && d.y <= d.z, "{d}");
    assert_close!(q * q.transpose(), DMat3::IDENTITY, 6e-15);
    assert_close!(q.determinant(), 1.0, 6e-15);
    let back = Sym3::diagonal(d).rotated_by(&q);
    assert!((back - s).max_abs() <= 6e-15 * size, "{s:?} {back:?}");
    (d, q)
}

fn check_svd(f: DMat3) -> DVec3 {
    let (u, s, v) = signed_svd(f);
    let size = f.to_cols_array().iter().fold(0.0, |m: f64, a| m.max(a.abs()));
    for r in [u, v] {
        assert_close!(r * r.transpose(), DMat3::IDENTITY, 4e-15);
        assert_close!(r.determinant(), 1.0, 4e-15);
    }
    // sorted up to rounding
    let slack = 1e-14 * s.x;
    assert!(s.x >= s.y - slack && s.y >= s.z.abs() - slack, "{s}");
    let back = u * DMat3::from_diagonal(s) * v.transpose();
    let error = (back - f).to_cols_array().iter().fold(0.0, |m: f64, a| m.max(a.abs()));
    assert!(error <= 6e-15 * size, "{f:?}: {error:e}");
    s
}

fn random_matrix(rng: &mut Rng) -> DMat3 {
    DMat3::from_cols(rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0))
}

#[test]
fn eigen_of_random_matrices() {
    let mut rng = Rng::new(51);
    for _ in 0..3000 {
        let scale = rng.power_of_ten(-100, 100);
        check_eigen(Sym3::from_mat3(&random_matrix(&mut rng)) * scale);
    }
}

#[test]
fn eigen_finds_given_values() {
    let mut rng = Rng::new(52);
    let sets = [
        DVec3::ZERO,
        DVec3::ONE,
        DVec3::new(-1.0, 0.0, 1.0),
        DVec3::new(1.0, 1.0, 2.0),
        DVec3::new(0.0, 0.0, 5.0),
        DVec3::new(-3.0, -3.0, 1e-9),
    ];
    for values in sets {
        for _ in 0..200 {
            let q = DMat3::from_quat(rng.rotation());
            let (d, _) = check_eigen(Sym3::diagonal(values).rotated_by(&q));
            assert_close!(d, values, 4e-15);
        }
    }
    let (d, q) = symmetric_eigen(Sym3::diagonal(DVec3::new(3.0, 1.0, 2.0)));
    assert_eq!(d, DVec3::new(1.0, 2.0, 3.0));
    assert_eq!(q.x_axis.abs(), DVec3::Y);
    let swap = Sym3 { xy: 1.0, ..Sym3::ZERO };
    assert_close!(check_eigen(swap).0, DVec3::new(-1.0, 0.0, 1.0), 1e-15);
}

#[test]
fn eigen_keeps_small_values_of_graded_matrices() {
    // D A D with A well conditioned: Jacobi finds each eigenvalue to full relative accuracy
    let s = Sym3 { xx: 1.0, yy: 1e-10, zz: 1e-20, xy: 1e-6, xz: 1e-11, yz: 1e-16 };
    let (d, _) = symmetric_eigen(s);
    assert!((d.x / (s.determinant() / (d.y * d.z)) - 1.0).abs() < 1e-12);
    assert!((d.x * 1e20 - 0.99).abs() < 0.05, "{:e}", d.x);
}

#[test]
fn svd_of_random_matrices() {
    let mut rng = Rng::new(53);
    let mut n_inverted = 0;
    for _ in 0..3000 {
        let f = random_matrix(&mut rng);
        let s = check_svd(f * rng.power_of_ten(-200, 200));
        assert_eq!(s.z < 0.0, f.determinant() < 0.0, "the sign sits on the smallest stretch");
        n_inverted += usize::from(s.z < 0.0);
    }
    assert!(n_inverted > 1000);
}

#[test]
fn svd_finds_given_stretches() {
    let mut rng = Rng::new(54);
    let sets = [
        DVec3::ZERO,
        DVec3::ONE,
        DVec3::new(1.0, 1.0, -1.0),
        DVec3::new(2.0, 0.0, 0.0),
        DVec3::new(2.0, 2.0, 0.0),
        DVec3::new(3.0, 1.0, 0.0),
        DVec3::new(3.0, 1.0, -1e-3),
        DVec3::new(1.0, 0.5, -0.5),
        DVec3::new(1.0, 1e-9, -1e-9),
    ];
    for stretches in sets {
        for _ in 0..200 {
            let (u, v) = (DMat3::from_quat(rng.rotation()), DMat3::from_quat(rng.rotation()));
            let s = check_svd(u * DMat3::from_diagonal(stretches) * v.transpose());
            assert_close!(s.x, stretches.x, 4e-15);
            assert_close!(s.y, stretches.y, 4e-15);
            // a zero or a cancelling pair may come out with either sign of rounding
            assert_close!(s.z, stretches.z, 4e-15);
        }
    }
}

#[test]
fn svd_keeps_small_stretches() {
    // eigenvectors of FᵀF would lose 1e-9 entirely
    let mut rng = Rng::new(55);
    for _ in 0..500 {
        let v = DMat3::from_quat(rng.rotation());
        let s = check_svd(DMat3::from_diagonal(DVec3::new(1.0, 0.7, -1e-9)) * v.transpose());
        assert!((s.z / -1e-9 - 1.0).abs() < 5e-7, "{:e}", s.z);
    }
}

#[test]
fn svd_of_rotations_and_diagonals() {
    for f in [DMat3::IDENTITY, -DMat3::IDENTITY, DMat3::from_diagonal(DVec3::new(-1.0, 2.0, 3.0))] {
        check_svd(f);
    }
    let (_, s, _) = signed_svd(-DMat3::IDENTITY);
    assert_eq!(s, DVec3::new(1.0, 1.0, -1.0));
    assert!(signed_svd(DMat3::NAN).1.is_nan());
}
