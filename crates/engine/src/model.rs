//! The model of a character, which does not change (bodies, joints, forces, flesh, colliders, actuators), and its state,
//! which changes from step to step.

use std::sync::Arc;

use sinew_contact::{ContactEvents, Owner, SensorModel};
use sinew_control::{Controller, ControllerState};
use sinew_flesh::{FleshModel, FleshState};

use sinew_mechanism::{BodyId, passive_bodies};

use crate::ReducedModel;
use crate::fnv::identity;
use crate::sleep_state::SleepState;

/// Bodies, joints, forces, flesh and colliders. Make it from a [`sinew_mechanism::Model`], or with [`Model::with_flesh`].
#[derive(Clone, Debug)]
pub struct Model {
    mechanism: sinew_mechanism::Model,
    flesh: Option<Box<FleshModel>>,
    /// The colliders of bodies beside flesh.
    touching: Option<Box<FleshModel>>,
    reduced: Option<Box<ReducedModel>>,
    sensors: Option<Box<SensorModel>>,
    collider_names: Vec<Arc<str>>,
    flesh_names: Vec<String>,
    /// Per body: least extent of its colliders, m.
    pub(crate) thickness: Vec<f64>,
    /// Per body: whether it may sleep.
    pub(crate) may_sleep: Vec<bool>,
    /// Per body: radius of gyration, m.
    pub(crate) gyration: Vec<f64>,
    /// Per body of flesh: its least extent at rest, m.
    pub(crate) flesh_thickness: Vec<f64>,
    identity: u64,
}

impl Model {
    /// A mechanism with the flesh and colliders made for it.
    pub fn with_flesh(mechanism: sinew_mechanism::Model, flesh: FleshModel) -> Self {
        let touching = flesh.without_flesh().map(Box::new);
        let thickness = thickness(&flesh, mechanism.n_bodies());
        let flesh_thickness = (0..flesh.bodies().len()).map(|k| flesh.thickness(k)).collect();
        let identity = identity(&mechanism, flesh.bodies().iter().map(|body| body.fem().n_nodes()));
        let flesh = Some(Box::new(flesh));
        Self { flesh, touching, thickness, flesh_thickness, ..Self::bare(mechanism, identity) }
    }

    /// The same model with its mechanism in joint coordinates.
    #[must_use]
    pub fn with_reduced(self, reduced: ReducedModel) -> Self {
        Self { reduced: Some(Box::new(reduced)), ..self }
    }

    /// The same model with sensors, which feel its bodies and flesh and change nothing. Colliders are given in body frames.
    #[must_use]
    pub fn with_sensors(self, sensors: SensorModel) -> Self {
        let central = |body: usize| self.mechanism.central_frame(BodyId::from_index(body)).inverse();
        let sensors = sensors.seen_from(central);
        Self { sensors: Some(Box::new(sensors)), ..self }
    }

    /// The same model with a name per part of its colliders ([`sinew_contact::ContactModel::part`]).
    #[must_use]
    pub fn with_collider_names(self, names: impl IntoIterator<Item: Into<Arc<str>>>) -> Self {
        Self { collider_names: names.into_iter().map(Into::into).collect(), ..self }
    }

    /// The same model with a name per body of flesh.
    #[must_use]
    pub fn with_flesh_names(self, flesh_names: Vec<String>) -> Self {
        Self { flesh_names, ..self }
    }

    /// The name of a body of flesh; empty if it has none.
    pub fn flesh_name(&self, flesh: usize) -> &str {
        self.flesh_names.get(flesh).map_or("", String::as_str)
    }

    /// The name of a collider, by its part; empty if it has none.
    pub fn collider_name(&self, part: u32) -> &str {
        self.collider_names.get(part as usize).map_or("", |name| name)
    }

    /// The sensors, if there are any, seen from the central frames of their bodies, as the poses of a state are.
    pub fn sensors(&self) -> Option<&SensorModel> {
        self.sensors.as_deref()
    }

    /// The mechanism in joint coordinates, if the model has it.
    pub fn reduced(&self) -> Option<&ReducedModel> {
        self.reduced.as_deref()
    }

    /// Replaces the controller, or removes it. A model without joint coordinates has none and does not change.
    pub fn set_controller(&mut self, controller: Option<Controller>) {
        if let Some(reduced) = &mut self.reduced {
            reduced.set_controller(controller);
        }
    }

