//! From specs to a checked model.

use sinew_math::{MassProperties, Motion, Pose, PrincipalInertia, quat_to_mat3};
use sinew_topology::{Endpoints, GraphBuilder, NONE, Role, VariableId, plan};

use crate::model::{
    Anchor, BodyModel, ForceSet, JointModel, LinearInertia, Model, PairModel, Path, PointSpring, WORLD,
    pose_of,
};
use crate::rows::twist_angle;
use crate::{
    BodyId, BodyKind, BodySpec, DriveCoordinate, JointId, JointKind, JointSpec, MechanismError,
    PointSpringSpec, State,
};

/// Collects bodies, joints and springs; [`MechanismBuilder::build`] checks them and plans the elimination.
#[derive(Clone, Debug, Default)]
pub struct MechanismBuilder {
    bodies: Vec<BodySpec>,
    joints: Vec<JointSpec>,
    springs: Vec<PointSpringSpec>,
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

    /// Pose of the frame of a body added before.
    pub fn body_pose(&self, body: BodyId) -> Pose {
        self.bodies[body.index()].pose
    }

    /// Checks everything and plans the elimination.
    ///
    /// # Errors
    /// The first fault, naming its culprit.
    pub fn build(self) -> Result<Model, MechanismError> {
        check_names("body", self.bodies.iter().map(|b| b.name.as_str()))?;
        check_names("joint", self.joints.iter().map(|j| j.name.as_str()))?;
        for (index, body) in self.bodies.iter().enumerate() {
            check_body(index, body)?;
        }
        for (index, joint) in self.joints.iter().enumerate() {
            check_joint(index, joint, &self.bodies)?;
        }
        let (graph, body_of_variable, variable_of_body, joint_of_constraint) = self.graph()?;
        let plan = plan(&graph)?;
        if let Some(constraint) = plan.loop_constraints().first() {
            let index = joint_of_constraint[constraint.index()] as usize;
            return Err(MechanismError::ClosedLoop { joint: label(index, &self.joints[index].name) });
        }

        let mut model = Model {
            bodies: self.bodies.iter().map(body_model).collect(),
            joints: Vec::with_capacity(self.joints.len()),
            forces: Vec::new(),
            joint_springs: Vec::new(),
            ground_springs: Vec::new(),
            pairs: Vec::new(),
            body_names: keep_names(self.bodies.iter().map(|b| b.name.as_str())),
            joint_names: keep_names(self.joints.iter().map(|j| j.name.as_str())),
            initial: State::default(),
            graph,
            plan,
            body_of_variable,
            joint_of_constraint,
            pair_of_body: Vec::new(),
            linear: Vec::new(),
            spins_free: Vec::new(),
            kinematic: Vec::new(),
            twist_joints: Vec::new(),
        };
        let pair = |v: &Option<VariableId>| v.map_or(NONE, |v| model.plan.position_of(v) as u32);
        model.pair_of_body = variable_of_body.iter().map(pair).collect();
        let linear = |b: &BodyModel| LinearInertia { mass: b.mass, damping: b.linear_damping };
        model.linear = model.bodies.iter().map(linear).collect();
        let kinematic = self.bodies.iter().enumerate().filter(|(_, b)| b.kind == BodyKind::Kinematic);
        model.kinematic = kinematic.map(|(i, _)| i as u32).collect();
        for spec in &self.joints {
            let joint = model.joint_model(spec);
            model.joints.push(joint);
        }
        model.attach_springs(&self.springs, &self.bodies)?;
        model.fill_pairs();
        model.spins_free = vec![false; model.bodies.len()];
        for (k, pair) in model.pairs.iter().enumerate() {
            model.spins_free[pair.body as usize] = pair.path == Path::FreeRoot && !pair.has_children;
            if pair.joint != WORLD && model.joints[pair.joint as usize].tracks_twist {
                model.twist_joints.push((pair.joint, k as u32));
            }
        }
        model.initial = model.state_of(&self.bodies);
        Ok(model)
    }

