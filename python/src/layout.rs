//! The order of what arrays hold: bodies, coordinates of joints, motors, drives, kinematic bodies, muscles and flesh of a model.
//!
//! The coordinates of a joint are its angle (rad), its slide (m), or both, or the rotation vector of its frame 1 in frame 2 (rad) if it turns in every
//! way; efforts follow the same order, so that effort times rate is power.

use std::ops::Range;

use glam::DVec3;
use sinew_mechanism::{
    BodyId, BodyKind, Drive, DriveCoordinate, Input, JointId, JointKind, JointReading, Model as Mechanism,
    MotorTarget, MuscleId, State as Bodies, joint_reading,
};
use sinew_sim::World;

/// A coordinate of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Coordinate {
    Along(DriveCoordinate),
    /// A part of the rotation vector.
    Rotation(usize),
}

/// What the arrays of a world hold, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    pub(crate) bodies: Vec<String>,
    pub(crate) joints: Vec<String>,
    pub(crate) coordinates: Vec<(JointId, Coordinate)>,
    pub(crate) coordinate_names: Vec<String>,
    /// Per joint: its coordinates.
    pub(crate) spans: Vec<Range<usize>>,
    pub(crate) motors: Vec<(JointId, String)>,
    pub(crate) drives: Vec<(JointId, DriveCoordinate, String)>,
    pub(crate) kinematic: Vec<(BodyId, String)>,
    pub(crate) muscles: Vec<(MuscleId, String)>,
    pub(crate) flesh: Vec<String>,
}

impl Layout {
    pub(crate) fn of(world: &World) -> Self {
        let model = world.mechanism();
        let mut layout = Self {
            bodies: model.bodies().map(|body| model.body_name(body).to_owned()).collect(),
            joints: model.joints().map(|joint| model.joint_name(joint).to_owned()).collect(),
            motors: joints(model, has_motor),
            kinematic: kinematic(model),
            muscles: muscles(world),
            flesh: world.appearance().flesh.iter().map(|flesh| flesh.name.clone()).collect(),
            ..Self::default()
        };
        for joint in model.joints() {
            layout.push_joint(model, joint);
        }
        layout
    }

    fn push_joint(&mut self, model: &Mechanism, joint: JointId) {
        let (name, begin) = (model.joint_name(joint), self.coordinates.len());
        let coordinates = coordinates(model.joint_kind(joint));
        for coordinate in &coordinates {
            self.coordinates.push((joint, *coordinate));
            self.coordinate_names.push(if coordinates.len() == 1 {
                name.to_owned()
            } else {
                format!("{name}.{}", part_name(*coordinate))
            });
        }
        self.spans.push(begin..self.coordinates.len());
        for coordinate in [DriveCoordinate::Twist, DriveCoordinate::Slide] {
            let mut input = Input::default();
            input.drives.push((joint, Drive::at_rest(coordinate)));
            if input.n_unusable(model) == 0 {
                self.drives.push((joint, coordinate, name.to_owned()));
            }
        }
    }

    /// Appends the coordinates of all joints in a state, and their rates.
    pub(crate) fn push_readings(&self, model: &Mechanism, bodies: &Bodies, rates: bool, out: &mut Vec<f64>) {
        for (joint, span) in model.joints().zip(&self.spans).filter(|(_, span)| !span.is_empty()) {
            let reading = joint_reading(model, bodies, joint);
            out.extend(self.coordinates[span.clone()].iter().map(|(_, along)| read(&reading, *along, rates)));
        }
    }
}

fn read(reading: &JointReading, coordinate: Coordinate, rates: bool) -> f64 {
    match (coordinate, rates) {
        (Coordinate::Along(DriveCoordinate::Twist), false) => reading.twist,
        (Coordinate::Along(DriveCoordinate::Twist), true) => reading.twist_rate,
        (Coordinate::Along(DriveCoordinate::Slide), false) => reading.slide,
        (Coordinate::Along(DriveCoordinate::Slide), true) => reading.slide_rate,
        (Coordinate::Rotation(part), false) => reading.rotation[part],
        (Coordinate::Rotation(part), true) => reading.angular_rate[part],
    }
}

/// The coordinates of a kind of joint, as tables of motions have them.
fn coordinates(kind: JointKind) -> Vec<Coordinate> {
    let (twist, slide) =
        (Coordinate::Along(DriveCoordinate::Twist), Coordinate::Along(DriveCoordinate::Slide));
    let every = [0, 1, 2].map(Coordinate::Rotation);
    match kind {
        JointKind::Hinge | JointKind::Screw { .. } | JointKind::Planar => vec![twist],
        JointKind::Cylindrical => vec![twist, slide],
        JointKind::Prismatic => vec![slide],
        JointKind::PointOnLine => [&[slide][..], &every].concat(),
        JointKind::Fixed | JointKind::Orientation => Vec::new(),
        _ => every.to_vec(),
    }
}

fn part_name(coordinate: Coordinate) -> &'static str {
    match coordinate {
        Coordinate::Along(DriveCoordinate::Twist) => "angle",
        Coordinate::Along(DriveCoordinate::Slide) => "slide",
        Coordinate::Rotation(part) => ["x", "y", "z"][part],
    }
}

fn joints(model: &Mechanism, has: impl Fn(&Mechanism, JointId) -> bool) -> Vec<(JointId, String)> {
    let found = model.joints().filter(|joint| has(model, *joint));
    found.map(|joint| (joint, model.joint_name(joint).to_owned())).collect()
}

fn has_motor(model: &Mechanism, joint: JointId) -> bool {
    let mut input = Input::default();
    input.motors.push((joint, MotorTarget::default()));
    input.n_unusable(model) == 0
}

fn kinematic(model: &Mechanism) -> Vec<(BodyId, String)> {
    let found = model.bodies().filter(|body| model.body_kind(*body) == BodyKind::Kinematic);
    found.map(|body| (body, model.body_name(body).to_owned())).collect()
}

/// Muscles, as `flesh.muscle`.
fn muscles(world: &World) -> Vec<(MuscleId, String)> {
    let of_flesh = world
        .appearance()
        .flesh
        .iter()
        .flat_map(|flesh| flesh.muscles.iter().map(|muscle| (flesh.name.as_str(), muscle.as_str())));
    let found = of_flesh
        .filter_map(|(flesh, muscle)| Some((world.muscle(flesh, muscle)?, format!("{flesh}.{muscle}"))));
    found.collect()
}

/// A torque in the axes of frame 2 of a joint, from the efforts along its rotation vector.
pub(crate) fn torque(efforts: &[f64]) -> DVec3 {
    DVec3::from_slice(efforts)
}
