//! Scratch memory of a step, and the contacts and joint forces that the last step left there.

use sinew_flesh::{CarryScratch, FleshWorkspace, OutlineBuffer};
use sinew_math::Force;
use sinew_mechanism::{Input, JointId};

use crate::events::EventScratch;
use crate::explicit_flesh::FleshSubsteps;
use crate::model::Model;
use crate::parted::PartedBodies;
use crate::passages::Passages;
use crate::reduced::ReducedWorkspace;
use crate::scored::ScoredWorkspace;
use crate::sleep::SleepScratch;
use crate::touched::TouchedIslands;

/// Scratch of [`crate::step`]. Losing it changes no result.
#[derive(Debug)]
pub struct Workspace {
    pub(crate) mechanism: sinew_mechanism::Workspace,
    pub(crate) flesh: Option<Box<FleshWorkspace>>,
    /// Made on the first step with explicit flesh.
    pub(crate) explicit: Option<Box<FleshSubsteps>>,
    /// Of contacts between bodies beside explicit flesh, if the last step solved them with the bodies.
    pub(crate) touching: Option<Box<FleshWorkspace>>,
    /// Islands that took an implicit step because something touched them in a step of another scheme.
    pub(crate) touched: Option<Box<TouchedIslands>>,
    /// The input with the wrenches of explicit flesh.
    pub(crate) input: Input,
    /// Activation of every muscle in the last step.
    pub(crate) activations: Vec<f64>,
    /// Made on the first step in joint coordinates.
    pub(crate) reduced: Option<Box<ReducedWorkspace>>,
    /// Made on the first implicit step with a score.
    pub(crate) scored: Option<Box<ScoredWorkspace>>,
    pub(crate) carry: CarryScratch,
    pub(crate) events: EventScratch,
    pub(crate) passages: Passages,
    pub(crate) sleep: SleepScratch,
    pub(crate) parted: PartedBodies,
    /// Flesh that may be inside other flesh.
    pub(crate) outlines: [OutlineBuffer; 2],
    pub(crate) last: LastStep,
}

/// Which stepper made the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LastStep {
    /// There was no step, or it is not the one that led to the state.
    #[default]
    Unknown,
    /// Bodies, and flesh solved with them.
    Coupled,
    /// Explicit flesh, then the bodies.
    ExplicitFlesh,
    /// Explicit flesh, then joint coordinates.
    Reduced,
}

impl Clone for Workspace {
    fn clone(&self) -> Self {
        Self::of(self.mechanism.clone(), self.flesh.clone())
    }
}

impl Workspace {
    /// Scratch for a model.
    pub fn new(model: &Model) -> Self {
        Self::of(sinew_mechanism::Workspace::new(model.mechanism()), scratch_of_flesh(model))
    }

    /// Makes it fit another model: [`Workspace::new`] that keeps the memory of the factor.
    pub fn refit(&mut self, model: &Model) {
        let mut mechanism = std::mem::take(&mut self.mechanism);
        mechanism.refit(model.mechanism());
        *self = Self::of(mechanism, scratch_of_flesh(model));
    }

    fn of(mechanism: sinew_mechanism::Workspace, flesh: Option<Box<FleshWorkspace>>) -> Self {
        Self {
            mechanism,
            flesh,
            explicit: None,
            touching: None,
            touched: None,
            input: Input::default(),
            activations: Vec::new(),
            reduced: None,
            scored: None,
            carry: CarryScratch::default(),
            events: EventScratch::default(),
            passages: Passages::default(),
            sleep: SleepScratch::default(),
            parted: PartedBodies::default(),
            outlines: Default::default(),
            last: LastStep::Unknown,
        }
    }

    /// Scratch of the flesh, if there is any.
    pub fn flesh(&self) -> Option<&FleshWorkspace> {
        self.flesh.as_deref()
    }

    /// Wrench of each grab of the last implicit step on its body: torque about the centre of mass (N·m) and force (N), world
    /// axes.
    pub fn grab_wrenches(&self) -> &[Force] {
        self.mechanism.grab_wrenches()
    }

    /// The joints that broke at the end of the last step, in the order of the model.
    pub fn broke(&self) -> &[JointId] {
        self.mechanism.broke()
    }

    /// Forgets the contacts and joint loads of the last step. Call it when the state was changed by other means than a step.
    pub fn forget_last_step(&mut self) {
        self.last = LastStep::Unknown;
        self.mechanism.forget_broke();
    }

    /// Forgets the scratch of controlled steps. Call it when the controller of the model was replaced.
    pub fn forget_controller(&mut self) {
        self.reduced = None;
        self.scored = None;
    }
}

fn scratch_of_flesh(model: &Model) -> Option<Box<FleshWorkspace>> {
    model.flesh().map(|flesh| Box::new(FleshWorkspace::new(flesh)))
}
