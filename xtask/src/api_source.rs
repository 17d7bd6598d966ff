//! The public API of one library, read from its sources: what can be named from outside, by every path that leads there.
//!
//! An item is reachable if it is `pub` and lies in the root, in a reachable module or behind a reachable re-export. To each
//! type come its public members, its methods and the traits it implements. **Foreign** is a name in a signature that comes
//! from a package other than the standard library, glam, serde and Sinew's own: its versions would become ours.
//!
//! Approximate in three ways: features are ignored, so all that any feature gives is listed; macros are not expanded; and
//! `impl` blocks are matched to types by the last word of their path.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::items::{Item, ItemKind, items};
use crate::modules::{Name, absolute, module_name};
use crate::source::{Lexeme, files_below, read, tokens};

/// Packages whose types may stand in signatures, beside those of this workspace.
const COMMON: &[&str] = &["std", "core", "alloc", "glam", "serde"];

/// Re-exports that are followed at most, one after the other.
const DEPTH: usize = 8;

/// The sources of one library.
pub(crate) struct ApiSource {
    /// As in paths: `sinew_math`.
    name: String,
    modules: BTreeMap<Name, Vec<Item>>,
    /// Further packages that this library may show.
    shown: &'static [&'static str],
}

/// What can be named from outside.
#[derive(Default)]
pub(crate) struct Listing {
    /// Path and text, in order.
    pub(crate) lines: BTreeSet<(String, String)>,
    /// Foreign names, one line each.
    pub(crate) foreign: BTreeSet<String>,
    /// Public paths of the declared items, by name.
    paths: BTreeMap<String, BTreeSet<String>>,
}

