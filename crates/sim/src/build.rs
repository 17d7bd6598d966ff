//! From a scene document to a model, its settings, its recorded inputs and its looks.
//!
//! The document is checked against the rules of the format, its generators are written out, and every name is
//! resolved to an id once. Cost: linear in bodies and joints, times the logarithm of their number for the names.

use std::collections::BTreeMap;
use std::sync::Arc;

use sinew_math::{MassProperties, Motion, Pose};
use sinew_mechanism::{
    Assembly, AssemblyReport, BodyId, BodyKind, BodySpec, Input, JointFrames, JointId, JointSpec,
    MechanismBuilder, PointSpringSpec, Settings, Structure, assemble,
};
use sinew_scene::{
    BodyDoc, BodyKindDoc, ChangeDoc, EndDoc, FleshDoc, FleshSteppingDoc, InputDoc, JointDoc, LoopSolverDoc,
    LoopsDoc, PriorityDoc, ReducedDoc, ReducedMethodDoc, SamplesDoc, SceneDoc, StepperDoc, Steps,
};
use sinew_topology::Priority;

use crate::draw::{DrawShape, Looks, SolidLook, SpringEnd, SurfaceLook};
use crate::error::joint_path;
use crate::flesh::Soft;
use crate::forces::{add_forces, drive_coordinate, motor_track};
use crate::script::{Follow, Goal, Hold, Prescribed, Push, Script, When, Window};
use crate::settings::settings;
use crate::stages::Stage;
use crate::surface::Grid;
use crate::{BuildError, Model, Reduced, ReducedMethod, State};

/// What a scene says about its run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SceneInfo {
    /// Name of the scene.
    pub name: String,
    /// Steps that make up its duration.
    pub n_steps: u64,
    /// When its steps are.
    pub steps: Steps,
    /// Numbers of the steps after which the state is of interest, increasing.
    pub samples: Vec<u64>,
    /// How bringing the initial poses together went; none if the scene did not ask for it.
    pub assembly: Option<AssemblyReport>,
}

/// Everything that a scene becomes.
pub(crate) struct Parts {
    /// At least one, in order of time.
    pub(crate) stages: Vec<Stage>,
    /// The state to begin with.
    pub(crate) start: State,
    pub(crate) script: Script,
    pub(crate) looks: Looks,
    pub(crate) info: SceneInfo,
}

/// What the world is called in scenes.
pub(crate) const WORLD: &str = "world";

