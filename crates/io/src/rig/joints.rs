//! Bodies, joints and tracks of a rig.
//!
//! A joint is a ball, or a hinge if the bone turns about one axis. A spring holds it where it is relaxed. If a motion turns it, a motor follows
//! the motion instead: a ball has three, along the coordinates `2 atan2(q_m, q_w)` of its rotation `q` (`FreeDoc`), with the parent's frame
//! turned to the middle of the motion, so that coordinates stay far from half a turn, where such motors fade out.
//!
//! With the inertia `I` about a joint of all that it carries, stiffness and damping are `I ω² + k` and `2 √(k I)`: critical, at the rate
//! `ω` of [`RigOptions::spring_hz`]. The `k` of flesh, `8 E r³`, is about twenty times what flesh of radius `r` resists with.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3};
use sinew_math::{Pose, log_so3, ops};
use sinew_scene::{
    BodyDoc, BodyKindDoc, ContactDoc, CoordinateForcesDoc, CurveDoc, FrameDoc, FreeDoc, InputDoc, JointDoc,
    JointKind, JointSpringDoc, KinematicDoc, MassDoc, MotorDoc, PositionMotorDoc, RotationDoc, SceneDoc,
    TargetDoc, TrackDoc,
};

use super::model::{Rig, RigBone, RigMotion, RigOptions};
use crate::report::{FilePlace, ImportReport, Outcome};
use crate::robot::RootHold;

/// A joint that turns less than this during a motion is held by a spring (rad).
const STILL: f64 = 1e-3;

impl Rig {
    /// Puts bodies, joints and tracks into a scene; `contact` is that of every bone.
    pub(crate) fn write(
        &self,
        motion: Option<&RigMotion>,
        (options, root): (&RigOptions, RootHold),
        contact: Option<ContactDoc>,
        scene: &mut SceneDoc,
    ) {
        for bone in &self.bones {
            let kind = match (bone.parent, root, motion) {
                (None, RootHold::Fixed, _) => BodyKindDoc::Fixed,
                (None, RootHold::AsWritten, Some(_)) => BodyKindDoc::Kinematic,
                _ => BodyKindDoc::Dynamic,
            };
            scene.bodies.push(BodyDoc {
                name: bone.name.clone(),
                kind,
                pose: bone.pose.into(),
                shapes: bone.shapes.clone(),
                mass: MassDoc::Density(options.density),
                contact,
                ..BodyDoc::default()
            });
        }
        if let (Some(motion), RootHold::AsWritten) = (motion, root) {
            self.lead(motion, scene);
        }
        let default_hz = if motion.is_some() { 8.0 } else { 4.0 };
        let rate = TAU * options.spring_hz.unwrap_or(default_hz);
        for (number, (bone, inertia)) in self.bones.iter().zip(self.inertias()).enumerate() {
            let flesh = if options.flesh { 8.0 * options.young * bone.load.2.powi(3) } else { 0.0 };
            let stiffness = inertia * rate * rate + flesh;
            let damping = 2.0 * (stiffness * inertia).sqrt();
            let turns = motion.map(|motion| (motion.times.as_slice(), motion.turns[number].as_slice()));
            let turns =
                turns.filter(|(_, turns)| turns.iter().any(|turn| angle(bone.relaxed, *turn) > STILL));
            self.write_joint(bone, (stiffness, damping), turns, scene);
        }
    }

    /// Lets the root follow a motion.
    fn lead(&self, motion: &RigMotion, scene: &mut SceneDoc) {
        let Some(root) = self.bones.first() else { return };
        let poses = motion.times.iter().zip(&motion.root);
        let poses = poses.map(|(&time, pose)| (time, pose.translation, quaternion(pose.rotation)));
        let track = format!("{}_guide", root.name);
        let curve = CurveDoc::Poses(poses.collect());
        scene.tracks.push(TrackDoc { name: track.clone(), curve, ..TrackDoc::default() });
        scene.inputs.push(InputDoc::Kinematic(KinematicDoc { body: root.name.clone(), track }));
    }

