//! `soak scene FILE`: one scene, a line per step and what was found.

use std::path::Path;

use sinew_scene::SceneDoc;
use sinew_soak::{Trial, is_frozen};

/// Whether nothing failed without a word.
pub(crate) fn run(file: &str) -> Result<bool, String> {
    let scene = SceneDoc::load(Path::new(file)).map_err(|errors| errors.to_string())?;
    println!(
        "{:>8} {:>11} {:>11} {:>11} {:>8} {:>8} {:>5} {:>6}",
        "time s", "kinetic J", "gravity J", "elastic J", "excess", "gap m", "parts", "solves"
    );
    let trial = Trial::run(&scene, &mut |world, report, excess| {
        let (energy, gap) = (world.energy(), world.violation().position);
        let (parts, solves) = (report.mechanism.substeps, report.mechanism.iterations);
        println!(
            "{:>8.4} {:>11.4e} {:>11.4e} {:>11.4e} {:>8.1e} {gap:>8.1e} {parts:>5} {solves:>6}",
            report.time, energy.kinetic, energy.gravity, energy.elastic, excess.now
        );
    });
    let trial = trial.map_err(|error| error.to_string())?;
    for finding in &trial.findings {
        let (name, worst, time) = (finding.fault.name(), finding.worst, finding.time);
        println!("{name}: {worst:.2e} from {time:.2} s on {}", finding.place);
    }
    if let Some(share) = is_frozen(&scene).map_err(|error| error.to_string())? {
        println!("frozen: {share:.2e} of the kinetic energy it should have");
        return Ok(false);
    }
    Ok(!trial.fails())
}
