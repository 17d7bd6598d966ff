//! The control suite: KP08 Table 2 beside ours, and skeletons of 10 to 10,000 bones in joint coordinates.
//!
//! Everything runs on one thread, which the caller provides.

use crate::control_scenes::{Control, DynamicsProblem, DynamicsRun, as_keyframes, reduced, skeleton};
use crate::subjects::fixture;
use crate::{
    FigureGoal, Machine, MeasureEffort, SceneRun, StepTimes, Subject, SuiteFailure, Timing, grouped,
    time_steps,
};
use sinew_flesh::FleshModel;
use sinew_scene::{ControlDoc, SceneDoc, ScoreDoc};
use sinew_sim::{Stage, World};
use std::time::Instant;

/// Bones of the skeletons; the longest is left to plain dynamics.
pub const SKELETONS: [usize; 4] = [10, 100, 1_000, 10_000];
/// Bones of the longest skeleton that is guided.
const MOST_GUIDED: usize = 1_000;
/// Bones times steps of a batch of skeletons, and steps at least.
const SHORT_BATCH: (usize, usize) = (5_000, 3);
/// Parts of a step, by the stages that end them.
pub const PARTS: [(&str, Stage); 3] =
    [("flesh and contact", Stage::Flesh), ("commands", Stage::Control), ("dynamics", Stage::Integrate)];
/// Steps of a motion in a test or a count of instructions.
const FEW_STEPS: usize = 40;

/// A model of KP08 Table 2, and what is asked of it here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperModel {
    /// The character.
    pub name: &'static str,
    /// The fixture whose motion is measured: the paper's.
    pub motion: &'static str,
    /// Degrees of freedom: bones, whatever they handle, and free nodes.
    pub n_dofs: usize,
    /// Bones.
    pub n_bones: usize,
    /// Driven degrees of freedom.
    pub n_actuators: usize,
    /// Nodes of the volume mesh.
    pub n_nodes: usize,
    /// Tetrahedra.
    pub n_tets: usize,
    /// Time of a step under joint control, µs.
    pub joint_us: f64,
    /// Time of a step under Cartesian control, µs.
    pub cartesian_us: f64,
    /// What is asked of our steps under joint and Cartesian control, µs.
    pub goals_us: [f64; 2],
}

/// What KP08 Table 2 printed.
pub const TABLE_2: [PaperModel; 3] = [
    PaperModel {
        name: "worm",
        motion: "worm_jump",
        n_dofs: 543,
        n_bones: 7,
        n_actuators: 6,
        n_nodes: 224,
        n_tets: 714,
        joint_us: 1600.0,
        cartesian_us: 2860.0,
        goals_us: [80.0, 140.0],
    },
    PaperModel {
        name: "fish",
        motion: "fish_jump",
        n_dofs: 258,
        n_bones: 7,
        n_actuators: 6,
        n_nodes: 107,
        n_tets: 415,
        joint_us: 1480.0,
        cartesian_us: 2440.0,
        goals_us: [80.0, 130.0],
    },
    PaperModel {
        name: "finger",
        motion: "finger_manipulate",
        n_dofs: 82,
        n_bones: 5,
        n_actuators: 7,
        n_nodes: 52,
        n_tets: 119,
        joint_us: 629.0,
        cartesian_us: 2100.0,
        goals_us: [30.0, 60.0],
    },
];

/// Times of the guided steps of a motion.
#[derive(Clone, Debug, PartialEq)]
pub struct MotionTimes {
    /// Times of whole steps.
    pub steps: StepTimes,
    /// Mean time of each of the [`PARTS`], s.
    pub parts: [f64; PARTS.len()],
    /// Substeps of a step, on average.
    pub substeps: f64,
    /// Largest number of contacts in a step.
    pub contacts: usize,
}

/// A character of ours in the motion of a model of the paper.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterRow {
    /// The model.
    pub paper: PaperModel,
    /// Degrees of freedom: bones, whatever they handle, and free nodes.
    pub n_dofs: usize,
    /// Bones.
    pub n_bones: usize,
    /// Driven degrees of freedom.
    pub n_actuators: usize,
    /// Nodes of the volume mesh.
    pub n_nodes: usize,
    /// Tetrahedra.
    pub n_tets: usize,
    /// Number of steps that are guided, and timed.
    pub n_guided: usize,
    /// Length of a step, s.
    pub dt: f64,
    /// The joint trajectory of the whole motion played by perfect servos.
    pub joint: MotionTimes,
    /// The motion as it is.
    pub cartesian: MotionTimes,
}

/// A skeleton of a number of bones; times are per step, s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkeletonRow {
    /// Number of bones, and of hinges.
    pub n_bones: usize,
    /// The three sweeps alone, in the order of [`DynamicsProblem::ALL`].
    pub sweeps: [Timing; DynamicsProblem::ALL.len()],
    /// A whole step without commands.
    pub passive: Timing,
    /// A whole step with one bone guided, where that is measured.
    pub cartesian: Option<Timing>,
}

