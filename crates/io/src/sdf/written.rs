//! The scene that links and joints become.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;
use sinew_math::{JointKind, Motion, Pose, SpatialInertia};
use sinew_scene::{
    BodyDoc, BodyKindDoc, ColliderDoc, ColliderShapeDoc, ContactDoc, CoordinateForcesDoc, FreeDoc, GearDoc,
    JointDoc, JointFramesDoc, LocalFramesDoc, MassDoc, SceneDoc,
};

use super::geometry::{SdfForm, SdfGeometry};
use super::joints::{SdfAxis, SdfJoint};
use super::links::SdfLink;
use super::parts::SdfParts;
use super::paths::{WORLD, inside};
use crate::error::{ImportError, ImportFault};
use crate::files::Files;
use crate::geometry::{Geometry, GeometryWriter};
use crate::report::{ImportReport, Outcome};
use crate::robot::{ImportOptions, RootHold, firm_limits, joint_frame, note_bounds, physical};

/// What is known of all parts.
struct SdfScene<'p> {
    parts: &'p SdfParts<'p>,
    /// World poses of frames by name.
    poses: BTreeMap<&'p str, Pose>,
    /// Names in the scene of links and joints.
    names: [Vec<String>; 2],
    /// The links of each joint, child first; none is the world.
    ends: Vec<[Option<usize>; 2]>,
    /// Of each link with everything that hangs on it.
    subtrees: Vec<SpatialInertia>,
    is_fixed: Vec<bool>,
}

/// Writes all parts.
pub(super) fn write(
    parts: &SdfParts<'_>,
    (files, options): (&Files, &ImportOptions),
    report: &mut ImportReport,
) -> Result<SceneDoc, ImportError> {
    let known = SdfScene::of(parts, options, report)?;
    let mut scene = SceneDoc::new(parts.name.unwrap_or("sdf"));
    scene.gravity = parts.gravity.unwrap_or(DVec3::Z * -9.8);
    scene.dt = parts.step.filter(|step| (1e-12..=1e6).contains(step)).unwrap_or(scene.dt);
    known.write_bodies(&mut scene, report);
    known.write_joints(&mut scene, report)?;
    known.write_geometry(&mut scene, (files, options), report)?;
    Ok(scene)
}

impl<'p> SdfScene<'p> {
    fn of(
        parts: &'p SdfParts<'p>,
        options: &ImportOptions,
        report: &mut ImportReport,
    ) -> Result<Self, ImportFault> {
        let links: BTreeMap<&str, usize> =
            parts.links.iter().enumerate().map(|(at, link)| (link.path.as_str(), at)).collect();
        let end = |joint: &SdfJoint, name: &str| {
            let link = parts.frames.link_of(name, &joint.place)?;
            Ok::<_, ImportFault>(link.map(|link| links[link]))
        };
        let ends =
            parts.joints.iter().map(|joint| Ok([end(joint, &joint.child)?, end(joint, &joint.parent)?]));
        let ends: Vec<[Option<usize>; 2]> = ends.collect::<Result<_, ImportFault>>()?;
        let names = [
            names(parts, parts.links.iter().map(|link| link.path.as_str())),
            names(parts, parts.joints.iter().map(|joint| joint.path.as_str())),
        ];
        let is_fixed = parts.links.iter().map(|link| link.is_static).collect();
        let poses = parts.frames.resolve()?;
        let mut known = Self { parts, poses, names, ends, subtrees: Vec::new(), is_fixed };
        known.hold_roots(options.root, report);
        known.gather();
        Ok(known)
    }

    /// Fixes the first link of each model that nothing holds, if that is asked for.
    fn hold_roots(&mut self, hold: RootHold, report: &mut ImportReport) {
        if hold != RootHold::Fixed {
            return;
        }
        let mut seen = BTreeSet::new();
        for (at, link) in self.parts.links.iter().enumerate().filter(|(_, link)| !link.is_static) {
            if seen.insert(link.model) {
                self.is_fixed[at] = true;
                report.note(Outcome::Approximated, link.place.clone(), "fixed to the world, by --root fixed");
            }
        }
    }