    fn write_joint(
        &self,
        bone: &RigBone,
        (stiffness, damping): (f64, f64),
        motion: Option<(&[f64], &[DQuat])>,
        scene: &mut SceneDoc,
    ) {
        let Some(parent) = bone.parent.map(|parent| &self.bones[parent]) else { return };
        let middle = motion.filter(|_| bone.hinge.is_none()).and_then(|(_, turns)| middle_of(turns));
        let middle = middle.unwrap_or(bone.relaxed);
        let joint = placed_joint(bone, parent, middle);
        let Some((times, turns)) = motion else {
            let spring = JointSpringDoc { stiffness, damping, ..JointSpringDoc::default() };
            scene.joints.push(JointDoc { spring: Some(spring), ..joint });
            return;
        };
        let mut motor = |name: &str, along: DVec3| {
            let track = format!("{}{name}", bone.name);
            let curve = CurveDoc::Scalars(coordinates(times, turns, middle, along));
            scene.tracks.push(TrackDoc { name: track.clone(), curve, ..TrackDoc::default() });
            let target = TargetDoc::Track(track);
            Some(MotorDoc::Position(PositionMotorDoc {
                target,
                stiffness,
                damping,
                ..PositionMotorDoc::default()
            }))
        };
        let joint = match bone.hinge {
            Some(axis) => JointDoc { motor: motor("", axis), ..joint },
            None => JointDoc { kind: JointKind::Hinge, free: Some(three_motors(motor)), ..joint },
        };
        scene.joints.push(joint);
    }

    /// Inertia about each joint of what it carries (kg·m²).
    fn inertias(&self) -> Vec<f64> {
        let mut inertias = vec![0.0; self.bones.len()];
        for bone in 0..self.bones.len() {
            let (mass, middle, radius) = self.bones[bone].load;
            let mut above = Some(bone);
            while let Some(joint) = above {
                let arm = middle.distance_squared(self.bones[joint].pose.translation);
                inertias[joint] += mass * (arm + 0.4 * radius * radius);
                above = self.bones[joint].parent;
            }
        }
        inertias
    }
}

/// The joint of a bone, without forces, with the parent's frame turned by `middle`.
fn placed_joint(bone: &RigBone, parent: &RigBone, middle: DQuat) -> JointDoc {
    let (kind, axis, reference) = match bone.hinge {
        Some(axis) => (JointKind::Hinge, axis, axis.any_orthonormal_vector()),
        None => (JointKind::Ball, DVec3::X, DVec3::Y),
    };
    let on_child = FrameDoc { anchor: DVec3::ZERO, axis, reference: Some(reference) };
    let on_parent = FrameDoc {
        anchor: parent.pose.inverse().transform_point(bone.pose.translation),
        axis: middle * axis,
        reference: Some(middle * reference),
    };
    JointDoc::new(kind, &bone.name, &bone.name).parent(&parent.name).local(on_child, on_parent)
}

/// A ball's three coordinates with a motor each.
fn three_motors(mut motor: impl FnMut(&str, DVec3) -> Option<MotorDoc>) -> FreeDoc {
    let mut forces = |name: &str, along: DVec3| {
        Some(CoordinateForcesDoc { motor: motor(name, along), ..CoordinateForcesDoc::default() })
    };
    let (rx, ry, rz) = (forces("_x", DVec3::X), forces("_y", DVec3::Y), forces("_z", DVec3::Z));
    FreeDoc { rx, ry, rz, ..FreeDoc::default() }
}

/// A joint that turns farther than this from the middle of its motion is told of (rad): motors fade out at half a turn.
const FAR: f64 = 2.6;

