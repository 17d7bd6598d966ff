//! Every fixture with loops has exactly the bodies and rows that its source gives.

use crate::common::{mechanisms, scene, world};

#[test]
fn counts_are_those_of_the_sources() {
    for (name, bodies, tree_rows, loop_rows) in [
        // Fau99, table 2.
        ("ladder_12_1", 25, 75, 3),
        ("ladder_12_4", 100, 300, 12),
        ("ladder_1_48", 144, 432, 144),
        ("ladder_1_96", 288, 864, 288),
        ("ladder_6_96", 1248, 3744, 288),
        // Fau99, figures 4 to 6; the fish is kinematic.
        ("seaweed_and_fish", 73, 216, 3),
        ("pendulum_of_strings", 83, 251, 18),
        ("mesh_320", 320, 957, 600),
        // Fau98, figures 3, 5 and 6.
        ("characters_holding_hands", 208, 725, 33),
        ("mesh_56", 56, 165, 96),
        ("plate_on_strings", 28, 84, 24),
        // Three characters of 53 rows and a post; Fau99, figure 2.
        ("three_characters_pulled", 49, 165, 12),
        ("four_bar", 3, 15, 5),
        ("slider_crank", 3, 15, 5),
        ("bricard", 5, 25, 5),
        ("squeezer", 7, 35, 15),
        ("n_four_bar", 81, 405, 200),
        ("flyball_governor", 4, 20, 0),
        ("gough_stewart", 13, 63, 15),
        ("scissor_lift", 11, 56, 25),
    ] {
        let world = world(name);
        let model = world.mechanism();
        assert_eq!((model.n_bodies(), model.n_rows()), (bodies, (tree_rows, loop_rows)), "{name}");
    }
}

/// What `every_fixture_meets_its_expectations` checks is what this family promises.
#[test]
fn whoever_stabilizes_expects_closed_loops() {
    for name in mechanisms() {
        let scene = scene(&name);
        if scene.stabilize.is_some() {
            // Where joints may open, the others must not.
            let limit = scene.expect.max_position_error_m.or(scene.expect.max_tree_error).expect("a limit");
            assert!(limit <= 1e-8, "{name} allows {limit} m");
        }
    }
}