    fn pose(&self, link: Option<usize>) -> Pose {
        link.map_or(Pose::IDENTITY, |link| self.poses[self.parts.links[link].path.as_str()])
    }

    /// Adds up what hangs on each link, by the first joint that has it as its child.
    fn gather(&mut self) {
        let n = self.parts.links.len();
        let mut above: Vec<Option<usize>> = vec![None; n];
        let mut waiting = vec![0_usize; n];
        for [child, parent] in &self.ends {
            if let (Some(child), Some(parent)) = (*child, *parent)
                && above[child].is_none()
            {
                above[child] = Some(parent);
                waiting[parent] += 1;
            }
        }
        let own = |at: usize| self.parts.links[at].mass.spatial_inertia().transformed_by(self.pose(Some(at)));
        let mut subtrees: Vec<SpatialInertia> = (0..n).map(own).collect();
        let mut next: Vec<usize> = (0..n).filter(|at| waiting[*at] == 0).collect();
        while let Some(at) = next.pop() {
            let Some(parent) = above[at] else { continue };
            let below = subtrees[at];
            subtrees[parent] += below;
            waiting[parent] -= 1;
            if waiting[parent] == 0 {
                next.push(parent);
            }
        }
        self.subtrees = subtrees;
    }

    fn write_bodies(&self, scene: &mut SceneDoc, report: &mut ImportReport) {
        for (at, link) in self.parts.links.iter().enumerate() {
            let kind = if self.is_fixed[at] { BodyKindDoc::Fixed } else { BodyKindDoc::Dynamic };
            let mass = physical(link.mass, &link.place, report);
            scene.bodies.push(BodyDoc {
                kind,
                mass: MassDoc::Properties(mass.into()),
                color: link.visuals.iter().find_map(|(_, color)| *color),
                ..BodyDoc::new(&self.names[0][at]).at(self.pose(Some(at)))
            });
        }
        report.count("links", self.parts.links.len());
    }

    fn write_joints(&self, scene: &mut SceneDoc, report: &mut ImportReport) -> Result<(), ImportFault> {
        for (at, joint) in self.parts.joints.iter().enumerate() {
            let [child, parent] = self.ends[at];
            let holds_nothing = child == parent
                || [child, parent].iter().all(|end| end.is_none_or(|link| self.is_fixed[link]));
            if holds_nothing {
                let what = "neither of its links moves against the other";
                report.note(Outcome::Ignored, joint.place.clone(), what);
                continue;
            }
            joint.axes.iter().for_each(|axis| note_bounds(axis.bounds, &joint.place, report));
            let doc = self.joint((at, joint), (child, parent), report)?;
            scene.joints.push(doc);
            report.count("joints", 1);
        }
        self.write_mimics(scene, report)
    }

    /// Writes gears between joints of one coordinate, of which one follows the other.
    fn write_mimics(&self, scene: &mut SceneDoc, report: &mut ImportReport) -> Result<(), ImportFault> {
        for (at, joint) in self.parts.joints.iter().enumerate() {
            for mimic in joint.axes.iter().filter_map(|axis| axis.mimic.as_ref()) {
                let leader = self.parts.joints.iter().position(|other| other.path == mimic.leader);
                let missing = || format!("there is no joint `{}` to follow", mimic.leader);
                let leader = leader.ok_or_else(|| ImportFault::new(joint.place.clone(), missing()))?;
                let is_single = |number: usize| self.parts.joints[number].axes.len() == 1;
                let name = |number: usize| self.names[1][number].clone();
                let is_there = [at, leader]
                    .iter()
                    .all(|number| scene.joints.iter().any(|doc| doc.name == self.names[1][*number]));
                if !is_there || !is_single(at) || !is_single(leader) || mimic.axis != 1 || at == leader {
                    let what = "<mimic> is used between two joints of one axis that move";
                    report.note(Outcome::Ignored, joint.place.clone(), what);
                    continue;
                }
                scene.gears.push(GearDoc {
                    name: format!("{}_follows_{}", name(at), name(leader)),
                    driver: name(leader),
                    driven: name(at),
                    ratio: mimic.multiplier,
                    offset: mimic.offset,
                    ..GearDoc::default()
                });
                report.count("mimics", 1);
            }
        }
        scene.assemble |= !scene.gears.is_empty();
        Ok(())
    }

