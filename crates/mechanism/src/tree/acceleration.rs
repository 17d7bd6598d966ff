//! Acceleration-level equations of the tree, for the explicit and displacement steppers (Bar96).
//!
//! ```text
//! M v̇ + Jᵀλ = F(q, v),   J v̇ = −J̇v + c̈ − 2γ(Jv − ċ) − γ² C        (velocity rows: −J̇v − γ Jv)
//! ```
//! The unknowns are accelerations and the right-hand sides forces; the elimination is that of the implicit step. Forces inside joints
//! are taken at the state. World axes at centres of mass. Cost: one sweep through the row library.

use glam::DVec3;
use sinew_math::{Force, Motion, Pose, Sym3, Sym6, quat_to_mat3, shift_force, shift_motion};
use sinew_solvers::{Load, PointJoint};
use sinew_topology::NONE;
use smallvec::SmallVec;

use crate::cubic_path::CubicWeights;
use crate::forces::PointSpring;
use crate::input_index::StepInput;
use crate::joints::joint_errors;
use crate::model::{JointModel, LoopSpring, PairModel, PairPath, WORLD, motion_of, pose_of};
use crate::tree::{
    FREE, Found, LinearizedJoint, TreeReport, TreeScratch, drives_of, eliminate_linearized, hand_up,
    waiting_load,
};
use crate::{Drive, Model, MotorTarget, RelativeState, RowForm, Rows, Stage, State, evaluate_rows};

/// What holds two points together at the acceleration level.
pub(crate) struct PointDemand {
    /// From the centres of mass to the first point, world axes.
    pub(crate) arms: [DVec3; 2],
    /// Relative acceleration, m/s².
    pub(crate) rhs: DVec3,
    /// Between the two points, m².
    pub(crate) gap_squared: f64,
}

/// One evaluation of the accelerations.
pub(crate) struct Evaluation<'a> {
    pub(crate) model: &'a Model,
    pub(crate) poses: &'a [Pose],
    pub(crate) motions: &'a [Motion],
    /// Continuous twist angles per joint.
    pub(crate) twists: &'a [f64],
    pub(crate) input: StepInput<'a>,
    /// Motor targets per joint; empty if no joint has a motor.
    pub(crate) targets: &'a [MotorTarget],
    /// m/s².
    pub(crate) gravity: DVec3,
    /// Frequency `γ` at which joint errors decay, 1/s.
    pub(crate) baumgarte: f64,
    /// Accelerations of kinematic bodies, per body; empty if there are none.
    pub(crate) prescribed: &'a [Motion],
    /// The stage of a step; without it, drives are at their ends.
    pub(crate) stage: Option<StepStage<'a>>,
    /// Wrenches from outside, per body.
    pub(crate) external: &'a [Force],
}

/// A stage of a step, for what is prescribed.
#[derive(Clone, Copy)]
pub(crate) struct StepStage<'a> {
    /// Where the step began.
    pub(crate) start: &'a State,
    /// The place of this stage in it.
    pub(crate) weights: CubicWeights,
    /// Length of the step, s.
    pub(crate) dt: f64,
    /// Whether drives are brought to their values within the step, from wherever they are: integrators of lower order overshoot.
    pub(crate) closes_drives: bool,
}

impl<'a> Evaluation<'a> {
    /// At the poses and twists of a state, without gravity and motor targets of the input.
    pub(crate) fn of_state(model: &'a Model, state: &'a State, input: StepInput<'a>) -> Self {
        let State { poses, motions, twists, .. } = state;
        Self {
            model,
            poses,
            motions,
            twists,
            input,
            targets: &[],
            gravity: DVec3::ZERO,
            baumgarte: 0.0,
            prescribed: &[],
            stage: None,
            external: &[],
        }
    }