impl Rig {
    /// Remembers where bones come from, and tells of those that are not called as in the file.
    pub(crate) fn note_names<'a>(
        &self,
        written: impl Iterator<Item = (&'a str, &'a FilePlace)>,
        report: &mut ImportReport,
    ) {
        for (bone, (name, place)) in self.bones.iter().zip(written) {
            report.place_body(&bone.name, place);
            report.place_joint(&bone.name, place);
            if bone.name != name {
                let what = format!("its name is taken; it is called `{}`", bone.name);
                report.note(Outcome::Repaired, place.clone(), what);
            }
        }
    }

    /// Tells of balls that turn so far in a motion that their motors fade; `places` are those of the bones.
    pub(crate) fn note_far_turns(&self, motion: &RigMotion, places: &[FilePlace], report: &mut ImportReport) {
        for ((bone, turns), place) in self.bones.iter().zip(&motion.turns).zip(places) {
            let Some(middle) = middle_of(turns).filter(|_| bone.hinge.is_none() && bone.parent.is_some())
            else {
                continue;
            };
            let most = turns.iter().map(|&turn| angle(middle, turn)).fold(0.0, f64::max);
            if most > FAR {
                let what = format!(
                    "it turns {:.0}° from the middle of its motion; its motors fade out towards 180°, so that it stays behind there",
                    most.to_degrees()
                );
                report.note(Outcome::Approximated, place.clone(), what);
            }
        }
    }
}

/// A motion that is put off gathers way during twice this time (s), or less if it is put off by less.
const GATHERING: f64 = 0.1;
/// How long a rig stays in the first pose of its motion before that begins (s).
const STAY: f64 = 1e-3;

impl RigMotion {
    /// The motion put off by a time `T` (s), during which it is approached from where the rig is.
    ///
    /// Pose `τ` of the motion is reached at `T + τ`. What is before `τ = w` is played more slowly, at `T − w + 2 √(w τ)`, so that the motion begins from
    /// rest; the rig goes to its first pose until then. Tracks are cubic through these samples: two of the same pose, shortly one after the other, keep
    /// them between the two poses, to a millionth of what they are apart.
    pub(crate) fn approached(mut self, rig: &Rig, after: f64) -> Self {
        let way = GATHERING.min(0.5 * after);
        let played =
            |time: f64| if time < way { after - way + 2.0 * (way * time).sqrt() } else { after + time };
        self.times.iter_mut().for_each(|time| *time = played(*time));
        self.times.splice(0..0, [0.0, after - way - STAY]);
        let first = self.root.first().copied().unwrap_or(Pose::IDENTITY);
        self.root.splice(0..0, [rig.bones.first().map_or(first, |bone| bone.pose), first]);
        for (turns, bone) in self.turns.iter_mut().zip(&rig.bones) {
            let first = turns.first().copied().unwrap_or(bone.relaxed);
            turns.splice(0..0, [bone.relaxed, first]);
        }
        self
    }
}

fn quaternion(q: DQuat) -> RotationDoc {
    RotationDoc::Quaternion { w: q.w, x: q.x, y: q.y, z: q.z }
}

/// The angle between two rotations.
fn angle(a: DQuat, b: DQuat) -> f64 {
    log_so3(a.conjugate() * b).length()
}

/// A rotation in the middle of others: their mean as quaternions of one sign.
fn middle_of(turns: &[DQuat]) -> Option<DQuat> {
    let first = *turns.first()?;
    let aligned = turns.iter().map(|&turn| if turn.dot(first) < 0.0 { -turn } else { turn });
    let sum = aligned.fold(DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0), |sum, turn| sum + turn);
    (sum.length_squared() > 1e-12).then(|| sum.normalize())
}

/// The coordinate `2 atan2(q · axis, q_w)` at each time, from the middle on, without jumps.
fn coordinates(times: &[f64], turns: &[DQuat], middle: DQuat, axis: DVec3) -> Vec<(f64, f64)> {
    let mut last = 0.0;
    let from_middle = middle.conjugate();
    let coordinate = |(&time, &turn): (&f64, &DQuat)| {
        let turn = from_middle * turn;
        let angle = 2.0 * ops::atan2(turn.xyz().dot(axis), turn.w);
        last = angle - TAU * ((angle - last) / TAU).round();
        (time, last)
    };
    times.iter().zip(turns).map(coordinate).collect()
}
