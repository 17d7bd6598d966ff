//! The chain suite: what it measures beside the series, and what is asked of the figures.
//!
//! Everything is measured on one thread, except where threads are compared. The caller provides that thread: a rayon
//! pool of one.

use crate::series::{ChainRow, ChainSeries};
use crate::{
    FigureGoal, LinkJoint, Links, MeasureEffort, MechanismRun, SceneRun, Subject, Suite, SuiteFailure,
    SuiteOptions, Timing, grouped, time_steps,
};
use sinew_mechanism::{Implicit, Input, Scheme, Settings, violation};
use sinew_soak::n_cores;

/// What Her11 (table 1) printed for hinge chains: links, milliseconds per step.
pub(crate) const PAPER: [(usize, f64); 2] = [(1_000, 22.0), (10_000, 285.0)];
/// What Her11 printed for its hand of 16 bones, milliseconds per step.
pub(crate) const PAPER_HAND: f64 = 0.36;

/// Fixture scenes that are timed.
const SCENES: [&str; 3] = ["hand", "robot", "branching_tree"];
/// Links and duration (s) of the plumb line.
const PLUMB_LINKS: usize = 10;
const PLUMB_SECONDS: f64 = 10.0;
/// Mass ratio and starting angle (rad): at rest, every engine's home ground first; and swinging.
const PLUMB_CASES: [(f64, f64); 4] = [(1.0, 0.0), (1e3, 0.0), (1e6, 0.0), (1e6, 0.5)];

/// A fixture scene with its recorded inputs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SceneTime {
    /// Name of the fixture.
    pub(crate) name: &'static str,
    /// Number of bodies.
    pub(crate) n_bodies: usize,
    /// Time of a step.
    pub(crate) timing: Timing,
}

/// A wide tree on a number of threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ThreadTime {
    /// Number of threads.
    pub(crate) n_threads: usize,
    /// Number of links.
    pub(crate) n_links: usize,
    /// Time of a step.
    pub(crate) timing: Timing,
    /// Fingerprint of the state it ended in.
    pub(crate) digest: u64,
}

/// How well an engine holds a heavy weight on a light chain.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AnchorError {
    /// The engine and its setting.
    pub(crate) engine: &'static str,
    /// Mass of the last link over that of any other.
    pub(crate) mass_ratio: f64,
    /// How the chain starts, from the vertical, rad.
    pub(crate) tilt: f64,
    /// Largest distance between the two anchors of a joint at any step, m.
    pub(crate) largest: f64,
    /// The same at the end, m.
    pub(crate) last: f64,
}

/// The suite with all it has measured so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ChainSuite {
    /// Chains.
    pub(crate) rows: Vec<ChainRow>,
    /// Fixtures.
    pub(crate) scenes: Vec<SceneTime>,
    /// Threads.
    pub(crate) threads: Vec<ThreadTime>,
    /// Plumb lines.
    pub(crate) errors: Vec<AnchorError>,
}

