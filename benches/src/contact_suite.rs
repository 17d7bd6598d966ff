//! The contact suite: piles of cubes and ragdolls at 1/60 s, in this and in other engines, one after the other; worms; batches of ragdolls.
//!
//! Every engine begins with the same poses, joints, gravity, friction and density, its other settings are its defaults, and nothing sleeps. Overlap is that
//! of a separating-axis test of the poses after every step, which is not timed; that of flesh is what the engine tells. One thread, which the caller provides.

use crate::batches::{BatchRow, batch_table, mujoco_batch, run_batch, starts};
use crate::{ReportTable, Suite, SuiteFailure, SuiteOptions, SuiteReport, short, worms::run_worms};
use serde_json::{Value, json};
use sinew_mechanism::Settings;
use sinew_picture::Figure;
use sinew_sim::World;
use sinew_soak::{Pile, PileRun, PileTimes, watch_pile};

/// Seed of the heaps.
const SEED: u64 = 1;
/// Time that a pile is watched, s.
const SECONDS: f64 = 10.0;
/// Time that worms are watched, s.
const WORM_SECONDS: f64 = 1.0;
/// Computing time after which a pile is watched no longer, s.
const PATIENCE: f64 = 120.0;
/// Steps of a batch.
const BATCH_STEPS: u32 = 120;

/// One pile in one engine.
#[derive(Clone, Debug)]
pub(crate) struct PileRow {
    /// The pile.
    pub(crate) pile: String,
    /// The engine.
    pub(crate) engine: &'static str,
    /// What was seen.
    pub(crate) run: PileRun,
}

/// The suite with all it has measured so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactSuite {
    /// Piles and engines.
    pub(crate) rows: Vec<PileRow>,
    /// Batches and engines.
    pub(crate) batches: Vec<BatchRow>,
}

impl Suite for ContactSuite {
    const NAME: &'static str = "contact";
    const FLAGS: &'static [&'static str] = &["--rapier", "--mujoco"];

    fn measure(&mut self, options: &SuiteOptions) -> Result<(), SuiteFailure> {
        let small = [Pile::Tower(10), Pile::Tower(20), Pile::Pyramid(10), Pile::Heap(100)];
        let small = small.iter().chain(&[Pile::Ragdolls(1), Pile::Ragdolls(10)]);
        let large = [Pile::Pyramid(20), Pile::Ragdolls(100), Pile::Heap(1000)];
        let (large, worms, batch): (&[Pile], _, _) =
            if options.is_quick() { (&[], 10, 100) } else { (&large, 100, 1000) };
        small.into_iter().try_for_each(|pile| self.measure_pile(pile, SECONDS, options))?;
        self.measure_batch(batch, BATCH_STEPS, options)?;
        large.iter().try_for_each(|pile| self.measure_pile(pile, SECONDS, options))?;
        self.measure_worms(worms)?;
        table(&self.rows).show();
        Ok(())
    }
}

impl ContactSuite {
    fn measure_pile(
        &mut self,
        pile: &Pile,
        seconds: f64,
        options: &SuiteOptions,
    ) -> Result<(), SuiteFailure> {
        let (parts, scene) = (pile.parts(SEED), pile.scene(SEED, seconds));
        let name = pile.name();
        let times = times(seconds);
        let mut world = World::from_scene(&scene).map_err(|error| error.to_string())?;
        self.add(&name, "Sinew", watch_pile(&mut world, &parts, times, &mut progress(&name, "Sinew")));
        #[cfg(feature = "rapier")]
        if options.has("--rapier") {
            let mut world = crate::rapier_piles::RapierPile::new(&parts);
            self.add(&name, "Rapier", watch_pile(&mut world, &parts, times, &mut progress(&name, "Rapier")));
        }
        if options.has("--mujoco") {
            let mut world = crate::mujoco::MujocoPile::start(&parts)?;
            let run = watch_pile(&mut world, &parts, times, &mut progress(&name, "MuJoCo"));
            self.add(&name, "MuJoCo", world.finish(run)?);
        }
        Ok(())
    }

    /// Keeps a row and shows it.
    fn add(&mut self, pile: &str, engine: &'static str, run: PileRun) {
        self.rows.push(PileRow { pile: pile.to_owned(), engine, run });
        table(&self.rows[self.rows.len() - 1..]).show();
    }

    fn measure_worms(&mut self, n: u32) -> Result<(), SuiteFailure> {
        let name = format!("worms_{n}");
        let run = run_worms(n, times(WORM_SECONDS), &mut progress(&name, "Sinew"))?;
        self.add(&name, "Sinew", run);
        Ok(())
    }

    fn measure_batch(&mut self, n: u32, steps: u32, options: &SuiteOptions) -> Result<(), SuiteFailure> {
        let starts = starts(n);
        self.batches.push(run_batch(&starts, steps, &mut progress("batch", "Sinew"))?);
        if options.has("--mujoco") {
            self.batches.push(mujoco_batch(&starts, steps)?);
        }
        batch_table(&self.batches).show();
        Ok(())
    }
}

