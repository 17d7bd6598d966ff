//! All contacts of two bodies, or of a body and the world, as one: a 6×6 slope about a point of theirs.
//!
//! ```text
//! K = Σ Xᵀ S X   over the contacts of a pair, X shifts a relative twist from the point of the pair to that of the contact
//! ```
//! Products with the slopes of all contacts take a block per pair instead of one per contact: a box on a box has four or more. World axes, SI.
//! Cost: about 30 ns per contact for the blocks, and per pair for a product. Nothing allocates once warm.

use std::ops::Range;

use glam::DVec3;
use sinew_contact::TurningLaw;
use sinew_math::{Force, Motion, Sym3, Sym6};

use super::touching_point::{TouchedSides, TouchingPoint};
use crate::node_vectors::velocity_at;

/// One pair.
#[derive(Clone, Copy, Debug)]
struct TouchingPair {
    /// End among the contacts; they come after those of the pair before.
    end: u32,
    /// Bodies of its contacts, and where they are touched by the first one, at whose point the block is.
    sides: TouchedSides,
    block: Sym6,
    /// How it resists spin, the spin where it was linearized, and its change along a search (rad/s).
    turning: TurningLaw,
    given_spin: DVec3,
    spin: DVec3,
    spin_change: DVec3,
}

/// The pairs of all contacts, in their order.
#[derive(Debug, Default)]
pub(super) struct TouchingPairs {
    pairs: Vec<TouchingPair>,
}

impl TouchingPairs {
    /// Finds the pairs: contacts of a pair follow each other. Those that are met after different parts of the step make several.
    pub(super) fn find(&mut self, points: &[TouchingPoint]) {
        self.pairs.clear();
        let mut end = 0;
        for of_pair in points.chunk_by(|a, b| a.sides.are_with(&b.sides)) {
            end += of_pair.len() as u32;
            let zero = DVec3::ZERO;
            self.pairs.push(TouchingPair {
                end,
                sides: of_pair[0].sides,
                block: Sym6::ZERO,
                turning: turning(of_pair),
                given_spin: of_pair[0].turning.given,
                spin: zero,
                spin_change: zero,
            });
        }
    }

    /// The pairs of some contacts, which begin and end with a pair.
    pub(super) fn of(&self, points: &Range<usize>) -> Range<usize> {
        let before = |point: usize| self.pairs.partition_point(|pair| (pair.end as usize) <= point);
        before(points.start)..before(points.end)
    }

    /// Sums the slopes of the contacts of some pairs.
    pub(super) fn assemble(&mut self, pairs: Range<usize>, points: &[TouchingPoint]) {
        let mut start = pairs.start.checked_sub(1).map_or(0, |before| self.pairs[before].end as usize);
        for pair in &mut self.pairs[pairs] {
            pair.block = Sym6::ZERO;
            let side = usize::from(pair.sides.is_given(0));
            for point in &points[start..pair.end as usize] {
                if point.slope != Sym3::ZERO {
                    let slope = Sym6 { linear: point.slope, ..Sym6::ZERO };
                    pair.block.add(&slope.shifted(point.sides.arms[side] - pair.sides.arms[side]));
                }
            }
            start = pair.end as usize;
        }
    }

    /// Linearizes what resists the spin of some pairs, and adds its impulses.
    pub(super) fn turn(
        &mut self,
        pairs: Range<usize>,
        first: usize,
        motions: &[Motion],
        impulses: &mut [Force],
    ) {
        for pair in self.pairs[pairs].iter_mut().filter(|pair| !pair.turning.is_free()) {
            pair.spin = pair.given_spin + pair.relative_spin(first, motions);
            let (moment, slope) = pair.turning.at(pair.spin);
            pair.block.angular += slope;
            for (side, moment) in [moment, -moment].into_iter().enumerate() {
                if let Some(sum) = impulses.get_mut(pair.sides.place(side, first)) {
                    sum.angular += moment;
                }
            }
        }
    }

    /// Energy of what resists the spin of some pairs (J·s/s).
    pub(super) fn turning_energy(&self, pairs: Range<usize>) -> f64 {
        self.turning_pairs(pairs).map(|pair| pair.turning.energy(pair.spin)).sum()
    }

    /// Spins along a search.
    pub(super) fn search_along(&mut self, pairs: Range<usize>, first: usize, change: &[Motion]) {
        for pair in self.pairs[pairs].iter_mut().filter(|pair| !pair.turning.is_free()) {
            pair.spin_change = pair.relative_spin(first, change);
        }
    }

    /// Power of what resists the spin of some pairs along a search, a share of it further.
    pub(super) fn turning_power(&self, pairs: Range<usize>, share: f64) -> f64 {
        let power = |pair: &TouchingPair| {
            pair.turning.at(pair.spin + pair.spin_change * share).0.dot(pair.spin_change)
        };
        self.turning_pairs(pairs).map(power).sum()
    }

    fn turning_pairs(&self, pairs: Range<usize>) -> impl Iterator<Item = &TouchingPair> {
        self.pairs[pairs].iter().filter(|pair| !pair.turning.is_free())
    }

