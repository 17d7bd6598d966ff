//! Springs between points, tracks (curves over time), and recorded inputs. Plain data; m, rad, s, N.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::{omit::is_default, pose::RotationDoc};

document! {
    /// Linear spring between points of any two bodies, or of a body and the world: force along their line, zero at
    /// the rest length.
    pub struct SpringDoc {
        /// Unique among springs.
        pub name: String,
        /// One end.
        pub from: EndDoc,
        /// Other end.
        pub to: EndDoc,
        /// Stiffness (N/m).
        pub stiffness: f64,
        /// Damping along the line (N·s/m).
        [omit] pub damping: f64,
        /// Length without force (m).
        [omit] pub rest_length: f64,
    }
}

/// A point that something is tied to: an end of a spring, a point of a surface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum EndDoc {
    /// A point of the world (m).
    World(DVec3),
    /// A point of a body.
    Body {
        /// Name of the body.
        name: String,
        /// The point in the body frame (m).
        #[serde(default, skip_serializing_if = "is_default")]
        point: DVec3,
    },
}

impl Default for EndDoc {
    fn default() -> Self {
        Self::World(DVec3::ZERO)
    }
}

document! {
    /// A named curve over time.
    pub struct TrackDoc {
        /// Unique among tracks.
        pub name: String,
        /// How values between samples are found.
        [omit] pub interpolation: InterpolationDoc,
        /// The curve. Before the first and after the last sample it stands still.
        pub curve: CurveDoc,
    }
}

/// How values between samples are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum InterpolationDoc {
    /// Straight lines; rotations turn at constant rate.
    Linear,
    /// Smooth through every sample (continuous velocity); at rest at both ends.
    #[default]
    Cubic,
}

/// The curve of a track.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CurveDoc {
    /// Samples `(time [s], value)` of a scalar.
    Scalars(Vec<(f64, f64)>),
    /// Samples `(time [s], position [m])`, world axes.
    Points(Vec<(f64, DVec3)>),
    /// Samples `(time [s], position [m], rotation)`: `world_from_frame`.
    Poses(Vec<(f64, DVec3, RotationDoc)>),
    /// A sine about a centre.
    Sine(SineDoc),
    /// A circle at constant speed.
    Circle(CircleDoc),
}

impl Default for CurveDoc {
    fn default() -> Self {
        Self::Points(Vec::new())
    }
}

document! {
    /// `center + amplitude · sin(2π frequency t + phase)`; as a scalar, its x component.
    #[derive(Copy)]
    pub struct SineDoc {
        /// Middle of the swing (m, or rad for a scalar).
        pub center: DVec3,
        /// Largest excursion (m, or rad for a scalar).
        pub amplitude: DVec3,
        /// Swings per second (Hz).
        pub frequency_hz: f64,
        /// Phase at time 0 (rad).
        pub phase: f64,
    }
}

document! {
    /// A circle at constant speed, counter-clockwise about its normal.
    #[derive(Copy)]
    pub struct CircleDoc {
        /// Centre, world axes (m).
        pub center: DVec3,
        /// Where the motion is at time 0, relative to the centre, world axes (m); must be perpendicular to `normal`.
        pub start: DVec3 = DVec3::X,
        /// Axis of the circle, world axes, any non-zero length.
        pub normal: DVec3 = DVec3::Z,
        /// Turns per second (Hz).
        pub frequency_hz: f64 = 1.0,
    }
}

/// An external input, recorded so that runs repeat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum InputDoc {
    /// A kinematic body follows a track.
    Kinematic(KinematicDoc),
    /// A point of a body is pulled to a track by a spring, or held there.
    Grab(GrabDoc),
    /// A force and torque on a body.
    Wrench(WrenchDoc),
    /// Joint springs and dampers are scaled from a moment on.
    JointForces(JointForcesDoc),
    /// A point of flesh is pulled to a track by a spring, or held there.
    FleshGrab(FleshGrabDoc),
    /// A pressure on the surface of flesh.
    Pressure(PressureDoc),
    /// Wind on the surface of flesh.
    Wind(WindDoc),
}

document! {
    /// A kinematic body follows a track.
    pub struct KinematicDoc {
        /// Name of a body of kind `Kinematic`.
        pub body: String,
        /// Name of the track of its body frame; a track without rotations keeps the initial orientation.
        pub track: String,
    }
}

document! {
    /// A point of a body is pulled to a track by a spring of rest length zero.
    ///
    /// A track of poses is a moving body frame: the point is then pulled to the same point of that frame, so
    /// that three grabs on one track hold a body in place and orientation.
    ///
    /// `stiffness: inf` holds the point instead: a secondary constraint, which opens only where it contradicts
    /// the skeleton.
    pub struct GrabDoc {
        /// Name of a dynamic body.
        pub body: String,
        /// The point that is pulled, in the body frame (m).
        [omit] pub point: DVec3,
        /// Name of the track.
        pub track: String,
        /// Stiffness (N/m); `inf` holds the point rigidly.
        pub stiffness: f64,
        /// Damping (N·s/m); without meaning if the point is held.
        [omit] pub damping: f64,
        /// When it begins (s).
        [omit] pub from_s: f64,
        /// When it ends (s); never if left out.
        [omit] pub to_s: Option<f64>,
    }
}

