//! A scene without changes, built: model, settings, initial state, recorded inputs and appearance.
//!
//! Generators are written out, and every name is resolved to an id once. Cost: linear in bodies, joints and nodes, times the logarithm
//! of the number of names.

use std::sync::Arc;

use sinew_engine::{
    Appearance, BodyPoint, FleshStepping, Model, ReducedModel, Settings, SolidAppearance, State,
    SurfaceAppearance,
};
use sinew_math::{MassProperties, Motion, Pose, Shape};
use sinew_mechanism::{
    Assembly, AssemblyReport, BodyId, BodyKind, BodySpec, Input, MechanismBuilder, PointSpringSpec,
    Structure, assemble,
};
use sinew_recursive::RecursiveError;
use sinew_scene::{
    BodyDoc, BodyKindDoc, ChangeDoc, FleshDoc, FleshSteppingDoc, LoopSolverDoc, LoopsDoc, SceneDoc,
    StepperDoc,
};

use crate::collider_meshes::ColliderMeshes;
use crate::colliders::{ColliderModels, ScenePairs, SurfaceKinds, scene_colliders};
use crate::error::{BuildError, joint_path};
use crate::inputs::{add_inputs, add_joint_inputs, add_motor_input};
use crate::rigid::{RigidParts, is_plain};
use crate::script::{Script, ScriptTimes};
use crate::{
    doubts::doubts,
    flesh::PreparedFlesh,
    info::SceneInfo,
    joints::{BuiltJoint, joint_specs},
    jumps::jump_doubts,
    names::Names,
    score::controller,
    settings::settings,
    transmissions::gear_spec,
    transmissions::rope_spec,
    unobeyed::{refuse_armatures, refuse_dropped},
    velocities::velocity_doubts,
};

/// Everything that a scene without changes becomes.
pub(crate) struct BuiltScene {
    pub(crate) model: Model,
    pub(crate) settings: Settings,
    pub(crate) start: State,
    pub(crate) script: Script,
    pub(crate) appearance: Appearance,
    pub(crate) info: SceneInfo,
    pub(crate) parts: RigidParts,
    /// Whether it has no more than these parts.
    pub(crate) is_plain: bool,
}

impl BuiltScene {
    /// Its parts; none if it has more than them.
    pub(crate) fn plain_parts(self) -> Option<RigidParts> {
        self.is_plain.then_some(self.parts)
    }
}

/// Builds a valid scene as if it had no changes.
pub(crate) fn build(scene: &SceneDoc) -> Result<BuiltScene, BuildError> {
    let mut settings = settings(scene, &ChangeDoc::default());
    let expanded = scene.expanded().with_body_colliders();
    let names = Names::of(&expanded);
    let flesh = PreparedFlesh::new(&expanded, &names.bodies)?;
    let mut parts = SceneParts::new(scene, &expanded, &names);
    let meshes = ColliderMeshes::of(&expanded)?;
    let doubts = doubts(&expanded, &flesh, &meshes);
    parts.add_bodies(&flesh, &meshes)?;
    refuse_armatures(scene, &expanded)?;
    parts.add_joints()?;
    parts.add_springs()?;
    parts.add_ropes()?;
    parts.add_gears()?;
    parts.add_surfaces()?;
    add_inputs(&expanded, &names, (&parts.mechanism, &flesh), &mut parts.script)?;
    let SceneParts { mechanism: specs, script, mut appearance, .. } = parts;
    let mechanism = specs.build().map_err(|source| BuildError::from_mechanism(scene, source))?;
    let mut info = SceneInfo { doubts, ..SceneInfo::of(scene) };
    let mut bodies = mechanism.initial_state();
    if scene.assemble {
        info.assembly = Some(assemble_start(&mechanism, &script, &settings, &mut bodies));
    }
    info.doubt_pulls(&expanded, (&mechanism, &bodies), settings.dt);
    info.doubts.extend(velocity_doubts(&expanded, (&mechanism, &bodies)));
    info.doubts.extend(jump_doubts(&expanded, (&mechanism, &bodies), settings.dt));
    let mut start = State::from(bodies);
    let kinds = SurfaceKinds::of(&expanded);
    let colliders = scene_colliders(&expanded, &mechanism, &names.bodies, (&meshes, &kinds))?;
    let pairs = ScenePairs::of(&expanded, &kinds, &names.bodies);
    let ColliderModels { solids, sensors } = colliders.models(&mechanism, &pairs)?;
    let mut model = match flesh.finish(&expanded, &mechanism, &start.bodies, (solids, &kinds))? {
        Some((flesh, nodes, drawn)) => {
            (start.flesh, appearance.flesh) = (nodes, drawn);
            settings.flesh = flesh_stepping(&expanded)?;
            Model::with_flesh(mechanism, flesh)
        }
        None => Model::from(mechanism),
    };
    let names: Vec<Arc<str>> = expanded.colliders.iter().map(|collider| collider.known_as().into()).collect();
    model = model.with_collider_names(names.iter().cloned());
    model = model.with_flesh_names(appearance.flesh.iter().map(|flesh| flesh.name.clone()).collect());
    if let Some(sensors) = sensors {
        model = model.with_sensors(sensors);
    }
    let is_reduced = matches!(scene.stepper, StepperDoc::Reduced(_));
    if is_reduced || is_scored(scene) {
        let reduced = reduced_model(&expanded, &model, &start)?;
        if is_reduced {
            refuse_dropped(scene, &expanded, (model.mechanism(), &reduced))?;
        }
        model = model.with_reduced(reduced);
    }
    start.model = model.identity();
    let (parts, is_plain) = (RigidParts::new(specs, colliders, names), is_plain(&expanded));
    Ok(BuiltScene { model, settings, start, script, appearance, info, parts, is_plain })
}

