//! Motions in BVH: a skeleton that follows what was captured.
//!
//! Each `JOINT` becomes a body from its origin to those of its children and its `End Site`; its mass is that of a capsule whose thickness is a
//! share of its length. A joint with one rotation channel is a hinge, others are balls. The root follows its channels; motors at the joints follow
//! theirs. The rotation of a joint is `R₁ R₂ R₃` in the order of its channels, and the frames of a skeleton at zero are all parallel.
//!
//! Files are y-up: `(x, y, z)` becomes `(x, −z, y)`. They do not say their unit; see [`units`]. Cost: linear in channels times frames, of which
//! there are at most [`parse::MAX_VALUES`].

mod parse;
mod units;

use glam::{DQuat, DVec3};
use sinew_math::{MassProperties, Pose, exp_so3};
use sinew_scene::{ColliderDoc, ContactDoc, SceneDoc};

use self::parse::{BvhChannel, BvhJoint, BvhMotion};
use crate::error::ImportError;
use crate::imported::Imported;
use crate::report::{FilePlace, ImportReport, Outcome};
use crate::rig::{Rig, RigBone, RigMotion, bone_shapes, bounds, lowest, unique_names};
use crate::robot::{ImportOptions, RootHold};

/// Radius of a bone over its length, and over the size of the skeleton at most and at least.
const THICKNESS: f64 = 0.15;
const THICKEST: f64 = 0.05;
const THINNEST: f64 = 0.005;

/// Reads the text of a BVH file, called `file` in errors.
///
/// # Errors
/// What is wrong, with its line.
pub fn read_bvh(text: &str, file: &str, options: &ImportOptions) -> Result<Imported, ImportError> {
    let read = BvhMotion::parse(text, file)?;
    let mut report = ImportReport::default();
    let scale = units::scale(&read.joints, &options.rig, file, &mut report)?;
    let stem = std::path::Path::new(file).file_stem().and_then(|stem| stem.to_str());
    let mut scene = SceneDoc::new(stem.unwrap_or("motion"));
    let motion = motion(&read, scale);
    let rig = rig(&read.joints, &motion, (scale, options.rig.density));
    note_bones((&read, &rig), &motion, file, &mut report);
    note_stretches(&read, file, &mut report);
    scene.duration_s = motion.times.last().copied().unwrap_or(0.0).max(scene.dt);
    report.count("joints", read.joints.len());
    report.count("frames", motion.times.len());
    // What is let go falls on the floor.
    let (groups, touches) = options.groups();
    let contact = ContactDoc { groups, touches, friction: 0.6, ..ContactDoc::default() };
    let contact = (options.root == RootHold::Free).then_some(contact);
    rig.write(Some(&motion), (&options.rig, options.root), contact, &mut scene);
    if options.root != RootHold::Fixed {
        scene.colliders.push(ColliderDoc::floor(lowest(&rig)));
    }
    Ok(Imported { scene, report })
}

/// What is drawn along y in the file points up.
fn upright(v: DVec3) -> DVec3 {
    DVec3::new(v.x, -v.z, v.y)
}

/// The same for an axis of a rotation channel.
fn turn(channel: BvhChannel, degrees: f64) -> DQuat {
    exp_so3(upright(channel.axis()) * degrees.to_radians())
}

/// The rotation of a joint in a frame.
fn rotation(joint: &BvhJoint, values: &[f64]) -> DQuat {
    let turns = joint.channels.iter().zip(values).filter(|(channel, _)| channel.turns());
    turns.fold(DQuat::IDENTITY, |all, (channel, value)| all * turn(*channel, *value)).normalize()
}

/// The position of a joint in its parent: its offset, or what its channels say.
fn position(joint: &BvhJoint, values: &[f64]) -> DVec3 {
    let mut position = joint.offset;
    for (channel, value) in joint.channels.iter().zip(values).filter(|(channel, _)| !channel.turns()) {
        let axis = channel.axis();
        position = position - axis * position.dot(axis) + axis * *value;
    }
    upright(position)
}

/// The motion in metres and turns.
fn motion(read: &BvhMotion, scale: f64) -> RigMotion {
    let mut motion = RigMotion { turns: vec![Vec::new(); read.joints.len()], ..RigMotion::default() };
    for (number, frame) in read.frames().enumerate() {
        motion.times.push(number as f64 * read.frame_time);
        for (joint, turns) in read.joints.iter().zip(&mut motion.turns) {
            turns.push(rotation(joint, &frame[joint.first..]));
        }
        let root = &read.joints[0];
        let values = &frame[root.first..];
        motion.root.push(Pose::new(rotation(root, values), position(root, values) * scale));
    }
    motion
}

