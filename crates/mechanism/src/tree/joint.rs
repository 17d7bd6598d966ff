//! A joint at a linearization point, in the general form: rows from the row library, and the forces inside it.
//!
//! Forces inside a joint act on the relative twist `r = v_a − X v_b` of the tree child as `q − K r`, so that they fold into the
//! pair. The rows ask for `J_a r = b_λ`. A row that a degenerate pose has shortened asks for less, see [`SHORT_ROW`]; it counts
//! as regularized. World axes at centres of mass; about 250 flops and 40 per row.

use glam::DVec3;
use sinew_math::{DriveCoordinate, Force, Motion, Pose, RowSpace, shift_force, shift_motion};
use sinew_solvers::{Load, PairJoint};
use smallvec::SmallVec;

use crate::forces::{
    Bend, CoordinateLaws, ForceSettings, ForceSink, PointSpringState, RelativeMotion, ScalarImpulse,
};
use crate::input::Servo;
use crate::input_index::StepInput;
use crate::joints::{Drive, RelativeState, Rows, evaluate_rows_without_bias, joint_errors};
use crate::measure::slip;
use crate::model::{JointId, JointModel, PairModel, motion_of};
use crate::tree::{Found, LinearizationPoint};

/// A joint at a linearization point.
pub(crate) struct JointAt<'a> {
    at: &'a LinearizationPoint<'a>,
    index: u32,
    pub(crate) joint: &'a JointModel,
    /// `x₁ − x₂`.
    pub(crate) shift: DVec3,
    /// Relative twists of body 1 at its centre of mass.
    motion: RelativeMotion,
    /// Frame 1 relative to frame 2, where directions are taken and where errors and forces are measured.
    relative: RelativeState,
    pub(crate) measured: RelativeState,
    /// Without the forces inside.
    pub(crate) rows: Rows,
    /// Largest translation error, m, and rotation error, rad.
    pub(crate) position_error: f64,
    pub(crate) rotation_error: f64,
}

impl<'a> JointAt<'a> {
    /// Evaluates the rows of a joint; forces are evaluated when asked for.
    pub(crate) fn new(at: &'a LinearizationPoint<'a>, index: u32) -> Self {
        let joint = &at.model.joints[index as usize];
        let (pose1, pose2) = (at.pose(joint.body1), at.pose(joint.body2));
        let shift = pose1.translation - pose2.translation;
        let turns = at.turns(joint);
        let relative_at = |poses: &[Pose], turned: f64| {
            let twist = at.twists[index as usize] + turned;
            joint.relative_without_bias(poses, |body| motion_of(at.motions, body), twist)
        };
        let relative = relative_at(at.poses, turns[0]);
        let drives = drives_of(at.input, index, joint);
        let mut rows = evaluate_rows_without_bias(joint.kind, &relative, &drives, at.form);
        let mut measured = relative;
        if let Some(ends) = at.measured {
            measured = relative_at(ends, turns[1]);
            rows.residual = evaluate_rows_without_bias(joint.kind, &measured, &drives, at.form).residual;
            if at.is_displacement() && !joint.kind.is_holonomic() {
                let slipped = slip(joint, at.poses, ends);
                rows.residual.iter_mut().zip(slipped).for_each(|(c, s)| *c += s);
            }
        }
        let (position_error, rotation_error) = joint_errors(joint.kind, joint.drives_twist, &rows);
        let motion = relative_motion(at, joint, shift);
        Self { at, index, joint, shift, motion, relative, measured, rows, position_error, rotation_error }
    }

    /// Right-hand side of a row, on the relative twist `v₁ − X v₂`.
    pub(crate) fn rhs(&self, row: usize) -> f64 {
        let rows = &self.rows;
        let displaced = Force::from_array(rows.jacobian1[row]).dot(self.motion.displaced);
        let carried = if rows.velocity_only[row] { 0.0 } else { displaced };
        let rate = if self.at.rates { rows.rate_target[row] } else { 0.0 };
        carried - rows.residual[row] * self.at.step.per_h + rate
    }

    /// Hands the forces along twist and slide and on the rotation, as seen by body 1, to a sink.
    pub(crate) fn add_forces(&self, sink: &mut impl ForceSink) {
        let (at, settings) = (self.at, self.force_settings());
        at.model.forces[self.joint.forces as usize].linearize(
            [&self.relative, &self.measured],
            &self.motion,
            &settings,
            sink,
        );
    }

