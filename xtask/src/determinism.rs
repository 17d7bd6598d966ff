//! State digests: the command gives the same bits at every thread count, with and without AVX, optimized or not, and those of the
//! committed table.
//!
//! `fixtures/golden/digests.ron` has one entry per fixture, `"NAME": "DIGEST"`, after its whole duration and without its
//! sweep. A test of `sinew-sim` holds the library to it and can write it; a change that moves a digest on purpose says
//! so under *Numerics* in the changelog.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{collections::BTreeMap, fs};

use crate::shell::{Call, TaskFailure, TaskOutcome, root, target_dir, verdict};
use crate::{fixtures, json};

const TABLE: &str = "fixtures/golden/digests.ron";

/// A command `sinew` and the thread counts that it runs with.
struct DigestBuild {
    name: &'static str,
    /// Arguments of `cargo build`, and the folder of the program below the target folder.
    build: &'static str,
    folder: &'static str,
    /// By default, and with `--all`.
    threads: [&'static [&'static str]; 2],
    /// Whether it runs only cheap fixtures unless with `--all`.
    is_slow: bool,
}

const ALL_THREADS: &[&str] = &["1", "2", "3", "8"];

const BUILDS: [DigestBuild; 3] = [
    DigestBuild {
        name: "release",
        build: "--release -p sinew",
        folder: "release",
        threads: [ALL_THREADS; 2],
        is_slow: false,
    },
    DigestBuild {
        name: "portable",
        build: "--release -p sinew --features portable",
        folder: "release",
        threads: [&["2"], ALL_THREADS],
        is_slow: false,
    },
    DigestBuild {
        name: "debug",
        build: "-p sinew",
        folder: "debug",
        threads: [&["2"], ALL_THREADS],
        is_slow: true,
    },
];

/// A fixture is cheap if it takes less computing time in release mode on one thread.
const CHEAP: Duration = Duration::from_millis(200);

/// What the arguments ask for.
#[derive(Default)]
struct DigestWishes {
    all: bool,
    write: bool,
    /// Part of the names of the fixtures.
    part: String,
}

impl DigestWishes {
    fn parse(args: &[String]) -> Result<Self, TaskFailure> {
        let mut wishes = Self::default();
        for word in args {
            match word.as_str() {
                "--all" => wishes.all = true,
                "--write" => wishes.write = true,
                word if word.starts_with("--") || !wishes.part.is_empty() => {
                    return Err(TaskFailure::Usage(format!("unexpected argument `{word}`")));
                }
                word => wishes.part = word.to_owned(),
            }
        }
        Ok(wishes)
    }
}

/// Makes the table of digests over builds and thread counts, and compares it with the committed one; `--write` has that written first.
pub(crate) fn run(args: &[String]) -> TaskOutcome {
    let wishes = DigestWishes::parse(args)?;
    if wishes.write {
        Call::cargo("test -p sinew-sim --test all digests_are").env("SINEW_UPDATE", "1").run()?;
    }
    let text = fs::read_to_string(root().join(TABLE));
    let text = text
        .map_err(|error| TaskFailure::Check(format!("cannot read {TABLE}: {error}; make it with --write")))?;
    let mut committed = parse_table(&text);
    committed.retain(|name, _| name.contains(&wishes.part));
    let mut table = DigestTable::new(&wishes)?;
    let mut faults = Vec::new();
    for build in &BUILDS {
        table.add(build, &mut faults)?;
    }
    if wishes.all {
        // The library as its users have it by default: without the feature `parallel`, which the command always has.
        Call::cargo("test --release -p sinew-sim --test all digests_are").run()?;
    }
    table.print(&committed);
    compare(&committed, &table.digests, &mut faults);
    let holds = format!("{} scenes, {} runs, as committed", table.digests.len(), table.n_runs);
    verdict("determinism", &faults, &holds)
}

/// Digests of fixtures, and in which columns they are the same.
struct DigestTable {
    all: bool,
    fixtures: Vec<(String, PathBuf)>,
    /// Of the first column.
    digests: BTreeMap<String, String>,
    /// Fixtures that are not cheap.
    costly: Vec<String>,
    /// Title of a column, time of its runs, and for each fixture whether it has the digest of the first; none where it was not run.
    columns: Vec<(String, Duration, Vec<Option<bool>>)>,
    n_runs: usize,
}