/// Builds a scene that keeps the rules, as if it had no changes.
pub(crate) fn build_plain(scene: &SceneDoc) -> Result<Parts, BuildError> {
    #[cfg(not(feature = "dense"))]
    if matches!(scene.loops.solver, LoopSolverDoc::StructuredDense | LoopSolverDoc::FullDense) {
        return Err(BuildError::Unsupported {
            field: "loops.solver".to_owned(),
            what: "this build has no dense solver",
            hint: "build with `--features dense`, or choose StructuredIterative or FullIterative",
        });
    }
    let settings = settings(scene, &ChangeDoc::default());
    let expanded = scene.expanded();
    let mut mechanism = MechanismBuilder::new();
    mechanism.set_structure(structure(&scene.loops));
    let mut looks = Looks::default();
    let places = expanded.bodies.iter().enumerate();
    let mut bodies: BTreeMap<_, _> =
        places.map(|(i, doc)| (doc.name.as_str(), BodyId::from_index(i))).collect();
    // Flesh fixed to the world is fixed to a body that never moves.
    let mut attached = expanded.flesh.iter().flat_map(|flesh| &flesh.attach);
    let has_ground = attached.any(|attach| attach.body.as_deref() == Some(WORLD));
    if has_ground {
        bodies.insert(WORLD, BodyId::from_index(expanded.bodies.len()));
    }
    let soft = Soft::prepare(&expanded, &bodies)?;
    for doc in &expanded.bodies {
        let mut spec = body_spec(doc);
        soft.add_masses(bodies[doc.name.as_str()], &mut spec);
        let body = mechanism.add_body(spec);
        looks.solids.extend(doc.shapes.iter().map(|shape| SolidLook {
            body,
            body_from_shape: shape.at.to_pose(),
            shape: shape.solid,
            color: doc.color,
        }));
        looks.solids.extend(bare_look(doc, body));
    }
    if has_ground {
        mechanism.add_body(BodySpec::fixed("", Pose::IDENTITY));
    }
    let names = Names {
        bodies,
        tracks: expanded.tracks.iter().enumerate().map(|(i, t)| (t.name.as_str(), i)).collect(),
    };
    let mut script = Script::new(&expanded.tracks);
    for doc in &expanded.joints {
        let path = || joint_path(scene, &doc.name);
        let joint = mechanism.add_joint(joint_spec(doc, &mechanism, &names, &path)?);
        script_joint(doc, joint, &names, &path, &mut script)?;
    }
    for (i, doc) in expanded.springs.iter().enumerate() {
        let path = format!("springs[{i}]");
        let ends = [names.end(&doc.from, &path)?, names.end(&doc.to, &path)?];
        let [near, far] = if ends[0].body.is_some() { ends } else { [ends[1], ends[0]] };
        let Some(body) = near.body else { continue };
        mechanism.add_spring(
            PointSpringSpec::new(body, near.point, far.body, far.point, doc.stiffness, doc.damping)
                .with_rest_length(doc.rest_length),
        );
        looks.springs.push(ends);
    }
    for (i, doc) in expanded.surfaces.iter().enumerate() {
        let end = |point| names.end(point, &format!("surfaces[{i}].points"));
        let points = doc.points.iter().map(end).collect::<Result<Vec<_>, _>>()?;
        let columns = doc.columns as usize;
        let grid = Grid::new(columns, points.len() / columns, doc.fineness as usize);
        looks.surfaces.push(SurfaceLook { points, grid, color: doc.color });
    }
    for (i, doc) in expanded.inputs.iter().enumerate() {
        script_input(doc, &format!("inputs[{i}]"), &names, &mechanism, &mut script)?;
    }
    script.scales.sort_by(|a, b| a.0.total_cmp(&b.0));
    let model = mechanism.build().map_err(|source| BuildError::from_mechanism(scene, source))?;
    let mut info = info(scene);
    let mut start = model.initial_state();
    if scene.assemble {
        info.assembly = Some(assembled(&model, &script, &settings, &mut start));
    }
    let bodies = &names.bodies;
    let (model, start) = match soft.finish(&expanded, &model, &start, bodies)? {
        Some((flesh, state, drawn)) => {
            looks.flesh = drawn;
            (
                stepped(&expanded, Model::with_flesh(model, flesh))?,
                State { bodies: start, flesh: state, ..State::default() },
            )
        }
        None => (Model::from(model), State { bodies: start, ..State::default() }),
    };
    let model = match &scene.stepper {
        StepperDoc::Reduced(doc) => reduced(&expanded, doc, model, &start)?,
        _ => model,
    };
    let stage = Stage { model: Arc::new(model), settings, said: scene.settings_after(0) };
    Ok(Parts { stages: vec![stage], start, script, looks, info })
}

/// A model that is stepped in joint coordinates and plays the score of its scene.
fn reduced(scene: &SceneDoc, doc: &ReducedDoc, model: Model, start: &State) -> Result<Model, BuildError> {
    let method = match doc.method {
        ReducedMethodDoc::SymplecticEuler => ReducedMethod::SymplecticEuler,
        ReducedMethodDoc::Rk4 => ReducedMethod::Rk4,
        ReducedMethodDoc::Implicit => ReducedMethod::Implicit,
    };
    let reduced = Reduced::new(&model, method, doc.most_substeps)
        .map_err(|error| BuildError::Reduced { field: "stepper".to_owned(), message: error.to_string() })?;
    let reduced = match &scene.score {
        Some(score) => {
            let controller =
                crate::score::controller(score, &scene.tracks, &model, reduced.tree(), &start.bodies)?;
            reduced.with_controller(controller)
        }
        None => reduced,
    };
    Ok(model.with_reduced(reduced))
}