/// The mechanism of a scene, its script and its appearance, as far as they are made.
struct SceneParts<'a> {
    /// As written, for the paths of errors.
    scene: &'a SceneDoc,
    /// With generators written out.
    expanded: &'a SceneDoc,
    names: &'a Names<'a>,
    mechanism: MechanismBuilder,
    script: Script,
    appearance: Appearance,
}

impl<'a> SceneParts<'a> {
    fn new(scene: &'a SceneDoc, expanded: &'a SceneDoc, names: &'a Names<'a>) -> Self {
        let mut mechanism = MechanismBuilder::new();
        mechanism.set_structure(structure(&scene.loops));
        let script = Script::new(&expanded.tracks);
        Self { scene, expanded, names, mechanism, script, appearance: Appearance::default() }
    }

    fn add_bodies(&mut self, flesh: &PreparedFlesh, meshes: &ColliderMeshes<'_>) -> Result<(), BuildError> {
        for doc in &self.expanded.bodies {
            let mass = meshes.mass_properties(doc)?;
            let mut spec = body_spec(doc, mass);
            flesh.add_masses(self.names.bodies[doc.name.as_str()], &mut spec);
            let body = self.mechanism.add_body(spec);
            let looks = meshes.looks(doc, body);
            if looks.is_empty() {
                self.appearance.solids.extend(doc.shapes.iter().map(|shape| SolidAppearance {
                    body,
                    body_from_shape: shape.at.to_pose(),
                    shape: shape.solid,
                    color: doc.color,
                }));
                self.appearance.solids.extend(shapeless(doc, body, mass));
            }
            self.appearance.meshes.extend(looks);
        }
        self.appearance.meshes.extend(meshes.scenery());
        if self.names.has_ground {
            self.mechanism.add_body(BodySpec::fixed("", Pose::IDENTITY));
        }
        Ok(())
    }

    fn add_joints(&mut self) -> Result<(), BuildError> {
        // Joints have the numbers of their documents; those that carry further forces come after all of them.
        let mut further = Vec::new();
        for doc in &self.expanded.joints {
            let path = || joint_path(self.scene, &doc.name);
            let mut parts = joint_specs(doc, &self.mechanism, self.names, &path)?.into_iter();
            if let Some(BuiltJoint { mut spec, motor }) = parts.next() {
                spec.is_actuated = self.scene.score.is_some();
                let joint = self.mechanism.add_joint(spec);
                add_motor_input(motor, joint, self.names, &path, &mut self.script)?;
                add_joint_inputs(doc, joint, self.names, &path, &mut self.script)?;
            }
            further.extend(parts.map(|part| (doc, part)));
        }
        for (doc, BuiltJoint { spec, motor }) in further {
            let joint = self.mechanism.add_joint(spec);
            let path = || joint_path(self.scene, &doc.name);
            add_motor_input(motor, joint, self.names, &path, &mut self.script)?;
        }
        Ok(())
    }

    fn add_springs(&mut self) -> Result<(), BuildError> {
        for (i, doc) in self.expanded.springs.iter().enumerate() {
            let path = format!("springs[{i}]");
            let ends = [self.names.point(&doc.from, &path)?, self.names.point(&doc.to, &path)?];
            let [near, far] = if ends[0].body.is_some() { ends } else { [ends[1], ends[0]] };
            let Some(body) = near.body else { continue };
            self.mechanism.add_spring(
                PointSpringSpec::new(body, near.point, far.body, far.point, doc.stiffness, doc.damping)
                    .with_rest_length(doc.rest_length),
            );
            self.appearance.springs.push(ends);
        }
        Ok(())
    }

    fn add_ropes(&mut self) -> Result<(), BuildError> {
        for (i, doc) in self.expanded.ropes.iter().enumerate() {
            let path = format!("ropes[{i}]");
            let points: Vec<BodyPoint> =
                doc.path.iter().map(|end| self.names.point(end, &path)).collect::<Result<_, _>>()?;
            let (spec, track) = rope_spec(doc, &points);
            let rope = self.mechanism.add_transmission(spec);
            if let Some(track) = track {
                self.script.winches.push((rope, self.names.track(track, &|| path.clone())?));
            }
            self.appearance.springs.extend(points.windows(2).map(|pair| [pair[0], pair[1]]));
        }
        Ok(())
    }

