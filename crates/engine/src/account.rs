//! Energy that a model may have: what it began with, and the work that was done on it. More is energy without a source.
//!
//! The twists of an implicit step of first order are those in its middle, and belong to the heights half a step before its end: with those at
//! its end the energy swings by about `hω` of itself. Where a joint stops a body the twists jump and the heights of the end are right. So the
//! lesser of both counts, and a gain is what lasts for half a second. It is told as a
//! share of what was exchanged: energy of motion and of springs at the beginning, work since, and the range of the energy of height; of what lifts everything by a hundredth of its size at least.
//! Muscles do the work that their potential loses, times their activation. Where work is done that is not known (prescribed motion, a controller, a change of gravity) the account starts anew,
//! with the largest energy of motion and springs until then as the least that gains are compared with. J.
//!
//! Cost: one pass over bodies and joints per step; nothing allocates after half a second of steps.

use std::collections::VecDeque;

use glam::DVec3;
use sinew_mechanism::{Energy, EnergySources, Input};

use crate::{Model, Settings, State, energy, momentum, resting_energy};

/// How long a gain must last, s.
const LASTING: f64 = 0.5;

/// Share of what was exchanged from which energy is called gained.
const GAINED: f64 = 0.01;

/// Rounding: of large potentials, as a share, and in any case, J.
const ROUNDING: f64 = 1e-9;

/// Least energy that gains are compared with where nothing has weight, J.
const LEAST: f64 = 1e-6;

/// The account of a run.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EnergyAccount {
    sources: EnergySources,
    gravity: DVec3,
    /// How long ago bodies were at the heights that belong to their twists, s.
    ago: f64,
    /// Energy at the start of the account, work done since, J.
    start: f64,
    work: f64,
    /// What the energy at the start is less with the heights that belong to the twists.
    lead: f64,
    /// Potential of every muscle at full activation, J, that before the last step, and the activations in it.
    muscles: Vec<f64>,
    before: Vec<f64>,
    activations: Vec<f64>,
    /// What was exchanged, without height; at least what it was before the account started anew.
    scale: f64,
    /// Least and most energy of height.
    heights: [f64; 2],
    /// The last half second, one entry per step.
    recent: VecDeque<f64>,
    /// Last steps in a row that ended with a gain.
    in_a_row: u64,
    /// Of everything that forces move, kg.
    mass: f64,
}

/// Energy above what was put in, as a share of what was exchanged; zero if there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct EnergyExcess {
    /// At the end of the step.
    pub now: f64,
    /// The smallest of the last half second.
    pub lasting: f64,
    /// At the end of the step, J.
    pub energy: f64,
    /// At the end of the step, J per kilogram of what moves.
    pub per_mass: f64,
    /// Steps in a row, this one the last, after which it was more than one per cent.
    pub steps: u64,
}

/// Excess that makes a motion meaningless: so many times what was exchanged, and more than a speed of 20 m/s of everything would take, J/kg.
const EXPLODED: f64 = 10.0;
const EXPLODED_PER_MASS: f64 = 200.0;

impl EnergyExcess {
    /// Whether energy was gained without a source: more than one per cent of what was exchanged, for half a second.
    pub fn is_gain(&self) -> bool {
        self.lasting > GAINED
    }

    /// Whether so much was gained, in this step or before, that the motion means nothing.
    pub fn is_explosion(&self) -> bool {
        self.now > EXPLODED && self.per_mass > EXPLODED_PER_MASS
    }
}

impl EnergyAccount {
    /// The account of a model from a state on.
    pub fn new(model: &Model, state: &State, input: &Input, settings: &Settings) -> Self {
        let mut account = Self {
            sources: EnergySources::new(model.mechanism(), &state.bodies, input),
            gravity: settings.gravity,
            ago: ago(settings),
            start: 0.0,
            work: 0.0,
            lead: 0.0,
            muscles: Vec::new(),
            before: Vec::new(),
            activations: Vec::new(),
            scale: 0.0,
            heights: [0.0; 2],
            recent: VecDeque::new(),
            in_a_row: 0,
            mass: moving_mass(model),
        };
        account.begin(model, state, input.spring_scale);
        account
    }

