//! Random mechanisms: forests with every joint kind, joints declared either way round, joint errors at the start,
//! and all forces.

use glam::DVec3;
use sinew_math::{Force, MassProperties, Motion, Pose, exp_so3};
use sinew_mechanism::{
    BodyId, BodyKind, BodySpec, Drive, DriveCoordinate, Grab, Gyroscopic, Input, JointFrames, JointId,
    JointKind, JointSpec, Limit, MechanismBuilder, Model, Motor, MotorTarget, PointSpringSpec, RotationForce,
    ScalarForce, Settings,
};
use sinew_testkit::{ForestShape, Rng, random_forest};

use crate::support::settings;

/// Everything that defines one step, kept apart from the model so that an oracle can read it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scene {
    pub(crate) bodies: Vec<BodySpec>,
    pub(crate) joints: Vec<JointSpec>,
    pub(crate) springs: Vec<PointSpringSpec>,
    pub(crate) input: Input,
    pub(crate) settings: Settings,
}

/// What a random scene may contain.
#[derive(Clone, Copy)]
pub(crate) struct Taste {
    pub(crate) n_bodies: usize,
    /// Masses are ten to a power in ±this.
    pub(crate) mass_decades: i32,
    /// Stiffness is at most ten to this power.
    pub(crate) stiffness_decades: i32,
    /// Joint errors at the start, m and rad.
    pub(crate) error: f64,
    /// Largest step, s.
    pub(crate) dt: f64,
    /// Only forces that are smooth functions of the state: springs and dampers.
    pub(crate) smooth: bool,
}

impl Taste {
    pub(crate) const WILD: Self = Self {
        n_bodies: 9,
        mass_decades: 1,
        stiffness_decades: 4,
        error: 0.1,
        dt: 1.0 / 30.0,
        smooth: false,
    };
}

impl Scene {
    pub(crate) fn random(rng: &mut Rng, taste: &Taste) -> Self {
        let mut scene = Self { settings: settings(rng.uniform(0.1, 1.0) * taste.dt), ..Self::default() };
        let n_bodies = 1 + rng.below(taste.n_bodies);
        for _ in 0..n_bodies {
            scene.add_dynamic(rng, taste);
        }
        let shape = ForestShape { n_bodies, root_chance: 0.15, world_chance: 0.7, chain_chance: 0.6 };
        for link in random_forest(rng, shape) {
            let other = match link.parent {
                Some(parent) => Some(parent),
                None => scene.add_ground(rng, taste),
            };
            scene.add_joint(rng, taste, link.child, other);
        }
        scene.add_outside(rng, taste);
        let treatments = [Gyroscopic::Explicit, Gyroscopic::None, Gyroscopic::Implicit];
        scene.settings.gyroscopic =
            if taste.smooth { Gyroscopic::Explicit } else { treatments[rng.below(3)] };
        scene.settings.gravity = rng.vec3(-10.0, 10.0);
        scene
    }

    pub(crate) fn model(&self) -> Model {
        self.builder().build().expect("a valid mechanism")
    }

    pub(crate) fn builder(&self) -> MechanismBuilder {
        let mut builder = MechanismBuilder::new();
        for body in &self.bodies {
            builder.add_body(body.clone());
        }
        for joint in &self.joints {
            builder.add_joint(joint.clone());
        }
        for spring in &self.springs {
            builder.add_spring(*spring);
        }
        builder
    }

    /// Centre of mass in the body frame; forces ignore that of bodies they do not move.
    pub(crate) fn com(&self, body: usize) -> DVec3 {
        if self.bodies[body].kind == BodyKind::Dynamic { self.bodies[body].mass.com } else { DVec3::ZERO }
    }

    fn add_dynamic(&mut self, rng: &mut Rng, taste: &Taste) {
        let mass = rng.uniform(1.0, 3.0) * rng.power_of_ten(-taste.mass_decades, taste.mass_decades);
        let edges = rng.vec3(0.2, 0.6);
        let inner = Pose::new(rng.rotation(), rng.vec3(-0.1, 0.1));
        let mass = MassProperties::cuboid(edges, 1.0).with_mass(mass).transformed_by(inner);
        let motion = Motion::new(rng.vec3(-2.0, 2.0), rng.vec3(-2.0, 2.0));
        let mut body = BodySpec::dynamic("", random_pose(rng), mass).with_motion(motion);
        if rng.chance(0.3) {
            body = body.with_damping(rng.uniform(0.0, 2.0), rng.uniform(0.0, 2.0));
        }
        self.bodies.push(body);
    }