impl ApiSource {
    /// Reads a package with a library.
    pub(crate) fn read(package: &Path, name: &str, shown: &'static [&'static str]) -> Self {
        let source = package.join("src");
        let root = source.join("lib.rs");
        let mut modules = BTreeMap::new();
        for path in files_below(&source, ".rs") {
            let Some(name) = module_name(&source, &root, &path) else { continue };
            if !name.iter().any(|part| part == "tests") {
                add_module(&mut modules, name, items(&read(&path)));
            }
        }
        Self { name: name.replace('-', "_"), modules, shown }
    }

    /// Everything that is reachable.
    pub(crate) fn listing(&self) -> Listing {
        let mut listing = Listing::default();
        self.list_module(&Vec::new(), &self.name, &mut listing);
        for (module, items) in &self.modules {
            for item in items {
                match item.kind {
                    ItemKind::Impl => self.list_impl(module, item, &mut listing),
                    ItemKind::Declaration if item.text.0 == "macro" && item.is_public && !item.is_hidden => {
                        self.list_item(module, item, &format!("{}::{}", self.name, item.name), &mut listing);
                    }
                    ItemKind::Entry => self.list_entry(module, item, &mut listing),
                    _ => {}
                }
            }
        }
        listing
    }

    fn list_module(&self, module: &Name, path: &str, listing: &mut Listing) {
        let items = self.modules.get(module).into_iter().flatten();
        for item in items.filter(|item| item.is_public && !item.is_hidden) {
            match item.kind {
                ItemKind::Import => self.list_imports(module, item, path, listing),
                ItemKind::Module => {
                    let child = inside(module, &item.name);
                    self.list_module(&child, &format!("{path}::{}", item.name), listing);
                }
                ItemKind::Impl | ItemKind::Member => {}
                _ => self.list_item(module, item, &format!("{path}::{}", item.name), listing),
            }
        }
    }

    fn list_imports(&self, module: &Name, item: &Item, path: &str, listing: &mut Listing) {
        for (target, alias) in &item.imports {
            let last = target.last().map_or("", String::as_str);
            let name = alias.as_deref().unwrap_or(last);
            let public = format!("{path}::{name}");
            let Some(inside) = self.absolute(module, target) else {
                let text = format!("pub use {}", target.join("::"));
                listing.foreign.extend(self.is_foreign(&target[0]).then(|| format!("{public}: {text}")));
                listing.lines.insert((public, text));
                continue;
            };
            if last == "*" {
                self.list_module(&inside[..inside.len() - 1].to_vec(), path, listing);
            } else if let Some((at, item)) = self.declaration(&inside, DEPTH) {
                self.list_item(&at, item, &public, listing);
            } else if self.modules.contains_key(&inside) {
                self.list_module(&inside, &public, listing);
            } else {
                listing.lines.insert((public, format!("pub use {}", target.join("::"))));
            }
        }
    }

    /// Lists an item with its members under a path.
    fn list_item(&self, module: &Name, item: &Item, path: &str, listing: &mut Listing) {
        let Item { name, text: (before, after), members, .. } = item;
        listing.paths.entry(name.clone()).or_default().insert(path.to_string());
        self.add(module, path, format!("{before} {path}{after}"), after, listing);
        for member in members.iter().filter(|member| member.is_public && !member.is_hidden) {
            let path = format!("{path}::{}", member.name);
            let (before, after) = &member.text;
            self.add(module, &path, format!("{before} {path}{after}"), after, listing);
        }
    }

    /// Lists the public members of an inherent `impl`, or the head and the types of that of a trait.
    fn list_impl(&self, module: &Name, item: &Item, listing: &mut Listing) {
        let (head, of_trait) = &item.text;
        if self.is_private_trait(of_trait, listing) {
            return;
        }
        // Of a trait for a type of elsewhere, such as `From<Ours> for f64`, the first of ours.
        let is_elsewhere = !of_trait.is_empty() && !self.declares(&item.name);
        let words = tokens(head).map(|token| token.text).filter(|_| is_elsewhere);
        let known = |name: &&str| listing.paths.contains_key(*name);
        let Some(name) = std::iter::once(item.name.as_str()).chain(words).find(known) else { return };
        for path in listing.paths[name].clone() {
            if !of_trait.is_empty() {
                self.add(module, &path, head.clone(), head, listing);
            }
            for member in &item.members {
                let is_type = member.kind == ItemKind::Alias;
                if if of_trait.is_empty() { member.is_public && !member.is_hidden } else { is_type } {
                    let (before, after) = &member.text;
                    let role = if of_trait.is_empty() { String::new() } else { format!("{of_trait}::") };
                    let path = format!("{path}::{role}{}", member.name);
                    self.add(module, &path, format!("{before} {path}{after}"), after, listing);
                }
            }
        }
    }

    /// An entry of a macro call about a type that is listed.
    fn list_entry(&self, module: &Name, item: &Item, listing: &mut Listing) {
        for path in listing.paths.get(&item.name).cloned().unwrap_or_default() {
            let (before, after) = &item.text;
            self.add(module, &path, format!("{before} {path}{after}"), after, listing);
        }
    }

    fn add(&self, module: &Name, path: &str, line: String, types: &str, listing: &mut Listing) {
        for name in self.foreign_names(module, types) {
            listing.foreign.insert(format!("{path}: {name}"));
        }
        listing.lines.insert((path.to_string(), line));
    }

    fn is_private_trait(&self, name: &str, listing: &Listing) -> bool {
        let declares = |item: &Item| item.name == name && item.text.0.ends_with("trait");
        !listing.paths.contains_key(name) && self.modules.values().flatten().any(declares)
    }

    fn declares(&self, name: &str) -> bool {
        self.modules.values().flatten().any(|item| item.kind == ItemKind::Declaration && item.name == name)
    }

    fn absolute(&self, module: &[String], path: &[String]) -> Option<Name> {
        absolute(module, path, |name| self.modules.contains_key(name))
    }

    /// The item at a path from the root, and its module; re-exports are followed.
    fn declaration(&self, path: &[String], depth: usize) -> Option<(Name, &Item)> {
        let (name, module) = path.split_last()?;
        let items = self.modules.get(module)?;
        let is_named =
            |item: &&Item| item.name == *name && !matches!(item.kind, ItemKind::Impl | ItemKind::Module);
        if let Some(item) = items.iter().find(is_named) {
            return Some((module.to_vec(), item));
        }
        let target = self.imported(module, name)?;
        self.declaration(&self.absolute(module, &target)?, depth.checked_sub(1)?)
    }

    /// The path that a `use` of a module gives to a name.
    fn imported(&self, module: &[String], name: &str) -> Option<Name> {
        let imports = self.modules.get(module)?.iter().flat_map(|item| &item.imports);
        let mut named = imports.filter_map(|(path, alias)| {
            let last = path.last()?;
            if last == "*" {
                let inside = [&path[..path.len() - 1], &[name.to_string()]].concat();
                let at = self.absolute(module, &inside)?;
                return self
                    .modules
                    .get(&at[..at.len() - 1])?
                    .iter()
                    .any(|item| item.name == name)
                    .then_some(inside);
            }
            (alias.as_ref().unwrap_or(last) == name).then(|| path.clone())
        });
        named.next()
    }

    fn is_foreign(&self, package: &str) -> bool {
        !(COMMON.contains(&package) || self.shown.contains(&package) || package.starts_with("sinew"))
    }

    /// Where a name of a module comes from, if that is a foreign package.
    fn foreign_origin(&self, module: &[String], name: &str, depth: usize) -> Option<String> {
        let items = self.modules.get(module)?;
        if let Some(alias) = items.iter().find(|item| item.kind == ItemKind::Alias && item.name == name) {
            return self.foreign_names(&module.to_vec(), &alias.text.1).pop();
        }
        let path = self.imported(module, name)?;
        match self.absolute(module, &path) {
            Some(inside) => {
                let (name, module) = inside.split_last()?;
                self.foreign_origin(module, name, depth.checked_sub(1)?)
            }
            None => (path.len() > 1 && self.is_foreign(&path[0])).then(|| path.join("::")),
        }
    }

    /// The foreign names in a signature.
    fn foreign_names(&self, module: &Name, text: &str) -> Vec<String> {
        let words: Vec<Lexeme<'_>> = tokens(text).collect();
        let mut found = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let is_first = at == 0 || words[at - 1].text != "::";
            if !word.is_word() || !is_first {
                continue;
            }
            found.extend(self.foreign_origin(module, word.text, DEPTH));
            let is_path = words.get(at + 1).is_some_and(|next| next.text == "::");
            let is_package = is_path && self.names_package(module, word.text);
            found.extend((is_package && self.is_foreign(word.text)).then(|| word.text.to_string()));
        }
        found
    }

    /// Whether the first word of a path can only be the name of a package.
    fn names_package(&self, module: &Name, word: &str) -> bool {
        let is_primitive =
            matches!(word, "f64" | "f32" | "u64" | "u32" | "u16" | "u8" | "usize" | "str" | "char");
        let is_lower = word.starts_with(|c: char| c.is_ascii_lowercase());
        is_lower
            && !is_primitive
            && self.absolute(module, &[word.to_string()]).is_none()
            && self.imported(module, word).is_none()
    }
}

