//! What the tests of the steppers share: settings, a mechanism with its state, and chains.

use glam::{DQuat, DVec3};
use sinew_math::{MassProperties, Motion, Pose, Sym3};
use sinew_mechanism::{
    BodyId, BodySpec, Energy, Explicit, Gyroscopic, Implicit, Input, JointFrames, JointId, JointKind,
    JointSpec, MechanismBuilder, Model, Order, RungeKutta, ScalarForce, Scheme, Settings, State, StepReport,
    Violation, Workspace, energy, rotation_to_axis, step, violation,
};

pub(crate) const GRAVITY: DVec3 = DVec3::new(0.0, 0.0, -9.81);

/// One linear solve per step.
pub(crate) fn settings(dt: f64) -> Settings {
    implicit(dt, Order::First, 1)
}

/// The step of the paper.
pub(crate) fn one_solve() -> Implicit {
    let mut scheme = Implicit::default();
    scheme.newton_iterations = 1;
    scheme
}

/// The implicit stepper alone: whole steps, converged to rounding, nothing corrected after them.
pub(crate) fn implicit(dt: f64, order: Order, newton_iterations: u32) -> Settings {
    let mut scheme = Implicit::default();
    (scheme.order, scheme.newton_iterations) = (order, newton_iterations);
    (scheme.newton_tolerance, scheme.most_substeps) = (1e-10, 1);
    let mut settings = Settings::default();
    (settings.keep_momentum, settings.limit_energy) = (false, false);
    (settings.dt, settings.scheme) = (dt, Scheme::Implicit(scheme));
    settings
}

/// The printed scheme: without the geometric stiffness of joint forces.
pub(crate) fn without_geometric_stiffness(mut settings: Settings) -> Settings {
    if let Scheme::Implicit(scheme) = &mut settings.scheme {
        scheme.geometric_stiffness = false;
    }
    settings
}

pub(crate) fn explicit(dt: f64, method: RungeKutta, baumgarte: f64) -> Settings {
    let mut scheme = Explicit::default();
    (scheme.method, scheme.baumgarte) = (method, baumgarte);
    let mut settings = Settings::default();
    (settings.keep_momentum, settings.limit_energy) = (false, false);
    (settings.dt, settings.scheme) = (dt, Scheme::Explicit(scheme));
    settings
}

pub(crate) fn without_gravity(settings: Settings) -> Settings {
    with_gravity(settings, DVec3::ZERO)
}

pub(crate) fn with_gravity(mut settings: Settings, gravity: DVec3) -> Settings {
    settings.gravity = gravity;
    settings
}

pub(crate) fn with_gyroscopic(mut settings: Settings, gyroscopic: Gyroscopic) -> Settings {
    settings.gyroscopic = gyroscopic;
    settings
}

/// Loops closed as well as rounding allows.
pub(crate) fn tight(mut settings: Settings) -> Settings {
    let solve = &mut settings.loops.solve;
    (solve.precision, solve.iterations, solve.restarts) = (1e-13, 1_000, 10);
    settings
}

/// A model with everything it needs to step.
pub(crate) struct Run {
    pub(crate) model: Model,
    pub(crate) state: State,
    pub(crate) input: Input,
    pub(crate) settings: Settings,
    pub(crate) workspace: Workspace,
}

impl Run {
    pub(crate) fn new(builder: MechanismBuilder, settings: Settings) -> Self {
        let model = builder.build().expect("a valid mechanism");
        let (state, workspace) = (model.initial_state(), Workspace::new(&model));
        Self { model, state, input: Input::default(), settings, workspace }
    }

    pub(crate) fn step(&mut self) -> StepReport {
        let report = step(&self.model, &mut self.state, &self.input, &self.settings, &mut self.workspace);
        assert_eq!(report.non_finite, None, "at {} s", self.state.time);
        report
    }

    pub(crate) fn steps(&mut self, n: usize) {
        for _ in 0..n {
            self.step();
        }
    }

    pub(crate) fn energy(&self) -> Energy {
        energy(&self.model, &self.state, self.settings.gravity, self.input.spring_scale)
    }

    pub(crate) fn violation(&self) -> Violation {
        violation(&self.model, &self.state, &self.input)
    }

    /// Largest component of `P₁ − P₂` over all joints, and the fastest angular velocity.
    pub(crate) fn worst_anchor(&self) -> f64 {
        let gap = |joint| {
            let (a, b) = self.model.joint_anchors(&self.state, joint);
            (a - b).abs().max_element()
        };
        self.model.joints().map(gap).fold(0.0, f64::max)
    }

    pub(crate) fn fastest_spin(&self) -> f64 {
        self.state.motions.iter().map(|m| m.angular.length()).fold(0.0, f64::max)
    }
}

/// Mass properties with a diagonal inertia about the origin of the body frame.
pub(crate) fn lump(mass: f64, inertia: DVec3) -> MassProperties {
    MassProperties { mass, com: DVec3::ZERO, inertia: Sym3::diagonal(inertia) }
}

/// A box of one kilogram, `edges` in metres.
pub(crate) fn slab(edges: DVec3) -> MassProperties {
    MassProperties::cuboid(edges, 1.0).with_mass(1.0)
}