    /// Sums the slopes of some pairs per body, from a first one on.
    pub(super) fn sum(&self, pairs: Range<usize>, first: usize, sums: &mut [Sym6]) {
        sums.fill(Sym6::ZERO);
        for TouchingPair { sides, block, .. } in &self.pairs[pairs] {
            for (side, &arm) in sides.arms.iter().enumerate() {
                if let Some(sum) = sums.get_mut(sides.place(side, first)) {
                    sum.add(&block.shifted(arm));
                }
            }
        }
    }

    /// Impulses by which the slopes of some pairs resist a change of the twists of bodies from a first one on.
    pub(super) fn apply(&self, pairs: Range<usize>, first: usize, change: &[Motion], impulses: &mut [Force]) {
        impulses.fill(Force::ZERO);
        for TouchingPair { sides, block, .. } in &self.pairs[pairs] {
            if block.linear == Sym3::ZERO && block.angular == Sym3::ZERO {
                continue;
            }
            let mut relative = Motion::ZERO;
            for (side, sign) in [(0, 1.0), (1, -1.0)] {
                if let Some(motion) = change.get(sides.place(side, first)) {
                    let linear = velocity_at(*motion, sides.arms[side]);
                    relative += Motion::new(motion.angular, linear) * sign;
                }
            }
            let force = block.mul(relative);
            for (side, force) in [force, force * -1.0].into_iter().enumerate() {
                if let Some(sum) = impulses.get_mut(sides.place(side, first)) {
                    let turning = force.angular + sides.arms[side].cross(force.linear);
                    *sum += Force::new(turning, force.linear);
                }
            }
        }
    }
}

impl TouchingPair {
    /// Spin of the first body minus that of the other, without those that are given.
    fn relative_spin(&self, first: usize, motions: &[Motion]) -> DVec3 {
        let spin = |side: usize| {
            motions.get(self.sides.place(side, first)).map_or(DVec3::ZERO, |motion| motion.angular)
        };
        spin(0) - spin(1)
    }
}

/// How the contacts of a pair resist spin together: about the mean of their normals, by their limits.
fn turning(points: &[TouchingPoint]) -> TurningLaw {
    let (mut normal, mut sums) = (DVec3::ZERO, [0.0; 2]);
    for point in points {
        let [rolling, torsion] = point.turning.limits;
        normal += point.law.normal * (rolling + torsion);
        sums = [sums[0] + rolling, sums[1] + torsion];
    }
    let [rolling, torsion] = sums;
    normal.try_normalize().map_or_else(TurningLaw::default, |normal| TurningLaw { normal, rolling, torsion })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_testkit::Rng;

    use crate::implicit::touching_point::GIVEN;

    #[test]
    fn a_pair_resists_as_its_contacts_do() {
        let mut rng = Rng::new(5);
        let centres: Vec<DVec3> = (0..4).map(|_| rng.vec3(-1.0, 1.0)).collect();
        let mut points = Vec::new();
        for places in [[0, 1], [1, 2], [3, GIVEN], [GIVEN, 2]] {
            for _ in 0..1 + rng.below(4) {
                let at = rng.vec3(-1.0, 1.0);
                let arm = |place: u32| centres.get(place as usize).map_or(DVec3::ZERO, |centre| at - *centre);
                let slope =
                    Sym3::ZERO.add_outer(2.0, rng.vec3(-1.0, 1.0)).add_outer(1.0, rng.vec3(-1.0, 1.0));
                points.push(TouchingPoint {
                    sides: TouchedSides { places, arms: places.map(arm) },
                    slope,
                    ..TouchingPoint::default()
                });
            }
        }
        let mut pairs = TouchingPairs::default();
        pairs.find(&points);
        let all = pairs.of(&(0..points.len()));
        assert_eq!(all, 0..4);
        pairs.assemble(all.clone(), &points);
        let change: Vec<Motion> =
            (0..4).map(|_| Motion::new(rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0))).collect();
        let (mut wanted, mut found) = (vec![Force::ZERO; 4], vec![Force::ZERO; 4]);
        for point in &points {
            point.sides.push(point.slope.mul_vec(point.sides.relative(0, &change)), 0, &mut wanted);
        }
        pairs.apply(all.clone(), 0, &change, &mut found);
        let is_near = |a: Force, b: Force| (a - b).to_array().iter().all(|x| x.abs() < 1e-12);
        assert!(wanted.iter().zip(&found).all(|(a, b)| is_near(*a, *b)));
        // The part of each body alone.
        let mut sums = vec![Sym6::ZERO; 4];
        pairs.sum(all, 0, &mut sums);
        for (body, sum) in sums.iter().enumerate() {
            let mut alone = vec![Motion::ZERO; 4];
            alone[body] = change[body];
            wanted.fill(Force::ZERO);
            for point in &points {
                point.sides.push(point.slope.mul_vec(point.sides.relative(0, &alone)), 0, &mut wanted);
            }
            assert!(is_near(sum.mul(change[body]), wanted[body]));
        }
    }
}
