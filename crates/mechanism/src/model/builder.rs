//! From specs to a checked model: central frames of bodies, the graph of the joints, and its elimination plan.

use std::sync::Arc;

use glam::DVec3;
use sinew_math::{DriveCoordinate, JointKind, MassProperties, Motion, Pose, PrincipalInertia};
use sinew_topology::{EliminationPlan, Endpoints, Graph, GraphBuilder, Priority, VariableId, plan};

use crate::forces::{Band, ForceSet, PointSpring};
use crate::model::{
    BodyId, BodyKind, BodyModel, BodySpec, Checked, GearSpec, JointId, JointModel, JointSpec, MechanismError,
    Model, PointSpringSpec, Quantity, Records, RopeSpec, TransmissionId, TransmissionModel, TransmissionSpec,
    WORLD, check_body, check_joint, check_spring, check_transmission, label, lay_out, path_length,
};

/// Collects bodies, joints and springs; [`MechanismBuilder::build`] checks them and plans the elimination.
#[derive(Clone, Debug, Default)]
pub struct MechanismBuilder {
    pub(crate) bodies: Vec<BodySpec>,
    pub(crate) joints: Vec<JointSpec>,
    pub(crate) springs: Vec<PointSpringSpec>,
    pub(crate) transmissions: Vec<TransmissionSpec>,
    pub(crate) structure: Structure,
}

/// Which joints are solved exactly, as a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Structure {
    /// As many as a tree can hold; the rest are loops.
    #[default]
    Tree,
    /// None: every joint is refined like a loop. For comparison (the "full" methods of Fau99).
    Full,
}

impl MechanismBuilder {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a body.
    pub fn add_body(&mut self, spec: BodySpec) -> BodyId {
        self.bodies.push(spec);
        BodyId::from_index(self.bodies.len() - 1)
    }

    /// Adds a joint.
    pub fn add_joint(&mut self, spec: JointSpec) -> JointId {
        self.joints.push(spec);
        JointId::from_index(self.joints.len() - 1)
    }

    /// Adds a spring between points.
    pub fn add_spring(&mut self, spec: PointSpringSpec) {
        self.springs.push(spec);
    }

    /// Adds a rope or gear.
    pub fn add_transmission(&mut self, spec: impl Into<TransmissionSpec>) -> TransmissionId {
        self.transmissions.push(spec.into());
        TransmissionId::from_index(self.transmissions.len() - 1)
    }

    /// A body added before, to be changed.
    pub fn body_mut(&mut self, body: BodyId) -> Option<&mut BodySpec> {
        self.bodies.get_mut(body.index())
    }

    /// A joint added before, to be changed.
    pub fn joint_mut(&mut self, joint: JointId) -> Option<&mut JointSpec> {
        self.joints.get_mut(joint.index())
    }

    /// Chooses which joints are solved exactly.
    pub fn set_structure(&mut self, structure: Structure) {
        self.structure = structure;
    }

    /// Pose of the body frame of a body added before, `world_from_body`.
    pub fn body_pose(&self, body: BodyId) -> Pose {
        self.bodies[body.index()].pose
    }

    /// Checks everything and plans the elimination.
    ///
    /// # Errors
    /// The first fault, naming its culprit.
    pub fn build(&self) -> Result<Model, MechanismError> {
        let mut records = Records::default();
        records.add(&self.bodies, &self.joints, &self.springs)?;
        records.add_transmissions(&self.transmissions)?;
        let names = records.take_names()?;
        // Only messages need the names of the graph.
        let planned = self.planned(false).or_else(|_| self.planned(true))?;
        let structure = records.structure(planned);
        lay_out(records, names, structure)
    }

    /// [`MechanismBuilder::build`] of specs that differ from those of `model` in numbers only: nothing is planned, and the plan and the names are shared. The
    /// outcome is the same to the bit, since the plan depends on no masses and no forces. None if there are other bodies or joints.
    ///
    /// # Errors
    /// As [`MechanismBuilder::build`].
    pub fn build_like(&self, model: &Model) -> Result<Option<Model>, MechanismError> {
        if !(self.has_names_of(model) && self.graph(false)? == model.structure.graph) {
            return Ok(None);
        }
        let mut records = Records::default();
        records.add(&self.bodies, &self.joints, &self.springs)?;
        records.add_transmissions(&self.transmissions)?;
        lay_out(records, Arc::clone(&model.names), Arc::clone(&model.structure)).map(Some)
    }

    /// Whether bodies, joints, ropes and gears have the names that those of a model have, and bodies their kinds.
    fn has_names_of(&self, model: &Model) -> bool {
        let counts = [self.bodies.len(), self.joints.len(), self.transmissions.len()];
        let bodies = || self.bodies.iter().zip(model.bodies());
        let joints = || self.joints.iter().zip(model.joints());
        let transmissions = || self.transmissions.iter().zip(model.transmissions());
        counts == [model.n_bodies(), model.n_joints(), model.n_transmissions()]
            && bodies().all(|(spec, body)| spec.kind == model.body_kind(body))
            && bodies().all(|(spec, body)| *spec.name == *model.body_name(body))
            && joints().all(|(spec, joint)| *spec.name == *model.joint_name(joint))
            && transmissions().all(|(spec, id)| **spec.name() == *model.transmission_name(id))
    }

