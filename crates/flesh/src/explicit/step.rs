//! Explicit sub-steps of flesh around bones that another scheme moves.
//!
//! The bodies move from one state to another at constant twists, `R(t) = exp(tω)R₀`, `x(t) = x₀ + tv`. Fixed nodes move
//! with their bones. Free nodes make sub-steps of length `h` (`sinew_fem::step_explicit`, KP08 §4), with stiffness
//! damping `−βKv` of the projected stiffness and the contacts of the surface (`contact_forces.rs`). The result is one
//! wrench per body: the average over the step of the forces of flesh and contacts. Times `dt` it is the impulse that
//! the flesh lost, up to rounding.
//!
//! This coupling is weaker than the implicit one, because the bones feel an average and not the stiffness. There are
//! two orders. *Predicted*: predict the end of the bones from their twists ([`predict_bodies`]), step the flesh to
//! there ([`step_explicit`]), step the bones under the wrenches, and correct fixed nodes and contact stretches to the
//! true end ([`finish_explicit`]). *Bones first*: step the bones, then the flesh; the bones feel the wrenches in their
//! next step. A bone that vibrates in flesh with the circular frequency `ω` then has a growth rate, in units of `ω²dt`
//! and for many sub-steps, of
//!
//! | bones | predicted | bones first |
//! |---|---|---|
//! | move with the new velocity (`Scheme::Implicit`) | −¼ | ¼ |
//! | move with the mean velocity (`Scheme::Explicit`) | 0 | ½ |
//!
//! and ¼ more with a single sub-step. Predicted steps are stable up to `ωdt` of about one. For stiff flesh on light
//! bones use the implicit solve ([`crate::Flesh`]).
//!
//! World axes, SI, wrenches at centres of mass. Cost: per sub-step the forces of all elements (and their stiffness if
//! `β > 0`), and the contact queries. Nothing allocates once the
//! buffers have grown. Numbers that are not finite are left out and reported.

use glam::DVec3;
use sinew_contact::ContactSummary;
use sinew_fem::{Diagonalize, ExplicitStep, FemReport, FemState, shrinkage};
use sinew_math::Force;
use sinew_mechanism::{BodyId, SkinInput, State};

use super::flesh_scratch::FleshScratch;
use super::workspace::{ExplicitWorkspace, MAX_SUBSTEPS, collect_wrenches};
use crate::{body::FleshBody, model::FleshModel, state::FleshState};

/// Settings of explicit steps between two states of the bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExplicitFlesh<'a> {
    /// Time between the states, s.
    pub dt: f64,
    /// Gravity, world axes, m/s².
    pub gravity: DVec3,
    /// Number of sub-steps; 0 chooses the smallest stable number.
    pub substeps: u32,
    /// Which elements are evaluated by SVD.
    pub diagonalize: Diagonalize,
    /// Activation of every muscle ([`FleshModel::fill_activations`]); all are relaxed if empty.
    pub activations: &'a [f64],
    /// What acts on the flesh from outside; nothing if none.
    pub skin: Option<&'a SkinInput>,
}

impl Default for ExplicitFlesh<'_> {
    /// 1/60 s, with the smallest stable number of sub-steps, in earth gravity.
    fn default() -> Self {
        let gravity = DVec3::new(0.0, 0.0, -9.81);
        let diagonalize = Diagonalize::Selective;
        Self { dt: 1.0 / 60.0, gravity, substeps: 0, diagonalize, activations: &[], skin: None }
    }
}

/// Report of an explicit step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ExplicitReport {
    /// Elements of all flesh in the last sub-step; `non_finite` is the first of any sub-step.
    pub elements: FemReport,
    /// Sub-steps made.
    pub substeps: u32,
    /// Contacts of flesh in the last sub-step.
    pub contacts: ContactSummary,
    /// First body whose wrench is not finite; such wrenches are left out.
    pub non_finite: Option<BodyId>,
    /// Nothing was done: the time is not a positive number, or the states belong to another model.
    pub refused: bool,
}

/// Writes to `ahead` the poses that the bodies of a state have `dt` seconds later at constant twists.
pub fn predict_bodies(state: &State, dt: f64, ahead: &mut State) {
    ahead.poses.clear();
    let bodies = state.poses.iter().zip(&state.motions);
    ahead.poses.extend(bodies.map(|(pose, motion)| pose.retract(*motion * dt)));
}