/// Frames whose main axis `i` points along `axis` (world), coincident at `anchor`, at the given body poses.
pub(crate) fn frames_at(body1: &Pose, body2: &Pose, anchor: DVec3, axis: DVec3) -> JointFrames {
    let rotation = rotation_to_axis(axis).expect("an axis");
    JointFrames::coincident(body1, body2, &Pose::new(rotation, anchor))
}

/// Frames at two points, in the axes of their bodies.
pub(crate) fn joined(point1: DVec3, point2: DVec3) -> JointFrames {
    JointFrames { rotation1: DQuat::IDENTITY, point1, rotation2: DQuat::IDENTITY, point2 }
}

/// A row of boxes along x, hung from the world at the origin.
pub(crate) struct Chain {
    pub(crate) n: usize,
    pub(crate) kind: JointKind,
    /// Main axis of all joints, world.
    pub(crate) axis: DVec3,
    /// Length of a link, m; boxes are 0.05 m thick and of 1 kg.
    pub(crate) length: f64,
    /// Forces along the twist of all joints.
    pub(crate) twist: Option<ScalarForce>,
    /// Without this joint the chain floats.
    pub(crate) hung: bool,
}

impl Chain {
    pub(crate) fn new(n: usize, kind: JointKind) -> Self {
        Self { n, kind, axis: DVec3::Y, length: 0.5, twist: None, hung: true }
    }

    pub(crate) fn with_twist(self, force: ScalarForce) -> Self {
        Self { twist: Some(force), ..self }
    }

    pub(crate) fn floating(self) -> Self {
        Self { hung: false, ..self }
    }

    pub(crate) fn build(&self) -> MechanismBuilder {
        self.build_with(|_, body| body)
    }

    /// Builds with every body passed through `change`.
    pub(crate) fn build_with(&self, change: impl Fn(usize, BodySpec) -> BodySpec) -> MechanismBuilder {
        let mut builder = MechanismBuilder::new();
        let mut parent: Option<BodyId> = None;
        for link in 0..self.n {
            let pose = Pose::from_translation(DVec3::X * self.length * (link as f64 + 0.5));
            let mass = slab(DVec3::new(self.length, 0.05, 0.05));
            let body = builder.add_body(change(link, BodySpec::dynamic("", pose, mass)));
            if parent.is_some() || self.hung {
                let above = parent.map_or(Pose::IDENTITY, |p| builder.body_pose(p));
                let anchor = DVec3::X * self.length * link as f64;
                let frames = frames_at(&pose, &above, anchor, self.axis);
                let mut joint = JointSpec::new("", self.kind, body, parent, frames);
                joint.twist = self.twist;
                builder.add_joint(joint);
            }
            parent = Some(body);
        }
        builder
    }
}

/// One body of mass properties `mass` at `pose`, tied to the world by `joint` (its child is set here).
pub(crate) fn single(
    mass: MassProperties,
    pose: Pose,
    motion: Motion,
    joint: impl FnOnce(BodyId) -> JointSpec,
) -> (MechanismBuilder, BodyId, JointId) {
    let mut builder = MechanismBuilder::new();
    let body = builder.add_body(BodySpec::dynamic("body", pose, mass).with_motion(motion));
    let joint = builder.add_joint(joint(body));
    (builder, body, joint)
}

/// A bar of one kilogram between two points, its x axis along it, 0.05 m thick.
pub(crate) fn add_bar(builder: &mut MechanismBuilder, from: DVec3, to: DVec3) -> BodyId {
    let rotation = rotation_to_axis(to - from).expect("a bar");
    let mass = slab(DVec3::new(from.distance(to), 0.05, 0.05));
    builder.add_body(BodySpec::dynamic("", Pose::new(rotation, (from + to) * 0.5), mass))
}

/// Joins two bodies, or a body and the world, where they are.
pub(crate) fn pin(
    builder: &mut MechanismBuilder,
    kind: JointKind,
    (body, other): (BodyId, Option<BodyId>),
    at: DVec3,
    axis: DVec3,
) -> JointId {
    let above = other.map_or(Pose::IDENTITY, |b| builder.body_pose(b));
    let frames = frames_at(&builder.body_pose(body), &above, at, axis);
    builder.add_joint(JointSpec::new("", kind, body, other, frames))
}

/// A rope ladder that hangs from the world and swings in from the side: two strings of `n` bars, `n` rungs, ball
/// joints; one loop per rung.
pub(crate) fn ladder(n: usize) -> MechanismBuilder {
    let mut builder = MechanismBuilder::new();
    let down = DVec3::new(0.5, 0.2, -1.0).normalize() * 0.3;
    let mut strings = [Vec::new(), Vec::new()];
    for (side, string) in strings.iter_mut().enumerate() {
        let top = DVec3::Y * (0.5 * side as f64);
        for k in 0..n {
            let from = top + down * k as f64;
            let bar = add_bar(&mut builder, from, from + down);
            pin(&mut builder, JointKind::Ball, (bar, string.last().copied()), from, DVec3::X);
            string.push(bar);
        }
    }
    for k in 0..n {
        let [left, right] = [0.0, 0.5].map(|y| DVec3::Y * y + down * (k + 1) as f64);
        let rung = add_bar(&mut builder, left, right);
        pin(&mut builder, JointKind::Ball, (rung, Some(strings[0][k])), left, DVec3::X);
        pin(&mut builder, JointKind::Ball, (rung, Some(strings[1][k])), right, DVec3::X);
    }
    builder
}