    /// The kinematic graph: dynamic bodies are variables, everything immovable is the world.
    #[expect(clippy::type_complexity, reason = "four parallel tables, used once")]
    fn graph(
        &self,
    ) -> Result<(sinew_topology::Graph, Vec<u32>, Vec<Option<VariableId>>, Vec<u32>), MechanismError> {
        let mut graph = GraphBuilder::new();
        let mut body_of_variable = Vec::new();
        let mut variable_of_body = vec![None; self.bodies.len()];
        for (index, body) in self.bodies.iter().enumerate() {
            if body.kind == BodyKind::Dynamic {
                let variable = graph.add_variable(6);
                if !body.name.is_empty() {
                    graph.name_variable(variable, &body.name);
                }
                body_of_variable.push(index as u32);
                variable_of_body[index] = Some(variable);
            }
        }
        let mut joint_of_constraint = Vec::new();
        for (index, joint) in self.joints.iter().enumerate() {
            let child = variable_of_body[joint.child.index()];
            let parent = joint.parent.and_then(|p| variable_of_body[p.index()]);
            let endpoints = match (child, parent) {
                (Some(child), Some(parent)) => Endpoints::Pair(child, parent),
                (Some(body), None) | (None, Some(body)) => Endpoints::World(body),
                (None, None) => {
                    return Err(MechanismError::ImmovableJoint { joint: label(index, &joint.name) });
                }
            };
            let rows = joint.kind.n_rows() + joint.driven.len();
            let constraint = graph.add_constraint(rows, endpoints, joint.priority);
            if !joint.name.is_empty() {
                graph.name_constraint(constraint, &joint.name);
            }
            joint_of_constraint.push(index as u32);
        }
        Ok((graph.finish()?, body_of_variable, variable_of_body, joint_of_constraint))
    }
}

impl Model {
    fn joint_model(&mut self, spec: &JointSpec) -> JointModel {
        let mut frames = spec.frames;
        let central = &self.bodies[spec.child.index()].central;
        frames.point1 = self.central_point(spec.child.index(), frames.point1);
        frames.rotation1 = central.rotation.conjugate() * frames.rotation1;
        if let Some(parent) = spec.parent {
            let central = &self.bodies[parent.index()].central;
            frames.point2 = self.central_point(parent.index(), frames.point2);
            frames.rotation2 = central.rotation.conjugate() * frames.rotation2;
        }
        let forces = ForceSet { twist: spec.twist, slide: spec.slide, rotation: spec.rotation };
        if self.forces.last() != Some(&forces) {
            let known = self.forces.iter().take(64).position(|f| *f == forces);
            if known.is_none() {
                self.forces.push(forces);
            }
        }
        let index = self.forces.iter().take(64).position(|f| *f == forces).unwrap_or(self.forces.len() - 1);
        let drives_twist = spec.driven.contains(&DriveCoordinate::Twist);
        JointModel {
            kind: spec.kind,
            body1: spec.child.index() as u32,
            body2: spec.parent.map_or(WORLD, |p| p.index() as u32),
            frames,
            forces: index as u32,
            springs: (0, 0),
            drives_twist,
            drives_slide: spec.driven.contains(&DriveCoordinate::Slide),
            compliance: spec.compliance,
            tracks_twist: drives_twist
                || spec.twist.is_some()
                || matches!(spec.kind, JointKind::Screw { .. }),
        }
    }