    /// Accelerations into `tree.motions`, in elimination order.
    pub(crate) fn accelerations(&self, tree: &mut TreeScratch, done: &mut dyn FnMut(Stage)) -> TreeReport {
        let TreeScratch { factor, motions, twists, stacks, .. } = tree;
        let stack = TreeScratch::trunk(stacks);
        stack.clear();
        let mut report = TreeReport::default();
        let mut view = factor.view();
        for (k, pair) in self.model.pairs.iter().enumerate() {
            let load = waiting_load(pair, &mut stack.loads);
            load.add(&self.own(pair));
            report.regularized += if pair.joint == WORLD {
                view.eliminate_root(k, load, &FREE)
            } else if pair.path == PairPath::Ball && self.model.forces[pair.forces.set as usize].n_rows() == 0
            {
                let (ball, gap_squared) = self.ball(pair, &self.model.joints[pair.joint as usize]);
                report.gap_squared = report.gap_squared.max(gap_squared);
                view.eliminate_point(k, load, &ball)
            } else {
                let joint = self.joint(pair);
                twists[k] = joint.found.twist;
                report.see(&joint.found, 0);
                eliminate_linearized(pair, &joint, (&mut view, k, load))
            };
            hand_up(pair, &mut stack.loads, Load::add);
        }
        done(Stage::Eliminate);
        for k in (0..motions.len()).rev() {
            let pair = &self.model.pairs[k];
            let is_root = pair.parent == NONE;
            let above =
                if is_root { self.prescribed(pair.parent_body) } else { motions[pair.parent as usize] };
            motions[k] = factor.substitute(k, above);
        }
        done(Stage::Substitute);
        report
    }

    /// Twist of a body position; the world is at rest.
    pub(crate) fn motion(&self, body: u32) -> Motion {
        motion_of(self.motions, body)
    }

    /// Acceleration of a body position that forces do not move; the world is at rest.
    pub(crate) fn prescribed(&self, body: u32) -> Motion {
        self.prescribed.get(body as usize).copied().unwrap_or(Motion::ZERO)
    }

    /// Mass and force of a body.
    pub(crate) fn own(&self, pair: &PairModel) -> Load {
        let body = pair.body as usize;
        let (pose, motion) = (&self.poses[body], &self.motions[body]);
        let inertia = pair.inertial.inertia.rotated_by(&quat_to_mat3(pose.rotation));
        let momentum = inertia.mul_vec(motion.angular);
        let mut force = Force {
            angular: -motion.angular.cross(momentum) - momentum * pair.inertial.angular_damping,
            linear: (self.gravity - motion.linear * pair.inertial.linear_damping) * pair.inertial.mass,
        };
        force += self.external[body];
        Load { mass: Sym6::rigid(inertia, pair.inertial.mass), momentum: force }
    }

    /// Wrenches of the input, of springs that no tree joint holds, and inside joints outside the tree, per body.
    pub(crate) fn fill_external(&self, external: &mut Vec<Force>) {
        external.clear();
        external.resize(self.poses.len(), Force::ZERO);
        for (body, wrench) in self.input.usable_wrenches(self.model) {
            external[body.index()] += *wrench;
        }
        for grab in self.input.soft_grabs(self.model) {
            let body = grab.body.index();
            let pose = &self.poses[body];
            let arm = pose.rotation * self.model.bodies[body].central_point(grab.point);
            let velocity = shift_motion(self.motions[body], arm).linear;
            let pull = (grab.target - pose.translation - arm) * grab.stiffness - velocity * grab.damping;
            external[body] += shift_force(Force::new(DVec3::ZERO, pull), arm);
        }
        for spring in &self.model.springs.to_ground {
            external[spring.body1 as usize] += self.spring(spring);
        }
        for LoopSpring { spring, .. } in &self.model.springs.in_loops {
            let shift =
                self.poses[spring.body1 as usize].translation - self.poses[spring.body2 as usize].translation;
            let wrench = self.spring(spring);
            external[spring.body1 as usize] += wrench;
            external[spring.body2 as usize] -= shift_force(wrench, shift);
        }
        for looped in &self.model.loops {
            self.add_inside(looped.joint, external);
        }
    }