impl Suite for ChainSuite {
    const NAME: &'static str = "chain";
    const FLAGS: &'static [&'static str] = &["--rapier", "--callgrind"];

    fn measure(&mut self, options: &SuiteOptions) -> Result<(), SuiteFailure> {
        if options.has("--rapier") && !cfg!(feature = "rapier") {
            return Err("`--rapier` needs a build with `--features rapier`".into());
        }
        let effort = &options.effort();
        for series in ChainSeries::all() {
            self.measure_series(&series, effort)?;
            self.series_table(&series).show();
        }
        self.memory_table().show();
        self.measure_scenes(effort)?;
        self.scenes_table().show();
        self.paper_table().show();
        self.measure_threads(effort)?;
        self.threads_table().show();
        self.measure_errors()?;
        #[cfg(feature = "rapier")]
        if options.has("--rapier") {
            self.measure_rapier(effort);
            self.rapier_table().show();
        }
        self.errors_table().show();
        Ok(())
    }

    fn goals(&self) -> Vec<FigureGoal> {
        let mut goals = Vec::new();
        let mut goal = |name: String, value, limit| goals.push(FigureGoal::at_most(name, value, limit));
        for row in &self.rows {
            let limit = match (row.series, row.n_links) {
                ("hinge", 10 | 100 | 1_000) => 0.25,
                ("hinge", 1_000_000) => 0.4,
                ("ball", 10 | 100 | 1_000) => 0.3,
                _ => continue,
            };
            let name = format!("{} chain of {}, µs per link", row.series, grouped(row.n_links));
            goal(name, row.best(), limit);
        }
        if let (Some((from, to, ratio)), Some(last)) = (self.growth(), self.rows_of("hinge").last()) {
            let name = format!("growth from {} to {} links", grouped(from), grouped(to));
            // A chain that needs at most 0.2 µs per link is fast enough at any ratio.
            goal(name, ratio, if last.best() <= 0.2 { f64::INFINITY } else { 2.0 });
        }
        if let Some(memory) = self.rows_of("hinge").last().and_then(|row| row.memory) {
            goal("memory, bytes per link".into(), memory.held, 2048.0);
        }
        if let Some(hand) = self.scenes.iter().find(|scene| scene.name == "hand") {
            goal("hand, µs per step".into(), hand.timing.clock.best * 1e6, 6.0);
        }
        let is_asked = |error: &&AnchorError| error.mass_ratio > 1e5 && error.tilt <= 0.0;
        if let Some(error) = self.errors.iter().find(is_asked) {
            goal("plumb line of 1 : 1,000,000 at rest, anchor error in m".into(), error.largest, 1e-6);
        }
        goals
    }

    fn run_few_steps() -> Result<(), SuiteFailure> {
        let model = Links::chain(1_000, LinkJoint::Hinge(10.0)).model()?;
        let mut run = MechanismRun::new(model, Settings::default());
        (0..20).for_each(|_| run.step());
        Ok(())
    }
}

impl ChainSuite {
    /// Measures a series at all its sizes.
    fn measure_series(&mut self, series: &ChainSeries, effort: &MeasureEffort) -> Result<(), SuiteFailure> {
        for n in series.sizes(effort) {
            self.rows.push(series.measure(n, effort)?);
        }
        Ok(())
    }

    /// Measures fixture scenes with their recorded inputs.
    fn measure_scenes(&mut self, effort: &MeasureEffort) -> Result<(), SuiteFailure> {
        for name in SCENES {
            let mut run = SceneRun::fixture(name)?;
            let n_bodies = run.n_links();
            self.scenes.push(SceneTime { name, n_bodies, timing: time_steps(&mut run, effort) });
        }
        Ok(())
    }

