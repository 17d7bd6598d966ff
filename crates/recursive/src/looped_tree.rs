//! A tree with joints that close loops: the spanning tree of a mechanism, and a list of closures.
//!
//! The tree is that of the mechanism's own plan (`sinew-topology`), so the same joints close the loops in joint coordinates and in maximal
//! ones. A closure ties two links, or a link and the world. Its rows are those of `sinew_mechanism::evaluate_rows` on the twists
//! of both bodies at their centres of mass, body 1 relative to body 2, in the order of the families of its kind. Any kind closes
//! a loop. The dofs that a closure feels are those on the paths from its links to their roots.
//!
//! Closures whose trees are tied together, directly or not, are a *group*: the multipliers of different groups do not depend on each other.

use std::ops::Range;

use glam::DVec3;
use sinew_math::{MassProperties, Pose};
use sinew_mechanism::{BodyId, BodyKind, JointFrames, JointId, JointKind, Model, State};
use sinew_topology::NONE;

use crate::error::RecursiveError;
use crate::from_model::{body_label, joint_label};
use crate::tree::{LinkId, Tree};

/// An articulated tree in joint coordinates and the joints that close its loops; many states may share it.
#[derive(Clone, Debug)]
pub struct LoopedTree {
    tree: Tree,
    pub(crate) closures: Vec<LoopClosure>,
    pub(crate) groups: Vec<LoopGroup>,
    n_rows: usize,
    /// Per link: whether its joint is part of a loop.
    tied: Vec<bool>,
}

/// A joint outside the tree.
#[derive(Clone, Debug)]
pub(crate) struct LoopClosure {
    joint: JointId,
    pub(crate) kind: JointKind,
    pub(crate) frames: JointFrames,
    pub(crate) ends: [LoopEnd; 2],
    pub(crate) rows: Range<usize>,
    /// Links from either end to the roots, the last first.
    pub(crate) path: Vec<u32>,
    /// First link above both ends, which moves neither relative to the other; `NONE` for the world.
    pub(crate) meeting: u32,
    /// Dofs of the path, ascending.
    pub(crate) runs: Vec<Range<usize>>,
    /// Twist angle in the initial state, rad.
    pub(crate) twist: f64,
}

/// What a closure holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopEnd {
    /// `NONE` for the world and fixed bodies.
    pub(crate) link: u32,
    /// Central pose of a body that is no link.
    pub(crate) fixed: Pose,
    /// Way from the origin of the link to the joint, by the centre of mass, m.
    pub(crate) lever: f64,
}

/// Closures whose multipliers depend on each other.
#[derive(Clone, Debug)]
pub(crate) struct LoopGroup {
    pub(crate) closures: Range<usize>,
    pub(crate) rows: Range<usize>,
}

impl LoopedTree {
    /// The reduced form of a mechanism, loops included. A mechanism without loops has no closures.
    ///
    /// # Errors
    /// Names the first joint that hangs on a kinematic body, or the first body whose joint moves no mass.
    pub fn from_model(model: &Model) -> Result<Self, RecursiveError> {
        let mut out = Self::from(Tree::spanning(model)?);
        let initial = model.initial_state();
        for island in model.plan().islands() {
            let (closures, rows) = (out.closures.len(), out.n_rows);
            for constraint in
                &model.plan().loop_constraints()[island.loops.start as usize..island.loops.end as usize]
            {
                out.push(model, &initial, JointId::from_index(constraint.index()))?;
            }
            if out.closures.len() > closures {
                out.groups.push(LoopGroup { closures: closures..out.closures.len(), rows: rows..out.n_rows });
            }
        }
        Ok(out)
    }

