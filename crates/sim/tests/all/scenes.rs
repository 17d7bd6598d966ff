//! Every fixture meets what it expects of itself, and its numbers are those a person has looked at.

use std::collections::BTreeMap;

use serde::Serialize;
use sinew_fem::FemState;
use sinew_sim::{BodyId, ExpectMeter, SceneDoc, World, digest_bytes, run_and_check, sweep_runs};

use crate::common::{ended, mechanisms, scene, world};

#[test]
fn the_worm_of_the_guide_lifts_its_head() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/scores.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let example = page.split("```ron\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a scene");
    let scene = SceneDoc::from_ron(example, "scores.md").expect("a scene");
    let outcome = run_and_check(&scene).expect("a run");
    assert!(outcome.runs[0].is_met(), "{:?}", outcome.runs[0].expectations);
}

#[test]
fn every_fixture_meets_its_expectations() {
    let mut faults = Vec::new();
    for name in mechanisms() {
        let outcome = &ended(&name).swept;
        for run in outcome.runs.iter().filter(|run| !run.is_met()) {
            let missed = run.expectations.iter().filter(|expectation| !expectation.met);
            let missed: Vec<String> =
                missed.map(|e| format!("{} is {} instead of {}", e.what, e.measured, e.limit)).collect();
            faults.push(format!("{name} {:?} {:?}: {}", run.set, run.non_finite, missed.join(", ")));
        }
        let known = WARNED.iter().filter(|(scene, _)| *scene == name).map(|(_, warning)| *warning);
        let known: Vec<&str> = known.collect();
        for run in outcome.runs.iter().filter(|run| run.warnings != known) {
            faults.push(format!("{name} {:?} warns: {}", run.set, run.warnings.join(", ")));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What fixtures warn of. A chain that weighs nothing against its load is compressed by it faster than links of a straight chain can
/// turn out of its way.
const WARNED: [(&str, &str); 1] = [("light_chain", "joint `joint3` was torn; displacements closed it")];

/// Scenes whose end depends on the last bit of their beginning, or on how far a small budget of iterations gets: only
/// what chaos leaves alone is compared.
const CHAOTIC: [&str; 8] = [
    "chain_10",
    "chain_100",
    "chain_1000",
    "chain_10000",
    "double_pendulum",
    "mesh_320",
    "mesh_56",
    "stiff_sweep",
];

/// A scene before its first step.
#[derive(Serialize)]
struct Start {
    bodies: usize,
    joints: usize,
    tree_rows: usize,
    loop_rows: usize,
    steps: u64,
    mass_kg: f64,
    energy_j: f64,
}

impl Start {
    fn of(world: &World) -> Self {
        let model = world.mechanism();
        Self {
            bodies: model.n_bodies(),
            joints: model.n_joints(),
            tree_rows: model.n_rows().0,
            loop_rows: model.n_rows().1,
            steps: world.info().n_steps,
            mass_kg: round(model.bodies().map(|body| model.body_mass(body)).sum()),
            energy_j: round(world.energy().total()),
        }
    }
}

/// A scene after its last step.
#[derive(Serialize)]
struct End {
    kinetic_j: f64,
    gravity_j: f64,
    elastic_j: f64,
    position_error_m: f64,
    /// Position [m] and rotation vector [rad] of some bodies.
    poses: BTreeMap<String, ([f64; 3], [f64; 3])>,
    /// By name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    flesh: BTreeMap<String, FleshEnd>,
}

/// A body of flesh after the last step.
#[derive(Serialize)]
struct FleshEnd {
    /// Of all positions and velocities of its nodes.
    digest: String,
    /// Positions of some nodes [m].
    nodes: BTreeMap<usize, [f64; 3]>,
}

impl FleshEnd {
    fn of(nodes: &FemState) -> Self {
        let FemState { positions, velocities, .. } = nodes;
        let numbers = positions.iter().chain(velocities).flat_map(|v| v.to_array());
        let bytes: Vec<u8> = numbers.flat_map(|x| x.to_bits().to_le_bytes()).collect();
        let some = some_of(positions.len()).into_iter();
        let nodes = some.map(|i| (i, positions[i].to_array().map(round))).collect();
        Self { digest: format!("{:016x}", digest_bytes(&bytes)), nodes }
    }
}

/// At most four indices, first and last included.
fn some_of(n: usize) -> Vec<usize> {
    if n <= 4 { (0..n).collect() } else { (0..4).map(|i| i * (n - 1) / 3).collect() }
}

impl End {
    fn of(world: &World) -> Self {
        let energy = world.energy();
        let flesh = world.state().flesh.nodes.iter().enumerate();
        let poses = some_of(world.mechanism().n_bodies()).into_iter().map(BodyId::from_index).map(|body| {
            let pose = world.pose(body);
            let vectors =
                [pose.translation, sinew_math::log_so3(pose.rotation)].map(|v| v.to_array().map(round));
            (world.mechanism().body_name(body).to_owned(), (vectors[0], vectors[1]))
        });
        Self {
            kinetic_j: round(energy.kinetic),
            gravity_j: round(energy.gravity),
            elastic_j: round(energy.elastic),
            position_error_m: round(world.violation().position),
            poses: poses.collect(),
            flesh: flesh.map(|(i, nodes)| (world.flesh_name(i).to_owned(), FleshEnd::of(nodes))).collect(),
        }
    }
}

/// Six significant digits; what is smaller than 1e-8 is noise.
fn round(value: f64) -> f64 {
    let rounded: f64 = format!("{value:.5e}").parse().expect("a number");
    if rounded.abs() < 1e-8 { 0.0 } else { rounded }
}

#[test]
fn numbers_round_to_six_digits() {
    let rounded = [1.234_567_89, -9.876_543_21e7, -3e-9].map(|x| round(x).to_string());
    assert_eq!(rounded, ["1.23457", "-98765400", "0"]);
    assert!(round(f64::NAN).is_nan());
}

#[test]
fn fixtures_start_as_they_did() {
    let start = |name: String| {
        let world = world(&name);
        assert!(world.info().doubts.is_empty(), "{name}: {:?}", world.info().doubts);
        (name, Start::of(&world))
    };
    let starts: BTreeMap<String, Start> = mechanisms().into_iter().map(start).collect();
    insta::assert_ron_snapshot!("starts", starts);
}

#[test]
fn calm_fixtures_end_as_they_did() {
    // From the other end than the digests, which run beside it.
    for name in mechanisms().into_iter().rev().filter(|name| !CHAOTIC.contains(&name.as_str())) {
        let mut world = world(&name);
        let end = &ended(&name).plain().end;
        world.restore(end).unwrap_or_else(|error| panic!("{name}: {error}"));
        insta::assert_ron_snapshot!(format!("{name}_end"), End::of(&world));
    }
}

#[test]
fn a_sweep_runs_every_combination() {
    let mut sweep = scene("chain_10");
    sweep.sweep = [("dt", vec![0.01, 0.02]), ("generators[0].n", vec![2.0, 3.0])]
        .map(|(path, values)| sinew_scene::SweepDoc { path: path.to_owned(), values })
        .to_vec();
    let runs = sweep_runs(&sweep);
    // A number of links is whole, so that sweep is refused; one over steps is not.
    assert!(runs.is_err());
    sweep.sweep[1] = sinew_scene::SweepDoc { path: "duration_s".to_owned(), values: vec![0.1, 0.2] };
    let runs = sweep_runs(&sweep).expect("two numbers");
    let seen: Vec<(f64, f64)> = runs.iter().map(|run| (run.scene.dt, run.scene.duration_s)).collect();
    assert_eq!(seen, [(0.01, 0.1), (0.01, 0.2), (0.02, 0.1), (0.02, 0.2)]);
    assert_eq!(runs[3].set, [("dt".to_owned(), 0.02), ("duration_s".to_owned(), 0.2)]);
    let outcome = run_and_check(&sweep).expect("four short runs");
    assert_eq!(outcome.runs.iter().map(|run| run.n_steps).collect::<Vec<_>>(), [10, 20, 5, 10]);
    assert!(outcome.is_met(), "{outcome:?}");
}

#[test]
fn expectations_that_fail_say_so() {
    let mut pendulum = scene("pendulum");
    pendulum.duration_s = 0.5;
    pendulum.expect = sinew_scene::ExpectDoc {
        max_speed_m_per_s: Some(1e-3),
        energy_gain: Some(10.0),
        bodies: vec![
            sinew_scene::ExpectBodyDoc { body: "rod".to_owned(), tolerance_m: 10.0, ..Default::default() },
            sinew_scene::ExpectBodyDoc {
                body: "rod".to_owned(),
                at_s: Some(0.2),
                tolerance_m: 1e-3,
                ..Default::default()
            },
        ],
        ..Default::default()
    };
    let outcome = run_and_check(&pendulum).expect("a fixture");
    assert!(!outcome.is_met());
    let expectations = &outcome.runs[0].expectations;
    let met: Vec<bool> = expectations.iter().map(|expectation| expectation.met).collect();
    assert_eq!(met, [true, false, true, false]);
    assert!(expectations[3].what.contains("rod at 0.2 s"), "{:?}", expectations[3]);

    // A run that was cut short has nothing to say about what would have come later.
    let world = World::from_scene(&pendulum).expect("a fixture");
    let meter = ExpectMeter::new(&pendulum.expect, &world);
    assert_eq!((meter.finish().len(), meter.n_pending()), (2, 2));
}

#[test]
fn what_swings_back_has_turned_but_not_in_the_end() {
    // Half a period of a torsion spring: I ω² = k with the moment of inertia of the cube about its axis.
    let text = r#"(
  format: 1, name: "swing", dt: 1e-4, duration_s: 0.5, gravity: (0, 0, 0), stepper: Reduced(),
  bodies: [(name: "cube", shapes: [Box(size: (1, 1, 1))], mass: Total(6), velocity: (angular: (0, 2, 0)))],
  joints: [(name: "pin", kind: Hinge, child: "cube", frames: World(axis: (0, 1, 0)),
            spring: (stiffness: 39.47841760435743))],
  expect: (motions: [
    (measure: Turned(body: "cube", axis: (0, 3, 0)), at_least: 0.3),
    (measure: NetTurn(body: "cube", axis: (0, 3, 0)), at_most: 1e-3),
  ]),
)"#;
    let scene = SceneDoc::from_ron(text, "swing.ron").expect("a scene");
    let outcome = run_and_check(&scene).expect("a run");
    let [turned, net] = [0, 1].map(|i| outcome.runs[0].expectations[i].measured);
    // ω₀ / ω = 2 / 2π
    assert!((turned - std::f64::consts::FRAC_1_PI).abs() < 1e-3, "{turned}");
    assert!(net < 1e-3, "{net}");
}
