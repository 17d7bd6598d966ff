//! Recorded inputs of a scene, with names resolved: the input of each step.
//!
//! A step from `t` to `t + h` takes positions, targets and factors of tracks at its end, as an implicit step does. An entry with a time
//! window acts if the middle of the step is inside it, so rounding of `t` never moves a switch by a step. A kinematic body without a track
//! moves on from where it is with the velocity that it begins with. Cost: each track is
//! sampled once per step; nothing is allocated after the first step.

use glam::{DQuat, DVec3};
use sinew_math::{Force, Motion, Pose};
use sinew_mechanism::{
    BodyId, Drive, DriveCoordinate, Grab, Input, JointId, Model, MotorTarget, MuscleId, State,
    TransmissionId, coasting,
};
use sinew_scene::{Track, TrackDoc, TrackPoint};

use crate::skin_script::{SkinScript, TimeWindow};

/// Recorded inputs.
#[derive(Clone, Debug, Default)]
pub struct Script {
    tracks: Vec<Track>,
    pub(crate) kinematic: Vec<KinematicInput>,
    pub(crate) grabs: Vec<GrabInput>,
    pub(crate) wrenches: Vec<WrenchInput>,
    pub(crate) skin: SkinScript,
    pub(crate) motors: Vec<MotorInput>,
    pub(crate) drives: Vec<PrescribedInput>,
    /// Ropes and the tracks of their lengths.
    pub(crate) winches: Vec<(TransmissionId, usize)>,
    /// Muscles that are not always relaxed, and what activates them.
    pub(crate) muscles: Vec<(MuscleId, ActivationInput)>,
    /// Joints that hold for a time only.
    pub(crate) held: Vec<(JointId, TimeWindow)>,
    /// Factors on joint springs from a time on, s, in order.
    pub(crate) spring_scales: Vec<(f64, f64)>,
}

/// The times of a step at which a script is read, s.
#[derive(Clone, Copy, Debug)]
pub struct ScriptTimes {
    middle: f64,
    end: f64,
}

impl ScriptTimes {
    /// The step that begins at `time`.
    pub fn beginning_at(time: f64, dt: f64) -> Self {
        Self { middle: time + 0.5 * dt, end: time + dt }
    }

    /// The step that led to `time`; at the start, entries of the first step are switched on.
    pub fn ending_at(time: f64, dt: f64) -> Self {
        Self { middle: (time - 0.5 * dt).max(0.5 * dt), end: time }
    }
}

/// A body on a track.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KinematicInput {
    pub(crate) body: BodyId,
    pub(crate) track: usize,
    /// Orientation on tracks that have none.
    pub(crate) rotation: DQuat,
}

/// A point pulled to a track.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GrabInput {
    pub(crate) body: BodyId,
    pub(crate) point: DVec3,
    pub(crate) track: usize,
    pub(crate) stiffness: f64,
    pub(crate) damping: f64,
    pub(crate) window: TimeWindow,
}

/// A force and torque on a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrenchInput {
    pub(crate) body: BodyId,
    /// In the body frame; the centre of mass if absent.
    pub(crate) point: Option<DVec3>,
    pub(crate) force: DVec3,
    pub(crate) torque: DVec3,
    pub(crate) track: Option<usize>,
    pub(crate) window: TimeWindow,
}

/// A motor whose target is a track.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MotorInput {
    pub(crate) joint: JointId,
    pub(crate) track: usize,
    /// The track gives a rate, not a position.
    pub(crate) is_rate: bool,
}

/// What activates a muscle.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ActivationInput {
    /// Always the same.
    Value(f64),
    /// A track, cut off at 0 and 1.
    Track(usize),
}

/// A coordinate that a track prescribes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrescribedInput {
    pub(crate) joint: JointId,
    pub(crate) coordinate: DriveCoordinate,
    pub(crate) track: usize,
}

impl Script {
    /// A script with tracks and no entries.
    pub(crate) fn new(tracks: &[TrackDoc]) -> Self {
        Self { tracks: tracks.iter().map(Track::new).collect(), ..Self::default() }
    }

    /// Writes the input of a step; `points` is scratch.
    pub fn fill(
        &self,
        model: &Model,
        state: &State,
        times: ScriptTimes,
        points: &mut Vec<TrackPoint>,
        input: &mut Input,
    ) {
        points.clear();
        points.extend(self.tracks.iter().map(|track| track.sample(times.end)));
        self.fill_bodies(times.middle, points, input);
        self.fill_coasting((model, state), times.end, input);
        self.fill_wrenches(model, state, times.middle, points, input);
        self.fill_joints(times.middle, points, input);
        self.skin.fill(times.middle, points, &mut input.skin);
        input.loop_iterations = None;
    }