    fn joint(
        &self,
        (number, joint): (usize, &SdfJoint),
        (child, parent): (Option<usize>, Option<usize>),
        report: &mut ImportReport,
    ) -> Result<JointDoc, ImportFault> {
        // The world is no child.
        let (child, parent) = if child.is_none() { (parent, child) } else { (child, parent) };
        let name = |link: Option<usize>| link.map(|link| self.names[0][link].clone());
        let world_from_joint = self.poses[joint.path.as_str()];
        let directions =
            joint.axes.iter().map(|axis| self.direction(axis, joint)).collect::<Result<Vec<_>, _>>()?;
        let mut doc = JointDoc::new(joint.kind, &self.names[1][number], name(child).unwrap_or_default());
        doc.parent = name(parent);
        let at = Pose::from_translation(world_from_joint.translation);
        let frame = |link: Option<usize>| {
            let seen = self.pose(link).inverse().compose(&at);
            match directions[..] {
                [] => joint_frame(&seen, DVec3::X),
                [axis] => joint_frame(&seen, axis),
                [on_parent, on_child, ..] => {
                    let mut frame = joint_frame(&seen, on_child);
                    frame.reference = Some(seen.transform_vector(on_parent));
                    frame
                }
            }
        };
        doc.frames = JointFramesDoc::Local(LocalFramesDoc { child: frame(child), parent: frame(parent) });
        let forces = |axis: &SdfAxis, direction: DVec3| {
            let moved = child.map_or(1.0, |link| self.moved_inertia(link, joint.kind, (at, direction)));
            axis_forces(axis, moved)
        };
        match (&joint.axes[..], &directions[..]) {
            ([axis], [direction]) => {
                let CoordinateForcesDoc { spring, damping, limits, friction, .. } = forces(axis, *direction);
                (doc.spring, doc.damping, doc.limits, doc.friction) = (spring, damping, limits, friction);
            }
            ([on_parent, on_child], [first, second]) => {
                if first.dot(*second).abs() > 1e-6 {
                    let what = "its axes are not perpendicular; the first one is taken across the second";
                    report.note(Outcome::Approximated, joint.place.clone(), what);
                }
                // About x of the child and y of the parent. The coordinates say the kind.
                doc.kind = JointDoc::default().kind;
                let (rx, ry) = (forces(on_child, *second), forces(on_parent, *first));
                doc.free = Some(FreeDoc { rx: Some(rx), ry: Some(ry), ..FreeDoc::default() });
            }
            _ => {}
        }
        Ok(doc)
    }

    /// The direction of an axis in the world.
    fn direction(&self, axis: &SdfAxis, joint: &SdfJoint) -> Result<DVec3, ImportFault> {
        let frame = axis.expressed_in.as_deref().unwrap_or(&joint.path);
        let pose = self.poses.get(frame);
        let pose = pose
            .ok_or_else(|| ImportFault::new(joint.place.clone(), format!("there is no frame `{frame}`")))?;
        Ok(pose.transform_vector(axis.direction))
    }

    /// What a joint moves along its coordinate (kg·m² or kg).
    fn moved_inertia(&self, link: usize, kind: JointKind, (at, axis): (Pose, DVec3)) -> f64 {
        let motion = match kind {
            JointKind::Prismatic => Motion::new(DVec3::ZERO, axis),
            _ => Motion::new(axis, at.translation.cross(axis)),
        };
        2.0 * self.subtrees[link].kinetic_energy(motion)
    }

