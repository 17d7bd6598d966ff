//! Documents that hold: every relative link leads to a file, and to a heading if it names one; every long name in
//! backquotes, such as that of a test, occurs in the sources; every Rust block is run as a doc test; every example is short and has its picture.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::shell::{TaskOutcome, no_arguments, relative, root, verdict};
use crate::source::{files_below, read};

/// A name with so many underscores is one of the code, not a word of prose.
const NAME_UNDERSCORES: usize = 3;

/// An example has fewer lines.
const EXAMPLE_LINES: usize = 80;

/// Checks every Markdown file of the project.
pub(crate) fn run(args: &[String]) -> TaskOutcome {
    no_arguments(args)?;
    let names = source_names();
    let doc_tests = read(&root().join("benches/src/documents.rs"));
    let documents = files_below(&root(), ".md");
    let mut faults = Vec::new();
    for path in &documents {
        let text = read(path);
        let name = relative(path);
        for link in links(&text) {
            faults.extend(broken(path, &link).map(|why| format!("{name}: `{link}` {why}")));
        }
        // The documents of a crate are its own business: its `lib.rs` takes them in.
        if !name.starts_with("crates/")
            && text.contains("```rust")
            && !doc_tests.contains(&format!("/{name}\""))
        {
            faults.push(format!("{name}: has Rust blocks, but is missing from benches/src/documents.rs"));
        }
        let unknown = quoted_names(&text).into_iter().filter(|word| !names.contains(word));
        faults.extend(unknown.map(|word| format!("{name}: nothing in the sources is called `{word}`")));
    }
    faults.extend(example_faults());
    verdict("docs", &faults, &format!("the links and names of {} documents hold", documents.len()))
}

/// Examples that are too long or without a picture on their page. The program of the studio is a measurement.
fn example_faults() -> Vec<String> {
    let page = read(&root().join("docs/guide/examples.md"));
    let folders = ["sim", "solvers", "fem"].map(|name| root().join("crates").join(name).join("examples"));
    let mut faults = Vec::new();
    for path in folders.iter().flat_map(|folder| files_below(folder, ".rs")) {
        let (name, lines) = (path.file_stem().unwrap_or_default().display(), read(&path).lines().count());
        if lines >= EXAMPLE_LINES {
            faults.push(format!("{}: has {lines} lines, not less than {EXAMPLE_LINES}", relative(&path)));
        }
        if !page.contains(&format!("](../pictures/examples/{name}.png)")) {
            faults.push(format!("docs/guide/examples.md: has no picture of `{name}`"));
        }
    }
    faults
}

/// What is wrong with a link, if anything.
fn broken(document: &Path, link: &str) -> Option<&'static str> {
    let (path, heading) = link.split_once('#').unwrap_or((link, ""));
    let target = match path {
        "" => document.to_path_buf(),
        path => document.parent().map_or_else(PathBuf::new, |folder| folder.join(path)),
    };
    if !target.exists() {
        return Some("leads nowhere");
    }
    let is_lost = !heading.is_empty() && !headings(&read(&target)).contains(heading);
    is_lost.then_some("names no heading of its target")
}

/// The relative links outside code blocks.
fn links(text: &str) -> Vec<String> {
    let prose = prose_lines(text).collect::<Vec<_>>().join("\n");
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(link, _)| link));
    targets.filter(|link| !link.contains("://") && !link.contains(' ')).map(str::to_owned).collect()
}

/// Anchors of the headings, as code hosts make them: lower case, no punctuation, dashes for spaces.
fn headings(text: &str) -> BTreeSet<String> {
    let titles = prose_lines(text).filter(|line| line.starts_with('#'));
    titles.map(|line| anchor(line.trim_start_matches('#').trim())).collect()
}

fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The lines that are not inside a fenced block.
fn prose_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Words in backquotes that can only be names of the code.
fn quoted_names(text: &str) -> BTreeSet<String> {
    let quoted = prose_lines(text).flat_map(|line| line.split('`').skip(1).step_by(2));
    let is_name = |word: &&str| {
        word.matches('_').count() >= NAME_UNDERSCORES
            && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    quoted.filter(is_name).map(str::to_owned).collect()
}

/// Every word of every source and scene.
fn source_names() -> BTreeSet<String> {
    let sources =
        ["crates", "benches", "xtask", "python"].map(|folder| files_below(&root().join(folder), ".rs"));
    let scenes = files_below(&root().join("fixtures"), ".ron");
    let texts = sources.into_iter().flatten().chain(scenes).map(|path| read(&path));
    texts.flat_map(|text| words(&text)).collect()
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{anchor, headings, links, quoted_names};

    #[test]
    fn links_are_found_outside_code_and_the_web() {
        let text = "[a](b.md#c) `x` [w](https://example.org)\n```\n[no](d.md)\n```\n[e](../f/)";
        assert_eq!(links(text), ["b.md#c", "../f/"]);
    }

    #[test]
    fn anchors_follow_the_headings() {
        assert_eq!(anchor("5. The shift identity"), "5-the-shift-identity");
        assert_eq!(anchor("Paths and `--set`"), "paths-and---set");
        assert!(
            headings("# A\n```\n# b\n```\n## C d").contains("c-d")
                && !headings("```\n# b\n```").contains("b")
        );
    }

    #[test]
    fn only_long_names_count() {
        let text = "`a_b_c_d` `a_b` `A_b_c_d` a_b_c_e `f(a_b_c_d)`";
        assert_eq!(quoted_names(text).into_iter().collect::<Vec<_>>(), ["a_b_c_d"]);
    }
}
