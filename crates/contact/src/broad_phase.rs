//! Pairs of overlapping boxes, by sorting and sweeping along the axis on which the boxes are spread the most.
//!
//! The sort starts from the order of the last query, which is fast when little has moved. Ties are broken by index, so
//! the result does not depend on that order. Planes overlap everything. Cost: O(n log n) and the overlaps along the axis;
//! linear where solids meet nothing but planes, as those of a robot that touches the ground alone.

use crate::collider::{Collider, Groups};
use crate::placed::{PlacedCollider, Presence};
use glam::DVec3;

/// Buffers of the sweep.
#[derive(Default)]
pub(crate) struct Sweep {
    /// Colliders that are sorted.
    order: Vec<u32>,
    pairs: Vec<[u32; 2]>,
}

/// More kinds of groups than this are not told apart.
const MOST_GROUPS: usize = 64;

/// Which colliders have groups in which they meet another solid one, and so have to be sorted: the rest meets planes at most.
pub(crate) fn sorted_ones(colliders: &[Collider]) -> Vec<bool> {
    let is_solid = |collider: &Collider| collider.shape().extent().is_some();
    let mut kinds: Vec<(Groups, bool)> = Vec::new();
    for collider in colliders.iter().filter(|collider| is_solid(collider)) {
        match kinds.iter().position(|(groups, _)| *groups == collider.groups()) {
            Some(known) => kinds[known].1 = true,
            None if kinds.len() < MOST_GROUPS => kinds.push((collider.groups(), false)),
            None => return colliders.iter().map(is_solid).collect(),
        }
    }
    let meets = |own: Groups| {
        kinds.iter().any(|&(groups, is_shared)| own.meet(groups) && (groups != own || is_shared))
    };
    colliders.iter().map(|collider| is_solid(collider) && meets(collider.groups())).collect()
}

/// Whether something meets a plane, by its groups.
pub(crate) fn meets_plane(colliders: &[Collider]) -> bool {
    let is_plane = |collider: &&Collider| collider.shape().extent().is_none();
    let meets = |plane: &Collider| {
        let others = colliders.iter().filter(|other| other.owner() != plane.owner());
        others.map(Collider::groups).any(|groups| groups.meet(plane.groups()))
    };
    colliders.iter().filter(is_plane).any(meets)
}

impl Sweep {
    /// Pairs `i < j` of overlapping colliders for which `wanted` is true, in ascending order. Of solid colliders that are not among the sorted ones,
    /// no two may be wanted.
    pub(crate) fn pairs(
        &mut self,
        placed: &[PlacedCollider],
        is_sorted: &[bool],
        wanted: impl Fn(usize, usize) -> bool,
    ) -> &[[u32; 2]] {
        self.pairs.clear();
        self.add_of_planes(placed, &wanted);
        self.add_of_solids(placed, is_sorted, &wanted);
        self.pairs.sort_unstable();
        &self.pairs
    }

    fn add_of_planes(&mut self, placed: &[PlacedCollider], wanted: &impl Fn(usize, usize) -> bool) {
        let is_plane = |i: usize| matches!(placed[i].state, Presence::Everywhere);
        for plane in (0..placed.len()).filter(|&i| is_plane(i)) {
            for (other, at) in placed.iter().enumerate() {
                let is_new = other > plane || !is_plane(other);
                let is_there = !matches!(at.state, Presence::Lost);
                if other != plane && is_new && is_there && wanted(plane, other) {
                    self.pairs.push([plane.min(other) as u32, plane.max(other) as u32]);
                }
            }
        }
    }

    fn add_of_solids(
        &mut self,
        placed: &[PlacedCollider],
        is_sorted: &[bool],
        wanted: &impl Fn(usize, usize) -> bool,
    ) {
        let sorted = (0..placed.len()).filter(|&i| is_sorted[i]);
        let fits = self.order.iter().all(|&i| is_sorted.get(i as usize).is_some_and(|is| *is));
        if !fits || self.order.len() != sorted.clone().count() {
            self.order.clear();
            self.order.extend(sorted.map(|i| i as u32));
        }
        if self.order.len() < 2 {
            return;
        }
        let axis = widest_axis(placed);
        self.order.sort_unstable_by(|&i, &j| {
            start(&placed[i as usize], axis).total_cmp(&start(&placed[j as usize], axis)).then(i.cmp(&j))
        });
        for (at, &i) in self.order.iter().enumerate() {
            let first = &placed[i as usize];
            for &j in &self.order[at + 1..] {
                let second = &placed[j as usize];
                match overlap(first, second, axis) {
                    Overlap::NoneFollow => break,
                    Overlap::Apart => {}
                    Overlap::Yes if wanted(i as usize, j as usize) => self.pairs.push([i.min(j), i.max(j)]),
                    Overlap::Yes => {}
                }
            }
        }
    }
}

enum Overlap {
    Yes,
    Apart,
    /// Apart along the axis, as are all that follow.
    NoneFollow,
}

/// The axis along which the middles of the boxes have the largest variance, the first of several: 0, 1, 2 for x, y, z.
fn widest_axis(placed: &[PlacedCollider]) -> usize {
    let (mut n, mut sum, mut squares) = (0.0, DVec3::ZERO, DVec3::ZERO);
    for placed in placed {
        if let Presence::Within { low, high } = placed.state {
            let middle = 0.5 * (low + high);
            n += 1.0;
            sum += middle;
            squares += middle * middle;
        }
    }
    let spread = squares * n - sum * sum;
    (1..3).fold(0, |widest, axis| if spread[axis] > spread[widest] { axis } else { widest })
}

/// Where a collider begins along an axis. Those without a pose come last.
fn start(placed: &PlacedCollider, axis: usize) -> f64 {
    match placed.state {
        Presence::Within { low, .. } => low[axis],
        Presence::Everywhere | Presence::Lost => f64::INFINITY,
    }
}

fn overlap(first: &PlacedCollider, second: &PlacedCollider, axis: usize) -> Overlap {
    match (first.state, second.state) {
        (Presence::Within { low, high }, Presence::Within { low: low2, high: high2 }) => {
            if low2[axis] > high[axis] {
                Overlap::NoneFollow
            } else if low.cmple(high2).all() && low2.cmple(high).all() {
                Overlap::Yes
            } else {
                Overlap::Apart
            }
        }
        _ => Overlap::NoneFollow,
    }
}
