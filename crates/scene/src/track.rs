//! Evaluation of tracks: position, velocity, acceleration, rotation and angular velocity at a time.
//!
//! Linear: straight lines between samples. Cubic: Hermite pieces p(u) on each interval of length h, whose
//! tangent at a sample is that of the parabola through it and its neighbours,
//! m = (h₊ d₋ + h₋ d₊)/(h₋ + h₊) with slopes d∓ of the intervals before and after, and zero at both ends.
//! Rotations use the same pieces on φ = log(R₀ᵀ R), so that the angular velocity is continuous too: the
//! tangent at the far end is Jr⁻¹(φ₁) ω₁ (docs/maths, rigid body).
//!
//! Before the first sample and after the last one the track is at rest. Everything that does not depend on time is computed
//! once, by [`Track::new`]. Cost of a sample: a binary search and about 50 flops, for poses an exponential more; no
//! allocation. No track panics; one without samples is at rest at the origin.

use glam::{DQuat, DVec3};
use sinew_math::{exp_so3, left_jacobian, log_so3, ops, right_jacobian_inverse};
use std::f64::consts::TAU;

use crate::doc::{CircleDoc, CurveDoc, InterpolationDoc, SineDoc, TrackDoc};

/// A track at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TrackPoint {
    /// Position, world axes (m); the value of a scalar track is in x.
    pub position: DVec3,
    /// Its rate (m/s).
    pub velocity: DVec3,
    /// The rate of that (m/s²).
    pub acceleration: DVec3,
    /// Orientation, `world_from_frame`, if the track has one.
    pub rotation: Option<DQuat>,
    /// Its angular velocity in world axes (rad/s).
    pub angular_velocity: DVec3,
}

impl TrackPoint {
    /// A point of the moving frame in the world; without rotation, the position itself.
    pub fn carry(&self, point: DVec3) -> DVec3 {
        self.position + self.rotation.map_or(DVec3::ZERO, |rotation| rotation * point)
    }
}

impl TrackDoc {
    /// Whether the value is one number.
    pub fn is_scalar(&self) -> bool {
        matches!(self.curve, CurveDoc::Scalars(_) | CurveDoc::Sine(_))
    }

    /// Times of the samples (s); none for formulas.
    pub fn sample_times(&self) -> impl Iterator<Item = f64> {
        (0..self.curve.n_samples()).map(|k| self.curve.sample_time(k))
    }

    /// Whether the value is a pose.
    pub fn is_pose(&self) -> bool {
        matches!(self.curve, CurveDoc::Poses(_))
    }

    /// Whether the value is a position.
    pub fn is_position(&self) -> bool {
        !matches!(self.curve, CurveDoc::Scalars(_))
    }
}

/// A track, prepared for evaluation.
#[derive(Clone, Debug)]
pub struct Track {
    course: Course,
}

#[derive(Clone, Debug)]
enum Course {
    Sine(SineDoc),
    Circle(CircleDoc),
    Samples(Box<TrackSamples>),
}

/// The pieces between samples.
#[derive(Clone, Debug, Default)]
struct TrackSamples {
    interpolation: InterpolationDoc,
    times: Vec<f64>,
    /// At rest before the first sample and after the last.
    ends: [TrackPoint; 2],
    /// One fewer than the samples.
    spans: Vec<Span>,
    /// As many as there are spans, or none on tracks without rotation.
    turns: Vec<Turn>,
}

/// The positions between two samples.
#[derive(Clone, Copy, Debug)]
struct Span {
    duration: f64,
    from: DVec3,
    step: DVec3,
    /// Velocities at both ends.
    tangents: [DVec3; 2],
}

/// The rotations between two samples.
#[derive(Clone, Copy, Debug)]
struct Turn {
    from: DQuat,
    phi: DVec3,
    /// Rates of the rotation vector at both ends.
    tangents: [DVec3; 2],
}

