//! Measures of a motion over a run: heights, turns, travel, effort (the `motions` of an `expect` block).
//!
//! Heights are above the origin, against the present gravity (along z without). Angles are integrated from the angular velocity at the end of each step, so that many turns count.
//! Cost: per step one pass over the surface of each flesh that is asked about.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sinew_contact::{ContactEvent, TouchPhase, TouchSide};
use sinew_engine::StepReport;
use sinew_mechanism::BodyId;
use sinew_scene::{ExpectMotionDoc, MeasureDoc};

use crate::{expectation::Expectation, world::World};

/// All measures of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MotionMeter {
    gauges: Vec<Gauge>,
    /// Scratch.
    #[serde(skip)]
    surface: Vec<DVec3>,
}

/// One measure; what it is about is absent if nothing has that name.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Gauge {
    Airborne { flesh: Option<usize>, clearance: f64, now: f64, longest: f64 },
    Apex { flesh: Option<usize>, highest: f64 },
    Turned { body: Option<BodyId>, axis: DVec3, angle: f64, largest: f64 },
    Travelled { body: Option<BodyId>, start: DVec3, way: f64 },
    Lowest { body: Option<BodyId>, height: f64 },
    Missed { from: f64, most: f64 },
    Effort { is_torque: bool, sum: f64, n: f64 },
    Touch { names: [String; 2], begins: f64, time: f64 },
}

impl MotionMeter {
    /// Begins at the present state of a world.
    pub(crate) fn new(expected: &[ExpectMotionDoc], world: &World) -> Self {
        let place = |body: Option<BodyId>| body.map_or(DVec3::NAN, |body| world.pose(body).translation);
        let gauge = |doc: &ExpectMotionDoc| match &doc.measure {
            MeasureDoc::Airborne { flesh, clearance_m } => {
                Gauge::Airborne { flesh: world.flesh(flesh), clearance: *clearance_m, now: 0.0, longest: 0.0 }
            }
            MeasureDoc::Apex { flesh } => {
                Gauge::Apex { flesh: world.flesh(flesh), highest: f64::NEG_INFINITY }
            }
            MeasureDoc::Turned { body, axis } | MeasureDoc::NetTurn { body, axis } => {
                let (body, axis) = (world.body(body), axis.normalize_or_zero());
                Gauge::Turned { body, axis, angle: 0.0, largest: 0.0 }
            }
            MeasureDoc::Travelled { body } => {
                let body = world.body(body);
                Gauge::Travelled { body, start: place(body), way: 0.0 }
            }
            MeasureDoc::Lowest { body } => Gauge::Lowest { body: world.body(body), height: f64::INFINITY },
            MeasureDoc::Touches { a, b } | MeasureDoc::TouchTime { a, b } => {
                Gauge::Touch { names: [a.clone(), b.clone()], begins: 0.0, time: 0.0 }
            }
            MeasureDoc::Missed { from_s } => Gauge::Missed { from: *from_s, most: 0.0 },
            MeasureDoc::Torque => Gauge::Effort { is_torque: true, sum: 0.0, n: 0.0 },
            MeasureDoc::Acceleration => Gauge::Effort { is_torque: false, sum: 0.0, n: 0.0 },
        };
        Self { gauges: expected.iter().map(gauge).collect(), surface: Vec::new() }
    }

