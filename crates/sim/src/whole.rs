//! Model, state and scratch of everything in a scene: bodies, and flesh and contacts if there are any.
//!
//! Each is the mechanism's own type with the flesh beside it, and can be used wherever that one is asked for.

use std::ops::{Deref, DerefMut};

use glam::DVec3;
use sinew_control::ControllerState;
use sinew_flesh::{CarryScratch, ExplicitWorkspace, FleshModel, FleshState, FleshWorkspace};
use sinew_math::Force;
use sinew_mechanism::{BodyId, Energy, Input, Scheme, energy, momentum};

use crate::reduced::{Reduced, ReducedWorkspace};

/// Bodies, joints, forces, flesh and colliders; never changes. Make it from a [`sinew_mechanism::Model`], or with
/// [`Model::with_flesh`].
#[derive(Clone, Debug)]
pub struct Model {
    mechanism: sinew_mechanism::Model,
    flesh: Option<Box<FleshModel>>,
    /// Substeps of flesh that is stepped apart from the bodies; 0 chooses them.
    substeps: Option<u32>,
    /// The mechanism in joint coordinates, if it is stepped in those.
    reduced: Option<Box<Reduced>>,
}

impl Model {
    /// A mechanism and the flesh and colliders made for it.
    pub fn with_flesh(mechanism: sinew_mechanism::Model, flesh: FleshModel) -> Self {
        Self { flesh: Some(Box::new(flesh)), ..Self::from(mechanism) }
    }

    /// The same with flesh in explicit substeps of its own, as many as are stable if 0, whatever the scheme of the bodies. With
    /// schemes other than the implicit one flesh is always stepped so.
    #[must_use]
    pub fn with_explicit_flesh(self, substeps: u32) -> Self {
        Self { substeps: Some(substeps), ..self }
    }

    /// The same stepped in joint coordinates, whatever the scheme of the settings; flesh is then explicit.
    #[must_use]
    pub fn with_reduced(self, reduced: Reduced) -> Self {
        Self { reduced: Some(Box::new(reduced)), ..self }
    }

    /// The mechanism in joint coordinates, if it is stepped in those.
    pub fn reduced(&self) -> Option<&Reduced> {
        self.reduced.as_deref()
    }

    /// Another score, or none; nothing happens if the mechanism is not stepped in joint coordinates.
    #[cfg(feature = "scene")]
    pub(crate) fn set_controller(&mut self, controller: Option<sinew_control::Controller>) {
        if let Some(reduced) = &mut self.reduced {
            reduced.controller = controller;
        }
    }

    /// Substeps of explicit flesh; 0 chooses them.
    pub(crate) fn flesh_substeps(&self) -> u32 {
        self.substeps.unwrap_or(0)
    }

    /// Substeps of flesh that is stepped apart from the bodies under a scheme; `None` if it is solved with them.
    pub(crate) fn substeps_under(&self, scheme: &Scheme) -> Option<u32> {
        match scheme {
            Scheme::Implicit(_) => self.substeps,
            _ => Some(self.flesh_substeps()),
        }
    }

    /// The bodies and joints.
    pub fn mechanism(&self) -> &sinew_mechanism::Model {
        &self.mechanism
    }

    /// The flesh and colliders, if there are any.
    pub fn flesh(&self) -> Option<&FleshModel> {
        self.flesh.as_deref()
    }

    /// Everything as it was built.
    pub fn initial_state(&self) -> State {
        self.state_of(self.mechanism.initial_state())
    }

    /// Bodies in a state of their own, with flesh at rest around them.
    pub fn state_of(&self, bodies: sinew_mechanism::State) -> State {
        let flesh = self.flesh().map(|flesh| flesh.initial_state(&bodies)).unwrap_or_default();
        State { bodies, flesh, control: ControllerState::default() }
    }

    /// Energy of bodies and flesh under a gravity (m/s²), with joint springs scaled as by an input.
    pub fn energy(&self, state: &State, gravity: DVec3, spring_scale: f64) -> Energy {
        let mut sum = energy(&self.mechanism, &state.bodies, gravity, spring_scale);
        if let Some(flesh) = self.flesh() {
            let soft = flesh.energy(&state.flesh, gravity);
            sum.kinetic += soft.kinetic;
            sum.gravity += soft.gravity;
            sum.elastic += soft.elastic;
        }
        sum
    }

    /// Momentum of bodies and flesh: angular about the world origin (kg·m²/s), linear (kg·m/s).
    pub fn momentum(&self, state: &State) -> Force {
        let bodies = momentum(&self.mechanism, &state.bodies);
        self.flesh().map_or(bodies, |flesh| bodies + flesh.momentum(&state.flesh))
    }
}