    /// Sorts springs into those across a tree joint and those to something immovable.
    fn attach_springs(
        &mut self,
        springs: &[PointSpringSpec],
        bodies: &[BodySpec],
    ) -> Result<(), MechanismError> {
        let mut across: Vec<(u32, PointSpring)> = Vec::new();
        for (index, spec) in springs.iter().enumerate() {
            check_spring(index, spec, bodies.len())?;
            let local = |body: usize, point| self.central_point(body, point);
            let body1 = spec.body1.index();
            let mut spring = PointSpring {
                body1: body1 as u32,
                point1: local(body1, spec.point1),
                body2: spec.body2.map_or(WORLD, |b| b.index() as u32),
                point2: spec.body2.map_or(spec.point2, |b| local(b.index(), spec.point2)),
                rest_length: spec.rest_length,
                stiffness: spec.stiffness,
                damping: spec.damping,
            };
            let pair1 = self.pair_of_body[body1];
            let pair2 = spec.body2.map_or(NONE, |b| self.pair_of_body[b.index()]);
            match (pair1 == NONE, pair2 == NONE) {
                (true, true) => {}
                (false, true) => self.ground_springs.push(spring),
                (true, false) => {
                    spring.swap();
                    self.ground_springs.push(spring);
                }
                (false, false) => {
                    let pairs = self.plan.pairs();
                    let (p1, p2) = (pairs[pair1 as usize], pairs[pair2 as usize]);
                    let constraint = if p1.parent == pair2 {
                        p1.constraint
                    } else if p2.parent == pair1 {
                        p2.constraint
                    } else {
                        None
                    };
                    let Some(constraint) = constraint else {
                        let name = |b: BodyId| label(b.index(), &bodies[b.index()].name);
                        let b = spec.body2.unwrap_or(spec.body1);
                        return Err(MechanismError::SpringNotAdjacent {
                            index,
                            a: name(spec.body1),
                            b: name(b),
                        });
                    };
                    let joint = self.joint_of_constraint[constraint.index()];
                    if self.joints[joint as usize].body1 != spring.body1 {
                        spring.swap();
                    }
                    across.push((joint, spring));
                }
            }
        }
        across.sort_by_key(|(joint, _)| *joint);
        for (joint, spring) in across {
            let end = self.joint_springs.len() as u32;
            let range = &mut self.joints[joint as usize].springs;
            *range = if range.0 == range.1 { (end, end + 1) } else { (range.0, end + 1) };
            self.joint_springs.push(spring);
        }
        Ok(())
    }

    /// The pair table in elimination order.
    fn fill_pairs(&mut self) {
        let mut has_children = vec![false; self.plan.pairs().len()];
        let mut pairs = Vec::with_capacity(self.plan.pairs().len());
        for pair in self.plan.pairs() {
            let body = self.body_of_variable[pair.variable.index()];
            let joint = pair.constraint.map_or(WORLD, |c| self.joint_of_constraint[c.index()]);
            let first_child = pair.parent != NONE && !has_children[pair.parent as usize];
            if pair.parent != NONE {
                has_children[pair.parent as usize] = true;
            }
            pairs.push(self.pair_model(body, joint, pair.parent, first_child));
        }
        for (pair, has) in pairs.iter_mut().zip(has_children) {
            pair.has_children = has;
        }
        self.pairs = pairs;
    }

