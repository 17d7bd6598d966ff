//! The `expect` block of a scene, measured over a run.
//!
//! Energies are compared relative to the largest kinetic energy of the run, as the format says. A value that is
//! not a number meets no expectation, and a run that leaves the finite numbers fails whatever the scene expects.
//! Cost: one measurement of energy, joints and speeds per step.

use sinew_compile::{BuildError, SweepRun, sweep_runs};
use sinew_engine::StepReport;
use sinew_mechanism::BodyId;
use sinew_scene::{ExpectDoc, SceneDoc};

use crate::expectation::Expectation;
use crate::motions::MotionMeter;
use crate::world::World;

/// One run of a scene.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RunOutcome {
    /// Paths and values that the sweep set; empty if the scene has none.
    pub set: Vec<(String, f64)>,
    /// Steps made.
    pub n_steps: u64,
    /// Fingerprint of the last state.
    pub digest: u64,
    /// The first body, by name, or tetrahedron that was no longer finite.
    pub non_finite: Option<String>,
    /// The expectations.
    pub expectations: Vec<Expectation>,
}

impl RunOutcome {
    /// Whether the run stayed finite and met everything.
    pub fn is_met(&self) -> bool {
        self.non_finite.is_none() && self.expectations.iter().all(|expectation| expectation.met)
    }
}

/// All runs of a scene: one, or one per value of its sweep.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ExpectOutcome {
    /// The runs.
    pub runs: Vec<RunOutcome>,
}

impl ExpectOutcome {
    /// Whether every run stayed finite and met everything.
    pub fn is_met(&self) -> bool {
        self.runs.iter().all(RunOutcome::is_met)
    }
}

/// Runs a scene for its whole duration, once per value of its sweep, and checks what it expects. A run ends early
/// if a body is no longer finite.
///
/// # Errors
/// If the scene cannot be built.
pub fn run_and_check(scene: &SceneDoc) -> Result<ExpectOutcome, BuildError> {
    let runs = sweep_runs(scene).map_err(|errors| {
        BuildError::Scene(errors.as_slice().iter().map(|error| error.issue.clone()).collect())
    })?;
    let runs = runs.into_iter().map(run_once).collect::<Result<_, _>>()?;
    Ok(ExpectOutcome { runs })
}

fn run_once(run: SweepRun) -> Result<RunOutcome, BuildError> {
    let mut world = World::from_scene(&run.scene)?;
    let mut meter = ExpectMeter::new(&run.scene.expect, &world);
    let mut n_steps = 0;
    while n_steps < world.info().n_steps && meter.non_finite().is_none() && meter.non_finite_tet().is_none() {
        let report = world.step();
        meter.observe(&world, &report);
        n_steps += 1;
    }
    let tet = meter.non_finite_tet().map(|tet| format!("tetrahedron {tet}"));
    let non_finite = meter.non_finite().map(|body| world.mechanism().body_name(body).to_owned()).or(tet);
    let digest = world.digest();
    Ok(RunOutcome { set: run.set, n_steps, digest, non_finite, expectations: meter.finish() })
}

/// Measures a run step by step against an `expect` block.
#[derive(Clone, Debug)]
pub struct ExpectMeter {
    expect: ExpectDoc,
    /// One per expected body.
    places: Vec<BodyLook>,
    energy_at_start: f64,
    kinetic: f64,
    drift: f64,
    gain: f64,
    position_error: f64,
    rotation_error: f64,
    tree_error: f64,
    speed: f64,
    angular_speed: f64,
    penetration: f64,
    inverted: f64,
    rest: f64,
    /// One per expected node.
    nodes: Vec<NodeLook>,
    motions: MotionMeter,
    non_finite: Option<BodyId>,
    non_finite_tet: Option<usize>,
}

/// A look at a node of flesh.
#[derive(Clone, Debug)]
struct NodeLook {
    /// Which flesh; none if there is none of that name.
    flesh: Option<usize>,
    step: Option<u64>,
    distance: Option<f64>,
}

/// A look at a body.
#[derive(Clone, Debug)]
struct BodyLook {
    body: Option<BodyId>,
    /// The step after which it is looked at; the last one if absent.
    step: Option<u64>,
    /// How far off it was, once it has been looked at.
    distance: Option<f64>,
}

impl ExpectMeter {
    /// Begins at the present state of a world.
    pub fn new(expect: &ExpectDoc, world: &World) -> Self {
        let places = expect.bodies.iter().map(|doc| BodyLook {
            body: world.body(&doc.body),
            step: doc.at_s.map(|at| world.step_nearest(at)),
            distance: None,
        });
        let nodes = expect.flesh.iter().map(|doc| NodeLook {
            flesh: world.flesh(&doc.flesh),
            step: doc.at_s.map(|at| world.step_nearest(at)),
            distance: None,
        });
        let mut meter = Self {
            expect: expect.clone(),
            nodes: nodes.collect(),
            motions: MotionMeter::new(&expect.motions, world),
            penetration: 0.0,
            inverted: 0.0,
            rest: 0.0,
            non_finite_tet: None,
            places: places.collect(),
            energy_at_start: world.energy().total(),
            kinetic: 0.0,
            drift: 0.0,
            gain: 0.0,
            position_error: 0.0,
            rotation_error: 0.0,
            tree_error: 0.0,
            speed: 0.0,
            angular_speed: 0.0,
            non_finite: None,
        };
        meter.measure(world, world.step_nearest(world.time()));
        meter
    }

