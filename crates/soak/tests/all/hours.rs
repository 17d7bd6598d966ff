//! The scenes of `cargo xtask soak --hours H` for half a second each, and their report.

use sinew_soak::{EndlessRun, Machine, SceneSlice, SoakLog, SoakReport, SoakRound};
use sinew_testkit::soak_scale;

const ROUNDS: usize = 8;
const STEPS: usize = 4;

#[test]
fn scenes_of_a_long_soak_keep_their_bounds_and_are_told() {
    let mut runs = EndlessRun::all("", 1).expect("scenes");
    let mut log = SoakLog::default();
    for round in 0..ROUNDS {
        let slice = |run: &mut EndlessRun| {
            let worst = (0..STEPS * soak_scale()).map(|_| run.step()).reduce(|a, b| a.and(b));
            SceneSlice { worst: worst.expect("steps"), seconds: 1.0, grown: Some(0.0) }
        };
        let slices = runs.iter_mut().map(slice).collect();
        log.rounds.push(SoakRound { time: round as f64, resident: Some(50e6), slices });
    }
    let verdicts = log.verdicts(&runs);
    assert!(verdicts.iter().all(|verdict| verdict.holds), "{verdicts:#?}");
    assert!((0..runs.len()).all(|i| log.worst(i).kinetic > 0.0 && log.worst(i).steps > 0));
    let machine = Machine::here();
    let report = SoakReport {
        machine: &machine,
        command: "cargo xtask soak --hours 1",
        planned: 3600.0,
        files: ["soak.svg", "soak.csv"],
        runs: &runs,
        log: &log,
    };
    let text = report.markdown();
    assert!(
        text.contains("so far") && text.contains("All bounds hold") && text.contains("(soak.svg)"),
        "{text}"
    );
    assert!(report.plots().contains("resident memory"));
    assert_eq!(report.table().lines().count(), 1 + ROUNDS * runs.len());
}

#[test]
fn disturbances_are_those_of_the_seed() {
    let end = |seed: u64| {
        let mut runs = EndlessRun::all("ladder", seed).expect("a scene");
        (0..150).for_each(|_| {
            runs[0].step();
        });
        runs[0].world().digest()
    };
    assert_eq!(end(1), end(1));
    assert_ne!(end(1), end(2));
}