/// The bones as they are in the first frame.
fn rig(joints: &[BvhJoint], motion: &RigMotion, (scale, density): (f64, f64)) -> Rig {
    let (poses, ends) = first_frame(joints, motion, scale);
    let (low, high) = bounds(ends.iter().flatten().chain(poses.iter().map(|pose| &pose.translation)));
    let size = (high - low).max_element().max(1e-6);
    let names = unique_names(joints.iter().map(|joint| joint.name.clone()));
    let mut rig = Rig::default();
    for (((number, joint), mut ends), name) in joints.iter().enumerate().zip(ends).zip(names) {
        let pose = poses[number];
        ends.retain(|end| end.distance(pose.translation) > 1e-3 * size);
        let longest = ends.iter().map(|end| end.distance(pose.translation)).fold(0.0, f64::max);
        let radius = (THICKNESS * longest).clamp(THINNEST * size, THICKEST * size);
        let shapes = bone_shapes(&pose, &ends, radius);
        let masses = shapes.iter().map(|shape| (shape.at.to_pose(), shape.solid.mass_properties(density)));
        let mass = MassProperties::combine(&masses.collect::<Vec<_>>());
        rig.bones.push(RigBone {
            name,
            parent: joint.parent,
            pose,
            relaxed: first_turn(&motion.turns[number]),
            hinge: joint.single_axis().map(upright),
            ends,
            shapes,
            load: (mass.mass, pose.transform_point(mass.com), longest.max(radius)),
        });
    }
    rig
}

fn first_turn(turns: &[DQuat]) -> DQuat {
    turns.first().copied().unwrap_or(DQuat::IDENTITY)
}

/// Where bones are in the first frame, and where each of them ends.
fn first_frame(joints: &[BvhJoint], motion: &RigMotion, scale: f64) -> (Vec<Pose>, Vec<Vec<DVec3>>) {
    let offset = |offset: DVec3| upright(offset) * scale;
    let mut poses: Vec<Pose> = Vec::with_capacity(joints.len());
    let mut ends: Vec<Vec<DVec3>> = vec![Vec::new(); joints.len()];
    for (number, (joint, turns)) in joints.iter().zip(&motion.turns).enumerate() {
        let pose = match joint.parent {
            Some(parent) => poses[parent].compose(&Pose::new(first_turn(turns), offset(joint.offset))),
            None => motion.root.first().copied().unwrap_or(Pose::IDENTITY),
        };
        if let Some(parent) = joint.parent {
            ends[parent].push(pose.translation);
        }
        ends[number].extend(joint.end.map(|end| pose.transform_point(offset(end))));
        poses.push(pose);
    }
    (poses, ends)
}

/// The place of a joint in its file.
fn place_of(joint: &BvhJoint, file: &str) -> FilePlace {
    FilePlace { element: format!("JOINT {}", joint.name), line: joint.line, ..FilePlace::whole(file) }
}

/// Remembers where bones come from; tells of those with another name, and of those that turn too far.
fn note_bones((read, rig): (&BvhMotion, &Rig), motion: &RigMotion, file: &str, report: &mut ImportReport) {
    let places: Vec<FilePlace> = read.joints.iter().map(|joint| place_of(joint, file)).collect();
    let names = read.joints.iter().map(|joint| joint.name.as_str());
    rig.note_names(names.zip(&places), report);
    rig.note_far_turns(motion, &places, report);
}

/// Tells of joints that also move, which bones do not.
fn note_stretches(read: &BvhMotion, file: &str, report: &mut ImportReport) {
    for joint in
        read.joints.iter().skip(1).filter(|joint| joint.channels.iter().any(|channel| !channel.turns()))
    {
        let moves = |frame: &[f64]| position(joint, &frame[joint.first..]).distance(upright(joint.offset));
        let most = read.frames().map(moves).fold(0.0, f64::max);
        let place = place_of(joint, file);
        let what =
            format!("its position channels move it by up to {most:.4} units; bones keep their lengths");
        let outcome =
            if most > 1e-3 * joint.offset.length() { Outcome::Approximated } else { Outcome::Ignored };
        report.note(outcome, place, what);
    }
}
