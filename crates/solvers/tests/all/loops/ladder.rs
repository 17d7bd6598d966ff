//! The rope ladders of Fau99 Table 2: multipliers, accelerations and iteration counts.

use glam::DVec3;
use sinew_math::{Force, Motion, Sym3, Sym6, ops};
use sinew_solvers::{
    ActivePairs, FreeBodies, FreeMass, Load, LoopMethod, LoopProblem, LoopReport, LoopRows, LoopScratch,
    LoopSettings, LoopStop, PairFactor, PointJoint, TreeReaction, TreeResponder, refine,
};
use sinew_testkit::assert_close;
use sinew_testkit::golden::{Value, file, numbers, vector};

const WORLD: usize = usize::MAX;

struct Body {
    centre: DVec3,
    axis: DVec3,
    spin: DVec3,
}

/// A ball joint between two bodies at a point.
struct Ball {
    bodies: [usize; 2],
    point: DVec3,
}

/// Bodies in the order A bars, B bars, rungs; tree joint `k` belongs to body `k`.
struct Ladder {
    bodies: Vec<Body>,
    tree: Vec<Ball>,
    loops: Vec<Ball>,
    gravity: DVec3,
}

impl Ladder {
    fn new(p: usize, r: usize, swing: bool, gravity: DVec3, spin: DVec3) -> Self {
        let n = p * r;
        let axis = |m: usize| {
            let angle = if swing { -(0.2 + 0.6 * (m as f64 + 0.5) / n as f64) } else { 0.0 };
            DVec3::new(ops::cos(angle), 0.0, ops::sin(angle))
        };
        let mut points = vec![DVec3::ZERO];
        (0..n).for_each(|m| points.push(points[m] + axis(m)));
        let (mut bodies, mut tree, mut loops) = (Vec::new(), Vec::new(), Vec::new());
        for string in 0..2 {
            let offset = DVec3::Y * string as f64;
            for m in 0..n {
                let body = string * n + m;
                let parent = if m == 0 { WORLD } else { body - 1 };
                bodies.push(Body { centre: points[m] + offset + 0.5 * axis(m), axis: axis(m), spin });
                tree.push(Ball { bodies: [body, parent], point: points[m] + offset });
            }
        }
        for k in 0..r {
            let (point, bar, rung) = (points[(k + 1) * p], (k + 1) * p - 1, 2 * n + k);
            bodies.push(Body { centre: point + 0.5 * DVec3::Y, axis: DVec3::Y, spin });
            tree.push(Ball { bodies: [rung, bar], point });
            loops.push(Ball { bodies: [rung, n + bar], point: point + DVec3::Y });
        }
        Self { bodies, tree, loops, gravity }
    }

    /// A solid cylinder of 1 kg, 1 m long, of radius 0.05 m.
    fn inertia(&self, body: usize) -> Sym3 {
        let (along, across) = (0.5 * 0.05 * 0.05, (3.0 * 0.05 * 0.05 + 1.0) / 12.0);
        (Sym3::IDENTITY * across).add_outer(along - across, self.bodies[body].axis)
    }

    fn free_mass(&self, body: usize) -> FreeMass {
        FreeMass { inverse_mass: 1.0, inverse_inertia: self.inertia(body).inverse().unwrap() }
    }

    fn arm(&self, ball: &Ball, side: usize) -> DVec3 {
        let body = ball.bodies[side];
        if body == WORLD { DVec3::ZERO } else { ball.point - self.bodies[body].centre }
    }

    /// `b = −(J M⁻¹ f_ext + a_v)` of a ball joint.
    fn rhs(&self, ball: &Ball) -> DVec3 {
        let acceleration = |side: usize| {
            let body = ball.bodies[side];
            if body == WORLD {
                return DVec3::ZERO;
            }
            let (arm, spin) = (self.arm(ball, side), self.bodies[body].spin);
            let turning =
                self.free_mass(body).inverse_inertia.mul_vec(-spin.cross(self.inertia(body).mul_vec(spin)));
            self.gravity + turning.cross(arm) + spin.cross(spin.cross(arm))
        };
        acceleration(1) - acceleration(0)
    }

    /// The position of a body in the order rungs, A bars and B bars from their ends.
    fn pair(&self, body: usize) -> usize {
        self.bodies.len() - 1 - body
    }