    fn planned(&self, is_named: bool) -> Result<(Graph, EliminationPlan), MechanismError> {
        let graph = self.graph(is_named)?;
        let plan = plan(&graph)?;
        Ok((graph, plan))
    }

    /// The kinematic graph: dynamic bodies are variables, everything immovable is the world. Constraints are numbered
    /// as the joints are.
    fn graph(&self, is_named: bool) -> Result<Graph, MechanismError> {
        let mut graph = GraphBuilder::new();
        let mut variables = vec![None; self.bodies.len()];
        for (variable, body) in variables.iter_mut().zip(&self.bodies) {
            if body.kind == BodyKind::Dynamic {
                let id = graph.add_variable(6);
                if is_named && !body.name.is_empty() {
                    graph.name_variable(id, &*body.name);
                }
                *variable = Some(id);
            }
        }
        for (index, joint) in self.joints.iter().enumerate() {
            let ends = endpoints(index, joint, |body| variables[body.index()])?;
            let priority = match self.structure {
                Structure::Tree => joint.graph_priority(),
                Structure::Full => Priority::Secondary,
            };
            let id = graph.add_constraint(n_rows(joint), ends, priority);
            if is_named && !joint.name.is_empty() {
                graph.name_constraint(id, &*joint.name);
            }
        }
        Ok(graph.finish()?)
    }
}

/// Rows of a joint in the graph.
pub(crate) fn n_rows(joint: &JointSpec) -> usize {
    joint.kind.n_rows() + joint.driven.len()
}

/// What a joint connects in the graph.
pub(crate) fn endpoints(
    index: usize,
    joint: &JointSpec,
    variable: impl Fn(BodyId) -> Option<VariableId>,
) -> Result<Endpoints, MechanismError> {
    match (variable(joint.child), joint.parent.and_then(variable)) {
        (Some(child), Some(parent)) => Ok(Endpoints::Pair(child, parent)),
        (Some(body), None) | (None, Some(body)) => Ok(Endpoints::World(body)),
        (None, None) => Err(MechanismError::ImmovableJoint { joint: label(index, &joint.name) }),
    }
}

impl Records {
    /// Checks specs and appends them; joints and springs may refer to bodies already there.
    pub(crate) fn add(
        &mut self,
        bodies: &[BodySpec],
        joints: &[JointSpec],
        springs: &[PointSpringSpec],
    ) -> Checked {
        self.reserve(bodies.len(), joints.len());
        for body in bodies {
            check_body(self.bodies.len(), body)?;
            let record = body_model(body);
            self.poses.push(body.pose.compose(&record.central));
            self.motions.push(if body.kind == BodyKind::Fixed { Motion::ZERO } else { body.motion });
            self.body_names.push(body.name.clone());
            self.bodies.push(record);
        }
        for joint in joints {
            check_joint(self.joints.len(), joint, self.bodies.len())?;
            let record = self.joint_model(joint);
            self.joint_names.push(joint.name.clone());
            self.joints.push(record);
        }
        for spring in springs {
            check_spring(self.springs.len(), spring, self.bodies.len())?;
            let local = |body: BodyId, point| self.bodies[body.index()].central_point(point);
            self.springs.push(PointSpring {
                body1: spring.body1.index() as u32,
                point1: local(spring.body1, spring.point1),
                body2: spring.body2.map_or(WORLD, |b| b.index() as u32),
                point2: spring.body2.map_or(spring.point2, |b| local(b, spring.point2)),
                rest_length: spring.rest_length,
                stiffness: spring.stiffness,
                damping: spring.damping,
            });
        }
        Ok(())
    }

    /// Makes room for more bodies and joints.
    fn reserve(&mut self, n_bodies: usize, n_joints: usize) {
        self.bodies.reserve(n_bodies);
        self.poses.reserve(n_bodies);
        self.motions.reserve(n_bodies);
        self.body_names.reserve(n_bodies);
        self.joints.reserve(n_joints);
        self.joint_names.reserve(n_joints);
    }

    /// Checks ropes and gears and appends them. Joints between which gears run keep count of their turns.
    fn add_transmissions(&mut self, transmissions: &[TransmissionSpec]) -> Checked {
        for (index, spec) in transmissions.iter().enumerate() {
            check_transmission(index, spec, &self.bodies, (&self.joints, &self.joint_names))?;
            let record = match spec {
                TransmissionSpec::Rope(rope) => self.rope_model(rope),
                TransmissionSpec::Gear(gear) => self.gear_model(gear),
            };
            self.transmissions.push(record);
            self.transmission_names.push(spec.name().clone());
        }
        Ok(())
    }

