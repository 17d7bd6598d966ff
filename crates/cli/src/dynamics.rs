//! `sinew dynamics`: accelerations and torques of one state, in joint coordinates.
//!
//! The state file is RON (or JSON, which is read as well) and names joints; what it leaves out is as the scene begins, at rest, without
//! torque:
//!
//! ```text
//! (joints: {"elbow": (position: [0.3], rate: [1.0], torque: [2.0]), "wrist": (acceleration: [0.5])}, wrenches: {"hand": (force: (0, 0, 1))})
//! ```
//!
//! Forward: torques are given, accelerations found. Inverse: the other way round. Hybrid: joints with an acceleration are prescribed, the
//! others passive. A rotation in space is a quaternion `w, x, y, z` among the positions. A body that floats is named like a joint.
//! Springs, stops and motors of joints do not act: torques are what the file says.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sinew_recursive::{Dynamics, HybridCommand, JointMode, LinkId, Tree, TreeState};
use sinew_sim::{Force, World};

use crate::args::{DynamicsArgs, DynamicsMode};
use crate::svg::quantity;
use crate::{Failure, scenes};

/// A state in a file.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct StateFile {
    /// By name of the joint, or of a body that floats.
    joints: BTreeMap<String, JointState>,
    /// By name of the body: at its centre of mass, world axes.
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

/// What is found.
#[derive(Serialize)]
struct Report {
    scene: String,
    mode: &'static str,
    /// Of the whole tree.
    kinetic_energy: f64,
    joints: Vec<JointReport>,
}

#[derive(Serialize)]
struct JointReport {
    /// Name of the joint, or of the body that floats.
    joint: String,
    body: String,
    kind: &'static str,
    /// Whether the acceleration was given and the torque found.
    prescribed: bool,
    position: Vec<f64>,
    rate: Vec<f64>,
    acceleration: Vec<f64>,
    torque: Vec<f64>,
    /// Force and torque of the joint on the body, world axes at the joint (N, N·m).
    reaction_force: [f64; 3],
    reaction_torque: [f64; 3],
}

/// Evaluates a state; returns what there is to say.
pub(crate) fn dynamics(args: &DynamicsArgs) -> Result<String, Failure> {
    let source = scenes::find(&args.scene)?;
    let scene = source.parse()?;
    let world = scenes::build(&source, &scene)?;
    let fault = |message: String| Failure(format!("{}: {message}", args.scene));
    let tree = Tree::from_model(world.mechanism()).map_err(|error| fault(error.to_string()))?;
    let file = match &args.state {
        Some(path) => read(path)?,
        None => StateFile::default(),
    };
    let place = args.state.as_ref().map_or_else(|| args.scene.clone(), |path| path.display().to_string());
    let problem = Problem::new(&world, &tree, &file, args.mode())
        .map_err(|Failure(text)| Failure(format!("{place}: {text}")))?;
    let mut work = Dynamics::new(&tree);
    let seen =
        work.hybrid(&tree, &problem.state, &problem.command, world.settings().gravity, &problem.external);
    if let Some((link, direction)) = seen.singular {
        return Err(fault(format!(
            "direction {direction} of `{}` moves no mass",
            label(&world, &tree, link)
        )));
    }
    let report = Report {
        scene: scene.name.clone(),
        mode: args.mode().name(),
        kinetic_energy: work.kinetic_energy(),
        joints: tree.links().map(|link| problem.report(&world, &tree, &work, link)).collect(),
    };
    if args.json {
        let text = serde_json::to_string_pretty(&report);
        return text.map_err(|error| Failure(format!("cannot write the report: {error}")));
    }
    Ok(table(&report))
}

fn read(path: &std::path::Path) -> Result<StateFile, Failure> {
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure(format!("{name}: cannot read the state: {error}")))?;
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(&text).map_err(|error| Failure(format!("{name}: {error}")));
    }
    let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    options.from_str(&text).map_err(|error| Failure(format!("{name}:{}: {}", error.span, error.code)))
}

/// What is given.
struct Problem {
    state: TreeState,
    command: HybridCommand,
    external: Vec<Force>,
}

impl Problem {
    fn new(world: &World, tree: &Tree, file: &StateFile, mode: DynamicsMode) -> Result<Self, Failure> {
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
                return Err(Failure(format!("there is no joint called `{name}` ({hint})")));
            };
            let (positions, dofs) = (tree.coordinates(link), tree.dofs(link));
            put(given.position.as_deref(), &mut state.coordinates[positions], name, "position")?;
            put(given.rate.as_deref(), &mut state.rates[dofs.clone()], name, "rate")?;
            let is_prescribed = match mode {
                DynamicsMode::Forward => false,
                DynamicsMode::Inverse => true,
                DynamicsMode::Hybrid => given.acceleration.is_some(),
            };
            command.modes[link.index()] =
                if is_prescribed { JointMode::Prescribed } else { JointMode::Passive };
            let (wanted, other, what, other_what) = if is_prescribed {
                (&given.acceleration, &given.torque, "acceleration", "torque")
            } else {
                (&given.torque, &given.acceleration, "torque", "acceleration")
            };
            if other.is_some() {
                return Err(Failure(format!(
                    "`{name}` has a {other_what}, which is to be found (leave it out)"
                )));
            }
            put(wanted.as_deref(), &mut command.values[dofs], name, what)?;
        }
        tree.renormalize(&mut state.coordinates);
        let mut external = vec![Force::ZERO; tree.n_links()];
        for (name, wrench) in &file.wrenches {
            let link = world.body(name).and_then(|body| tree.link(body));
            let link =
                link.ok_or_else(|| Failure(format!("there is no body called `{name}` that forces move")))?;
            if !(wrench.torque.is_finite() && wrench.force.is_finite()) {
                return Err(Failure(format!("the wrench on `{name}` is not finite")));
            }
            external[link.index()] += Force::new(wrench.torque, wrench.force);
        }
        Ok(Self { state, command, external })
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
            acceleration: work.accelerations()[dofs.clone()].to_vec(),
            torque: work.torques()[dofs].to_vec(),
            reaction_force: reaction.linear.to_array(),
            reaction_torque: reaction.angular.to_array(),
        }
    }
}

/// The name of a link's joint; of its body if it floats.
fn label(world: &World, tree: &Tree, link: LinkId) -> String {
    match tree.joint(link) {
        Some(joint) => world.mechanism().joint_name(joint).to_owned(),
        None => world.mechanism().body_name(tree.body(link)).to_owned(),
    }
}

fn put(given: Option<&[f64]>, out: &mut [f64], name: &str, what: &str) -> Result<(), Failure> {
    let Some(given) = given else { return Ok(()) };
    if given.len() != out.len() {
        return Err(Failure(format!(
            "the {what} of `{name}` has {} numbers, not {}",
            out.len(),
            given.len()
        )));
    }
    if given.iter().any(|x| !x.is_finite()) {
        return Err(Failure(format!("the {what} of `{name}` is not finite")));
    }
    out.copy_from_slice(given);
    Ok(())
}

fn table(report: &Report) -> String {
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
    out.truncate(out.trim_end().len());
    out
}
