//! `soak --hours H`: built-in scenes in turn for hours, and a report that is there at any time.
//!
//! Each scene has a slice of two seconds of computing time in a round. The report, its plots and its table are written every minute, as part files that
//! are renamed, so that an interrupted soak leaves what it saw until then.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sinew_io::{Disk, write_file};
use sinew_soak::{EndlessRun, Machine, SceneSlice, SoakLog, SoakReport, SoakRound};

use crate::options::Options;

/// Computing time of a scene in a round, as long as there are many rounds (s), and least number of rounds.
const SLICE: f64 = 2.0;
const ROUNDS: f64 = 20.0;
/// Time between reports (s).
const REPORT: f64 = 60.0;
/// Where the report is by default.
const FOLDER: &str = "target/soak";

/// Whether all bounds hold.
pub(crate) fn run(options: &Options) -> Result<bool, String> {
    let runs = EndlessRun::all(&options.scheme, options.seed).map_err(|error| error.to_string())?;
    if runs.is_empty() || options.hours.is_nan() || options.hours <= 0.0 {
        return Err("there is nothing to run".to_owned());
    }
    let mut soak = Soak::new(options, runs)?;
    let clock = Instant::now();
    let mut reported = 0.0;
    while clock.elapsed().as_secs_f64() < soak.planned {
        soak.round(&clock);
        if clock.elapsed().as_secs_f64() >= reported + REPORT {
            soak.write()?;
            reported = clock.elapsed().as_secs_f64();
        }
    }
    soak.write()?;
    println!("{}", soak.report().markdown());
    println!("written to {}", soak.files[0].display());
    Ok(soak.log.verdicts(&soak.runs).iter().all(|verdict| verdict.holds))
}

/// A soak on the way.
struct Soak {
    machine: Machine,
    command: String,
    /// How long it should last, and the slice of a scene (s).
    planned: f64,
    slice: f64,
    /// Report, plots and table.
    files: [PathBuf; 3],
    runs: Vec<EndlessRun>,
    log: SoakLog,
}

impl Soak {
    fn new(options: &Options, runs: Vec<EndlessRun>) -> Result<Self, String> {
        let machine = Machine::here();
        let planned = 3600.0 * options.hours;
        let folder = options.out.clone().unwrap_or_else(|| FOLDER.into());
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let file = |ending: &str| folder.join(format!("soak-{}.{ending}", machine.date));
        let mut command = format!("cargo xtask soak --hours {}", options.hours);
        if options.seed != 1 {
            command += &format!(" --seed {}", options.seed);
        }
        if !options.scheme.is_empty() {
            command += &format!(" --scheme {}", options.scheme);
        }
        Ok(Self {
            files: [file("md"), file("svg"), file("csv")],
            command,
            planned,
            slice: SLICE.min(planned / (ROUNDS * runs.len() as f64)),
            machine,
            runs,
            log: SoakLog::default(),
        })
    }

    /// Gives each scene its slice.
    fn round(&mut self, clock: &Instant) {
        let length = Duration::from_secs_f64(self.slice);
        let slices = self.runs.iter_mut().map(|run| {
            let (before, slice) = (resident(), Instant::now());
            let mut worst = run.step();
            while slice.elapsed() < length {
                worst = worst.and(run.step());
            }
            let grown = resident().zip(before).map(|(after, before)| after - before);
            SceneSlice { worst, seconds: slice.elapsed().as_secs_f64(), grown }
        });
        let slices = slices.collect();
        let round = SoakRound { time: clock.elapsed().as_secs_f64(), resident: resident(), slices };
        self.log.rounds.push(round);
    }

    fn report<'a>(&'a self) -> SoakReport<'a> {
        let name = |path: &'a Path| path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let [_, plots, table] = &self.files;
        SoakReport {
            machine: &self.machine,
            command: &self.command,
            planned: self.planned,
            files: [name(plots), name(table)],
            runs: &self.runs,
            log: &self.log,
        }
    }

    fn write(&self) -> Result<(), String> {
        let report = self.report();
        let texts = [report.markdown(), report.plots(), report.table()];
        for (path, text) in self.files.iter().zip(texts) {
            let written = write_file::<Disk>(path, None, text.as_bytes());
            written.map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(())
    }
}

/// Resident memory of this process (bytes), where the system tells it.
fn resident() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(1024.0 * kilobytes)
}
