//! The control suite: KP08 Table 2 beside ours, and skeletons of 10 to 10,000 bones in joint coordinates.
//!
//! Everything runs on one thread, which the caller provides.

use crate::control_scenes::{Control, DynamicsProblem, DynamicsRun, as_keyframes, reduced, skeleton};
use crate::subjects::fixture;
use crate::{
    FigureGoal, MeasureEffort, SceneRun, StepTimes, Subject, Suite, SuiteFailure, SuiteOptions, Timing,
    grouped, time_steps,
};
use sinew_flesh::FleshModel;
use sinew_scene::{ControlDoc, SceneDoc, ScoreDoc};
use sinew_sim::{Stage, World};
use std::time::Instant;

/// Bones of the skeletons; the longest is left to plain dynamics.
pub(crate) const SKELETONS: [usize; 4] = [10, 100, 1_000, 10_000];
/// Bones of the longest skeleton that is guided.
const MOST_GUIDED: usize = 1_000;
/// Bones times steps of a batch of skeletons, and steps at least.
const SHORT_BATCH: (usize, usize) = (5_000, 3);
/// Parts of a step, by the stages that end them.
pub(crate) const PARTS: [(&str, Stage); 3] =
    [("flesh and contact", Stage::Flesh), ("commands", Stage::Control), ("dynamics", Stage::Integrate)];
/// Steps of a motion in a test or a count of instructions.
const FEW_STEPS: usize = 40;

/// What is counted of a model: degrees of freedom (of bones, of whatever they handle, and of free nodes), bones, driven
/// degrees of freedom, nodes and tetrahedra of the volume mesh.
pub(crate) const COUNTS: [&str; 5] = ["dofs", "bones", "actuators", "nodes", "tets"];
/// Kinds of control.
pub(crate) const CONTROLS: [&str; 2] = ["joint", "Cartesian"];

/// A model of KP08 Table 2, and what is asked of it here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PaperModel {
    /// The character.
    pub(crate) name: &'static str,
    /// The fixture whose motion is measured: the paper's.
    pub(crate) motion: &'static str,
    /// The [`COUNTS`].
    pub(crate) counts: [usize; COUNTS.len()],
    /// Time of a step under each of the [`CONTROLS`], µs.
    pub(crate) times_us: [f64; 2],
    /// What is asked of our steps under each of them, µs.
    pub(crate) goals_us: [f64; 2],
}

/// What KP08 Table 2 printed.
pub(crate) const TABLE_2: [PaperModel; 3] = [
    PaperModel {
        name: "worm",
        motion: "worm_jump",
        counts: [543, 7, 6, 224, 714],
        times_us: [1600.0, 2860.0],
        goals_us: [80.0, 140.0],
    },
    PaperModel {
        name: "fish",
        motion: "fish_jump",
        counts: [258, 7, 6, 107, 415],
        times_us: [1480.0, 2440.0],
        goals_us: [80.0, 130.0],
    },
    PaperModel {
        name: "finger",
        motion: "finger_manipulate",
        counts: [82, 5, 7, 52, 119],
        times_us: [629.0, 2100.0],
        goals_us: [30.0, 60.0],
    },
];

/// Times of the guided steps of a motion.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MotionTimes {
    /// Times of whole steps.
    pub(crate) steps: StepTimes,
    /// Mean time of each of the [`PARTS`], s.
    pub(crate) parts: [f64; PARTS.len()],
    /// Substeps of a step, on average.
    pub(crate) substeps: f64,
    /// Largest number of contacts in a step.
    pub(crate) contacts: usize,
}

/// A character of ours in the motion of a model of the paper.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CharacterRow {
    /// The model.
    pub(crate) paper: PaperModel,
    /// The [`COUNTS`].
    pub(crate) counts: [usize; COUNTS.len()],
    /// Number of steps that are guided, and timed.
    pub(crate) n_guided: usize,
    /// Length of a step, s.
    pub(crate) dt: f64,
    /// Under each of the [`CONTROLS`]: the joint trajectory of the whole motion played by perfect servos, and the motion
    /// as it is.
    pub(crate) times: [MotionTimes; 2],
}

