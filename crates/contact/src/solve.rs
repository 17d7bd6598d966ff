//! The contacts of one implicit step, from the first guess to the stretches for the next step.
//!
//! ```text
//! begin      guess every grip                       → steps(): B and q of each contact
//!            solve (M + Σ GᵀBG) v' = M v + Σ Gᵀq
//! review     which grips does v' contradict?        → if any: solve again, three or four solves at most
//! finish     stretches for the next step, a summary
//! ```
//!
//! The caller owns the bodies, so it gives velocities as functions of a contact. Most steps need one solve. With
//! contacts across a gap (a margin above zero) allow at least two: a solve that is not reviewed may pull bodies across
//! a gap. Cost: linear in the contacts; nothing allocates once the buffers have grown.

use crate::contact_step::{ContactStart, ContactStep, Grip};
use crate::potential::ContactPotential;
use crate::{anchors::Anchors, contact_point::ContactPoint};
use glam::DVec3;

/// The contacts of one step. Reuse it for its buffers; nothing else is carried from step to step.
#[derive(Clone, Debug, Default)]
pub struct ContactSolve {
    starts: Vec<ContactStart>,
    steps: Vec<ContactStep>,
    /// With the friction limits that were set last, for damped iterations.
    laws: Vec<ContactPotential>,
    stretches: Vec<DVec3>,
    dt: f64,
}

/// Relative velocities of a contact: first side minus other side at the contact point (m/s, world).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Approach {
    /// At the start of the step (m/s, world).
    pub now: DVec3,
    /// At its end (m/s, world) if there were no contacts: with gravity and everything else that is known.
    pub free: DVec3,
    /// Mass at the contact (kg), see [`ContactStart::mass`].
    pub mass: f64,
    /// Displacement of the first side along the surface within the step that velocities at its start do not show (m, world).
    pub slide: DVec3,
    /// Speed at which the sides separate at the end of the step because they bounce (m/s), see [`ContactPoint::rebound`]; 0 if they do not.
    pub rebound: f64,
}

/// Summary of the contacts of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ContactSummary {
    /// Sticking contacts.
    pub n_stick: usize,
    /// Sliding contacts.
    pub n_slip: usize,
    /// Contacts that pull after the last solve; further solves would have opened them.
    pub n_pulling: usize,
    /// The largest depth at the start of the step (m); 0 without contacts.
    pub depth: f64,
}

impl ContactSummary {
    /// Both summaries together.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            n_stick: self.n_stick + other.n_stick,
            n_slip: self.n_slip + other.n_slip,
            n_pulling: self.n_pulling + other.n_pulling,
            depth: self.depth.max(other.depth),
        }
    }
}

impl ContactSolve {
    /// Empty buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a step of `dt` seconds: guesses the law of every contact from the relative velocities.
    pub fn begin(
        &mut self,
        contacts: &[ContactPoint],
        anchors: &Anchors,
        dt: f64,
        approach: impl FnMut(&ContactPoint) -> Approach,
    ) {
        let mut steps = std::mem::take(&mut self.steps);
        steps.clear();
        self.begin_each(contacts, anchors, dt, approach, |_, start, at| {
            steps.push(start.predict(at.now, at.free, dt));
        });
        self.steps = steps;
    }

    /// Starts a step of `dt` seconds with potentials instead of linear laws: nothing is guessed but the friction limits. `take` gets the potential of
    /// every contact, and the relative velocity at the end without contacts (m/s, world).
    pub fn begin_convex(
        &mut self,
        contacts: &[ContactPoint],
        anchors: &Anchors,
        dt: f64,
        approach: impl FnMut(&ContactPoint) -> Approach,
        mut take: impl FnMut(&ContactPoint, ContactPotential, DVec3),
    ) {
        self.begin_each(contacts, anchors, dt, approach, |contact, start, at| {
            take(contact, start.potential(at.now, at.free, dt), at.free);
        });
    }