/// A model whose flesh is stepped as the scene says.
fn stepped(scene: &SceneDoc, model: Model) -> Result<Model, BuildError> {
    let substeps = |doc: &FleshDoc| match doc.stepping {
        FleshSteppingDoc::Implicit => None,
        FleshSteppingDoc::Explicit { substeps } => Some(substeps),
    };
    let mut steppings = scene.flesh.iter().map(substeps);
    let Some(first) = steppings.next() else { return Ok(model) };
    if let Some(i) = steppings.position(|other| other != first) {
        return Err(BuildError::Unsupported {
            field: format!("flesh[{}].stepping", i + 1),
            what: "all flesh of a scene is stepped in the same way",
            hint: "give every flesh the same stepping",
        });
    }
    Ok(match first {
        Some(substeps) => model.with_explicit_flesh(substeps),
        None => model,
    })
}

/// Brings initial poses together, with the inputs of the beginning.
fn assembled(
    model: &sinew_mechanism::Model,
    script: &Script,
    settings: &Settings,
    state: &mut sinew_mechanism::State,
) -> AssemblyReport {
    let mut input = Input::default();
    script.fill(model, state, When::ending_at(state.time, settings.dt), &mut Vec::new(), &mut input);
    assemble(
        model,
        state,
        &input,
        &Assembly::default(),
        &settings.loops,
        &mut sinew_mechanism::Workspace::new(model),
    )
}

/// What a scene says about its run, apart from how it was assembled.
pub(crate) fn info(scene: &SceneDoc) -> SceneInfo {
    let steps = Steps::of(scene);
    let n_steps = steps.reaching(scene.duration_s);
    let (short, long) = steps.lengths(n_steps);
    let mut samples: Vec<u64> = match &scene.samples {
        // The product has at most 1e6 · 1e12 by the rules of the format.
        SamplesDoc::Count(n) if short >= long => {
            (1..=u64::from(*n)).map(|i| (i * n_steps).div_ceil(u64::from(*n))).collect()
        }
        SamplesDoc::Count(n) => {
            let time = |i: u32| scene.duration_s * f64::from(i) / f64::from(*n);
            (1..=*n).map(|i| steps.reaching(time(i)).min(n_steps)).collect()
        }
        SamplesDoc::Times(times) => times.iter().map(|&time| steps.reaching(time).min(n_steps)).collect(),
    };
    samples.dedup();
    SceneInfo { name: scene.name.clone(), n_steps, steps, samples, assembly: None }
}

/// Which joints are solved exactly.
fn structure(doc: &LoopsDoc) -> Structure {
    match doc.solver {
        LoopSolverDoc::StructuredIterative | LoopSolverDoc::StructuredDense => Structure::Tree,
        LoopSolverDoc::FullIterative | LoopSolverDoc::FullDense => Structure::Full,
    }
}

fn body_spec(doc: &BodyDoc) -> BodySpec {
    let mut spec = BodySpec::dynamic(doc.name.as_str(), doc.pose.to_pose(), doc.mass_properties())
        .with_motion(Motion::new(doc.velocity.angular, doc.velocity.linear))
        .with_damping(doc.angular_damping, doc.linear_damping);
    spec.kind = match doc.kind {
        BodyKindDoc::Dynamic => BodyKind::Dynamic,
        BodyKindDoc::Fixed => BodyKind::Fixed,
        BodyKindDoc::Kinematic => BodyKind::Kinematic,
    };
    spec
}

/// A body that has mass but no shapes is drawn as the ball about its centre of mass that is as hard to turn.
fn bare_look(doc: &BodyDoc, body: BodyId) -> Option<SolidLook> {
    let MassProperties { mass, com, inertia } = doc.mass_properties();
    (doc.shapes.is_empty() && mass > 0.0).then(|| {
        // A ball has tr I = 6/5 m r².
        let radius = ((inertia.xx + inertia.yy + inertia.zz) / (1.2 * mass)).sqrt();
        let body_from_shape = Pose::from_translation(com);
        SolidLook { body, body_from_shape, shape: DrawShape::Sphere { radius }, color: doc.color }
    })
}

