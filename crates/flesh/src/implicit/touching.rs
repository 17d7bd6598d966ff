//! Contacts of bodies with each other and with the world as forces with a convex potential. World axes at centres of mass, SI.
//!
//! Per contact the relative velocity of its sides, its impulse and its slope; per body the sum of the slopes expected at the end of the step, which
//! is factored with the tree. Bodies that touch or are jointed to each other make an island (`touching_islands.rs`).
//! Cost: about 0.1 µs per contact and evaluation, half of that per product. Nothing allocates once warm.

use std::ops::Range;

use glam::DVec3;
use sinew_contact::{ContactPotential, ContactSlope};
use sinew_math::{Force, Motion, Sym6};
use sinew_mechanism::{BareTree, CompanionLoads, ConvexForces, Load};

use super::contact_sides::SolvedSide;
use super::touching_islands::TouchingIslands;
use super::touching_pairs::TouchingPairs;
use super::touching_point::{GIVEN, TouchingPoint, Turning};
use super::touching_sweeps::PushedBodies;
use crate::model::FleshModel;
use crate::node_vectors::velocity_at;

/// How far friction limits go at most beyond what was found, in changes of it.
const FURTHEST: f64 = 4.0;

/// All contacts that no flesh takes part in.
#[derive(Default)]
pub(crate) struct TouchingBodies {
    /// Bodies that are touched, island by island, and their ports.
    bodies: Vec<usize>,
    ports: Vec<u32>,
    diagonal: Vec<Sym6>,
    points: Vec<TouchingPoint>,
    /// Changes of the impulses to start from, since the sums per body have changed.
    shifts: Vec<Force>,
    /// Whether the tree is factored with the slopes of contacts, because it cannot be factored again.
    pub(crate) is_loading: bool,
    /// Whether the contacts are solved for the first time: before the first impulses, and until the next ones.
    are_new: bool,
    are_unsettled: bool,
    /// Per body of the model: place among `bodies`, or `GIVEN`.
    places: Vec<u32>,
    islands: TouchingIslands,
    pairs: TouchingPairs,
    /// Bodies, contacts and pairs of the islands that are chosen.
    chosen: (Range<usize>, Range<usize>, Range<usize>),
    /// Per body: the twist from which new contacts begin.
    begin: Vec<Motion>,
    /// Per body that is chosen: what an impulse changes of its twist.
    responses: Vec<Sym6>,
    /// Per body that is chosen: friction that is wrong, and load (N·s).
    sums: Vec<[f64; 2]>,
}

impl TouchingBodies {
    /// Removes all contacts.
    pub(crate) fn clear(&mut self) {
        for &body in &self.bodies {
            self.places[body] = GIVEN;
        }
        self.bodies.clear();
        self.ports.clear();
        self.points.clear();
        self.are_new = true;
    }

    /// Sorts bodies and contacts by islands, once all are there.
    pub(crate) fn arrange(&mut self, model: &FleshModel) {
        let Self { bodies, ports, points, places, islands, .. } = self;
        islands.find(bodies.iter().map(|&body| model.jointed[body]), points);
        islands.sort(bodies, points);
        ports.clear();
        for (place, &body) in bodies.iter().enumerate() {
            places[body] = place as u32;
            ports.push(model.ports[model.slots[body] as usize]);
        }
        self.pairs.find(&self.points);
        let all = self.pairs.of(&(0..self.points.len()));
        self.pairs.assemble(all, &self.points);
        self.renew_diagonal();
    }

    /// Sums the slopes of the contacts of each body that is not loose, if the tree is factored with them.
    fn renew_diagonal(&mut self) {
        let (bodies, points) = self.islands.not_loose();
        self.diagonal.clear();
        self.diagonal.resize(self.bodies.len(), Sym6::ZERO);
        if self.is_loading {
            self.pairs.sum(self.pairs.of(&points), bodies.start, &mut self.diagonal[bodies]);
        }
    }

    /// Adds a contact with its law; `expected` is the relative velocity (m/s) at which its slope is guessed, that of a solution if it `is_known`.
    pub(crate) fn add(
        &mut self,
        model: &FleshModel,
        sides: &[SolvedSide; 2],
        law: ContactPotential,
        turning: Turning,
        (expected, is_known): (DVec3, bool),
    ) {
        self.places.resize(model.slots.len(), GIVEN);
        let impulse = law.impulse(expected);
        let mut point = TouchingPoint {
            law,
            slope: law.linearize(expected, impulse).slope,
            friction: law.friction_of(impulse),
            turning,
            is_known,
            ..TouchingPoint::default()
        };
        for (i, side) in sides.iter().enumerate() {
            match *side {
                SolvedSide::Given(velocity) => point.given += if i == 0 { velocity } else { -velocity },
                SolvedSide::Body { body, arm } => {
                    point.sides.places[i] = self.place(body);
                    point.sides.arms[i] = arm;
                }
                SolvedSide::Flesh { .. } => return,
            }
        }
        self.points.push(point);
    }

