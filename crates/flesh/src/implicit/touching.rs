//! Contacts of bodies with each other and with the world as forces with a convex potential. World axes at centres of mass, SI.
//!
//! Per contact the relative velocity of its sides, its impulse and its slope; per body the sum of the slopes expected at the end of the step, which
//! is factored with the tree. Cost: about 0.1 µs per contact and evaluation, half of that per product. Nothing allocates once warm.

use glam::DVec3;
use sinew_contact::ContactPotential;
use sinew_math::{Force, Motion, Sym3, Sym6};
use sinew_mechanism::{CompanionLoads, ConvexForces, Load};

use super::contact_sides::SolvedSide;
use crate::model::FleshModel;
use crate::node_vectors::{velocity_at, wrench_at};

/// A side that no force moves.
const GIVEN: u32 = u32::MAX;

/// All contacts that no flesh takes part in.
#[derive(Default)]
pub(crate) struct TouchingBodies {
    /// Bodies that are touched, ascending, and their ports.
    bodies: Vec<usize>,
    ports: Vec<u32>,
    diagonal: Vec<Sym6>,
    points: Vec<TouchingPoint>,
    /// Changes of the impulses to start from, since the sums per body have changed.
    shifts: Vec<Force>,
    /// Whether the contacts are solved for the first time.
    are_new: bool,
    /// Per body of the model: place among `bodies`, or `GIVEN`.
    places: Vec<u32>,
}

/// One contact.
#[derive(Clone, Copy, Debug)]
struct TouchingPoint {
    law: ContactPotential,
    /// Places of both sides among the touched bodies, or `GIVEN`.
    places: [u32; 2],
    arms: [DVec3; 2],
    /// Relative velocity of the sides that are given, m/s.
    given: DVec3,
    /// Relative velocity where the contact was linearized, its change along a search, and the slope there.
    velocity: DVec3,
    change: DVec3,
    slope: Sym3,
}

impl TouchingPoint {
    /// Velocity of the first side minus that of the other, without those that are given.
    fn relative(&self, motions: &[Motion]) -> DVec3 {
        let side = |i: usize| match motions.get(self.places[i] as usize) {
            Some(motion) => velocity_at(*motion, self.arms[i]),
            None => DVec3::ZERO,
        };
        side(0) - side(1)
    }

    /// Adds an impulse on the first side, and its opposite on the other.
    fn push(&self, impulse: DVec3, impulses: &mut [Force]) {
        for (i, impulse) in [impulse, -impulse].into_iter().enumerate() {
            if let Some(sum) = impulses.get_mut(self.places[i] as usize) {
                *sum += wrench_at(impulse, self.arms[i]);
            }
        }
    }
}

impl TouchingBodies {
    /// Removes all contacts.
    pub(crate) fn clear(&mut self) {
        for &body in &self.bodies {
            self.places[body] = GIVEN;
        }
        self.bodies.clear();
        self.ports.clear();
        self.diagonal.clear();
        self.points.clear();
        self.are_new = true;
    }

    /// Adds a contact with its law; `expected` is the relative velocity (m/s) at which its slope is guessed.
    pub(crate) fn add(
        &mut self,
        model: &FleshModel,
        sides: &[SolvedSide; 2],
        law: ContactPotential,
        expected: DVec3,
    ) {
        self.places.resize(model.slots.len(), GIVEN);
        let mut point = TouchingPoint {
            law,
            places: [GIVEN; 2],
            arms: [DVec3::ZERO; 2],
            given: DVec3::ZERO,
            velocity: DVec3::ZERO,
            change: DVec3::ZERO,
            slope: Sym3::ZERO,
        };
        for (i, side) in sides.iter().enumerate() {
            match *side {
                SolvedSide::Given(velocity) => point.given += if i == 0 { velocity } else { -velocity },
                SolvedSide::Body { body, arm } => {
                    point.places[i] = self.place(model, body);
                    point.arms[i] = arm;
                }
                SolvedSide::Flesh { .. } => return,
            }
        }
        let slope = Sym6 { linear: law.linearize(expected).slope, ..Sym6::ZERO };
        for (place, arm) in point.places.into_iter().zip(point.arms) {
            if let Some(sum) = self.diagonal.get_mut(place as usize) {
                sum.add(&slope.shifted(arm));
            }
        }
        self.points.push(point);
    }

    fn place(&mut self, model: &FleshModel, body: usize) -> u32 {
        if self.places[body] == GIVEN {
            self.places[body] = self.bodies.len() as u32;
            self.bodies.push(body);
            self.ports.push(model.ports[model.slots[body] as usize]);
            self.diagonal.push(Sym6::ZERO);
        }
        self.places[body]
    }

