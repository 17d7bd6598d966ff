//! The explicit baseline: acceleration constraints with Baumgarte terms and a Runge–Kutta integrator (Bar96).
//!
//! ```text
//! M v̇ + Jᵀλ = F(q, v),   J v̇ = −J̇v + c̈ − 2γ(Jv − ċ) − γ² C        (velocity rows: −J̇v − γ Jv)
//! ```
//! solved by the same pair elimination as the implicit step, with accelerations for unknowns and forces for
//! momenta. Quaternions are integrated as four numbers (`q̇ = ½ ω q`) and normalized at the end of the step, which
//! keeps the order of the method. Joint springs are explicit here: stiff ones explode, which is the point of the
//! comparison. Cost: one sweep through the row library per stage.

use glam::{DQuat, DVec3};
use sinew_math::{Force, Motion, Pose, Sym3, Sym6, log_so3, normalize_quat, quat_to_mat3};
use sinew_solvers::{Load, PointJoint, shift_force, shift_motion};
use sinew_topology::NONE;
use smallvec::SmallVec;

use crate::force::dry_friction;
use crate::implicit::{kinematic_target, move_kinematic, set_targets};
use crate::iterate::{Linearized, joint_errors};
use crate::loops::{LoopWork, Refinement};
use crate::model::{JointModel, LoopSpring, Model, PairModel, Path, PointSpring, WORLD, pose_of};
use crate::rows::{PairState, RelativeState, RowForm, Rows, evaluate_rows};
use crate::sweep::{FREE, SweepReport, eliminate_linearized, hand_up};
use crate::workspace::{TreeScratch, Workspace};
use crate::{
    Drive, DriveCoordinate, Explicit, Input, JointId, MotorTarget, RungeKutta, Settings, Stage, State,
    StepReport,
};

/// Stage storage, per body in the user's order.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExplicitScratch {
    poses: Vec<Pose>,
    motions: Vec<Motion>,
    slopes: Vec<Slope>,
    sums: Vec<Slope>,
    external: Vec<Force>,
}

/// Time derivative of one body.
#[derive(Clone, Copy, Debug)]
struct Slope {
    rotation: DQuat,
    velocity: DVec3,
    acceleration: Motion,
}

impl Slope {
    const ZERO: Self = Self {
        rotation: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0),
        velocity: DVec3::ZERO,
        acceleration: Motion::ZERO,
    };

    fn add(&mut self, other: &Self, weight: f64) {
        self.rotation += other.rotation * weight;
        self.velocity += other.velocity * weight;
        self.acceleration += other.acceleration * weight;
    }
}

/// `(c, weight)` of each stage: each starts `c h` into the step along the slope of the one before.
fn tableau(method: RungeKutta) -> &'static [(f64, f64)] {
    match method {
        RungeKutta::First => &[(0.0, 1.0)],
        RungeKutta::Second => &[(0.0, 0.0), (0.5, 1.0)],
        RungeKutta::Fourth => &[(0.0, 1.0 / 6.0), (0.5, 1.0 / 3.0), (0.5, 1.0 / 3.0), (1.0, 1.0 / 6.0)],
    }
}