/// Moves flesh from the time of the state `before` to that of `after`. Overwrites `wrenches` with its average wrench on
/// each body that forces move, at the centre of mass, as in [`sinew_mechanism::Input::wrenches`].
pub fn step_explicit(
    model: &FleshModel,
    [before, after]: [&State; 2],
    settings: &ExplicitFlesh<'_>,
    flesh: &mut FleshState,
    work: &mut ExplicitWorkspace,
    wrenches: &mut Vec<(BodyId, Force)>,
) -> ExplicitReport {
    wrenches.clear();
    work.flesh_contacts.clear();
    work.poses.clear();
    let n_bodies = model.masses.len();
    let fits = before.poses.len() == n_bodies && after.poses.len() == n_bodies && model.fits(flesh);
    if !(settings.dt > 0.0 && settings.dt.is_finite() && fits) {
        return ExplicitReport { refused: true, ..ExplicitReport::default() };
    }
    let substeps = match settings.substeps {
        0 => {
            let flowed = flesh.nodes.iter().map(|nodes| shrinkage(&nodes.flow)).fold(1.0, f64::max);
            (settings.dt * flowed / work.stable_substep_s()).ceil().clamp(1.0, MAX_SUBSTEPS)
        }
        n => f64::from(n),
    };
    let h = settings.dt / substeps;
    work.begin(before, after, settings.dt);
    work.flesh_contacts.look_ahead(model, flesh, (settings.dt, settings.gravity));
    let mut report = ExplicitReport { substeps: substeps as u32, ..ExplicitReport::default() };
    for k in 0..report.substeps {
        work.place(h * f64::from(k));
        let left = h * f64::from(report.substeps - 1 - k);
        work.substep(model, settings, [h, left], flesh, &mut report);
    }
    work.poses.clear();
    work.poses.extend_from_slice(&after.poses);
    for ((part, body), nodes) in work.flesh.iter_mut().zip(&model.bodies).zip(&mut flesh.nodes) {
        part.prescribe(body, &work.poses, &work.motions, nodes);
    }
    for history in &mut flesh.history {
        history.velocities.clear();
        history.increments.clear();
    }
    report.non_finite = collect_wrenches(model, &work.sums, 1.0 / substeps, wrenches);
    report
}

/// Corrects fixed nodes and contact stretches from the predicted poses of the last [`step_explicit`] to the true poses.
/// Does nothing if that step was refused.
pub fn finish_explicit(
    model: &FleshModel,
    state: &State,
    flesh: &mut FleshState,
    work: &mut ExplicitWorkspace,
) {
    if !model.fits(flesh) || work.poses.len() != state.poses.len() {
        return;
    }
    if model.contact.is_some() {
        work.flesh_contacts.correct(model, &work.poses, &state.poses, flesh);
    }
    model.follow(state, flesh);
}

impl FleshScratch {
    /// One sub-step of the free nodes of a body of flesh.
    fn step(
        &mut self,
        body: &FleshBody,
        settings: &ExplicitFlesh<'_>,
        h: f64,
        activations: &[f64],
        nodes: &mut FemState,
    ) -> FemReport {
        let step = ExplicitStep {
            dt_s: h,
            gravity: settings.gravity,
            damping_per_s: body.options.bone_damping_per_s,
            external: &self.external,
            activations,
            bones: &self.bones,
            diagonalize: settings.diagonalize,
        };
        let Self { step: scratch, wrenches, .. } = self;
        sinew_fem::step_explicit(&body.fem, &body.attachments, &step, nodes, scratch, wrenches)
    }
}

impl ExplicitWorkspace {
    /// One sub-step of `h` seconds of all flesh, `left` seconds before the end of the step.
    fn substep(
        &mut self,
        model: &FleshModel,
        settings: &ExplicitFlesh<'_>,
        [h, left]: [f64; 2],
        flesh: &mut FleshState,
        report: &mut ExplicitReport,
    ) {
        for ((part, body), nodes) in self.flesh.iter_mut().zip(&model.bodies).zip(&mut flesh.nodes) {
            part.prescribe(body, &self.poses, &self.motions, nodes);
            part.damp(body, nodes);
        }
        if model.contact.is_some() {
            report.contacts = self.press(model, [h, settings.dt], flesh);
        }
        let non_finite = report.elements.non_finite;
        report.elements = FemReport::default();
        report.elements.non_finite = non_finite;
        let parts = self.flesh.iter_mut().zip(&model.bodies).zip(&mut flesh.nodes);
        for (index, ((part, body), nodes)) in parts.enumerate() {
            let activations = model.activations_of(index, settings.activations);
            report.elements = report.elements.with(part.step(body, settings, h, activations, nodes));
            if let Some(skin) = settings.skin {
                part.load((model, index), skin, h, nodes, &mut self.sums);
                part.pin((model, index), skin, [h, left], nodes);
            }
            for (&bone, wrench) in body.bones.iter().zip(&part.wrenches) {
                self.sums[bone] += *wrench;
            }
        }
    }
}