    fn factor(&self) -> (PairFactor, Vec<u32>, Vec<Motion>) {
        let n = self.bodies.len();
        let mut factor = PairFactor::new(vec![3; n]);
        let mut loads: Vec<Load> = (0..n)
            .map(|pair| {
                let mass = Sym6::rigid(self.inertia(self.pair(pair)), 1.0);
                Load { mass, momentum: Force::ZERO }
            })
            .collect();
        let mut parents = vec![u32::MAX; n];
        for pair in 0..n {
            let ball = &self.tree[self.pair(pair)];
            let [arm, other] = [0, 1].map(|side| self.arm(ball, side));
            let joint = PointJoint {
                shift: other - arm,
                arm,
                offset: Motion { angular: DVec3::ZERO, linear: self.rhs(ball) },
                stiffness: Sym3::ZERO,
                impulse: DVec3::ZERO,
            };
            let mut load = loads[pair];
            assert_eq!(factor.view().eliminate_point(pair, &mut load, &joint), 0);
            if ball.bodies[1] != WORLD {
                let parent = self.pair(ball.bodies[1]);
                parents[pair] = parent as u32;
                loads[parent].add(&load);
            }
        }
        let mut motions = vec![Motion::ZERO; n];
        for pair in (0..n).rev() {
            let parent = parents.get(parents[pair] as usize).map(|_| motions[parents[pair] as usize]);
            motions[pair] = factor.substitute(pair, parent.unwrap_or_default());
        }
        (factor, parents, motions)
    }

    fn push(&self, rows: &mut LoopRows, balls: &[Ball], port: impl Fn(usize) -> u32) {
        for ball in balls {
            let ports = ball.bodies.map(|body| if body == WORLD { LoopRows::FIXED } else { port(body) });
            rows.push_point(ports, [0, 1].map(|side| self.arm(ball, side)), self.rhs(ball), 1.0);
        }
    }

    /// Loops refined on top of the tree: the report, the multipliers and the accelerations by body.
    fn structured(&self, settings: &LoopSettings) -> (LoopReport, Vec<f64>, Vec<Motion>) {
        let mut rows = LoopRows::new();
        self.push(&mut rows, &self.loops, |body| self.pair(body) as u32);
        self.refined(&rows, settings)
    }

    fn refined(&self, rows: &LoopRows, settings: &LoopSettings) -> (LoopReport, Vec<f64>, Vec<Motion>) {
        let (factor, parents, tree_motions) = self.factor();
        let mut along = vec![0.0; rows.len()];
        rows.gather(&tree_motions, &mut along);
        let rhs: Vec<f64> = rows.rhs().iter().zip(&along).map(|(b, v)| b - v).collect();
        let mut lambda = vec![0.0; rows.len()];
        let active = ActivePairs::new(&parents, rows.touched_ports());
        let mut scratch = TreeReaction::new(&factor);
        let mut tree =
            TreeResponder { factor: &factor, parents: &parents, active: &active, scratch: &mut scratch };
        let free = |port: u32| self.free_mass(self.pair(port as usize));
        let report = refine(
            LoopProblem { rows, responder: &mut tree, free_mass: &free, rhs: &rhs, graph: None },
            &mut lambda,
            settings,
            &mut LoopScratch::new(),
            &mut |_, _| true,
        );
        let all = ActivePairs::all(parents.len());
        let mut everyone =
            TreeResponder { factor: &factor, parents: &parents, active: &all, scratch: &mut scratch };
        let mut impulses = vec![Force::ZERO; parents.len()];
        rows.scatter(&lambda, &mut impulses);
        let mut motions = vec![Motion::ZERO; parents.len()];
        sinew_solvers::Responder::respond(&mut everyone, &impulses, &mut motions);
        let by_body =
            (0..motions.len()).map(|body| tree_motions[self.pair(body)] + motions[self.pair(body)]).collect();
        (report, lambda, by_body)
    }

    /// Every joint a loop, on free bodies.
    fn full(&self, settings: &LoopSettings) -> LoopReport {
        let mut rows = LoopRows::new();
        self.push(&mut rows, &self.tree, |body| body as u32);
        self.push(&mut rows, &self.loops, |body| body as u32);
        let masses: Vec<FreeMass> = (0..self.bodies.len()).map(|body| self.free_mass(body)).collect();
        let mut lambda = vec![0.0; rows.len()];
        refine(
            LoopProblem {
                rows: &rows,
                responder: &mut FreeBodies { masses: &masses },
                free_mass: &|port| masses[port as usize],
                rhs: rows.rhs(),
                graph: None,
            },
            &mut lambda,
            settings,
            &mut LoopScratch::new(),
            &mut |_, _| true,
        )
    }
}

