//! The pictures of the documents, made by the command, by the studio and, for the examples of all crates, by a program of `sinew-show`.

use crate::shell::{Call, TaskOutcome, no_arguments, release_binary};

/// What is run for which file of `docs/pictures`.
const PICTURES: [(&str, &str); 7] = [
    ("robot.gif", "robot --size 420x340 --gif"),
    ("hand_flesh.png", "hand_flesh --size 300x220 --filmstrip"),
    ("hand_flesh_mesh.png", "hand_flesh --size 720x480 --show mesh --at 1.7 --png"),
    ("showcase.png", "showcase --size 720x560 --png"),
    ("worm_jump.png", "worm_jump --size 300x200 --filmstrip"),
    ("worm_roll.gif", "worm_roll --size 420x260 --gif"),
    ("mesh_320.png", "mesh_320 --size 640x420 --png"),
];

/// What the studio is started with for which file of `docs/pictures`.
const SHOTS: [(&str, &str); 2] =
    [("studio_worm.png", "worm --shot"), ("studio_mesh.png", "worm --mesh --shot")];

/// Makes them all anew.
pub(crate) fn run(args: &[String]) -> TaskOutcome {
    no_arguments(args)?;
    Call::cargo("build --release -p sinew").run()?;
    Call::cargo("build --release -p sinew-studio").run()?;
    Call::cargo("run --release -p sinew-show --example example_pictures docs/pictures/examples").run()?;
    let commands = PICTURES.map(|(name, line)| ("sinew", name, format!("run {line}")));
    let shots = SHOTS.map(|(name, line)| ("sinew-studio", name, line.to_owned()));
    commands.into_iter().chain(shots).try_for_each(|(binary, name, line)| {
        let file = format!("docs/pictures/{name}");
        Call::new(release_binary(binary)).args(line.split_whitespace()).args([file]).run()
    })
}