    fn pair_model(&self, body: u32, joint: u32, parent: u32, first_child: bool) -> PairModel {
        let inertial = &self.bodies[body as usize];
        let zero = glam::DVec3::ZERO;
        let mut pair = PairModel {
            body,
            parent_body: WORLD,
            parent,
            joint,
            path: Path::FreeRoot,
            free: 6,
            flipped: false,
            first_child,
            has_children: false,
            complex: false,
            tracks_twist: false,
            forces: 0,
            mass: inertial.mass,
            inertia: inertial.inertia,
            linear_damping: inertial.linear_damping,
            angular_damping: inertial.angular_damping,
            point: zero,
            parent_point: zero,
            own_end: Anchor::default(),
            parent_end: Anchor::default(),
            axis: zero,
            parent_axis: zero,
            reference: zero,
            parent_reference: zero,
            stiffness: 0.0,
            damping: 0.0,
            rest: 0.0,
        };
        if joint == WORLD {
            return pair;
        }
        let j = &self.joints[joint as usize];
        let f = &j.frames;
        pair.flipped = j.body1 != body;
        pair.parent_body = if pair.flipped { j.body1 } else { j.body2 };
        pair.free = j.free_dimension() as u8;
        pair.forces = j.forces;
        let ends = [(f.rotation1, f.point1), (f.rotation2, f.point2)];
        let ([own, other], _) = if pair.flipped { ([ends[1], ends[0]], ()) } else { (ends, ()) };
        (pair.point, pair.parent_point) = (own.1, other.1);
        if j.kind.locked_mask() != Some(0) && j.kind != JointKind::Orientation {
            let end = |body: u32, point: glam::DVec3| {
                let reach = point.length();
                let inertia = self
                    .bodies
                    .get(body as usize)
                    .map_or(0.0, |b| b.inertia.moments.min_element() + b.mass * reach * reach);
                Anchor { reach, inertia }
            };
            pair.own_end = end(body, pair.point);
            pair.parent_end = end(pair.parent_body, pair.parent_point);
        }
        (pair.axis, pair.parent_axis) = (own.0 * glam::DVec3::X, other.0 * glam::DVec3::X);
        (pair.reference, pair.parent_reference) = (own.0 * glam::DVec3::Y, other.0 * glam::DVec3::Y);
        pair.path = self.path_of(j);
        let forces = &self.forces[j.forces as usize];
        match pair.path {
            Path::Hinge => {
                if let Some(twist) = &forces.twist {
                    (pair.stiffness, pair.damping) = (twist.spring.stiffness, twist.spring.damping);
                    pair.rest = twist.spring.rest;
                    pair.complex = !twist.is_simple() || twist.armature != 0.0;
                    pair.tracks_twist = true;
                }
            }
            Path::Ball => {
                if let Some(rotation) = &forces.rotation {
                    (pair.stiffness, pair.damping) = (rotation.stiffness, rotation.damping);
                }
            }
            Path::FreeRoot | Path::General => {}
        }
        pair
    }

    /// The fused paths take plain hinges and balls; the rest goes through the row library.
    fn path_of(&self, joint: &JointModel) -> Path {
        let forces = &self.forces[joint.forces as usize];
        let plain = joint.n_driven() == 0 && joint.compliance == 0.0 && joint.springs.0 == joint.springs.1;
        match joint.kind {
            JointKind::Hinge if plain && forces.rotation.is_none() => Path::Hinge,
            JointKind::Ball if plain => match &forces.rotation {
                Some(r) if r.cone.is_some() || r.friction != 0.0 || r.armature != 0.0 => Path::General,
                _ => Path::Ball,
            },
            _ => Path::General,
        }
    }

    fn state_of(&self, specs: &[BodySpec]) -> State {
        let poses: Vec<Pose> = specs.iter().enumerate().map(|(i, s)| self.central_pose(i, s.pose)).collect();
        let motions =
            specs.iter().map(|s| if s.kind == BodyKind::Fixed { Motion::ZERO } else { s.motion }).collect();
        let twists = self
            .joints
            .iter()
            .map(|j| {
                if !j.tracks_twist {
                    return 0.0;
                }
                let frame = |body: u32, rotation| pose_of(&poses, body).rotation * rotation;
                let frame2 = frame(j.body2, j.frames.rotation2);
                twist_angle(&quat_to_mat3(frame2.conjugate() * frame(j.body1, j.frames.rotation1)))
            })
            .collect();
        let pulls = vec![glam::DVec3::ZERO; poses.len()];
        State { time: 0.0, poses, motions, twists, pulls, history: crate::History::default() }
    }

    /// Whether a joint is in the tree.
    pub fn is_tree_joint(&self, joint: JointId) -> bool {
        let constraint = self.joint_of_constraint.iter().position(|j| *j as usize == joint.index());
        constraint
            .is_some_and(|c| matches!(self.plan.role(sinew_topology::ConstraintId::new(c)), Role::Forest(_)))
    }
}

impl PointSpring {
    fn swap(&mut self) {
        std::mem::swap(&mut self.body1, &mut self.body2);
        std::mem::swap(&mut self.point1, &mut self.point2);
    }
}

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

/// Names if there are any at all.
fn keep_names<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    if names.clone().all(str::is_empty) { Vec::new() } else { names.map(str::to_owned).collect() }
}

