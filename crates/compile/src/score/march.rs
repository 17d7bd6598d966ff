//! The way of a closed pose to joint coordinates that a key names, in small parts, so that no branch of a loop is jumped.
//!
//! With `q̄(s)` the named coordinates on their straight way and `P` the projection on the loops that holds them,
//! ```text
//! q(s + δ) = P(q̄(s + δ), q + δ q')        q' = Δq/Δs of the part before
//! ```
//! A part is taken if the loops close and the projection changes little of what `q'` foretold; else it is halved. Poses where branches meet are passed straight on, as the
//! foretold pose is nearer to the same branch than to others. Where a way ends (a joint turns back) the named joints are drawn to their places against the loops, `q ← P(q ⊕ α (q̄ ⊖ q))` with
//! nothing held (other joints move at next to no cost), until they come no nearer: other joints that are free may still let them pass. rad, m. Cost: some hundred projections at most.

use sinew_recursive::{Dynamics, HybridCommand, JointMode, LinkId, LoopDynamics, LoopedTree, TreeState};

/// Error of a joint that counts as closed in a pose, m or rad.
pub(super) const CLOSED: f64 = 1e-9;

/// Longest part of the way, rad or m, and share of it at which the way ends.
const STRIDE: f64 = 0.1;
const SHORTEST: f64 = 1e-4;

/// What the projection may change of what was foretold, as a share of the part.
const FORETOLD: f64 = 0.3;

/// Parts, and pulls against the loops, at most.
const MOST: usize = 2000;

/// Share by which a pull has to come nearer.
const NEARER: f64 = 1e-6;

/// What leads poses along loops.
pub(super) struct March<'a> {
    looped: &'a LoopedTree,
    named: &'a [LinkId],
    dynamics: Dynamics,
    loops: LoopDynamics,
    held: HybridCommand,
    free: HybridCommand,
    /// Inertia with which the named joints resist what draws them from where they are put, per dof: far more than that of the links.
    resistance: Vec<f64>,
}

/// That inertia over the largest of the tree.
const RESISTED: f64 = 1e3;

impl<'a> March<'a> {
    /// A march that leads some joints.
    pub(super) fn new(looped: &'a LoopedTree, named: &'a [LinkId]) -> Self {
        let tree = looped.tree();
        let free = HybridCommand::passive(tree);
        let mut held = free.clone();
        named.iter().for_each(|link| held.modes[link.index()] = JointMode::Prescribed);
        let n = tree.n_dofs();
        let (mut dynamics, mut mass, mut resistance) = (Dynamics::new(tree), vec![0.0; n * n], vec![0.0; n]);
        dynamics.kinematics_at_rest(tree, &tree.neutral_state().coordinates);
        dynamics.fill_mass_matrix(tree, &mut mass);
        let named_dofs = named.iter().flat_map(|link| tree.dofs(*link));
        let resisted = RESISTED * largest(&mass);
        named_dofs.for_each(|dof| resistance[dof] = resisted);
        Self { looped, named, dynamics, loops: LoopDynamics::new(looped), held, free, resistance }
    }

    /// Leads a closed pose to where the named joints are as wanted, or as near as the loops let them. Returns how far they are from there at most, rad or m.
    pub(super) fn lead(&mut self, pose: &mut Vec<f64>, wanted: &[f64]) -> f64 {
        if !self.walk(pose, wanted) {
            self.pull(pose, wanted);
        }
        largest(&self.left(pose, wanted))
    }

    /// Parts that a way is divided into.
    pub(super) fn n_parts(&self, pose: &[f64], wanted: &[f64]) -> usize {
        (largest(&self.left(pose, wanted)) / STRIDE).ceil().clamp(2.0, MOST as f64) as usize
    }

    /// What the named joints lack, per dof.
    pub(super) fn left(&self, pose: &[f64], wanted: &[f64]) -> Vec<f64> {
        let tree = self.looped.tree();
        let (mut all, mut left) = (vec![0.0; tree.n_dofs()], vec![0.0; tree.n_dofs()]);
        tree.difference(wanted, pose, &mut all);
        let dofs = self.named.iter().flat_map(|link| tree.dofs(*link));
        dofs.for_each(|dof| left[dof] = all[dof]);
        left
    }

