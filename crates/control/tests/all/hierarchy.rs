//! Prioritized goals against the golden numbers, dense formulas with an explicit null basis, and at singular points.

use sinew_control::{Damping, Hierarchy};
use sinew_math::ops;
use sinew_testkit::golden::{case, dense, number, numbers};
use sinew_testkit::{Dense, Rng, assert_close, scaled_difference};

type Level<'a> = (&'a Dense, &'a [f64]);

fn length(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn solve(levels: &[Level<'_>], weights: &[f64], damping: Damping) -> Vec<f64> {
    let mut hierarchy = Hierarchy::new();
    hierarchy.begin(weights);
    for (rows, targets) in levels {
        hierarchy.level(rows.entries(), targets, damping);
    }
    hierarchy.solution().to_vec()
}

/// `Aᵀ (A Aᵀ + α 1)⁻¹ d`, with a dense inverse.
fn robust(a: &Dense, d: &[f64], alpha: f64) -> Vec<f64> {
    let gram = a.mul(&a.transpose()).plus(&Dense::identity(a.n_rows()), alpha);
    a.transpose().mul_vec(&gram.solve(d).unwrap())
}

/// Makes `v` perpendicular to orthonormal `known`; returns its length before normalization.
fn orthonormalize(known: &[Vec<f64>], v: &mut [f64]) -> f64 {
    for _ in 0..3 {
        for q in known {
            let share: f64 = q.iter().zip(&*v).map(|(a, b)| a * b).sum();
            v.iter_mut().zip(q).for_each(|(x, y)| *x -= share * y);
        }
    }
    let left = length(v);
    v.iter_mut().for_each(|x| *x /= left);
    left
}

/// Orthonormal columns that span what the rows leave free: unit vectors made perpendicular to the rows and to each
/// other.
fn null_basis(rows: &[Vec<f64>], n: usize) -> Dense {
    let mut known: Vec<Vec<f64>> = Vec::new();
    for row in rows {
        let mut v = row.clone();
        if orthonormalize(&known, &mut v) > 1e-9 * length(row) {
            known.push(v);
        }
    }
    let rank = known.len();
    for i in 0..n {
        let mut v: Vec<f64> = (0..n).map(|k| f64::from(u8::from(i == k))).collect();
        if orthonormalize(&known, &mut v) > 1e-6 {
            known.push(v);
        }
    }
    assert_eq!(known.len(), n);
    Dense::from_fn(n, n - rank, |r, c| known[rank + c][r])
}

/// KP08 §3.1 as printed: `x += N (C N)^‡ (d − C x)` with an explicit null basis.
fn by_null_basis(levels: &[Level<'_>], n: usize, alpha: f64) -> Vec<f64> {
    let mut x = vec![0.0; n];
    let mut above: Vec<Vec<f64>> = Vec::new();
    for (rows, targets) in levels {
        let null = null_basis(&above, n);
        let misfit: Vec<f64> = rows.mul_vec(&x).iter().zip(*targets).map(|(c, d)| d - c).collect();
        let step = null.mul_vec(&robust(&rows.mul(&null), &misfit, alpha));
        x.iter_mut().zip(step).for_each(|(x, s)| *x += s);
        above.extend(rows.entries().chunks_exact(n).map(<[f64]>::to_vec));
    }
    x
}

fn random(rng: &mut Rng, m: usize, n: usize) -> Dense {
    Dense::from_fn(m, n, |_, _| rng.normal())
}

fn random_vec(rng: &mut Rng, n: usize) -> Vec<f64> {
    (0..n).map(|_| rng.normal()).collect()
}

#[test]
fn the_robust_inverse_is_that_of_the_golden_case() {
    let golden = case("control", "sr_inverse");
    let c = dense(&golden["in"]["C"]);
    let expected = dense(&golden["out"]["C_sr"]);
    for k in 0..c.n_rows() {
        let mut unit = vec![0.0; c.n_rows()];
        unit[k] = 1.0;
        let x = solve(&[(&c, &unit)], &[1.0; 4], Damping::Absolute(number(&golden["in"]["alpha"])));
        let column: Vec<f64> = (0..4).map(|i| expected[(i, k)]).collect();
        assert_close!(x, column, 1e-14);
    }
}

#[test]
fn two_levels_are_those_of_the_golden_case() {
    let golden = case("control", "hierarchy");
    let input = &golden["in"];
    let (primary, secondary) = (dense(&input["primary"]), dense(&input["secondary"]));
    let (first, second) = (numbers(&input["d_primary"]), numbers(&input["d_secondary"]));
    let x = solve(&[(&primary, &first), (&secondary, &second)], &[1.0; 4], Damping::Exact);
    assert_close!(x, numbers(&golden["out"]["x"]), 1e-13);
}

#[test]
fn projectors_and_null_bases_give_the_same_solution() {
    let mut rng = Rng::new(51);
    for round in 0..200 {
        let n = 4 + rng.below(20);
        let shape: Vec<(Dense, Vec<f64>)> = (0..3)
            .map(|_| {
                let m = 1 + rng.below(n / 3 + 1);
                (random(&mut rng, m, n), random_vec(&mut rng, m))
            })
            .collect();
        let levels: Vec<Level<'_>> = shape.iter().map(|(c, d)| (c, d.as_slice())).collect();
        let alpha = [0.3, 1e-3][round % 2];
        let fast = solve(&levels, &vec![1.0; n], Damping::Absolute(alpha));
        let slow = by_null_basis(&levels, n, alpha);
        assert!(scaled_difference(&fast, &slow) < 1e-9, "{round}: {fast:?} {slow:?}");
    }
}

#[test]
fn an_unmeetable_level_is_a_compromise_and_dependent_rows_do_no_harm() {
    let mut rng = Rng::new(52);
    let base = random(&mut rng, 3, 7);
    let twice = Dense::from_fn(6, 7, |i, j| base[(i / 2, j)]);
    let targets = random_vec(&mut rng, 6);
    let mean: Vec<f64> = (0..3).map(|i| 0.5 * (targets[2 * i] + targets[2 * i + 1])).collect();
    let x = solve(&[(&twice, &targets)], &[1.0; 7], Damping::Exact);
    assert_close!(x, robust(&base, &mean, 0.0), 1e-12);
    let mut hierarchy = Hierarchy::new();
    hierarchy.begin(&[1.0; 7]);
    assert_eq!(hierarchy.level(twice.entries(), &targets, Damping::Exact).rank, 3);
    assert_eq!(hierarchy.level(base.entries(), &mean, Damping::Exact).rank, 0);
}

#[test]
fn lower_levels_leave_higher_ones_alone() {
    let mut rng = Rng::new(53);
    let damping = Damping::Relative { share: 1e-5, floor: 1e-6 };
    for _ in 0..200 {
        let (n, mut hierarchy) = (12, Hierarchy::new());
        let weights: Vec<f64> = (0..n).map(|_| rng.power_of_ten(-2, 2)).collect();
        hierarchy.begin(&weights);
        // the second level nearly repeats the first, the third is enormous
        let first = random(&mut rng, 4, n);
        let nearly = first.plus(&random(&mut rng, 4, n), 1e-9);
        hierarchy.level(first.entries(), &random_vec(&mut rng, 4), damping);
        let before = first.mul_vec(hierarchy.solution());
        hierarchy.level(nearly.entries(), &random_vec(&mut rng, 4), damping);
        hierarchy.level(random(&mut rng, 6, n).entries(), &[1e6; 6], damping);
        hierarchy.prefer(&random_vec(&mut rng, n));
        let after = first.mul_vec(hierarchy.solution());
        let size = length(hierarchy.solution()).max(1.0);
        assert!(
            length(&before) > 0.0
                && before.iter().zip(&after).all(|(a, b)| (a - b).abs() < 1e-13 * size * 10.0)
        );
    }
}

#[test]
fn solutions_stay_bounded_however_close_a_singularity_is() {
    let mut rng = Rng::new(54);
    let share = 1e-5;
    for power in 0..=18 {
        let c = random(&mut rng, 1, 6);
        let offset = random(&mut rng, 1, 6);
        let epsilon = sinew_math::ops::pow(10.0, -f64::from(power));
        let rows =
            Dense::from_fn(2, 6, |i, j| c[(0, j)] + if i == 1 { epsilon * offset[(0, j)] } else { 0.0 });
        let x = solve(&[(&rows, &[1.0, -1.0])], &[1.0; 6], Damping::Relative { share, floor: 1e-6 });
        // |C^‡| ≤ 1/(2√α), α = share |C|²
        let bound = 2f64.sqrt() / (2.0 * share.sqrt() * length(rows.entries()));
        assert!(length(&x) <= bound * (1.0 + 1e-9), "{power}: {} > {bound}", length(&x));
        // rows that are rounding errors ask for nothing
        let noise: Vec<f64> = c.entries().iter().map(|x| x * 1e-17).collect();
        let mut hierarchy = Hierarchy::new();
        hierarchy.begin(&[1.0; 6]);
        let report = hierarchy.level(&noise, &[1.0], Damping::Relative { share, floor: 1e-6 });
        assert_eq!((report.rank, length(hierarchy.solution()).to_bits()), (0, 0));
    }
}

#[test]
fn weights_decide_who_moves() {
    let c = Dense::from_rows(1, 3, &[1.0, 2.0, -1.0]);
    let weights = [1.0, 10.0, 4.0];
    let x = solve(&[(&c, &[3.0])], &weights, Damping::Exact);
    // x = W⁻¹ Cᵀ (C W⁻¹ Cᵀ)⁻¹ d
    let shares = [1.0, 0.2, -0.25];
    let compliance = 1.0 + 0.4 + 0.25;
    assert_close!(x, shares.map(|s| s * 3.0 / compliance).to_vec(), 1e-14);
}

#[test]
fn a_preference_is_a_last_level_of_unit_rows() {
    let mut rng = Rng::new(55);
    let (n, c) = (9, random(&mut rng, 4, 9));
    let (targets, wish) = (random_vec(&mut rng, 4), random_vec(&mut rng, 9));
    let weights: Vec<f64> = (0..n).map(|_| rng.uniform(0.2, 5.0)).collect();
    let mut hierarchy = Hierarchy::new();
    hierarchy.begin(&weights);
    hierarchy.level(c.entries(), &targets, Damping::Exact);
    hierarchy.prefer(&wish);
    let units = Dense::from_fn(n, n, |i, j| if i == j { weights[i].sqrt() } else { 0.0 });
    let scaled: Vec<f64> = wish.iter().zip(&weights).map(|(d, w)| d * w.sqrt()).collect();
    let rows = solve(&[(&c, &targets), (&units, &scaled)], &weights, Damping::Exact);
    assert_close!(hierarchy.solution().to_vec(), rows, 1e-12);
}

#[test]
fn nothing_to_decide_is_no_trouble() {
    let mut hierarchy = Hierarchy::new();
    hierarchy.begin(&[]);
    let report = hierarchy.level(&[], &[2.0], Damping::Exact);
    assert_eq!((report.rank, report.residual.to_bits()), (0, 2f64.to_bits()));
    hierarchy.prefer(&[]);
    hierarchy.begin(&[1.0; 3]);
    assert_eq!(hierarchy.level(&[], &[], Damping::Exact).rank, 0);
    assert_eq!(hierarchy.level(&[0.0; 3], &[1.0], Damping::Exact).rank, 0);
}

#[test]
fn a_metric_is_that_of_the_transformed_problem() {
    let mut rng = Rng::new(56);
    for _ in 0..50 {
        let n = 8;
        // G = F Fᵀ; the smallest yᵀG⁻¹y is the smallest |u|² with y = F u
        let factor = random(&mut rng, n, n).plus(&Dense::identity(n), 2.0);
        let metric = factor.mul(&factor.transpose());
        let (first, second) = (random(&mut rng, 3, n), random(&mut rng, 4, n));
        let (d1, d2, wish) = (random_vec(&mut rng, 3), random_vec(&mut rng, 4), random_vec(&mut rng, n));
        let lift = |row: &[f64], lifted: &mut [f64]| lifted.copy_from_slice(&metric.mul_vec(row));
        let damping = Damping::Absolute(0.1);
        let mut hierarchy = Hierarchy::new();
        hierarchy.begin(&vec![1.0; n]);
        hierarchy.start_from(&wish);
        hierarchy.level_in(first.entries(), &d1, damping, lift);
        hierarchy.level_in(second.entries(), &d2, damping, lift);
        let lifted = (first.mul(&factor), second.mul(&factor));
        let mut plain = Hierarchy::new();
        plain.begin(&vec![1.0; n]);
        plain.start_from(&factor.solve(&wish).unwrap());
        plain.level(lifted.0.entries(), &d1, damping);
        plain.level(lifted.1.entries(), &d2, damping);
        let expected = factor.mul_vec(plain.solution());
        assert!(scaled_difference(hierarchy.solution(), expected.as_slice()) < 1e-8);
        // nothing is left to prefer
        let before = hierarchy.solution().to_vec();
        hierarchy.prefer(&wish);
        assert!(scaled_difference(hierarchy.solution(), before.as_slice()) < 1e-9);
    }
}

/// A pendulum of unit length that points at `angle` and should reach a point far along x, by steps of the hierarchy.
#[test]
fn a_level_that_is_not_met_comes_to_rest_at_the_nearest_point() {
    let damping = Damping::Relative { share: 1e-3, floor: 1e-6 };
    let swing = |takes_bend: bool| {
        let (mut angle, mut turns) = (0.3, Vec::new());
        let mut hierarchy = Hierarchy::new();
        for _ in 0..20 {
            hierarchy.begin(&[1.0]);
            if takes_bend {
                hierarchy.rest_at(&[0.0], 1.0);
            }
            let (sin, cos) = (ops::sin(angle), ops::cos(angle));
            hierarchy.level(&[-sin, cos], &[4.0 - cos, -sin], damping);
            turns.push(hierarchy.solution()[0]);
            angle += hierarchy.solution()[0];
        }
        (angle, turns[19].abs())
    };
    let (angle, last) = swing(true);
    assert!(angle.abs() < 1e-4 && last < 1e-4, "{angle} {last}");
    let met = |bend: f64| {
        let mut hierarchy = Hierarchy::new();
        hierarchy.begin(&[1.0, 1.0]);
        hierarchy.rest_at(&[5.0, 5.0], bend);
        hierarchy.level(&[1.0, 0.5, -0.5, 1.0], &[0.3, 0.2], damping);
        hierarchy.solution().to_vec()
    };
    assert_eq!(met(0.0), met(1.0), "a level that is met has no bend");
}