    /// The world, a fixed body, or a kinematic body on its way.
    fn add_ground(&mut self, rng: &mut Rng, taste: &Taste) -> Option<usize> {
        let pose = random_pose(rng);
        match rng.below(3) {
            0 => return None,
            1 => self.bodies.push(BodySpec::fixed("", pose)),
            _ => {
                self.bodies.push(BodySpec::kinematic("", pose));
                let body = BodyId::from_index(self.bodies.len() - 1);
                let reach = 3.0 * taste.dt;
                let turn = exp_so3(rng.vec3(-reach, reach));
                let goal = Pose::new(turn * pose.rotation, pose.translation + rng.vec3(-reach, reach));
                self.input.kinematic.push((body, goal));
            }
        }
        Some(self.bodies.len() - 1)
    }

    fn add_joint(&mut self, rng: &mut Rng, taste: &Taste, body: usize, other: Option<usize>) {
        let parameter = rng.uniform(0.1, 0.4);
        let kinds = JointKind::all(parameter);
        // Hinges and balls have a path of their own: give them a good share.
        let kind = match rng.below(3) {
            0 => [JointKind::Hinge, JointKind::Ball][rng.below(2)],
            _ => kinds[rng.below(kinds.len())],
        };
        let kind = if taste.smooth && !kind.is_holonomic() { JointKind::Universal } else { kind };
        self.add_joint_of(rng, taste, kind, parameter, body, other);
    }

    /// Up to `n` joints that close loops, of all holonomic kinds or copies of others, and as many springs between any
    /// bodies, with stiffness from nothing to 1e8.
    pub(crate) fn close(&mut self, rng: &mut Rng, taste: &Taste, n: usize) {
        let dynamic: Vec<usize> =
            (0..self.bodies.len()).filter(|b| self.bodies[*b].kind == BodyKind::Dynamic).collect();
        for _ in 0..1 + rng.below(n) {
            if !self.joints.is_empty() && rng.chance(0.2) {
                let copy = self.joints[rng.below(self.joints.len())].clone();
                if copy.driven.is_empty() && copy.kind.is_holonomic() {
                    self.joints.push(copy);
                }
                continue;
            }
            let parameter = rng.uniform(0.1, 0.4);
            let kinds = JointKind::all(parameter);
            let kind = kinds[rng.below(kinds.len())];
            let kind = if kind.is_holonomic() { kind } else { JointKind::Ball };
            let body = dynamic[rng.below(dynamic.len())];
            let other = Some(dynamic[rng.below(dynamic.len())]).filter(|b| *b != body && rng.chance(0.7));
            self.add_joint_of(rng, taste, kind, parameter, body, other);
        }
        for _ in 0..rng.below(n) {
            let (a, b) = (dynamic[rng.below(dynamic.len())], dynamic[rng.below(dynamic.len())]);
            let (a, b) = (BodyId::from_index(a), BodyId::from_index(b));
            let is_joined = |j: &JointSpec| [(a, Some(b)), (b, Some(a))].contains(&(j.child, j.parent));
            if a != b && !self.joints.iter().any(is_joined) {
                let mut spring = point_spring(rng, taste, a, Some(b));
                if !taste.smooth {
                    spring.stiffness = if rng.chance(0.1) { 0.0 } else { rng.power_of_ten(-1, 8) };
                }
                self.springs.push(spring);
            }
        }
    }

    /// A spring between the first two bodies.
    pub(crate) fn close_by_spring(&mut self, rng: &mut Rng) {
        let (a, b) = (BodyId::from_index(0), BodyId::from_index(1));
        self.springs.push(point_spring(rng, &Taste::WILD, a, Some(b)));
    }

