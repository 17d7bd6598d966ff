//! The `expect` block of a scene, measured over a run.
//!
//! Energies are compared relative to the largest kinetic energy of the run, or to what lifts everything by a hundredth of its size if that is more: at rest the kinetic
//! energy is rounding. A value that is not a number meets no expectation.
//! Cost: one measurement of energy, joints and speeds per step.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sinew_engine::StepReport;
use sinew_mechanism::BodyId;
use sinew_scene::{ExpectBodyDoc, ExpectDoc, ExpectFleshDoc};

use crate::{broken::BrokenJoint, expectation::Expectation, motions::MotionMeter, world::World};

/// Measures a run step by step against an `expect` block. Saved and read with serde, it goes on where it was.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExpectMeter {
    expect: ExpectDoc,
    /// Number of steps of the whole run, and the last one so far.
    n_steps: u64,
    last: u64,
    energy_at_start: f64,
    extremes: Extremes,
    points: Vec<PointCheck>,
    motions: MotionMeter,
    non_finite: Option<BodyId>,
    non_finite_tet: Option<usize>,
    inverted_since: Option<u64>,
    /// In order of time.
    broken: Vec<BrokenJoint>,
    /// Names of those that are broken now.
    broken_now: Vec<String>,
}

/// Largest values of a run, SI.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Extremes {
    kinetic: f64,
    energy_drift: f64,
    energy_gain: f64,
    position_error: f64,
    rotation_error: f64,
    tree_error: f64,
    speed: f64,
    angular_speed: f64,
    penetration: f64,
    /// After the last step.
    inverted: f64,
    /// Distance of flesh from its rest shape after the last step.
    off_rest: f64,
}

/// A point that should be at a position.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct PointCheck {
    what: String,
    /// None if nothing has the name.
    point: Option<CheckedPoint>,
    /// The step after which it is measured; the last one if absent.
    step: Option<u64>,
    position: DVec3,
    tolerance: f64,
    /// How far off it was, once it has been measured.
    distance: Option<f64>,
}

/// A point of a body, or a node of flesh.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum CheckedPoint {
    Body(BodyId, DVec3),
    Node(usize, usize),
}

impl ExpectMeter {
    /// Begins at the present state of a world.
    pub fn new(expect: &ExpectDoc, world: &World) -> Self {
        let bodies = expect.bodies.iter().map(|doc| PointCheck::of_body(doc, world));
        let nodes = expect.flesh.iter().map(|doc| PointCheck::of_node(doc, world));
        let mut meter = Self {
            expect: expect.clone(),
            n_steps: world.info().n_steps,
            last: 0,
            energy_at_start: world.energy().total(),
            extremes: Extremes::default(),
            points: bodies.chain(nodes).collect(),
            motions: MotionMeter::new(&expect.motions, world),
            non_finite: None,
            non_finite_tet: None,
            inverted_since: None,
            broken: Vec::new(),
            broken_now: Vec::new(),
        };
        meter.measure(world, world.step_nearest(world.time()));
        meter
    }

    /// Measures the world after a step.
    pub fn observe(&mut self, world: &World, report: &StepReport) {
        self.non_finite = self.non_finite.or(report.health.non_finite);
        self.non_finite_tet = self.non_finite_tet.or(report.health.non_finite_tet);
        raise(&mut self.extremes.penetration, report.flesh.contacts.depth);
        self.note_inverted(report);
        self.motions.observe(world, report);
        self.broken.extend(world.broke().iter().map(|&joint| BrokenJoint::of(world, joint)));
        self.measure(world, report.index);
    }

    fn note_inverted(&mut self, report: &StepReport) {
        let inverted = report.flesh.elements.n_inverted;
        self.extremes.inverted = inverted as f64;
        self.inverted_since = match self.inverted_since {
            _ if inverted <= self.expect.max_inverted.unwrap_or(0) as usize => None,
            since => since.or(Some(report.index)),
        };
    }

    /// First of the last steps, without a gap, after which tetrahedra were inverted, more than the scene expects; none if it is not so after
    /// the last one.
    pub fn inverted_since(&self) -> Option<u64> {
        self.inverted_since
    }

