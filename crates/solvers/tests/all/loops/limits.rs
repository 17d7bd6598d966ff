//! Budgets, signals, empty and broken input, memory.

use super::graphs::{Block, Reference, Tree, independent_blocks, pushed};
use glam::DVec3;
use sinew_math::{Force, Motion, Sym3};
use sinew_solvers::{
    COUPLED_ROWS, DIRECT_ROWS, FreeBodies, FreeMass, LoopMethod, LoopProblem, LoopReport, LoopRow, LoopRows,
    LoopScratch, LoopSettings, LoopStop, Responder, refine,
};
use sinew_testkit::Rng;

const BODY: FreeMass = FreeMass { inverse_mass: 0.5, inverse_inertia: Sym3::IDENTITY };

const METHODS: &[LoopMethod] = &[
    LoopMethod::ConjugateResidual,
    LoopMethod::ConjugateGradient,
    LoopMethod::BiConjugateGradient,
    LoopMethod::Dense,
];

fn solve(
    rows: &LoopRows,
    masses: &[FreeMass],
    rhs: &[f64],
    lambda: &mut [f64],
    settings: &LoopSettings,
) -> LoopReport {
    refine(
        LoopProblem {
            rows,
            responder: &mut FreeBodies { masses },
            free_mass: &|port| masses[port as usize],
            rhs,
            graph: None,
        },
        lambda,
        settings,
        &mut LoopScratch::new(),
        &mut |_, _| true,
    )
}

fn sample() -> (Tree, Vec<Block>) {
    let rng = &mut Rng::new(3);
    let tree = Tree::random(rng, 12, |rng| 1 + rng.below(6));
    let blocks = independent_blocks(rng, &tree, &Reference::new(&tree), 4, 0.3);
    assert!(blocks.len() > 2);
    (tree, blocks)
}

#[test]
fn no_rows_is_no_work() {
    let report = solve(&LoopRows::new(), &[], &[], &mut [], &LoopSettings::default());
    assert_eq!(report, LoopReport::default());
    assert_eq!(report.stop, LoopStop::None);
}

#[test]
fn the_number_of_rows_chooses_the_method() {
    let with = |method| LoopSettings { method, ..LoopSettings::default() };
    let auto = with(LoopMethod::Auto);
    for (n_rows, is_slow, expected) in
        [(DIRECT_ROWS, false, true), (DIRECT_ROWS + 1, false, false), (1, true, false)]
    {
        assert_eq!(auto.is_direct(n_rows, is_slow), expected, "{n_rows} rows");
    }
    assert!(auto.is_closed_first(COUPLED_ROWS) && !auto.is_closed_first(COUPLED_ROWS + 1));
    for (method, is_direct) in [(LoopMethod::Direct, true), (LoopMethod::ConjugateResidual, false)] {
        for n_rows in [1, COUPLED_ROWS + 1] {
            let settings = with(method);
            assert_eq!(
                (settings.is_direct(n_rows, true), settings.is_closed_first(n_rows)),
                (is_direct, is_direct)
            );
        }
    }
}

#[test]
fn rows_are_copied_and_emptied() {
    let on = Force::new(DVec3::X, DVec3::Y);
    let row = LoopRow { on1: on, on2: -on, rhs: 0.5, compliance: 0.25 };
    let mut rows = LoopRows::new();
    assert!(rows.is_empty());
    rows.push([0, LoopRows::FIXED], &[row, LoopRow { rhs: 2.0, ..row }], 1.0);
    rows.push_point([0, 1], [DVec3::X, DVec3::Z], DVec3::ONE, 1.0);
    assert!(!rows.is_empty());
    let mut copy = LoopRows::new();
    copy.copy_blocks(&rows, 1);
    assert_eq!((copy.len(), copy.rhs()), (2, &rows.rhs()[..2]));
    let lambda = [3.0, -1.0, 1.0, 2.0, 3.0];
    assert_eq!(copy.impulse_on_first(0, &lambda), on * 2.0);
    let push = DVec3::new(1.0, 2.0, 3.0);
    assert_eq!(rows.impulse_on_first(1, &lambda), Force::new(DVec3::X.cross(push), push));
    rows.clear();
    assert!(rows.is_empty() && !copy.is_empty());
}