    /// Measures a wide tree on one thread and on all (two at least). Fails if that changes a bit of the result.
    fn measure_threads(&mut self, effort: &MeasureEffort) -> Result<(), SuiteFailure> {
        let n_arms = effort.max_links.min(100_000) / 400;
        let links = Links::comb(n_arms, 256, LinkJoint::Hinge(10.0));
        for n_threads in [1, n_cores().max(2)] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build()?;
            let mut run = MechanismRun::new(links.model()?, Settings::default());
            let timing = pool.install(|| time_steps(&mut run, effort));
            let (n_links, digest) = (run.n_links(), sinew_sim::digest(&run.state().clone().into()));
            self.threads.push(ThreadTime { n_threads, n_links, timing, digest });
        }
        if self.threads.iter().any(|threads| threads.digest != self.threads[0].digest) {
            return Err(format!("the number of threads changed the result: {:?}", self.threads).into());
        }
        Ok(())
    }

    /// Hangs a weight of up to a million links' mass on a chain, at rest and swinging.
    fn measure_errors(&mut self) -> Result<(), SuiteFailure> {
        let (mut one, mut newton) = (Implicit::default(), Implicit::default());
        (one.newton_iterations, newton.newton_iterations) = (1, 3);
        for case in PLUMB_CASES {
            let links = Links::plumb_line(PLUMB_LINKS, case.0, case.1);
            for (engine, implicit) in [("Sinew, one solve", one), ("Sinew, 3 Newton", newton)] {
                let mut settings = Settings::default();
                settings.scheme = Scheme::Implicit(implicit);
                let mut run = MechanismRun::new(links.model()?, settings);
                self.errors.push(watch(engine, case, || {
                    run.step();
                    violation(run.model(), run.state(), &Input::default()).position
                }));
            }
        }
        Ok(())
    }

    /// Puts Rapier's impulse joints beside: the hinge chain for time, the plumb line for error.
    #[cfg(feature = "rapier")]
    fn measure_rapier(&mut self, effort: &MeasureEffort) {
        use crate::rapier::RapierRun;
        let max_links = effort.max_links / 100;
        for n in crate::series::SIZES.into_iter().filter(|&n| n <= max_links) {
            let mut run = RapierRun::new(&Links::chain(n, LinkJoint::Hinge(10.0)));
            let timing = time_steps(&mut run, effort);
            self.rows.push(ChainRow { series: "rapier", n_links: n, timing, memory: None });
        }
        for case in PLUMB_CASES {
            let mut run = RapierRun::new(&Links::plumb_line(PLUMB_LINKS, case.0, case.1));
            self.errors.push(watch("Rapier, impulse joints", case, || {
                run.step();
                run.anchor_error()
            }));
        }
    }

    /// The rows of a series.
    pub(crate) fn rows_of<'a>(&'a self, series: &'a str) -> impl Iterator<Item = &'a ChainRow> {
        self.rows.iter().filter(move |row| row.series == series)
    }

    /// Sizes and ratio of the times per link of the longest hinge chain and that of 1,000 links.
    pub(crate) fn growth(&self) -> Option<(usize, usize, f64)> {
        let from = self.rows_of("hinge").find(|row| row.n_links == 1_000)?;
        let to = self.rows_of("hinge").last()?;
        Some((from.n_links, to.n_links, to.best() / from.best()))
    }
}

/// Follows the anchor error of a plumb line.
fn watch(
    engine: &'static str,
    (mass_ratio, tilt): (f64, f64),
    mut error_after_step: impl FnMut() -> f64,
) -> AnchorError {
    let n_steps = (PLUMB_SECONDS / Settings::default().dt).round() as usize;
    let mut out = AnchorError { engine, mass_ratio, tilt, largest: 0.0, last: 0.0 };
    for _ in 0..n_steps {
        out.last = error_after_step();
        // A state that is no longer a number is an error without bound.
        out.largest = if out.last.is_nan() { f64::INFINITY } else { out.largest.max(out.last) };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{ChainSeries, ChainSuite, MeasureEffort, Suite};
    use crate::SuiteReport;

    #[test]
    fn a_small_suite_meets_what_does_not_depend_on_time() {
        let effort = MeasureEffort { n_batches: 1, batch_work: 100, max_links: 1_000 };
        let mut suite = ChainSuite::default();
        suite.measure_series(&ChainSeries::all()[0], &effort).unwrap();
        suite.measure_scenes(&effort).unwrap();
        suite.measure_threads(&effort).unwrap();
        suite.measure_errors().unwrap();
        assert_eq!(suite.rows_of("hinge").count(), 3);
        assert!(suite.growth().is_some_and(|(from, to, ratio)| (from, to) == (1_000, 1_000) && ratio > 0.99));
        assert_eq!(suite.errors.len(), 8);
        let goals = suite.goals();
        for name in ["memory, bytes per link", "plumb line of 1 : 1,000,000 at rest, anchor error in m"] {
            let goal = goals.iter().find(|goal| goal.name == name).unwrap();
            assert!(goal.is_met(), "{goal:?}");
        }
        let json = suite.to_json();
        assert_eq!(json["rows"][2]["name"], "hinge_1000");
        assert_eq!(json["paper"][0]["us_per_link"], 22.0);
        assert_eq!(suite.curves().iter().filter(|curve| !curve.1.is_empty()).count(), 2);
        for table in [suite.series_table(&ChainSeries::all()[0]), suite.memory_table(), suite.paper_table()] {
            assert!(table.to_string().contains("1,000"), "{table}");
        }
    }
}