    /// Adds what a joint does to its bodies beyond its rows.
    pub(crate) fn add_inside(&self, index: u32, external: &mut [Force]) {
        self.add_to_both(&self.model.joints[index as usize], self.inside_wrench(index), external);
    }

    /// What a joint does to its body 1 beyond its rows, at the centre of mass.
    pub(crate) fn inside_wrench(&self, index: u32) -> Force {
        let joint = &self.model.joints[index as usize];
        let (_, relative, inside) = self.relative(index, joint);
        let mut wrench = inside.momentum;
        if joint.compliance > 0.0 {
            let rows = evaluate_rows(joint.kind, &relative, &[], RowForm::Acceleration);
            for i in 0..rows.n {
                wrench -= Force::from_array(rows.jacobian1[i]) * (rows.residual[i] / joint.compliance);
            }
        }
        wrench
    }

    /// Adds a wrench on body 1 of a joint, and its opposite on body 2.
    fn add_to_both(&self, joint: &JointModel, wrench: Force, external: &mut [Force]) {
        let sides = [(joint.body1, wrench), (joint.body2, shift_force(wrench, self.shift(joint)) * -1.0)];
        for (body, wrench) in sides {
            if let Some(sum) = external.get_mut(body as usize) {
                *sum += wrench;
            }
        }
    }

    /// Adds what springs across a joint do to its bodies.
    pub(crate) fn add_springs(&self, joint: &JointModel, external: &mut [Force]) {
        for spring in self.model.springs_across(joint) {
            self.add_to_both(joint, self.spring(spring), external);
        }
    }

    /// Wrench of a point spring on its first body.
    fn spring(&self, spring: &PointSpring) -> Force {
        let bodies = [spring.body1, spring.body2];
        spring.explicit(bodies.map(|body| pose_of(self.poses, body)), bodies.map(|body| self.motion(body)))
    }

    /// `x₁ − x₂` of the bodies of a joint.
    pub(crate) fn shift(&self, joint: &JointModel) -> DVec3 {
        pose_of(self.poses, joint.body1).translation - pose_of(self.poses, joint.body2).translation
    }

    /// A joint where it is: shift `x₁ − x₂`, coordinates, and the force inside.
    fn relative(&self, index: u32, joint: &JointModel) -> (DVec3, RelativeState, Load) {
        let relative = joint.relative(self.poses, |body| self.motion(body), self.twists[index as usize]);
        let shift = self.shift(joint);
        let rate = self.motion(joint.body1) - shift_motion(self.motion(joint.body2), shift);
        let inside = self.inside(index, joint, &relative, rate);
        (shift, relative, inside)
    }

    /// Right-hand sides of the rows of a joint.
    pub(crate) fn demands(&self, joint: &JointModel, rows: &Rows) -> [f64; 6] {
        let rates = rows.rate_error(&self.motion(joint.body1), &self.motion(joint.body2));
        let gamma = self.baumgarte;
        std::array::from_fn(|i| {
            let (damping, pull) =
                if rows.velocity_only[i] { (gamma, 0.0) } else { (2.0 * gamma, gamma * gamma) };
            rows.acceleration_target[i] - rows.bias[i] - damping * rates[i] - pull * rows.residual[i]
        })
    }

    /// The rows of a joint at the acceleration level.
    pub(crate) fn rows(&self, index: u32, joint: &JointModel) -> (RelativeState, Rows) {
        let (_, relative, _) = self.relative(index, joint);
        let rows = self.rows_at(index, joint, &relative);
        (relative, rows)
    }

    fn rows_at(&self, index: u32, joint: &JointModel, relative: &RelativeState) -> Rows {
        evaluate_rows(joint.kind, relative, &self.drives(index, joint), RowForm::Acceleration)
    }

