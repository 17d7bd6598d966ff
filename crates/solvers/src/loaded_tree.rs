//! A factored tree of pairs with more mass on its bodies, and its answer to single impulses.
//!
//! **What.** The factor of a tree (`S`, `Y`, `D` of `pair_reaction.rs`) tells the twists that its joints allow and what they cost:
//! `v_a = G X v_b + S u`, `G = 1 − S Yᵀ`, with the energy `½ uᵀD u`. So masses `Ã` can be put on its bodies without the joints and the
//! masses that it was made of, leaves → root:
//! ```text
//! U = Ã S,   D' = D + SᵀU,   Y' = Y + GᵀU D'⁻¹,   on to the parent: Xᵀ Gᵀ(Ã − U D'⁻¹Uᵀ) G X
//! ```
//! which is a factor of the same form: `T' = (T⁻¹ + Ã)⁻¹`. A ball joint without a spring stays one.
//!
//! An impulse on one body changes `u` of the joints between it and the root only, and its twist is that of these joints: a walk up, a
//! walk down.
//!
//! **Frames, units.** Those of the factor. **Cost.** About 0.2 µs per pair that is loaded or below a load; about 50 ns per joint of a walk.
//! Nothing allocates once warm. **Failure.** None: a pivot that is not positive is raised as in the elimination of the tree.

use sinew_math::{Force, Motion, Sym6};
use sinew_topology::NONE;

use crate::loops::ActivePairs;
use crate::loose::symmetric;
use crate::pair::{Column, PairFactor};
use crate::pivot::{factor_packed, solve_packed};

/// Entry of `D` along a direction that is locked.
const LOCKED: f64 = 1e150;

/// The tree with its masses, in the memory of the last one, and impulses on it.
#[derive(Clone, Debug, Default)]
pub struct LoadedTree {
    factor: PairFactor,
    /// On each pair; zero between loads.
    masses: Vec<Sym6>,
    /// Of the last load, per active pair: the mass on it, and what became of that on its parent.
    before: Vec<[Sym6; 2]>,
    /// `D⁻¹Sᵀz` of all impulses so far, and of the last one.
    drive: Vec<f64>,
    last: Vec<f64>,
    path: Vec<u32>,
}

impl LoadedTree {
    /// Factors a tree with a mass on each of some pairs; all of them must be active. If tree and active pairs are those of the last load (`is_same`), pairs
    /// under the same masses as then keep what they have.
    pub fn load(
        &mut self,
        tree: &PairFactor,
        (parents, active): (&[u32], &ActivePairs),
        masses: impl Iterator<Item = (u32, Sym6)>,
        is_same: bool,
    ) {
        let Self { factor, masses: waiting, before, .. } = self;
        if factor.len() != tree.len() || factor.n_columns() != tree.n_columns() {
            factor.clone_from(tree);
        }
        waiting.resize(tree.len(), Sym6::ZERO);
        masses.for_each(|(pair, mass)| waiting[pair as usize].add(&mass));
        before.resize(active.pairs().len(), [Sym6::ZERO; 2]);
        for (&pair, [loaded, passed]) in active.pairs().iter().zip(before) {
            let mass = std::mem::replace(&mut waiting[pair as usize], Sym6::ZERO);
            if !(is_same && mass == *loaded) {
                (*loaded, *passed) = (mass, mass);
                tree.load_pair(pair as usize, passed, factor);
            }
            let parent = parents[pair as usize];
            if parent != NONE {
                waiting[parent as usize].add(passed);
            }
        }
    }

    /// The factor of the last load.
    pub fn factor(&self) -> &PairFactor {
        &self.factor
    }

    /// Forgets all impulses on a tree.
    pub fn release(&mut self, tree: &PairFactor) {
        self.drive.clear();
        self.drive.resize(tree.n_columns(), 0.0);
        self.last.resize(tree.n_columns(), 0.0);
    }

    /// Adds an impulse on a pair to those before; `tree` is without masses.
    pub fn push(&mut self, tree: &PairFactor, parents: &[u32], mut pair: usize, mut impulse: Force) {
        let Self { drive, last, .. } = self;
        loop {
            let parent = parents[pair];
            if parent == NONE {
                tree.eliminate_momentum_root(pair, impulse, last);
            } else {
                impulse = tree.eliminate_momentum(pair, impulse, last);
            }
            let columns = tree.columns_of(pair);
            drive[columns.clone()].iter_mut().zip(&last[columns]).for_each(|(sum, w)| *sum += w);
            if parent == NONE {
                return;
            }
            pair = parent as usize;
        }
    }

