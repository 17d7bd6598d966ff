//! Reactions to impulses: of a factored tree, and of free bodies.
//!
//! **What.** The loop solver uses its surroundings by one operation: the twists `T f` of the ports under impulses `f`,
//! with `T` symmetric and positive semidefinite (the `acyclic_response` of Fau99 §3.3, as one tree solve with a
//! right-hand side on the bodies). For a tree of pairs that is one pass leaves → root and one root → leaves, with
//! `c = 0` and no impulse inside joints. Joint springs are part of `T`, because they are part of the factor.
//!
//! **Frames, units.** World axes, twists at each body's centre of mass, angular part first; impulses in, twists
//! out.
//!
//! **Cost.** About 120 flops per ball joint between a touched body and the root (300 with a spring), 100 for a hinge.
//! Branches that no loop touches are skipped. Along a chain each link waits for the one before it, so branches are
//! visited in turn. Nothing allocates after `new`.
//!
//! **Failure.** None: numbers that are not finite are passed on and detected by [`crate::refine`].

use crate::pair::PairFactor;
use sinew_math::{Force, Motion, Sym3};
use sinew_topology::NONE;
use std::cmp::Reverse;

/// The linear reaction of a set of ports to impulses.
pub trait Responder {
    /// Reads `impulses[port]` of all ports that loops touch and writes their reaction into `motions[port]`. On other
    /// ports impulses are zero and motions are not used.
    fn respond(&mut self, impulses: &[Force], motions: &mut [Motion]);

    /// Whether a response takes long against a pass over a tree.
    fn is_slow(&self) -> bool {
        false
    }
}

/// The pairs of a tree that take part in a reaction: every touched pair and its ancestors.
#[derive(Clone, Debug, Default)]
pub struct ActivePairs {
    /// In elimination order.
    pairs: Vec<u32>,
    /// The same, children before parents, in the order in which they are visited.
    visits: Vec<Visit>,
    /// For every pair of the tree.
    marks: Vec<Mark>,
    /// Joints between an active pair and the root.
    depths: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Visit {
    pair: u32,
    /// Whether the pair is touched itself.
    touched: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mark {
    Away,
    Above,
    Touched,
}

/// Number of pairs sorted by depth at a time. Visiting the deepest first lets branches of equal depth take turns, so
/// that the processor does not wait for one chain; the number is small enough for the cache.
const WINDOW: usize = 4096;

impl ActivePairs {
    /// The touched pairs and their ancestors; `parents` in elimination order, `u32::MAX` at roots.
    pub fn new(parents: &[u32], touched: impl IntoIterator<Item = u32>) -> Self {
        let mut active = Self::default();
        active.refill(parents, touched);
        active
    }

    /// All of `n` pairs, each touched, visited in elimination order.
    pub fn all(n: usize) -> Self {
        let pairs: Vec<u32> = (0..n as u32).collect();
        let visits = pairs.iter().map(|&pair| Visit { pair, touched: true }).collect();
        Self { pairs, visits, marks: vec![Mark::Touched; n], depths: vec![0; n] }
    }

    /// [`Self::new`] in the memory of the last set.
    pub fn refill(&mut self, parents: &[u32], touched: impl IntoIterator<Item = u32>) {
        let Self { pairs, visits, marks, depths } = self;
        for &pair in &*pairs {
            marks[pair as usize] = Mark::Away;
        }
        marks.resize(parents.len(), Mark::Away);
        depths.resize(parents.len(), 0);
        pairs.clear();
        for pair in touched {
            if marks[pair as usize] == Mark::Away {
                pairs.push(pair);
            }
            marks[pair as usize] = Mark::Touched;
            let mut above = parents[pair as usize];
            while above != NONE && marks[above as usize] == Mark::Away {
                marks[above as usize] = Mark::Above;
                pairs.push(above);
                above = parents[above as usize];
            }
        }
        pairs.sort_unstable();
        for &pair in pairs.iter().rev() {
            let above = parents[pair as usize];
            depths[pair as usize] = if above == NONE { 0 } else { depths[above as usize] + 1 };
        }
        visits.clear();
        visits
            .extend(pairs.iter().map(|&pair| Visit { pair, touched: marks[pair as usize] == Mark::Touched }));
        for window in visits.chunks_mut(WINDOW) {
            window.sort_unstable_by_key(|visit| (Reverse(depths[visit.pair as usize]), visit.pair));
        }
    }

    /// Most joints between an active pair and its root.
    pub fn depth(&self) -> u32 {
        self.pairs.iter().map(|&pair| self.depths[pair as usize]).fold(0, u32::max)
    }

    /// The active pairs, in elimination order.
    pub fn pairs(&self) -> &[u32] {
        &self.pairs
    }
}

/// Scratch of a [`TreeResponder`].
#[derive(Clone, Debug, Default)]
pub struct TreeReaction {
    drive: Vec<f64>,
    /// Momentum that the children of each pair pass on; zero between responses.
    momenta: Vec<Force>,
    motions: Vec<Motion>,
}

impl TreeReaction {
    /// Buffers for a factor.
    pub fn new(factor: &PairFactor) -> Self {
        Self {
            drive: vec![0.0; factor.n_columns()],
            momenta: vec![Force::ZERO; factor.len()],
            motions: vec![Motion::ZERO; factor.len()],
        }
    }
}

/// The reaction of a factored tree of pairs; port = position of the pair.
#[derive(Debug)]
pub struct TreeResponder<'a> {
    /// The factor, filled by eliminations.
    pub factor: &'a PairFactor,
    /// The parent of each pair, `u32::MAX` at roots.
    pub parents: &'a [u32],
    /// The pairs that take part; ports that loops touch must be touched here.
    pub active: &'a ActivePairs,
    /// Scratch.
    pub scratch: &'a mut TreeReaction,
}

impl TreeResponder<'_> {
    /// Leaves → root: the drives of the active pairs.
    fn eliminate(&mut self, impulses: &[Force]) {
        let TreeReaction { drive, momenta, .. } = &mut *self.scratch;
        for visit in &self.active.visits {
            let pair = visit.pair as usize;
            let mut momentum = std::mem::replace(&mut momenta[pair], Force::ZERO);
            if visit.touched {
                momentum += impulses[pair];
            }
            let parent = self.parents[pair];
            if parent == NONE {
                self.factor.eliminate_momentum_root(pair, momentum, drive);
            } else {
                momenta[parent as usize] += self.factor.eliminate_momentum(pair, momentum, drive);
            }
        }
    }

