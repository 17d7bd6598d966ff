//! The figures of the chain suite as tables, as JSON and as curves.

use crate::chain_suite::{ChainSuite, PAPER, PAPER_HAND};
use crate::series::{ChainRow, ChainSeries};
use crate::{ReportTable, SuiteReport, grouped, short, timing::stage_names};
use serde_json::{Value, json};
use sinew_picture::{Figure, PlotCurve};

impl ChainSuite {
    /// Time per link and its stages over the number of links.
    pub(crate) fn series_table(&self, series: &ChainSeries) -> ReportTable {
        let title = format!("{}: µs per link per step", series.title);
        let head = format!("links | best | median | {} | µs per step", stage_names());
        let mut table = ReportTable::new(title, &head);
        for row in self.rows_of(series.key) {
            let times = [row.best(), row.median()].into_iter().chain(row.stages());
            let cells = [grouped(row.n_links)].into_iter().chain(times.map(|time| format!("{time:.3}")));
            table.row(cells.chain([short(row.timing.clock.best * 1e6)]));
        }
        if let (Some((from, to, ratio)), "hinge") = (self.growth(), series.key) {
            table.note(format!("{} to {} links: {}×", grouped(from), grouped(to), short(ratio)));
        }
        table
    }

    /// Memory per link of every chain of 1,000 links and of the longest ones.
    pub(crate) fn memory_table(&self) -> ReportTable {
        let head = "chain | links | stated | held | peak while building | allocations per step";
        let mut table = ReportTable::new("Memory: bytes per link", head);
        for (i, row) in self.rows.iter().enumerate() {
            let is_last = self.rows.get(i + 1).is_none_or(|next| next.series != row.series);
            if let Some(memory) = row.memory.filter(|_| is_last || row.n_links == 1_000) {
                let bytes = [memory.stated, memory.held, memory.peak].map(|bytes| format!("{bytes:.0}"));
                let chain = [row.series.to_string(), grouped(row.n_links)];
                table.row(chain.into_iter().chain(bytes).chain([memory.allocations.to_string()]));
            }
        }
        table
    }

    /// What the paper printed beside what was measured here.
    pub(crate) fn paper_table(&self) -> ReportTable {
        let title = "Beside Hernández et al. 2011 (their figures, their machine): ms per step";
        let mut table = ReportTable::new(title, "scene | paper | here | ratio");
        for (scene, paper, here) in self.beside_paper() {
            table.row([scene, short(paper), format!("{here:.4}"), format!("{:.0}×", paper / here)]);
        }
        table
    }

    /// Fixture scenes.
    pub(crate) fn scenes_table(&self) -> ReportTable {
        let head = format!("scene | bodies | best | median | {}", stage_names());
        let mut table = ReportTable::new("Fixtures with their recorded inputs: µs per step", &head);
        for scene in &self.scenes {
            let times =
                [scene.timing.clock.best, scene.timing.clock.median].into_iter().chain(scene.timing.stages);
            let cells = [scene.name.to_string(), grouped(scene.n_bodies)].into_iter();
            table.row(cells.chain(times.map(|seconds| short(seconds * 1e6))));
        }
        table
    }

    /// Threads.
    pub(crate) fn threads_table(&self) -> ReportTable {
        let links = self.threads.first().map_or(0, |threads| threads.n_links);
        let title = format!("Wide tree of {} hinges: µs per link per step", grouped(links));
        let mut table = ReportTable::new(title, "threads | best | median | speed-up | digest");
        for threads in &self.threads {
            let per_link = |seconds: f64| format!("{:.3}", seconds * 1e6 / threads.n_links as f64);
            table.row([
                threads.n_threads.to_string(),
                per_link(threads.timing.clock.best),
                per_link(threads.timing.clock.median),
                format!("{}×", short(self.threads[0].timing.clock.best / threads.timing.clock.best)),
                format!("{:016x}", threads.digest),
            ]);
        }
        table
    }

