//! What the control suite moves beside fixtures: skeletons of any length, and a motion's joint trajectory as keyframes.
//!
//! A skeleton is a chain of boxes of 0.2 × 0.04 × 0.04 m, tied by hinges about y and hung from the world by a passive one.

use crate::{Subject, SuiteFailure};
use glam::DVec3;
use sinew_recursive::{Dynamics, HybridCommand, JointMode, Tree, TreeState};
use sinew_scene::{
    BodyDoc, ChainDoc, ControlDoc, CurveDoc, GeneratorDoc, GoalDoc, GuideDoc, JointDoc, JointKind, KeyDoc,
    KeyframesDoc, PhaseDoc, SceneDoc, ScoreDoc, Shape, ShapeDoc, StepperDoc, StyleDoc, TrackDoc, WantDoc,
};
use sinew_sim::{ReducedModel, World};

/// Time between the keys of a trajectory, s.
const KEY_TIME: f64 = 0.02;
/// Step length of skeletons, s.
const SKELETON_DT: f64 = 1e-3;
/// Standard gravity, m/s².
const GRAVITY: DVec3 = DVec3::new(0.0, 0.0, -9.81);

/// How the joints of a skeleton move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// They fall.
    Passive,
    /// The last bone is guided upwards, in the acceleration-minimizing style.
    Cartesian,
}

/// A skeleton of `n` bones as a scene.
pub(crate) fn skeleton(n: usize, control: Control) -> SceneDoc {
    let size = DVec3::new(0.2, 0.04, 0.04);
    let shape = ShapeDoc::centred(Shape::Box { size });
    let (name, track) = ("bone".to_owned(), "hand".to_owned());
    let goal = GoalDoc {
        bone: format!("{name}_{n:04}"),
        want: WantDoc::Follow { track: track.clone(), relative: true },
        ..GoalDoc::default()
    };
    let guide = GuideDoc { style: StyleDoc::Acceleration, goals: vec![goal], ..GuideDoc::default() };
    let phase = PhaseDoc { from_s: 0.0, control: ControlDoc::Guide(guide) };
    let path = CurveDoc::Points(vec![(0.0, DVec3::ZERO), (1.0, 0.1 * DVec3::Z)]);
    SceneDoc {
        name: format!("skeleton of {n} bones"),
        dt: SKELETON_DT,
        stepper: StepperDoc::Reduced(sinew_scene::ReducedDoc::default()),
        generators: vec![GeneratorDoc::Chain(ChainDoc {
            name,
            n: n as u32,
            link: BodyDoc { shapes: vec![shape], ..BodyDoc::default() },
            joint: JointDoc { kind: JointKind::Hinge, ..JointDoc::default() },
            ..ChainDoc::default()
        })],
        tracks: vec![TrackDoc { name: track, curve: path, ..TrackDoc::default() }],
        score: (control == Control::Cartesian)
            .then(|| ScoreDoc { phases: vec![phase], ..ScoreDoc::default() }),
        ..SceneDoc::default()
    }
}

/// The joint coordinates of a world.
pub(crate) fn reduced(world: &World) -> Result<&ReducedModel, SuiteFailure> {
    world.model().reduced().ok_or_else(|| "the scene is not stepped in joint coordinates".into())
}

/// Runs a world for `n_steps` from where it is, and writes what its driven joints did as one phase of keyframes.
pub(crate) fn as_keyframes(world: &mut World, n_steps: usize) -> Result<PhaseDoc, SuiteFailure> {
    let (from_s, dt) = (world.time(), world.settings().dt);
    let mut state = reduced(world)?.tree().neutral_state();
    let every = ((KEY_TIME / dt).round() as usize).max(1);
    let mut keys = Vec::new();
    for step in 1..=n_steps {
        if world.step().health.non_finite.is_some() {
            return Err("the motion to be recorded has broken down".into());
        }
        if step % every != 0 && step != n_steps {
            continue;
        }
        let reduced = reduced(world)?;
        let tree = reduced.tree();
        let actuation = reduced.controller().ok_or("the scene has no score")?.actuation();
        state.read_mechanism(tree, &world.state().bodies);
        let driven = tree.links().filter(|link| actuation.is_active(*link));
        let joints = driven.filter_map(|link| {
            let mut values = state.coordinates[tree.coordinates(link)].to_vec();
            if values.len() == tree.dofs(link).len() {
                // Guided joints may overshoot their limits a little; keys may not.
                for (value, dof) in values.iter_mut().zip(tree.dofs(link)) {
                    let [low, high] = actuation.limits(dof);
                    *value = value.clamp(low, high);
                }
            }
            Some((world.mechanism().joint_name(tree.joint(link)?).to_owned(), values))
        });
        let key = KeyDoc { at_s: step as f64 * dt, joints: joints.collect(), ..KeyDoc::default() };
        keys.push(key);
    }
    Ok(PhaseDoc { from_s, control: ControlDoc::Keyframes(KeyframesDoc { keys }) })
}