    fn write_geometry(
        &self,
        scene: &mut SceneDoc,
        (files, options): (&Files, &ImportOptions),
        report: &mut ImportReport,
    ) -> Result<(), ImportFault> {
        let mut writer = GeometryWriter::new(files, options);
        for (at, link) in self.parts.links.iter().enumerate() {
            let groups = if options.self_contact || self.is_fixed[at] {
                (u32::MAX, u32::MAX)
            } else {
                // Parts of a model do not touch each other, those of two models do.
                let own = 1_u32 << (31 - link.model % 32);
                (own, !own)
            };
            for (visual, _) in &link.visuals {
                if let Some(form) = self.placed(at, link, visual, report)? {
                    writer.show(scene, at, &form, report);
                }
            }
            for (collision, friction) in &link.collisions {
                let mut contact = ContactDoc { groups: groups.0, touches: groups.1, ..ContactDoc::default() };
                contact.friction = friction.unwrap_or(contact.friction);
                match (&collision.form, self.is_fixed[at]) {
                    (SdfForm::Plane(plane, normal), true) => {
                        let world = self.frame_of(link, collision)?.compose(plane);
                        let (point, normal) = (world.translation, world.transform_vector(*normal));
                        let shape = ColliderShapeDoc::Plane { point, normal };
                        scene.colliders.push(ColliderDoc { contact, ..ColliderDoc::new(shape) });
                        report.count("collisions", 1);
                    }
                    (SdfForm::Plane(..), false) => {
                        let what = "a plane of a link that moves is not used";
                        report.note(Outcome::Ignored, link.place.clone(), what);
                    }
                    _ => {
                        if let Some(form) = self.placed(at, link, collision, report)? {
                            writer.touch(scene, Some(at), (&form, contact), report);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The frame in which a form is written, in the world.
    fn frame_of(&self, link: &SdfLink, form: &SdfGeometry) -> Result<Pose, ImportFault> {
        let Some(frame) = &form.relative_to else { return Ok(self.poses[link.path.as_str()]) };
        let model = link.path.rsplit_once("::").map_or("", |(model, _)| model);
        let name = inside(model, frame);
        let missing = || ImportFault::new(link.place.clone(), format!("there is no frame `{name}`"));
        self.poses.get(name.as_str()).copied().ok_or_else(missing)
    }

    /// A form in the frame of its link; noted if there is none.
    fn placed(
        &self,
        at: usize,
        link: &SdfLink,
        form: &SdfGeometry,
        report: &mut ImportReport,
    ) -> Result<Option<Geometry>, ImportFault> {
        match &form.form {
            SdfForm::Other(geometry) => {
                let seen = match form.relative_to {
                    None => Pose::IDENTITY,
                    Some(_) => self.pose(Some(at)).inverse().compose(&self.frame_of(link, form)?),
                };
                Ok(Some(Geometry { at: seen.compose(&geometry.at), ..geometry.clone() }))
            }
            // Planes are drawn where they touch.
            SdfForm::Plane(..) => Ok(None),
            SdfForm::Unknown(tag, place) => {
                report.note(Outcome::Ignored, place.clone(), format!("the geometry <{tag}> is not used"));
                Ok(None)
            }
        }
    }
}

/// The forces along an axis that moves an inertia.
fn axis_forces(axis: &SdfAxis, moved: f64) -> CoordinateForcesDoc {
    CoordinateForcesDoc {
        spring: axis.spring,
        damping: axis.damping,
        friction: axis.friction,
        limits: axis.limits.map(|[min, max]| firm_limits(min, max, moved)),
        ..CoordinateForcesDoc::default()
    }
}

/// Names in the scene: without that of the model if there is only one, and none of them that of the world.
fn names<'n>(parts: &SdfParts<'_>, paths: impl Iterator<Item = &'n str>) -> Vec<String> {
    let alone = match parts.models[..] {
        [model] => format!("{model}::"),
        _ => String::new(),
    };
    let mut taken = BTreeSet::from([WORLD.to_owned()]);
    let mut fresh = |path: &str| {
        let mut name = path.strip_prefix(&alone).unwrap_or(path).to_owned();
        while !taken.insert(name.clone()) {
            name.push('_');
        }
        name
    };
    paths.map(&mut fresh).collect()
}
