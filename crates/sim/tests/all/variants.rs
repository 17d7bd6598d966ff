//! Versions of a scene that differ in numbers have the bits of the scene compiled with these numbers, on one workspace that passes from version to version.

use std::sync::Arc;

use sinew_scene::ChangeDoc;
use sinew_sim::{Input, SceneVariants, SceneVariation, Workspace, World, digest, step};

use crate::common::{scene, world};

/// Scenes with what variations reach: springs, motors, ropes, gears, tracks, loops, contacts with rules, generators, changes, flesh, a score, joint coordinates.
const SCENES: [&str; 16] = [
    "hand",
    "robot",
    "chain_10",
    "ladder_12_1",
    "gear_train",
    "atwood",
    "heap_40",
    "stairs",
    "gravity_turned",
    "general_joint",
    "ring_100",
    "on_ice",
    "bowl",
    "cantilever",
    "four_bar_scored",
    "top_reduced",
];

fn variations(n_bodies: usize) -> Vec<SceneVariation> {
    let each = (0..n_bodies).map(|k| 0.8 + 0.07 * (k % 6) as f64).collect();
    let factors = |joint, contact, friction| ChangeDoc {
        joint_stiffness: joint,
        joint_damping: joint.map(|factor| 1.1 * factor),
        contact_stiffness: contact,
        contact_damping: contact,
        friction,
        ..ChangeDoc::default()
    };
    vec![
        SceneVariation { mass: vec![1.3], ..SceneVariation::default() },
        SceneVariation { mass: each, factors: factors(Some(1.7), Some(0.9), Some(1.2)) },
        SceneVariation { mass: Vec::new(), factors: factors(Some(0.6), None, Some(0.7)) },
    ]
}

#[test]
fn versions_have_the_bits_of_compiled_scenes() {
    for name in SCENES {
        let (doc, base) = (scene(name), world(name));
        let variants = SceneVariants::new(&doc, &base.shared_model()).expect("a good scene");
        let versions = variations(base.mechanism().n_bodies());
        let models: Vec<_> =
            versions.iter().map(|version| variants.model(version).expect("good numbers")).collect();
        let mut alone: Vec<World> = versions
            .iter()
            .map(|version| World::from_scene(&version.scene(&doc)).expect("good numbers"))
            .collect();
        let mut states: Vec<_> = alone.iter().map(World::checkpoint).collect();
        // All of them start where their worlds do, which take turns with one workspace.
        let (mut workspace, mut fitted, mut input) =
            (Workspace::new(base.model()), base.shared_model(), Input::default());
        for _ in 0..4 {
            for ((model, state), world) in models.iter().zip(&mut states).zip(&mut alone) {
                if !model.is_like(&fitted) {
                    workspace.refit(model);
                }
                fitted = Arc::clone(model);
                world.fill_input(world.state(), &mut input);
                step(model, state, &input, world.settings(), &mut workspace);
                world.step();
                assert_eq!(digest(state), world.digest(), "{name}");
                assert_eq!(model.identity(), world.model().identity(), "{name}");
            }
        }
    }
}

#[test]
fn versions_of_rigid_scenes_share_their_plan() {
    for (name, shares) in [("hand", true), ("heap_40", true), ("cantilever", false)] {
        let base = world(name);
        let variants = SceneVariants::new(&scene(name), &base.shared_model()).expect("a good scene");
        let version = SceneVariation { mass: vec![1.3], ..SceneVariation::default() };
        assert_eq!(variants.model(&version).expect("good numbers").is_like(base.model()), shares, "{name}");
    }
}

#[test]
fn numbers_out_of_range_are_errors_of_the_scene() {
    let base = world("hand");
    let variants = SceneVariants::new(&scene("hand"), &base.shared_model()).expect("a good scene");
    for mass in [-1.0, f64::NAN, f64::INFINITY] {
        let version = SceneVariation { mass: vec![mass], ..SceneVariation::default() };
        assert!(!variants.model(&version).expect_err("no mass").fields().is_empty());
    }
}
