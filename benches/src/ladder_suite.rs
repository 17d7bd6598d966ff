//! The ladder suite: Fau99 table 2 measured here, whole steps, warm starts, grabs.
//!
//! A solve is what the paper timed: factor the tree, substitute, refine the loops. It is cut out of an explicit Euler
//! step by the stages that the step reports. Everything runs on one thread, which the caller provides.

use crate::ladders::{CLOSED, Ladder, Method};
use crate::timing::{STAGES, observe};
use crate::{
    Clock, FigureGoal, LinkJoint, Links, MeasureEffort, MechanismRun, Subject, Suite, SuiteFailure,
    SuiteOptions, Timing, time_steps,
};
use glam::DVec3;
use sinew_mechanism::{BodyId, Grab, Input, LoopStop, Settings, violation};
use sinew_sim::Stage;
use std::time::Instant;

/// A dense solve that would take longer is left out, s.
const PATIENCE: f64 = 20.0;
/// Solves of one ladder by one method at most, and how long they may take in all, s.
const MAX_SOLVES: usize = 1000;
const SOLVE_SECONDS: f64 = 1.5;
/// Steps over which warm and cold starts are compared.
const WARM_STEPS: u32 = 60;
/// Step lengths at which they are compared, s: the shorter, the less forces change from step to step.
const STEP_LENGTHS: [f64; 3] = [1.0 / 60.0, 1.0 / 240.0, 1.0 / 1000.0];
/// Links of the chain that is grabbed.
const GRABBED_LINKS: usize = 1_000;

/// One ladder by one method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SolveRow {
    /// The ladder.
    pub(crate) ladder: Ladder,
    /// The method.
    pub(crate) method: Method,
    /// Rows of the tree and of the loops.
    pub(crate) rows: (usize, usize),
    /// What was measured, or how long it would have taken, s.
    pub(crate) outcome: Result<Solve, f64>,
}

impl SolveRow {
    /// Time printed in the paper, ms, if there is one.
    pub(crate) fn paper_ms(&self) -> Option<f64> {
        let place = Ladder::ALL.iter().position(|&ladder| ladder == self.ladder)?;
        self.method.paper_ms[place]
    }
}

/// A solve of the loop system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Solve {
    /// Its time.
    pub(crate) clock: Clock,
    /// Refinement alone in the fastest solve, s.
    pub(crate) refine: f64,
    /// Updates of the multipliers.
    pub(crate) iterations: u32,
    /// Largest residual left, m/s².
    pub(crate) residual: f64,
}

/// Whole steps of a ladder with closed joints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StepRow {
    /// The ladder.
    pub(crate) ladder: Ladder,
    /// Whether velocities are stabilized along with positions.
    pub(crate) velocities: bool,
    /// Time of a step.
    pub(crate) timing: Timing,
    /// Largest distance between the points of a joint after any of the first steps, m.
    pub(crate) error: f64,
    /// Iterations on the loops and of the assembly per step.
    pub(crate) iterations: [f64; 2],
}

impl StepRow {
    /// What is stabilized after a step.
    pub(crate) fn closes(&self) -> &'static str {
        if self.velocities { "positions, velocities" } else { "positions" }
    }
}

/// Iterations per step with and without the forces of the step before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WarmRow {
    /// The ladder.
    pub(crate) ladder: Ladder,
    /// Length of a step, s.
    pub(crate) dt: f64,
    /// From zero.
    pub(crate) cold: f64,
    /// From the forces of the step before.
    pub(crate) warm: f64,
}

/// What beginning and ending a grab costs, s; medians.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct GrabTimes {
    /// A step without any grab.
    pub(crate) step: f64,
    /// The first step with one.
    pub(crate) first: f64,
    /// A later step with it.
    pub(crate) held: f64,
    /// The first step after it has ended.
    pub(crate) released: f64,
}

impl GrabTimes {
    /// What the first step with the grab takes more than a later one, s.
    pub(crate) fn adding(&self) -> f64 {
        (self.first - self.held).max(0.0)
    }