    /// Takes the slopes of the last solution for the sums per body, and changes the impulses that go with its twists accordingly.
    pub(crate) fn refresh(&mut self, motions: &[Motion]) {
        self.shifts.clear();
        let moving = self.bodies.iter().zip(&self.diagonal);
        self.shifts.extend(moving.map(|(&body, diagonal)| diagonal.mul(motions[body]) * -1.0));
        self.diagonal.fill(Sym6::ZERO);
        for point in &self.points {
            let slope = Sym6 { linear: point.slope, ..Sym6::ZERO };
            for (&place, &arm) in point.places.iter().zip(&point.arms) {
                if let Some(sum) = self.diagonal.get_mut(place as usize) {
                    sum.add(&slope.shifted(arm));
                }
            }
        }
        for ((shift, &body), diagonal) in self.shifts.iter_mut().zip(&self.bodies).zip(&self.diagonal) {
            *shift += diagonal.mul(motions[body]);
        }
    }

    /// The laws of all contacts, in the order in which they were added.
    pub(crate) fn laws(&self) -> impl Iterator<Item = &ContactPotential> {
        self.points.iter().map(|point| &point.law)
    }

    /// Ports of the bodies that are touched.
    pub(crate) fn ports(&self) -> &[u32] {
        &self.ports
    }

    /// Adds what the tree is factored with.
    pub(crate) fn load(&self, loads: &mut CompanionLoads<'_>) {
        for (&body, &mass) in self.bodies.iter().zip(&self.diagonal) {
            loads.add(body, &Load { mass, momentum: Force::ZERO });
        }
    }

    /// Impulses to start from: those of the last solve; of new contacts those at some twists of all bodies, `f + D V`.
    pub(crate) fn start(&mut self, motions: &[Motion], impulses: &mut Vec<Force>) {
        if !std::mem::take(&mut self.are_new) {
            impulses.iter_mut().zip(self.shifts.drain(..)).for_each(|(impulse, shift)| *impulse += shift);
            return;
        }
        self.shifts.clear();
        impulses.clear();
        let moving = self.bodies.iter().zip(&self.diagonal);
        impulses.extend(moving.map(|(&body, diagonal)| diagonal.mul(motions[body])));
        for point in &self.points {
            let velocity = self.relative(point, motions);
            point.push(point.law.impulse(velocity), impulses);
        }
    }

    /// Relative velocity of a contact with some twists of all bodies.
    fn relative(&self, point: &TouchingPoint, motions: &[Motion]) -> DVec3 {
        let side = |i: usize| match self.bodies.get(point.places[i] as usize) {
            Some(&body) => velocity_at(motions[body], point.arms[i]),
            None => DVec3::ZERO,
        };
        point.given + side(0) - side(1)
    }
}

impl ConvexForces for TouchingBodies {
    fn diagonal(&self) -> &[Sym6] {
        &self.diagonal
    }

    fn linearize(&mut self, motions: &[Motion], impulses: &mut [Force]) {
        impulses.fill(Force::ZERO);
        for point in &mut self.points {
            point.velocity = point.given + point.relative(motions);
            let at = point.law.linearize(point.velocity);
            point.slope = at.slope;
            point.push(at.impulse, impulses);
        }
    }

    fn energy(&self) -> f64 {
        self.points.iter().map(|point| point.law.energy(point.velocity)).sum()
    }

    fn apply(&mut self, change: &[Motion], impulses: &mut [Force]) {
        impulses.fill(Force::ZERO);
        for point in self.points.iter().filter(|point| point.slope != Sym3::ZERO) {
            point.push(point.slope.mul_vec(point.relative(change)), impulses);
        }
    }

    fn search_along(&mut self, change: &[Motion]) {
        for point in &mut self.points {
            point.change = point.relative(change);
        }
    }

    fn power(&mut self, share: f64) -> f64 {
        let each = self.points.iter();
        each.map(|point| point.law.impulse(point.velocity + point.change * share).dot(point.change)).sum()
    }

    fn follow(&mut self, least: f64) -> f64 {
        let (mut wrong, mut all) = (0.0, 0.0);
        for point in &self.points {
            wrong += point.law.friction_error(point.velocity);
            all += point.law.load(point.velocity);
        }
        let change = if wrong > 0.0 { wrong / all.max(f64::MIN_POSITIVE) } else { 0.0 };
        if change > least {
            self.points.iter_mut().for_each(|point| point.law.follow_load(point.velocity));
        }
        change
    }
}
