//! Twenty mechanisms for a second, and floating ones for some hundred steps.

use sinew_scene::StabilizeDoc;
use sinew_soak::{SoakFault, SteppedBy, Trial, random_scene};
use sinew_testkit::soak_scale;

#[test]
fn random_mechanisms_hold_soak() {
    for seed in 1..=20 {
        let trial = Trial::of(&random_scene(seed, soak_scale() as f64)).expect("a scene");
        let silent: Vec<_> = trial.findings.iter().filter(|finding| finding.fault.is_silent()).collect();
        assert!(silent.is_empty(), "seed {seed}: {silent:?}");
        assert!(!trial.has(SoakFault::NotFinite), "seed {seed}");
    }
}

/// Seeds of the thousand that gained energy or left joints open in silence.
#[test]
fn mechanisms_that_failed_on_the_way_hold() {
    for (seed, seconds) in [
        (64, 8.0),
        (70, 0.6),
        (168, 6.0),
        (281, 1.6),
        (359, 5.0),
        (401, 4.0),
        (710, 1.0),
        (764, 2.0),
        (775, 1.8),
        (778, 1.0),
        (863, 1.0),
        (983, 1.5),
    ] {
        let trial = Trial::run(&random_scene(seed, seconds), &mut |_, _, _| {}).expect("a scene");
        assert!(!trial.fails(), "seed {seed}: {:?}", trial.findings);
    }
}

/// Seeds whose joints a stabilization left further open than it found them.
#[test]
fn a_stabilization_opens_no_joint() {
    for (seed, seconds) in [(19, 0.2), (64, 0.2), (109, 0.2), (110, 0.2), (234, 0.4), (281, 0.2)] {
        let mut scene = random_scene(seed, seconds);
        scene.stabilize = Some(StabilizeDoc::default());
        let trial = Trial::run(&scene, &mut |_, _, _| {}).expect("a scene");
        assert!(!trial.fails(), "seed {seed}: {:?}", trial.findings);
    }
}

/// Seeds that were lost on the way, for as many steps as it took.
#[test]
fn mechanisms_that_lost_their_momentum_keep_it_soak() {
    let schemes = SteppedBy::all();
    for (name, seed, steps) in [
        ("implicit 1, stabilized", 14, 3600),
        ("implicit 1, stabilized", 17, 3600),
        ("implicit 2, stabilized", 11, 3600),
        ("reduced, Rk4", 5, 2400),
    ] {
        let scheme = schemes.iter().find(|scheme| scheme.name == name).expect("a scheme");
        let loss = scheme.run(seed, steps * soak_scale() as u64).expect("a scene");
        assert!(loss.largest() < 1e-10, "{name}, seed {seed}: {loss:?}");
    }
}

#[test]
fn floating_mechanisms_keep_their_momentum_soak() {
    for scheme in SteppedBy::all().iter().filter(|scheme| scheme.name.starts_with("implicit")) {
        for seed in [4, 5, 6, 8] {
            let loss = scheme.run(seed, 50 * soak_scale() as u64).expect("a scene");
            assert!(loss.largest() < 1e-10, "{}, seed {seed}: {loss:?}", scheme.name);
        }
    }
}
