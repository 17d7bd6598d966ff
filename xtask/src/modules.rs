//! The import graph of the modules inside one package: no cycles, and floors that are only left downwards.
//!
//! A module is a file. It imports another one if its code names an item of it: by `use`, or by a path that begins with
//! `crate`, `self`, `super` or a child module. An item that a module only re-exports counts for the module that defines
//! it, and the re-exports of the package's root are not imports. Tests are left out.
//!
//! **Floors** are the groups of `mod` lines in the root, separated by blank lines or comments, the lowest first: a module
//! may use the modules of its own floor and of those above it in the file. One group is one floor.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::source::{Lexeme, code_only, files_below, read, tokens, without_tests};

/// Modules of one package and what they import.
pub(crate) struct Modules {
    names: Vec<Name>,
    /// From, to, and the line of the first import in `from`.
    edges: BTreeMap<(usize, usize), usize>,
    /// Floor of each top-level module.
    floors: BTreeMap<String, usize>,
}

/// Path of a module from the root, which is empty.
pub(crate) type Name = Vec<String>;

/// A path of a `use` item, and the name it gets if that differs.
pub(crate) type UsePath = (Name, Option<String>);

/// A path in the source: its segments, the line, and whether it is re-exported.
struct Import {
    path: Vec<String>,
    alias: Option<String>,
    line: usize,
    is_public: bool,
}

impl Modules {
    /// Reads the sources of a package whose root is `src/lib.rs` or `src/main.rs`.
    pub(crate) fn read(package: &Path) -> Option<Self> {
        let source = package.join("src");
        let root =
            ["lib.rs", "main.rs"].into_iter().map(|file| source.join(file)).find(|path| path.is_file())?;
        let files = files_below(&source, ".rs");
        let files = files.into_iter().filter_map(|path| Some((module_name(&source, &root, &path)?, path)));
        let files: Vec<(Name, PathBuf)> =
            files.filter(|(name, _)| !name.iter().any(|part| part == "tests")).collect();
        let names: Vec<Name> = files.iter().map(|(name, _)| name.clone()).collect();
        let texts = files.iter().map(|(_, path)| read(path));
        let imports: Vec<Vec<Import>> = texts.map(|text| imports(&text)).collect();
        let mut modules = Self { edges: BTreeMap::new(), floors: floors(&root), names };
        let exports: Vec<_> =
            imports.iter().enumerate().map(|(at, list)| modules.exports(at, list)).collect();
        for (from, list) in imports.iter().enumerate() {
            for import in list.iter().filter(|import| !(import.is_public && modules.names[from].is_empty())) {
                let target =
                    modules.absolute(from, &import.path).and_then(|path| modules.resolve(&path, &exports, 8));
                if let Some(to) = target.filter(|&to| to != from) {
                    modules.edges.entry((from, to)).or_insert(import.line);
                }
            }
        }
        Some(modules)
    }

    /// What a module re-exports, by name, as paths from the root.
    fn exports(&self, module: usize, imports: &[Import]) -> BTreeMap<String, Name> {
        let public = imports.iter().filter(|import| import.is_public);
        let named = public.filter_map(|import| {
            let name = import.alias.clone().or_else(|| import.path.last().cloned())?;
            Some((name, self.absolute(module, &import.path)?))
        });
        named.collect()
    }

    fn absolute(&self, module: usize, path: &[String]) -> Option<Name> {
        absolute(&self.names[module], path, |name| self.names.contains(name))
    }

    /// The module that defines what a path from the root names.
    fn resolve(&self, path: &[String], exports: &[BTreeMap<String, Name>], depth: usize) -> Option<usize> {
        let known =
            (0..=path.len()).rev().find_map(|n| self.names.iter().position(|name| name == &path[..n]))?;
        let item = path.get(self.names[known].len());
        match item.and_then(|item| exports[known].get(item)) {
            Some(target) if depth > 0 => self.resolve(target, exports, depth - 1),
            _ => Some(known),
        }
    }

