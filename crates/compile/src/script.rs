//! Recorded inputs of a scene, with names resolved: the input of each step.
//!
//! A step from `t` to `t + h` takes positions, targets and factors of tracks at its end, as an implicit step does.
//! What has a beginning and an end is on if the middle of the step is between them, so that rounding of `t` never
//! moves a switch by a step. Cost: each track is sampled once per step; nothing is allocated after the first step.

use glam::{DQuat, DVec3};
use sinew_math::{Force, Pose};
use sinew_mechanism::{BodyId, Drive, DriveCoordinate, Grab, Input, JointId, Model, MotorTarget, State};
use sinew_scene::{Track, TrackDoc, TrackPoint};

/// Recorded inputs.
#[derive(Clone, Debug, Default)]
pub struct Script {
    tracks: Vec<Track>,
    pub(crate) kinematic: Vec<KinematicInput>,
    pub(crate) grabs: Vec<GrabInput>,
    pub(crate) wrenches: Vec<WrenchInput>,
    pub(crate) motors: Vec<MotorInput>,
    pub(crate) drives: Vec<PrescribedInput>,
    /// Joints that hold for a time only.
    pub(crate) held: Vec<(JointId, TimeWindow)>,
    /// Factors on joint springs from a time on, s, in order.
    pub(crate) spring_scales: Vec<(f64, f64)>,
}

/// Middle and end of a step, s.
#[derive(Clone, Copy, Debug)]
pub struct StepTimes {
    middle: f64,
    end: f64,
}

impl StepTimes {
    /// The step that begins at `time`.
    pub fn beginning_at(time: f64, dt: f64) -> Self {
        Self { middle: time + 0.5 * dt, end: time + dt }
    }

    /// The step that led to `time`; at the start, what the first step finds switched on.
    pub fn ending_at(time: f64, dt: f64) -> Self {
        Self { middle: (time - 0.5 * dt).max(0.5 * dt), end: time }
    }
}

/// A time window, s.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeWindow {
    pub(crate) from: f64,
    pub(crate) to: f64,
}

impl TimeWindow {
    fn contains(&self, time: f64) -> bool {
        self.from <= time && time < self.to
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

/// A force and torque.
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

/// A coordinate that a track prescribes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrescribedInput {
    pub(crate) joint: JointId,
    pub(crate) coordinate: DriveCoordinate,
    pub(crate) track: usize,
}

impl Script {
    /// Nothing happens yet.
    pub(crate) fn new(tracks: &[TrackDoc]) -> Self {
        Self { tracks: tracks.iter().map(Track::new).collect(), ..Self::default() }
    }

    /// Writes the input of a step; `points` is scratch.
    pub fn fill(
        &self,
        model: &Model,
        state: &State,
        times: StepTimes,
        points: &mut Vec<TrackPoint>,
        input: &mut Input,
    ) {
        let middle = times.middle;
        points.clear();
        points.extend(self.tracks.iter().map(|track| track.sample(times.end)));

        input.kinematic.clear();
        input.kinematic.extend(self.kinematic.iter().map(|follow| {
            let point = &points[follow.track];
            (follow.body, Pose::new(point.rotation.unwrap_or(follow.rotation), point.position))
        }));
        input.grabs.clear();
        input.grabs.reserve(self.grabs.len());
        input.grabs.extend(self.grabs.iter().filter(|hold| hold.window.contains(middle)).map(|hold| Grab {
            body: hold.body,
            point: hold.point,
            target: points[hold.track].carry(hold.point),
            stiffness: hold.stiffness,
            damping: hold.damping,
        }));
        input.wrenches.clear();
        input.wrenches.reserve(self.wrenches.len());
        input.wrenches.extend(self.wrenches.iter().filter(|push| push.window.contains(middle)).map(|push| {
            let factor = push.track.map_or(1.0, |track| points[track].position.x);
            let com = model.center_of_mass(push.body);
            let arm = model.body_pose(state, push.body).rotation * (push.point.unwrap_or(com) - com);
            let force = push.force * factor;
            (push.body, Force::new(push.torque * factor + arm.cross(force), force))
        }));
        input.motors.clear();
        input.motors.extend(self.motors.iter().map(|goal| {
            let (value, rate) = (points[goal.track].position.x, points[goal.track].velocity.x);
            let (position, velocity) = if goal.is_rate { (0.0, value) } else { (value, rate) };
            (goal.joint, MotorTarget { position, velocity })
        }));
        input.drives.clear();
        input.drives.extend(self.drives.iter().map(|drive| {
            let point = &points[drive.track];
            let (value, rate, acceleration) = (point.position.x, point.velocity.x, point.acceleration.x);
            (drive.joint, Drive { coordinate: drive.coordinate, value, rate, acceleration })
        }));
        input.released.clear();
        input.released.reserve(self.held.len());
        let let_go = self.held.iter().filter(|(_, window)| !window.contains(middle));
        input.released.extend(let_go.map(|(joint, _)| *joint));
        let switched = self.spring_scales.iter().take_while(|(at, _)| *at <= middle).last();
        input.spring_scale = switched.map_or(1.0, |(_, scale)| *scale);
        input.loop_iterations = None;
    }
}