    /// What the first step without the grab takes more than any other, s.
    pub(crate) fn removing(&self) -> f64 {
        (self.released - self.step).max(0.0)
    }
}

/// The suite with all it has measured so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LadderSuite {
    /// Table 2.
    pub(crate) solves: Vec<SolveRow>,
    /// Whole steps.
    pub(crate) steps: Vec<StepRow>,
    /// Warm starts.
    pub(crate) warm: Vec<WarmRow>,
    /// Grabs.
    pub(crate) grabs: GrabTimes,
}

impl Suite for LadderSuite {
    const NAME: &'static str = "ladder";

    fn measure(&mut self, options: &SuiteOptions) -> Result<(), SuiteFailure> {
        let effort = &options.effort();
        for ladder in Ladder::ALL {
            self.measure_solves(ladder, effort)?;
        }
        self.solves_table().show();
        for ladder in &Ladder::ALL[2..] {
            self.measure_steps(*ladder, false, effort)?;
            self.measure_steps(*ladder, true, effort)?;
        }
        self.steps_table().show();
        for ladder in &Ladder::ALL[2..] {
            self.measure_warm_start(*ladder)?;
        }
        self.warm_table().show();
        self.measure_grabs(effort)?;
        self.grabs_table().show();
        Ok(())
    }

    fn goals(&self) -> Vec<FigureGoal> {
        let mut goals = Vec::new();
        for (ladder, gain, dense_gain) in [("(1,96)", 5.0, 10.0), ("(6,96)", 10.0, 10.0)] {
            let Some((_, ours)) = self.solve(ladder, "structured_iterative") else { continue };
            for method in &Method::ALL[..3] {
                let Some((_, other)) = self.solve(ladder, method.key) else { continue };
                let name = format!("{ladder}: {} over structured iterative, times", method.title);
                let limit = if method.is_dense() { dense_gain } else { gain };
                goals.push(FigureGoal::at_least(name, other.clock.best / ours.clock.best, limit));
            }
        }
        for ladder in Ladder::ALL {
            let Some((row, full)) = self.solve(&ladder.name(), "full_iterative") else { continue };
            let name = format!("{}: full iterative, ns per row and iteration", ladder.name());
            goals.push(FigureGoal::at_most(name, full.per_row(row.rows.1) * 1e9, 15.0));
        }
        for (ladder, expected) in Ladder::ALL.into_iter().zip([2.0, 4.0, 6.0, 6.0, 5.0]) {
            let Some((_, ours)) = self.solve(&ladder.name(), "structured_iterative") else { continue };
            let name = format!("{}: iterations off {expected}", ladder.name());
            goals.push(FigureGoal::at_most(name, (f64::from(ours.iterations) - expected).abs(), 1.0));
        }
        for step in self.steps.iter().filter(|step| step.ladder == Ladder::ALL[4] && !step.velocities) {
            goals.push(FigureGoal::at_most("(6,96): whole step, ms", step.timing.clock.best * 1e3, 1.0));
            goals.push(FigureGoal::at_most("(6,96): joints after a step, m", step.error, CLOSED));
        }
        for warm in &self.warm {
            let name =
                format!("{}, dt 1/{:.0} s: cold over warm iterations", warm.ladder.name(), 1.0 / warm.dt);
            goals.push(FigureGoal::at_least(name, warm.cold / warm.warm, 2.0));
        }
        if self.grabs.step > 0.0 {
            for (what, more) in [("adding", self.grabs.adding()), ("removing", self.grabs.removing())] {
                goals.push(FigureGoal::at_most(format!("{what} a grab, steps"), more / self.grabs.step, 1.0));
            }
        }
        goals
    }

    /// Solves and steps of the largest ladder.
    fn run_few_steps() -> Result<(), SuiteFailure> {
        let ladder = Ladder::ALL[4];
        let (model, settings) = ladder.acceleration(Method::ALL[3])?;
        let mut run = MechanismRun::new(model, settings);
        run.save();
        for _ in 0..20 {
            // The same solve: explicit steps of this length would not stay on the joints.
            run.restore();
            run.step();
        }
        let (model, settings) = ladder.closed(true)?;
        let mut run = MechanismRun::new(model, settings);
        (0..20).for_each(|_| run.step());
        Ok(())
    }
}