    /// Cycles and climbing imports, one line each.
    pub(crate) fn faults(&self, package: &str) -> Vec<String> {
        let mut faults = Vec::new();
        for cycle in self.cycles() {
            let arrows = self.edges.iter().filter(|((a, b), _)| cycle.contains(a) && cycle.contains(b));
            let arrows: Vec<String> =
                arrows.map(|(&(a, b), line)| format!("{}:{line} → {}", self.show(a), self.show(b))).collect();
            let n = cycle.len();
            faults.push(format!("{package}: {n} modules form an import cycle: {}", arrows.join(", ")));
        }
        for (&(from, to), line) in &self.edges {
            let floor = |module: usize| self.names[module].first().and_then(|name| self.floors.get(name));
            if let (Some(lower), Some(upper)) = (floor(from), floor(to))
                && lower < upper
            {
                faults.push(format!("{package}: {}:{line} climbs to {}", self.show(from), self.show(to)));
            }
        }
        faults
    }

    fn show(&self, module: usize) -> String {
        let name = &self.names[module];
        if name.is_empty() { "(root)".into() } else { name.join("::") }
    }

    /// Sets of modules that reach each other, larger than one.
    fn cycles(&self) -> Vec<BTreeSet<usize>> {
        let reach: Vec<BTreeSet<usize>> = (0..self.names.len()).map(|from| self.reachable(from)).collect();
        let mut cycles: Vec<BTreeSet<usize>> = Vec::new();
        for from in 0..self.names.len() {
            let cycle: BTreeSet<usize> =
                reach[from].iter().copied().filter(|&to| reach[to].contains(&from)).collect();
            if cycle.contains(&from) && !cycles.contains(&cycle) {
                cycles.push(cycle);
            }
        }
        cycles
    }

    fn reachable(&self, from: usize) -> BTreeSet<usize> {
        let (mut found, mut pending) = (BTreeSet::new(), vec![from]);
        while let Some(module) = pending.pop() {
            for &(_, to) in self.edges.range((module, 0)..(module + 1, 0)).map(|(edge, _)| edge) {
                if found.insert(to) {
                    pending.push(to);
                }
            }
        }
        found
    }
}

/// A path as written in the module `own`, from the root; `None` if it leads out of the package.
pub(crate) fn absolute(own: &[String], path: &[String], is_module: impl Fn(&Name) -> bool) -> Option<Name> {
    let (first, rest) = path.split_first()?;
    let mut base = match first.as_str() {
        "crate" => Vec::new(),
        "self" => own.to_vec(),
        "super" => own[..own.len().checked_sub(1)?].to_vec(),
        child => {
            let name = [own, &[child.to_string()]].concat();
            is_module(&name).then_some(name)?
        }
    };
    for part in rest {
        if part == "super" {
            base.pop();
        } else {
            base.push(part.clone());
        }
    }
    Some(base)
}

/// Path of the module in a file; `None` for further roots (`src/bin`, a `main.rs` beside a `lib.rs`).
pub(crate) fn module_name(source: &Path, root: &Path, file: &Path) -> Option<Name> {
    if file == root {
        return Some(Vec::new());
    }
    let inside = file.strip_prefix(source).ok()?.with_extension("");
    let mut name: Name = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if name.last().is_some_and(|last| last == "mod") {
        name.pop();
    }
    let is_other_root = name.first().is_some_and(|first| first == "bin") || name == ["main"];
    (!is_other_root).then_some(name)
}

/// The group of each `mod` line of the root.
fn floors(root: &Path) -> BTreeMap<String, usize> {
    let (mut floors, mut floor, mut was_module) = (BTreeMap::new(), 0, false);
    for line in read(root).lines() {
        let declared = line.trim_start_matches("pub ").trim_start_matches("pub(crate) ").strip_prefix("mod ");
        if let Some(name) = declared.and_then(|rest| rest.strip_suffix(';')) {
            floors.insert(name.to_string(), floor);
            was_module = true;
        } else if was_module && !line.starts_with("#[") {
            (floor, was_module) = (floor + 1, false);
        }
    }
    floors
}