    fn rope_model(&self, rope: &RopeSpec) -> TransmissionModel {
        let place = |&(body, point): &(Option<BodyId>, DVec3)| {
            body.map_or((WORLD, point), |body| {
                (body.index() as u32, self.bodies[body.index()].central_point(point))
            })
        };
        let points: Vec<(u32, DVec3)> = rope.points.iter().map(place).collect();
        let initial = path_length(&points, &self.poses);
        let length = rope.length.unwrap_or(initial);
        let size = SIZE * length.max(initial).min(1.0);
        let (max_force, tolerance) = (rope.max_force, ROUNDING * size);
        TransmissionModel {
            quantity: Quantity::Path(points),
            band: Band { range: [f64::NEG_INFINITY, length], max_force, tolerance },
            compliance: rope.compliance,
            size,
        }
    }

    fn gear_model(&mut self, gear: &GearSpec) -> TransmissionModel {
        let ends = [(gear.driven, 1.0), (gear.driver, -gear.ratio)];
        let terms = ends.map(|((joint, coordinate), factor)| {
            self.joints[joint.index()].tracks_twist |= coordinate == DriveCoordinate::Twist;
            (joint.index() as u32, coordinate, factor)
        });
        let half = 0.5 * gear.backlash;
        let (max_force, tolerance) = (gear.max_force, ROUNDING * SIZE);
        let range = [gear.offset - half, gear.offset + half];
        TransmissionModel {
            quantity: Quantity::Joints(terms),
            band: Band { range, max_force, tolerance },
            compliance: gear.compliance,
            size: SIZE,
        }
    }

    /// The record of a joint: its frames move from body frames to central frames.
    fn joint_model(&mut self, spec: &JointSpec) -> JointModel {
        let mut frames = spec.frames;
        let place = |body: BodyId, rotation, point| {
            let body = &self.bodies[body.index()];
            (body.central.rotation.conjugate() * rotation, body.central_point(point))
        };
        (frames.rotation1, frames.point1) = place(spec.child, frames.rotation1, frames.point1);
        if let Some(parent) = spec.parent {
            (frames.rotation2, frames.point2) = place(parent, frames.rotation2, frames.point2);
        }
        let drives_twist = spec.driven.contains(&DriveCoordinate::Twist);
        JointModel {
            kind: spec.kind,
            body1: spec.child.index() as u32,
            body2: spec.parent.map_or(WORLD, |p| p.index() as u32),
            frames,
            forces: self.intern(ForceSet {
                twist: spec.twist,
                slide: spec.slide,
                rotation: spec.rotation,
                leans: spec.twist.is_some() && spec.kind.accepts_rotation_force(),
            }),
            springs: (0, 0),
            drives_twist,
            drives_slide: spec.driven.contains(&DriveCoordinate::Slide),
            is_actuated: spec.is_actuated,
            compliance: spec.compliance,
            weight: spec.weight,
            may_open: spec.priority == Priority::Secondary,
            breaks_at: spec.breaks_at,
            tracks_twist: drives_twist
                || spec.twist.is_some()
                || matches!(spec.kind, JointKind::Screw { .. }),
        }
    }

    /// Index of a force set; chains repeat the last one, so only the latest few are compared.
    fn intern(&mut self, forces: ForceSet) -> u32 {
        // A search through all of them would make the build of a large scene quadratic.
        let recent = self.forces.len().saturating_sub(COMPARED);
        if let Some(found) = self.forces[recent..].iter().position(|f| *f == forces) {
            return (recent + found) as u32;
        }
        self.forces.push(forces);
        (self.forces.len() - 1) as u32
    }
}

/// Share of the length of a rope (at most a metre of it), or of a radian or metre of a gear, that its errors are compared with.
const SIZE: f64 = 0.1;

/// Share of that by which rounding may exceed a bound.
const ROUNDING: f64 = 1e-9;

/// Force sets that a new one is compared with.
const COMPARED: usize = 32;

/// The record of a body; one that forces do not move has no mass.
fn body_model(spec: &BodySpec) -> BodyModel {
    let dynamic = spec.kind == BodyKind::Dynamic;
    let (inertia, central) = if dynamic { central_frame(&spec.mass) } else { Default::default() };
    BodyModel {
        kind: spec.kind,
        mass: if dynamic { spec.mass.mass } else { 0.0 },
        inertia,
        central,
        linear_damping: spec.linear_damping,
        angular_damping: spec.angular_damping,
    }
}

/// Principal moments and `body_from_central`; the body axes themselves if they are principal.
fn central_frame(mass: &MassProperties) -> (PrincipalInertia, Pose) {
    let i = mass.inertia;
    let (rotation, moments) = if i.xy == 0.0 && i.xz == 0.0 && i.yz == 0.0 {
        (glam::DQuat::IDENTITY, i.diagonal_entries())
    } else {
        mass.principal_axes()
    };
    (PrincipalInertia::new(moments), Pose::new(rotation, mass.com))
}
