//! One step of a mechanism, in as many parts as its joints need: the stepper that the settings name, then the stabilization.
//!
//! Stepping never fails. A step that cannot be made (no length, a state of another model, ropes, gears or joints that may break in a scheme that is not
//! implicit) is refused and reported.

use sinew_solvers::{LoopReport, LoopStop};

use crate::assembly::stabilize;
use crate::input_index::StepInput;
use crate::loops::Refinement;
use crate::measure::open_transmission;
use crate::prepare::first_non_finite;
use crate::steppers::{
    ActiveStep, NotMade, Remedy, StepTask, Substeps, displacement, end_error, explicit, implicit,
    remember_momenta, restore_momenta,
};
use crate::watch::OPEN;
use crate::{
    Assembly, Companion, Input, JointId, Model, Scheme, Settings, Stage, State, StepReport, Watch, Workspace,
    is_step_length,
};

/// Advances the state by one step; the same inputs give the same bits.
///
/// A workspace of another model is made anew; a step length that is not positive, or a state of another model, is
/// refused and reported.
pub fn step(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    workspace: &mut Workspace,
) -> StepReport {
    step_observed(model, state, input, settings, workspace, &mut |_: Stage| {})
}

/// [`step`], watched.
pub fn step_observed(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    workspace: &mut Workspace,
    watch: &mut dyn Watch,
) -> StepReport {
    step_coupled(model, state, input, settings, workspace, StepHooks { watch, companion: None })
}

/// What takes part in a step from outside.
pub struct StepHooks<'a> {
    /// Sees the stages, and may end the refinement of the loops.
    pub watch: &'a mut dyn Watch,
    /// Is solved along with the bodies.
    pub companion: Option<&'a mut dyn Companion>,
}

/// [`step_observed`] with a companion, which is solved along with the bodies by the implicit scheme; other schemes do not see
/// it. The pair form is used.
pub fn step_coupled(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    workspace: &mut Workspace,
    hooks: StepHooks<'_>,
) -> StepReport {
    let StepHooks { watch, mut companion } = hooks;
    if !is_possible(model, state, settings) {
        return StepReport { refused: true, ..StepReport::default() };
    }
    if !workspace.fits(model) {
        workspace.refit(model);
    }
    let mut run = Refinement::new(model, &settings.loops, input, watch);
    let mut substeps = Substeps::new(settings.most_substeps());
    let mut part_input = workspace.part.input.take();
    if settings.most_substeps() > 1 {
        part_input.get_or_insert_default().make_room_for(input);
    }
    let mut report = StepReport::default();
    let end = state.time + settings.dt;
    let mut momenta = std::mem::take(&mut workspace.islands.momenta);
    let mut tables = std::mem::take(&mut workspace.input_index);
    workspace.reactions.start(model, state, settings.reactions);
    loop {
        substeps.fill_input(model, state, input, settings.dt, &mut part_input);
        let part = Settings { dt: substeps.length(settings.dt), ..*settings };
        let input = part_input.as_deref().filter(|_| substeps.is_divided()).unwrap_or(input);
        tables.fill(model, state, input);
        let task = StepTask {
            model,
            input: StepInput::new(input, &tables),
            settings: &part,
            is_tentative: substeps.is_tentative(),
            care: substeps.care(),
            may_damp: substeps.may_damp(),
            share: part.dt / settings.dt,
        };
        let companion = companion.as_mut().map(|companion| &mut **companion as &mut dyn Companion);
        if settings.keep_momentum {
            remember_momenta(model, state, task.input, &mut momenta);
        }
        let mut active = ActiveStep { task, state, workspace, run: &mut run };
        let one = match step_part(&mut active, companion) {
            Ok(one) => one,
            Err(NotMade { solves, worst, remedy }) => {
                report.iterations += solves;
                prepare_remedy(&mut active, &remedy, worst, &mut report);
                substeps.remedy(remedy);
                continue;
            }
        };
        if settings.keep_momentum {
            restore_momenta(model, state, &workspace.loads, &momenta);
        }
        let Workspace { islands, loads, targets, .. } = &mut *workspace;
        islands.settle(&task, state, loads, targets, &mut report.noticed);
        workspace.loads.clear();
        report = report.followed_by(one);
        if one.non_finite.is_some() || substeps.advance() {
            break;
        }
    }
    state.time = end;
    report.noticed.broke = workspace.reactions.finish(model, state, settings.dt);
    workspace.part.input = part_input;
    workspace.input_index = tables;
    workspace.islands.momenta = momenta;
    report.loops = run.report;
    report.noticed.contradicts |= contradicts(settings, &run.report);
    report.noticed.open_rope = open_transmission(model, state, input, OPEN);
    report
}