/// A skeleton of a number of bones; times are per step, s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SkeletonRow {
    /// Number of bones, and of hinges.
    pub(crate) n_bones: usize,
    /// The three sweeps alone, in the order of [`DynamicsProblem::ALL`].
    pub(crate) sweeps: [Timing; DynamicsProblem::ALL.len()],
    /// A whole step without commands.
    pub(crate) passive: Timing,
    /// A whole step with one bone guided, where that is measured.
    pub(crate) cartesian: Option<Timing>,
}

impl SkeletonRow {
    /// A time per bone, ns.
    pub(crate) fn per_bone(&self, seconds: f64) -> f64 {
        seconds * 1e9 / self.n_bones as f64
    }
}

/// The suite with all it has measured so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ControlSuite {
    /// Table 2.
    pub(crate) characters: Vec<CharacterRow>,
    /// Growth.
    pub(crate) skeletons: Vec<SkeletonRow>,
}

impl Suite for ControlSuite {
    const NAME: &'static str = "control";

    fn measure(&mut self, options: &SuiteOptions) -> Result<(), SuiteFailure> {
        let effort = &options.effort();
        self.measure_characters(effort)?;
        self.characters_table().show();
        self.parts_table().show();
        self.measure_skeletons(effort)?;
        self.dynamics_table().show();
        self.cartesian_table().show();
        Ok(())
    }

    fn goals(&self) -> Vec<FigureGoal> {
        let mut goals = Vec::new();
        for row in &self.characters {
            for ((control, times), limit) in CONTROLS.iter().zip(&row.times).zip(row.paper.goals_us) {
                let name = format!("{}: step in {control} control, µs", row.paper.name);
                goals.push(FigureGoal::at_most(name, times.steps.best() * 1e6, limit));
            }
        }
        if let Some(row) = self.skeletons.iter().find(|row| row.n_bones == 1_000) {
            for (limit, aim) in [(300.0, ""), (150.0, ", aim")] {
                let name = format!("forward dynamics of 1,000 hinges, ns per hinge{aim}");
                goals.push(FigureGoal::at_most(name, row.per_bone(row.sweeps[0].clock.best), limit));
            }
        }
        for (what, (n, ratio)) in
            ["forward dynamics", "Cartesian control"].into_iter().zip(self.growth().into_iter().flatten())
        {
            let name = format!("{what}, growth per bone from 10 to {} bones", grouped(n));
            goals.push(FigureGoal::at_most(name, ratio, 2.0));
        }
        goals
    }

    /// Guided steps of every character, and sweeps of a long skeleton.
    fn run_few_steps() -> Result<(), SuiteFailure> {
        for paper in TABLE_2 {
            let scene = from_the_guide(&fixture(paper.motion)?)?;
            let mut run = SceneRun::new(&scene)?;
            (0..FEW_STEPS).for_each(|_| run.step());
        }
        let run = SceneRun::new(&skeleton(1_000, Control::Passive))?;
        let mut dynamics = DynamicsRun::new(reduced(run.world())?.tree(), DynamicsProblem::Forward);
        (0..FEW_STEPS).for_each(|_| dynamics.step());
        Ok(())
    }
}

impl ControlSuite {
    /// Measures the characters of the paper's Table 2 in motions of its kind, guided and by their joint trajectories.
    fn measure_characters(&mut self, effort: &MeasureEffort) -> Result<(), SuiteFailure> {
        for paper in TABLE_2 {
            let scene = fixture(paper.motion)?;
            let n_steps = World::from_scene(&scene)?.info().n_steps as usize;
            self.characters.push(measure_character(paper, &scene, n_steps, effort.n_batches)?);
        }
        Ok(())
    }

    /// Measures skeletons of all lengths up to the effort's.
    fn measure_skeletons(&mut self, effort: &MeasureEffort) -> Result<(), SuiteFailure> {
        for n_bones in SKELETONS.into_iter().filter(|&n| n <= effort.max_links) {
            let effort = in_short_batches(effort, n_bones);
            let steps = |control| -> Result<Timing, SuiteFailure> {
                Ok(time_steps(&mut SceneRun::new(&skeleton(n_bones, control))?, &effort))
            };
            let still = SceneRun::new(&skeleton(n_bones, Control::Passive))?;
            let tree = reduced(still.world())?.tree();
            let sweeps =
                DynamicsProblem::ALL.map(|problem| time_steps(&mut DynamicsRun::new(tree, problem), &effort));
            let passive = steps(Control::Passive)?;
            let cartesian = (n_bones <= MOST_GUIDED).then(|| steps(Control::Cartesian)).transpose()?;
            self.skeletons.push(SkeletonRow { n_bones, sweeps, passive, cartesian });
        }
        Ok(())
    }

