//! The built-in scenes in groups, for `sinew list`, and as templates, for `sinew show` and `sinew new`.

use std::fmt::Write as _;
use std::path::Path;

use sinew_scenes::SCENES;

use crate::disk::write_file;
use crate::error::{CommandError, Failure, WriteError};
use crate::output_check::{self, OutputForm, WantedOutput};
use crate::scenes;

/// Groups, with how their scenes begin; the first one that fits has a scene.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "First steps",
        &[
            "showcase",
            "pendulum",
            "double_pendulum",
            "robot",
            "hand",
            "worm_",
            "bouncing_balls",
            "heap_40",
            "motor_capped",
            "crane",
        ],
    ),
    (
        "Characters and scores",
        &[
            "fish",
            "finger",
            "guide_",
            "goal_",
            "puppet",
            "three_characters",
            "characters_",
            "seaweed",
            "four_bar_scored",
            "two_arms",
            "robot_",
        ],
    ),
    (
        "Flesh",
        &[
            "soft_",
            "flesh_",
            "jelly_",
            "hand_flesh",
            "cantilever",
            "clay_",
            "putty_",
            "tet_",
            "cube_drop",
            "crossed_bars",
            "flush_cubes",
            "pedestal",
            "box_on_soft",
            "ball_on_pad",
            "explicit_",
        ],
    ),
    (
        "Linkages and loops",
        &[
            "bennett",
            "bricard",
            "four_bar",
            "n_four_bar",
            "slider_crank",
            "squeezer",
            "sarrus",
            "scissor",
            "gough",
            "rockers",
            "mesh_",
            "ladder_",
            "flyball",
            "telescope",
            "doubled_",
            "pendulum_of",
            "plate_on",
            "ring_100",
        ],
    ),
    (
        "Contact",
        &[
            "heap_",
            "heavy_on",
            "mixed_",
            "rings_",
            "bowl",
            "stairs",
            "plank",
            "on_ice",
            "turntable",
            "gate",
            "balls_",
            "barely_",
            "bricks_",
            "beside_",
            "touching_",
            "sleepers_",
            "rolling_",
            "box_reduced",
            "friction_",
            "tower",
            "wall",
        ],
    ),
];

/// Scenes that are in no group.
const REST: &str = "Joints, ropes, gears and spin";

/// All scenes by group, a line each.
pub(crate) fn list() -> Result<String, CommandError> {
    let width = SCENES.iter().map(|(name, _)| name.len()).max().unwrap_or(0) + 2;
    let mut text = String::new();
    for group in GROUPS.iter().map(|(group, _)| *group).chain([REST]) {
        let _ = writeln!(text, "{}{group}", if text.is_empty() { "" } else { "\n" });
        for (name, _) in SCENES.iter().filter(|(name, _)| group_of(name) == group) {
            let line = format!("  {name:<width$}{}", scenes::find_built_in(name)?.parse()?.description);
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    text += "\n`sinew run NAME` runs one, `sinew show NAME` prints its text, `sinew new FILE.ron --from NAME` starts one of your own.";
    Ok(text)
}

fn group_of(name: &str) -> &'static str {
    let fits = |(_, starts): &&(&str, &[&str])| starts.iter().any(|start| name.starts_with(start));
    GROUPS.iter().find(fits).map_or(REST, |(group, _)| group)
}

/// The text of a built-in scene.
pub(crate) fn show(name: &str) -> Result<String, CommandError> {
    Ok(scenes::find_built_in(name)?.text().trim_end().to_owned())
}

/// Writes the text of a built-in scene to a file that is not there yet.
pub(crate) fn new(path: &Path, from: &str) -> Result<String, Failure> {
    let text = scenes::find_built_in(from)?.text().to_owned();
    let wanted = WantedOutput { option: "FILE.ron", path: path.to_owned(), form: OutputForm::File };
    output_check::check(&[wanted], &[])?;
    if std::fs::symlink_metadata(path).is_ok() {
        let problem = "it is there already; choose another name";
        return Err(CommandError(format!("cannot write {}: {problem}", path.display())).into());
    }
    write_file(path, None, text.as_bytes()).map_err(|error| WriteError::at(path, &error))?;
    Ok(format!(
        "wrote {}, a copy of the scene `{from}`; `sinew run {}` runs it",
        path.display(),
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::{GROUPS, SCENES, group_of};

    #[test]
    fn every_start_of_a_group_names_a_scene() {
        for (group, starts) in GROUPS {
            let n = SCENES.iter().filter(|(name, _)| group_of(name) == *group).count();
            assert!(n > 4, "{group} has {n} scenes");
            assert!(starts.len() > 4);
        }
    }
}
