//! Size report: files, lines, comments and length of functions per package; fails where a bound is exceeded.

use std::fs;

use crate::shell::{TaskOutcome, no_arguments, relative, root, verdict};
use crate::sizes::Sizes;
use crate::source::{code_only, files_below, read};

/// Prints one row per package and a total, then what exceeds its bound.
pub(crate) fn run(args: &[String]) -> TaskOutcome {
    no_arguments(args)?;
    println!(
        "{:<18} {:>4} {:>8} {:>5} {:>7} {:>9} {:>8}  largest file",
        "folder", "p90", "function", "files", "lines", "comment %", "tests"
    );
    let mut folders = vec!["benches".to_string(), "xtask".to_string()];
    let crates = fs::read_dir(root().join("crates")).into_iter().flatten().flatten();
    folders.extend(crates.map(|entry| format!("crates/{}", entry.file_name().to_string_lossy())));
    folders.sort();
    let (mut total, mut sizes) = (Size::default(), Vec::new());
    for folder in folders {
        let mut size = Size::default();
        size.add(&folder);
        total.add(&folder);
        let mut functions = Sizes::read(&root().join(&folder));
        functions.check_lengths(&folder);
        let (usual, longest) = functions.lengths();
        sizes.push(functions);
        println!("{folder:<18} {usual:>4} {longest:>8} {size}");
    }
    println!("{:<18} {:>13} {total}", "total", "");
    let mut faults: Vec<String> =
        sizes.iter_mut().flat_map(|sizes| std::mem::take(&mut sizes.faults)).collect();
    faults.extend(Sizes::ambiguous_names(&sizes));
    verdict("lines", &faults, "all bounds hold")
}

#[derive(Default)]
struct Size {
    files: usize,
    lines: usize,
    code: usize,
    comments: usize,
    test_lines: usize,
    largest: (usize, String),
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let share = 100 * self.comments / (self.comments + self.code).max(1);
        let Self { files, lines, test_lines, largest: (most, name), .. } = self;
        write!(f, "{files:>5} {lines:>7} {share:>9} {test_lines:>8}  {most} {name}")
    }
}

impl Size {
    /// Counts a folder; lines of integration tests count as tests, not as sources.
    fn add(&mut self, folder: &str) {
        let base = root().join(folder);
        for path in files_below(&base, ".rs") {
            let text = read(&path);
            let lines = text.lines().count();
            if path.starts_with(base.join("tests")) {
                self.test_lines += lines;
                continue;
            }
            self.files += 1;
            self.lines += lines;
            self.code += code_only(&text).lines().filter(|line| !line.trim().is_empty()).count();
            self.comments += text.lines().filter(|line| line.trim_start().starts_with("//")).count();
            if lines > self.largest.0 {
                self.largest = (lines, relative(&path));
            }
        }
    }
}