    fn place(&mut self, body: usize) -> u32 {
        if self.places[body] == GIVEN {
            self.places[body] = self.bodies.len() as u32;
            self.bodies.push(body);
        }
        self.places[body]
    }

    /// Takes the slopes of the last solution for the sums per body, and changes the impulses that go with its twists accordingly.
    pub(crate) fn refresh(&mut self, motions: &[Motion]) {
        self.shifts.clear();
        let moving = self.bodies.iter().zip(&self.diagonal);
        self.shifts.extend(moving.map(|(&body, diagonal)| diagonal.mul(motions[body]) * -1.0));
        self.renew_diagonal();
        for ((shift, &body), diagonal) in self.shifts.iter_mut().zip(&self.bodies).zip(&self.diagonal) {
            *shift += diagonal.mul(motions[body]);
        }
    }

    /// The laws of all contacts, in the order in which they were added.
    pub(crate) fn laws(&self) -> impl Iterator<Item = &ContactPotential> {
        self.islands.in_order(&self.points).map(|point| &point.law)
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
        self.are_unsettled = std::mem::take(&mut self.are_new);
        if !self.are_unsettled {
            impulses.iter_mut().zip(self.shifts.drain(..)).for_each(|(impulse, shift)| *impulse += shift);
            return;
        }
        self.shifts.clear();
        impulses.clear();
        let moving = self.bodies.iter().zip(&self.diagonal);
        impulses.extend(moving.map(|(&body, diagonal)| diagonal.mul(motions[body])));
        let Self { bodies, points, begin, .. } = self;
        begin.clear();
        begin.extend(bodies.iter().map(|&body| motions[body]));
        for point in points {
            let impulse = point.law.impulse(relative(bodies, point, motions));
            point.sides.push(impulse, 0, impulses);
        }
    }
}

impl TouchingBodies {
    /// Linearizes each chosen contact.
    #[inline]
    fn linearize_by(
        &mut self,
        motions: &[Motion],
        impulses: &mut [Force],
        at: impl Fn(&mut TouchingPoint) -> ContactSlope,
    ) {
        let (Range { start, .. }, points, pairs) = self.chosen.clone();
        impulses.fill(Force::ZERO);
        for point in &mut self.points[points] {
            point.velocity = point.given + point.sides.relative(start, motions);
            let ContactSlope { impulse, slope } = at(point);
            (point.impulse, point.slope) = (impulse, slope);
            point.sides.push(impulse, start, impulses);
        }
        self.pairs.assemble(pairs.clone(), &self.points);
        self.pairs.turn(pairs, start, motions, impulses);
    }
}

/// Relative velocity of a contact with some twists of all bodies.
fn relative(bodies: &[usize], point: &TouchingPoint, motions: &[Motion]) -> DVec3 {
    let side = |i: usize| match bodies.get(point.sides.places[i] as usize) {
        Some(&body) => velocity_at(motions[body], point.sides.arms[i]),
        None => DVec3::ZERO,
    };
    point.given + side(0) - side(1)
}

/// Sets friction limits `L` anew, where `g(L)` are those of the loads found with them. What `g(L) − L` changes of the friction is `r`; limits that
/// were set twice mix with those before them as the smallest `|r − θ (r − r₋)|` asks for (Anderson): else two sets of limits may take turns.
fn follow_limits(points: &mut [TouchingPoint]) {
    let (mut top, mut bottom) = (0.0, 0.0);
    for point in &*points {
        if let Some([_, before]) = point.before {
            let change = point.friction_change();
            top += change * (change - before);
            bottom += (change - before) * (change - before);
        }
    }
    let theta = if bottom > 0.0 { (top / bottom).clamp(-FURTHEST, 1.0) } else { 0.0 };
    for point in points {
        let (found, change) = (point.law.limit_at(point.velocity), point.friction_change());
        let before = point.before.replace([found, change]);
        point.law.limit = before.map_or(found, |[before, _]| (found - theta * (found - before)).max(0.0));
    }
}