    /// Whether a workspace of it fits another model, which differs in numbers of its bodies, joints and colliders only.
    pub fn is_like(&self, other: &Self) -> bool {
        let is_rigid = |model: &Self| model.touching.is_none() && model.reduced.is_none();
        let has_same_parts = self.flesh.is_some() == other.flesh.is_some()
            && self.sensors.is_some() == other.sensors.is_some();
        self.mechanism.is_like(&other.mechanism) && is_rigid(self) && is_rigid(other) && has_same_parts
    }

    /// The bodies and joints.
    pub fn mechanism(&self) -> &sinew_mechanism::Model {
        &self.mechanism
    }

    /// The flesh and colliders, if there are any.
    pub fn flesh(&self) -> Option<&FleshModel> {
        self.flesh.as_deref()
    }

    /// The colliders of bodies, without flesh; none if no body has one.
    pub(crate) fn touching(&self) -> Option<&FleshModel> {
        self.touching.as_deref().or_else(|| self.flesh().filter(|flesh| flesh.is_of_bodies_only()))
    }

    /// A number that tells models apart: from the names, kinds and masses of bodies, the names, kinds and bodies of joints, and the nodes of
    /// flesh. Forces, friction and colours do not matter. Never 0.
    pub fn identity(&self) -> u64 {
        self.identity
    }

    /// The state as built.
    pub fn initial_state(&self) -> State {
        self.state_of(self.mechanism.initial_state())
    }

    /// A state with the given bodies, and flesh at rest around them.
    pub fn state_of(&self, bodies: sinew_mechanism::State) -> State {
        let flesh = self.flesh().map(|flesh| flesh.initial_state(&bodies)).unwrap_or_default();
        State { bodies, flesh, model: self.identity(), ..State::default() }
    }
}

impl From<sinew_mechanism::Model> for Model {
    fn from(mechanism: sinew_mechanism::Model) -> Self {
        let identity = identity(&mechanism, std::iter::empty());
        Self::bare(mechanism, identity)
    }
}

impl Model {
    /// A mechanism and nothing else.
    fn bare(mechanism: sinew_mechanism::Model, identity: u64) -> Self {
        Self {
            may_sleep: passive_bodies(&mechanism),
            gyration: mechanism.bodies().map(|body| gyration(&mechanism, body)).collect(),
            mechanism,
            flesh: None,
            touching: None,
            reduced: None,
            sensors: None,
            collider_names: Vec::new(),
            flesh_names: Vec::new(),
            flesh_thickness: Vec::new(),
            thickness: Vec::new(),
            identity,
        }
    }
}

/// Radius of gyration of a body, m.
fn gyration(mechanism: &sinew_mechanism::Model, body: BodyId) -> f64 {
    let mass = mechanism.body_mass(body).max(f64::MIN_POSITIVE);
    (mechanism.principal_moments(body).element_sum() / mass).sqrt()
}

/// The state of bodies, flesh and control: plain data. Restoring it restores the future to the bit.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct State {
    /// Poses and twists of the bodies, and what the next step needs of the last one.
    pub bodies: sinew_mechanism::State,
    /// Nodes of flesh and the memory of contacts.
    #[cfg_attr(feature = "serde", serde(default))]
    pub flesh: FleshState,
    /// Memory of the controller.
    #[cfg_attr(feature = "serde", serde(default))]
    pub control: ControllerState,
    /// What touched in the step that led here: begins, stays and ends. It changes no motion.
    #[cfg_attr(feature = "serde", serde(default))]
    pub events: ContactEvents,
    /// What sleeps, and what rests.
    #[cfg_attr(feature = "serde", serde(default))]
    pub sleep: SleepState,
    /// The model that it belongs to ([`Model::identity`]); 0 if that is not known.
    #[cfg_attr(feature = "serde", serde(default))]
    pub model: u64,
}

impl From<sinew_mechanism::State> for State {
    fn from(bodies: sinew_mechanism::State) -> Self {
        Self { bodies, ..Self::default() }
    }
}

/// The least extent of the colliders of each body, m; infinite without any.
fn thickness(flesh: &FleshModel, n_bodies: usize) -> Vec<f64> {
    let mut all = vec![f64::INFINITY; n_bodies];
    for collider in flesh.contact().into_iter().flat_map(|contact| contact.colliders()) {
        if let Owner::Body(body) = collider.owner() {
            let least = &mut all[body as usize];
            *least = least.min(collider.thickness());
        }
    }
    all
}
