//! The rows of joints and hard grabs outside the tree at the acceleration level (Fau99): `λ` are forces.
//!
//! Springs and the forces inside joints act from outside here (`explicit`); idle rows keep their places, so that
//! multipliers mean the same in every scheme. The inertia of transmissions is a compliant row, `λ = −a ẍ`.

use glam::DVec3;
use sinew_math::{Force, Sym3};
use sinew_solvers::{LoopRow, LoopRows};
use sinew_topology::NONE;
use smallvec::SmallVec;

use crate::forces::set::ForceSet;
use crate::forces::sink::ForceSink;
use crate::joints::errors::joint_errors;
use crate::joints::relative::RelativeState;
use crate::loops::force_rows::{ForceRows, INACTIVE, idle, release};
use crate::loops::opening::{OpeningPolicy, soften};
use crate::loops::work::LoopWork;
use crate::model::records::{SECONDARY, WORLD};
use crate::tree::acceleration::Evaluation;
use crate::tree::report::TreeReport;

impl LoopWork {
    /// Writes the rows.
    pub(crate) fn accelerate(&mut self, at: &Evaluation<'_>) -> TreeReport {
        self.clear();
        let mut seen = TreeReport::default();
        self.yielded.clear();
        let rows = &mut self.rows;
        let yielded = &mut self.yielded;
        let give = |rows: &mut LoopRows, yielded: &mut Vec<(u32, u32)>, ports, error, importance: f64| {
            let softness =
                OpeningPolicy::Yield.treat(at.model, ports, error).softness.map(|s| s / importance);
            soften((at.model, at.poses), rows, yielded, softness, 0.0);
        };
        let mut is_primary = true;
        for (i, looped) in at.model.loops.iter().enumerate() {
            if is_primary && !looped.is_primary {
                is_primary = false;
                idle(rows, 3 * at.model.loop_springs.len());
                self.primary = (rows.blocks().len(), rows.len());
            }
            let joint = &at.model.joints[looped.joint as usize];
            let weight = looped.weight(joint);
            self.blocks[i] = NONE;
            if at.input.releases(at.model, looped.joint) {
                release(rows, &mut self.lambda, joint);
                continue;
            }
            if looped.is_point {
                let points = [joint.frames.point1, joint.frames.point2];
                let gap =
                    accelerated_point(at, rows, looped.ports, [joint.body1, joint.body2], points, weight);
                seen.gap_squared = seen.gap_squared.max(gap);
                if !looped.is_primary {
                    give(rows, yielded, looped.ports, (gap.sqrt(), 0.0), joint.weight);
                }
                continue;
            }
            let (relative, found) = at.rows(looped.joint, joint);
            self.twists[i] = relative.twist;
            if joint.compliance == 0.0 {
                let (gap, lean) = joint_errors(joint.kind, joint.drives_twist, &found);
                seen.gap_squared = seen.gap_squared.max(gap * gap);
                seen.lean_squared = seen.lean_squared.max(lean * lean);
            }
            let rhs = at.demands(joint, &found);
            let row = |k: usize| {
                let [on1, on2] = [found.jacobian1[k], found.jacobian2[k]].map(Force::from_array);
                LoopRow { on1, on2, rhs: rhs[k], compliance: 0.0 }
            };
            let rigid = |k| if joint.compliance > 0.0 { INACTIVE } else { row(k) };
            let written: SmallVec<[LoopRow; 6]> = (0..found.n).map(rigid).collect();
            if !written.is_empty() {
                rows.push(looped.ports, &written, weight);
                if !looped.is_primary && joint.compliance == 0.0 {
                    give(
                        rows,
                        yielded,
                        looped.ports,
                        joint_errors(joint.kind, joint.drives_twist, &found),
                        joint.weight,
                    );
                }
            }
            let armature = armature_rows(&at.model.forces[joint.forces as usize], &relative, at.shift(joint));
            if !armature.is_empty() {
                rows.push(looped.ports, &armature, weight);
            }
        }
        if is_primary {
            idle(rows, 3 * at.model.loop_springs.len());
            self.primary = (rows.blocks().len(), rows.len());
        }
        for grab in at.input.hard_grabs(at.model) {
            let body = grab.body.index();
            let points = [at.model.bodies[body].central_point(grab.point), grab.target];
            let ports = [at.model.port(body as u32), NONE];
            let gap = accelerated_point(at, rows, ports, [body as u32, WORLD], points, SECONDARY);
            seen.gap_squared = seen.gap_squared.max(gap);
            give(rows, yielded, ports, (gap.sqrt(), 0.0), 1.0);
        }
        self.lambda.resize(self.rows.len(), 0.0);
        self.activate(at.model, at.input, &[]);
        seen
    }
}

/// Holds two points together at the acceleration level, with Baumgarte terms; returns the squared gap.
fn accelerated_point(
    at: &Evaluation<'_>,
    rows: &mut LoopRows,
    ports: [u32; 2],
    bodies: [u32; 2],
    points: [DVec3; 2],
    weight: f64,
) -> f64 {
    let demand = at.point(bodies, points);
    rows.push_point(ports, demand.arms, demand.rhs, weight);
    demand.gap_squared
}

/// The inertia of transmissions in a joint outside the tree: `λ = −a ẍ`; idle rows for its other forces.
fn armature_rows(forces: &ForceSet, relative: &RelativeState, shift: DVec3) -> SmallVec<[LoopRow; 6]> {
    let mut sink = ForceRows { shift, rows: SmallVec::new(), constant: Force::ZERO };
    let axis = relative.axes2.x_axis;
    if let Some(twist) = &forces.twist {
        sink.along(Force::new(axis, DVec3::ZERO), 0.0, twist.armature);
    }
    if let Some(slide) = &forces.slide {
        sink.along(Force::new(relative.arm1.cross(axis), axis), 0.0, slide.armature);
    }
    if let Some(rotation) = &forces.rotation {
        sink.turning(Sym3::IDENTITY * rotation.armature, DVec3::ZERO);
        if rotation.cone.is_some() {
            sink.rows.push(INACTIVE);
        }
    }
    sink.rows
}
