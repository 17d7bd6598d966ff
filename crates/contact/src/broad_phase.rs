//! Pairs of overlapping boxes, by sorting and sweeping along x.
//!
//! The sort starts from the order of the last query, which is fast when little has moved. Ties are broken by index, so
//! the result does not depend on that order. Planes overlap everything. Cost: O(n log n) and the overlaps along x.

use crate::placed::{PlacedCollider, Presence};

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
        self.order.sort_unstable_by(|&i, &j| {
            start(&placed[i as usize]).total_cmp(&start(&placed[j as usize])).then(i.cmp(&j))
        });
        self.pairs.clear();
        for (at, &i) in self.order.iter().enumerate() {
            let first = &placed[i as usize];
            for &j in &self.order[at + 1..] {
                let second = &placed[j as usize];
                match overlap(first, second) {
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
    /// Apart along x, as are all that follow.
    NoneFollow,
}

/// Where a collider begins along x. Planes come first, colliders without a pose last.
fn start(placed: &PlacedCollider) -> f64 {
    match placed.state {
        Presence::Everywhere => f64::NEG_INFINITY,
        Presence::Within { low, .. } => low.x,
        Presence::Lost => f64::INFINITY,
    }
}

fn overlap(first: &PlacedCollider, second: &PlacedCollider) -> Overlap {
    match (first.state, second.state) {
        (Presence::Lost, _) | (_, Presence::Lost) => Overlap::NoneFollow,
        (Presence::Everywhere, _) | (_, Presence::Everywhere) => Overlap::Yes,
        (Presence::Within { low, high }, Presence::Within { low: low2, high: high2 }) => {
            if low2.x > high.x {
                Overlap::NoneFollow
            } else if low.cmple(high2).all() && low2.cmple(high).all() {
                Overlap::Yes
            } else {
                Overlap::Apart
            }
        }
    }
}
