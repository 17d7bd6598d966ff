//! `sinew dynamics`: accelerations and torques of one state, in joint coordinates.
//!
//! The state file is RON or JSON. Joints that it omits have their initial position, zero rate and zero torque:
//!
//! ```text
//! (
//!     joints: {"elbow": (position: [0.3], rate: [1.0], torque: [2.0]), "wrist": (acceleration: [0.5])},
//!     wrenches: {"hand": (force: (0, 0, 1))},
//! )
//! ```
//!
//! Forward mode computes accelerations from torques, inverse mode torques from accelerations. In hybrid mode joints
//! with a given acceleration are prescribed and the others are passive. The position of a ball joint is a quaternion
//! `w, x, y, z`. A floating body is addressed by its name instead of a joint. Armatures belong to the inertia: a joint needs the torque `a q̈` more.
//! Springs, limits, motors, damping and friction of joints, ropes, drag, flesh and contacts do not act; the report says which of them there are.

use std::{collections::BTreeMap, fmt::Write as _};

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sinew_recursive::{Dynamics, HybridCommand, HybridReport, JointMode, LinkId, Tree, TreeState};
use sinew_scene::SceneLimits;
use sinew_sim::{Force, World};

use crate::args::{DynamicsArgs, DynamicsMode};
use crate::error::{CommandError, json};
use crate::joint_forces::{LeftOut, armatures, left_out};
use crate::{scenes, text::quantity};

/// A state file.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct StateFile {
    /// By name of the joint or of the floating body.
    joints: BTreeMap<String, JointState>,
    /// By name of the body, at its centre of mass, in world axes.
    wrenches: BTreeMap<String, Wrench>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct JointState {
    position: Option<Vec<f64>>,
    rate: Option<Vec<f64>>,
    acceleration: Option<Vec<f64>>,
    torque: Option<Vec<f64>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wrench {
    /// N·m.
    torque: DVec3,
    /// N.
    force: DVec3,
}

/// Results for all joints.
#[derive(Serialize)]
struct DynamicsReport {
    scene: String,
    mode: &'static str,
    /// Of the whole tree and its armatures (J).
    kinetic_energy: f64,
    /// What the scene has and this state is computed without.
    left_out: Vec<LeftOut>,
    joints: Vec<JointReport>,
}

#[derive(Serialize)]
struct JointReport {
    /// Name of the joint or of the floating body.
    joint: String,
    body: String,
    kind: &'static str,
    /// Whether the acceleration was given and the torque computed.
    prescribed: bool,
    position: Vec<f64>,
    rate: Vec<f64>,
    acceleration: Vec<f64>,
    torque: Vec<f64>,
    /// Force and torque of the joint on the body, at the joint in world axes (N, N·m).
    reaction_force: [f64; 3],
    reaction_torque: [f64; 3],
}

/// Evaluates a state and returns the report.
pub(crate) fn dynamics(args: &DynamicsArgs) -> Result<String, CommandError> {
    let source = scenes::find(&args.scene, &args.import, SceneLimits::default())?;
    let scene = source.parse()?;
    let world = scenes::build(&source, &scene)?;
    let fault = |message: String| CommandError(format!("{}: {message}", args.scene));
    let tree = Tree::from_model(world.mechanism()).map_err(|error| fault(error.to_string()))?;
    let file = match &args.state {
        Some(path) => read(path)?,
        None => StateFile::default(),
    };
    let place = args.state.as_ref().map_or_else(|| args.scene.clone(), |path| path.display().to_string());
    let problem = StateEvaluation::new(&world, &tree, &file, args.mode())
        .map_err(|CommandError(text)| CommandError(format!("{place}: {text}")))?;
    let written = scene.expanded().with_body_colliders();
    let problem = problem.with_armatures(armatures(&written, &world, &tree));
    let mut work = Dynamics::new(&tree);
    let seen = problem.solve(&tree, &mut work, world.settings().gravity);
    if let Some((link, direction)) = seen.singular {
        return Err(fault(format!(
            "direction {direction} of `{}` moves no mass (add mass or inertia)",
            label(&world, &tree, link)
        )));
    }
    let report = DynamicsReport {
        scene: scene.name.clone(),
        mode: args.mode().name(),
        kinetic_energy: work.kinetic_energy() + problem.armature_energy(),
        left_out: left_out(&written),
        joints: tree.links().map(|link| problem.report(&world, &tree, &work, link)).collect(),
    };
    if args.json { json(&report) } else { Ok(table(&report)) }
}

fn read(path: &std::path::Path) -> Result<StateFile, CommandError> {
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| CommandError(format!("{name}: cannot read the state: {error}")))?;
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(&text).map_err(|error| CommandError(format!("{name}: {error}")));
    }
    let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    options.from_str(&text).map_err(|error| CommandError(format!("{name}:{}: {}", error.span, error.code)))
}