/// What is given and what is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DynamicsProblem {
    /// Torques are given.
    Forward,
    /// Accelerations are given.
    Inverse,
    /// Every other joint has a given acceleration.
    Hybrid,
}

impl DynamicsProblem {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Forward, Self::Inverse, Self::Hybrid];
}

/// Recursive dynamics of a bent and turning tree, the three sweeps alone.
pub(crate) struct DynamicsRun<'a> {
    tree: &'a Tree,
    state: TreeState,
    command: HybridCommand,
    dynamics: Dynamics,
}

impl<'a> DynamicsRun<'a> {
    /// A tree of hinges with every angle and rate somewhere within ±0.3.
    pub(crate) fn new(tree: &'a Tree, problem: DynamicsProblem) -> Self {
        let mut state = tree.neutral_state();
        let some = |k: usize| 0.3 * ((k * 7919 % 1000) as f64 / 500.0 - 1.0);
        state.coordinates.iter_mut().enumerate().for_each(|(k, q)| *q = some(k));
        state.rates.iter_mut().enumerate().for_each(|(k, v)| *v = some(k + 500));
        let mut command = match problem {
            DynamicsProblem::Inverse => HybridCommand::prescribed(tree),
            DynamicsProblem::Forward | DynamicsProblem::Hybrid => HybridCommand::passive(tree),
        };
        if problem == DynamicsProblem::Hybrid {
            command.modes.iter_mut().step_by(2).for_each(|mode| *mode = JointMode::Prescribed);
        }
        Self { tree, state, command, dynamics: Dynamics::new(tree) }
    }
}

impl Subject for DynamicsRun<'_> {
    fn n_links(&self) -> usize {
        self.tree.n_dofs()
    }

    fn save(&mut self) {}

    fn restore(&mut self) {}

    fn step(&mut self) {
        let report = self.dynamics.hybrid(self.tree, &self.state, &self.command, GRAVITY, &[]);
        assert_eq!(report.singular, None, "a joint moves no mass");
    }

    fn digest(&self) -> Option<u64> {
        let found = self.dynamics.accelerations().iter().chain(self.dynamics.torques());
        Some(found.fold(0, |digest: u64, x| digest.rotate_left(1) ^ x.to_bits()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Control, DynamicsProblem, DynamicsRun, as_keyframes, reduced, skeleton};
    use crate::{SceneRun, Subject};
    use sinew_recursive::TreeState;
    use sinew_scene::ScoreDoc;

    #[test]
    fn keyframes_repeat_what_the_joints_did() {
        let mut run = SceneRun::new(&skeleton(6, Control::Cartesian)).unwrap();
        run.save();
        let phase = as_keyframes(run.world_mut(), 400).unwrap();
        let joints = |run: &SceneRun| {
            let world = run.world();
            TreeState::from_mechanism(reduced(world).unwrap().tree(), &world.state().bodies).coordinates
        };
        let guided = joints(&run);
        assert!(guided[1..].iter().any(|angle| angle.abs() > 0.01), "nothing moved: {guided:?}");
        run.restore();
        let score = ScoreDoc { phases: vec![phase], ..ScoreDoc::default() };
        run.world_mut().set_score(Some(&score), &[]).unwrap();
        (0..400).for_each(|_| run.step());
        for (guided, played) in guided.iter().zip(joints(&run)).skip(1) {
            assert!((guided - played).abs() < 1e-3, "{guided} against {played}");
        }
    }

    #[test]
    fn dynamics_of_all_problems_are_found() {
        let run = SceneRun::new(&skeleton(12, Control::Passive)).unwrap();
        let tree = reduced(run.world()).unwrap().tree();
        let mut found = DynamicsProblem::ALL.map(|problem| DynamicsRun::new(tree, problem));
        found.iter_mut().for_each(Subject::step);
        let [forward, inverse, hybrid] = found.map(|run| run.dynamics);
        assert!(forward.torques().iter().all(|torque| *torque == 0.0));
        assert!(inverse.accelerations().iter().all(|acceleration| *acceleration == 0.0));
        assert!(hybrid.accelerations()[0] == 0.0 && hybrid.torques()[1] == 0.0);
        assert!(hybrid.torques()[0] != 0.0 && hybrid.accelerations()[1] != 0.0);
    }
}