    /// Adds the step that has just led to a state.
    pub fn note(&mut self, model: &Model, state: &State, input: &Input, settings: &Settings) -> EnergyExcess {
        let work =
            self.sources.work(model.mechanism(), &state.bodies, input, (settings.dt, settings.gravity));
        let is_driven = model.reduced().is_some_and(|reduced| reduced.controller().is_some());
        let is_same = self.gravity == settings.gravity && self.ago.to_bits() == ago(settings).to_bits();
        let (Some(work), true, false) = (work, is_same, is_driven) else {
            (self.gravity, self.ago) = (settings.gravity, ago(settings));
            self.begin(model, state, input.spring_scale);
            return EnergyExcess::default();
        };
        self.work += work;
        self.scale += work.abs();
        self.note_muscles(model, state, input);
        let (energy, exchanged) = self.excess(model, state, input.spring_scale);
        let (now, per_mass) = (energy / exchanged, energy / self.mass.max(f64::MIN_POSITIVE));
        self.in_a_row = if now <= GAINED { 0 } else { self.in_a_row + 1 };
        EnergyExcess { now, lasting: self.lasting(now, settings.dt), energy, per_mass, steps: self.in_a_row }
    }

    /// The smallest excess of the last half second, the present one included; zero before.
    fn lasting(&mut self, now: f64, dt: f64) -> f64 {
        self.recent.push_back(now);
        if (self.recent.len() as f64) * dt <= LASTING {
            return 0.0;
        }
        let least = self.recent.iter().copied().fold(f64::INFINITY, f64::min);
        self.recent.pop_front();
        least
    }

    /// Adds the work of muscles: what their potential loses, times their activation. Stress that depends on the rate does less.
    fn note_muscles(&mut self, model: &Model, state: &State, input: &Input) {
        let Some(flesh) = model.flesh().filter(|flesh| flesh.n_muscles() > 0) else { return };
        flesh.fill_activations(&input.activations, &mut self.activations);
        std::mem::swap(&mut self.muscles, &mut self.before);
        flesh.fill_muscle_potentials(&state.flesh, &mut self.muscles);
        for ((before, after), activation) in self.before.iter().zip(&self.muscles).zip(&self.activations) {
            let work = activation * (before - after);
            self.work += work;
            self.scale += work.abs();
        }
    }

    /// Energy now, and what it is less with the heights that belong to the twists.
    fn energy(&self, model: &Model, state: &State, spring_scale: f64) -> (Energy, f64) {
        let rise = -self.gravity.dot(momentum(model, state).linear);
        (energy(model, state, self.gravity, spring_scale), self.ago * rise)
    }

    /// Energy above what was put in, and what was exchanged, J.
    fn excess(&mut self, model: &Model, state: &State, spring_scale: f64) -> (f64, f64) {
        let (energy, lead) = self.energy(model, state, spring_scale);
        self.heights = [self.heights[0].min(energy.gravity), self.heights[1].max(energy.gravity)];
        let scale = self.scale + (self.heights[1] - self.heights[0]);
        let rounding = ROUNDING * (1.0 + self.start.abs() + energy.gravity.abs());
        let potential = self.sources.potential(model.mechanism(), &state.bodies);
        let excess = energy.total() + potential - self.start - self.work;
        let excess = excess.min(excess - lead + self.lead);
        let least = LEAST.max(resting_energy(model, self.gravity));
        (if excess <= rounding { 0.0 } else { excess }, scale.max(least))
    }

    fn begin(&mut self, model: &Model, state: &State, spring_scale: f64) {
        if let Some(flesh) = model.flesh() {
            flesh.fill_muscle_potentials(&state.flesh, &mut self.muscles);
        }
        let (energy, lead) = self.energy(model, state, spring_scale);
        let potential = self.sources.potential(model.mechanism(), &state.bodies);
        (self.start, self.lead) = (energy.total() + potential, lead);
        self.work = 0.0;
        // What stops after a motion that was given is not at rest for the account: contacts still give back what the motion left in them.
        self.scale = self.scale.max(energy.kinetic + energy.elastic + potential);
        self.heights = [energy.gravity; 2];
        self.recent.clear();
        self.in_a_row = 0;
    }
}

/// Mass of everything that forces move, kg.
fn moving_mass(model: &Model) -> f64 {
    let mechanism = model.mechanism();
    let moved = mechanism.bodies().filter(|&body| mechanism.port_of(body).is_some());
    let bodies: f64 = moved.map(|body| mechanism.body_mass(body)).sum();
    let flesh = model.flesh().map_or(&[][..], |flesh| flesh.bodies());
    bodies + flesh.iter().flat_map(|flesh| flesh.fem().masses()).sum::<f64>()
}

/// How long before the end of a step bodies have the heights that belong to its twists, s.
fn ago(settings: &Settings) -> f64 {
    settings.mechanism().map_or(0.0, |settings| settings.twist_age())
}