fn cases() -> Vec<(String, Ladder, Value)> {
    let build = |(name, case): (&String, &Value)| {
        let input = &case["in"];
        let [p, r] = ["p", "r"].map(|key| input[key].as_u64().unwrap() as usize);
        let [gravity, spin] = ["g", "Omega"].map(|key| vector(&input[key]));
        (name.clone(), Ladder::new(p, r, input["pose"] == "swing", gravity, spin), case["out"].clone())
    };
    file("ladder")["cases"].as_object().unwrap().iter().map(build).collect()
}

fn coarse(method: LoopMethod, precondition: bool) -> LoopSettings {
    LoopSettings { method, precondition, precision: 1e-3, iterations: 5000, ..LoopSettings::default() }
}

fn methods() -> Vec<LoopMethod> {
    use LoopMethod::{BiConjugateGradient, ConjugateGradient, ConjugateResidual};
    vec![ConjugateResidual, ConjugateGradient, BiConjugateGradient]
}

#[test]
fn ladders_take_the_iterations_of_the_reference() {
    for (name, ladder, out) in cases() {
        for method in methods() {
            for (precondition, key) in
                [(false, "cg_iterations_1e3"), (true, "pcg_block_jacobi_iterations_1e3")]
            {
                let (report, lambda, _) = ladder.structured(&coarse(method, precondition));
                let expected = out[key].as_u64().unwrap() as u32;
                assert!(
                    report.iterations.abs_diff(expected) <= 1 && report.residual < 1e-3,
                    "{name}, {method:?}, preconditioned {precondition}: {report:?}, expected {expected}"
                );
                assert_eq!(lambda.len() as u64, out["l"].as_u64().unwrap());
            }
        }
    }
}

#[test]
fn ladders_reproduce_multipliers_and_accelerations() {
    let mut seen = 0;
    for (name, ladder, out) in cases().into_iter().filter(|(_, _, out)| out["lam_l"].is_array()) {
        for precondition in [false, true] {
            let settings = LoopSettings { precondition, precision: 1e-12, ..LoopSettings::default() };
            let (_, lambda, motions) = ladder.structured(&settings);
            let close = |a: &[f64], b: &[f64], what: &str| {
                let size = b.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
                assert_close!(a.to_vec(), b.to_vec(), 1e-10 * (1.0 + size), "{name}: {what}");
            };
            close(&lambda, &numbers(&out["lam_l"]), "multipliers");
            close(&motions[0].to_array(), &numbers(&out["xs_first_body"]), "first body");
            close(&motions[motions.len() - 1].to_array(), &numbers(&out["xs_last_body"]), "last body");
        }
        seen += 1;
    }
    assert_eq!(seen, 3);
}

#[test]
fn all_joints_as_loops_take_the_iterations_of_the_reference() {
    let expected = [((12, 1), 23), ((12, 4), 86), ((1, 48), 124), ((1, 96), 240), ((6, 96), 1024)];
    for ((p, r), count) in expected {
        let ladder = Ladder::new(p, r, true, DVec3::new(0.0, 0.0, -9.81), DVec3::Y);
        for method in [LoopMethod::ConjugateResidual, LoopMethod::ConjugateGradient] {
            let report = ladder.full(&coarse(method, false));
            println!("({p}, {r}) {method:?}: {report:?}");
            assert!(
                report.iterations.abs_diff(count) <= 1 + count / 10,
                "({p}, {r}) {method:?}: {report:?}, expected {count}"
            );
        }
    }
}

/// Every rung is nailed to its string twice, at places that differ.
#[test]
fn contradictory_ladders_end_in_least_squares() {
    for (p, r) in [(12, 4), (1, 48), (6, 96)] {
        let ladder = Ladder::new(p, r, true, DVec3::new(0.0, 3.0, -9.0), DVec3::Y);
        let mut rows = LoopRows::new();
        ladder.push(&mut rows, &ladder.loops, |body| ladder.pair(body) as u32);
        let mut largest: f64 = 0.0;
        for (k, ball) in ladder.loops.iter().enumerate() {
            let apart = DVec3::new(0.1, -0.2, 0.3) * (1.0 + (k % 5) as f64);
            largest = largest.max(0.5 * apart.abs().max_element());
            let ports = ball.bodies.map(|body| ladder.pair(body) as u32);
            rows.push_point(ports, [0, 1].map(|side| ladder.arm(ball, side)), ladder.rhs(ball) + apart, 1.0);
        }
        for precondition in [false, true] {
            let settings = LoopSettings { precondition, ..LoopSettings::default() };
            let (report, _, _) = ladder.refined(&rows, &settings);
            assert_eq!(report.stop, LoopStop::LeastSquares, "({p}, {r}): {report:?}");
            assert!(
                (report.residual - largest).abs() < 1e-9 && report.iterations < 50,
                "({p}, {r}): {report:?}"
            );
        }
    }
}