document! {
    /// A force and torque on a body, in world axes.
    pub struct WrenchDoc {
        /// Name of a dynamic body.
        pub body: String,
        /// Where the force acts, in the body frame (m); the centre of mass if left out.
        [omit] pub point: Option<DVec3>,
        /// Force (N), world axes.
        [omit] pub force: DVec3,
        /// Torque (N·m), world axes, beside that of the force about the centre of mass.
        [omit] pub torque: DVec3,
        /// Name of a scalar track that multiplies both; 1 if left out.
        [omit] pub track: Option<String>,
        /// When it begins (s).
        [omit] pub from_s: f64,
        /// When it ends (s); never if left out.
        [omit] pub to_s: Option<f64>,
    }
}

document! {
    /// From `at_s` on, until the next switch, springs and dampers of all joints are multiplied by `scale`
    /// (limits and motors are not).
    #[derive(Copy)]
    pub struct JointForcesDoc {
        /// When (s).
        pub at_s: f64,
        /// Factor: 0 switches off, 1 is as written in the joints.
        pub scale: f64 = 1.0,
    }
}

document! {
    /// A point of flesh is pulled to a track by a spring of rest length zero, as a [`GrabDoc`] pulls a point of a body.
    pub struct FleshGrabDoc {
        /// Name of the flesh.
        pub flesh: String,
        /// The point that is pulled, on its skin or inside (m, frame of the mesh at rest).
        [omit] pub point: DVec3,
        /// The same as a tetrahedron and the weights of its nodes, in place of `point`.
        [omit] pub place: Option<(u32, [f64; 4])>,
        /// Name of the track.
        pub track: String,
        /// Stiffness (N/m); `inf` holds the point rigidly.
        pub stiffness: f64,
        /// Damping (N·s/m); without meaning if the point is held.
        [omit] pub damping: f64,
        /// When it begins (s).
        [omit] pub from_s: f64,
        /// When it ends (s); never if left out.
        [omit] pub to_s: Option<f64>,
    }
}

document! {
    /// A pressure along the outer normals of the surface of flesh, as it is deformed.
    pub struct PressureDoc {
        /// Name of the flesh.
        pub flesh: String,
        /// Name of the region over which it acts; the whole surface if left out.
        [omit] pub region: Option<String>,
        /// Pressure (Pa); positive pushes outwards.
        pub pressure: f64,
        /// Name of a scalar track that multiplies it; 1 if left out.
        [omit] pub track: Option<String>,
        /// When it begins (s).
        [omit] pub from_s: f64,
        /// When it ends (s); never if left out.
        [omit] pub to_s: Option<f64>,
    }
}

document! {
    /// Wind that drags each face of the surface of flesh with a force of `drag` times its area times the velocity of the air relative to it.
    pub struct WindDoc {
        /// Name of the flesh.
        pub flesh: String,
        /// Name of the region over which it acts; the whole surface if left out.
        [omit] pub region: Option<String>,
        /// Velocity of the air (m/s), world axes.
        pub velocity: DVec3,
        /// Force per area and relative speed (N·s/m³).
        pub drag: f64 = 1.0,
        /// Name of a scalar track that multiplies the velocity; 1 if left out.
        [omit] pub track: Option<String>,
        /// When it begins (s).
        [omit] pub from_s: f64,
        /// When it ends (s); never if left out.
        [omit] pub to_s: Option<f64>,
    }
}

impl InputDoc {
    /// The name of the body that it acts on; none for flesh and joints.
    pub fn body(&self) -> Option<&str> {
        match self {
            Self::Kinematic(input) => Some(&input.body),
            Self::Grab(input) => Some(&input.body),
            Self::Wrench(input) => Some(&input.body),
            Self::JointForces(_) | Self::FleshGrab(_) | Self::Pressure(_) | Self::Wind(_) => None,
        }
    }

    /// The same, to be changed.
    pub(crate) fn body_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Kinematic(input) => Some(&mut input.body),
            Self::Grab(input) => Some(&mut input.body),
            Self::Wrench(input) => Some(&mut input.body),
            Self::JointForces(_) | Self::FleshGrab(_) | Self::Pressure(_) | Self::Wind(_) => None,
        }
    }

    /// The name of the flesh that it acts on, and of a region of it.
    pub fn flesh(&self) -> Option<(&str, Option<&str>)> {
        match self {
            Self::FleshGrab(input) => Some((&input.flesh, None)),
            Self::Pressure(input) => Some((&input.flesh, input.region.as_deref())),
            Self::Wind(input) => Some((&input.flesh, input.region.as_deref())),
            Self::Kinematic(_) | Self::Grab(_) | Self::Wrench(_) | Self::JointForces(_) => None,
        }
    }

    /// The name of its track of points or poses, or else of numbers.
    pub fn tracks(&self) -> (Option<&str>, Option<&str>) {
        match self {
            Self::Kinematic(input) => (Some(&input.track), None),
            Self::Grab(input) => (Some(&input.track), None),
            Self::FleshGrab(input) => (Some(&input.track), None),
            Self::Wrench(input) => (None, input.track.as_deref()),
            Self::Pressure(input) => (None, input.track.as_deref()),
            Self::Wind(input) => (None, input.track.as_deref()),
            Self::JointForces(_) => (None, None),
        }
    }
}
