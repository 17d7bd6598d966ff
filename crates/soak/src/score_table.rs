//! `soak scores`: every built-in score, or those of files, with small changes and with half the step.

use sinew_scene::SceneDoc;
use sinew_soak::{Perturbation, unmet};

use crate::options::Options;

/// Changes of each score, unless told otherwise.
const COUNT: u64 = 20;

/// Prints how many changes each score bears; whether all bear all. Words that end with `.ron` are files.
pub(crate) fn run(words: &[&str]) -> Result<bool, String> {
    let (files, rest): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| word.ends_with(".ron"));
    let options = Options::parse(&rest)?;
    let scenes = if files.is_empty() { built_in(&options.scheme) } else { read(&files)? };
    println!("{:<22} {:>8} {:>10} {:>9}", "score", "as it is", "half a step", "kept");
    Ok(scenes.iter().filter(|scene| !try_all(&options, scene)).count() == 0)
}

/// All built-in scenes with a score whose name contains this.
fn built_in(part: &str) -> Vec<SceneDoc> {
    let chosen = sinew_scenes::SCENES.iter().filter(|(name, _)| name.contains(part));
    let scenes = chosen.filter_map(|(name, text)| SceneDoc::from_ron(text, name).ok());
    scenes.filter(|scene| scene.score.is_some()).collect()
}

fn read(files: &[&str]) -> Result<Vec<SceneDoc>, String> {
    let scene = |file: &&str| {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
        SceneDoc::from_ron(&text, file).map_err(|error| error.to_string())
    };
    files.iter().map(scene).collect()
}

/// Prints the row of a score; whether it bears all changes.
fn try_all(options: &Options, scene: &SceneDoc) -> bool {
    let missed = |perturbation: Perturbation| {
        unmet(&perturbation.of(scene)).unwrap_or_else(|error| vec![error.to_string()])
    };
    let count = options.count.unwrap_or(COUNT);
    let runs = options.each_seed(count, |seed| missed(Perturbation::of_seed(seed)));
    let [plain, halved] = [1.0, 0.5].map(|dt| missed(Perturbation { dt, ..Perturbation::NONE }));
    let kept = runs.iter().filter(|(_, missed)| missed.is_empty()).count();
    let say = |missed: &[String]| if missed.is_empty() { "yes" } else { "no" };
    let share = format!("{kept}/{count}");
    println!("{:<22} {:>8} {:>10} {share:>9}", scene.name, say(&plain), say(&halved));
    let cases = [("as it is".to_owned(), plain), ("half a step".to_owned(), halved)].into_iter();
    let seeds = runs.into_iter().map(|(seed, missed)| (format!("seed {seed}"), missed));
    let failed: Vec<_> = cases.chain(seeds).filter(|(_, missed)| !missed.is_empty()).collect();
    failed.iter().for_each(|(case, missed)| println!("    {case}: {}", missed.join("; ")));
    failed.is_empty()
}