impl LadderSuite {
    /// Measures a ladder by all methods; dense ones that would take too long are left out.
    fn measure_solves(&mut self, ladder: Ladder, effort: &MeasureEffort) -> Result<(), SuiteFailure> {
        let patience = if effort.is_quick() { 0.1 * PATIENCE } else { PATIENCE };
        for method in Method::ALL {
            let (model, settings) = ladder.acceleration(method)?;
            let rows = model.n_rows();
            let outcome = match self.predicted(&method, rows.1) {
                Some(seconds) if seconds > patience => Err(seconds),
                _ => Ok(time_solves(&mut MechanismRun::new(model, settings), effort)?),
            };
            self.solves.push(SolveRow { ladder, method, rows, outcome });
        }
        Ok(())
    }

    /// What a dense solve of `n` rows should take, s, from the largest one seen: cubic growth.
    fn predicted(&self, method: &Method, n: usize) -> Option<f64> {
        let solves = self.solves.iter().rev().filter(|row| method.is_dense() && row.method == *method);
        let seen = solves.filter_map(|row| Some((row.rows.1, row.outcome.ok()?.clock.best))).next()?;
        Some(seen.1 * (n as f64 / seen.0 as f64).powi(3))
    }

    /// Measures whole steps of a ladder, with all joints closed, and the velocities if asked for.
    fn measure_steps(
        &mut self,
        ladder: Ladder,
        velocities: bool,
        effort: &MeasureEffort,
    ) -> Result<(), SuiteFailure> {
        let (model, settings) = ladder.closed(velocities)?;
        let mut run = MechanismRun::new(model, settings);
        let (mut error, mut iterations) = (0.0_f64, [0.0; 2]);
        for _ in 0..WARM_STEPS {
            run.step();
            error = error.max(violation(run.model(), run.state(), &Input::default()).position);
            let report = run.report();
            let done = [report.loops.iterations, report.assembly_iterations];
            iterations = [0, 1].map(|i| iterations[i] + f64::from(done[i]) / f64::from(WARM_STEPS));
        }
        let timing = time_steps(&mut run, effort);
        self.steps.push(StepRow { ladder, velocities, timing, error, iterations });
        Ok(())
    }

    /// Counts iterations with and without warm start.
    fn measure_warm_start(&mut self, ladder: Ladder) -> Result<(), SuiteFailure> {
        for dt in STEP_LENGTHS {
            let count = |warm: bool| -> Result<f64, SuiteFailure> {
                let (model, settings) = ladder.implicit(dt, warm)?;
                let mut run = MechanismRun::new(model, settings);
                let steps = (0..WARM_STEPS).map(|_| {
                    run.step();
                    run.report().loops.iterations
                });
                Ok(f64::from(steps.sum::<u32>()) / f64::from(WARM_STEPS))
            };
            let (cold, warm) = (count(false)?, count(true)?);
            self.warm.push(WarmRow { ladder, dt, cold, warm });
        }
        Ok(())
    }

    /// Times steps around a grab of the middle of a long chain.
    fn measure_grabs(&mut self, effort: &MeasureEffort) -> Result<(), SuiteFailure> {
        let model = Links::chain(GRABBED_LINKS, LinkJoint::Hinge(10.0)).model()?;
        let middle = BodyId::from_index(GRABBED_LINKS / 2);
        let target = model.initial_state().poses[GRABBED_LINKS / 2].translation;
        let grab = Grab { body: middle, point: DVec3::ZERO, target, stiffness: f64::INFINITY, damping: 0.0 };
        let n_runs = if effort.is_quick() { 5 } else { 21 };
        let mut times = [const { Vec::new() }; 4];
        for _ in 0..n_runs {
            let mut run = MechanismRun::new(model.clone(), Settings::default());
            times[0].push(time_last_step(&mut run, 10));
            run.input_mut().grabs.push(grab);
            times[1].push(time_last_step(&mut run, 1));
            times[2].push(time_last_step(&mut run, 10));
            run.input_mut().grabs.clear();
            times[3].push(time_last_step(&mut run, 1));
        }
        let [step, first, held, released] = times.map(|times| Clock::of(times).median);
        self.grabs = GrabTimes { step, first, held, released };
        Ok(())
    }

