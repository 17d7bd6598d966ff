//! Arguments of the program, and seeds spread over threads.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// What is asked for.
pub(crate) struct Options {
    pub(crate) count: Option<u64>,
    pub(crate) seed: u64,
    pub(crate) seconds: f64,
    pub(crate) hours: f64,
    pub(crate) steps: u64,
    pub(crate) threads: usize,
    /// Part of the names of the schemes or scenes to run.
    pub(crate) scheme: String,
    /// Where failing scenes or reports are written.
    pub(crate) out: Option<PathBuf>,
    /// Whether every step is followed by a stabilization.
    pub(crate) stabilize: bool,
    /// Runs that making a failing scene smaller may take.
    pub(crate) shrink: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            count: None,
            seed: 1,
            seconds: 10.0,
            hours: 1.0,
            steps: 10_000,
            threads: 1,
            scheme: String::new(),
            out: None,
            stabilize: false,
            shrink: 0,
        }
    }
}

impl Options {
    /// Reads pairs of a flag and its value, and `--stabilize`.
    pub(crate) fn parse(words: &[&str]) -> Result<Self, String> {
        let mut options = Self { stabilize: words.contains(&"--stabilize"), ..Self::default() };
        let pairs: Vec<&str> = words.iter().copied().filter(|word| *word != "--stabilize").collect();
        for pair in pairs.chunks(2) {
            let [flag, value] = pair else { return Err(format!("`{}` needs a value", pair[0])) };
            let bad = || format!("`{flag} {value}`: this is not a number");
            match *flag {
                "--count" => options.count = Some(value.parse().map_err(|_| bad())?),
                "--seed" => options.seed = value.parse().map_err(|_| bad())?,
                "--seconds" => options.seconds = value.parse().map_err(|_| bad())?,
                "--hours" => options.hours = value.parse().map_err(|_| bad())?,
                "--steps" => options.steps = value.parse().map_err(|_| bad())?,
                "--threads" => options.threads = value.parse().map_err(|_| bad())?,
                "--shrink" => options.shrink = value.parse().map_err(|_| bad())?,
                "--scheme" => options.scheme = (*value).to_owned(),
                "--out" => options.out = Some(PathBuf::from(value)),
                _ => return Err(format!("unexpected argument `{flag}`")),
            }
        }
        Ok(options)
    }

    /// What `run` gives for every seed, in their order; a line on the way now and then.
    pub(crate) fn each_seed<T: Send>(&self, count: u64, run: impl Fn(u64) -> T + Sync) -> Vec<(u64, T)> {
        let (next, found, clock) = (AtomicU64::new(0), Mutex::new(Vec::new()), Instant::now());
        let work = || {
            while let k = next.fetch_add(1, Ordering::Relaxed)
                && k < count
            {
                let seed = self.seed + k;
                let result = run(seed);
                found.lock().expect("no panic").push((seed, result));
                if (k + 1) % 50 == 0 {
                    eprintln!("{} of {count} after {:.0} s", k + 1, clock.elapsed().as_secs_f64());
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.threads.max(1) {
                scope.spawn(work);
            }
        });
        let mut found = found.into_inner().expect("no panic");
        found.sort_by_key(|(seed, _)| *seed);
        found
    }
}