    /// The twist of a pair that all impulses so far give it.
    pub fn pushed(&mut self, tree: &PairFactor, parents: &[u32], pair: usize) -> Motion {
        let Self { drive, path, .. } = self;
        let mut root = pair;
        path.clear();
        while parents[root] != NONE {
            path.push(root as u32);
            root = parents[root] as usize;
        }
        let motion = tree.substitute_drive_root(root, drive);
        path.iter().rev().fold(motion, |above, &pair| tree.substitute_drive(pair as usize, above, drive))
    }
}

impl LoadedTree {
    /// What an impulse on a pair changes of its own twist. Forgets the impulses on it and its ancestors.
    pub fn response(&mut self, tree: &PairFactor, parents: &[u32], pair: usize) -> Sym6 {
        let column = |k: usize| {
            let mut unit = [0.0; 6];
            unit[k] = 1.0;
            self.release_path(tree, parents, pair);
            self.push(tree, parents, pair, Force::from_array(unit));
            self.pushed(tree, parents, pair)
        };
        let columns: [Motion; 6] = std::array::from_fn(column);
        self.release_path(tree, parents, pair);
        symmetric(columns)
    }

    /// Forgets all impulses on a pair and its ancestors.
    fn release_path(&mut self, tree: &PairFactor, parents: &[u32], mut pair: usize) {
        loop {
            self.drive[tree.columns_of(pair)].fill(0.0);
            match parents[pair] {
                NONE => return,
                parent => pair = parent as usize,
            }
        }
    }
}

impl PairFactor {
    /// Writes the factor of a pair with a mass on its body `into` another factor; the mass becomes that on the parent.
    fn load_pair(&self, pair: usize, mass: &mut Sym6, into: &mut Self) {
        let range = self.columns_of(pair);
        let first = range.start;
        into.heads[pair] = self.heads[pair];
        match range.len() {
            0 => {}
            1 => self.load_columns::<1>(pair, first, mass, into),
            2 => self.load_columns::<2>(pair, first, mass, into),
            3 => self.load_columns::<3>(pair, first, mass, into),
            4 => self.load_columns::<4>(pair, first, mass, into),
            5 => self.load_columns::<5>(pair, first, mass, into),
            _ => self.load_columns::<6>(pair, first, mass, into),
        }
        mass.shift(self.heads[pair].shift);
    }

    fn load_columns<const F: usize>(&self, pair: usize, first: usize, mass: &mut Sym6, into: &mut Self) {
        let own: &[Column] = &self.columns[first..first + F];
        let pivot = self.heads[pair].pivot as usize;
        let pivots = pivot..pivot + F * (F + 1) / 2;
        into.columns[first..first + F].copy_from_slice(own);
        into.pivots[pivots.clone()].copy_from_slice(&self.pivots[pivots.clone()]);
        if *mass == Sym6::ZERO {
            return;
        }
        let before: [[f64; F]; F] = unpacked(&self.pivots[pivots.clone()]);
        let u: [Force; F] = std::array::from_fn(|i| mass.mul(own[i].basis));
        let mut d = before;
        for (i, row) in d.iter_mut().enumerate() {
            (0..=i).for_each(|j| row[j] += u[i].dot(own[j].basis));
        }
        factor_packed(&mut d, mass, &mut into.pivots[pivots.clone()]);
        let mut v = u;
        solve_packed(&into.pivots[pivots], &mut v);
        (0..F).for_each(|i| mass.subtract_product(u[i], v[i]));
        // GᵀM G with M S = U D'⁻¹ D: less Y Cᵀ + C Yᵀ, C = M S − ½ Y SᵀM S.
        for i in 0..F {
            let mut passed = v[0] * before[0][i];
            (1..F).for_each(|j| passed += v[j] * before[j][i]);
            let mut c = passed;
            (0..F).for_each(|j| c -= own[j].gain * (0.5 * passed.dot(own[j].basis)));
            mass.subtract_product(own[i].gain, c);
            mass.subtract_product(c, own[i].gain);
            let gain = &mut into.columns[first + i].gain;
            *gain += v[i];
            (0..F).for_each(|j| *gain -= own[j].gain * v[i].dot(own[j].basis));
        }
    }
}

/// The matrix of which `packed` is the LDLᵀ with `1/D` on the diagonal.
fn unpacked<const F: usize>(packed: &[f64]) -> [[f64; F]; F] {
    let entry = |i: usize, j: usize| if i == j { 1.0 } else { packed[i * (i + 1) / 2 + j] };
    let pivot = |k: usize| {
        let inverse = packed[k * (k + 1) / 2 + k];
        if inverse > 0.0 { 1.0 / inverse } else { LOCKED }
    };
    let product = |i: usize, j: usize| (0..=i.min(j)).map(|k| entry(i, k) * pivot(k) * entry(j, k)).sum();
    std::array::from_fn(|i| std::array::from_fn(|j| product(i, j)))
}