    /// The row of a ladder and a method, if it was measured.
    pub(crate) fn solve(&self, ladder: &str, key: &str) -> Option<(&SolveRow, Solve)> {
        let row = self.solves.iter().find(|row| row.ladder.name() == ladder && row.method.key == key)?;
        Some((row, row.outcome.ok()?))
    }
}

impl Solve {
    /// Refinement time per row and iteration, s.
    pub(crate) fn per_row(&self, n_rows: usize) -> f64 {
        self.refine / (n_rows as f64 * f64::from(self.iterations.max(1)))
    }
}

/// Times the same solve again and again. Fails if it did not converge.
fn time_solves(run: &mut MechanismRun, effort: &MeasureEffort) -> Result<Solve, SuiteFailure> {
    let seconds = SOLVE_SECONDS * effort.batch_work as f64 / MeasureEffort::FULL.batch_work as f64;
    run.save();
    let (mut times, mut best, mut refine) = (Vec::new(), f64::INFINITY, 0.0);
    let start = Instant::now();
    // The first one finds cold caches and makes its memory.
    while times.len() < 2 || (times.len() < MAX_SOLVES && start.elapsed().as_secs_f64() < seconds) {
        run.restore();
        let mut stages = [0.0; STAGES.len()];
        observe(run, &mut stages);
        let time_of = |stage| stages[STAGES.iter().position(|&other| other == stage).unwrap_or(0)];
        let time = time_of(Stage::Eliminate) + time_of(Stage::Substitute) + time_of(Stage::Refine);
        if time < best {
            (best, refine) = (time, time_of(Stage::Refine));
        }
        times.push(time);
    }
    let report = run.report().loops;
    if report.stop != LoopStop::Converged {
        return Err(format!("a ladder did not converge: {report:?}").into());
    }
    let clock = Clock::of(times);
    Ok(Solve { clock, refine, iterations: report.iterations, residual: report.residual })
}

/// Time of the last of a number of steps, s.
fn time_last_step(run: &mut MechanismRun, n_steps: usize) -> f64 {
    (1..n_steps).for_each(|_| run.step());
    let start = Instant::now();
    run.step();
    start.elapsed().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::{Ladder, LadderSuite, MeasureEffort, Suite};
    use crate::SuiteReport;

    #[test]
    fn a_small_ladder_meets_what_does_not_depend_on_time() {
        let effort = &MeasureEffort { n_batches: 1, batch_work: 1, max_links: 1 };
        let mut suite = LadderSuite::default();
        for ladder in &Ladder::ALL[..2] {
            suite.measure_solves(*ladder, effort).unwrap();
        }
        suite.measure_steps(Ladder::ALL[1], true, effort).unwrap();
        suite.measure_warm_start(Ladder::ALL[0]).unwrap();
        suite.measure_grabs(effort).unwrap();
        assert_eq!(suite.solves.len(), 8);
        for row in &suite.solves {
            let solve = row.outcome.unwrap();
            assert!(solve.residual < 1e-2 && solve.iterations > 0, "{row:?}");
        }
        let goals = suite.goals();
        assert!(goals.iter().filter(|g| g.name.contains("iterations off")).all(|g| g.is_met()), "{goals:?}");
        assert!(suite.steps[0].error <= 1e-8, "{:?}", suite.steps);
        let json = suite.to_json();
        assert_eq!(json["solves"][7]["name"], "structured_iterative (12,4)");
        assert_eq!(json["solves"][7]["paper_ms"], 15.0);
        let table = suite.solves_table().to_string();
        assert!(table.contains("(12,4)") && table.contains("405"), "{table}");
        assert!(suite.figure().to_svg("").contains("structured iterative"));
    }
}