    /// First body that was no longer finite.
    pub fn non_finite(&self) -> Option<BodyId> {
        self.non_finite
    }

    /// First tetrahedron whose force was no longer finite.
    pub fn non_finite_tet(&self) -> Option<usize> {
        self.non_finite_tet
    }

    /// Joints that broke so far, in order of time.
    pub fn broken(&self) -> &[BrokenJoint] {
        &self.broken
    }

    /// Largest distance by which a joint came apart so far, m.
    pub fn max_position_error(&self) -> f64 {
        self.extremes.position_error
    }

    /// Largest angle by which locked directions disagreed so far, rad.
    pub fn max_rotation_error(&self) -> f64 {
        self.extremes.rotation_error
    }

    /// Largest of both so far among tree joints (m, rad).
    pub fn max_tree_error(&self) -> f64 {
        self.extremes.tree_error
    }

    /// Number of expectations that are due later than the last step so far.
    pub fn n_pending(&self) -> usize {
        let due_later = self.points.iter().filter(|point| !point.is_due(self.has_ended()));
        let at_end = self.at_end().len() + self.motions.finish(&self.expect.motions).len();
        due_later.count() + if self.has_ended() { 0 } else { at_end }
    }

    /// Every expectation and the value measured. What is due later than the last step is left out: points by their times; what holds at the end, and
    /// motions, which are measured over the whole run, if the run ended before the end of the scene.
    pub fn finish(&self) -> Vec<Expectation> {
        let mut all = self.at_any_time();
        let due = self.points.iter().filter(|point| point.is_due(self.has_ended()));
        all.extend(due.filter_map(PointCheck::expectation));
        if self.has_ended() {
            all.extend(self.at_end());
            all.extend(self.motions.finish(&self.expect.motions));
        }
        all
    }

    /// Whether the run is as long as the scene, or longer.
    fn has_ended(&self) -> bool {
        self.last >= self.n_steps
    }

    /// What must hold at any time.
    fn at_any_time(&self) -> Vec<Expectation> {
        let (expect, found) = (&self.expect, &self.extremes);
        let relative = |energy: f64| if energy == 0.0 { 0.0 } else { energy / found.kinetic };
        let bounds = [
            ("position error [m]", found.position_error, expect.max_position_error_m),
            ("rotation error [rad]", found.rotation_error, expect.max_rotation_error_rad),
            ("tree error [m, rad]", found.tree_error, expect.max_tree_error),
            ("energy drift [of kinetic]", relative(found.energy_drift), expect.energy_drift),
            ("energy gain [of kinetic]", relative(found.energy_gain), expect.energy_gain),
            ("speed [m/s]", found.speed, expect.max_speed_m_per_s),
            ("angular speed [rad/s]", found.angular_speed, expect.max_angular_speed_rad_per_s),
            ("penetration [m]", found.penetration, expect.max_penetration_m),
        ];
        bounds.into_iter().filter_map(bounded).collect()
    }

    /// What must hold at the end.
    fn at_end(&self) -> Vec<Expectation> {
        let (expect, found) = (&self.expect, &self.extremes);
        let bounds = [
            ("inverted tetrahedra", found.inverted, expect.max_inverted.map(f64::from)),
            ("flesh off its rest shape [m]", found.off_rest, expect.flesh_rest_m),
        ];
        bounds.into_iter().filter_map(bounded).chain(self.broken_joints()).collect()
    }

    /// How many joints are broken that should be whole, or whole that should be broken.
    fn broken_joints(&self) -> Option<Expectation> {
        let expected = self.expect.broken.as_ref()?;
        let astray = |(joints, others, is): (&[String], &[String], &str)| -> Vec<String> {
            let other = joints.iter().filter(|joint| !others.contains(joint));
            other.map(|joint| format!("`{joint}` is {is}")).collect()
        };
        let astray: Vec<String> =
            [(&self.broken_now[..], &expected[..], "broken"), (&expected[..], &self.broken_now[..], "whole")]
                .into_iter()
                .flat_map(astray)
                .collect();
        let list = if astray.is_empty() { String::new() } else { format!(" ({})", astray.join(", ")) };
        Some(Expectation::at_most(
            format!("joints broken or whole unlike expected{list}"),
            astray.len() as f64,
            0.0,
        ))
    }

