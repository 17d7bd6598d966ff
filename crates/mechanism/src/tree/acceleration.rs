//! Acceleration-level equations of the tree, for the explicit and displacement steppers.

use glam::DVec3;
use sinew_math::{
    DriveCoordinate, Force, Motion, Pose, Sym3, Sym6, log_so3, quat_to_mat3, shift_force, shift_motion,
};
use sinew_solvers::{Load, PointJoint};
use sinew_topology::NONE;
use smallvec::SmallVec;

use crate::forces::point_spring::PointSpring;
use crate::forces::scalar::{MotorTarget, dry_friction};
use crate::input::Input;
use crate::joints::errors::joint_errors;
use crate::joints::evaluate::evaluate_rows;
use crate::joints::frames::Drive;
use crate::joints::relative::{PairState, RelativeState};
use crate::joints::rows::{RowForm, Rows};
use crate::model::ids::JointId;
use crate::model::mechanism::Model;
use crate::model::records::{JointModel, LoopSpring, PairModel, PairPath, WORLD, pose_of};
use crate::tree::joint::Linearized;
use crate::tree::report::TreeReport;
use crate::tree::scratch::TreeScratch;
use crate::tree::stack::hand_up;
use crate::tree::sweep::{FREE, eliminate_linearized};
use crate::watch::Stage;

/// What holds two points together at the acceleration level.
pub(crate) struct PointDemand {
    /// From the centres of mass to the first point, world axes.
    pub(crate) arms: [DVec3; 2],
    /// Relative acceleration, m/s².
    pub(crate) rhs: DVec3,
    pub(crate) gap_squared: f64,
}

/// One evaluation of the accelerations.
pub(crate) struct Evaluation<'a> {
    pub(crate) model: &'a Model,
    pub(crate) poses: &'a [Pose],
    pub(crate) motions: &'a [Motion],
    pub(crate) twists: &'a [f64],
    pub(crate) input: &'a Input,
    pub(crate) targets: &'a [MotorTarget],
    pub(crate) gravity: DVec3,
    pub(crate) baumgarte: f64,
    /// Time from this stage to the end of the step, where the input's drives hold.
    pub(crate) remaining: f64,
    /// Wrenches from outside, per body.
    pub(crate) external: &'a [Force],
}

