//! The parts of a scene that bodies, joints and geoms become.
//!
//! Body frames stay as they are. A body with several joints hangs on bodies of 1e-12 of the mass of the model, one per joint but the last. Coordinates of hinges and
//! slides are those of `qpos`, but for whole turns of `ref`.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;
use sinew_math::{JointKind, Motion, Pose};
use sinew_scene::{
    BodyDoc, BodyKindDoc, ConeLimitDoc, FrameDoc, InputDoc, JointDoc, JointSpringDoc, LimitsDoc, MassDoc,
    SceneDoc, WrenchDoc,
};

use super::bodies::MjcfBody;
use super::joints::MjcfJoint;
use super::layout::{BodyLayout, steps};
use super::model::MjcfModel;
use super::tendon::MjcfTendon;
use crate::report::{ImportReport, Outcome};
use crate::robot::joint_frame;

/// A scene that is being made of a model.
pub(super) struct MjcfScene<'a, 'b> {
    pub(super) model: &'b MjcfModel<'a>,
    pub(super) tendons: &'b BTreeMap<String, MjcfTendon>,
    pub(super) layout: BodyLayout,
    pub(super) scene: SceneDoc,
    /// Per body the names of its joints in the scene.
    joint_names: Vec<Vec<String>>,
    /// Joints of the scene by name.
    pub(super) joint_places: BTreeMap<String, usize>,
    taken: BTreeSet<String>,
}

/// The name of the world in a scene.
pub(super) const WORLD: &str = "world";

impl<'a, 'b> MjcfScene<'a, 'b> {
    pub(super) fn new(
        model: &'b MjcfModel<'a>,
        tendons: &'b BTreeMap<String, MjcfTendon>,
        layout: BodyLayout,
        name: &str,
    ) -> Self {
        let mut scene = SceneDoc::new(name);
        scene.gravity = model.run.gravity;
        scene.dt = model.run.step;
        let bodies = &model.tree.bodies;
        let given = bodies.iter().flat_map(|body| &body.joints).map(|joint| joint.name.clone());
        let taken = given.chain(bodies.iter().map(|body| body.name.clone())).collect();
        let (joint_names, joint_places) = (Vec::new(), BTreeMap::new());
        let mut new = Self { model, tendons, layout, scene, joint_names, joint_places, taken };
        for body in bodies {
            let mut name = |(k, joint): (usize, &MjcfJoint)| match joint.name.as_str() {
                "" if body.joints.len() == 1 => new.fresh(&format!("{}_joint", body.name)),
                "" => new.fresh(&format!("{}_joint_{}", body.name, k + 1)),
                name => name.to_owned(),
            };
            let names = body.joints.iter().enumerate().map(&mut name).collect();
            new.joint_names.push(names);
        }
        new
    }

    /// A name that nothing has yet.
    pub(super) fn fresh(&mut self, wanted: &str) -> String {
        let numbered = (2..).map(|k| format!("{wanted}_{k}"));
        let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
        let name = names.find(|name| !self.taken.contains(name)).unwrap_or_default();
        self.taken.insert(name.clone());
        name
    }