    fn measure(&mut self, world: &World, step: u64) {
        self.last = step;
        self.extremes.measure(world, self.energy_at_start);
        if self.expect.broken.is_some() {
            let broken = world.state().bodies.broken.iter();
            self.broken_now = broken.map(|&joint| world.mechanism().joint_name(joint).to_owned()).collect();
        }
        if let (Some(flesh), Some(_)) = (world.model().flesh(), self.expect.flesh_rest_m) {
            let state = &world.state().flesh;
            let each = (0..flesh.bodies().len()).map(|i| flesh.distance_from_rest(state, i));
            self.extremes.off_rest =
                each.fold(0.0, |largest: f64, d| if d.is_nan() { d } else { largest.max(d) });
        }
        for point in self.points.iter_mut().filter(|point| point.step.is_none_or(|at| at == step)) {
            point.measure(world);
        }
    }
}

/// A bound, if the scene sets one.
fn bounded((what, measured, limit): (&str, f64, Option<f64>)) -> Option<Expectation> {
    limit.map(|limit| Expectation::at_most(what.to_owned(), measured, limit))
}

impl Extremes {
    fn measure(&mut self, world: &World, energy_at_start: f64) {
        let energy = world.energy();
        let change = energy.total() - energy_at_start;
        let resting = sinew_engine::resting_energy(world.model(), world.settings().gravity);
        raise(&mut self.kinetic, energy.kinetic.max(resting));
        raise(&mut self.energy_drift, change.abs());
        raise(&mut self.energy_gain, change);
        let violation = world.violation();
        raise(&mut self.position_error, violation.position);
        raise(&mut self.rotation_error, violation.rotation);
        raise(&mut self.tree_error, violation.tree);
        for motion in &world.state().bodies.motions {
            raise(&mut self.speed, motion.linear.length());
            raise(&mut self.angular_speed, motion.angular.length());
        }
    }
}

impl PointCheck {
    fn of_body(doc: &ExpectBodyDoc, world: &World) -> Self {
        let point = world.body(&doc.body).map(|body| CheckedPoint::Body(body, doc.point));
        Self::new(&doc.body, point, doc.at_s, (doc.position, doc.tolerance_m), world)
    }

    fn of_node(doc: &ExpectFleshDoc, world: &World) -> Self {
        let point = world.flesh(&doc.flesh).map(|flesh| CheckedPoint::Node(flesh, doc.node as usize));
        let name = format!("node {} of {}", doc.node, doc.flesh);
        Self::new(&name, point, doc.at_s, (doc.position, doc.tolerance_m), world)
    }

    fn new(
        name: &str,
        point: Option<CheckedPoint>,
        at_s: Option<f64>,
        (position, tolerance): (DVec3, f64),
        world: &World,
    ) -> Self {
        let when = at_s.map_or_else(|| "the end".to_owned(), |at| format!("{at} s"));
        let what = format!("distance of {name} at {when} [m]");
        Self { what, point, step: at_s.map(|at| world.step_nearest(at)), position, tolerance, distance: None }
    }

    fn measure(&mut self, world: &World) {
        let found = match self.point {
            Some(CheckedPoint::Body(body, point)) => Some(world.pose(body).transform_point(point)),
            Some(CheckedPoint::Node(flesh, node)) => {
                let nodes = world.state().flesh.nodes.get(flesh);
                nodes.and_then(|nodes| nodes.positions.get(node)).copied()
            }
            None => None,
        };
        self.distance = Some(found.map_or(f64::NAN, |found| found.distance(self.position)));
    }

    /// Whether its time has come; `has_ended` tells whether the run has.
    fn is_due(&self, has_ended: bool) -> bool {
        self.distance.is_some() && (self.step.is_some() || has_ended)
    }

    fn expectation(&self) -> Option<Expectation> {
        self.distance.map(|distance| Expectation::at_most(self.what.clone(), distance, self.tolerance))
    }
}

/// Raises the largest value so far; a value that is not a number stays.
fn raise(largest: &mut f64, value: f64) {
    if value > *largest || value.is_nan() {
        *largest = value;
    }
}