/// All paths of a source: those of its `use` items, and those inside its code.
fn imports(text: &str) -> Vec<Import> {
    let code = without_tests(&code_only(text));
    let tokens: Vec<Lexeme<'_>> = tokens(&code).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let line = tokens[at].line;
        if tokens[at].text == "use" {
            let is_public = at > 0 && (tokens[at - 1].text == "pub" || tokens[at - 1].text == ")");
            let end = (at..tokens.len()).find(|&end| tokens[end].text == ";").unwrap_or(tokens.len());
            let mut paths = Vec::new();
            use_tree(&mut tokens[at + 1..end].iter().map(|token| token.text).peekable(), &[], &mut paths);
            let import = |(path, alias)| Import { path, alias, line, is_public };
            found.extend(paths.into_iter().map(import));
            at = end;
        } else if is_start_of_path(&tokens, at) {
            let mut path = vec![tokens[at].text.to_string()];
            while tokens.get(at + 1).is_some_and(|token| token.text == "::")
                && tokens.get(at + 2).is_some_and(Lexeme::is_word)
            {
                path.push(tokens[at + 2].text.to_string());
                at += 2;
            }
            found.push(Import { path, alias: None, line, is_public: false });
        }
        at += 1;
    }
    found
}

fn is_start_of_path(tokens: &[Lexeme<'_>], at: usize) -> bool {
    let follows = tokens.get(at + 1).is_some_and(|token| token.text == "::");
    let is_first = at == 0 || tokens[at - 1].text != "::";
    follows && is_first && tokens[at].is_word()
}

/// Paths of a `use` tree with the names they get if those differ.
pub(crate) fn use_tree<'a>(
    tokens: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
    prefix: &[String],
    found: &mut Vec<UsePath>,
) {
    let mut path = prefix.to_vec();
    while let Some(token) = tokens.next() {
        match token {
            "::" => {}
            "{" => {
                while !matches!(tokens.peek(), None | Some(&"}")) {
                    use_tree(tokens, &path, found);
                }
                tokens.next();
                if tokens.peek() == Some(&",") {
                    tokens.next();
                }
                return;
            }
            "as" => {
                let alias = tokens.next().map(String::from);
                found.push((std::mem::take(&mut path), alias));
            }
            "," => break,
            "self" if !path.is_empty() => {}
            word => path.push(word.to_string()),
        }
        if tokens.peek() == Some(&"}") {
            break;
        }
    }
    if path.len() > prefix.len() || (path == prefix && !path.is_empty()) {
        found.push((path, None));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Modules, imports};

    fn paths(text: &str) -> Vec<String> {
        imports(text).into_iter().map(|import| import.path.join("::")).collect()
    }

    #[test]
    fn paths_of_use_trees_and_of_code_are_found() {
        let text =
            "use crate::{a::{self, B}, c::D as E};\nfn f() { super::g::h(); crate::k() } // crate::no\n";
        assert_eq!(paths(text), ["crate::a", "crate::a::B", "crate::c::D", "super::g::h", "crate::k"]);
    }

    #[test]
    fn tests_import_nothing() {
        assert!(paths("#[cfg(test)]\nmod tests { use crate::a; fn f() { crate::b() } }").is_empty());
    }

    #[test]
    fn cycles_and_climbs_are_told() {
        let names = ["", "low", "middle", "high"]
            .map(|name| if name.is_empty() { Vec::new() } else { vec![name.to_string()] });
        let edges = BTreeMap::from([((3, 1), 1), ((1, 2), 7), ((2, 1), 9)]);
        let floors =
            ["low", "middle", "high"].into_iter().enumerate().map(|(i, name)| (name.into(), i)).collect();
        let faults = Modules { names: names.to_vec(), edges, floors }.faults("p");
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(
            faults[0].contains("2 modules") && faults[1].contains("low:7 climbs to middle"),
            "{faults:?}"
        );
    }
}
