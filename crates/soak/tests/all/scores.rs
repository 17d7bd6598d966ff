//! Small changes of scores: what they change, and what bears them.

use sinew_scene::{ControlDoc, CurveDoc, MassDoc, SceneDoc};
use sinew_soak::{Perturbation, unmet};

fn scene(name: &str) -> SceneDoc {
    let text = sinew_scenes::text(name).expect("a built-in scene");
    SceneDoc::from_ron(text, name).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn factors_are_within_five_per_cent_and_those_of_the_seed() {
    for seed in 0..100 {
        let Perturbation { times, stiffness, mass, friction, dt } = Perturbation::of_seed(seed);
        for factor in [times, stiffness, mass, friction] {
            assert!(
                (0.95..=1.05).contains(&factor) && factor.to_bits() != 1.0_f64.to_bits(),
                "{seed}: {factor}"
            );
        }
        assert!(dt.to_bits() == 1.0_f64.to_bits());
        assert_eq!(Perturbation::of_seed(seed), Perturbation::of_seed(seed));
    }
    assert_ne!(Perturbation::of_seed(1), Perturbation::of_seed(2));
}

#[test]
fn every_kind_of_number_is_changed_by_its_factor() {
    let plain = scene("finger_manipulate").expanded();
    let changed = Perturbation { times: 2.0, stiffness: 3.0, mass: 5.0, friction: 7.0, dt: 0.5 }.of(&plain);
    let ratio = |a: f64, b: f64| (b / a * 1e9).round() / 1e9;
    let near =
        |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
    near(ratio(plain.dt, changed.dt), 0.5);
    near(ratio(plain.duration_s, changed.duration_s), 2.0);
    let last = |scene: &SceneDoc| match &scene.tracks[0].curve {
        CurveDoc::Points(points) => points[points.len() - 1].0,
        other => panic!("{other:?}"),
    };
    near(ratio(last(&plain), last(&changed)), 2.0);
    let young = |scene: &SceneDoc| scene.flesh[0].material.elasticity().0;
    near(ratio(young(&plain), young(&changed)), 3.0);
    near(ratio(plain.flesh[0].density.unwrap(), changed.flesh[0].density.unwrap()), 5.0);
    let friction = |scene: &SceneDoc| scene.colliders[0].contact.friction;
    near(ratio(friction(&plain), friction(&changed)), 7.0);
    let density = |scene: &SceneDoc| match scene.bodies[0].mass {
        MassDoc::Density(density) => density,
        ref other => panic!("{other:?}"),
    };
    near(ratio(density(&plain), density(&changed)), 5.0);
    let guide = |scene: &SceneDoc| {
        let phase = &scene.score.as_ref().expect("a score").phases[1];
        let ControlDoc::Guide(guide) = &phase.control else { panic!("{phase:?}") };
        (phase.from_s, guide.goals[0].stiffness)
    };
    near(ratio(guide(&plain).0, guide(&changed).0), 2.0);
    near(ratio(guide(&plain).1, guide(&changed).1), 3.0);
}

#[test]
fn the_finger_bears_changes_and_half_a_step_and_a_wrong_expectation_is_told() {
    let scene = scene("finger_manipulate");
    let halved = Perturbation { dt: 0.5, ..Perturbation::NONE };
    for perturbation in (1..4).map(Perturbation::of_seed).chain([halved]) {
        let missed = unmet(&perturbation.of(&scene)).expect("a scene");
        assert!(missed.is_empty(), "{perturbation:?}: {missed:?}");
    }
    let mut wrong = scene;
    wrong.expect.motions[1].at_least = Some(1.0);
    let missed = unmet(&wrong).expect("a scene");
    assert!(missed.len() == 1 && missed[0].contains("at least 1"), "{missed:?}");
}