fn label(index: usize, name: &str) -> String {
    if name.is_empty() { format!("#{index}") } else { name.to_owned() }
}

fn check_names<'a>(kind: &'static str, names: impl Iterator<Item = &'a str>) -> Result<(), MechanismError> {
    let mut sorted: Vec<&str> = names.filter(|n| !n.is_empty()).collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|w| w[0] == w[1]) {
        Some(w) => Err(MechanismError::DuplicateName { kind, name: w[0].to_owned() }),
        None => Ok(()),
    }
}

fn check_body(index: usize, body: &BodySpec) -> Result<(), MechanismError> {
    let what = || format!("body `{}`", label(index, &body.name));
    let pose = body.pose.translation.is_finite() && body.pose.rotation.is_finite();
    let motion = body.motion.angular.is_finite() && body.motion.linear.is_finite();
    if !pose || !motion {
        return Err(invalid(what(), "pose or motion", f64::NAN, "give finite numbers"));
    }
    if (body.pose.rotation.length_squared() - 1.0).abs() > 1e-6 {
        let length = body.pose.rotation.length();
        return Err(invalid(what(), "rotation length", length, "normalize the quaternion"));
    }
    for (field, value) in [("linear_damping", body.linear_damping), ("angular_damping", body.angular_damping)]
    {
        if !(value >= 0.0 && value.is_finite()) {
            return Err(invalid(what(), field, value, "damping is a rate of at least 0 1/s"));
        }
    }
    if body.kind == BodyKind::Dynamic {
        body.mass.is_physical().map_err(|e| MechanismError::NonPhysicalMass {
            name: label(index, &body.name),
            reason: e.to_string(),
        })?;
    }
    Ok(())
}

fn check_joint(index: usize, joint: &JointSpec, bodies: &[BodySpec]) -> Result<(), MechanismError> {
    let name = label(index, &joint.name);
    let what = || format!("joint `{name}`");
    for body in std::iter::once(joint.child).chain(joint.parent) {
        if body.index() >= bodies.len() {
            let (index, count) = (body.index(), bodies.len());
            return Err(MechanismError::UnknownId { what: what(), kind: "body", index, count });
        }
    }
    let f = &joint.frames;
    for q in [f.rotation1, f.rotation2] {
        if !((q.length_squared() - 1.0).abs() <= 1e-6) {
            return Err(invalid(what(), "frame rotation length", q.length(), "normalize the quaternion"));
        }
    }
    if !(f.point1.is_finite() && f.point2.is_finite()) {
        return Err(invalid(what(), "frame point", f64::NAN, "give finite numbers"));
    }
    if !(joint.compliance >= 0.0 && joint.compliance.is_finite()) {
        return Err(invalid(what(), "compliance", joint.compliance, "at least 0 m/N"));
    }
    if let Some(parameter) = joint.kind.parameter() {
        let rolling = !joint.kind.is_holonomic();
        if !parameter.is_finite() || (rolling && parameter <= 0.0) {
            return Err(invalid(
                what(),
                "pitch or radius",
                parameter,
                "a pitch is finite, a radius above 0 m",
            ));
        }
    }
    let wrong = |coordinate, hint| MechanismError::NoSuchCoordinate {
        joint: name.clone(),
        kind: joint.kind.name(),
        coordinate,
        hint,
    };
    if joint.driven.len() == 2 && joint.driven[0] == joint.driven[1] || joint.driven.len() > 2 {
        return Err(wrong("further coordinate to drive", "drive each coordinate once"));
    }
    let motors = [&joint.twist, &joint.slide].into_iter().flatten().filter(|f| f.motor.is_some()).count();
    if motors > 1 {
        return Err(wrong(
            "second coordinate for a motor",
            "a joint has one motor: add a joint for the other",
        ));
    }
    let has_twist = joint.kind.can_drive(DriveCoordinate::Twist);
    let has_slide = joint.kind.can_drive(DriveCoordinate::Slide);
    let driven = |c| joint.driven.contains(&c);
    if (joint.twist.is_some() || driven(DriveCoordinate::Twist)) && !has_twist {
        return Err(wrong("twist", "twist forces belong on hinge, cylindrical, planar or screw joints"));
    }
    if (joint.slide.is_some() || driven(DriveCoordinate::Slide)) && !has_slide {
        return Err(wrong("slide", "slide forces belong on prismatic, cylindrical or point-on-line joints"));
    }
    if joint.rotation.is_some() && joint.kind.locked_mask().is_some_and(|m| m & 0b111 == 0b111) {
        return Err(wrong("rotation", "rotation forces belong on joints that can turn"));
    }
    for force in [&joint.twist, &joint.slide].into_iter().flatten() {
        check_scalar(&what(), force)?;
    }
    if let Some(r) = &joint.rotation {
        check_not_negative(
            &what(),
            &[
                ("stiffness", r.stiffness),
                ("damping", r.damping),
                ("armature", r.armature),
                ("friction", r.friction),
            ],
        )?;
        if let Some(cone) = &r.cone {
            check_limit(&what(), cone)?;
        }
    }
    Ok(())
}