    pub(super) fn bodies(&self) -> &'b [MjcfBody] {
        &self.model.tree.bodies
    }

    /// The name in the scene of what carries a body, none for the world, and the body's frame there.
    pub(super) fn carrier(&self, body: usize) -> (Option<&'b str>, Pose) {
        let (host, at) = self.layout.host(body);
        ((host != 0).then(|| self.bodies()[host].name.as_str()), at)
    }

    /// The name of a joint in the scene.
    pub(super) fn joint_name(&self, (body, joint): (usize, usize)) -> &str {
        &self.joint_names[body][joint]
    }

    /// A joint of the scene, to be changed.
    pub(super) fn joint_mut(&mut self, joint: (usize, usize)) -> Option<&mut JointDoc> {
        let place = *self.joint_places.get(self.joint_name(joint))?;
        self.scene.joints.get_mut(place)
    }

    /// Writes bodies and joints, at coordinates in the order of `qpos` and `qvel` or at rest as in the file.
    pub(super) fn write_bodies(&mut self, start: &StartState<'_>, report: &mut ImportReport) {
        let (mut poses, mut rest) = (vec![Pose::IDENTITY], start.coordinates);
        let mut motions = Motions { of: vec![Motion::ZERO], rest: start.rates };
        let bodies = self.bodies();
        for (i, body) in bodies.iter().enumerate().skip(1) {
            let fixed = poses[body.parent].compose(&body.at);
            let mut chain = steps(body, fixed, &mut rest);
            let above = if body.joints.len() == 1 && body.joints[0].kind == JointKind::Free {
                None
            } else {
                Some(body.parent)
            };
            let twists = motions.chain(body, above, fixed, &chain);
            let at = chain.pop().unwrap_or(fixed);
            poses.push(start.mocap.get(&i).copied().unwrap_or(at));
            if self.layout.host(i).0 == i {
                let placed = chain.into_iter().zip(twists).collect::<Vec<_>>();
                self.write_body(i, (&placed, poses[i], motions.of[i]), report);
            }
        }
        report.count("bodies", bodies.len() - 1);
    }

    /// Writes a body with its joints; `above` are the frames and motions after all but the last of them.
    fn write_body(
        &mut self,
        i: usize,
        (above, pose, motion): (&[(Pose, Motion)], Pose, Motion),
        report: &mut ImportReport,
    ) {
        let (body, model) = (&self.bodies()[i], self.model);
        let (carrier, carrier_from_parent) = self.carrier(body.parent);
        let mut parent_from_fixed = carrier_from_parent.compose(&body.at);
        let mut parent = carrier.map(str::to_owned);
        for (k, (pose, motion)) in above.iter().enumerate() {
            let name = self.fresh(&format!("{}.{}", body.name, self.joint_name((i, k))));
            let mut doc = BodyDoc::new(&name).at(*pose);
            doc.mass = MassDoc::Properties(self.layout.tiny().into());
            (doc.velocity.angular, doc.velocity.linear) =
                (motion.angular, velocity_at(motion, pose.translation));
            self.scene.bodies.push(doc);
            self.write_joint((i, k), (&name, parent.as_deref(), &parent_from_fixed), report);
            (parent, parent_from_fixed) = (Some(name), Pose::IDENTITY);
        }
        let mass = self.layout.mass(&model.tree.bodies, i, report);
        let kind = match (self.layout.is_static[i], body.is_mocap) {
            (true, _) => BodyKindDoc::Fixed,
            (_, true) => BodyKindDoc::Kinematic,
            _ => BodyKindDoc::Dynamic,
        };
        let color = body.geoms.iter().filter(|geom| geom.is_shown()).find_map(|geom| geom.color);
        let mass_doc = MassDoc::Properties(mass.into());
        report.place_body(&body.name, &body.place);
        let mut doc = BodyDoc { kind, color, mass: mass_doc, ..BodyDoc::new(&body.name).at(pose) };
        if kind == BodyKindDoc::Dynamic {
            doc.velocity.angular = motion.angular;
            doc.velocity.linear = velocity_at(&motion, pose.transform_point(mass.com));
            self.lift(body, mass.mass, report);
        }
        self.scene.bodies.push(doc);
        match body.joints.len().checked_sub(1) {
            Some(last) => {
                self.write_joint((i, last), (&body.name, parent.as_deref(), &parent_from_fixed), report)
            }
            None if kind == BodyKindDoc::Dynamic => {
                let name = self.fresh(&format!("{}_fixed", body.name));
                let joint = JointDoc { parent, ..JointDoc::new(JointKind::Fixed, name, &body.name) };
                let on = |pose: &Pose| frame(pose, DVec3::ZERO);
                self.push_joint(joint.local(on(&Pose::IDENTITY), on(&parent_from_fixed)));
            }
            None => {}
        }
    }

    pub(super) fn push_joint(&mut self, joint: JointDoc) {
        self.joint_places.insert(joint.name.clone(), self.scene.joints.len());
        self.scene.joints.push(joint);
    }

    /// Takes away the share of the weight that does not act.
    fn lift(&mut self, body: &MjcfBody, mass: f64, report: &mut ImportReport) {
        let force = self.scene.gravity * (-mass * body.weightless);
        if force != DVec3::ZERO {
            let wrench = WrenchDoc { body: body.name.clone(), force, ..WrenchDoc::default() };
            self.scene.inputs.push(InputDoc::Wrench(wrench));
            report.count("weights taken away", 1);
        }
    }

    /// Writes a joint of a body: its child in the scene, its parent there, and where the body is in that if the joint does not move.
    fn write_joint(
        &mut self,
        (body, k): (usize, usize),
        (child, parent, parent_from_fixed): (&str, Option<&str>, &Pose),
        report: &mut ImportReport,
    ) {
        let joint = &self.bodies()[body].joints[k];
        report.count("joints", 1);
        note_joint(joint, report);
        let has_forces = joint.damping > 0.0 || joint.armature > 0.0 || joint.friction > 0.0;
        if joint.kind == JointKind::Free && !has_forces {
            return;
        }
        let inertia = self.layout.moved_inertia(body, joint);
        let doc = with_forces(JointDoc::new(joint.kind, self.joint_name((body, k)), child), joint, inertia);
        let doc = JointDoc { parent: parent.map(str::to_owned), ..doc };
        report.place_joint(&doc.name, &joint.place);
        let [on_child, on_parent] = joint_frames(joint, parent_from_fixed);
        self.push_joint(doc.local(on_child, on_parent));
    }
}