    fn add_joint_of(
        &mut self,
        rng: &mut Rng,
        taste: &Taste,
        kind: JointKind,
        parameter: f64,
        body: usize,
        other: Option<usize>,
    ) {
        let (child, parent) = match other {
            Some(other) if rng.chance(0.4) => (other, Some(body)),
            _ => (body, other),
        };
        let pose_of = |b: Option<usize>| b.map_or(Pose::IDENTITY, |b| self.bodies[b].pose);
        let anchor = Pose::new(rng.rotation(), pose_of(Some(body)).translation + rng.vec3(-0.3, 0.3));
        let mut frames = JointFrames::coincident(&pose_of(Some(child)), &pose_of(parent), &anchor);
        let e = taste.error;
        // A twist that is no error for those that twist freely, and an error for all.
        let free_twist = !matches!(kind.locked_mask(), Some(mask) if mask & 1 == 1);
        let twist = if free_twist { rng.uniform(-2.5, 2.5) } else { 0.0 };
        let tilt = if matches!(kind, JointKind::RollingDisc { .. }) { 1.4 } else { 0.0 };
        frames.rotation1 = frames.rotation1
            * exp_so3(rng.unit_vec() * rng.uniform(0.0, e))
            * exp_so3(DVec3::X * twist)
            * exp_so3(DVec3::Y * tilt);
        let advance = if matches!(kind, JointKind::Screw { .. }) { parameter * twist } else { 0.0 };
        let along = anchor.rotation * (DVec3::X * advance);
        frames.point1 += pose_of(Some(child)).rotation.conjugate() * along + rng.vec3(-e, e);
        let id = |b: usize| BodyId::from_index(b);
        let mut joint = JointSpec::new("", kind, id(child), parent.map(id), frames);
        let index = JointId::from_index(self.joints.len());
        for coordinate in [DriveCoordinate::Twist, DriveCoordinate::Slide] {
            if !kind.can_drive(coordinate) {
                continue;
            }
            if rng.chance(0.1) {
                joint = joint.driven_by(coordinate);
                let value = if coordinate == DriveCoordinate::Twist { twist } else { 0.0 };
                let value = value + rng.uniform(-e, e);
                let drive = Drive { coordinate, value, rate: 0.0, acceleration: 0.0 };
                if rng.chance(0.8) || value.abs() > 1.0 {
                    self.input.drives.push((index, drive));
                }
            } else if rng.chance(0.7) {
                let force = scalar_force(rng, taste, twist);
                if force.motor.is_some() && rng.chance(0.5) {
                    let target = MotorTarget {
                        position: rng.uniform(-2.0, 2.0),
                        velocity: rng.uniform(-2.0, 2.0),
                        ..MotorTarget::default()
                    };
                    self.input.motors.push((index, target));
                }
                *(if coordinate == DriveCoordinate::Twist { &mut joint.twist } else { &mut joint.slide }) =
                    Some(force);
            }
        }
        let turns = kind.locked_mask().is_none_or(|mask| mask & 0b111 != 0b111);
        if turns && rng.chance(if kind == JointKind::Hinge { 0.1 } else { 0.6 }) {
            joint = joint.with_rotation(rotation_force(rng, taste));
        }
        // One motor goal per joint: a second motor on the same joint would share it.
        if let (Some(twist), Some(slide)) = (joint.twist, &mut joint.slide) {
            slide.motor = if twist.motor.is_some() { None } else { slide.motor };
        }
        if rng.chance(0.1) && !taste.smooth {
            joint = joint.with_compliance(rng.power_of_ten(-8, -2));
        }
        if rng.chance(0.2) {
            self.springs.push(point_spring(rng, taste, joint.child, joint.parent));
        }
        self.joints.push(joint);
    }

