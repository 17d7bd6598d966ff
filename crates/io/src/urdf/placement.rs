//! Where each link is, and what becomes of links without mass.
//!
//! `world_from_link` follows from the joints at their initial coordinates, root first. A *host* is the link whose body carries a link: the link
//! itself, or for one without mass the link it is fixed to.

use std::collections::{BTreeSet, VecDeque};
use std::iter::successors;

use glam::DVec3;
use sinew_math::{JointKind, MassProperties, Motion, Pose, SpatialInertia, Sym3};
use sinew_scene::MassDoc;

use super::joints::UrdfJoint;
use super::links::Inertial;
use super::robot::Robot;
use crate::error::{ImportError, ImportFault};
use crate::report::{ImportReport, Outcome};
use crate::robot::physical;

/// Mass of a link that has none but moves, as a share of the robot's.
const TINY: f64 = 1e-12;

/// The name of the world in a scene, which no body may have.
pub(super) const WORLD: &str = "world";

/// Where links are.
pub(super) struct UrdfPlacement {
    pub(super) world_from_link: Vec<Pose>,
    /// Per link, the link whose body carries it, and its frame in that body.
    hosts: Vec<(usize, Pose)>,
    /// The link that no joint holds.
    root: usize,
    is_free: bool,
    /// Whether the root is the world itself.
    has_world: bool,
    total_mass: f64,
    /// Inertia of each link and all below it, about the origin of the world.
    subtrees: Vec<SpatialInertia>,
}

impl UrdfPlacement {
    /// Follows the joints from the root.
    pub(super) fn of(
        robot: &Robot<'_>,
        is_free: bool,
        report: &mut ImportReport,
    ) -> Result<Self, ImportError> {
        let n = robot.links.len();
        let (root, above, order) = rooted(robot)?;
        let mut world_from_link = vec![Pose::IDENTITY; n];
        for &j in &order {
            let joint = &robot.joints[j];
            let parent = world_from_link[joint.parent];
            world_from_link[joint.child] = parent.compose(&joint.parent_from_child());
        }
        let total_mass = robot.links.iter().filter_map(|link| Some(link.inertial.as_ref()?.mass)).sum();
        let mut placement = Self {
            world_from_link,
            hosts: (0..n).map(|i| (i, Pose::IDENTITY)).collect(),
            root,
            is_free,
            has_world: !is_free && robot.links[root].name == WORLD,
            total_mass,
            subtrees: Vec::new(),
        };
        placement.gather(robot, &order);
        placement.merge(robot, (&above, &order), report);
        Ok(placement)
    }

    /// Adds up what is below each link.
    fn gather(&mut self, robot: &Robot<'_>, order: &[usize]) {
        let own = robot.links.iter().zip(&self.world_from_link).map(|(link, world_from_link)| {
            let mass = link.inertial.as_ref().map(Inertial::properties).unwrap_or_default();
            mass.spatial_inertia().transformed_by(*world_from_link)
        });
        self.subtrees = own.collect();
        for joint in order.iter().rev().map(|&j| &robot.joints[j]) {
            let below = self.subtrees[joint.child];
            self.subtrees[joint.parent] += below;
        }
    }

    /// What a hinge or a slide moves along its coordinate, at first (kg·m² or kg).
    pub(super) fn moved_inertia(&self, joint: &UrdfJoint<'_>) -> f64 {
        let at = self.world_from_link[joint.child];
        let axis = at.transform_vector(joint.axis);
        let motion = match joint.kind {
            JointKind::Prismatic => Motion::new(DVec3::ZERO, axis),
            _ => Motion::new(axis, at.translation.cross(axis)),
        };
        2.0 * self.subtrees[joint.child].kinetic_energy(motion)
    }

    /// Makes links without mass part of those they are fixed to.
    fn merge(
        &mut self,
        robot: &Robot<'_>,
        (above, order): (&[Option<usize>], &[usize]),
        report: &mut ImportReport,
    ) {
        let links = &robot.links;
        let has_mass = |link: usize| links[link].inertial.is_some();
        // A free root without mass is carried by the first link below it that has some.
        let fixed_below = |link: usize| {
            let below = order
                .iter()
                .map(|&j| &robot.joints[j])
                .find(|joint| joint.parent == link && joint.is_fixed());
            below.map(|joint| joint.child)
        };
        let mut carrier = self.root;
        while self.is_free && !has_mass(carrier) {
            let Some(below) = fixed_below(carrier) else { break };
            carrier = below;
        }
        let carrier_from_world = self.world_from_link[carrier].inverse();
        let up = |link: &usize| above[*link].map(|j| robot.joints[j].parent);
        for link in successors(up(&carrier), up) {
            self.hosts[link] = (carrier, carrier_from_world.compose(&self.world_from_link[link]));
        }
        for joint in order.iter().map(|&j| &robot.joints[j]).filter(|joint| joint.is_fixed()) {
            let child = joint.child;
            if !has_mass(child) && self.hosts[child].0 == child && child != carrier {
                let (host, host_from_parent) = self.hosts[joint.parent];
                self.hosts[child] = (host, host_from_parent.compose(&joint.parent_from_child()));
            }
        }
        for (link, &(host, _)) in self.hosts.iter().enumerate().filter(|(link, (host, _))| link != host) {
            let what = format!("this link has no mass; it is part of `{}`", links[host].name);
            report.note(Outcome::Repaired, links[link].place.clone(), what);
        }
        if !self.is_free && !self.has_world {
            let what = "the root is fixed to the world; --root free lets it go";
            report.note(Outcome::Approximated, links[self.root].place.clone(), what);
        }
    }