    /// How much longer a bone takes in the longest skeleton than in that of 10, with the number of its bones: forward
    /// dynamics and Cartesian control.
    pub(crate) fn growth(&self) -> Option<[(usize, f64); 2]> {
        let first = self.skeletons.first()?;
        let last = self.skeletons.last()?;
        let guided = self.skeletons.iter().rev().find(|row| row.cartesian.is_some())?;
        let forward = |row: &SkeletonRow| row.per_bone(row.sweeps[0].clock.best);
        let cartesian = |row: &SkeletonRow| row.cartesian.map(|timing| row.per_bone(timing.clock.best));
        Some([
            (last.n_bones, forward(last) / forward(first)),
            (guided.n_bones, cartesian(guided)? / cartesian(first)?),
        ])
    }
}

/// The same amount of work in batches of about a millisecond, which find quiet moments on a busy machine.
fn in_short_batches(effort: &MeasureEffort, n_bones: usize) -> MeasureEffort {
    let batch_work = SHORT_BATCH.0.max(SHORT_BATCH.1 * n_bones);
    MeasureEffort {
        n_batches: (effort.n_batches * effort.batch_work / batch_work).max(1),
        batch_work,
        ..*effort
    }
}

/// Which steps of a scene are guided: those of phases of Cartesian control.
fn guided(scene: &SceneDoc, n_steps: usize) -> Result<Vec<bool>, SuiteFailure> {
    let mut world = World::from_scene(scene)?;
    let phases = scene.score.iter().flat_map(|score| &score.phases);
    let guides: Vec<bool> = phases.map(|phase| matches!(phase.control, ControlDoc::Guide(_))).collect();
    Ok((0..n_steps).map(|_| world.step().effort.phase.is_some_and(|phase| guides[phase])).collect())
}

fn measure_character(
    paper: PaperModel,
    scene: &SceneDoc,
    n_steps: usize,
    n_runs: usize,
) -> Result<CharacterRow, SuiteFailure> {
    let is_counted = guided(scene, n_steps)?;
    let mut run = SceneRun::new(scene)?;
    run.save();
    let cartesian = time_motion(paper.motion, &mut run, &is_counted, n_runs)?;
    run.restore();
    let phase = as_keyframes(run.world_mut(), n_steps)?;
    run.restore();
    let score = scene.score.clone().ok_or("the motion has no score")?;
    run.world_mut().set_score(Some(&ScoreDoc { phases: vec![phase], ..score }), &[])?;
    let joint = time_motion(paper.motion, &mut run, &is_counted, n_runs)?;

    let world = run.world();
    let tree = reduced(world)?.tree();
    let actuation = reduced(world)?.controller().ok_or("the motion has no score")?.actuation();
    let flesh = || world.model().flesh().into_iter().flat_map(FleshModel::bodies);
    let driven = tree.links().filter(|link| actuation.is_active(*link));
    Ok(CharacterRow {
        paper,
        counts: [
            tree.n_dofs() + 3 * flesh().map(|body| body.attachments().free().len()).sum::<usize>(),
            tree.links().filter(|link| tree.joint(*link).is_some()).count(),
            driven.map(|link| tree.dofs(link).len()).sum(),
            flesh().map(|body| body.fem().n_nodes()).sum(),
            flesh().map(|body| body.fem().n_tets()).sum(),
        ],
        n_guided: is_counted.iter().filter(|is_counted| **is_counted).count(),
        dt: world.settings().dt,
        times: [joint, cartesian],
    })
}