impl Evaluation<'_> {
    /// Accelerations into `tree.motions`, in elimination order.
    pub(crate) fn accelerations(&self, tree: &mut TreeScratch, done: &mut dyn FnMut(Stage)) -> TreeReport {
        let TreeScratch { factor, motions, twists, lanes, .. } = tree;
        let lane = lanes.last_mut().expect("one lane belongs to the trunk");
        lane.stack.clear();
        let mut report = TreeReport::default();
        let mut view = factor.view();
        for (k, pair) in self.model.pairs.iter().enumerate() {
            if !pair.has_children {
                lane.stack.push(Load::ZERO);
            }
            let load = lane.stack.last_mut().expect("children leave their load on the stack");
            load.add(&self.own(pair));
            report.regularized += if pair.joint == WORLD {
                view.eliminate_root(k, load, &FREE)
            } else if pair.path == PairPath::Ball && self.model.forces[pair.forces as usize].n_rows() == 0 {
                let (ball, gap_squared) = self.ball(pair, &self.model.joints[pair.joint as usize]);
                report.gap_squared = report.gap_squared.max(gap_squared);
                view.eliminate_point(k, load, &ball)
            } else {
                let joint = self.joint(pair);
                twists[k] = joint.twist;
                report.gap_squared = report.gap_squared.max(joint.position_error * joint.position_error);
                report.lean_squared = report.lean_squared.max(joint.rotation_error * joint.rotation_error);
                eliminate_linearized(&mut view, k, pair, load, &joint)
            };
            hand_up(pair, &mut lane.stack);
        }
        done(Stage::Eliminate);
        for k in (0..motions.len()).rev() {
            let parent = self.model.pairs[k].parent;
            let above = if parent == NONE { Motion::ZERO } else { motions[parent as usize] };
            motions[k] = factor.substitute(k, above);
        }
        done(Stage::Substitute);
        report
    }

    pub(crate) fn motion(&self, body: u32) -> Motion {
        if body == WORLD { Motion::ZERO } else { self.motions[body as usize] }
    }

    /// Mass and force of a body.
    fn own(&self, pair: &PairModel) -> Load {
        let body = pair.body as usize;
        let (pose, motion) = (&self.poses[body], &self.motions[body]);
        let inertia = pair.inertia.rotated_by(&quat_to_mat3(pose.rotation));
        let momentum = inertia.mul_vec(motion.angular);
        let mut force = Force {
            angular: -motion.angular.cross(momentum) - momentum * pair.angular_damping,
            linear: (self.gravity - motion.linear * pair.linear_damping) * pair.mass,
        };
        force += self.external[body];
        Load { mass: Sym6::rigid(inertia, pair.mass), momentum: force }
    }

    /// Wrenches of the input, of springs that no tree joint holds, and inside joints outside the tree, per body.
    pub(crate) fn fill_external(&self, external: &mut Vec<Force>) {
        external.clear();
        external.resize(self.poses.len(), Force::ZERO);
        for (body, wrench) in self.input.usable_wrenches(self.model) {
            external[body.index()] += *wrench;
        }
        for grab in self.input.usable_grabs(self.model).filter(|g| !g.is_hard()) {
            let body = grab.body.index();
            let pose = &self.poses[body];
            let arm = pose.rotation * self.model.bodies[body].central_point(grab.point);
            let velocity = shift_motion(self.motions[body], arm).linear;
            let pull = (grab.target - pose.translation - arm) * grab.stiffness - velocity * grab.damping;
            external[body] += shift_force(Force::new(DVec3::ZERO, pull), arm);
        }
        for spring in &self.model.ground_springs {
            external[spring.body1 as usize] += self.spring(spring);
        }
        for LoopSpring { spring, .. } in &self.model.loop_springs {
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
        let joint = &self.model.joints[index as usize];
        let (_, relative, _, inside) = self.relative(index, joint);
        let mut wrench = inside.momentum;
        if joint.compliance > 0.0 {
            let rows = evaluate_rows(joint.kind, &relative, &[], RowForm::Acceleration);
            for i in 0..rows.n {
                wrench -= Force::from_array(rows.jacobian1[i]) * (rows.residual[i] / joint.compliance);
            }
        }
        let sides = [(joint.body1, wrench), (joint.body2, shift_force(wrench, self.shift(joint)) * -1.0)];
        for (body, wrench) in sides {
            if let Some(sum) = external.get_mut(body as usize) {
                *sum += wrench;
            }
        }
    }

    /// Adds what springs across a joint do to its bodies.
    pub(crate) fn add_springs(&self, joint: &JointModel, external: &mut [Force]) {
        for spring in &self.model.joint_springs[joint.springs.0 as usize..joint.springs.1 as usize] {
            let wrench = self.spring(spring);
            let sides = [(joint.body1, wrench), (joint.body2, shift_force(wrench, self.shift(joint)) * -1.0)];
            for (body, wrench) in sides {
                if let Some(sum) = external.get_mut(body as usize) {
                    *sum += wrench;
                }
            }
        }
    }

    /// Wrench of a point spring on its first body.
    fn spring(&self, spring: &PointSpring) -> Force {
        let (pose1, pose2) = (pose_of(self.poses, spring.body1), pose_of(self.poses, spring.body2));
        let (arm1, arm2) = (pose1.rotation * spring.point1, pose2.rotation * spring.point2);
        let gap = pose1.translation + arm1 - pose2.translation - arm2;
        let length = gap.length();
        let velocity = shift_motion(self.motion(spring.body1), arm1).linear
            - shift_motion(self.motion(spring.body2), arm2).linear;
        let pull = if spring.rest_length > 0.0 {
            let along = gap.normalize_or_zero();
            along * (spring.stiffness * (length - spring.rest_length) + spring.damping * along.dot(velocity))
        } else {
            gap * spring.stiffness + velocity * spring.damping
        };
        shift_force(Force::new(DVec3::ZERO, -pull), arm1)
    }

    /// `x₁ − x₂` of the bodies of a joint.
    pub(crate) fn shift(&self, joint: &JointModel) -> DVec3 {
        pose_of(self.poses, joint.body1).translation - pose_of(self.poses, joint.body2).translation
    }

    /// A joint where it is: shift `x₁ − x₂`, coordinates, twist of body 1 relative to body 2, and the force inside.
    fn relative(&self, index: u32, joint: &JointModel) -> (DVec3, RelativeState, Motion, Load) {
        let (pose1, pose2) = (pose_of(self.poses, joint.body1), pose_of(self.poses, joint.body2));
        let (motion1, motion2) = (self.motion(joint.body1), self.motion(joint.body2));
        let previous_twist = self.twists[index as usize];
        let state = PairState { pose1, pose2, motion1, motion2, previous_twist };
        let relative = RelativeState::new(&joint.frames, &state);
        let shift = self.shift(joint);
        let rate = motion1 - shift_motion(motion2, shift);
        let inside = self.inside(joint, &relative, rate, self.targets.get(index as usize).copied());
        (shift, relative, rate, inside)
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
        let (_, relative, ..) = self.relative(index, joint);
        let rows = evaluate_rows(joint.kind, &relative, &self.drives(index, joint), RowForm::Acceleration);
        (relative, rows)
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
    fn joint(&self, pair: &PairModel) -> Linearized {
        let joint = &self.model.joints[pair.joint as usize];
        let (shift, relative, _, mut inside) = self.relative(pair.joint, joint);
        let rows =
            evaluate_rows(joint.kind, &relative, &self.drives(pair.joint, joint), RowForm::Acceleration);
        let (position_error, rotation_error) = joint_errors(joint.kind, joint.drives_twist, &rows);
        let mut out = Linearized {
            shift: if pair.flipped { -shift } else { shift },
            n: rows.n,
            rows: if pair.flipped { rows.jacobian2 } else { rows.jacobian1 },
            rhs: self.demands(joint, &rows),
            inside: Load::ZERO,
            twist: relative.twist,
            position_error,
            rotation_error,
            degenerate: 0,
        };
        out.soften_degenerate();
        if joint.compliance > 0.0 {
            for i in 0..rows.n {
                let row = Force::from_array(rows.jacobian1[i]);
                inside.momentum -= row * (rows.residual[i] / joint.compliance);
            }
            out.n = 0;
        }
        if pair.flipped {
            inside.mass = inside.mass.shifted(shift);
            inside.momentum = shift_force(inside.momentum, shift) * -1.0;
        }
        out.inside = inside;
        out
    }

    /// Drives at the time of this stage.
    fn drives(&self, index: u32, joint: &JointModel) -> SmallVec<[Drive; 2]> {
        let t = self.remaining;
        [DriveCoordinate::Twist, DriveCoordinate::Slide]
            .into_iter()
            .filter(|c| joint.drives(*c))
            .map(|coordinate| {
                let id = JointId::from_index(index as usize);
                let given = self.input.drive(id, coordinate);
                given.map_or(Drive::at_rest(coordinate), |d| Drive {
                    coordinate,
                    value: d.value - t * (d.rate - 0.5 * t * d.acceleration),
                    rate: d.rate - t * d.acceleration,
                    acceleration: d.acceleration,
                })
            })
            .collect()
    }

    /// Forces inside a joint on body 1, and armature as inertia of the relative motion.
    fn inside(
        &self,
        joint: &JointModel,
        relative: &RelativeState,
        rate: Motion,
        target: Option<MotorTarget>,
    ) -> Load {
        let mut load = Load::ZERO;
        let forces = &self.model.forces[joint.forces as usize];
        let (target, scale) = (target.unwrap_or_default(), self.input.usable_spring_scale());
        let axis = relative.axes2.x_axis;
        let scalars = [
            (&forces.twist, Force::new(axis, DVec3::ZERO), relative.twist),
            (&forces.slide, Force::new(relative.arm1.cross(axis), axis), relative.slide()),
        ];
        for (force, gradient, value) in scalars {
            if let Some(force) = force {
                load.momentum += gradient * force.explicit(value, gradient.dot(rate), target, scale);
                load.mass.add_outer(force.armature, gradient);
            }
        }
        if let Some(rotation) = &forces.rotation {
            let phi = relative.axes2 * log_so3(relative.rotation);
            load.momentum.angular -= (phi * rotation.stiffness + rate.angular * rotation.damping) * scale;
            load.momentum.angular -=
                rate.angular * dry_friction(rotation.friction, rate.angular.length(), 1.0);
            load.mass.angular += Sym3::IDENTITY * rotation.armature;
            if let Some(cone) = &rotation.cone {
                let lean = axis.cross(relative.axes2 * relative.axis());
                let sine = lean.length();
                let excess = sinew_math::ops::atan2(sine, relative.axis().x) - cone.max;
                if sine > 1e-8 && excess > 0.0 {
                    let normal = lean / sine;
                    let (force, slope) = cone.law(excess);
                    let damping = cone.damping * slope / cone.stiffness * normal.dot(rate.angular);
                    load.momentum.angular -= normal * (force + damping);
                }
            }
        }
        for spring in &self.model.joint_springs[joint.springs.0 as usize..joint.springs.1 as usize] {
            load.momentum += self.spring(spring);
        }
        load
    }
}