    /// Fills the starts of all contacts, and shows each.
    fn begin_each(
        &mut self,
        contacts: &[ContactPoint],
        anchors: &Anchors,
        dt: f64,
        mut approach: impl FnMut(&ContactPoint) -> Approach,
        mut each: impl FnMut(&ContactPoint, &ContactStart, &Approach),
    ) {
        self.dt = dt;
        self.starts.clear();
        anchors.fill_stretches(contacts, &mut self.stretches);
        for (contact, &stretch) in contacts.iter().zip(&self.stretches) {
            let at = approach(contact);
            let start = contact.start(stretch + at.slide, at.mass);
            let start = ContactStart { rebound: at.rebound, slide: at.slide, ..start };
            each(contact, &start, &at);
            self.starts.push(start);
        }
    }

    /// Takes the potentials as they were solved, at the relative velocities of the solution (m/s, world).
    pub fn conclude<'a>(
        &mut self,
        contacts: &[ContactPoint],
        solved: impl Iterator<Item = &'a ContactPotential>,
        mut end: impl FnMut(&ContactPoint) -> DVec3,
    ) {
        self.steps.clear();
        self.steps.extend(contacts.iter().zip(solved).map(|(contact, law)| law.step_at(end(contact))));
    }

    /// The laws for the next solve, one per contact, in their order.
    pub fn steps(&self) -> &[ContactStep] {
        &self.steps
    }

    /// Takes up laws of an earlier solve of the same step.
    pub fn take_steps(&mut self, steps: &[ContactStep]) {
        steps.clone_into(&mut self.steps);
    }

    /// Checks every contact with the relative velocities of a solve (m/s, world), in their order; returns how many laws changed. If
    /// none changed, the solve is final. If the next solve is the `last`, it gets only laws that dissipate energy at
    /// any velocity.
    pub fn review(&mut self, last: bool, ends: &[DVec3]) -> usize {
        let mut n_changed = 0;
        for ((start, step), &end) in self.starts.iter().zip(&mut self.steps).zip(ends) {
            if let Some(changed) = start.review(step, end, self.dt, last) {
                *step = changed;
                n_changed += 1;
            }
        }
        if last && n_changed > 0 {
            for ((start, step), &end) in self.starts.iter().zip(&mut self.steps).zip(ends) {
                start.soften_gap(step, end);
            }
        }
        n_changed
    }

    /// Sets the friction limits of all contacts to those of their loads at relative velocities (m/s, world).
    pub fn follow(&mut self, ends: &[DVec3]) {
        self.laws.clear();
        self.laws.extend(self.starts.iter().zip(ends).map(|(start, &end)| start.law_at(end, self.dt)));
    }

    /// Replaces all laws by tangents at relative velocities (m/s, world), where impulses are expected (N·s, world), with the friction limits that were set last.
    pub fn linearize(&mut self, ends: &[DVec3], expected: &[DVec3]) {
        let at = ends.iter().zip(expected);
        for ((law, step), (&end, &expected)) in self.laws.iter().zip(&mut self.steps).zip(at) {
            *step = law.sloped_step(end, &law.linearize(end, expected));
        }
    }

    /// The impulse (N·s, world) of a contact at a relative velocity (m/s, world), with the friction limit that was set last.
    pub fn impulse_at(&self, contact: usize, end: DVec3) -> DVec3 {
        self.laws[contact].impulse(end)
    }

    /// The same with the friction limit of the load there.
    pub fn coulomb_at(&self, contact: usize, end: DVec3) -> DVec3 {
        self.starts[contact].law_at(end, self.dt).impulse(end)
    }

    /// Ends the step with the velocities of the last solve: writes the stretches to `anchors`.
    pub fn finish(
        &mut self,
        contacts: &[ContactPoint],
        anchors: &mut Anchors,
        mut end: impl FnMut(&ContactPoint) -> DVec3,
    ) -> ContactSummary {
        let mut summary = ContactSummary::default();
        self.stretches.clear();
        for ((contact, start), step) in contacts.iter().zip(&self.starts).zip(&self.steps) {
            let velocity = end(contact);
            self.stretches.push(start.stretch_after(step, velocity, self.dt));
            summary.depth = summary.depth.max(start.depth);
            summary.n_stick += usize::from(step.grip == Grip::Stick);
            summary.n_slip += usize::from(step.grip == Grip::Slip);
            let pulls = step.grip != Grip::Open && step.impulse_at(velocity).dot(start.normal) < 0.0;
            summary.n_pulling += usize::from(pulls);
        }
        anchors.replace(contacts, &self.stretches);
        summary
    }
}