impl From<sinew_mechanism::Model> for Model {
    fn from(mechanism: sinew_mechanism::Model) -> Self {
        Self { mechanism, flesh: None, substeps: None, reduced: None }
    }
}

impl Deref for Model {
    type Target = sinew_mechanism::Model;

    fn deref(&self) -> &Self::Target {
        &self.mechanism
    }
}

/// Everything that changes: plain data, so that restoring it restores the future to the bit.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct State {
    /// Poses, twists and what the next step needs of the last.
    pub bodies: sinew_mechanism::State,
    /// Nodes of flesh and the memory of contacts.
    #[cfg_attr(feature = "serde", serde(default))]
    pub flesh: FleshState,
    /// What the score remembers.
    #[cfg_attr(feature = "serde", serde(default))]
    pub control: ControllerState,
}

impl State {
    /// Whether it belongs to a model.
    pub fn fits(&self, model: &Model) -> bool {
        let flesh_fits = model.flesh().map_or(self.flesh.nodes.is_empty(), |flesh| flesh.fits(&self.flesh));
        self.bodies.fits(&model.mechanism) && flesh_fits
    }
}

impl From<sinew_mechanism::State> for State {
    fn from(bodies: sinew_mechanism::State) -> Self {
        Self { bodies, ..Self::default() }
    }
}

impl Deref for State {
    type Target = sinew_mechanism::State;

    fn deref(&self) -> &Self::Target {
        &self.bodies
    }
}

impl DerefMut for State {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.bodies
    }
}

/// Scratch of [`crate::step`]; losing it changes no result.
#[derive(Debug)]
pub struct Workspace {
    pub(crate) mechanism: sinew_mechanism::Workspace,
    pub(crate) flesh: Option<Box<FleshWorkspace>>,
    /// Made when flesh is first stepped apart from the bodies.
    pub(crate) apart: Option<Box<Apart>>,
    /// Made when the mechanism is first stepped in joint coordinates.
    pub(crate) reduced: Option<Box<ReducedWorkspace>>,
    /// Of assemblies.
    pub(crate) carry: CarryScratch,
    /// Where the contacts of the last step are.
    pub(crate) acted: Acted,
}

/// Who found the contacts of the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Acted {
    /// Nobody: there was no step, or it is not the one that led to the state.
    #[default]
    Nothing,
    /// The common solve.
    Together,
    /// The stepper of flesh and contacts apart from the bodies.
    Apart,
}

/// Scratch of flesh that is stepped apart from the bodies.
pub(crate) struct Apart {
    pub(crate) explicit: ExplicitWorkspace,
    pub(crate) ahead: sinew_mechanism::State,
    pub(crate) input: Input,
    pub(crate) wrenches: Vec<(BodyId, Force)>,
    pub(crate) more: Vec<(BodyId, Force)>,
}

impl Apart {
    /// The one there is, or a new one.
    pub(crate) fn of<'a>(
        slot: &'a mut Option<Box<Self>>,
        flesh: &FleshModel,
        bodies: &sinew_mechanism::State,
    ) -> &'a mut Self {
        slot.get_or_insert_with(|| {
            Box::new(Self {
                explicit: ExplicitWorkspace::new(flesh),
                ahead: bodies.clone(),
                input: Input::default(),
                wrenches: Vec::new(),
                more: Vec::new(),
            })
        })
    }
}

impl std::fmt::Debug for Apart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Apart").field("wrenches", &self.wrenches).finish_non_exhaustive()
    }
}

impl Clone for Workspace {
    fn clone(&self) -> Self {
        Self {
            mechanism: self.mechanism.clone(),
            flesh: self.flesh.clone(),
            apart: None,
            reduced: None,
            carry: CarryScratch::default(),
            acted: Acted::Nothing,
        }
    }
}

impl Workspace {
    /// Scratch for a model.
    pub fn new(model: &Model) -> Self {
        Self {
            mechanism: sinew_mechanism::Workspace::new(&model.mechanism),
            flesh: model.flesh().map(|flesh| Box::new(FleshWorkspace::new(flesh))),
            apart: None,
            reduced: None,
            carry: CarryScratch::default(),
            acted: Acted::Nothing,
        }
    }

    /// That of the flesh: contacts of the last step.
    pub fn flesh(&self) -> Option<&FleshWorkspace> {
        self.flesh.as_deref()
    }
}

impl Deref for Workspace {
    type Target = sinew_mechanism::Workspace;

    fn deref(&self) -> &Self::Target {
        &self.mechanism
    }
}
