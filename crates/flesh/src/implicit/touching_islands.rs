//! Islands of bodies that touch each other: what is solved together.
//!
//! Two bodies are in one island if a contact or joints connect them; what is fixed connects nothing. Loose islands, in which nothing is jointed, come first;
//! then islands come in the order of the first contact of each, bodies and contacts in an island in the order in which they were added, so the bits do
//! not depend on what happens elsewhere.
//! Cost: about linear in bodies and contacts. Nothing allocates once warm.

use std::ops::Range;

use sinew_topology::DisjointSets;

use super::touching_point::{GIVEN, TouchingPoint};
use crate::model::NO_SLOT;

/// The islands of some contacts.
#[derive(Default)]
pub(super) struct TouchingIslands {
    /// End of each island among the bodies, and among the contacts.
    ends: Vec<u32>,
    point_ends: Vec<u32>,
    /// Number of loose islands.
    n_loose: usize,
    sets: DisjointSets,
    /// Per body: the first one of its island; then its island.
    of_body: Vec<u32>,
    /// Per island, before they are sorted: whether it is loose; then its place.
    order: Vec<u32>,
    /// Per body and per contact: its place.
    body_places: Vec<u32>,
    point_places: Vec<u32>,
    /// Per island of joints: its first body here, or `GIVEN`.
    first_jointed: Vec<u32>,
    sorted_bodies: Vec<usize>,
    sorted_points: Vec<TouchingPoint>,
}

impl TouchingIslands {
    /// Finds the islands of bodies, of which `jointed` tells the islands of joints, and of contacts.
    pub(super) fn find(&mut self, jointed: impl Iterator<Item = u32> + Clone, points: &[TouchingPoint]) {
        self.connect(jointed.clone(), points);
        self.number(jointed);
        let Self { ends, point_ends, of_body, body_places, point_places, .. } = self;
        ends.iter_mut().for_each(|n| *n = 0);
        of_body.iter().for_each(|&island| ends[island as usize] += 1);
        place(ends, of_body.iter().copied(), body_places);
        // Contacts of two fixed things are of no island: they come last.
        let n_islands = ends.len();
        let of_point = points.iter().map(|point| {
            let moved = point.sides.places.into_iter().find(|&place| place != GIVEN);
            moved.map_or(n_islands as u32, |place| of_body[place as usize])
        });
        point_ends.clear();
        point_ends.resize(n_islands + 1, 0);
        of_point.clone().for_each(|island| point_ends[island as usize] += 1);
        place(point_ends, of_point, point_places);
    }

    /// Turns the first body of its island into the island, for every body; loose islands first.
    fn number(&mut self, jointed: impl Iterator<Item = u32>) {
        let Self { ends, of_body, order, n_loose, .. } = self;
        ends.clear();
        order.clear();
        for (body, jointed) in jointed.enumerate() {
            let first = of_body[body] as usize;
            of_body[body] = if first == body { order.len() as u32 } else { of_body[first] };
            if first == body {
                order.push(0);
                ends.push(0);
            }
            order[of_body[body] as usize] |= u32::from(jointed != NO_SLOT);
        }
        *n_loose = order.iter().filter(|&&is_jointed| is_jointed == 0).count();
        let mut next = [0, *n_loose as u32];
        for island in order.iter_mut() {
            let next = &mut next[*island as usize];
            *island = *next;
            *next += 1;
        }
        of_body.iter_mut().for_each(|island| *island = order[*island as usize]);
    }

    /// Leaves for every body the first one of its island.
    fn connect(&mut self, jointed: impl Iterator<Item = u32> + Clone, points: &[TouchingPoint]) {
        let Self { of_body, sets, first_jointed, .. } = self;
        sets.reset(jointed.clone().count());
        for (body, island) in (0u32..).zip(jointed.clone()).filter(|&(_, island)| island != NO_SLOT) {
            let island = island as usize;
            first_jointed.resize(first_jointed.len().max(island + 1), GIVEN);
            match first_jointed[island] {
                GIVEN => first_jointed[island] = body,
                first => _ = sets.join(first, body),
            }
        }
        jointed
            .clone()
            .filter(|&island| island != NO_SLOT)
            .for_each(|island| first_jointed[island as usize] = GIVEN);
        for [a, b] in points.iter().map(|point| point.sides.places) {
            if a != GIVEN && b != GIVEN {
                sets.join(a, b);
            }
        }
        of_body.clear();
        of_body.extend((0u32..).zip(jointed).map(|(body, _)| sets.first(body)));
    }