    /// What holds two points (central frames, or world) together, both bodies seen at the first point and in the axes
    /// of the second: `a₁ − a₂ − α₂×ρ − ω₂×(ω₂×ρ) − 2ω₂×ṙ = −2γ ṙ − γ² r`.
    pub(crate) fn point(&self, bodies: [u32; 2], points: [DVec3; 2]) -> PointDemand {
        let [pose1, pose2] = bodies.map(|body| pose_of(self.poses, body));
        let [motion1, motion2] = bodies.map(|body| self.motion(body));
        let meeting = pose1.transform_point(points[0]);
        let arms = [meeting - pose1.translation, meeting - pose2.translation];
        let gap = meeting - pose2.transform_point(points[1]);
        let rate = shift_motion(motion1, arms[0]).linear - shift_motion(motion2, arms[1]).linear;
        let (w1, w2) = (motion1.angular, motion2.angular);
        let bias = w1.cross(w1.cross(arms[0])) - w2.cross(w2.cross(arms[1])) - w2.cross(rate) * 2.0;
        let gamma = self.baumgarte;
        let rhs = -bias - rate * (2.0 * gamma) - gap * (gamma * gamma);
        PointDemand { arms, rhs, gap_squared: gap.length_squared() }
    }

    /// A plain ball of the tree, without the row library.
    fn ball(&self, pair: &PairModel, joint: &JointModel) -> (PointJoint, f64) {
        let demand = self.point([joint.body1, joint.body2], [joint.frames.point1, joint.frames.point2]);
        let shift = self.shift(joint);
        let (shift, arm, linear) = if pair.flipped {
            (-shift, demand.arms[1], -demand.rhs)
        } else {
            (shift, demand.arms[0], demand.rhs)
        };
        let offset = Motion { angular: DVec3::ZERO, linear };
        let joint = PointJoint { shift, arm, offset, stiffness: Sym3::ZERO, impulse: DVec3::ZERO };
        (joint, demand.gap_squared)
    }

    /// The tree joint of a pair at the acceleration level.
    fn joint(&self, pair: &PairModel) -> LinearizedJoint {
        let joint = &self.model.joints[pair.joint as usize];
        let (shift, relative, mut inside) = self.relative(pair.joint, joint);
        let rows = self.rows_at(pair.joint, joint, &relative);
        let (gap, lean) = joint_errors(joint.kind, joint.drives_twist, &rows);
        let mut out = LinearizedJoint::of_rows(pair, &rows, shift, Found::new(gap, lean, relative.twist));
        out.rhs = self.demands(joint, &rows);
        out.soften_degenerate();
        if joint.compliance > 0.0 {
            for i in 0..rows.n {
                let row = Force::from_array(rows.jacobian1[i]);
                inside.momentum -= row * (rows.residual[i] / joint.compliance);
            }
            out.n = 0;
        }
        out.set_inside(pair, &inside, shift);
        out
    }

    /// Drives at the time of this stage.
    fn drives(&self, index: u32, joint: &JointModel) -> SmallVec<[Drive; 2]> {
        let mut drives = drives_of(self.input, index, joint);
        let Some(stage) = self.stage.filter(|_| !drives.is_empty()) else { return drives };
        let StepStage { start, weights, dt, closes_drives } = stage;
        let motion = |body| motion_of(&start.motions, body);
        let began = joint.relative(&start.poses, motion, start.twists[index as usize]);
        for drive in &mut drives {
            let (value, rate) = began.along(drive.coordinate);
            let even = 0.5 * dt * (rate + drive.rate);
            let step = if closes_drives { drive.value - value } else { even };
            let [moved, rate, acceleration] = weights.blend(step, [rate, drive.rate]);
            (drive.value, drive.rate, drive.acceleration) = (drive.value - step + moved, rate, acceleration);
        }
        drives
    }

    /// Forces inside a joint on body 1, springs across it included, and armature as inertia of the relative motion.
    fn inside(&self, index: u32, joint: &JointModel, relative: &RelativeState, rate: Motion) -> Load {
        let target = self.targets.get(index as usize).copied().unwrap_or_default();
        let forces = &self.model.forces[joint.forces as usize];
        let mut load = forces.explicit(relative, rate, target, self.input.usable_spring_scale());
        for spring in self.model.springs_across(joint) {
            load.momentum += self.spring(spring);
        }
        load
    }
}
