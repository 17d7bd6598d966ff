//! Runs of a scene, checked against its `expect` block.
//!
//! A run that leaves the finite numbers fails whatever the scene expects.

use sinew_compile::{BuildError, SweptScene, sweep_runs};
use sinew_engine::{EnergyAccount, HealthNotice, NoticeCounts, State};
use sinew_scene::SceneDoc;

use crate::{broken::BrokenJoint, expectation::Expectation, meter::ExpectMeter, world::World};

/// One run of a scene.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct RunOutcome {
    /// Paths and values that the sweep set; empty if the scene has none.
    pub set: Vec<(String, f64)>,
    /// Steps made.
    pub n_steps: u64,
    /// Fingerprint of the last state.
    pub digest: u64,
    /// The last state.
    #[serde(skip)]
    pub end: State,
    /// The first body, by name, or tetrahedron that was no longer finite.
    pub non_finite: Option<String>,
    /// What the steps and their end warned of, each sort once.
    pub warnings: Vec<String>,
    /// Joints that broke, in order of time.
    pub broken: Vec<BrokenJoint>,
    /// The expectations.
    pub expectations: Vec<Expectation>,
}

impl RunOutcome {
    /// Whether the run stayed finite and met everything.
    pub fn is_met(&self) -> bool {
        self.non_finite.is_none() && self.expectations.iter().all(|expectation| expectation.met)
    }
}

/// All runs of a scene: one, or one per value of its sweep.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct ExpectOutcome {
    /// The runs.
    pub runs: Vec<RunOutcome>,
}

impl ExpectOutcome {
    /// Whether every run stayed finite and met everything.
    pub fn is_met(&self) -> bool {
        self.runs.iter().all(RunOutcome::is_met)
    }
}

/// Runs a scene for its whole duration, once per value of its sweep, and checks what it expects. A run ends early
/// if a body is no longer finite.
///
/// # Errors
/// If the scene cannot be built.
pub fn run_and_check(scene: &SceneDoc) -> Result<ExpectOutcome, BuildError> {
    let runs = sweep_runs(scene)?.into_iter().map(run_once).collect::<Result<_, _>>()?;
    Ok(ExpectOutcome { runs })
}

fn run_once(run: SweptScene) -> Result<RunOutcome, BuildError> {
    let mut world = World::from_scene(&run.scene)?;
    let mut meter = ExpectMeter::new(&run.scene.expect, &world);
    let (mut n_steps, mut notices) = (0, NoticeCounts::default());
    let mut account = EnergyAccount::new(world.model(), world.state(), world.input(), world.settings());
    while n_steps < world.info().n_steps && meter.non_finite().is_none() && meter.non_finite_tet().is_none() {
        let report = world.step();
        meter.observe(&world, &report);
        n_steps += 1;
        let excess = account.note(world.model(), world.state(), world.input(), world.settings());
        notices.note(&report, world.model());
        if excess.is_gain() {
            notices.note_of_model(HealthNotice::EnergyGained, 1, report.index, world.model());
        }
    }
    if let Some(first) = meter.inverted_since() {
        notices.note_of_model(HealthNotice::Inverted, n_steps + 1 - first, first, world.model());
    }
    let warnings = notices.iter().filter(|count| count.notice.is_warning());
    let warnings = warnings.map(|count| count.what.clone()).collect();
    let tet = meter.non_finite_tet().map(|tet| format!("tetrahedron {tet}"));
    let non_finite = meter.non_finite().map(|body| world.mechanism().body_name(body).to_owned()).or(tet);
    let (digest, end) = (world.digest(), world.checkpoint());
    let (broken, expectations) = (meter.broken().to_vec(), meter.finish());
    Ok(RunOutcome { set: run.set, n_steps, digest, end, non_finite, warnings, broken, expectations })
}
