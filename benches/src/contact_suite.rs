//! The contact suite: piles of cubes at 1/60 s, in this and in other engines, one after the other.
//!
//! Every engine begins with the same poses, gravity, friction and density, its other settings are its defaults, and nothing sleeps. Overlap is that
//! of a separating-axis test of the poses after every step, which is not timed. One thread, which the caller provides.

use crate::{ReportTable, Suite, SuiteFailure, SuiteOptions, SuiteReport, short};
use serde_json::{Value, json};
use sinew_mechanism::Settings;
use sinew_picture::Figure;
use sinew_soak::{Pile, PileRun};

/// Seed of the heaps.
const SEED: u64 = 1;
/// Time that a pile is watched, s.
const SECONDS: f64 = 10.0;

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
}

impl Suite for ContactSuite {
    const NAME: &'static str = "contact";
    const FLAGS: &'static [&'static str] = &["--rapier", "--mujoco"];

    fn measure(&mut self, options: &SuiteOptions) -> Result<(), SuiteFailure> {
        let small = [Pile::Tower(10), Pile::Tower(20), Pile::Pyramid(10), Pile::Heap(100)];
        let large: &[Pile] = if options.is_quick() { &[] } else { &[Pile::Pyramid(20), Pile::Heap(1000)] };
        for pile in small.iter().chain(large) {
            let known = self.rows.len();
            self.measure_pile(pile, SECONDS, options)?;
            table(&self.rows[known..]).show();
        }
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
        let mut add = |engine, run| self.rows.push(PileRow { pile: pile.name(), engine, run });
        add("Sinew", pile.run(SEED, seconds).map_err(|error| error.to_string())?);
        #[cfg(feature = "rapier")]
        if options.has("--rapier") {
            let mut world = crate::rapier_piles::RapierPile::new(&pile.poses(SEED));
            add("Rapier", sinew_soak::watch_pile(&mut world, seconds, Settings::default().dt));
        }
        if options.has("--mujoco") {
            let mut world = crate::mujoco::MujocoPile::start(&pile.poses(SEED))?;
            let run = sinew_soak::watch_pile(&mut world, seconds, Settings::default().dt);
            add("MuJoCo", world.finish(run)?);
        }
        Ok(())
    }
}

/// Some rows.
fn table(rows: &[PileRow]) -> ReportTable {
    let title = "Piles of cubes of 0.4 m at 1/60 s, 10 s: ms per step, overlap in mm";
    let head = "pile | engine | ms | ms at rest | longest | ever | at rest | gain of energy | drift, mm | m/s at the end";
    let mut table = ReportTable::new(title, head);
    for PileRow { pile, engine, run } in rows {
        let times =
            [run.mean_time, run.mean_time_at_rest, run.longest_time, run.deepest, run.deepest_at_rest];
        let cells = [pile.clone(), engine.to_string()].into_iter().chain(times.map(|x| short(x * 1e3)));
        let rest =
            [format!("{:.1e}", run.gain), format!("{:.3}", run.drift * 1e3), format!("{:.1e}", run.speed)];
        table.row(cells.chain(rest));
    }
    table.note("At rest: the last second. Gain: the largest in a step, over the energy at the start. Nothing sleeps.");
    table
}

impl SuiteReport for ContactSuite {
    fn to_json(&self) -> Value {
        let rows = self.rows.iter().map(|PileRow { pile, engine, run }| {
            json!({
                "name": format!("{pile} {engine}"),
                "ms_per_step": run.mean_time * 1e3,
                "ms_per_step_at_rest": run.mean_time_at_rest * 1e3,
                "ms_longest": run.longest_time * 1e3,
                "overlap_ever_m": run.deepest,
                "overlap_at_rest_m": run.deepest_at_rest,
                "energy_gain": run.gain,
                "drift_m": run.drift,
                "speed_m_s": run.speed,
            })
        });
        json!({ "rows": rows.collect::<Value>() })
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
}
