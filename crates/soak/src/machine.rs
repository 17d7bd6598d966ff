//! Where and when figures were measured: a time without its machine, date and commit says nothing.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// A machine, a day and a version of the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Model of the processor, `unknown` where the system does not tell.
    pub cpu: String,
    /// Threads the system offers.
    pub n_threads: usize,
    /// System and architecture, such as `linux x86_64`.
    pub system: String,
    /// Day, UTC, `YYYY-MM-DD`.
    pub date: String,
    /// Commit, with `+` behind it if the sources differ from it; empty outside a repository.
    pub commit: String,
}

impl Machine {
    /// This machine, now.
    pub fn here() -> Self {
        let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Self {
            cpu: cpu_model(&cpu).unwrap_or("unknown").to_string(),
            n_threads: n_cores(),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            date: date(seconds / 86_400),
            commit: commit(),
        }
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { cpu, n_threads, system, date, commit } = self;
        write!(f, "{cpu}, {n_threads} threads, {system} · {date}")?;
        if commit.is_empty() { Ok(()) } else { write!(f, " · commit {commit}") }
    }
}

/// Threads that the system offers.
pub fn n_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The first `model name` of a processor table.
fn cpu_model(table: &str) -> Option<&str> {
    let line = table.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim())
}

fn commit() -> String {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).current_dir(env!("CARGO_MANIFEST_DIR")).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
    };
    let Some(commit) = git(&["rev-parse", "--short", "HEAD"]) else { return String::new() };
    let is_clean =
        git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|list| list.is_empty());
    if is_clean { commit } else { format!("{commit}+") }
}

/// Date of a day counted from 1970-01-01, in the proleptic Gregorian calendar.
fn date(day: u64) -> String {
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut year, mut rest) = (1970, day);
    while rest >= 365 + u64::from(is_leap(year)) {
        rest -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let mut month = 1;
    for days in [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if rest < days {
            break;
        }
        rest -= days;
        month += 1;
    }
    format!("{year:04}-{month:02}-{:02}", rest + 1)
}

#[cfg(test)]
mod tests {
    use super::{cpu_model, date};

    #[test]
    fn days_become_dates() {
        for (day, text) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (19_722, "2023-12-31"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(date(day), text);
        }
    }

    #[test]
    fn the_processor_is_named_once() {
        let table = "processor\t: 0\nmodel name\t: Fast 9000 @ 5 GHz\nprocessor\t: 1\nmodel name\t: Other\n";
        assert_eq!(cpu_model(table), Some("Fast 9000 @ 5 GHz"));
        assert_eq!(cpu_model("CPU architecture: 8\n"), None);
    }
}