/// Rows of each shape that a share of the free bodies softens, by hand: two general rows, three of a point, a wide one.
#[test]
fn rows_are_softened_by_a_share_of_their_free_bodies() {
    let masses =
        [0.5, 2.0].map(|inverse_mass| FreeMass { inverse_mass, inverse_inertia: Sym3::IDENTITY * 4.0 });
    let (light, heavy) = (
        |port: u32| masses[port as usize],
        |port: u32| FreeMass {
            inverse_mass: 0.01 * masses[port as usize].inverse_mass,
            inverse_inertia: masses[port as usize].inverse_inertia * 0.01,
        },
    );
    // 0.1 of the first or ten times the hundredth: the first is smaller, and so is the second where it counts five times.
    for (second, factor) in [(20.0, 0.1), (5.0, 0.05)] {
        let mut rows = LoopRows::new();
        let soften = |rows: &mut LoopRows| rows.soften_last([(0.1, &light), (second, &heavy)]);
        let turn = Force::new(DVec3::X * 2.0, DVec3::ZERO);
        let push = Force::new(DVec3::ZERO, DVec3::Y * 3.0);
        let row = LoopRow { on1: turn, on2: push, rhs: 0.0, compliance: 1.0 };
        rows.push([0, 1], &[row, LoopRow { on2: Force::ZERO, ..row }], 1.0);
        soften(&mut rows);
        rows.push_point([0, LoopRows::FIXED], [DVec3::Z, DVec3::ZERO], DVec3::ZERO, 1.0);
        soften(&mut rows);
        rows.push_wide([(0, turn), (1, push)].into_iter(), 0.0, 1.0, 1.0);
        soften(&mut rows);
        // Of a point with the arm z: 0.5 along each axis, and 4 more along x and y.
        let point = factor * (3.0 * 0.5 + 2.0 * 4.0) / 3.0;
        let expected = [1.0 + factor * 34.0, 1.0 + factor * 16.0, point, point, point, 1.0 + factor * 34.0];
        for (found, expected) in rows.compliance().iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }
}

#[test]
fn without_a_budget_the_start_is_measured() {
    let (tree, blocks) = sample();
    let rows = pushed(&blocks);
    for &method in METHODS {
        let settings = LoopSettings { method, iterations: 0, ..LoopSettings::default() };
        let mut lambda = vec![0.0; rows.len()];
        let (report, _) = tree.refine(&rows, &mut lambda, &settings);
        let largest = rows.rhs().iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        assert_eq!((report.stop, report.iterations, report.residual), (LoopStop::Budget, 0, largest));
        assert!(lambda.iter().all(|&l| l == 0.0));

        let mut warm: Vec<f64> = (0..rows.len()).map(|i| 0.1 * i as f64).collect();
        let start = warm.clone();
        let (report, motions) = tree.refine(&rows, &mut warm, &settings);
        let mut along = vec![0.0; rows.len()];
        rows.gather(&motions, &mut along);
        let residual = (0..rows.len())
            .map(|i| (rows.rhs()[i] - along[i] - rows.compliance()[i] * start[i]).abs())
            .fold(0.0, f64::max);
        assert!((report.residual - residual).abs() < 1e-9 * (1.0 + residual));
        assert_eq!(warm, start);
    }
}

#[test]
fn the_signal_stops_and_a_replay_by_count_gives_the_same_bits() {
    let (tree, blocks) = sample();
    let rows = pushed(&blocks);
    let masses: Vec<FreeMass> = (0..tree.len()).map(|port| tree.free_mass(port as u32)).collect();
    for &method in &METHODS[..3] {
        let settings = LoopSettings { method, ..LoopSettings::default() };
        let (mut stopped, mut replayed) = (vec![0.0; rows.len()], vec![0.0; rows.len()]);
        let mut asked = 0;
        let report = refine(
            LoopProblem {
                rows: &rows,
                responder: &mut FreeBodies { masses: &masses },
                free_mass: &|port| masses[port as usize],
                rhs: rows.rhs(),
                graph: None,
            },
            &mut stopped,
            &settings,
            &mut LoopScratch::new(),
            &mut |done, residual| {
                assert!(done == asked && residual > 0.0);
                asked += 1;
                done < 3
            },
        );
        assert_eq!((report.stop, report.iterations, asked), (LoopStop::Asked, 3, 4));
        let settings = LoopSettings { iterations: 3, ..settings };
        let again = solve(&rows, &masses, rows.rhs(), &mut replayed, &settings);
        assert_eq!((again.stop, again.residual), (LoopStop::Budget, report.residual));
        assert_eq!(stopped, replayed);
    }
}

/// A responder that answers with nonsense from the given response on.
struct Broken(u32);

impl Responder for Broken {
    fn respond(&mut self, impulses: &[Force], motions: &mut [Motion]) {
        self.0 = self.0.saturating_sub(1);
        for (impulse, motion) in impulses.iter().zip(motions) {
            let motion_of = BODY.mul(*impulse);
            *motion = if self.0 == 0 { motion_of * f64::NAN } else { motion_of };
        }
    }
}

