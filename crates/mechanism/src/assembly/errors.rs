//! How far joints and hard grabs are from being met during an assembly: the largest errors, and one number that should fall.
//!
//! That number counts tree joints a hundredfold: they can always be met, and a linearization is only good where they are.
//! Units: m and rad. Cost: one pass over the joints.

use sinew_math::Pose;

use crate::assembly::largest_excess;
use crate::input_index::StepInput;
use crate::loops::OpeningPolicy;
use crate::measure::{joint_error, slip};
use crate::model::WORLD;
use crate::{Assembly, Model, State};

/// Joint errors at some poses, m and rad.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AssemblyErrors {
    /// The largest.
    pub(crate) gap: f64,
    pub(crate) lean: f64,
    /// The largest gap outside the tree.
    pub(crate) loop_gap: f64,
    /// The largest of both among tree joints.
    pub(crate) tree: f64,
    /// The largest gap relative to the size of its bodies, or angle in rad.
    pub(crate) relative: f64,
    /// Sum of squares over the others.
    loops_squared: f64,
}

impl AssemblyErrors {
    /// The larger of both, m or rad: each is compared with the same tolerance.
    pub(crate) fn largest(&self) -> f64 {
        self.gap.max(self.lean)
    }

    /// The same with what joints are beyond their limits, if those are to be kept.
    pub(crate) fn with_limits(mut self, model: &Model, state: &State, settings: &Assembly) -> Self {
        if settings.limits {
            let [tree, all] = largest_excess(model, state);
            (self.tree, self.lean) = (self.tree.max(tree), self.lean.max(all));
            self.loops_squared += all * all;
        }
        self
    }

    /// What the iteration should lower: tree joints first.
    pub(crate) fn merit(&self) -> f64 {
        100.0 * self.tree + self.loops_squared.sqrt()
    }
}

impl AssemblyErrors {
    /// Errors of all rigid joints and hard grabs at some poses; of rolling joints also what they slip on the way there from the state.
    pub(crate) fn at(
        model: &Model,
        state: &State,
        poses: &[Pose],
        input: StepInput<'_>,
        opening: OpeningPolicy,
    ) -> Self {
        let mut out = Self::default();
        let mut see = |is_tree: bool, size: f64, (gap, lean): (f64, f64)| {
            // What is not a number is as far off as can be.
            out.gap = if gap.is_nan() { f64::INFINITY } else { out.gap.max(gap) };
            out.lean = if lean.is_nan() { f64::INFINITY } else { out.lean.max(lean) };
            out.relative = out.relative.max(gap / size).max(lean);
            if is_tree {
                out.tree = out.tree.max(gap).max(lean);
            } else {
                out.loop_gap = out.loop_gap.max(gap);
                out.loops_squared += gap * gap + lean * lean;
            }
        };
        let size_of = |joint: u32| model.derived.joint_sizes[joint as usize];
        let error_of = |index: u32| {
            let (gap, lean) = joint_error(model, state, poses, input, (index, 0.0));
            let joint = &model.joints[index as usize];
            if joint.kind.is_holonomic() || joint.compliance > 0.0 {
                return (gap, lean);
            }
            let slipped = slip(joint, &state.poses, poses).iter().map(|s| s * s).sum::<f64>().sqrt();
            (gap.max(slipped), lean)
        };
        for pair in model.pairs.iter().filter(|pair| pair.joint != WORLD) {
            see(true, size_of(pair.joint), error_of(pair.joint));
        }
        for looped in &model.loops {
            let error = error_of(looped.joint);
            if looped.is_primary || !opening.ignores(model, looped.ports, error) {
                see(false, size_of(looped.joint), error);
            }
        }
        for grab in input.hard_grabs(model) {
            let error = (grab.gap(model, poses), 0.0);
            if !opening.ignores(model, grab.ports(model), error) {
                see(false, f64::INFINITY, error);
            }
        }
        out
    }
}