    /// Plumb lines.
    pub(crate) fn errors_table(&self) -> ReportTable {
        let title = "Ten hinged links, the last one heavy, 10 s at 1/60 s: anchor error in m";
        let mut table = ReportTable::new(title, "mass ratio | start | engine | largest | at the end");
        let mut errors: Vec<_> = self.errors.iter().collect();
        errors.sort_by(|a, b| a.mass_ratio.total_cmp(&b.mass_ratio).then(a.tilt.total_cmp(&b.tilt)));
        for error in errors {
            let start = if error.tilt > 0.0 { format!("{} rad off", error.tilt) } else { "at rest".into() };
            let cells = [grouped(error.mass_ratio as usize), start, error.engine.to_string()];
            table.row(cells.into_iter().chain([error.largest, error.last].map(|e| format!("{e:.1e}"))));
        }
        table
    }

    /// Rapier's times.
    #[cfg(feature = "rapier")]
    pub(crate) fn rapier_table(&self) -> ReportTable {
        let title = "Rapier, impulse joints, the same hinge chain: µs per link per step";
        let mut table = ReportTable::new(title, "links | best | median | Sinew is faster by");
        for row in self.rows_of("rapier") {
            let ours = self.rows_of("hinge").find(|ours| ours.n_links == row.n_links);
            let ratio = ours.map_or(String::new(), |ours| format!("{}×", short(row.best() / ours.best())));
            table.row([grouped(row.n_links), short(row.best()), short(row.median()), ratio]);
        }
        table
    }

    /// Time per link of every series, Rapier and the paper.
    pub(crate) fn curves(&self) -> Vec<PlotCurve> {
        let curve = |name: &str, key: &str| -> PlotCurve {
            (name.to_string(), self.rows_of(key).map(|row| (row.n_links as f64, row.best())).collect())
        };
        let series = ChainSeries::all();
        let ours = series.iter().map(|series| curve(series.short_title, series.key));
        let paper = PAPER.iter().map(|&(links, ms)| (links as f64, ms * 1e3 / links as f64));
        let paper = ("Hernández et al. 2011".into(), paper.collect());
        ours.chain([curve("Rapier, impulse joints", "rapier"), paper]).collect()
    }

    /// Scene, milliseconds per step in the paper and here.
    fn beside_paper(&self) -> Vec<(String, f64, f64)> {
        let chains = PAPER.iter().filter_map(|&(links, ms)| {
            let row = self.rows_of("hinge").find(|row| row.n_links == links)?;
            Some((format!("chain of {}", grouped(links)), ms, row.timing.clock.best * 1e3))
        });
        let hand = self.scenes.iter().find(|scene| scene.name == "hand");
        chains.chain(hand.map(|hand| ("hand".into(), PAPER_HAND, hand.timing.clock.best * 1e3))).collect()
    }
}

impl SuiteReport for ChainSuite {
    fn to_json(&self) -> Value {
        let us = |seconds: f64| seconds * 1e6;
        let scenes = self.scenes.iter().map(|scene| {
            json!({
                "name": scene.name,
                "bodies": scene.n_bodies,
                "us_per_step_best": us(scene.timing.clock.best),
                "us_per_step_median": us(scene.timing.clock.median),
            })
        });
        let threads = self.threads.iter().map(|threads| {
            json!({
                "name": format!("threads_{}", threads.n_threads),
                "links": threads.n_links,
                "us_per_link_best": us(threads.timing.clock.best) / threads.n_links as f64,
                "us_per_link_median": us(threads.timing.clock.median) / threads.n_links as f64,
                "digest": format!("{:016x}", threads.digest),
            })
        });
        let errors = self.errors.iter().map(|error| {
            json!({
                "name": format!("{}, {:e}, {} rad", error.engine, error.mass_ratio, error.tilt),
                "largest_m": error.largest,
                "last_m": error.last,
            })
        });
        let paper = PAPER.iter().map(|&(links, ms)| {
            json!({ "name": format!("paper_{links}"), "links": links, "us_per_link": ms * 1e3 / links as f64 })
        });
        let growth = self.growth().map(|(from, to, ratio)| json!({ "from": from, "to": to, "ratio": ratio }));
        json!({
            "rows": self.rows.iter().copied().map(ChainRow::to_json).collect::<Value>(),
            "growth": growth,
            "paper": paper.collect::<Value>(),
            "scenes": scenes.collect::<Value>(),
            "threads": threads.collect::<Value>(),
            "errors": errors.collect::<Value>(),
        })
    }

    /// Time per link over the number of links.
    fn figure(&self) -> Figure {
        Figure {
            title: "Implicit step of a chain, one thread: µs per link",
            across: "links",
            curves: self.curves(),
            log: true,
        }
    }
}
