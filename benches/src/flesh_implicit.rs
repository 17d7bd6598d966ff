//! Scenes of flesh in implicit steps: times, solves and iterations from beginning to end.

use crate::flesh_scenes::only_flesh;
use crate::{SceneRun, StepTimes, Subject, SuiteFailure};
use std::time::Instant;

/// A scene in implicit steps of 1/60 s.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ImplicitRow {
    /// The scene.
    pub(crate) name: String,
    /// Number of tetrahedra.
    pub(crate) n_tets: usize,
    /// Number of nodes that are free.
    pub(crate) n_free: usize,
    /// Times of whole steps.
    pub(crate) times: StepTimes,
    /// Solves per step: more than one where contacts change their minds.
    pub(crate) solves: f64,
    /// Iterations per step.
    pub(crate) iterations: f64,
    /// Largest number of contacts in a step.
    pub(crate) contacts: usize,
}

/// A scene that is measured from beginning to end, again and again.
pub(crate) struct ImplicitRun {
    run: SceneRun,
    n_steps: u64,
    /// Digest at the end of the first run.
    end: Option<Option<u64>>,
    pub(crate) row: ImplicitRow,
}

impl ImplicitRun {
    /// Some steps of a scene.
    pub(crate) fn new(name: &str, mut run: SceneRun, n_steps: u64) -> Result<Self, SuiteFailure> {
        let body = only_flesh(run.world())?;
        let row = ImplicitRow {
            name: name.into(),
            n_tets: body.fem().n_tets(),
            n_free: body.attachments().free().len(),
            times: StepTimes::new(n_steps as usize),
            solves: 0.0,
            iterations: 0.0,
            contacts: 0,
        };
        run.save();
        Ok(Self { run, n_steps, end: None, row })
    }

    /// All steps of a scene.
    pub(crate) fn whole(name: &str, run: SceneRun) -> Result<Self, SuiteFailure> {
        let n_steps = run.world().info().n_steps;
        Self::new(name, run, n_steps)
    }

    /// Once from beginning to end.
    pub(crate) fn measure(&mut self) -> Result<(), SuiteFailure> {
        let Self { run, n_steps, end, row } = self;
        run.restore();
        let (mut solves, mut iterations) = (0, 0);
        for step in 0..*n_steps as usize {
            let start = Instant::now();
            let report = run.world_mut().step();
            row.times.add(step, start.elapsed().as_secs_f64());
            if report.health.non_finite.is_some() {
                return Err(format!("{} has broken down", row.name).into());
            }
            solves += report.flesh.n_solves;
            iterations += report.flesh.iterations;
            let touching = report.flesh.contacts;
            row.contacts = row.contacts.max(touching.n_stick + touching.n_slip);
        }
        if *end.get_or_insert_with(|| run.digest()) != run.digest() {
            return Err(format!("{} does not repeat itself", row.name).into());
        }
        [row.solves, row.iterations] = [solves, iterations].map(|count| f64::from(count) / *n_steps as f64);
        Ok(())
    }
}
