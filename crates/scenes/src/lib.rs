#![doc = include_str!("../README.md")]

macro_rules! embedded {
    ($($name:literal),* $(,)?) => { &[$(($name, include_str!(concat!("../scenes/", $name, ".ron")))),*] };
}

/// Names and texts of the built-in scenes.
pub const SCENES: &[(&str, &str)] = embedded![
    "branching_tree",
    "bricard",
    "cantilever",
    "chain_10",
    "chain_100",
    "chain_1000",
    "chain_10000",
    "characters_holding_hands",
    "cube_drop",
    "double_pendulum",
    "finger",
    "finger_manipulate",
    "fish",
    "fish_escape",
    "fish_jump",
    "fish_turnover",
    "flyball_governor",
    "four_bar",
    "gough_stewart",
    "gravity_turned",
    "hand",
    "hand_flesh",
    "ladder_12_1",
    "ladder_12_4",
    "ladder_1_48",
    "ladder_1_96",
    "ladder_6_96",
    "mesh_320",
    "mesh_56",
    "n_four_bar",
    "pendulum",
    "pendulum_of_strings",
    "plate_on_strings",
    "robot",
    "scissor_lift",
    "seaweed_and_fish",
    "showcase",
    "slider_crank",
    "squeezer",
    "stiff_sweep",
    "tet_inverted",
    "tet_single",
    "three_characters_pulled",
    "twisted_bar",
    "worm",
    "worm_70k",
    "worm_bend",
    "worm_jump",
    "worm_jump_2",
    "worm_jump_bad_timing",
    "worm_limp",
    "worm_roll",
    "worm_wave",
];

/// The text of a built-in scene.
pub fn text(name: &str) -> Option<&'static str> {
    SCENES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    #[test]
    fn scenes_are_the_fixtures() {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/mechanisms");
        // A published package has no fixtures beside it.
        let Ok(entries) = fs::read_dir(fixtures) else { return };
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a name");
            let text = super::text(name).unwrap_or_else(|| panic!("{name} is missing from lib.rs"));
            let same = text == fs::read_to_string(&path).expect("a file");
            assert!(same, "scenes/{name}.ron differs from its fixture: run `cargo xtask fixtures sync`");
        }
    }

    #[test]
    fn names_are_in_order_and_there_once() {
        assert!(super::SCENES.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