/// How long a pile is watched.
fn times(seconds: f64) -> PileTimes {
    PileTimes { seconds, dt: Settings::default().dt, patience: PATIENCE }
}

/// Tells of every hundredth of a run.
#[expect(clippy::print_stderr, reason = "progress is no result")]
fn progress(pile: &str, engine: &str) -> impl FnMut(f64) {
    let (what, mut told) = (format!("{pile} in {engine}"), 0);
    move |share: f64| {
        let percent = (100.0 * share + 1e-9) as u32;
        if percent > told {
            told = percent;
            eprint!("\r{what}: {told} %{}", if told == 100 { "\n" } else { "" });
        }
    }
}

/// Some rows.
fn table(rows: &[PileRow]) -> ReportTable {
    let title = "Piles at 1/60 s: ms per step, overlap and joint gap in mm";
    let head = "pile | engine | s | ms | ms at rest | longest | ever | at rest | joint gap | gain of energy | drift, mm | m/s at the end";
    let mut table = ReportTable::new(title, head);
    for PileRow { pile, engine, run } in rows {
        let times =
            [run.mean_time, run.mean_time_at_rest, run.longest_time, run.deepest, run.deepest_at_rest];
        let known = |x: f64| if x.is_nan() { "–".to_owned() } else { short(x * 1e3) };
        let what = [pile.clone(), engine.to_string(), short(run.seconds)];
        let cells = what.into_iter().chain(times.map(known));
        let rest = [
            if run.gap > 0.0 { format!("{:.1e}", run.gap * 1e3) } else { String::new() },
            format!("{:.1e}", run.gain),
            known(run.drift),
            format!("{:.1e}", run.speed),
        ];
        table.row(cells.chain(rest));
    }
    table.note("s: time that was watched, less where computing took longer than two minutes. At rest: the last second. Gain: the largest in a step, over the energy at the start. Nothing sleeps.");
    table
}

impl SuiteReport for ContactSuite {
    fn to_json(&self) -> Value {
        let rows = self.rows.iter().map(|PileRow { pile, engine, run }| {
            json!({
                "name": format!("{pile} {engine}"),
                "seconds": run.seconds,
                "ms_per_step": run.mean_time * 1e3,
                "ms_per_step_at_rest": run.mean_time_at_rest * 1e3,
                "ms_longest": run.longest_time * 1e3,
                "overlap_ever_m": run.deepest,
                "overlap_at_rest_m": run.deepest_at_rest,
                "joint_gap_m": run.gap,
                "energy_gain": run.gain,
                "drift_m": run.drift,
                "speed_m_s": run.speed,
            })
        });
        let batches = self.batches.iter().map(|row| {
            json!({ "name": format!("batch {}", row.engine), "ragdolls": row.dolls, "steps_per_second": row.rate() })
        });
        json!({ "rows": rows.collect::<Value>(), "batches": batches.collect::<Value>() })
    }

    /// Overlap over time per step.
    fn figure(&self) -> Figure {
        let mut engines: Vec<&str> = self.rows.iter().map(|row| row.engine).collect();
        engines.sort_unstable();
        engines.dedup();
        let curve = |engine: &str| {
            let rows = self.rows.iter().filter(|row| row.engine == engine);
            (engine.to_string(), rows.map(|row| (row.run.mean_time * 1e3, row.run.deepest * 1e3)).collect())
        };
        Figure {
            title: "Largest overlap in mm, over the time of a step",
            across: "ms per step",
            curves: engines.into_iter().map(curve).collect(),
            log: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tower_has_a_row_for_every_engine_that_runs() {
        let mut suite = ContactSuite::default();
        suite.measure_pile(&Pile::Tower(3), 0.5, &SuiteOptions::default()).unwrap();
        assert_eq!(suite.rows.len(), 1);
        let run = &suite.rows[0].run;
        assert!(run.deepest < 1e-3 && run.mean_time > 0.0 && run.longest_time >= run.mean_time);
        assert_eq!(suite.to_json()["rows"][0]["name"], "tower_3 Sinew");
        assert!(table(&suite.rows).to_string().contains("tower_3"));
        assert_eq!(suite.figure().curves.len(), 1);
    }

    #[test]
    fn ragdolls_worms_and_batches_have_figures() {
        let (mut suite, options) = (ContactSuite::default(), SuiteOptions::default());
        suite.measure_pile(&Pile::Ragdolls(1), 0.5, &options).unwrap();
        assert!(suite.rows[0].run.gap < 1e-3);
        let run = run_worms(1, times(0.1), &mut |_| {}).unwrap();
        assert!(run.mean_time > 0.0 && run.deepest < 0.02);
        suite.measure_batch(3, 30, &options).unwrap();
        assert!(suite.to_json()["batches"][0]["steps_per_second"].as_f64() > Some(0.0));
    }
}