#[test]
fn nonsense_never_reaches_the_multipliers() {
    let mut rows = LoopRows::new();
    for port in 0..6 {
        rows.push_point([port, port + 1], [DVec3::X, -DVec3::X], DVec3::new(1.0, 2.0, 3.0), 1.0);
    }
    for &method in METHODS {
        for precondition in [false, true] {
            let settings = LoopSettings { method, precondition, ..LoopSettings::default() };
            for bad in [f64::NAN, f64::INFINITY] {
                let mut rhs = rows.rhs().to_vec();
                rhs[4] = bad;
                let mut lambda = vec![0.25; rows.len()];
                let report = solve(&rows, &[BODY; 7], &rhs, &mut lambda, &settings);
                assert_eq!(report.stop, LoopStop::Breakdown, "{settings:?}");
                assert!(report.residual.is_infinite());
                assert_eq!(lambda, vec![0.25; rows.len()]);

                // A start that is not a number is forgotten.
                let mut lambda = vec![bad; rows.len()];
                let report = solve(&rows, &[BODY; 7], rows.rhs(), &mut lambda, &settings);
                assert_eq!(report.stop, LoopStop::Converged, "{settings:?}");
                assert!(lambda.iter().all(|l| l.is_finite()));
            }
            for response in 1..6 {
                let mut lambda = vec![0.0; rows.len()];
                let report = refine(
                    LoopProblem {
                        rows: &rows,
                        responder: &mut Broken(response),
                        free_mass: &|_| BODY,
                        rhs: rows.rhs(),
                        graph: None,
                    },
                    &mut lambda,
                    &settings,
                    &mut LoopScratch::new(),
                    &mut |_, _| true,
                );
                assert_eq!(report.stop, LoopStop::Breakdown, "{settings:?} {report:?}");
                assert!(report.residual.is_finite() && lambda.iter().all(|l| l.is_finite()), "{report:?}");
            }
            // A nonsensical arm.
            let mut broken = rows.clone();
            broken.push_point([0, 1], [DVec3::NAN, DVec3::X], DVec3::X, 1.0);
            let mut lambda = vec![0.0; broken.len()];
            let report = solve(&broken, &[BODY; 7], broken.rhs(), &mut lambda, &settings);
            assert_eq!(report.stop, LoopStop::Breakdown, "{settings:?} {report:?}");
            assert!(lambda.iter().all(|l| l.is_finite()));
        }
    }
}

#[test]
fn immovable_ends_keep_their_residual_and_disturb_nobody() {
    let masses = [BODY, FreeMass::IMMOVABLE];
    let mut rows = LoopRows::new();
    rows.push_point([0, LoopRows::FIXED], [DVec3::X, DVec3::ZERO], DVec3::new(1.0, 2.0, 3.0), 1.0);
    rows.push_point([1, LoopRows::FIXED], [DVec3::Y, DVec3::ZERO], DVec3::new(0.0, 0.5, 0.0), 1.0);
    rows.push_point([LoopRows::FIXED; 2], [DVec3::Y; 2], DVec3::new(0.25, 0.0, 0.0), 1.0);
    for &method in METHODS {
        for precondition in [false, true] {
            let settings = LoopSettings { method, precondition, ..LoopSettings::default() };
            let mut lambda = vec![0.0; rows.len()];
            let report = solve(&rows, &masses, rows.rhs(), &mut lambda, &settings);
            assert!(lambda.iter().all(|l| l.is_finite()));
            if matches!(method, LoopMethod::ConjugateGradient | LoopMethod::BiConjugateGradient) {
                continue;
            }
            assert_eq!(
                (report.stop, report.residual),
                (LoopStop::LeastSquares, 0.5),
                "{settings:?} {report:?}"
            );
            let mut impulses = [Force::ZERO; 2];
            rows.scatter(&lambda, &mut impulses);
            let v = BODY.mul(impulses[0]);
            let point = v.linear + v.angular.cross(DVec3::X);
            assert!((point - DVec3::new(1.0, 2.0, 3.0)).length() < 1e-9, "{settings:?} {point}");
        }
    }
}

#[test]
fn inactive_rows_return_their_right_hand_side() {
    let mut rows = LoopRows::new();
    let inactive = LoopRow { rhs: 0.75, compliance: 1.0, ..LoopRow::default() };
    let linear = Force { angular: DVec3::ZERO, linear: DVec3::X };
    let active = LoopRow { on1: linear, on2: Force::ZERO, rhs: 1.0, compliance: 0.0 };
    rows.push([0, LoopRows::FIXED], &[inactive, active], 1.0);
    for &method in METHODS {
        let mut lambda = vec![0.0; 2];
        let settings = LoopSettings { method, ..LoopSettings::default() };
        let report = solve(&rows, &[BODY], rows.rhs(), &mut lambda, &settings);
        assert_eq!(report.stop, LoopStop::Converged);
        assert!((lambda[0] - 0.75).abs() < 1e-9 && (lambda[1] - 2.0).abs() < 1e-9, "{lambda:?}");
    }
}