    /// Wrenches, grabs, and springs to the world.
    fn add_outside(&mut self, rng: &mut Rng, taste: &Taste) {
        let body = |rng: &mut Rng| BodyId::from_index(rng.below(self.bodies.len()));
        for _ in 0..rng.below(3) {
            let wrench = Force::new(rng.vec3(-5.0, 5.0), rng.vec3(-5.0, 5.0));
            self.input.wrenches.push((body(rng), wrench));
        }
        for _ in 0..rng.below(2) {
            let id = body(rng);
            let target = self.bodies[id.index()].pose.translation + rng.vec3(-0.5, 0.5);
            let stiffness = rng.power_of_ten(0, taste.stiffness_decades);
            self.input.grabs.push(Grab {
                body: id,
                point: rng.vec3(-0.2, 0.2),
                target,
                stiffness,
                damping: rng.uniform(0.0, 0.1) * stiffness,
            });
        }
        for _ in 0..rng.below(2) {
            let id = body(rng);
            let spring = point_spring(rng, taste, id, None);
            self.springs.push(spring);
        }
        self.input.spring_scale = if rng.chance(0.3) { rng.uniform(0.0, 2.0) } else { 1.0 };
    }
}

fn random_pose(rng: &mut Rng) -> Pose {
    Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0))
}

fn scalar_force(rng: &mut Rng, taste: &Taste, near: f64) -> ScalarForce {
    let stiff = |rng: &mut Rng| rng.uniform(0.5, 2.0) * rng.power_of_ten(-1, taste.stiffness_decades);
    let mut force = ScalarForce::default();
    if rng.chance(0.8) {
        let k = stiff(rng);
        force = ScalarForce::spring(k, near + rng.uniform(-1.0, 1.0), 0.1 * k);
    }
    if taste.smooth {
        return force;
    }
    if rng.chance(0.3) {
        let (low, high) = (near - rng.uniform(-0.1, 0.3), near + rng.uniform(0.12, 0.5));
        let stiffness = stiff(rng);
        let ramp = if rng.chance(0.5) { 0.05 } else { 0.0 };
        force.limit = Some(Limit { min: low, max: high, stiffness, damping: 0.05 * stiffness, ramp });
    }
    if rng.chance(0.3) {
        let kp = if rng.chance(0.3) { 0.0 } else { stiff(rng) };
        // Bounded forces are an active set, which has tests of its own; the numbers drawn keep the scenes as they are.
        let _bound = if rng.chance(0.5) { f64::INFINITY } else { rng.uniform(0.0, 5.0) };
        let max_force = f64::INFINITY;
        let target = MotorTarget {
            position: near + rng.uniform(-1.0, 1.0),
            velocity: rng.uniform(-1.0, 1.0),
            ..MotorTarget::default()
        };
        force.motor =
            Some(Motor { kp, kd: rng.uniform(0.0, 5.0), max_force, target, gravity_compensation: false });
    }
    if rng.chance(0.3) {
        force.armature = rng.uniform(0.0, 2.0);
    }
    if rng.chance(0.3) {
        let _friction = rng.uniform(0.0, 2.0);
    }
    force
}

fn rotation_force(rng: &mut Rng, taste: &Taste) -> RotationForce {
    let k = rng.uniform(0.5, 2.0) * rng.power_of_ten(-1, taste.stiffness_decades);
    let mut force = RotationForce::spring(k, 0.1 * k);
    if taste.smooth {
        return force;
    }
    if rng.chance(0.3) {
        force.armature = rng.uniform(0.0, 2.0);
    }
    if rng.chance(0.3) {
        force.friction = rng.uniform(0.0, 2.0);
    }
    if rng.chance(0.3) {
        let max = rng.uniform(0.0, 0.2);
        force.cone = Some(Limit { min: 0.0, max, stiffness: k, damping: 0.1 * k, ramp: 0.02 });
    }
    force
}

fn point_spring(rng: &mut Rng, taste: &Taste, body1: BodyId, body2: Option<BodyId>) -> PointSpringSpec {
    let stiffness = rng.power_of_ten(-1, taste.stiffness_decades);
    let (point1, point2) = (rng.vec3(-0.3, 0.3), rng.vec3(-0.3, 0.3));
    let spring = PointSpringSpec::new(body1, point1, body2, point2, stiffness, 0.1 * stiffness);
    // Shorter than the gap in some scenes, longer in others.
    spring.with_rest_length(if rng.chance(0.5) { 0.0 } else { rng.uniform(0.0, 2.0) })
}