    /// Looks at the world after a step.
    pub(crate) fn observe(&mut self, world: &World, report: &StepReport) {
        let Self { gauges, surface } = self;
        let dt = world.settings().dt;
        let up = (-world.settings().gravity).normalize_or(DVec3::Z);
        for gauge in gauges {
            match gauge {
                Gauge::Airborne { flesh, clearance, now, longest } => {
                    let is_up = lowest(world, *flesh, up, surface) > *clearance;
                    *now = if is_up { *now + dt } else { 0.0 };
                    *longest = longest.max(*now);
                }
                Gauge::Apex { flesh, highest } => *highest = highest.max(lowest(world, *flesh, up, surface)),
                Gauge::Turned { body, axis, angle, largest } => {
                    let spin =
                        body.map_or(DVec3::NAN, |body| world.state().bodies.motions[body.index()].angular);
                    *angle += spin.dot(*axis) * dt;
                    *largest = if angle.is_nan() { f64::NAN } else { largest.max(angle.abs()) };
                }
                Gauge::Travelled { body, start, way } => {
                    let now = body.map_or(DVec3::NAN, |body| world.pose(body).translation);
                    *way = (now - *start).reject_from_normalized(up).length();
                }
                Gauge::Lowest { body, height } => {
                    let center =
                        body.map_or(DVec3::NAN, |body| world.state().bodies.poses[body.index()].translation);
                    let above = center.dot(up);
                    *height = if above.is_nan() { f64::NAN } else { height.min(above) };
                }
                Gauge::Touch { names, begins, time } => {
                    let events = || world.events().iter().filter(|event| is_between(world, event, names));
                    *begins += events().filter(|event| event.phase == TouchPhase::Begin).count() as f64;
                    let touch = events().any(|event| event.phase != TouchPhase::End);
                    *time += if touch { dt } else { 0.0 };
                }
                Gauge::Missed { from, most } => {
                    // as it was when the step began
                    let missed = report.effort.goal_distance;
                    *most = if report.time - dt < *from { *most } else { most.max(missed) };
                }
                Gauge::Effort { is_torque, sum, n } => {
                    let effort = &report.effort;
                    *sum += if *is_torque { effort.torque_square } else { effort.acceleration_square };
                    *n += 1.0;
                }
            }
        }
    }

    /// Every bound and how it fared.
    pub(crate) fn finish(&self, expected: &[ExpectMotionDoc]) -> Vec<Expectation> {
        let mut out = Vec::new();
        for (doc, gauge) in expected.iter().zip(&self.gauges) {
            let (what, measured) = gauge.reading(&doc.measure);
            out.extend(doc.at_least.map(|limit| Expectation::at_least(what.clone(), measured, limit)));
            out.extend(doc.at_most.map(|limit| Expectation::at_most(what.clone(), measured, limit)));
        }
        out
    }
}

impl Gauge {
    fn reading(&self, measure: &MeasureDoc) -> (String, f64) {
        let value = match self {
            Self::Airborne { longest, .. } => *longest,
            Self::Apex { highest, .. } => *highest,
            Self::Turned { angle, .. } if matches!(measure, MeasureDoc::NetTurn { .. }) => angle.abs(),
            Self::Turned { largest, .. } => *largest,
            Self::Travelled { way, .. } => *way,
            Self::Lowest { height, .. } => *height,
            Self::Touch { begins, .. } if matches!(measure, MeasureDoc::Touches { .. }) => *begins,
            Self::Touch { time, .. } => *time,
            Self::Missed { most, .. } => *most,
            Self::Effort { sum, n, .. } => (sum / n).sqrt(),
        };
        let what = match measure {
            MeasureDoc::Airborne { flesh, clearance_m } => {
                format!("time of {flesh} above {clearance_m} m [s]")
            }
            MeasureDoc::Apex { flesh } => format!("apex of {flesh} [m]"),
            MeasureDoc::Turned { body, .. } => format!("turn of {body} [rad]"),
            MeasureDoc::NetTurn { body, .. } => format!("turn of {body} at the end [rad]"),
            MeasureDoc::Travelled { body } => format!("travel of {body} [m]"),
            MeasureDoc::Lowest { body } => format!("lowest height of {body} [m]"),
            MeasureDoc::Touches { a, b } => format!("touches of {a} and {b}"),
            MeasureDoc::TouchTime { a, b } => format!("time in which {a} and {b} touch [s]"),
            MeasureDoc::Missed { from_s } => format!("distance from goals after {from_s} s [m, rad]"),
            MeasureDoc::Torque => "torque of actuators, rms [N·m]".to_owned(),
            MeasureDoc::Acceleration => "acceleration of actuators, rms [rad/s²]".to_owned(),
        };
        (what, value)
    }
}

/// Whether an event is about two things called so.
fn is_between(world: &World, event: &ContactEvent, [a, b]: &[String; 2]) -> bool {
    let has = |side: TouchSide, name: &str| world.side_name(side) == name;
    let [first, second] = event.sides;
    has(first, a) && has(second, b) || has(first, b) && has(second, a)
}

/// Height of the lowest surface point of a flesh, m.
fn lowest(world: &World, flesh: Option<usize>, up: DVec3, surface: &mut Vec<DVec3>) -> f64 {
    let (Some(index), Some(model)) = (flesh, world.model().flesh()) else { return f64::NAN };
    model.bodies()[index].fill_surface(&world.state().flesh.nodes[index].positions, surface);
    surface.iter().map(|point| point.dot(up)).fold(f64::INFINITY, f64::min)
}