/// State, command and external forces.
struct StateEvaluation {
    state: TreeState,
    command: HybridCommand,
    external: Vec<Force>,
    /// Per degree of freedom, kg·m² or kg.
    armatures: Vec<f64>,
}

impl StateEvaluation {
    fn new(world: &World, tree: &Tree, file: &StateFile, mode: DynamicsMode) -> Result<Self, CommandError> {
        let mut state = TreeState::from_mechanism(tree, &world.state().bodies);
        let mut command = match mode {
            DynamicsMode::Inverse => HybridCommand::prescribed(tree),
            DynamicsMode::Forward | DynamicsMode::Hybrid => HybridCommand::passive(tree),
        };
        let links: BTreeMap<String, LinkId> =
            tree.links().map(|link| (label(world, tree, link), link)).collect();
        for (name, given) in &file.joints {
            let Some(&link) = links.get(name) else {
                let known: Vec<String> = links.keys().cloned().collect();
                let hint = sinew_scene::suggestion(name, &known);
                return Err(CommandError(format!("there is no joint called `{name}` ({hint})")));
            };
            let (positions, dofs) = (tree.coordinates(link), tree.dofs(link));
            put(given.position.as_deref(), &mut state.coordinates[positions], name, "position")?;
            put(given.rate.as_deref(), &mut state.rates[dofs.clone()], name, "rate")?;
            command.modes[link.index()] = given.command(mode, name, &mut command.values[dofs])?;
        }
        tree.renormalize(&mut state.coordinates);
        Ok(Self { state, command, external: external_forces(world, tree, file)?, armatures: Vec::new() })
    }

    fn with_armatures(self, armatures: Vec<f64>) -> Self {
        Self { armatures, ..self }
    }

    fn solve(&self, tree: &Tree, work: &mut Dynamics, gravity: DVec3) -> HybridReport {
        work.kinematics(tree, &self.state);
        work.respond_resisted(tree, &self.command, &self.armatures, gravity, &self.external)
    }

    fn armature_energy(&self) -> f64 {
        self.armatures
            .iter()
            .zip(&self.state.rates)
            .map(|(armature, rate)| 0.5 * armature * rate * rate)
            .sum()
    }

    /// What the actuators of a link give: the torque of the command, or the one that the prescribed acceleration needs, with that of the armature.
    fn torques(&self, tree: &Tree, work: &Dynamics, link: LinkId) -> Vec<f64> {
        let dofs = tree.dofs(link);
        if self.command.mode(link) != JointMode::Prescribed {
            return self.command.values[dofs].to_vec();
        }
        dofs.map(|dof| work.torques()[dof] + self.armatures[dof] * work.accelerations()[dof]).collect()
    }

    fn report(&self, world: &World, tree: &Tree, work: &Dynamics, link: LinkId) -> JointReport {
        let (positions, dofs) = (tree.coordinates(link), tree.dofs(link));
        let reaction = work.reaction(link);
        JointReport {
            joint: label(world, tree, link),
            body: world.mechanism().body_name(tree.body(link)).to_owned(),
            kind: tree.joint_kind(link).name(),
            prescribed: self.command.mode(link) == JointMode::Prescribed,
            position: self.state.coordinates[positions].to_vec(),
            rate: self.state.rates[dofs.clone()].to_vec(),
            acceleration: work.accelerations()[dofs].to_vec(),
            torque: self.torques(tree, work, link),
            reaction_force: reaction.linear.to_array(),
            reaction_torque: reaction.angular.to_array(),
        }
    }
}