    /// What the forces depend on beyond the state.
    fn force_settings(&self) -> ForceSettings<'a> {
        let at = self.at;
        ForceSettings {
            h: at.step.h,
            scale: at.spring_scale,
            target: at.target(self.index),
            laws: at.laws(self.index),
            held: at.laws.held.map(|limits| (limits, self.index)),
            bend: if self.bends() { self.slide_bend() } else { Bend::default() },
        }
    }

    /// Whether forces act along the slide in a step whose twists are those of a straight line.
    fn bends(&self) -> bool {
        self.at.step.bends && self.at.model.forces[self.joint.forces as usize].slide.is_some()
    }

    /// How far the slide is from a straight line: foreseen from the motion at the start, or measured at the end that was found. The step before
    /// has bent as much.
    fn slide_bend(&self) -> Bend {
        let at = self.at;
        if at.displaced.is_none() {
            let start = self.joint.relative(at.poses, |body| motion_of(at.motions, body), 0.0);
            let step = self.foreseen_bend(&start);
            return Bend { step, rate: -step, displaced: 0.0, base: -step };
        }
        let (gradient, _) = self.relative.coordinate(DriveCoordinate::Slide);
        let start = self.joint.relative(at.base.poses, |body| motion_of(at.base.motions, body), 0.0);
        let moved = (self.measured.slide() - start.slide()) / at.step.h;
        let step = moved - gradient.dot(self.motion.displaced);
        let base = start.motion.linear.x - self.foreseen_bend(&start) - gradient.dot(self.motion.base);
        Bend { step, rate: step, displaced: step, base }
    }

    /// The bend of the slide if both bodies go on as at the start, where the joint is at `start`: `½ h ū`, with its velocity products.
    fn foreseen_bend(&self, start: &RelativeState) -> f64 {
        let (at, bodies) = (self.at, [self.joint.body1, self.joint.body2]);
        0.5 * at.step.h * start.bias.linear.x * at.foreseen_share(bodies)
    }

    /// The slide at the end of the step as a solve that found some twists takes it: along a straight line from where it is measured.
    pub(crate) fn straight_slide(&self, found: impl Fn(u32) -> Motion) -> f64 {
        let rate = found(self.joint.body1) - shift_motion(found(self.joint.body2), self.shift);
        let (gradient, _) = self.relative.coordinate(DriveCoordinate::Slide);
        self.measured.slide() + self.at.step.h * gradient.dot(rate - self.motion.displaced)
    }

    /// The laws of bounded forces that hold for the twists (per pair) found with other ones.
    pub(crate) fn review(&self, motions: &[Motion]) -> [CoordinateLaws; 2] {
        let at = self.at;
        let found = |body: u32| at.model.found_motion(motions, at.motions, body);
        let found = found(self.joint.body1) - shift_motion(found(self.joint.body2), self.shift);
        let (states, settings) = ([&self.relative, &self.measured], self.force_settings());
        at.model.forces[self.joint.forces as usize].review(states, &self.motion, &settings, found)
    }

    /// The impulse of a law over the step.
    fn impulse_of(&self, servo: &Servo) -> ScalarImpulse {
        let h = self.at.step.h;
        ScalarImpulse { q: h * servo.force, kappa: h * servo.damping }
    }

    /// Forces inside the joint on body 1, springs across it included.
    fn inside(&self) -> Load {
        let mut inside = Load::ZERO;
        match self.at.input.servos(self.index) {
            [] => self.add_forces(&mut inside),
            servos => {
                servos.iter().for_each(|(_, servo)| inside.along(servo.gradient, self.impulse_of(servo)))
            }
        }
        for spring in self.at.model.springs_across(self.joint) {
            let arm = self.at.pose(self.joint.body1).rotation * spring.point1;
            let gap = self.at.spring_gap(spring);
            let carried = shift_motion(self.motion.displaced, arm).linear;
            let linear = |motions: &[Motion]| {
                let [motion1, motion2] =
                    [self.joint.body1, self.joint.body2].map(|body| motion_of(motions, body));
                shift_motion(motion1 - shift_motion(motion2, self.shift), arm).linear
            };
            let state = PointSpringState { arm, gap, carried, end_velocity: DVec3::ZERO };
            let bend = self.at.spring_bend(spring, linear);
            spring.linearize(&state.bent(bend), self.at.step.h, &mut inside);
        }
        inside
    }
}

/// Relative twists of body 1 against body 2 at body 1.
fn relative_motion(at: &LinearizationPoint<'_>, joint: &JointModel, shift: DVec3) -> RelativeMotion {
    let relative = |motions: &[Motion]| {
        motion_of(motions, joint.body1) - shift_motion(motion_of(motions, joint.body2), shift)
    };
    let displaced = at.displaced.map_or(Motion::ZERO, relative);
    RelativeMotion { rate: relative(at.motions), displaced, base: relative(at.base.motions) }
}

/// Driven coordinates at the end of the step.
pub(crate) fn drives_of(input: StepInput<'_>, index: u32, joint: &JointModel) -> SmallVec<[Drive; 2]> {
    let id = JointId::from_index(index as usize);
    joint.driven().map(|c| input.drive(id, c).copied().unwrap_or(Drive::at_rest(c))).collect()
}

