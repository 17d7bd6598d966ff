//! The reaction of the factored tree to impulses: the changes `T p` of all twists by impulses `p` on some bodies.
//!
//! A reaction visits only the bodies from which impulses come and what lies between them and their roots; the last one of a
//! solve visits the whole tree. Cost: linear in the number of visited pairs. No allocation once warm.

use sinew_solvers::{ActivePairs, PairFactor, TreeReaction, TreeResponder};

use crate::model::Model;
use crate::tree::TreeScratch;

/// A tree as it reacts to impulses on some of its pairs.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReactingTree {
    /// Parent of each pair, `NONE` at a root.
    parents: Vec<u32>,
    /// Pairs between the touched ones and their roots.
    touched: ActivePairs,
    /// Of one island of the touched ones.
    island: ActivePairs,
    all: ActivePairs,
    scratch: TreeReaction,
}

impl ReactingTree {
    /// A tree that is touched at some ports.
    pub(crate) fn new(model: &Model, tree: &TreeScratch, ports: impl Iterator<Item = u32>) -> Self {
        let parents: Vec<u32> = model.pairs.iter().map(|p| p.parent).collect();
        let all = ActivePairs::new(&parents, 0..parents.len() as u32);
        let touched = ActivePairs::new(&parents, ports);
        let island = ActivePairs::default();
        Self { touched, island, all, parents, scratch: TreeReaction::new(&tree.factor) }
    }

    /// Parent of each pair.
    pub(crate) fn parents(&self) -> &[u32] {
        &self.parents
    }

    /// Changes the ports at which it is touched.
    pub(crate) fn touch(&mut self, ports: impl Iterator<Item = u32>) {
        self.touched.refill(&self.parents, ports);
    }

    /// The reaction of the touched part.
    pub(crate) fn touched<'a>(&'a mut self, factor: &'a PairFactor) -> TreeResponder<'a> {
        let Self { parents, touched, scratch, .. } = self;
        TreeResponder { factor, parents, active: touched, scratch }
    }

    /// Changes the ports of the island that [`Self::island`] is of.
    pub(crate) fn select(&mut self, ports: &[u32]) {
        self.island.refill(&self.parents, ports.iter().copied());
    }

    /// Most joints between a touched body of the island chosen last and its root.
    pub(crate) fn island_depth(&self) -> u32 {
        self.island.depth()
    }

    /// The reaction of the island chosen last.
    pub(crate) fn island<'a>(&'a mut self, factor: &'a PairFactor) -> TreeResponder<'a> {
        let Self { parents, island, scratch, .. } = self;
        TreeResponder { factor, parents, active: island, scratch }
    }

    /// The reaction of the whole tree.
    pub(crate) fn all<'a>(&'a mut self, factor: &'a PairFactor) -> TreeResponder<'a> {
        let Self { parents, all, scratch, .. } = self;
        TreeResponder { factor, parents, active: all, scratch }
    }
}
