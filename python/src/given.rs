//! What Python adds to the recorded inputs of a scene: arrays with a row per member, and how a row becomes part of the input of a step.
//!
//! Efforts and wrenches add to those of the scene. Targets, drives, poses of kinematic bodies, activations and the scale of springs replace those of the
//! scene where they are numbers; `NaN` leaves the scene's. Cost: linear in what is given.

use glam::DVec3;
use sinew_math::Force;
use sinew_mechanism::{BodyId, Drive, Input, Model as Mechanism, MotorTarget, State as Bodies};

use crate::layout::{Coordinate, Layout, torque};
use crate::vectors::pose;

/// The arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GivenArray {
    Efforts,
    Targets,
    TargetRates,
    TargetForces,
    Forces,
    Torques,
    Drives,
    DriveRates,
    Kinematic,
    Activations,
    SpringScale,
}

impl GivenArray {
    pub(crate) const ALL: [Self; 11] = [
        Self::Efforts,
        Self::Targets,
        Self::TargetRates,
        Self::TargetForces,
        Self::Forces,
        Self::Torques,
        Self::Drives,
        Self::DriveRates,
        Self::Kinematic,
        Self::Activations,
        Self::SpringScale,
    ];

    /// Its name in Python.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Efforts => "efforts",
            Self::Targets => "targets",
            Self::TargetRates => "target_rates",
            Self::TargetForces => "target_forces",
            Self::Forces => "forces",
            Self::Torques => "torques",
            Self::Drives => "drives",
            Self::DriveRates => "drive_rates",
            Self::Kinematic => "kinematic",
            Self::Activations => "activations",
            Self::SpringScale => "spring_scale",
        }
    }

    /// The shape of the row of a member.
    pub(crate) fn shape(self, layout: &Layout) -> Vec<usize> {
        match self {
            Self::Efforts => vec![layout.coordinates.len()],
            Self::Targets | Self::TargetRates | Self::TargetForces => vec![layout.motors.len()],
            Self::Forces | Self::Torques => vec![layout.bodies.len(), 3],
            Self::Drives | Self::DriveRates => vec![layout.drives.len()],
            Self::Kinematic => vec![layout.kinematic.len(), 7],
            Self::Activations => vec![layout.muscles.len()],
            Self::SpringScale => Vec::new(),
        }
    }

    /// The number that changes nothing.
    pub(crate) fn blank(self) -> f64 {
        if matches!(self, Self::Efforts | Self::Forces | Self::Torques) { 0.0 } else { f64::NAN }
    }

    /// Whether a number may be there: finite, or missing.
    pub(crate) fn takes(self, number: f64) -> bool {
        number.is_finite() || (number.is_nan() && self.blank().is_nan())
    }
}

/// The arrays that were used, for a number of members.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    arrays: Vec<(GivenArray, Vec<f64>)>,
    n_members: usize,
}

impl Given {
    pub(crate) fn of(n_members: usize) -> Self {
        Self { arrays: Vec::new(), n_members }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.arrays.is_empty()
    }

    /// Begins anew, and keeps the memory: the numbers of an array, to be filled.
    pub(crate) fn numbers(&mut self, array: GivenArray) -> &mut Vec<f64> {
        let at = self.arrays.iter().position(|(kind, _)| *kind == array).unwrap_or_else(|| {
            self.arrays.push((array, Vec::new()));
            self.arrays.len() - 1
        });
        &mut self.arrays[at].1
    }

    fn row(&self, array: GivenArray, member: usize) -> &[f64] {
        let found = self.arrays.iter().find(|(kind, _)| *kind == array);
        let Some((_, numbers)) = found else { return &[] };
        let width = numbers.len() / self.n_members.max(1);
        &numbers[member * width..(member + 1) * width]
    }

