//! The rows of joints and hard grabs outside the tree at the acceleration level (Fau99): `λ` are forces.
//!
//! Springs and forces inside joints are external forces here (`tree::acceleration`). Idle rows keep their places, so
//! that multipliers mean the same in every scheme. The inertia of transmissions is a compliant row, `λ = −a ẍ`.

use glam::DVec3;
use sinew_math::{Force, shift_motion};
use sinew_solvers::{LoopRow, LoopRows};
use smallvec::SmallVec;

use crate::forces::ForceSet;
use crate::input::Grab;
use crate::joints::{RelativeState, joint_errors};
use crate::loops::{
    ForceRows, INACTIVE, LoopTerms, LoopWorkspace, OpeningPolicy, PrimaryRows, idle, release, soften,
};
use crate::model::{LoopModel, SECONDARY, WORLD};
use crate::tree::{Evaluation, TreeReport};

impl LoopWorkspace {
    /// Writes the rows.
    pub(crate) fn accelerate(&mut self, at: &Evaluation<'_>) -> TreeReport {
        self.clear();
        self.yielded.clear();
        let (rows, yielded) = (&mut self.rows, &mut self.yielded);
        let mut writer = AccelerationRows { at, rows, yielded, seen: TreeReport::default() };
        let mut is_primary = true;
        for (i, looped) in at.model.loops.iter().enumerate() {
            if is_primary && !looped.is_primary {
                is_primary = false;
                writer.springs(&mut self.primary);
            }
            let first = writer.rows.blocks().len() as u32;
            let terms = &mut self.terms[i];
            *terms = LoopTerms { span: (first, first), twist: terms.twist, ..LoopTerms::default() };
            if at.input.releases(looped.joint) {
                release(writer.rows, &mut self.lambda, at.model, looped);
            } else if looped.is_point {
                writer.point_joint(looped);
            } else {
                terms.twist = writer.joint(looped);
                terms.constant = at.inside_wrench(looped.joint);
            }
            terms.span.1 = writer.rows.blocks().len() as u32;
        }
        if is_primary {
            writer.springs(&mut self.primary);
        }
        for grab in at.input.hard_grabs(at.model) {
            writer.grab(grab);
        }
        let seen = writer.seen;
        self.lambda.resize(self.rows.len(), 0.0);
        self.activate(at.model, at.input);
        seen
    }
}

/// Writes rows at the acceleration level.
struct AccelerationRows<'a, 'b> {
    at: &'a Evaluation<'b>,
    rows: &'a mut LoopRows,
    /// Rows of blocks that yield.
    yielded: &'a mut Vec<(u32, u32)>,
    /// Errors so far.
    seen: TreeReport,
}

impl AccelerationRows<'_, '_> {
    /// Places of springs, which act from outside here; they end the rows of joints that may not open.
    fn springs(&mut self, primary: &mut PrimaryRows) {
        // Steps at this level are refused where there are transmissions, but states keep their places.
        idle(self.rows, 3 * self.at.model.springs.in_loops.len() + self.at.model.n_transmission_rows());
        primary.end_at(self.rows);
    }

    /// A plain ball: holds two points together.
    fn point_joint(&mut self, looped: &LoopModel) {
        let joint = &self.at.model.joints[looped.joint as usize];
        let (bodies, points) = ([joint.body1, joint.body2], [joint.frames.point1, joint.frames.point2]);
        let gap = self.point(looped.ports, bodies, points, looped.weight(joint));
        if !looped.is_primary {
            self.soften_open(looped.ports, (gap.sqrt(), 0.0), joint.weight);
        }
    }

    /// A hard grab holds a point of a body at its target.
    fn grab(&mut self, grab: &Grab) {
        let model = self.at.model;
        let body = grab.body.index();
        let points = [model.bodies[body].central_point(grab.point), grab.target];
        let ports = grab.ports(model);
        let gap = self.point(ports, [body as u32, WORLD], points, SECONDARY);
        self.soften_open(ports, (gap.sqrt(), 0.0), 1.0);
    }

    /// Holds two points together, with Baumgarte terms; returns the squared gap.
    fn point(&mut self, ports: [u32; 2], bodies: [u32; 2], points: [DVec3; 2], weight: f64) -> f64 {
        let demand = self.at.point(bodies, points);
        let given = |k: usize| shift_motion(self.at.prescribed(bodies[k]), demand.arms[k]).linear;
        self.rows.push_point(ports, demand.arms, demand.rhs - given(0) + given(1), weight);
        self.seen.gap_squared = self.seen.gap_squared.max(demand.gap_squared);
        demand.gap_squared
    }

    /// Any other joint; returns its twist angle.
    fn joint(&mut self, looped: &LoopModel) -> f64 {
        let at = self.at;
        let joint = &at.model.joints[looped.joint as usize];
        let (relative, found) = at.rows(looped.joint, joint);
        let is_rigid = joint.compliance == 0.0;
        let (gap, lean) = joint_errors(joint.kind, joint.drives_twist, &found);
        if is_rigid {
            self.seen.see_errors(gap * gap, lean * lean);
        }
        let demands = at.demands(joint, &found);
        let row = |k: usize| {
            let [on1, on2] = [found.jacobian1[k], found.jacobian2[k]].map(Force::from_array);
            let given = on1.dot(at.prescribed(joint.body1)) + on2.dot(at.prescribed(joint.body2));
            LoopRow { on1, on2, rhs: demands[k] - given, compliance: 0.0 }
        };
        let written: SmallVec<[LoopRow; 6]> =
            (0..found.n).map(|k| if is_rigid { row(k) } else { INACTIVE }).collect();
        if !written.is_empty() {
            self.rows.push(looped.ports, &written, looped.weight(joint));
            if !looped.is_primary && is_rigid {
                self.soften_open(looped.ports, (gap, lean), joint.weight);
            }
        }
        let armature = armature_rows(&at.model.forces[joint.forces as usize], &relative, at.shift(joint));
        if !armature.is_empty() {
            self.rows.push(looped.ports, &armature, looped.weight(joint));
        }
        relative.twist
    }

    /// Lets the last block yield as far as it is open.
    fn soften_open(&mut self, ports: [u32; 2], error: (f64, f64), importance: f64) {
        let softness =
            OpeningPolicy::Yield.treat(self.at.model, ports, error).softness.map(|s| s / importance);
        soften((self.at.model, self.at.poses), self.rows, self.yielded, softness, 0.0);
    }
}

/// The inertia of transmissions in a joint outside the tree: `λ = −a ẍ`; idle rows for its other forces.
fn armature_rows(forces: &ForceSet, relative: &RelativeState, shift: DVec3) -> SmallVec<[LoopRow; 6]> {
    let mut sink = ForceRows { shift, rows: SmallVec::new(), constant: Force::ZERO };
    forces.linearize_armature(relative, &mut sink);
    sink.rows
}