    /// Whether the way could be walked to its end.
    fn walk(&mut self, pose: &mut Vec<f64>, wanted: &[f64]) -> bool {
        let way = self.left(pose, wanted);
        let longest = largest(&way);
        if longest <= 0.0 {
            return true;
        }
        let (start, stride) = (pose.clone(), (STRIDE / longest).min(1.0));
        // The first part is short: nothing is foretold yet.
        let (mut at, mut part, mut slope) = (0.0, 0.01 * stride, None::<Vec<f64>>);
        for _ in 0..MOST {
            let to = if at + part > 1.0 - 1e-9 { 1.0 } else { at + part };
            let mut named = wanted.to_vec();
            if to < 1.0 {
                named.clone_from(&start);
                self.looped.tree().advance(&mut named, &way, to);
            }
            if let Some((next, change)) = self.part(pose, &named, slope.as_deref(), to - at) {
                slope = Some(change.iter().map(|x| x / (to - at)).collect());
                *pose = next;
                at = to;
                part = (2.0 * part).min(stride);
            } else {
                part *= 0.5;
            }
            if at >= 1.0 || part < SHORTEST * stride {
                break;
            }
        }
        at >= 1.0
    }

    /// The next pose and the change to it, if it is the continuation of this one.
    fn part(
        &mut self,
        pose: &[f64],
        named: &[f64],
        slope: Option<&[f64]>,
        length: f64,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        let tree = self.looped.tree();
        let mut foretold = pose.to_vec();
        if let Some(slope) = slope {
            tree.advance(&mut foretold, slope, length);
        }
        for range in self.named.iter().map(|link| tree.coordinates(*link)) {
            foretold[range.clone()].copy_from_slice(&named[range]);
        }
        let next = self.closed(&foretold, true)?;
        let (mut change, mut correction) = (vec![0.0; tree.n_dofs()], vec![0.0; tree.n_dofs()]);
        tree.difference(&next, pose, &mut change);
        tree.difference(&next, &foretold, &mut correction);
        let follows = slope.is_none() || largest(&correction) <= FORETOLD * largest(&change) + CLOSED;
        (follows && largest(&change) < 5.0 * STRIDE).then_some((next, change))
    }

    /// Draws the named joints to their places as far as the loops let them.
    fn pull(&mut self, pose: &mut Vec<f64>, wanted: &[f64]) {
        let tree = self.looped.tree();
        let mut change = vec![0.0; tree.n_dofs()];
        let mut share = (STRIDE / norm(&self.left(pose, wanted))).min(1.0);
        for _ in 0..MOST {
            let left = self.left(pose, wanted);
            let length = norm(&left);
            if length < CLOSED || share < SHORTEST {
                break;
            }
            let mut trial = pose.clone();
            tree.advance(&mut trial, &left, share);
            let next = self.closed(&trial, false).filter(|next| {
                tree.difference(next, pose, &mut change);
                largest(&change) < STRIDE && norm(&self.left(next, wanted)) < (1.0 - NEARER) * length
            });
            share *= if next.is_some() { 2.0 } else { 0.5 };
            share = share.min(1.0);
            next.into_iter().for_each(|next| *pose = next);
        }
    }

    /// The nearest pose that closes the loops; with `holds`, the named joints stay. None if none is found.
    pub(super) fn closed(&mut self, coordinates: &[f64], holds: bool) -> Option<Vec<f64>> {
        let tree = self.looped.tree();
        let mut state = TreeState { coordinates: coordinates.to_vec(), rates: vec![0.0; tree.n_dofs()] };
        let held = if holds { (&self.held, &[][..]) } else { (&self.free, &self.resistance[..]) };
        let open = self.loops.close(self.looped, &mut self.dynamics, held, &mut state);
        (open <= CLOSED).then_some(state.coordinates)
    }

    /// The joint that the last projection left open furthest, and by how much, m or rad.
    pub(super) fn worst(&self) -> Option<(sinew_mechanism::JointId, f64)> {
        self.loops.worst(self.looped)
    }
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |most, x| x.abs().max(most))
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
