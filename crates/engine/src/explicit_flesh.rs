//! Flesh and contacts in explicit substeps, apart from the bodies.
//!
//! Flesh advances around bodies that follow their present twists. What flesh and contacts do to the bodies over the step is left as
//! wrenches; the caller steps the bodies under them, then moves the fixed nodes along ([`FleshSubsteps::finish`]).
//!
//! A bone that vibrates in its flesh with the circular frequency `ω` is stable only in steps of up to `1/ω`, whatever the substeps of the flesh. Where
//! their number is left to the flesh, whole steps are made in as many parts.
//!
//! World axes, SI. Cost: linear in tetrahedra and contacts per substep; nothing allocates once warm.

use sinew_contact::ContactSummary;
use sinew_flesh::{
    ExplicitFlesh, ExplicitWorkspace, FleshModel, FleshReport, FleshState, finish_explicit, predict_bodies,
    rigid_wrenches, step_explicit,
};
use sinew_math::Force;
use sinew_mechanism::{BodyId, Model as Mechanism, Stage, State};

/// Parts of a step at most.
const MOST_PARTS: f64 = 1024.0;

/// Scratch of explicit flesh, and the wrenches that the last step left.
pub(crate) struct FleshSubsteps {
    pub(crate) work: ExplicitWorkspace,
    predicted: State,
    /// Bound on the circular frequency of bones in the flesh, 1/s.
    bone_rate: f64,
    /// Of flesh, and of its contacts, on bodies.
    pub(crate) flesh_wrenches: Vec<(BodyId, Force)>,
    /// Of contacts between bodies.
    pub(crate) contact_wrenches: Vec<(BodyId, Force)>,
}

impl FleshSubsteps {
    /// The scratch in a slot; made on first use.
    pub(crate) fn in_slot<'a>(
        slot: &'a mut Option<Box<Self>>,
        (model, flesh): (&Mechanism, &FleshModel),
        bodies: &State,
    ) -> &'a mut Self {
        slot.get_or_insert_with(|| {
            Box::new(Self {
                work: ExplicitWorkspace::new(flesh),
                predicted: bodies.clone(),
                bone_rate: flesh.bone_rate(model),
                flesh_wrenches: Vec::new(),
                contact_wrenches: Vec::new(),
            })
        })
    }

    /// Parts that a step of `dt` seconds is made in so that it resolves how bones vibrate in the flesh; one if the number of substeps is given.
    pub(crate) fn n_parts(&self, dt: f64, substeps: u32) -> u32 {
        let parts = if substeps == 0 { (dt * self.bone_rate).ceil() } else { 1.0 };
        parts.clamp(1.0, MOST_PARTS) as u32
    }

    /// Advances flesh and contacts; those between bodies only if `has_bodies`, else they are left to the solve of the bodies.
    pub(crate) fn advance(
        &mut self,
        flesh: &FleshModel,
        bodies: &State,
        soft: &mut FleshState,
        how: &ExplicitFlesh<'_>,
        has_bodies: bool,
    ) -> FleshReport {
        let Self { work, predicted, flesh_wrenches, contact_wrenches, .. } = self;
        let rigid = if has_bodies {
            rigid_wrenches(flesh, bodies, how.dt, &mut soft.body_anchors, work, contact_wrenches)
        } else {
            work.forget_rigid_contacts();
            contact_wrenches.clear();
            ContactSummary::default()
        };
        predict_bodies(bodies, how.dt, predicted);
        let found = step_explicit(flesh, [bodies, predicted], how, soft, work, flesh_wrenches);
        let mut report = FleshReport::default();
        report.elements = found.elements;
        report.contacts = found.contacts.with(rigid);
        report.n_solves = found.substeps;
        report
    }

    /// Moves fixed nodes to where the bodies arrived.
    pub(crate) fn finish(&mut self, flesh: &FleshModel, bodies: &State, soft: &mut FleshState) {
        finish_explicit(flesh, bodies, soft, &mut self.work);
    }
}

impl std::fmt::Debug for FleshSubsteps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FleshSubsteps").finish_non_exhaustive()
    }
}

/// The stage that explicit flesh and contacts are reported as.
pub(crate) fn flesh_stage(flesh: &FleshModel) -> Stage {
    if flesh.bodies().is_empty() { Stage::Contact } else { Stage::Flesh }
}
