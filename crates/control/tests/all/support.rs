//! Characters to control, and runs of them.

use glam::DVec3;
use sinew_control::{
    Act, Actuation, ControlInput, ControlReport, Controller, ControllerState, Goal, Guide, Score,
};
use sinew_math::{Force, MassProperties, Pose};
use sinew_mechanism::{BodySpec, JointFrames, JointKind, JointSpec, MechanismBuilder, rotation_to_axis};
use sinew_recursive::{Action, Dynamics, HybridCommand, Integrator, LinkId, LoopedTree, Tree, TreeState};
use sinew_testkit::Rng;

pub(crate) const GRAVITY: DVec3 = DVec3::new(0.0, 0.0, -9.81);

const BONE: DVec3 = DVec3::new(0.2, 0.08, 0.06);

/// A chain of `n` bones along x, 0.2 m each, joined by `kinds` in turn; the first hangs on the world by a hinge about
/// y, or floats.
pub(crate) fn chain(n: usize, kinds: &[JointKind], floating: bool) -> Tree {
    let mut builder = MechanismBuilder::new();
    let axis = rotation_to_axis(DVec3::Y).unwrap();
    let mut before = None;
    for k in 0..n {
        let pose = Pose::from_translation(DVec3::X * (0.1 + 0.2 * k as f64));
        let body = builder.add_body(BodySpec::dynamic("", pose, MassProperties::cuboid(BONE, 1000.0)));
        let joint = Pose::new(axis, DVec3::X * (0.2 * k as f64));
        if !(floating && before.is_none()) {
            let above = before.map_or(Pose::IDENTITY, |above| builder.body_pose(above));
            let frames = JointFrames::coincident(&pose, &above, &joint);
            let kind = if before.is_none() { JointKind::Hinge } else { kinds[k % kinds.len()] };
            builder.add_joint(JointSpec::new("", kind, body, before, frames));
        }
        before = Some(body);
    }
    Tree::from_model(&builder.build().unwrap()).unwrap()
}

/// Seven bones, floating, six joints of ball and universal type.
pub(crate) fn worm() -> Tree {
    chain(7, &[JointKind::Ball, JointKind::Universal], true)
}

/// A hinged chain in the plane y = 0 that hangs on the world.
pub(crate) fn arm(n: usize) -> Tree {
    chain(n, &[JointKind::Hinge], false)
}

/// The bones at the two ends of a chain, by place.
pub(crate) fn ends(tree: &Tree) -> [LinkId; 2] {
    let mut dynamics = Dynamics::new(tree);
    dynamics.kinematics(tree, &tree.neutral_state());
    let leaves = |link: &LinkId| !tree.links().any(|other| tree.parent(other) == Some(*link));
    let mut found: Vec<LinkId> = tree.links().filter(|l| leaves(l) || tree.parent(*l).is_none()).collect();
    found.sort_by_key(|link| tree.body(*link).index());
    [found[0], found[found.len() - 1]]
}

pub(crate) fn random_state(rng: &mut Rng, tree: &Tree, bend: f64, rate: f64) -> TreeState {
    let mut state = tree.neutral_state();
    let turn: Vec<f64> = (0..tree.n_dofs()).map(|_| rng.uniform(-bend, bend)).collect();
    tree.advance(&mut state.coordinates, &turn, 1.0);
    state.rates.iter_mut().for_each(|v| *v = rng.uniform(-rate, rate));
    state
}

pub(crate) fn random_wrenches(rng: &mut Rng, tree: &Tree) -> Vec<Force> {
    tree.links().map(|_| Force::new(rng.vec3(-0.5, 0.5), rng.vec3(-3.0, 3.0))).collect()
}

/// A character with everything that a run needs.
pub(crate) struct Run {
    pub(crate) tree: Tree,
    pub(crate) looped: LoopedTree,
    pub(crate) state: TreeState,
    pub(crate) controller: Controller,
    pub(crate) control: ControllerState,
    pub(crate) command: HybridCommand,
    pub(crate) dynamics: Dynamics,
    pub(crate) integrator: Integrator,
    pub(crate) time: f64,
    pub(crate) gravity: DVec3,
    /// Length of a step.
    pub(crate) dt: f64,
}

impl Run {
    pub(crate) fn new(tree: Tree, actuation: Actuation, score: Score) -> Self {
        let looped = LoopedTree::from(tree.clone());
        let controller = Controller::new(&looped, actuation, score).unwrap();
        Self {
            looped,
            state: tree.neutral_state(),
            controller,
            control: ControllerState::default(),
            command: HybridCommand::passive(&tree),
            dynamics: Dynamics::new(&tree),
            integrator: Integrator::new(&tree),
            time: 0.0,
            gravity: GRAVITY,
            dt: 1e-3,
            tree,
        }
    }

    pub(crate) fn guided(tree: Tree, guide: Guide) -> Self {
        let actuation = Actuation::new(&tree);
        Self::new(tree, actuation, Score::single(Act::Guide(guide)))
    }

    /// The command for a step, and its dynamics.
    pub(crate) fn decide(&mut self, external: &[Force], drags: &[Goal]) -> ControlReport {
        let input = ControlInput { external, drags, ..ControlInput::new(self.time, self.dt, self.gravity) };
        let (tree, state) = (&self.tree, &self.state);
        let report =
            self.controller.command(&self.looped, state, &input, &mut self.control, &mut self.command);
        let _ = self.dynamics.hybrid(tree, state, &self.command, self.gravity, external);
        report
    }

    /// Steps over some time.
    pub(crate) fn run(&mut self, seconds: f64, drags: &[Goal]) -> ControlReport {
        let mut last = ControlReport::default();
        for _ in 0..(seconds / self.dt).round() as usize {
            last = self.decide(&[], drags);
            let action = Action { h: self.dt, command: &self.command, gravity: self.gravity, external: &[] };
            let (tree, state) = (&self.tree, &mut self.state);
            let _ = self.integrator.symplectic_euler(tree, &mut self.dynamics, state, &action);
            self.time += self.dt;
        }
        self.dynamics.kinematics(&self.tree, &self.state);
        last
    }

    /// World place of a point of a bone.
    pub(crate) fn place(&mut self, bone: LinkId, point: DVec3) -> DVec3 {
        self.dynamics.kinematics(&self.tree, &self.state);
        self.dynamics.body_pose(&self.tree, bone).transform_point(point)
    }
}

pub(crate) fn length(x: impl IntoIterator<Item = f64>) -> f64 {
    x.into_iter().map(|x| x * x).sum::<f64>().sqrt()
}