impl SkeletonRow {
    /// A time per bone, ns.
    pub fn per_bone(&self, seconds: f64) -> f64 {
        seconds * 1e9 / self.n_bones as f64
    }
}

/// The suite with all it has measured so far.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlSuite {
    /// How much is measured.
    pub effort: MeasureEffort,
    /// Where and when.
    pub machine: Machine,
    /// Table 2.
    pub characters: Vec<CharacterRow>,
    /// Growth.
    pub skeletons: Vec<SkeletonRow>,
}

impl ControlSuite {
    /// Nothing measured yet.
    pub fn new(effort: MeasureEffort) -> Self {
        Self { effort, machine: Machine::here(), characters: vec![], skeletons: vec![] }
    }

    /// Measures the characters of the paper's Table 2 in motions of its kind, guided and by their joint trajectories.
    ///
    /// # Errors
    /// If a motion cannot be built, breaks down or does not repeat itself.
    pub fn measure_characters(&mut self) -> Result<(), SuiteFailure> {
        for paper in TABLE_2 {
            let scene = fixture(paper.motion)?;
            let n_steps = World::from_scene(&scene)?.info().n_steps as usize;
            self.characters.push(measure_character(paper, &scene, n_steps, self.effort.n_batches)?);
        }
        Ok(())
    }

    /// Measures skeletons of all lengths up to the effort's.
    ///
    /// # Errors
    /// If one cannot be built.
    pub fn measure_skeletons(&mut self) -> Result<(), SuiteFailure> {
        for n_bones in SKELETONS.into_iter().filter(|&n| n <= self.effort.max_links) {
            let effort = in_short_batches(&self.effort, n_bones);
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
    pub fn growth(&self) -> Option<[(usize, f64); 2]> {
        let first = self.skeletons.first()?;
        let last = self.skeletons.last()?;
        let guided = self.skeletons.iter().rev().find(|row| row.cartesian.is_some())?;
        let forward = |row: &SkeletonRow| row.per_bone(row.sweeps[0].best);
        let cartesian = |row: &SkeletonRow| row.cartesian.map(|timing| row.per_bone(timing.best));
        Some([
            (last.n_bones, forward(last) / forward(first)),
            (guided.n_bones, cartesian(guided)? / cartesian(first)?),
        ])
    }

    /// What is asked of the figures that were measured.
    pub fn goals(&self) -> Vec<FigureGoal> {
        let mut goals = Vec::new();
        for row in &self.characters {
            let times = [("joint", &row.joint), ("Cartesian", &row.cartesian)];
            for ((control, times), limit) in times.into_iter().zip(row.paper.goals_us) {
                let name = format!("{}: step in {control} control, µs", row.paper.name);
                goals.push(FigureGoal::at_most(name, times.steps.best() * 1e6, limit));
            }
        }
        if let Some(row) = self.skeletons.iter().find(|row| row.n_bones == 1_000) {
            for (limit, aim) in [(300.0, ""), (150.0, ", aim")] {
                let name = format!("forward dynamics of 1,000 hinges, ns per hinge{aim}");
                goals.push(FigureGoal::at_most(name, row.per_bone(row.sweeps[0].best), limit));
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
        n_dofs: tree.n_dofs() + 3 * flesh().map(|body| body.attachments().free().len()).sum::<usize>(),
        n_bones: tree.links().filter(|link| tree.joint(*link).is_some()).count(),
        n_actuators: driven.map(|link| tree.dofs(link).len()).sum(),
        n_nodes: flesh().map(|body| body.fem().n_nodes()).sum(),
        n_tets: flesh().map(|body| body.fem().n_tets()).sum(),
        n_guided: is_counted.iter().filter(|is_counted| **is_counted).count(),
        dt: world.settings().dt,
        joint,
        cartesian,
    })
}

/// Times the steps of a motion that count, in several runs from the state that was saved.
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

/// A handful of guided steps of every character, and of sweeps of a long skeleton, for tools that count instructions.
///
/// # Errors
/// If a scene cannot be built.
pub fn run_few_control_steps() -> Result<(), SuiteFailure> {
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
    use super::{ControlSuite, FEW_STEPS, TABLE_2, from_the_guide, measure_character};
    use crate::{MeasureEffort, subjects::fixture};

    #[test]
    fn a_small_suite_meets_what_does_not_depend_on_time() {
        let mut suite = ControlSuite::new(MeasureEffort { n_batches: 1, batch_work: 1, max_links: 100 });
        for paper in TABLE_2 {
            let scene = from_the_guide(&fixture(paper.motion).unwrap()).unwrap();
            let row = measure_character(paper, &scene, FEW_STEPS, 2).unwrap();
            assert_eq!(
                (row.n_bones, row.n_actuators, row.n_guided),
                (paper.n_bones, paper.n_actuators, FEW_STEPS)
            );
            assert!(row.n_dofs < 3 * row.n_nodes + 20 && row.cartesian.substeps >= 1.0, "{row:?}");
            suite.characters.push(row);
        }
        suite.measure_skeletons().unwrap();
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
        assert!(suite.plot().contains("forward dynamics"));
    }
}