/// The path of a module inside another.
fn inside(module: &[String], name: &str) -> Name {
    module.iter().cloned().chain([name.to_string()]).collect()
}

/// Adds a module and those inside it.
fn add_module(modules: &mut BTreeMap<Name, Vec<Item>>, name: Name, items: Vec<Item>) {
    let mut kept = Vec::new();
    for mut item in items {
        if item.kind == ItemKind::Module && !item.members.is_empty() {
            let child = inside(&name, &item.name);
            add_module(modules, child, std::mem::take(&mut item.members));
        }
        kept.push(item);
    }
    modules.insert(name, kept);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{ApiSource, Listing, add_module, items};

    fn listing(sources: &[(&str, &str)]) -> Listing {
        let mut modules = BTreeMap::new();
        for (name, text) in sources {
            let name = name.split("::").filter(|part| !part.is_empty()).map(String::from).collect();
            add_module(&mut modules, name, items(text));
        }
        ApiSource { name: "lib".into(), modules, shown: &[] }.listing()
    }

    fn lines(listing: &Listing) -> Vec<&str> {
        listing.lines.iter().map(|(_, line)| line.as_str()).collect()
    }

    #[test]
    fn only_what_can_be_named_from_outside_is_listed() {
        let found = listing(&[
            (
                "",
                "mod a;\npub mod open { pub const N: usize = 3; }\npub use a::{S, T as U, b::*};\npub use other::X;",
            ),
            (
                "a",
                "mod b;\npub struct S { pub x: f64, y: f64 }\npub struct T;\npub struct Lost;\nimpl S { pub fn f(&self) {} fn g() {} }\nimpl Lost { pub fn h() {} }\ntrait Inner {}\nimpl Inner for S {}\nimpl Iterator for S { type Item = u8; fn next(&mut self) {} }",
            ),
            ("a::b", "pub fn glob() {}\nfn no() {}"),
        ]);
        assert_eq!(
            lines(&found),
            [
                "impl Iterator for S",
                "pub struct lib::S { private fields }",
                "type lib::S::Iterator::Item = u8",
                "pub fn lib::S::f(&self)",
                "pub lib::S::x: f64",
                "pub struct lib::U",
                "pub use other::X",
                "pub fn lib::glob()",
                "pub const lib::open::N: usize",
            ]
        );
    }

    #[test]
    fn a_function_is_not_the_private_module_of_its_name() {
        let found = listing(&[
            ("", "mod a;\npub use a::run;"),
            ("a", "mod run;\npub use run::run;"),
            ("a::run", "pub fn run() {}\npub struct Inner;"),
        ]);
        assert_eq!(lines(&found), ["pub fn lib::run()"]);
    }

    #[test]
    fn foreign_names_are_found_behind_aliases_and_imports() {
        let found = listing(&[
            ("", "mod a;\nmod b;\npub use a::{clean, direct, hidden, moved, S};"),
            (
                "a",
                "use wide::f64x2;\nuse std::fmt;\nuse super::b::{Few, V};\npub fn direct(x: f64x2) {}\npub fn hidden() -> Few {}\npub fn moved(v: &V) {}\npub fn clean(f: &mut fmt::Formatter<'_>, v: glam::DVec3) {}\npub struct S(f64x2);\nimpl From<ron::Error> for S {}\nstruct P;\nimpl pulp::Run<S> for P {}",
            ),
            ("b", "pub(crate) use pulp::x86::V;\npub(crate) type Few = smallvec::SmallVec<[u8; 2]>;"),
        ]);
        let foreign: Vec<&str> = found.foreign.iter().map(String::as_str).collect();
        assert_eq!(
            foreign,
            ["lib::S: ron", "lib::direct: wide::f64x2", "lib::hidden: smallvec", "lib::moved: pulp::x86::V",]
        );
    }
}