impl DigestTable {
    fn new(wishes: &DigestWishes) -> Result<Self, TaskFailure> {
        let named =
            |path: PathBuf| (path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), path);
        let fixtures = fixtures::valid().into_iter().map(named);
        let fixtures: Vec<_> = fixtures.filter(|(name, _)| name.contains(&wishes.part)).collect();
        if fixtures.is_empty() {
            return Err(TaskFailure::Usage(format!("no fixture is called `{}`", wishes.part)));
        }
        Ok(Self {
            all: wishes.all,
            fixtures,
            digests: BTreeMap::new(),
            costly: Vec::new(),
            columns: Vec::new(),
            n_runs: 0,
        })
    }

    /// Adds the columns of a build.
    fn add(&mut self, build: &DigestBuild, faults: &mut Vec<String>) -> TaskOutcome {
        let program = built(build)?;
        for threads in build.threads[usize::from(self.all)] {
            let start = Instant::now();
            let mut same = Vec::new();
            for (name, path) in &self.fixtures {
                if build.is_slow && !self.all && self.costly.contains(name) {
                    same.push(None);
                    continue;
                }
                let begun = Instant::now();
                let found = digest(&program, path, threads)?;
                let known = self.digests.entry(name.clone()).or_insert_with(|| found.clone());
                if *known != found {
                    faults.push(format!("{name}: {} with {threads} threads gives {found}", build.name));
                }
                same.push(Some(*known == found));
                if self.columns.is_empty() && begun.elapsed() > CHEAP {
                    self.costly.push(name.clone());
                }
            }
            self.n_runs += same.iter().flatten().count();
            let title = format!("{} {threads}", build.name);
            println!(
                "{title}: {} scenes, {:.0} s",
                same.iter().flatten().count(),
                start.elapsed().as_secs_f64()
            );
            self.columns.push((title, start.elapsed(), same));
        }
        Ok(())
    }

    /// Prints the table: a row per fixture, a column per build and thread count.
    fn print(&self, committed: &BTreeMap<String, String>) {
        let titles = self.columns.iter().map(|(title, ..)| title.as_str());
        println!("\n{:<28} {:<16} committed {}", "scene", "digest", titles.collect::<Vec<_>>().join(" "));
        for (i, (name, _)) in self.fixtures.iter().enumerate() {
            let digest = &self.digests[name];
            let mut line =
                format!("{name:<28} {digest:<16} {:<9}", mark(Some(committed.get(name) == Some(digest))));
            for (title, _, same) in &self.columns {
                line += &format!(" {:<width$}", mark(same[i]), width = title.len());
            }
            println!("{}", line.trim_end());
        }
        let times =
            self.columns.iter().map(|(title, time, _)| format!("{title}: {:.0} s", time.as_secs_f64()));
        println!("\n{}", times.collect::<Vec<_>>().join(", "));
        if !self.all {
            println!(
                "`portable` and `debug` with 2 threads, `debug` without {} scenes that take more than {:.1} s; `--all` runs everything",
                self.costly.len(),
                CHEAP.as_secs_f64()
            );
        }
    }
}

fn mark(same: Option<bool>) -> &'static str {
    match same {
        Some(true) => "=",
        Some(false) => "DIFFERS",
        None => "-",
    }
}

/// The program of a build, beside those of the others.
fn built(build: &DigestBuild) -> Result<PathBuf, TaskFailure> {
    Call::cargo(&format!("build {}", build.build)).run()?;
    let name = format!("sinew{}", std::env::consts::EXE_SUFFIX);
    let folder = target_dir().join("determinism").join(build.name);
    let (from, to) = (target_dir().join(build.folder).join(&name), folder.join(&name));
    let copied = fs::create_dir_all(&folder).and_then(|()| fs::copy(&from, &to));
    copied.map_err(|error| TaskFailure::Check(format!("cannot copy {}: {error}", from.display())))?;
    Ok(to)
}

fn digest(program: &Path, scene: &Path, threads: &str) -> Result<String, TaskFailure> {
    let call = Call::new(program).args(["run", "--json", "--threads", threads]);
    let call = call.args(["--set", "sweep=[]"]).args([scene]);
    let leaves = json::leaves(&call.stdout()?);
    let found = leaves.as_deref().and_then(|leaves| json::find(leaves, "digest"));
    found
        .map(String::from)
        .ok_or_else(|| TaskFailure::Check(format!("{}: no digest in the report", scene.display())))
}

/// Reads `"name": "digest",` lines.
fn parse_table(text: &str) -> BTreeMap<String, String> {
    let pairs = text.lines().filter_map(|line| {
        let mut quoted = line.split('"').skip(1).step_by(2);
        Some((quoted.next()?.to_string(), quoted.next()?.to_string()))
    });
    pairs.collect()
}

fn compare(committed: &BTreeMap<String, String>, found: &BTreeMap<String, String>, faults: &mut Vec<String>) {
    for (name, digest) in found {
        match committed.get(name) {
            Some(known) if known == digest => {}
            Some(known) => faults.push(format!("{name}: {digest}, but {TABLE} says {known}")),
            None => faults.push(format!("{name} is missing from {TABLE}")),
        }
    }
    let stale = committed.keys().filter(|name| !found.contains_key(*name));
    faults.extend(stale.map(|name| format!("{TABLE} names `{name}`, which is no fixture")));
}

#[cfg(test)]
mod tests {
    use super::{compare, parse_table};

    #[test]
    fn moved_new_and_stale_digests_are_faults() {
        let table = |text: &str| parse_table(text);
        let committed = table("{\n  \"a\": \"1\",\n  \"b\": \"2\",\n  \"d\": \"4\",\n}\n");
        let found = table("\"a\": \"1\"\n\"b\": \"3\"\n\"c\": \"4\"");
        let mut faults = Vec::new();
        compare(&committed, &found, &mut faults);
        assert_eq!(faults.len(), 3, "{faults:?}");
    }
}