    /// Puts bodies and contacts into the order of the islands, and the sides of contacts to where the bodies have gone.
    pub(super) fn sort(&mut self, bodies: &mut [usize], points: &mut [TouchingPoint]) {
        let Self { body_places, point_places, sorted_bodies, sorted_points, .. } = self;
        sorted_bodies.clear();
        sorted_bodies.extend_from_slice(bodies);
        for (&body, &place) in sorted_bodies.iter().zip(&*body_places) {
            bodies[place as usize] = body;
        }
        sorted_points.clear();
        sorted_points.extend_from_slice(points);
        for (point, &place) in sorted_points.iter_mut().zip(&*point_places) {
            point.sides.places =
                point.sides.places.map(|side| body_places.get(side as usize).copied().unwrap_or(GIVEN));
            points[place as usize] = *point;
        }
    }

    /// The contacts in the order in which they were added.
    pub(super) fn in_order<'a>(
        &'a self,
        points: &'a [TouchingPoint],
    ) -> impl Iterator<Item = &'a TouchingPoint> {
        self.point_places.iter().map(|&place| &points[place as usize])
    }

    /// End of each island among the bodies.
    pub(super) fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// Bodies and contacts of all islands that are not loose.
    pub(super) fn not_loose(&self) -> (Range<usize>, Range<usize>) {
        self.ranges(self.n_loose..self.ends.len())
    }

    /// Bodies and contacts of some islands.
    pub(super) fn ranges(&self, islands: Range<usize>) -> (Range<usize>, Range<usize>) {
        let range = |ends: &[u32]| {
            let before = |island: usize| island.checked_sub(1).map_or(0, |before| ends[before] as usize);
            before(islands.start)..before(islands.end)
        };
        (range(&self.ends), range(&self.point_ends))
    }
}

/// Places of things that belong to islands, in their order; turns the numbers per island into ends.
fn place(numbers: &mut [u32], of: impl Iterator<Item = u32>, places: &mut Vec<u32>) {
    let mut start = 0;
    for number in &mut *numbers {
        start += std::mem::replace(number, start);
    }
    places.clear();
    places.extend(of.map(|island| {
        numbers[island as usize] += 1;
        numbers[island as usize] - 1
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_testkit::Rng;

    /// Islands by spreading numbers until nothing changes.
    fn spread(jointed: &[u32], points: &[TouchingPoint]) -> Vec<usize> {
        let mut of: Vec<usize> = (0..jointed.len()).collect();
        loop {
            let before = of.clone();
            let mut join = |a: usize, b: usize| {
                let least = of[a].min(of[b]);
                (of[a], of[b]) = (least, least);
            };
            for (a, &island) in jointed.iter().enumerate().filter(|(_, island)| **island != NO_SLOT) {
                (0..a).filter(|&b| jointed[b] == island).for_each(|b| join(a, b));
            }
            for [a, b] in points.iter().map(|point| point.sides.places) {
                if a != GIVEN && b != GIVEN {
                    join(a as usize, b as usize);
                }
            }
            if of == before {
                return of;
            }
        }
    }

    #[test]
    fn islands_hold_what_touches_or_is_jointed() {
        let mut rng = Rng::new(7);
        let mut islands = TouchingIslands::default();
        for _ in 0..200 {
            let n = 1 + rng.below(12);
            let jointed: Vec<u32> =
                (0..n).map(|_| if rng.chance(0.5) { NO_SLOT } else { rng.below(4) as u32 }).collect();
            let side = |rng: &mut Rng| if rng.chance(0.4) { GIVEN } else { rng.below(n) as u32 };
            let mut points = vec![TouchingPoint::default(); rng.below(12)];
            points.iter_mut().for_each(|point| point.sides.places = [side(&mut rng), side(&mut rng)]);
            let wanted = spread(&jointed, &points);
            islands.find(jointed.iter().copied(), &points);
            let (mut bodies, mut sorted): (Vec<usize>, _) = ((0..n).collect(), points.clone());
            islands.sort(&mut bodies, &mut sorted);
            let mut n_points = 0;
            for island in 0..islands.ends().len() {
                let (range, point_range) = islands.ranges(island..island + 1);
                let of = wanted[bodies[range.start]];
                let is_loose = bodies[range.clone()].iter().all(|&body| jointed[body] == NO_SLOT);
                assert_eq!(range.end <= islands.not_loose().0.start, is_loose);
                assert!(bodies[range.clone()].iter().all(|&body| wanted[body] == of));
                assert_eq!(range.len(), wanted.iter().filter(|&&other| other == of).count());
                let is_inside = |&place: &u32| place == GIVEN || range.contains(&(place as usize));
                assert!(
                    sorted[point_range.clone()].iter().all(|point| point.sides.places.iter().all(is_inside))
                );
                n_points += point_range.len();
            }
            let n_fixed = points.iter().filter(|point| point.sides.places == [GIVEN; 2]).count();
            assert_eq!(n_points + n_fixed, points.len());
            // In the order in which they were added they touch the bodies that they did.
            for (before, now) in points.iter().zip(islands.in_order(&sorted)) {
                let body = |place: u32| bodies.get(place as usize).map(|&body| body as u32).unwrap_or(GIVEN);
                assert_eq!(before.sides.places, now.sides.places.map(body));
            }
        }
    }
}