fn check_scalar(what: &str, force: &crate::ScalarForce) -> Result<(), MechanismError> {
    let spring = &force.spring;
    check_not_negative(
        what,
        &[
            ("stiffness", spring.stiffness),
            ("damping", spring.damping),
            ("armature", force.armature),
            ("friction", force.friction),
        ],
    )?;
    if !spring.rest.is_finite() {
        return Err(invalid(what.to_owned(), "rest", spring.rest, "give a finite number"));
    }
    if let Some(limit) = &force.limit {
        check_limit(what, limit)?;
    }
    if let Some(motor) = &force.motor {
        check_not_negative(what, &[("kp", motor.kp), ("kd", motor.kd)])?;
        for (field, value) in
            [("motor position", motor.target.position), ("motor velocity", motor.target.velocity)]
        {
            if !value.is_finite() {
                return Err(invalid(what.to_owned(), field, value, "give a finite number"));
            }
        }
        if motor.max_force.is_nan() || motor.max_force < 0.0 {
            return Err(invalid(what.to_owned(), "max_force", motor.max_force, "at least 0, or infinite"));
        }
    }
    Ok(())
}

fn check_limit(what: &str, limit: &crate::Limit) -> Result<(), MechanismError> {
    if !(limit.min <= limit.max) {
        return Err(invalid(what.to_owned(), "limit min", limit.min, "min must not exceed max"));
    }
    if !(limit.stiffness > 0.0 && limit.stiffness.is_finite()) {
        return Err(invalid(what.to_owned(), "limit stiffness", limit.stiffness, "above 0"));
    }
    check_not_negative(what, &[("limit damping", limit.damping), ("limit ramp", limit.ramp)])
}

fn check_spring(index: usize, spec: &PointSpringSpec, n_bodies: usize) -> Result<(), MechanismError> {
    let what = format!("spring {index}");
    for body in std::iter::once(spec.body1).chain(spec.body2) {
        if body.index() >= n_bodies {
            let (index, count) = (body.index(), n_bodies);
            return Err(MechanismError::UnknownId { what, kind: "body", index, count });
        }
    }
    if !(spec.point1.is_finite() && spec.point2.is_finite()) {
        return Err(invalid(what, "point", f64::NAN, "give finite numbers"));
    }
    check_not_negative(
        &what,
        &[("stiffness", spec.stiffness), ("damping", spec.damping), ("rest_length", spec.rest_length)],
    )
}

fn check_not_negative(what: &str, values: &[(&'static str, f64)]) -> Result<(), MechanismError> {
    match values.iter().find(|(_, v)| !(*v >= 0.0 && v.is_finite())) {
        Some((field, value)) => Err(invalid(what.to_owned(), field, *value, "finite and at least 0")),
        None => Ok(()),
    }
}

fn invalid(what: String, field: &'static str, value: f64, hint: &'static str) -> MechanismError {
    MechanismError::InvalidNumber { what, field, value, hint }
}