fn joint_spec(
    doc: &JointDoc,
    mechanism: &MechanismBuilder,
    names: &Names<'_>,
    path: &dyn Fn() -> String,
) -> Result<JointSpec, BuildError> {
    let child = names.body(&doc.child, path)?;
    let parent = doc.parent.as_ref().map(|name| names.body(name, path)).transpose()?;
    let parent_pose = parent.map_or(Pose::IDENTITY, |body| mechanism.body_pose(body));
    let (on_child, on_parent) = doc.frames.in_bodies(&mechanism.body_pose(child), &parent_pose);
    let frames = JointFrames {
        rotation1: on_child.rotation,
        point1: on_child.translation,
        rotation2: on_parent.rotation,
        point2: on_parent.translation,
    };
    let priority = match doc.priority {
        PriorityDoc::Auto => Priority::Auto,
        PriorityDoc::Primary => Priority::Primary,
        PriorityDoc::Secondary => Priority::Secondary,
    };
    let spec = JointSpec::new(doc.name.as_str(), doc.kind, child, parent, frames)
        .with_priority(priority)
        .with_weight(doc.weight)
        .with_compliance(doc.compliance);
    add_forces(doc, spec, path)
}

fn window(from: f64, to: Option<f64>) -> Window {
    Window { from, to: to.unwrap_or(f64::INFINITY) }
}

/// Notes which tracks a joint follows, and when it holds.
fn script_joint(
    doc: &JointDoc,
    joint: JointId,
    names: &Names<'_>,
    path: &dyn Fn() -> String,
    script: &mut Script,
) -> Result<(), BuildError> {
    if let Some((track, is_rate)) = motor_track(doc) {
        script.motors.push(Goal { joint, track: names.track(track, path)?, is_rate });
    }
    if doc.from_s > 0.0 || doc.to_s.is_some() {
        script.held.push((joint, window(doc.from_s, doc.to_s)));
    }
    if let (Some(track), Some(coordinate)) = (&doc.drive, drive_coordinate(doc)) {
        script.drives.push(Prescribed { joint, coordinate, track: names.track(track, path)? });
    }
    Ok(())
}

fn script_input(
    doc: &InputDoc,
    path: &str,
    names: &Names<'_>,
    mechanism: &MechanismBuilder,
    script: &mut Script,
) -> Result<(), BuildError> {
    let path = || path.to_owned();
    match doc {
        InputDoc::Kinematic(doc) => {
            let body = names.body(&doc.body, &path)?;
            let rotation = mechanism.body_pose(body).rotation;
            script.kinematic.push(Follow { body, track: names.track(&doc.track, &path)?, rotation });
        }
        InputDoc::Grab(doc) => script.grabs.push(Hold {
            body: names.body(&doc.body, &path)?,
            point: doc.point,
            track: names.track(&doc.track, &path)?,
            stiffness: doc.stiffness,
            damping: doc.damping,
            window: window(doc.from_s, doc.to_s),
        }),
        InputDoc::Wrench(doc) => script.wrenches.push(Push {
            body: names.body(&doc.body, &path)?,
            point: doc.point,
            force: doc.force,
            torque: doc.torque,
            track: doc.track.as_ref().map(|track| names.track(track, &path)).transpose()?,
            window: window(doc.from_s, doc.to_s),
        }),
        InputDoc::JointForces(doc) => script.scales.push((doc.at_s, doc.scale)),
    }
    Ok(())
}

/// Names of a scene.
struct Names<'d> {
    bodies: BTreeMap<&'d str, BodyId>,
    tracks: BTreeMap<&'d str, usize>,
}

impl Names<'_> {
    fn body(&self, name: &str, path: &dyn Fn() -> String) -> Result<BodyId, BuildError> {
        self.bodies.get(name).copied().ok_or_else(|| unknown(path()))
    }

    fn track(&self, name: &str, path: &dyn Fn() -> String) -> Result<usize, BuildError> {
        self.tracks.get(name).copied().ok_or_else(|| unknown(path()))
    }

    fn end(&self, doc: &EndDoc, path: &str) -> Result<SpringEnd, BuildError> {
        Ok(match doc {
            EndDoc::World(point) => SpringEnd { body: None, point: *point },
            EndDoc::Body { name, point } => {
                SpringEnd { body: Some(self.body(name, &|| path.to_owned())?), point: *point }
            }
        })
    }
}

/// A name that `validate` did not find either, or that only a generator could have made.
fn unknown(field: String) -> BuildError {
    BuildError::Unsupported {
        field,
        what: "this refers to a name that nothing has",
        hint: "use the name of a body or track of the scene",
    }
}