/// Times the steps of a motion that count, in several runs from the state that was saved. Fails if it breaks down or
/// does not repeat itself.
fn time_motion(
    name: &str,
    run: &mut SceneRun,
    is_counted: &[bool],
    n_runs: usize,
) -> Result<MotionTimes, SuiteFailure> {
    let n_counted = is_counted.iter().filter(|is_counted| **is_counted).count();
    if n_counted == 0 {
        return Err(format!("{name} guides nothing").into());
    }
    let mut steps = StepTimes::new(n_counted);
    let mut parts = PARTS.map(|_| StepTimes::new(n_counted));
    let (mut substeps, mut contacts, mut end) = (0, 0, None);
    for _ in 0..n_runs {
        run.restore();
        (substeps, contacts) = (0, 0);
        let mut counted = 0;
        for is_counted in is_counted {
            let mut spent = [0.0; PARTS.len()];
            let start = Instant::now();
            let mut last = start;
            let report = run.world_mut().step_observed(&mut |stage: Stage| {
                let now = Instant::now();
                if let Some(part) = PARTS.iter().position(|part| part.1 == stage) {
                    spent[part] += (now - last).as_secs_f64();
                }
                last = now;
            });
            let seconds = start.elapsed().as_secs_f64();
            if report.health.non_finite.is_some() {
                return Err(format!("{name} has broken down").into());
            }
            if *is_counted {
                steps.add(counted, seconds);
                parts.iter_mut().zip(spent).for_each(|(times, seconds)| times.add(counted, seconds));
                substeps += report.effort.substeps;
                contacts = contacts.max(report.flesh.contacts.n_stick);
                counted += 1;
            }
        }
        if *end.get_or_insert_with(|| run.digest()) != run.digest() {
            return Err(format!("{name} does not repeat itself").into());
        }
    }
    let substeps = f64::from(substeps) / n_counted as f64;
    Ok(MotionTimes { steps, parts: parts.map(|times| times.best()), substeps, contacts })
}

/// The scene with nothing but its first guided phase, from the beginning.
fn from_the_guide(scene: &SceneDoc) -> Result<SceneDoc, SuiteFailure> {
    let mut score = scene.score.clone().ok_or("the motion has no score")?;
    score.phases.retain(|phase| matches!(phase.control, ControlDoc::Guide(_)));
    score.phases.truncate(1);
    score.phases.iter_mut().for_each(|phase| phase.from_s = 0.0);
    Ok(SceneDoc { score: Some(score), ..scene.clone() })
}

#[cfg(test)]
mod tests {
    use super::{
        ControlSuite, FEW_STEPS, MeasureEffort, Suite, TABLE_2, fixture, from_the_guide, measure_character,
    };
    use crate::SuiteReport;

    #[test]
    fn a_small_suite_meets_what_does_not_depend_on_time() {
        let mut suite = ControlSuite::default();
        for paper in TABLE_2 {
            let scene = from_the_guide(&fixture(paper.motion).unwrap()).unwrap();
            let row = measure_character(paper, &scene, FEW_STEPS, 2).unwrap();
            let [n_dofs, n_bones, n_actuators, n_nodes, _] = row.counts;
            assert_eq!([n_bones, n_actuators, row.n_guided], [paper.counts[1], paper.counts[2], FEW_STEPS]);
            assert!(n_dofs < 3 * n_nodes + 20 && row.times[1].substeps >= 1.0, "{row:?}");
            suite.characters.push(row);
        }
        suite.measure_skeletons(&MeasureEffort { n_batches: 1, batch_work: 1, max_links: 100 }).unwrap();
        assert_eq!(suite.skeletons.len(), 2);
        assert_eq!(suite.growth().map(|growth| growth.map(|(n, _)| n)), Some([100, 100]));
        let goals = suite.goals();
        for name in ["finger: step in Cartesian control", "growth per bone from 10 to 100 bones"] {
            assert!(goals.iter().any(|goal| goal.name.contains(name)), "{name}");
        }
        let json = suite.to_json();
        assert_eq!(json["characters"][1]["name"], "fish");
        assert_eq!(json["characters"][0]["paper"]["us_cartesian"], 2860.0);
        assert_eq!(json["skeletons"][1]["name"], "skeleton_100");
        assert!(suite.characters_table().to_string().contains("2860"));
        assert!(suite.parts_table().to_string().contains("Cartesian"));
        assert!(suite.dynamics_table().to_string().contains("100"));
        assert!(suite.figure().to_svg("").contains("forward dynamics"));
    }
}