/// Tells what of a joint is not used as it is written.
fn note_joint(joint: &MjcfJoint, report: &mut ImportReport) {
    let mut note = |outcome, what: &str| report.note(outcome, joint.place.clone(), what);
    if joint.tuned.is_some() {
        let what = "`springdamper` is taken for the inertia that it moves if no other joint does";
        note(Outcome::Approximated, what);
    }
    match joint.kind {
        JointKind::Free if joint.stiffness > 0.0 => {
            note(Outcome::Ignored, "the spring of a free joint is not used");
        }
        JointKind::Free if joint.damping > 0.0 || joint.armature > 0.0 || joint.friction > 0.0 => {
            let what = "damping, armature and friction of a free joint act on its rotation only";
            note(Outcome::Approximated, what);
        }
        JointKind::Ball if joint.range.is_some() => {
            let what = "the range of a ball joint bounds how far its first axis leans, not how far it turns";
            note(Outcome::Approximated, what);
        }
        _ => {}
    }
}

/// Where a joint is on its child and on its parent, which sees the child at a pose if the joint does not move.
fn joint_frames(joint: &MjcfJoint, parent_from_fixed: &Pose) -> [FrameDoc; 2] {
    if !joint.is_scalar() {
        let at = if joint.kind == JointKind::Free { &Pose::IDENTITY } else { parent_from_fixed };
        return [&Pose::IDENTITY, at].map(|pose| frame(pose, joint.position));
    }
    // The frame on the parent lies back by the coordinate of the pose in the file.
    let coordinate = joint.reference - joint.turns();
    let back = match joint.kind {
        JointKind::Hinge => joint.moved(&[joint.reference - coordinate]),
        _ => Pose::from_translation(joint.axis * -coordinate),
    };
    let at = Pose::from_translation(joint.position);
    [Pose::IDENTITY, parent_from_fixed.compose(&back)].map(|pose| joint_frame(&pose.compose(&at), joint.axis))
}

/// A frame along the axes of a body, at a point of it.
pub(super) fn frame(pose: &Pose, point: DVec3) -> FrameDoc {
    FrameDoc {
        anchor: pose.transform_point(point),
        axis: pose.transform_vector(DVec3::X),
        reference: Some(pose.transform_vector(DVec3::Y)),
    }
}