/// Whether a step can be made: its length is a number, the state belongs to the model, and the scheme knows ropes, gears and joints that break if there are any.
fn is_possible(model: &Model, state: &State, settings: &Settings) -> bool {
    let is_made = matches!(settings.scheme, Scheme::Implicit(_))
        || (model.n_transmissions() == 0 && !model.may_break());
    is_step_length(settings.dt) && state.fits(model) && is_made
}

/// Whether rows of loops contradict each other in a step that is not implicit; those tell it by its size.
fn contradicts(settings: &Settings, loops: &LoopReport) -> bool {
    !matches!(settings.scheme, Scheme::Implicit(_)) && loops.stop == LoopStop::LeastSquares
}

/// One part of a step; a tentative one that leaves joints open changes nothing.
fn step_part(
    active: &mut ActiveStep<'_, '_>,
    mut companion: Option<&mut dyn Companion>,
) -> Result<StepReport, NotMade> {
    let settings = active.task.settings;
    let mut report = match &settings.scheme {
        Scheme::Implicit(scheme) => {
            let companion = companion.as_mut().map(|companion| &mut **companion as &mut dyn Companion);
            implicit::step(active, scheme, companion)?
        }
        Scheme::Explicit(scheme) => tentatively(active, |active| Ok(explicit::step(active, scheme)))?,
        Scheme::Displacement(scheme) => tentatively(active, |active| displacement::step(active, scheme))?,
    };
    let mending = Assembly::default();
    let assembly = if active.task.mends() { Some(&mending) } else { settings.stabilize.as_ref() };
    if let Some(assembly) = assembly {
        let mends = active.task.mends();
        report.assembly_iterations = close_by_displacements(active, assembly, mends);
        report.non_finite = first_non_finite(active.state);
    }
    let ActiveStep { task, state, .. } = active;
    if task.mends() || report.seems_open(task.model) {
        let (left, worst) = end_error(task, state, &state.poses, (&[], 0.0));
        (report.unclosed, report.worst_joint) = (left, worst.filter(|_| left > OPEN));
    }
    if let Some(companion) = companion {
        companion.commit(state);
    }
    Ok(report)
}

/// A part of a step by a scheme that goes on whatever it leaves open: one that tears joints which were closed, or is no longer finite, changes
/// nothing if it can be made in halves.
fn tentatively(
    active: &mut ActiveStep<'_, '_>,
    step: impl FnOnce(&mut ActiveStep<'_, '_>) -> Result<StepReport, NotMade>,
) -> Result<StepReport, NotMade> {
    if !active.task.is_tentative {
        return step(active);
    }
    let mut start = std::mem::take(&mut active.workspace.part.start);
    start.clone_from(active.state);
    let made = step(active);
    let ActiveStep { task, state, workspace, .. } = active;
    let report = match made {
        Ok(report) => report,
        Err(failed) => {
            workspace.part.start = start;
            return Err(failed);
        }
    };
    let mut left = f64::INFINITY;
    if report.non_finite.is_none() {
        left = end_error(task, state, &state.poses, (&[], 0.0)).0;
    }
    let tears = left > OPEN && end_error(task, &start, &start.poses, (&[], 0.0)).0 <= OPEN;
    if tears {
        std::mem::swap(*state, &mut start);
    }
    workspace.part.start = start;
    let failed = NotMade { solves: report.iterations, worst: None, remedy: Remedy::Divide(left) };
    if tears { Err(failed) } else { Ok(report) }
}

/// What a remedy does before the part is made again.
fn prepare_remedy(
    active: &mut ActiveStep<'_, '_>,
    remedy: &Remedy,
    worst: Option<JointId>,
    report: &mut StepReport,
) {
    if matches!(remedy, Remedy::Assemble | Remedy::Mend) {
        report.noticed.mended = report.noticed.mended.or(worst);
    }
    match *remedy {
        Remedy::Assemble => report.assembly_iterations += assemble_torn(active),
        Remedy::Break(joint) => active.workspace.reactions.break_joint(active.state, joint),
        Remedy::Divide(_) | Remedy::Mend => {}
    }
}

/// Closes joints that are torn before a step is made; returns the number of displacements.
fn assemble_torn(active: &mut ActiveStep<'_, '_>) -> u32 {
    close_by_displacements(active, &Assembly::default(), true)
}

/// Stabilization, or mending of torn joints: closes the joints by displacements; returns their number.
fn close_by_displacements(active: &mut ActiveStep<'_, '_>, assembly: &Assembly, mends: bool) -> u32 {
    let ActiveStep { task, state, workspace, run } = active;
    let solved = run.report;
    let displacements = stabilize(task.model, state, task.input, (assembly, mends), workspace, run);
    run.judge_by(solved);
    run.done(Stage::Stabilize);
    displacements
}
