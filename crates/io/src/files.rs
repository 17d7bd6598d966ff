//! The files that a file names: looked for below a few folders only, and bounded in size.
//!
//! A name is a relative path, `file://PATH` or `package://PACKAGE/PATH`. Nothing is fetched or executed, and no path leaves the search roots,
//! by `..` or by a link.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// Largest file that is read by default (bytes): 256 MB.
const MAX_BYTES: u64 = 256_000_000;

/// Where the files are that a file names.
#[derive(Clone, Debug)]
pub struct Files {
    source: FileRoot,
    max_bytes: u64,
    /// What was read so far.
    opened: RefCell<BTreeSet<PathBuf>>,
}

#[derive(Clone, Debug)]
enum FileRoot {
    /// Folders on the disk, the first one that of the file itself.
    Roots(Vec<PathBuf>),
    /// Contents by name.
    Memory(BTreeMap<String, Vec<u8>>),
}

/// A file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// What a scene calls it: its path, or its name in memory.
    pub name: String,
    /// Its contents.
    pub bytes: Vec<u8>,
}

impl Files {
    /// Files in the folder of a file, and below it.
    pub fn beside(path: &Path) -> Self {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut roots = vec![folder.to_owned()];
        roots.extend(package_of(folder));
        Self::of(FileRoot::Roots(roots))
    }

    /// Files in memory, by the names that are written.
    pub fn in_memory(contents: BTreeMap<String, Vec<u8>>) -> Self {
        Self::of(FileRoot::Memory(contents))
    }

    fn of(source: FileRoot) -> Self {
        Self { source, max_bytes: MAX_BYTES, opened: RefCell::default() }
    }

    /// Looks in another folder, too.
    #[must_use]
    pub fn with_root(mut self, folder: impl Into<PathBuf>) -> Self {
        if let FileRoot::Roots(roots) = &mut self.source {
            roots.push(folder.into());
        }
        self
    }

    /// Reads no file that is larger (bytes).
    #[must_use]
    pub fn with_max_bytes(self, max_bytes: u64) -> Self {
        Self { max_bytes, ..self }
    }

    /// The files on the disk that were read so far.
    pub fn opened(&self) -> Vec<PathBuf> {
        self.opened.borrow().iter().cloned().collect()
    }

    /// Reads a file, or says why it cannot be read.
    ///
    /// # Errors
    /// What is wrong, and how to mend it.
    pub fn read(&self, name: &str) -> Result<FoundFile, String> {
        let roots = match &self.source {
            FileRoot::Roots(roots) => roots,
            FileRoot::Memory(contents) => {
                let bytes = contents.get(name).ok_or_else(|| format!("there is no file `{name}`"))?;
                return Ok(FoundFile { name: name.to_owned(), bytes: bytes.clone() });
            }
        };
        let (package, rest) = split(name)?;
        let mut outside = false;
        for root in roots {
            for path in candidates(root, package, rest) {
                let mut seen = roots.iter().filter_map(|root| inside(root, package, &path)).peekable();
                outside |= seen.peek().is_some();
                if seen.any(|is_inside| is_inside) {
                    return self.read_path(&path);
                }
            }
        }
        Err(if outside {
            format!("`{name}` is outside of the search roots; add its folder with --search-root DIR")
        } else {
            format!("there is no file `{name}` in the search roots; add its folder with --search-root DIR")
        })
    }

    fn read_path(&self, path: &Path) -> Result<FoundFile, String> {
        Ok(FoundFile { name: path.display().to_string(), bytes: self.open(path)? })
    }

    /// The contents of a file that the user names.
    pub(crate) fn open(&self, path: &Path) -> Result<Vec<u8>, String> {
        let file = File::open(path).map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
        self.opened.borrow_mut().insert(path.to_owned());
        if !file.metadata().is_ok_and(|data| data.is_file()) {
            return Err(format!("`{}` is not a file", path.display()));
        }
        let mut bytes = Vec::new();
        let read = file.take(self.max_bytes + 1).read_to_end(&mut bytes);
        read.map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
        if bytes.len() as u64 > self.max_bytes {
            return Err(format!("`{}` has more than {} bytes", path.display(), self.max_bytes));
        }
        Ok(bytes)
    }
}

/// The folder of the package that holds a folder: the nearest one above with a `package.xml`.
fn package_of(folder: &Path) -> Option<PathBuf> {
    let folder = fs::canonicalize(folder).ok()?;
    folder.ancestors().find(|above| above.join("package.xml").is_file()).map(Path::to_owned)
}

/// The package of a name, if it has one, and the path in it.
fn split(name: &str) -> Result<(Option<&str>, &Path), String> {
    if let Some(rest) = name.strip_prefix("package://").or_else(|| name.strip_prefix("model://")) {
        let (package, path) =
            rest.split_once('/').ok_or_else(|| format!("`{name}` names no file in the package"))?;
        return Ok((Some(package), Path::new(path)));
    }
    let path = name.strip_prefix("file://").unwrap_or(name);
    if path.contains("://") {
        return Err(format!("`{name}` is not on this computer: nothing is fetched"));
    }
    Ok((None, Path::new(path)))
}

/// Where a path may be, seen from a root: below it, below the package in it, or in it if it is the package.
fn candidates(root: &Path, package: Option<&str>, path: &Path) -> Vec<PathBuf> {
    let Some(package) = package else { return vec![root.join(path)] };
    let mut found = vec![root.join(package).join(path)];
    let whole = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    // The file may be somewhere in the package itself.
    found.extend(whole.ancestors().filter(|above| above.ends_with(package)).map(|above| above.join(path)));
    found.push(root.join(path));
    found
}

/// Whether a file is below a root, or in the package that holds the root; none if there is no such file.
fn inside(root: &Path, package: Option<&str>, path: &Path) -> Option<bool> {
    let (root, path) = (fs::canonicalize(root).ok()?, fs::canonicalize(path).ok()?);
    let in_package = || {
        let package =
            package.filter(|name| Path::new(name).components().all(|c| matches!(c, Component::Normal(_))));
        let mut above = package
            .into_iter()
            .flat_map(|package| root.ancestors().filter(move |above| above.ends_with(package)));
        above.any(|above| path.starts_with(above))
    };
    Some(path.starts_with(&root) || in_package())
}
