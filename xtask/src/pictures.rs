//! The pictures of the documents, made by the command, by the studio and, for the examples of all crates, by a program of `sinew-show`; and a gallery of pages to
//! turn and play.

use std::fmt::Write as _;
use std::fs;

use crate::shell::{Call, TaskFailure, TaskOutcome, no_arguments, release_binary, root};

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

/// The pages of the gallery: scene, options, what it shows.
const PAGES: [(&str, &str, &str); 6] = [
    (
        "robot",
        "--seconds 4 --fps 30",
        "A robot dragged by its left hand; its joint torques are switched off at 2 s.",
    ),
    ("four_bar", "--fps 60", "A crank that goes round and a rocker that swings."),
    ("gough_stewart", "--fps 30", "A platform on six legs: five closed loops."),
    ("puppet", "--fps 30", "A puppet on strings."),
    ("worm_crawl", "--seconds 4 --fps 20", "A worm of flesh crawls by its muscles alone."),
    ("heap_40", "--seconds 3 --fps 30", "Forty boxes fall on a heap."),
];

/// Where the gallery is, and the largest page in it (bytes).
const GALLERY: &str = "docs/pictures/pages";
const LARGEST_PAGE: u64 = 1_000_000;

/// Makes them all anew; with `--pages` the gallery of pages alone.
pub(crate) fn run(args: &[String]) -> TaskOutcome {
    if args == ["--pages"] {
        Call::cargo("build --release -p sinew").run()?;
        return pages();
    }
    no_arguments(args)?;
    Call::cargo("build --release -p sinew").run()?;
    pages()?;
    Call::cargo("build --release -p sinew-studio").run()?;
    Call::cargo("run --release -p sinew-show --example example_pictures docs/pictures/examples").run()?;
    let commands = PICTURES.map(|(name, line)| ("sinew", name, format!("run {line}")));
    let shots = SHOTS.map(|(name, line)| ("sinew-studio", name, line.to_owned()));
    commands.into_iter().chain(shots).try_for_each(|(binary, name, line)| {
        let file = format!("docs/pictures/{name}");
        Call::new(release_binary(binary)).args(line.split_whitespace()).args([file]).run()
    })
}

/// Makes the pages and their index.
fn pages() -> TaskOutcome {
    let cannot = |error: std::io::Error| TaskFailure::Check(format!("cannot write {GALLERY}: {error}"));
    let folder = root().join(GALLERY);
    fs::create_dir_all(&folder).map_err(cannot)?;
    for (name, options, _) in PAGES {
        let file = folder.join(format!("{name}.html"));
        let _ = fs::remove_file(&file);
        Call::new(release_binary("sinew"))
            .args(["run", name])
            .args(options.split(' '))
            .args(["--html"])
            .args([&file])
            .run()?;
        let size = fs::metadata(&file).map_err(cannot)?.len();
        if size > LARGEST_PAGE {
            return Err(TaskFailure::Check(format!(
                "{name}.html has {size} bytes, more than {LARGEST_PAGE}"
            )));
        }
    }
    fs::write(folder.join("index.html"), index()).map_err(cannot)
}

/// A page that shows all others.
fn index() -> String {
    let mut text = String::from(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Sinew: motions to turn and play</title>\n<style>\n:root { color-scheme: light dark }\n\
         body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem }\n\
         main { display: grid; grid-template-columns: repeat(auto-fill, minmax(20rem, 1fr)); gap: 1.5rem }\n\
         iframe { width: 100%; aspect-ratio: 4/3; border: 1px solid #8888; border-radius: 6px }\n</style>\n\
         <h1>Motions to turn and play</h1>\n\
         <p>Each of these files is a page of its own, written by <code>sinew run SCENE --html FILE</code>.</p>\n<main>\n",
    );
    for (name, _, what) in PAGES {
        let _ = writeln!(
            text,
            "<section>\n<h2><a href=\"{name}.html\">{name}</a></h2>\n<iframe src=\"{name}.html\" title=\"{name}\" loading=\"lazy\"></iframe>\n\
             <p>{what}</p>\n</section>"
        );
    }
    text + "</main>\n</html>\n"
}

#[cfg(test)]
mod tests {
    use super::{PAGES, index};

    #[test]
    fn the_index_leads_to_every_page() {
        let text = index();
        for (name, _, what) in PAGES {
            assert!(text.contains(&format!("<a href=\"{name}.html\">")) && text.contains(what), "{name}");
        }
    }
}