/// A tree joint linearized in the general form: rows on the tree child and the force inside.
pub(crate) struct LinearizedJoint {
    /// `x_a − x_b`.
    pub(crate) shift: DVec3,
    /// Rows in use; soft rows are part of `inside`.
    pub(crate) n: usize,
    /// `J_a`.
    pub(crate) rows: [[f64; 6]; 6],
    /// `b_λ` on `r = v_a − X v_b`.
    pub(crate) rhs: [f64; 6],
    /// `K` and `q`.
    pub(crate) inside: Load,
    /// Errors and twist angle.
    pub(crate) found: Found,
    /// Rows that a degenerate pose has all but erased.
    pub(crate) degenerate: u32,
}

/// Rows have size one unless the pose is degenerate; a row shorter than this counts as all but erased.
pub(crate) const SHORT_ROW: f64 = 1e-2;

impl LinearizedJoint {
    /// The tree joint of a pair.
    pub(crate) fn new(at: &LinearizationPoint<'_>, pair: &PairModel) -> Self {
        let here = JointAt::new(at, pair.joint);
        let found = Found::new(here.position_error, here.rotation_error, here.measured.twist);
        let mut out = Self::of_rows(pair, &here.rows, here.shift, found);
        out.set_inside(pair, &here.inside(), here.shift);
        for i in 0..out.n {
            out.rhs[i] = here.rhs(i);
        }
        out.soften_degenerate();
        if here.joint.compliance > 0.0 {
            out.fold_rows(at.step.h * at.step.h / here.joint.compliance);
        }
        out
    }

    /// The rows on the child of a pair, their right-hand sides and the force inside still zero; `shift` is `x₁ − x₂`.
    pub(crate) fn of_rows(pair: &PairModel, rows: &Rows, shift: DVec3, found: Found) -> Self {
        let (shift, jacobian) = if pair.flipped { (-shift, rows.jacobian2) } else { (shift, rows.jacobian1) };
        let (rhs, inside) = ([0.0; 6], Load::ZERO);
        Self { shift, n: rows.n, rows: jacobian, rhs, inside, found, degenerate: 0 }
    }

    /// Takes the force inside from that on body 1.
    pub(crate) fn set_inside(&mut self, pair: &PairModel, inside: &Load, shift: DVec3) {
        self.inside = if pair.flipped { seen_from_body2(inside, shift) } else { *inside };
    }

    /// Fades out what short rows ask for, so that a degenerate pose gives bounded motion: a row of length `l` below the
    /// threshold `l₀` keeps `(l/l₀)²` of its right-hand side.
    pub(crate) fn soften_degenerate(&mut self) {
        for i in 0..self.n {
            let square: f64 = self.rows[i].iter().map(|x| x * x).sum();
            if square < SHORT_ROW * SHORT_ROW {
                self.rhs[i] *= square / (SHORT_ROW * SHORT_ROW);
                self.degenerate += 1;
            }
        }
    }

    /// Turns soft rows into implicit springs of stiffness `k/h²`.
    fn fold_rows(&mut self, k: f64) {
        for i in 0..self.n {
            let row = Force::from_array(self.rows[i]);
            self.inside.mass.add_outer(k, row);
            self.inside.momentum += row * (k * self.rhs[i]);
        }
        self.n = 0;
    }

    /// The pair form: basis of the free directions, offset, and the force seen along them.
    ///
    /// If the rows have lost rank (a degenerate pose), the directions beyond `F` are held instead of freed and the joint counts
    /// as regularized.
    pub(crate) fn reduce<const F: usize>(&self) -> (PairJoint<F>, u32) {
        let space = RowSpace::factor(&self.rows[..self.n]);
        let (null, n_free) = space.null_basis();
        let basis: [Motion; F] = std::array::from_fn(|i| Motion::from_array(null[i]));
        let offset = Motion::from_array(space.particular(&self.rhs[..self.n]));
        let mut stiffness = [[0.0; F]; F];
        let mut impulse = [0.0; F];
        let momentum = self.inside.momentum - self.inside.mass.mul(offset);
        for i in 0..F {
            let column = self.inside.mass.mul(basis[i]);
            impulse[i] = momentum.dot(basis[i]);
            for j in 0..F {
                stiffness[i][j] = column.dot(basis[j]);
            }
        }
        let held = self.degenerate.max(u32::from(n_free > F));
        (PairJoint { shift: self.shift, basis, offset, stiffness, impulse }, held)
    }
}

/// A force on body 1 as body 2 sees it: `K ← XᵀKX`, `q ← −Xᵀq`.
pub(crate) fn seen_from_body2(inside: &Load, shift: DVec3) -> Load {
    Load { mass: inside.mass.shifted(shift), momentum: shift_force(inside.momentum, shift) * -1.0 }
}