    /// Kinematic bodies and grabs.
    fn fill_bodies(&self, middle: f64, points: &[TrackPoint], input: &mut Input) {
        input.kinematic.clear();
        input.kinematic.extend(self.kinematic.iter().map(|entry| {
            let point = &points[entry.track];
            (entry.body, Pose::new(point.rotation.unwrap_or(entry.rotation), point.position))
        }));
        input.kinematic_twists.clear();
        input.kinematic_twists.extend(self.kinematic.iter().map(|entry| {
            let point = &points[entry.track];
            (entry.body, Motion::new(point.angular_velocity, point.velocity))
        }));
        input.grabs.clear();
        input.grabs.reserve(self.grabs.len());
        input.grabs.extend(self.grabs.iter().filter(|grab| grab.window.contains(middle)).map(|grab| Grab {
            body: grab.body,
            point: grab.point,
            target: points[grab.track].carry(grab.point),
            stiffness: grab.stiffness,
            damping: grab.damping,
        }));
    }

    /// Kinematic bodies without a track that begin with a velocity keep it.
    fn fill_coasting(&self, (model, state): (&Model, &State), end: f64, input: &mut Input) {
        let is_led = |body: BodyId| self.kinematic.iter().any(|entry| entry.body == body);
        for (body, pose, twist) in coasting(model, state, end - state.time).filter(|entry| !is_led(entry.0)) {
            input.kinematic.push((body, pose));
            input.kinematic_twists.push((body, twist));
        }
    }

    /// Forces and torques on bodies.
    fn fill_wrenches(
        &self,
        model: &Model,
        state: &State,
        middle: f64,
        points: &[TrackPoint],
        input: &mut Input,
    ) {
        input.wrenches.clear();
        input.wrenches.reserve(self.wrenches.len());
        input.wrenches.extend(self.wrenches.iter().filter(|entry| entry.window.contains(middle)).map(
            |entry| {
                let factor = entry.track.map_or(1.0, |track| points[track].position.x);
                let com = model.center_of_mass(entry.body);
                let arm = model.body_pose(state, entry.body).rotation * (entry.point.unwrap_or(com) - com);
                let force = entry.force * factor;
                (entry.body, Force::new(entry.torque * factor + arm.cross(force), force))
            },
        ));
    }

    /// Motors, drives, winches, muscles, released joints and the scale of joint springs.
    fn fill_joints(&self, middle: f64, points: &[TrackPoint], input: &mut Input) {
        input.motors.clear();
        input.motors.extend(self.motors.iter().map(|motor| {
            let (value, rate) = (points[motor.track].position.x, points[motor.track].velocity.x);
            let (position, velocity) = if motor.is_rate { (0.0, value) } else { (value, rate) };
            (motor.joint, MotorTarget { position, velocity, ..MotorTarget::default() })
        }));
        input.drives.clear();
        input.drives.extend(self.drives.iter().map(|drive| {
            let point = &points[drive.track];
            let (value, rate, acceleration) = (point.position.x, point.velocity.x, point.acceleration.x);
            (drive.joint, Drive { coordinate: drive.coordinate, value, rate, acceleration })
        }));
        input.lengths.clear();
        input.lengths.extend(self.winches.iter().map(|&(rope, track)| {
            let point = &points[track];
            (
                rope,
                MotorTarget {
                    position: point.position.x,
                    velocity: point.velocity.x,
                    ..MotorTarget::default()
                },
            )
        }));
        input.activations.clear();
        input.activations.extend(self.muscles.iter().map(|&(muscle, given)| match given {
            ActivationInput::Value(value) => (muscle, value),
            ActivationInput::Track(track) => (muscle, points[track].position.x.clamp(0.0, 1.0)),
        }));
        input.released.clear();
        input.released.reserve(self.held.len());
        let released = self.held.iter().filter(|(_, window)| !window.contains(middle));
        input.released.extend(released.map(|(joint, _)| *joint));
        let switched = self.spring_scales.iter().take_while(|(at, _)| *at <= middle).last();
        input.spring_scale = switched.map_or(1.0, |(_, scale)| *scale);
    }
}
