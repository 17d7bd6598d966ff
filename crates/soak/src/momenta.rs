//! `soak momentum`: floating mechanisms in every scheme.

use std::path::Path;
use std::time::Instant;

use sinew_soak::{MomentumLoss, SteppedBy};

use crate::options::Options;

/// Largest relative change of momentum.
const KEPT: f64 = 1e-10;

/// Whether every scheme kept the momenta.
pub(crate) fn run(options: &Options) -> bool {
    println!(
        "{:<24} {:>6} {:>6} {:>9} {:>9} {:>6}  worst seeds",
        "scheme", "runs", "lost", "linear", "angular", "s"
    );
    let mut holds = true;
    for scheme in SteppedBy::all().into_iter().filter(|scheme| scheme.name.contains(&options.scheme)) {
        let clock = Instant::now();
        let runs = options.each_seed(options.count.unwrap_or(20), |seed| scheme.run(seed, options.steps));
        let mut losses: Vec<(u64, MomentumLoss)> =
            runs.into_iter().filter_map(|(seed, loss)| loss.ok().map(|loss| (seed, loss))).collect();
        losses.sort_by(|a, b| b.1.largest().total_cmp(&a.1.largest()));
        let lost = losses.iter().filter(|(_, loss)| loss.largest() > KEPT).count();
        let most = |part: fn(&MomentumLoss) -> f64| losses.iter().map(|(_, l)| part(l)).fold(0.0, f64::max);
        let (linear, angular) = (most(|loss| loss.linear), most(|loss| loss.angular));
        let seeds: Vec<u64> = losses.iter().take(lost.min(8)).map(|(seed, _)| *seed).collect();
        let clock = clock.elapsed().as_secs_f64();
        println!(
            "{:<24} {:>6} {lost:>6} {linear:>9.1e} {angular:>9.1e} {clock:>6.0}  {seeds:?}",
            scheme.name,
            losses.len()
        );
        holds &= lost == 0;
        if let Some(folder) = &options.out {
            seeds.iter().for_each(|seed| write(folder, &scheme, *seed, options.steps));
        }
    }
    holds
}

fn write(folder: &Path, scheme: &SteppedBy, seed: u64, steps: u64) {
    let path = folder.join(format!("{}_{seed}.ron", scheme.name.replace([' ', ','], "_")));
    let text = scheme.scene(seed, steps).to_ron();
    if let Err(error) = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, text)) {
        eprintln!("cannot write {}: {error}", path.display());
    }
}
