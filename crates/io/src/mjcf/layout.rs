//! Where bodies are, what they weigh, and which bodies of the scene they become.
//!
//! `world_from_body` follows from the frames of the file and the coordinates, parents first. A *host* is the body whose body in the scene carries a body:
//! itself, or what it is fixed to if it has no mass. Static bodies hang on the world without a joint.

use glam::DVec3;
use sinew_math::{JointKind, MassProperties, Motion, Pose, SpatialInertia, Sym3};

use super::bodies::MjcfBody;
use super::joints::MjcfJoint;
use super::settings::{Conventions, InertiaSource, MassRules};
use crate::error::ImportFault;
use crate::report::{ImportReport, Outcome};
use crate::robot::{RootHold, physical};

/// Mass of a body that has none but moves, as a share of the model's.
const TINY: f64 = 1e-12;

/// Where everything is.
#[derive(Debug)]
pub(super) struct BodyLayout {
    /// Per body, that whose body in the scene carries it, and its frame there.
    hosts: Vec<(usize, Pose)>,
    pub(super) is_static: Vec<bool>,
    /// In the pose of the file.
    pub(super) world_from_body: Vec<Pose>,
    /// Per host its mass with what it carries, in its frame.
    masses: Vec<MassProperties>,
    /// Of each body with everything below it, in the world.
    subtrees: Vec<SpatialInertia>,
    total: f64,
}

/// Holds or lets go what hangs on the world.
pub(super) fn hold_roots(bodies: &mut [MjcfBody], hold: RootHold, report: &mut ImportReport) {
    let roots = bodies.iter_mut().skip(1).filter(|body| body.parent == 0 && !body.is_mocap);
    for body in roots {
        let is_free = body.joints.iter().any(|joint| joint.kind == JointKind::Free);
        match hold {
            RootHold::Fixed if is_free => {
                body.joints.clear();
                report.note(Outcome::Approximated, body.place.clone(), "fixed to the world, by --root fixed");
            }
            RootHold::Free if body.joints.is_empty() => {
                let place = body.place.clone();
                body.joints.push(MjcfJoint { place: place.clone(), ..MjcfJoint::loose() });
                report.note(Outcome::Approximated, place, "let go, by --root free");
            }
            _ => {}
        }
    }
}

/// Free joints are alone on bodies of the world, and mocap bodies have no joints.
pub(super) fn check_joints(bodies: &[MjcfBody]) -> Vec<ImportFault> {
    let mut faults = Vec::new();
    for body in bodies {
        let is_free = body.joints.iter().any(|joint| joint.kind == JointKind::Free);
        if is_free && (body.parent != 0 || body.joints.len() > 1) {
            faults.push(body.fault("a free joint must be the only one, of a body right in <worldbody>"));
        }
        if body.is_mocap && (body.parent != 0 || !body.joints.is_empty()) {
            faults.push(body.fault("a mocap body has no joints, and is right in <worldbody>"));
        }
    }
    if let Some(joint) = bodies.first().and_then(|world| world.joints.first()) {
        faults.push(ImportFault::new(joint.place.clone(), "the world has no joints"));
    }
    faults
}

impl BodyLayout {
    pub(super) fn of(bodies: &[MjcfBody], units: &Conventions, report: &mut ImportReport) -> Self {
        let n = bodies.len();
        let mut is_static = vec![true; n];
        for (i, body) in bodies.iter().enumerate().skip(1) {
            is_static[i] = is_static[body.parent] && body.joints.is_empty() && !body.is_mocap;
        }
        let own = own_masses(bodies, units);
        let mut layout = Self {
            hosts: (0..n).map(|i| (i, Pose::IDENTITY)).collect(),
            world_from_body: place(bodies, None),
            masses: Vec::new(),
            subtrees: Vec::new(),
            total: own.iter().map(|mass| mass.mass).sum(),
            is_static,
        };
        layout.merge(bodies, &own, units.fuse_static, report);
        layout.gather(bodies, &own);
        layout
    }

    /// Makes bodies that are fixed to another one part of it if they have no mass, or if that is asked for.
    fn merge(&mut self, bodies: &[MjcfBody], own: &[MassProperties], fuse: bool, report: &mut ImportReport) {
        for (i, body) in bodies.iter().enumerate().skip(1) {
            let is_fixed = body.joints.is_empty() && !self.is_static[i] && !body.is_mocap;
            if is_fixed && (own[i].mass == 0.0 || fuse) {
                let (host, host_from_parent) = self.hosts[body.parent];
                self.hosts[i] = (host, host_from_parent.compose(&body.at));
                let why = if own[i].mass == 0.0 { "has no mass" } else { "is fixed" };
                let what = format!("this body {why}; it is part of `{}`", bodies[host].name);
                report.note(Outcome::Repaired, body.place.clone(), what);
            }
        }
    }

    /// Adds up masses: of hosts, and of everything below each body.
    fn gather(&mut self, bodies: &[MjcfBody], own: &[MassProperties]) {
        let mut parts: Vec<Vec<(Pose, MassProperties)>> = vec![Vec::new(); bodies.len()];
        for (i, (host, host_from_body)) in self.hosts.iter().enumerate() {
            parts[*host].push((*host_from_body, own[i]));
        }
        // A body alone keeps its numbers to the bit.
        let sum = |parts: &Vec<(Pose, MassProperties)>| match parts[..] {
            [(at, alone)] if at == Pose::IDENTITY => alone,
            _ => MassProperties::combine(parts),
        };
        self.masses = parts.iter().map(sum).collect();
        let world = own.iter().zip(&self.world_from_body);
        self.subtrees = world.map(|(mass, at)| mass.spatial_inertia().transformed_by(*at)).collect();
        for (i, body) in bodies.iter().enumerate().skip(1).rev() {
            let below = self.subtrees[i];
            self.subtrees[body.parent] += below;
        }
    }