impl ConvexForces for TouchingBodies {
    fn islands(&self) -> &[u32] {
        self.islands.ends()
    }

    fn select(&mut self, islands: Range<usize>) {
        let (bodies, points) = self.islands.ranges(islands);
        let pairs = self.pairs.of(&points);
        self.chosen = (bodies, points, pairs);
    }

    fn diagonal(&self) -> &[Sym6] {
        &self.diagonal[self.chosen.0.clone()]
    }

    fn are_loose(&self) -> bool {
        self.chosen.0.end <= self.islands.not_loose().0.start
    }

    fn are_floating(&self) -> bool {
        self.points[self.chosen.1.clone()].iter().all(|point| !point.sides.places.contains(&GIVEN))
    }

    fn begin(&mut self, motions: &mut [Motion]) -> bool {
        if self.are_unsettled {
            let (bodies, points, _) = self.chosen.clone();
            motions.copy_from_slice(&self.begin[bodies.clone()]);
            for point in self.points[points].iter_mut().filter(|point| point.is_known) {
                let velocity = point.given + point.sides.relative(bodies.start, motions);
                point.law.limit = point.law.limit_at(velocity);
            }
        }
        self.are_unsettled
    }

    fn settle(&mut self, bodies: &mut dyn BareTree, free: &[Motion], impulses: &mut [Force]) {
        let (Range { start, .. }, points, _) = self.chosen.clone();
        impulses.fill(Force::ZERO);
        let responses = &mut self.responses;
        responses.clear();
        responses.extend((0..free.len()).map(|body| bodies.response(body)));
        PushedBodies { bodies, free, responses, impulses, first: start }.settle(&mut self.points[points]);
    }

    fn sum_slopes(&self, sums: &mut [Sym6]) {
        self.pairs.sum(self.chosen.2.clone(), self.chosen.0.start, sums);
    }

    fn linearize(&mut self, motions: &[Motion], impulses: &mut [Force]) {
        self.linearize_by(motions, impulses, |point| point.law.linearize(point.velocity, point.friction));
    }

    fn linearize_expected(&mut self, motions: &[Motion], impulses: &mut [Force]) {
        self.linearize_by(motions, impulses, |point| {
            point.law.linearize_about(point.velocity, point.friction, point.inverse_masses[0])
        });
    }

    fn energy(&self) -> f64 {
        let each = self.points[self.chosen.1.clone()].iter().map(|point| point.law.energy(point.velocity));
        each.sum::<f64>() + self.pairs.turning_energy(self.chosen.2.clone())
    }

    fn apply(&mut self, change: &[Motion], impulses: &mut [Force]) {
        let (Range { start, .. }, _, pairs) = self.chosen.clone();
        self.pairs.apply(pairs, start, change, impulses);
    }

    fn search_along(&mut self, change: &[Motion]) {
        let (Range { start, .. }, points, pairs) = self.chosen.clone();
        for point in &mut self.points[points] {
            point.change = point.sides.relative(start, change);
        }
        self.pairs.search_along(pairs, start, change);
    }

    fn advance(&mut self, share: f64) {
        for point in &mut self.points[self.chosen.1.clone()] {
            point.friction = point.impulse - point.slope.mul_vec(point.change * share);
        }
    }

    fn power(&mut self, share: f64) -> f64 {
        let each = self.points[self.chosen.1.clone()].iter();
        let each =
            each.map(|point| point.law.impulse(point.velocity + point.change * share).dot(point.change));
        each.sum::<f64>() + self.pairs.turning_power(self.chosen.2.clone(), share)
    }

    fn follow(&mut self, least: f64) -> f64 {
        let Self { points, sums, chosen: (bodies, range, _), .. } = self;
        let points = &mut points[range.clone()];
        sums.clear();
        sums.resize(bodies.len(), [0.0; 2]);
        for point in &*points {
            let wrong = point.friction_change().abs();
            for side in [0, 1] {
                if let Some(sum) = sums.get_mut(point.sides.place(side, bodies.start)) {
                    *sum = [sum[0] + wrong, sum[1] + point.law.load(point.velocity)];
                }
            }
        }
        let share =
            |&[wrong, all]: &[f64; 2]| if wrong > 0.0 { wrong / all.max(f64::MIN_POSITIVE) } else { 0.0 };
        let change = sums.iter().map(share).fold(0.0, f64::max);
        if change > least {
            follow_limits(points);
        }
        change
    }
}