impl JointState {
    /// Writes the given torque or acceleration of a joint, and returns which of the two it is.
    fn command(&self, mode: DynamicsMode, name: &str, out: &mut [f64]) -> Result<JointMode, CommandError> {
        let is_prescribed = match mode {
            DynamicsMode::Forward => false,
            DynamicsMode::Inverse => true,
            DynamicsMode::Hybrid => self.acceleration.is_some(),
        };
        let (wanted, other, what, other_what) = if is_prescribed {
            (&self.acceleration, &self.torque, "acceleration", "torque")
        } else {
            (&self.torque, &self.acceleration, "torque", "acceleration")
        };
        if other.is_some() {
            return Err(CommandError(format!(
                "`{name}` has a {other_what}, which this mode computes (leave it out)"
            )));
        }
        put(wanted.as_deref(), out, name, what)?;
        Ok(if is_prescribed { JointMode::Prescribed } else { JointMode::Passive })
    }
}

/// External wrenches by link.
fn external_forces(world: &World, tree: &Tree, file: &StateFile) -> Result<Vec<Force>, CommandError> {
    let mut external = vec![Force::ZERO; tree.n_links()];
    for (name, wrench) in &file.wrenches {
        let link = world.body(name).and_then(|body| tree.link(body));
        let link =
            link.ok_or_else(|| CommandError(format!("there is no body called `{name}` that forces move")))?;
        if !(wrench.torque.is_finite() && wrench.force.is_finite()) {
            return Err(CommandError(format!("the wrench on `{name}` is not finite")));
        }
        external[link.index()] += Force::new(wrench.torque, wrench.force);
    }
    Ok(external)
}

/// Name of the joint of a link; of its body if it floats.
fn label(world: &World, tree: &Tree, link: LinkId) -> String {
    match tree.joint(link) {
        Some(joint) => world.mechanism().joint_name(joint).to_owned(),
        None => world.mechanism().body_name(tree.body(link)).to_owned(),
    }
}

/// Copies given numbers after checking their count and finiteness.
fn put(given: Option<&[f64]>, out: &mut [f64], name: &str, what: &str) -> Result<(), CommandError> {
    let Some(given) = given else { return Ok(()) };
    if given.len() != out.len() {
        return Err(CommandError(format!(
            "the {what} of `{name}` has {} numbers, but {} are given",
            out.len(),
            given.len(),
        )));
    }
    if given.iter().any(|x| !x.is_finite()) {
        return Err(CommandError(format!("the {what} of `{name}` is not finite")));
    }
    out.copy_from_slice(given);
    Ok(())
}

fn table(report: &DynamicsReport) -> String {
    let numbers = |values: &[f64]| values.iter().map(|x| quantity(*x)).collect::<Vec<_>>().join(" ");
    let mut out = format!(
        "{}: {} dynamics, kinetic energy {} J\n",
        report.scene,
        report.mode,
        quantity(report.kinetic_energy)
    );
    let width = report.joints.iter().map(|joint| joint.joint.len()).max().unwrap_or(0);
    for joint in &report.joints {
        let found = if joint.prescribed { "torque" } else { "acceleration" };
        let values = if joint.prescribed { &joint.torque } else { &joint.acceleration };
        let _ = writeln!(out, "  {:<width$}  {:<14} {found} {}", joint.joint, joint.kind, numbers(values));
    }
    if !report.left_out.is_empty() {
        let all: Vec<String> = report.left_out.iter().map(LeftOut::text).collect();
        let _ = writeln!(out, "  left out: {}", all.join("; "));
    }
    out.truncate(out.trim_end().len());
    out
}