    /// Solution of the tree with the impulses added to its own right-hand side. The constraints of the tree hold to
    /// rounding of the result; a sum of solution and reaction would lose digits where the two cancel. `above` gives the
    /// twist of the body that a root hangs from. All pairs must be active.
    pub fn resolve(&mut self, impulses: &[Force], above: impl Fn(usize) -> Motion, motions: &mut [Motion]) {
        self.eliminate(impulses);
        for visit in self.active.visits.iter().rev() {
            let pair = visit.pair as usize;
            let parent = self.parents[pair];
            let parent = if parent == NONE { above(pair) } else { motions[parent as usize] };
            motions[pair] = self.factor.substitute_with(pair, parent, &self.scratch.drive);
        }
    }
}

impl Responder for TreeResponder<'_> {
    fn respond(&mut self, impulses: &[Force], motions: &mut [Motion]) {
        self.eliminate(impulses);
        let TreeReaction { drive, motions: own, .. } = &mut *self.scratch;
        for visit in self.active.visits.iter().rev() {
            let pair = visit.pair as usize;
            let parent = self.parents[pair];
            let motion = if parent == NONE {
                self.factor.substitute_drive_root(pair, drive)
            } else {
                self.factor.substitute_drive(pair, own[parent as usize], drive)
            };
            own[pair] = motion;
            if visit.touched {
                motions[pair] = motion;
            }
        }
    }
}

/// The inverse mass of a body on its own; both zero for an immovable one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreeMass {
    /// 1/kg.
    pub inverse_mass: f64,
    /// 1/(kg·m²), world axes.
    pub inverse_inertia: Sym3,
}

impl FreeMass {
    /// A body that nothing moves.
    pub const IMMOVABLE: Self = Self { inverse_mass: 0.0, inverse_inertia: Sym3::ZERO };

    /// `M⁻¹ f`.
    #[inline]
    pub fn mul(&self, impulse: Force) -> Motion {
        Motion {
            angular: self.inverse_inertia.mul_vec(impulse.angular),
            linear: impulse.linear * self.inverse_mass,
        }
    }
}

/// Bodies that no tree joint holds: `motions = M⁻¹ impulses`.
#[derive(Clone, Copy, Debug)]
pub struct FreeBodies<'a> {
    /// One per port.
    pub masses: &'a [FreeMass],
}

impl Responder for FreeBodies<'_> {
    fn respond(&mut self, impulses: &[Force], motions: &mut [Motion]) {
        for ((mass, &impulse), motion) in self.masses.iter().zip(impulses).zip(motions) {
            *motion = mass.mul(impulse);
        }
    }
}