    /// The link whose body carries a link, and its frame there.
    pub(super) fn host(&self, link: usize) -> (usize, Pose) {
        self.hosts[link]
    }

    /// Whether the world holds a link.
    pub(super) fn is_held(&self, link: usize) -> bool {
        !self.is_free && link == self.root
    }

    /// Whether a link is the world, which is no body.
    pub(super) fn is_world(&self, link: usize) -> bool {
        self.has_world && link == self.root
    }

    /// The mass of the body of a link; none if it has no body of its own.
    pub(super) fn mass(
        &self,
        robot: &Robot<'_>,
        number: usize,
        report: &mut ImportReport,
    ) -> Option<MassDoc> {
        if self.hosts[number].0 != number || self.is_world(number) {
            return None;
        }
        let link = &robot.links[number];
        let mass = match &link.inertial {
            Some(inertial) => {
                physical(inertial.written(), &link.place, report).transformed_by(inertial.frame)
            }
            None => self.tiny_mass(robot, number, report),
        };
        Some(MassDoc::Properties(mass.into()))
    }

    /// What a link without mass gets; noted if it moves.
    fn tiny_mass(&self, robot: &Robot<'_>, number: usize, report: &mut ImportReport) -> MassProperties {
        let mass = if self.total_mass > 0.0 { TINY * self.total_mass } else { 1.0 };
        if !self.is_held(number) {
            let what = format!("this link has no mass but moves; it gets {mass:e} kg");
            report.note(Outcome::Approximated, robot.links[number].place.clone(), what);
        }
        let inertia = Sym3::diagonal(DVec3::splat(0.01 * mass));
        MassProperties { mass, com: DVec3::ZERO, inertia }
    }
}

/// The root, the joint above each link, and the joints in an order in which each one's parent is known.
type Rooted = (usize, Vec<Option<usize>>, Vec<usize>);

fn rooted(robot: &Robot<'_>) -> Result<Rooted, ImportError> {
    let n = robot.links.len();
    let mut above: Vec<Option<usize>> = vec![None; n];
    let mut faults: Vec<ImportFault> = Vec::new();
    for (j, joint) in robot.joints.iter().enumerate() {
        if let Some(other) = above[joint.child].replace(j) {
            let names = (&robot.links[joint.child].name, &robot.joints[other].name);
            faults.push(joint.fault(format!(
                "the link `{}` is already the child of the joint `{}`; a URDF is a tree",
                names.0, names.1
            )));
        }
    }
    let mut roots = (0..n).filter(|&link| above[link].is_none());
    let root = roots.next();
    if faults.is_empty() {
        match (root, roots.next()) {
            (Some(_), None) => {}
            (None, _) => faults.push(robot.links[0].fault("the joints go round: no link is the root")),
            (Some(first), Some(second)) => {
                let first = &robot.links[first].name;
                faults.push(
                    robot.links[second]
                        .fault(format!("no joint holds this link, nor `{first}`; a URDF has one root")),
                );
            }
        }
    }
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (j, joint) in robot.joints.iter().enumerate() {
        below[joint.parent].push(j);
    }
    let mut order = Vec::with_capacity(robot.joints.len());
    let mut next: VecDeque<usize> = root.iter().flat_map(|&root| below[root].iter().copied()).collect();
    while let Some(j) = next.pop_front().filter(|_| faults.is_empty()) {
        order.push(j);
        next.extend(&below[robot.joints[j].child]);
    }
    if faults.is_empty() && order.len() < robot.joints.len() {
        let reached: BTreeSet<usize> = order.iter().copied().collect();
        let lost = (0..robot.joints.len()).find(|j| !reached.contains(j)).unwrap_or_default();
        faults.push(robot.joints[lost].fault("the joints go round: this one does not lead to the root"));
    }
    match root.filter(|_| faults.is_empty()) {
        Some(root) => Ok((root, above, order)),
        None => Err(ImportError { faults }),
    }
}