impl Track {
    /// Prepares a track.
    pub fn new(doc: &TrackDoc) -> Self {
        let course = match &doc.curve {
            CurveDoc::Sine(sine) => Course::Sine(*sine),
            CurveDoc::Circle(circle) => Course::Circle(*circle),
            samples => Course::Samples(Box::new(TrackSamples::new(samples, doc.interpolation))),
        };
        Self { course }
    }

    /// The track at `time` (s).
    #[inline]
    pub fn sample(&self, time: f64) -> TrackPoint {
        match &self.course {
            Course::Sine(sine) => sine_at(sine, time),
            Course::Circle(circle) => circle_at(circle, time),
            Course::Samples(samples) => samples.at(time),
        }
    }
}

impl TrackSamples {
    fn new(curve: &CurveDoc, interpolation: InterpolationDoc) -> Self {
        let n = curve.n_samples();
        let Some(last) = n.checked_sub(1) else { return Self::default() };
        let mut out =
            Self { interpolation, times: (0..n).map(|i| curve.knot(i).time).collect(), ..Self::default() };
        out.ends = [0, last].map(|i| {
            let Knot { position, rotation, .. } = curve.knot(i);
            TrackPoint { position, rotation, ..TrackPoint::default() }
        });
        for i in 0..last {
            let (a, b) = (curve.knot(i), curve.knot(i + 1));
            let ((velocity_a, spin_a), (velocity_b, spin_b)) =
                (curve.tangents(i, last), curve.tangents(i + 1, last));
            out.spans.push(Span {
                duration: b.time - a.time,
                from: a.position,
                step: b.position - a.position,
                tangents: [velocity_a, velocity_b],
            });
            if let (Some(from), Some(to)) = (a.rotation, b.rotation) {
                let phi = turn(from, to);
                let tangents = [spin_a, right_jacobian_inverse(phi) * spin_b];
                out.turns.push(Turn { from, phi, tangents });
            }
        }
        out
    }

    #[inline]
    fn at(&self, time: f64) -> TrackPoint {
        // The interval [i, i + 1] that holds the time.
        let after = self.times.partition_point(|&t| t <= time);
        if after == 0 || after >= self.times.len() {
            return self.ends[usize::from(after > 0)];
        }
        let i = after - 1;
        let span = &self.spans[i];
        let elapsed = time - self.times[i];
        let piece = match self.interpolation {
            InterpolationDoc::Linear => CurvePiece::straight(elapsed, span.duration),
            InterpolationDoc::Cubic => CurvePiece::cubic(elapsed, span.duration),
        };
        let [position, velocity, acceleration] = piece.blend(span.step, span.tangents);
        let mut point =
            TrackPoint { position: span.from + position, velocity, acceleration, ..TrackPoint::default() };
        if let Some(turn) = self.turns.get(i) {
            let [turned, rate, _] = piece.blend(turn.phi, turn.tangents);
            point.rotation = Some(turn.from * exp_so3(turned));
            point.angular_velocity = turn.from * (left_jacobian(turned) * rate);
        }
        point
    }
}

/// One sample.
struct Knot {
    time: f64,
    position: DVec3,
    rotation: Option<DQuat>,
}

impl CurveDoc {
    /// Number of samples; 0 for formulas.
    pub(crate) fn n_samples(&self) -> usize {
        match self {
            Self::Scalars(samples) => samples.len(),
            Self::Points(samples) => samples.len(),
            Self::Poses(samples) => samples.len(),
            Self::Sine(_) | Self::Circle(_) => 0,
        }
    }

    /// Time of a sample (s).
    pub(crate) fn sample_time(&self, i: usize) -> f64 {
        self.knot(i).time
    }

    fn knot(&self, i: usize) -> Knot {
        match self {
            Self::Scalars(samples) => {
                Knot { time: samples[i].0, position: DVec3::X * samples[i].1, rotation: None }
            }
            Self::Points(samples) => Knot { time: samples[i].0, position: samples[i].1, rotation: None },
            Self::Poses(samples) => {
                let (time, position, rotation) = samples[i];
                Knot { time, position, rotation: Some(rotation.to_quat()) }
            }
            Self::Sine(_) | Self::Circle(_) => Knot { time: 0.0, position: DVec3::ZERO, rotation: None },
        }
    }

