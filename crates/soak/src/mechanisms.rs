//! `soak mechanisms`: random mechanisms at default settings, a table of faults, and the scenes that have them.

use std::path::Path;

use sinew_scene::{SceneDoc, StabilizeDoc};
use sinew_soak::{SoakFault, Trial, random_scene, shrink};

use crate::options::Options;

/// Seeds of a fault that are listed.
const LISTED: usize = 30;
/// Slowest runs that are listed.
const SLOWEST: usize = 5;

/// Whether no run failed without a word.
pub(crate) fn run(options: &Options) -> bool {
    let runs = options.each_seed(options.count.unwrap_or(1000), |seed| one(seed, options));
    let runs: Vec<(u64, Trial)> =
        runs.into_iter().filter_map(|(seed, trial)| trial.map(|trial| (seed, trial))).collect();
    println!("\n{:<13} {:>5}  seeds", "fault", "runs");
    for fault in SoakFault::ALL {
        let seeds: Vec<u64> = runs.iter().filter(|run| run.1.has(fault)).map(|run| run.0).collect();
        println!("{:<13} {:>5}  {:?}", fault.name(), seeds.len(), &seeds[..seeds.len().min(LISTED)]);
    }
    let mut slow: Vec<&(u64, Trial)> = runs.iter().collect();
    slow.sort_by(|a, b| b.1.mean_s.total_cmp(&a.1.mean_s));
    for (seed, trial) in slow.iter().take(SLOWEST) {
        let (mean, longest) = (1e3 * trial.mean_s, 1e3 * trial.longest_s);
        println!("slow: seed {seed}, {mean:.2} ms per step, the longest {longest:.1} ms");
    }
    if let Some(folder) = &options.out {
        runs.iter().for_each(|(seed, trial)| write(folder, *seed, trial, options));
    }
    let silent = runs.iter().filter(|(_, trial)| trial.fails()).count();
    println!("{silent} of {} runs fail without a word", runs.len());
    silent == 0
}

/// The mechanism of a seed, stabilized if asked for.
fn scene_of(seed: u64, options: &Options) -> SceneDoc {
    let mut scene = random_scene(seed, options.seconds);
    scene.stabilize = options.stabilize.then(StabilizeDoc::default);
    scene
}

fn one(seed: u64, options: &Options) -> Option<Trial> {
    match Trial::of(&scene_of(seed, options)) {
        Ok(trial) => {
            for finding in trial.findings.iter().filter(|finding| finding.fault != SoakFault::EnergySwing) {
                let (name, worst, time) = (finding.fault.name(), finding.worst, finding.time);
                println!("{seed:>6} {name:<13} {worst:>9.2e} from {time:>6.2} s on {}", finding.place);
            }
            Some(trial)
        }
        Err(error) => {
            println!("{seed:>6} cannot be built: {error}");
            None
        }
    }
}

/// Writes a scene per fault, made smaller if asked for.
fn write(folder: &Path, seed: u64, trial: &Trial, options: &Options) {
    let scene = scene_of(seed, options);
    for finding in trial.findings.iter().filter(|finding| finding.fault != SoakFault::EnergySwing) {
        let small = shrink(&scene, finding.fault, options.shrink);
        let path = folder.join(format!("{}_{seed}.ron", finding.fault.name().replace(' ', "_")));
        let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, small.to_ron()));
        let (path, bodies, joints) = (path.display(), small.bodies.len(), small.joints.len());
        match written {
            Ok(()) => println!("wrote {path}: {bodies} bodies, {joints} joints"),
            Err(error) => eprintln!("cannot write {path}: {error}"),
        }
    }
}
