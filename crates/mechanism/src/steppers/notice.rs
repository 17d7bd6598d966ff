//! What an implicit step noticed beside its errors, by name: forces at their bounds, dependent rows, the order fallen back.
//!
//! Laws are those of the last solve. Cost: one pass over the joints with bounded forces and over ropes; the joint of a dependent row is
//! looked for only if there is one.

use sinew_math::DriveCoordinate::{Slide, Twist};
use sinew_solvers::{LoopReport, LoopStop};

use crate::forces::BandLaw;
use crate::steppers::ImplicitStep;
use crate::{JointId, Noticed, TransmissionId};

/// Share of the smallest body, or rad, from which what a step leaves of its loop rows is told.
const CONTRADICTED: f64 = 1e-4;

impl ImplicitStep<'_> {
    /// What is noticed once the step is solved.
    pub(crate) fn notice(&self, loops: &LoopReport) -> Noticed {
        let slips = |law: &BandLaw| matches!(law, BandLaw::SlipsUpper | BandLaw::SlipsLower);
        let size = self.here.task.model.derived.smallest_size.min(1.0);
        let is_left = loops.residual * self.here.scheme.longest() > CONTRADICTED * size;
        Noticed {
            contradicts: loops.stop == LoopStop::LeastSquares && is_left,
            jolted: self.here.scheme.fallback.jolted,
            dependent: loops.dependent.and_then(|row| self.joint_of_row(row as usize)),
            slipping_rope: self.here.points.bands.iter().position(slips).map(TransmissionId::from_index),
            ..self.notice_bounds()
        }
    }

    /// Joints whose motors or friction are at their bounds.
    fn notice_bounds(&self) -> Noticed {
        let (model, laws) = (self.here.task.model, &self.here.points.laws);
        let mut noticed = Noticed::default();
        for &index in &model.derived.bounded_joints {
            let forces = &model.forces[model.joints[index as usize].forces as usize];
            for (coordinate, law) in [Twist, Slide].into_iter().zip(laws[index as usize]) {
                let Some(force) = forces.along(coordinate) else { continue };
                let joint = Some(JointId::from_index(index as usize));
                if force.motor.is_some() && law.is_motor_bound() {
                    noticed.saturated = noticed.saturated.or(joint);
                }
                if force.friction > 0.0 && law.is_slipping() {
                    noticed.slipping = noticed.slipping.or(joint);
                }
            }
        }
        noticed
    }

    /// The joint outside the tree that a row of the loops belongs to.
    fn joint_of_row(&self, row: usize) -> Option<JointId> {
        let loops = self.solver.loops.as_deref()?;
        let has_row = |&block: &u32| loops.rows.blocks()[block as usize].rows().contains(&row);
        let at = loops.terms.iter().position(|terms| terms.rigid.as_ref().is_some_and(has_row))?;
        Some(JointId::from_index(self.here.task.model.loops[at].joint as usize))
    }
}