    /// Velocity and angular velocity (in the axes of the sample) at sample `i`; zero at both ends.
    fn tangents(&self, i: usize, last: usize) -> (DVec3, DVec3) {
        if i == 0 || i == last {
            return (DVec3::ZERO, DVec3::ZERO);
        }
        let (before, here, after) = (self.knot(i - 1), self.knot(i), self.knot(i + 1));
        let (h0, h1) = (here.time - before.time, after.time - here.time);
        // m = (h₊ d₋ + h₋ d₊)/(h₋ + h₊)
        let mix = |d0: DVec3, d1: DVec3| (d0 * (h1 / h0) + d1 * (h0 / h1)) / (h0 + h1);
        let spin = match (before.rotation, here.rotation, after.rotation) {
            (Some(r0), Some(r1), Some(r2)) => mix(turn(r0, r1), turn(r1, r2)),
            _ => DVec3::ZERO,
        };
        (mix(here.position - before.position, after.position - here.position), spin)
    }
}

/// Rotation vector that turns `from` into `to`, in the axes of `from` (and equally of `to`).
fn turn(from: DQuat, to: DQuat) -> DVec3 {
    log_so3(from.conjugate() * to)
}

/// Weights of (far end, tangent at the near end, tangent at the far end), and their first two rates.
struct CurvePiece {
    weights: [[f64; 3]; 3],
}

impl CurvePiece {
    /// Weights u, 0, 0.
    #[inline]
    fn straight(elapsed: f64, h: f64) -> Self {
        Self { weights: [[elapsed / h, 0.0, 0.0], [1.0 / h, 0.0, 0.0], [0.0; 3]] }
    }

    /// Hermite weights 3u² − 2u³, h(u − 2u² + u³), h(u³ − u²).
    #[inline]
    fn cubic(elapsed: f64, h: f64) -> Self {
        let u = elapsed / h;
        let (u2, u3) = (u * u, u * u * u);
        Self {
            weights: [
                [3.0 * u2 - 2.0 * u3, h * (u - 2.0 * u2 + u3), h * (u3 - u2)],
                [(6.0 * u - 6.0 * u2) / h, 1.0 - 4.0 * u + 3.0 * u2, 3.0 * u2 - 2.0 * u],
                [(6.0 - 12.0 * u) / (h * h), (6.0 * u - 4.0) / h, (6.0 * u - 2.0) / h],
            ],
        }
    }

    #[inline]
    fn blend(&self, step: DVec3, [tangent_a, tangent_b]: [DVec3; 2]) -> [DVec3; 3] {
        self.weights.map(|[w, a, b]| step * w + tangent_a * a + tangent_b * b)
    }
}

#[inline]
fn sine_at(sine: &SineDoc, time: f64) -> TrackPoint {
    let rate = TAU * sine.frequency_hz;
    let (sin, cos) = ops::sin_cos(rate * time + sine.phase);
    TrackPoint {
        position: sine.center + sine.amplitude * sin,
        velocity: sine.amplitude * (rate * cos),
        acceleration: sine.amplitude * (-rate * rate * sin),
        ..TrackPoint::default()
    }
}

#[inline]
fn circle_at(circle: &CircleDoc, time: f64) -> TrackPoint {
    let rate = TAU * circle.frequency_hz;
    let (sin, cos) = ops::sin_cos(rate * time);
    let across = circle.normal.normalize_or_zero().cross(circle.start);
    let spoke = circle.start * cos + across * sin;
    TrackPoint {
        position: circle.center + spoke,
        velocity: (across * cos - circle.start * sin) * rate,
        acceleration: spoke * (-rate * rate),
        ..TrackPoint::default()
    }
}