    /// Adds what is given to a member to the input of its next step.
    pub(crate) fn add(
        &self,
        member: usize,
        layout: &Layout,
        (model, bodies): (&Mechanism, &Bodies),
        input: &mut Input,
    ) {
        self.add_wrenches(member, input);
        self.add_efforts(member, layout, (model, bodies), input);
        self.add_targets(member, layout, input);
        for ((body, _), row) in layout.kinematic.iter().zip(self.row(GivenArray::Kinematic, member).chunks(7))
        {
            if let Some(pose) = pose(row) {
                put(&mut input.kinematic, *body, pose);
                input.kinematic_twists.retain(|(other, _)| other != body);
            }
        }
        for ((muscle, _), &value) in layout.muscles.iter().zip(self.row(GivenArray::Activations, member)) {
            if !value.is_nan() {
                put(&mut input.activations, *muscle, value.clamp(0.0, 1.0));
            }
        }
        if let [scale] = *self.row(GivenArray::SpringScale, member)
            && !scale.is_nan()
        {
            input.spring_scale = scale;
        }
    }

    fn add_wrenches(&self, member: usize, input: &mut Input) {
        let (forces, torques) = (self.row(GivenArray::Forces, member), self.row(GivenArray::Torques, member));
        let vector =
            |row: &[f64], body: usize| row.get(3 * body..3 * body + 3).map_or(DVec3::ZERO, DVec3::from_slice);
        for body in 0..forces.len().max(torques.len()) / 3 {
            let wrench = Force::new(vector(torques, body), vector(forces, body));
            if wrench != Force::ZERO {
                input.wrenches.push((BodyId::from_index(body), wrench));
            }
        }
    }

    fn add_efforts(
        &self,
        member: usize,
        layout: &Layout,
        (model, bodies): (&Mechanism, &Bodies),
        input: &mut Input,
    ) {
        let efforts = self.row(GivenArray::Efforts, member);
        if efforts.is_empty() {
            return;
        }
        for span in &layout.spans {
            let of_joint = &efforts[span.clone()];
            if of_joint.iter().all(|effort| is_zero(*effort)) {
                continue;
            }
            for (k, (joint, coordinate)) in layout.coordinates[span.clone()].iter().enumerate() {
                match coordinate {
                    Coordinate::Along(along) => input.add_effort(model, bodies, *joint, *along, of_joint[k]),
                    Coordinate::Rotation(0) => {
                        let wrench = Force::new(torque(&of_joint[k..]), DVec3::ZERO);
                        input.add_joint_wrench(model, bodies, *joint, wrench);
                    }
                    Coordinate::Rotation(_) => {}
                }
            }
        }
    }

    /// Targets of motors, and values of drives.
    fn add_targets(&self, member: usize, layout: &Layout, input: &mut Input) {
        let rows = [GivenArray::Targets, GivenArray::TargetRates, GivenArray::TargetForces]
            .map(|array| self.row(array, member));
        if rows.iter().any(|row| !row.is_empty()) {
            for (k, (joint, _)) in layout.motors.iter().enumerate() {
                let [position, velocity, force] = rows.map(|row| row.get(k).copied().unwrap_or(f64::NAN));
                if !(position.is_nan() && velocity.is_nan() && force.is_nan()) {
                    let [position, velocity, force] = [position, velocity, force].map(or_zero);
                    put(&mut input.motors, *joint, MotorTarget { position, velocity, force });
                }
            }
        }
        let (values, rates) =
            (self.row(GivenArray::Drives, member), self.row(GivenArray::DriveRates, member));
        for (k, (joint, coordinate, _)) in layout.drives.iter().enumerate() {
            let [value, rate] = [values, rates].map(|row| row.get(k).copied().unwrap_or(f64::NAN));
            if !value.is_nan() {
                input.drives.retain(|(other, drive)| other != joint || drive.coordinate != *coordinate);
                let drive = Drive { coordinate: *coordinate, value, rate: or_zero(rate), acceleration: 0.0 };
                input.drives.push((*joint, drive));
            }
        }
    }
}

fn is_zero(number: f64) -> bool {
    number.to_bits() << 1 == 0
}

fn or_zero(number: f64) -> f64 {
    if number.is_nan() { 0.0 } else { number }
}

/// Replaces what a list has for a key.
fn put<K: Copy + PartialEq, V>(list: &mut Vec<(K, V)>, key: K, value: V) {
    list.retain(|(other, _)| *other != key);
    list.push((key, value));
}
