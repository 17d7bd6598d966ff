//! Pairs of overlapping boxes, by sorting and sweeping along the axis on which the boxes are spread the most.
//!
//! The sort starts from the order of the last query, which is fast when little has moved. Ties are broken by index, so
//! the result does not depend on that order. Planes overlap everything. Cost: O(n log n) and the overlaps along the axis.

use crate::placed::{PlacedCollider, Presence};
use glam::DVec3;

/// Buffers of the sweep.
#[derive(Default)]
pub(crate) struct Sweep {
    order: Vec<u32>,
    pairs: Vec<[u32; 2]>,
}

impl Sweep {
    /// Pairs `i < j` of overlapping colliders for which `wanted` is true, in ascending order.
    pub(crate) fn pairs(
        &mut self,
        placed: &[PlacedCollider],
        wanted: impl Fn(usize, usize) -> bool,
    ) -> &[[u32; 2]] {
        if self.order.len() != placed.len() {
            self.order.clear();
            self.order.extend(0..placed.len() as u32);
        }
        let axis = widest_axis(placed);
        self.order.sort_unstable_by(|&i, &j| {
            start(&placed[i as usize], axis).total_cmp(&start(&placed[j as usize], axis)).then(i.cmp(&j))
        });
        self.pairs.clear();
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
        self.pairs.sort_unstable();
        &self.pairs
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

/// Where a collider begins along an axis. Planes come first, colliders without a pose last.
fn start(placed: &PlacedCollider, axis: usize) -> f64 {
    match placed.state {
        Presence::Everywhere => f64::NEG_INFINITY,
        Presence::Within { low, .. } => low[axis],
        Presence::Lost => f64::INFINITY,
    }
}

fn overlap(first: &PlacedCollider, second: &PlacedCollider, axis: usize) -> Overlap {
    match (first.state, second.state) {
        (Presence::Lost, _) | (_, Presence::Lost) => Overlap::NoneFollow,
        (Presence::Everywhere, _) | (_, Presence::Everywhere) => Overlap::Yes,
        (Presence::Within { low, high }, Presence::Within { low: low2, high: high2 }) => {
            if low2[axis] > high[axis] {
                Overlap::NoneFollow
            } else if low.cmple(high2).all() && low2.cmple(high).all() {
                Overlap::Yes
            } else {
                Overlap::Apart
            }
        }
    }
}