pub(crate) fn step(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    explicit: &Explicit,
    workspace: &mut Workspace,
    run: &mut Refinement<'_>,
) -> StepReport {
    let dt = settings.dt;
    move_kinematic(model, state, input, dt);
    set_targets(model, input, &mut workspace.targets);
    let n = state.poses.len();
    let scratch = workspace.explicit.get_or_insert_default();
    scratch.poses.clone_from(&state.poses);
    scratch.motions.clone_from(&state.motions);
    scratch.slopes.resize(n, Slope::ZERO);
    scratch.sums.clear();
    scratch.sums.resize(n, Slope::ZERO);

    run.done(Stage::Prepare);
    let mut first = SweepReport::default();
    let mut loop_error = 0.0;
    let mut regularized = 0;
    for (stage, &(c, weight)) in tableau(explicit.method).iter().enumerate() {
        if c > 0.0 {
            for body in 0..n {
                let slope = scratch.slopes[body];
                (scratch.poses[body], scratch.motions[body]) =
                    moved(&state.poses[body], &state.motions[body], &slope, c * dt);
            }
        }
        let mut at = Evaluation {
            model,
            poses: &scratch.poses,
            motions: &scratch.motions,
            twists: &state.twists,
            input,
            targets: &workspace.targets,
            gravity: settings.gravity,
            baumgarte: explicit.baumgarte,
            remaining: (1.0 - c) * dt,
            external: &[],
        };
        at.fill_external(&mut scratch.external);
        at.external = &scratch.external;
        let Workspace { tree, loops, .. } = workspace;
        let mut seen = at.accelerations(tree, run);
        if let Some(loops) = LoopWork::of(model, model.has_loops(input), tree, loops) {
            loops.start(&state.loops, run.settings.warm_start, 1.0);
            let open = loops.accelerate(&at);
            if stage == 0 {
                loop_error = open.gap_squared.sqrt();
            }
            seen.merge(&open);
            let surroundings = loops.surroundings_at(model, at.poses);
            loops.close(model, (at.poses, &[]), tree, surroundings, run);
            loops.store(&mut state.loops, 1.0);
            run.done(Stage::Refine);
        }
        regularized += seen.regularized;
        if stage == 0 {
            first = seen;
            for &(joint, pair) in &model.twist_joints {
                state.twists[joint as usize] = workspace.tree.twists[pair as usize];
            }
            if let Some(loops) = &workspace.loops {
                loops.store_twists(model, &mut state.twists);
            }
        }
        for body in 0..n {
            let pair = model.pair_of_body[body];
            let motion = scratch.motions[body];
            let spin = DQuat::from_xyzw(motion.angular.x, motion.angular.y, motion.angular.z, 0.0);
            let slope = Slope {
                rotation: spin * scratch.poses[body].rotation * 0.5,
                velocity: motion.linear,
                acceleration: if pair == NONE { Motion::ZERO } else { workspace.tree.motions[pair as usize] },
            };
            scratch.slopes[body] = slope;
            scratch.sums[body].add(&slope, weight);
        }
    }

    let mut non_finite = None;
    for body in 0..n {
        let (pose, motion) = moved(&state.poses[body], &state.motions[body], &scratch.sums[body], dt);
        if !(pose.is_finite() && motion.is_finite()) && non_finite.is_none() {
            non_finite = Some(crate::BodyId::from_index(body));
        }
        (state.poses[body], state.motions[body]) = (pose, motion);
    }
    for &body in &model.kinematic {
        state.poses[body as usize] = kinematic_target(model, state, input, body as usize);
    }
    state.forget_history();
    state.pulls.fill(DVec3::ZERO);
    state.loops.pulls.fill(DVec3::ZERO);
    state.time += dt;
    run.done(Stage::Integrate);
    StepReport {
        position_error: first.gap_squared.sqrt(),
        rotation_error: first.lean_squared.sqrt(),
        loop_error,
        iterations: tableau(explicit.method).len() as u32,
        regularized,
        non_finite,
        ..StepReport::default()
    }
}

fn moved(pose: &Pose, motion: &Motion, slope: &Slope, h: f64) -> (Pose, Motion) {
    let pose = Pose {
        rotation: normalize_quat(pose.rotation + slope.rotation * h),
        translation: pose.translation + slope.velocity * h,
    };
    (pose, *motion + slope.acceleration * h)
}

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
    fn accelerations(&self, tree: &mut TreeScratch, run: &mut Refinement<'_>) -> SweepReport {
        let TreeScratch { factor, motions, twists, lanes, .. } = tree;
        let lane = lanes.last_mut().expect("one lane belongs to the trunk");
        lane.stack.clear();
        let mut report = SweepReport::default();
        let mut view = factor.view();
        for (k, pair) in self.model.pairs.iter().enumerate() {
            if !pair.has_children {
                lane.stack.push(Load::ZERO);
            }
            let load = lane.stack.last_mut().expect("children leave their load on the stack");
            load.add(&self.own(pair));
            report.regularized += if pair.joint == WORLD {
                view.eliminate_root(k, load, &FREE)
            } else if pair.path == Path::Ball && self.model.forces[pair.forces as usize].n_rows() == 0 {
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
        run.done(Stage::Eliminate);
        for k in (0..motions.len()).rev() {
            let parent = self.model.pairs[k].parent;
            let above = if parent == NONE { Motion::ZERO } else { motions[parent as usize] };
            motions[k] = factor.substitute(k, above);
        }
        run.done(Stage::Substitute);
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
        let (position_error, rotation_error) = joint_errors(joint, &rows);
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
