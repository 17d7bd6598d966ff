//! Null spaces and minimum-norm solutions: orthogonality, rank, units.

use sinew_math::RowSpace;
use sinew_testkit::{Rng, norm};

fn dot(a: &[f64; 6], b: &[f64; 6]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn random_rows(rng: &mut Rng, n: usize) -> Vec<[f64; 6]> {
    (0..n).map(|_| std::array::from_fn(|_| rng.uniform(-1.0, 1.0))).collect()
}

/// All claims about a factor of `rows` at rank `rank`.
fn check(rows: &[[f64; 6]], rank: usize) {
    let space = RowSpace::factor(rows);
    assert_eq!(space.rank(), rank);
    let (null, n_null) = space.null_basis();
    let (span, n_span) = space.row_basis();
    assert_eq!((n_null, n_span), (6 - rank, rank));
    let all: Vec<[f64; 6]> = span[..n_span].iter().chain(&null[..n_null]).copied().collect();
    for i in 0..6 {
        for j in 0..6 {
            let expected = f64::from(u8::from(i == j));
            assert!((dot(&all[i], &all[j]) - expected).abs() < 4e-15, "not orthonormal");
        }
    }
    for row in rows {
        for s in &null[..n_null] {
            assert!(dot(row, s).abs() <= 1e-9 * norm(row), "not in the null space");
        }
    }
    assert!(null[n_null..].iter().flatten().all(|&a| a == 0.0));
}

#[test]
fn full_rank_rows() {
    let mut rng = Rng::new(41);
    for _ in 0..300 {
        for n in 0..=6 {
            check(&random_rows(&mut rng, n), n);
        }
    }
    // axis-aligned rows hit the sign rule of the reflection
    let unit = |k: usize| std::array::from_fn(|i| if i == k { -1.0 } else { 0.0 });
    check(&[unit(0), unit(5), unit(2)], 3);
}

#[test]
fn dependent_rows_are_found() {
    let mut rng = Rng::new(42);
    for _ in 0..300 {
        for rank in 1..=4 {
            let mut rows = random_rows(&mut rng, rank);
            for _ in rank..6 {
                let weights: Vec<f64> = (0..rank).map(|_| rng.normal()).collect();
                let mix = std::array::from_fn(|i| (0..rank).map(|k| weights[k] * rows[k][i]).sum());
                rows.insert(0, mix);
            }
            // conditioning of random rows may push a nearly dependent one under the tolerance: skip those
            let space = RowSpace::factor(&rows[6 - rank..]);
            if space.rank() == rank {
                check(&rows, rank);
            }
        }
    }
    check(&[[0.0; 6]; 3], 0);
    check(&[], 0);
    check(&[[0.0; 6], [0.0, 0.0, 3.0, 0.0, 0.0, 0.0]], 1);
}

#[test]
fn nearly_dependent_rows_count_until_the_tolerance() {
    let row = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let tilted = |e: f64| [1.0, e, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(RowSpace::factor(&[row, tilted(1e-9)]).rank(), 2);
    assert_eq!(RowSpace::factor(&[row, tilted(1e-11)]).rank(), 1);
    // of rows of length √6 the part that is left is measured against the whole
    let tilted = |e: f64| [1.0 + e, 1.0 - e, 1.0, 1.0, 1.0, 1.0];
    assert_eq!(RowSpace::factor(&[[1.0; 6], tilted(1e-10)]).rank(), 1);
    assert_eq!(RowSpace::factor(&[[1.0; 6], tilted(3e-10)]).rank(), 2);
}

#[test]
fn rank_does_not_depend_on_units() {
    let mut rng = Rng::new(43);
    for _ in 0..200 {
        let rows: Vec<[f64; 6]> = random_rows(&mut rng, 5)
            .into_iter()
            .map(|row| {
                let scale = rng.power_of_ten(-150, 150);
                row.map(|a| a * scale)
            })
            .collect();
        check(&rows, 5);
    }
}

#[test]
fn particular_solution_is_the_shortest() {
    let mut rng = Rng::new(44);
    for _ in 0..500 {
        let n = 1 + rng.below(6);
        let rows = random_rows(&mut rng, n);
        let b: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
        let space = RowSpace::factor(&rows);
        let c = space.particular(&b);
        let size = norm(&c);
        for (row, b) in rows.iter().zip(&b) {
            assert!((dot(row, &c) - b).abs() < 1e-13 * (1.0 + size));
        }
        let (null, n_null) = space.null_basis();
        for s in &null[..n_null] {
            assert!(dot(s, &c).abs() < 1e-13 * (1.0 + size), "has a part in the null space");
        }
    }
    // a repeated, consistent row changes nothing
    let rows =
        [[1.0, 2.0, 0.0, 0.0, 0.0, 0.0], [2.0, 4.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0, 1.0]];
    let c = RowSpace::factor(&rows).particular(&[5.0, 10.0, 4.0]);
    for (found, expected) in c.iter().zip([1.0, 2.0, 2.0, 0.0, 0.0, 2.0]) {
        assert!((found - expected).abs() < 1e-14);
    }
}

#[test]
fn non_finite_rows_are_dropped() {
    let good = [0.0, 1.0, 0.0, 0.0, 0.0, 0.0];
    for bad in [f64::NAN, f64::INFINITY] {
        let space = RowSpace::factor(&[[bad, 1.0, 0.0, 0.0, 0.0, 0.0], good]);
        assert_eq!(space.rank(), 1);
        assert!(space.null_basis().0.iter().flatten().all(|a| a.is_finite()));
    }
}

#[test]
#[should_panic(expected = "at most 6 rows")]
fn seven_rows_are_too_many() {
    let _ = RowSpace::factor(&[[1.0; 6]; 7]);
}