/// A joint with the spring, damper, limits and friction of the file; `inertia` is what it moves (kg·m² or kg).
fn with_forces(doc: JointDoc, joint: &MjcfJoint, inertia: f64) -> JointDoc {
    let rest = if joint.is_scalar() { joint.scene_coordinate(joint.rest) } else { 0.0 };
    let [stiffness, viscosity] = joint.spring(inertia);
    let spring = JointSpringDoc { stiffness, rest, ..JointSpringDoc::default() };
    let has_spring = stiffness > 0.0 && joint.kind != JointKind::Free;
    let limits = |range| limits(joint, range, inertia);
    let cone = |range| cone_limit(joint, range, inertia);
    JointDoc {
        damping: viscosity,
        armature: joint.armature,
        friction: joint.friction,
        spring: has_spring.then_some(spring),
        limits: joint.range.filter(|_| joint.is_scalar()).map(limits),
        cone_limit: joint.range.filter(|_| !joint.is_scalar()).map(cone),
        ..doc
    }
}

/// The limits of a joint with one coordinate that moves an inertia.
fn limits(joint: &MjcfJoint, [min, max]: [f64; 2], inertia: f64) -> LimitsDoc {
    let soft = &joint.softness;
    LimitsDoc {
        min: joint.scene_coordinate(min),
        max: joint.scene_coordinate(max),
        stiffness: (inertia * soft.stiffness).max(f64::MIN_POSITIVE),
        damping: inertia * soft.damping,
        ramp: soft.ramp,
    }
}

/// The limit of a ball joint that moves an inertia.
fn cone_limit(joint: &MjcfJoint, [_, max]: [f64; 2], inertia: f64) -> ConeLimitDoc {
    let soft = &joint.softness;
    ConeLimitDoc {
        angle: max.clamp(1e-3, std::f64::consts::PI),
        stiffness: (inertia * soft.stiffness).max(f64::MIN_POSITIVE),
        damping: inertia * soft.damping,
        ramp: soft.ramp,
    }
}

/// How a model begins.
#[derive(Default)]
pub(super) struct StartState<'a> {
    /// In the order of `qpos`; as in the file if there is none.
    pub(super) coordinates: Option<&'a [f64]>,
    /// In the order of `qvel`; at rest if there is none.
    pub(super) rates: Option<&'a [f64]>,
    /// World poses of mocap bodies.
    pub(super) mocap: BTreeMap<usize, Pose>,
}

/// Twists of bodies at the origin of the world, from the rates of their joints.
struct Motions<'a> {
    of: Vec<Motion>,
    rest: Option<&'a [f64]>,
}

impl Motions<'_> {
    /// Adds the twist of a body, and gives those after each joint but the last. `after` are its frames after each joint.
    fn chain(&mut self, body: &MjcfBody, above: Option<usize>, fixed: Pose, after: &[Pose]) -> Vec<Motion> {
        let mut motion = above.map_or(Motion::ZERO, |above| self.of[above]);
        let mut before = fixed;
        let mut twists = Vec::new();
        for (joint, after) in body.joints.iter().zip(after) {
            if let Some(rates) = self.rest {
                let (own, others) = rates.split_at(joint.n_coordinates().1.min(rates.len()));
                self.rest = Some(others);
                motion += joint_motion(joint, own, &before, after);
            }
            before = *after;
            twists.push(motion);
        }
        twists.pop();
        self.of.push(motion);
        twists
    }
}

/// The twist of a joint at the origin of the world, in world axes.
fn joint_motion(joint: &MjcfJoint, rates: &[f64], before: &Pose, after: &Pose) -> Motion {
    let three = |at: usize| rates.get(at..at + 3).map_or(DVec3::ZERO, DVec3::from_slice);
    let about = |spin: DVec3, point: DVec3| Motion::new(spin, point.cross(spin));
    let rate = rates.first().copied().unwrap_or_default();
    let point = after.transform_point(joint.position);
    match joint.kind {
        JointKind::Hinge => about(before.transform_vector(joint.axis * rate), point),
        JointKind::Ball => about(after.transform_vector(three(0)), point),
        JointKind::Free => {
            let spin = after.transform_vector(three(3));
            let turning = about(spin, after.translation);
            Motion::new(spin, turning.linear + three(0))
        }
        _ => Motion::new(DVec3::ZERO, before.transform_vector(joint.axis * rate)),
    }
}

fn velocity_at(motion: &Motion, point: DVec3) -> DVec3 {
    motion.linear + motion.angular.cross(point)
}