    fn add_gears(&mut self) -> Result<(), BuildError> {
        for (i, doc) in self.expanded.gears.iter().enumerate() {
            self.mechanism.add_transmission(gear_spec(doc, self.expanded, &format!("gears[{i}]"))?);
        }
        Ok(())
    }

    fn add_surfaces(&mut self) -> Result<(), BuildError> {
        for (i, doc) in self.expanded.surfaces.iter().enumerate() {
            let point = |point| self.names.point(point, &format!("surfaces[{i}].points"));
            self.appearance.surfaces.push(SurfaceAppearance {
                points: doc.points.iter().map(point).collect::<Result<_, _>>()?,
                columns: doc.columns as usize,
                fineness: doc.fineness as usize,
                color: doc.color,
            });
        }
        Ok(())
    }
}

/// Whether the joints of a scene take commands of a score in implicit steps.
fn is_scored(scene: &SceneDoc) -> bool {
    scene.score.is_some() && matches!(scene.stepper, StepperDoc::Implicit(_))
}

/// A mechanism in joint coordinates that plays the score of its scene.
fn reduced_model(scene: &SceneDoc, model: &Model, start: &State) -> Result<ReducedModel, BuildError> {
    let mechanism = model.mechanism();
    let refused = |error: RecursiveError| BuildError::Reduced {
        field: "stepper".to_owned(),
        message: error.to_string(),
    };
    let mut reduced = ReducedModel::new(mechanism).map_err(refused)?;
    if let (true, Some(flesh)) = (is_scored(scene), model.flesh()) {
        reduced = reduced.with_flesh_mass(flesh).map_err(refused)?;
    }
    let Some(score) = &scene.score else { return Ok(reduced) };
    let controller =
        controller(score, &scene.tracks, mechanism, reduced.looped(), &start.bodies, is_scored(scene))?;
    Ok(reduced.with_controller(controller))
}

/// How the scene steps its flesh.
fn flesh_stepping(scene: &SceneDoc) -> Result<FleshStepping, BuildError> {
    let stepping = |doc: &FleshDoc| match doc.stepping {
        FleshSteppingDoc::Implicit => FleshStepping::Coupled,
        FleshSteppingDoc::Explicit { substeps } => FleshStepping::Explicit { substeps },
    };
    let mut steppings = scene.flesh.iter().map(stepping);
    let Some(first) = steppings.next() else { return Ok(FleshStepping::Coupled) };
    match steppings.position(|other| other != first) {
        None => Ok(first),
        Some(i) => Err(BuildError::Unsupported {
            field: format!("flesh[{}].stepping", i + 1),
            what: "all flesh of a scene is stepped in the same way",
            hint: "give every flesh the same stepping",
        }),
    }
}

/// Assembles the initial poses with the inputs of the beginning.
fn assemble_start(
    model: &sinew_mechanism::Model,
    script: &Script,
    settings: &Settings,
    state: &mut sinew_mechanism::State,
) -> AssemblyReport {
    let mut input = Input::default();
    script.fill(model, state, ScriptTimes::ending_at(state.time, settings.dt), &mut Vec::new(), &mut input);
    let mut workspace = sinew_mechanism::Workspace::new(model);
    assemble(model, state, &input, &Assembly::default(), &settings.loops, &mut workspace)
}

/// Which joints are solved exactly.
fn structure(doc: &LoopsDoc) -> Structure {
    match doc.solver {
        LoopSolverDoc::Auto
        | LoopSolverDoc::StructuredDirect
        | LoopSolverDoc::StructuredIterative
        | LoopSolverDoc::StructuredDense => Structure::Tree,
        LoopSolverDoc::FullIterative | LoopSolverDoc::FullDense => Structure::Full,
    }
}

fn body_spec(doc: &BodyDoc, mass: MassProperties) -> BodySpec {
    let mut spec = BodySpec::dynamic(doc.name.as_str(), doc.pose.to_pose(), mass)
        .with_motion(Motion::new(doc.velocity.angular, doc.velocity.linear))
        .with_damping(doc.angular_damping, doc.linear_damping);
    spec.kind = match doc.kind {
        BodyKindDoc::Dynamic => BodyKind::Dynamic,
        BodyKindDoc::Fixed => BodyKind::Fixed,
        BodyKindDoc::Kinematic => BodyKind::Kinematic,
    };
    spec
}

/// A body with mass but without shapes is drawn as the ball about its centre of mass with the same trace of inertia.
fn shapeless(doc: &BodyDoc, body: BodyId, of: MassProperties) -> Option<SolidAppearance> {
    let MassProperties { mass, com, inertia } = of;
    (doc.shapes.is_empty() && mass > 0.0).then(|| {
        // A ball has tr I = 6/5 m r².
        let radius = ((inertia.xx + inertia.yy + inertia.zz) / (1.2 * mass)).sqrt();
        let body_from_shape = Pose::from_translation(com);
        SolidAppearance { body, body_from_shape, shape: Shape::Sphere { radius }, color: doc.color }
    })
}