#[test]
fn a_precision_beyond_rounding_ends() {
    let (tree, blocks) = sample();
    let rows = pushed(&blocks);
    for &method in METHODS {
        let settings = LoopSettings { method, precision: 0.0, iterations: 500, ..LoopSettings::default() };
        let (report, motions) = tree.refine(&rows, &mut vec![0.0; rows.len()], &settings);
        assert!(report.residual < 1e-10, "{settings:?} {report:?}");
        assert!(motions.iter().all(|v| v.is_finite()));
    }
}

#[test]
fn biconjugate_iterates_are_those_of_the_conjugate_gradient() {
    let (tree, blocks) = sample();
    let rows = pushed(&blocks);
    for precondition in [false, true] {
        for iterations in 1..8 {
            let run = |method| {
                let settings = LoopSettings { method, precondition, iterations, ..LoopSettings::default() };
                let mut lambda = vec![0.0; rows.len()];
                let (report, _) = tree.refine(&rows, &mut lambda, &settings);
                assert_eq!(report.iterations, iterations);
                lambda
            };
            assert_eq!(run(LoopMethod::ConjugateGradient), run(LoopMethod::BiConjugateGradient));
        }
    }
}

#[test]
fn a_second_solve_allocates_nothing() {
    let (tree, blocks) = sample();
    let masses: Vec<FreeMass> = (0..tree.len()).map(|port| tree.free_mass(port as u32)).collect();
    let (mut rows, mut scratch) = (LoopRows::new(), LoopScratch::new());
    let mut lambda = vec![0.0; pushed(&blocks).len()];
    let mut run = || {
        rows.clear();
        blocks.iter().for_each(|block| block.push(&mut rows));
        refine(
            LoopProblem {
                rows: &rows,
                responder: &mut FreeBodies { masses: &masses },
                free_mass: &|port| masses[port as usize],
                rhs: rows.rhs(),
                graph: None,
            },
            &mut lambda,
            &LoopSettings::default(),
            &mut scratch,
            &mut |_, _| true,
        );
    };
    run();
    assert_eq!(allocation_counter::measure(run).count_total, 0);
}

/// A wide row on two bodies is the general row, to rounding, with every method; on three bodies it meets its equation.
#[test]
fn wide_rows_act_on_any_number_of_bodies() {
    let mut rng = Rng::new(21);
    let masses: Vec<FreeMass> = (0..3)
        .map(|_| {
            let inverse_inertia = Sym3::diagonal(rng.vec3(0.5, 3.0));
            FreeMass { inverse_mass: rng.uniform(0.1, 2.0), inverse_inertia }
        })
        .collect();
    let methods = METHODS.iter().copied().chain([LoopMethod::Direct]);
    for method in methods {
        let on: Vec<Force> = (0..3).map(|_| Force::new(rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0))).collect();
        let settings = LoopSettings { method, precision: 1e-12, iterations: 100, ..LoopSettings::default() };
        let (mut general, mut wide) = (LoopRows::new(), LoopRows::new());
        let row = LoopRow { on1: on[0], on2: on[1], rhs: 0.7, compliance: 0.2 };
        general.push([0, 1], &[row], 1.0);
        wide.push_wide([(0, on[0]), (LoopRows::FIXED, on[2]), (1, on[1])].into_iter(), 0.7, 0.2, 1.0);
        let mut found = [[0.0], [0.0]];
        for (rows, lambda) in [&general, &wide].into_iter().zip(&mut found) {
            solve(rows, &masses, rows.rhs(), lambda, &settings);
        }
        assert!((found[0][0] - found[1][0]).abs() < 1e-12, "{method:?}: {found:?}");

        wide.clear();
        wide.push_wide((0..3).map(|port| (port, on[port as usize])), -0.3, 0.0, 1.0);
        wide.soften_last([(0.1, &|port| masses[port as usize]), (0.2, &|port| masses[port as usize])]);
        let own: f64 = on.iter().zip(&masses).map(|(on, mass)| on.dot(mass.mul(*on))).sum();
        assert!((wide.compliance()[0] - 0.1 * own).abs() < 1e-14);
        let mut lambda = [0.0];
        solve(&wide, &masses, wide.rhs(), &mut lambda, &settings);
        assert!((lambda[0] * own * 1.1 + 0.3).abs() < 1e-11, "{method:?}: {lambda:?}");
        let mut impulses = [Force::ZERO; 3];
        wide.scatter(&lambda, &mut impulses);
        assert!(impulses.iter().zip(&on).all(|(found, on)| *found == *on * lambda[0]));
    }
}