    /// The body whose body in the scene carries a body, and its frame there.
    pub(super) fn host(&self, body: usize) -> (usize, Pose) {
        self.hosts[body]
    }

    /// Whether forces move a body.
    pub(super) fn moves(&self, bodies: &[MjcfBody], body: usize) -> bool {
        !self.is_static[body] && !bodies[body].is_mocap
    }

    /// The mass of a body in the scene.
    pub(super) fn mass(&self, bodies: &[MjcfBody], body: usize, report: &mut ImportReport) -> MassProperties {
        let (mass, place) = (self.masses[body], &bodies[body].place);
        if mass.mass > 0.0 {
            return physical(mass, place, report);
        }
        if self.moves(bodies, body) {
            let what = format!("this body has no mass but moves; it gets {:e} kg", self.tiny().mass);
            report.note(Outcome::Approximated, place.clone(), what);
        }
        self.tiny()
    }

    /// What a body weighs that has no mass.
    pub(super) fn tiny(&self) -> MassProperties {
        let mass = if self.total > 0.0 { TINY * self.total } else { 1.0 };
        MassProperties { mass, com: DVec3::ZERO, inertia: Sym3::diagonal(DVec3::splat(0.01 * mass)) }
    }

    /// What a joint moves, along its coordinate and in the pose of the file (kg·m² or kg), its rotor included.
    pub(super) fn moved_inertia(&self, body: usize, joint: &MjcfJoint) -> f64 {
        let at = self.world_from_body[body];
        let (axis, point) = (at.transform_vector(joint.axis), at.transform_point(joint.position));
        let motion = match joint.kind {
            JointKind::Prismatic => Motion::new(DVec3::ZERO, axis),
            _ => Motion::new(axis, point.cross(axis)),
        };
        2.0 * self.subtrees[body].kinetic_energy(motion) + joint.armature
    }
}

/// World poses of all bodies, at coordinates in the order of `qpos` or in the pose of the file.
pub(super) fn place(bodies: &[MjcfBody], coordinates: Option<&[f64]>) -> Vec<Pose> {
    let mut poses: Vec<Pose> = Vec::with_capacity(bodies.len());
    let mut rest = coordinates;
    for (i, body) in bodies.iter().enumerate() {
        let fixed = if i == 0 { Pose::IDENTITY } else { poses[body.parent].compose(&body.at) };
        poses.push(steps(body, fixed, &mut rest).last().copied().unwrap_or(fixed));
    }
    poses
}

/// Where the frame of a body is after each of its joints, from where it is in the file. Takes its coordinates from the rest of `qpos`.
pub(super) fn steps(body: &MjcfBody, fixed: Pose, rest: &mut Option<&[f64]>) -> Vec<Pose> {
    let mut at = fixed;
    let mut step = |joint: &MjcfJoint| {
        if let Some(q) = rest {
            let (own, others) = q.split_at(joint.n_coordinates().0.min(q.len()));
            *rest = Some(others);
            let moved = joint.moved(own);
            at = if joint.kind == JointKind::Free { moved } else { at.compose(&moved) };
        }
        at
    };
    body.joints.iter().map(&mut step).collect()
}

/// The mass of each body alone, in its frame; none of the world.
fn own_masses(bodies: &[MjcfBody], units: &Conventions) -> Vec<MassProperties> {
    let [low, high] = units.inertia_groups;
    let of_geoms = |body: &MjcfBody| {
        let geoms = body.geoms.iter().filter(|geom| (low..=high).contains(&geom.group));
        let parts: Vec<_> = geoms.filter_map(|geom| Some((Pose::IDENTITY, geom.mass?))).collect();
        MassProperties::combine(&parts)
    };
    let mut masses = vec![MassProperties::default()];
    masses.extend(bodies.iter().skip(1).map(|body| {
        let mass = match (units.inertia, body.inertial) {
            (InertiaSource::Auto | InertiaSource::Written, Some(written)) => written,
            (InertiaSource::Written, None) => MassProperties::default(),
            (InertiaSource::Auto, None) | (InertiaSource::Geoms, _) => of_geoms(body),
        };
        bounded(mass, &units.masses)
    }));
    if let Some(total) = units.masses.total {
        let sum: f64 = masses.iter().map(|mass| mass.mass).sum();
        for mass in masses.iter_mut().filter(|_| sum > 0.0) {
            mass.mass *= total / sum;
            mass.inertia = mass.inertia * (total / sum);
        }
    }
    masses
}

/// A mass raised to what the model asks for.
fn bounded(mut mass: MassProperties, rules: &MassRules) -> MassProperties {
    mass.mass = mass.mass.max(rules.least_mass);
    let has_bound = rules.least_moment > 0.0;
    if !(has_bound || rules.balance) || !mass.inertia.is_finite() {
        return mass;
    }
    let (rotation, mut moments) = mass.principal_axes();
    moments = moments.max(DVec3::splat(rules.least_moment));
    if rules.balance && 2.0 * moments.max_element() > moments.element_sum() {
        moments = DVec3::splat(moments.element_sum() / 3.0);
    }
    let axes = sinew_math::quat_to_mat3(rotation);
    MassProperties { inertia: Sym3::diagonal(moments).rotated_by(&axes), ..mass }
}