    fn push(&mut self, model: &Model, initial: &State, joint: JointId) -> Result<(), RecursiveError> {
        let kind = model.joint_kind(joint);
        let (body1, body2) = model.joint_bodies(joint);
        let frames = model.joint_frames(joint);
        let ends = [(body1, frames.point1), (body2, frames.point2)];
        let [end1, end2] = ends.map(|(body, point)| self.end(model, initial, joint, (body, point)));
        let ends = [end1?, end2?];
        let (path, meeting) = (self.path(&ends), self.meeting(&ends));
        let mut runs: Vec<Range<usize>> = Vec::new();
        for link in path.iter().rev() {
            let dofs = self.tree.links[*link as usize].dofs();
            match runs.last_mut() {
                Some(run) if run.end == dofs.start => run.end = dofs.end,
                _ => runs.push(dofs),
            }
        }
        for end in &ends {
            let mut at = end.link;
            while at != meeting {
                self.tied[at as usize] = true;
                at = self.tree.links[at as usize].parent;
            }
        }
        let rows = self.n_rows..self.n_rows + kind.n_rows();
        self.n_rows = rows.end;
        self.closures.push(LoopClosure {
            joint,
            kind,
            frames,
            ends,
            rows,
            path,
            meeting,
            runs,
            twist: initial.twists[joint.index()],
        });
        Ok(())
    }

    fn end(
        &self,
        model: &Model,
        initial: &State,
        joint: JointId,
        (body, point): (Option<BodyId>, DVec3),
    ) -> Result<LoopEnd, RecursiveError> {
        let Some(body) = body else { return Ok(LoopEnd { link: NONE, fixed: Pose::IDENTITY, lever: 0.0 }) };
        if model.body_kind(body) == BodyKind::Kinematic {
            let (joint, body) = (joint_label(model, joint), body_label(model, body));
            return Err(RecursiveError::KinematicBase { joint, body });
        }
        let link = self.tree.link(body);
        let centre = link.map_or(DVec3::ZERO, |link| self.tree.links[link.index()].central.translation);
        let lever = centre.length() + point.length();
        let link = link.map_or(NONE, |link| link.index() as u32);
        Ok(LoopEnd { link, fixed: initial.poses[body.index()], lever })
    }

    fn path(&self, ends: &[LoopEnd; 2]) -> Vec<u32> {
        let mut path = Vec::new();
        for end in ends {
            let mut at = end.link;
            while at != NONE {
                path.push(at);
                at = self.tree.links[at as usize].parent;
            }
        }
        path.sort_unstable_by(|a, b| b.cmp(a));
        path.dedup();
        path
    }

    fn meeting(&self, ends: &[LoopEnd; 2]) -> u32 {
        let mut at = ends.map(|end| end.link);
        while at[0] != at[1] {
            // parents come first
            let lower = usize::from(at[0] == NONE || (at[1] != NONE && at[1] > at[0]));
            at[lower] = self.tree.links[at[lower] as usize].parent;
        }
        at[0]
    }

    /// The spanning tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Whether the joint of a link is part of a loop.
    pub fn is_tied(&self, link: LinkId) -> bool {
        self.tied[link.index()]
    }

    /// [`Tree::add_mass`].
    ///
    /// # Errors
    /// If the mass is negative or a number is not finite.
    pub fn add_mass(&mut self, link: LinkId, mass: &MassProperties) -> Result<(), RecursiveError> {
        self.tree.add_mass(link, mass)
    }

    /// Number of rows of all closures: multipliers, and directions in which they hold.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The joints that close loops, in the order of their rows.
    pub fn joints(&self) -> impl ExactSizeIterator<Item = JointId> + '_ {
        self.closures.iter().map(|closure| closure.joint)
    }

    /// Rows of a joint that closes a loop; `None` for joints of the tree.
    pub fn rows(&self, joint: JointId) -> Option<Range<usize>> {
        self.closures.iter().find(|closure| closure.joint == joint).map(|closure| closure.rows.clone())
    }
}

impl From<Tree> for LoopedTree {
    /// A tree without loops.
    fn from(tree: Tree) -> Self {
        let tied = vec![false; tree.n_links()];
        Self { tree, closures: Vec::new(), groups: Vec::new(), n_rows: 0, tied }
    }
}