    /// Looks at the world after a step.
    pub fn observe(&mut self, world: &World, report: &StepReport) {
        self.non_finite = self.non_finite.or(report.health.non_finite);
        self.non_finite_tet = self.non_finite_tet.or(report.health.non_finite_tet);
        raise(&mut self.penetration, report.flesh.contacts.depth);
        self.inverted = report.flesh.elements.n_inverted as f64;
        self.motions.observe(world, report);
        self.measure(world, report.index);
    }

    /// First body that was no longer finite.
    pub fn non_finite(&self) -> Option<BodyId> {
        self.non_finite
    }

    /// First tetrahedron whose force was no longer finite.
    pub fn non_finite_tet(&self) -> Option<usize> {
        self.non_finite_tet
    }

    /// Largest distance by which a joint came apart so far, m.
    pub fn max_position_error(&self) -> f64 {
        self.position_error
    }

    /// Largest angle by which locked directions disagreed so far, rad.
    pub fn max_rotation_error(&self) -> f64 {
        self.rotation_error
    }

    /// Largest of both so far among the joints of the tree (m, rad).
    pub fn max_tree_error(&self) -> f64 {
        self.tree_error
    }

    /// Number of looks at bodies that are due later than the last step so far.
    pub fn n_pending(&self) -> usize {
        let bodies = self.places.iter().filter(|place| place.distance.is_none()).count();
        bodies + self.nodes.iter().filter(|place| place.distance.is_none()).count()
    }

    /// Every expectation and how it fared; looks at bodies later than the last step are left out.
    pub fn finish(&self) -> Vec<Expectation> {
        let expect = &self.expect;
        let relative = |energy: f64| if energy == 0.0 { 0.0 } else { energy / self.kinetic };
        let bounds = [
            ("position error [m]", self.position_error, expect.max_position_error_m),
            ("rotation error [rad]", self.rotation_error, expect.max_rotation_error_rad),
            ("tree error [m, rad]", self.tree_error, expect.max_tree_error),
            ("energy drift [of kinetic]", relative(self.drift), expect.energy_drift),
            ("energy gain [of kinetic]", relative(self.gain), expect.energy_gain),
            ("speed [m/s]", self.speed, expect.max_speed_m_per_s),
            ("angular speed [rad/s]", self.angular_speed, expect.max_angular_speed_rad_per_s),
            ("inverted tetrahedra", self.inverted, expect.max_inverted.map(f64::from)),
            ("penetration [m]", self.penetration, expect.max_penetration_m),
            ("flesh off its rest shape [m]", self.rest, expect.flesh_rest_m),
        ];
        let bounds = bounds.into_iter().filter_map(|(what, measured, limit)| {
            limit.map(|limit| Expectation::at_most(what.to_owned(), measured, limit))
        });
        let places = expect.bodies.iter().zip(&self.places).filter_map(|(doc, place)| {
            let when = doc.at_s.map_or_else(|| "the end".to_owned(), |at| format!("{at} s"));
            let what = format!("distance of {} at {when} [m]", doc.body);
            place.distance.map(|distance| Expectation::at_most(what, distance, doc.tolerance_m))
        });
        let nodes = expect.flesh.iter().zip(&self.nodes).filter_map(|(doc, place)| {
            let when = doc.at_s.map_or_else(|| "the end".to_owned(), |at| format!("{at} s"));
            let what = format!("distance of node {} of {} at {when} [m]", doc.node, doc.flesh);
            place.distance.map(|distance| Expectation::at_most(what, distance, doc.tolerance_m))
        });
        bounds.chain(places).chain(nodes).chain(self.motions.finish(&expect.motions)).collect()
    }

    fn measure(&mut self, world: &World, step: u64) {
        let energy = world.energy();
        let change = energy.total() - self.energy_at_start;
        raise(&mut self.kinetic, energy.kinetic);
        raise(&mut self.drift, change.abs());
        raise(&mut self.gain, change);
        let violation = world.violation();
        raise(&mut self.position_error, violation.position);
        raise(&mut self.rotation_error, violation.rotation);
        raise(&mut self.tree_error, violation.tree);
        for motion in &world.state().bodies.motions {
            raise(&mut self.speed, motion.linear.length());
            raise(&mut self.angular_speed, motion.angular.length());
        }
        if let (Some(flesh), Some(_)) = (world.model().flesh(), self.expect.flesh_rest_m) {
            let state = &world.state().flesh;
            let each = (0..flesh.bodies().len()).map(|i| flesh.distance_from_rest(state, i));
            self.rest = each.fold(0.0, |largest: f64, d| if d.is_nan() { d } else { largest.max(d) });
        }
        for (doc, place) in self.expect.flesh.iter().zip(&mut self.nodes) {
            if place.step.is_none_or(|at| at == step) {
                let nodes = place.flesh.and_then(|flesh| world.state().flesh.nodes.get(flesh));
                let found = nodes.and_then(|nodes| nodes.positions.get(doc.node as usize));
                place.distance = Some(found.map_or(f64::NAN, |found| found.distance(doc.position)));
            }
        }
        for (doc, place) in self.expect.bodies.iter().zip(&mut self.places) {
            if place.step.is_none_or(|at| at == step) {
                let found = place.body.map(|body| world.pose(body).transform_point(doc.point));
                place.distance = Some(found.map_or(f64::NAN, |found| found.distance(doc.position)));
            }
        }
    }
}

/// The larger one; not a number if either is not.
fn raise(largest: &mut f64, value: f64) {
    if value > *largest || value.is_nan() {
        *largest = value;
    }
}
