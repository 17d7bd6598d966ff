//! Scenes from and to RON text.
//!
//! Reading: outline of the text (for positions) → format number → RON into [`SceneDoc`] → every rule of `validate` → files that
//! the scene names. The RON reader stops at its first error; the rules report every error.
//! `Some` may be left out (`implicit_some`) and choices hold their fields directly
//! (`unwrap_variant_newtypes`), so scenes need no extension lines.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::edit::{EditFault, with_value};
use crate::error::{SceneError, SceneErrors, SceneIssue, SceneIssueKind};
use crate::outline::{TextNode, line_column};
use crate::path::{follow, parse_path};
use crate::read::{Complaint, outline, read};
use crate::suggest::nearest;
use crate::{doc::SceneDoc, files::read_files, limits::SceneLimits, validate::validate, version};

/// The text of a scene. It can be edited value by value; errors still have the right line and column.
///
/// ```
/// let mut source = sinew_scene::SceneSource::new("(format: 1, dt: 0.01)", "tiny.ron");
/// source.set("dt", "0.02")?;
/// assert_eq!(source.parse()?.dt, 0.02);
/// # Ok::<(), sinew_scene::SceneErrors>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneSource {
    file: String,
    text: String,
    /// Folder of the files that the scene names; without it they are not read.
    folder: Option<PathBuf>,
    /// Contents of files that the scene names.
    files: BTreeMap<String, Vec<u8>>,
    limits: SceneLimits,
}

impl SceneSource {
    /// Text that came from `file` (any name to print in errors). Files that the scene names are not read: put their
    /// contents into `SceneDoc::files`.
    pub fn new(text: impl Into<String>, file: impl Into<String>) -> Self {
        let (file, text) = (file.into(), without_byte_order_mark(text.into()));
        Self { file, text, folder: None, files: BTreeMap::new(), limits: SceneLimits::default() }
    }

    /// Contents of the files that the scene names, by the names as written: [`SceneSource::parse`] puts them into `SceneDoc::files`.
    #[must_use]
    pub fn with_files(self, files: BTreeMap<String, Vec<u8>>) -> Self {
        Self { files, ..self }
    }

    /// How much the scene may ask for.
    #[must_use]
    pub fn with_limits(self, limits: SceneLimits) -> Self {
        Self { limits, ..self }
    }

    /// Reads a file; those that it names are read beside it by [`SceneSource::parse`].
    pub fn load(path: &Path) -> Result<Self, SceneErrors> {
        Self::load_within(path, SceneLimits::default())
    }

    /// [`SceneSource::load`] with these limits.
    pub fn load_within(path: &Path, limits: SceneLimits) -> Result<Self, SceneErrors> {
        let file = path.display().to_string();
        match read_text(path, limits.file_bytes) {
            Ok(text) => {
                let folder = path.parent().map(Path::to_owned);
                Ok(Self { folder, limits, ..Self::new(text, file) })
            }
            Err((message, hint)) => Err(SceneErrors::new(vec![SceneError {
                file,
                line: 0,
                column: 0,
                issue: SceneIssue {
                    field: String::new(),
                    kind: SceneIssueKind::Unreadable,
                    message: format!("cannot read the scene: {message}"),
                    hint,
                },
            }])),
        }
    }

    /// Name of the file, as errors print it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Line and column, counted from 1 in characters, of the value at a path like `joints[3].child`, or of the
    /// innermost value around it if it was left out; an empty path is the whole scene. For errors that are found
    /// after reading, by whoever uses the scene. `None` if the text has no outline or `path` is not a path.
    ///
    /// ```
    /// let source = sinew_scene::SceneSource::new("(format: 1,\n bodies: [(name: \"rod\")])", "tiny.ron");
    /// assert_eq!(source.locate("bodies[0].name"), Some((2, 18)));
    /// assert_eq!(source.locate("bodies[0].mass"), Some((2, 11)));
    /// ```
    pub fn locate(&self, path: &str) -> Option<(usize, usize)> {
        self.place(&TextNode::parse(&self.text)?, path)
    }

    /// Replaces one value, or adds it where it was left out.
    ///
    /// `path` is like `dt`, `bodies[2].mass` or `joints["elbow"].spring.stiffness`; `value` is RON, so
    /// strings are quoted. Types are checked here, the rules for values in [`SceneSource::parse`], so that
    /// several edits may lead from one valid scene to another.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), SceneErrors> {
        let value = value.trim();
        let value_column = path.chars().count() + 2;
        let fail = |column, kind, message: String, hint: &str| {
            let issue = SceneIssue { field: path.to_owned(), kind, message, hint: hint.to_owned() };
            SceneErrors::new(vec![SceneError { file: format!("{path}={value}"), line: 1, column, issue }])
        };
        self.text = with_value(&self.text, path, value).map_err(|fault| match fault {
            EditFault::BadValue => {
                let message = format!("`{value}` is not one value");
                let hint = "write a number, a \"string\" or other RON";
                fail(value_column, SceneIssueKind::Syntax, message, hint)
            }
            EditFault::NoSuchPath => {
                let message = "the scene has no value at this path".to_owned();
                let hint = "paths look like dt or joints[\"elbow\"].spring.stiffness";
                fail(1, SceneIssueKind::UnknownPath, message, hint)
            }
            EditFault::NotThere(message, hint) => fail(1, SceneIssueKind::UnknownPath, message, &hint),
            EditFault::Malformed(text, complaint) => located_at(&self.file, &text, complaint),
            EditFault::Unreadable(at, Complaint { offset, issue }) => {
                let column = value_column + offset.clamp(at, at + value.len()) - at;
                // The fault may be around the value, for instance a missing choice.
                let around = issue.kind == SceneIssueKind::WrongType && issue.field != path && offset < at;
                let place = if around { format!("at {}: ", issue.field) } else { String::new() };
                fail(column, issue.kind, issue.message, &format!("{place}{}", issue.hint))
            }
        })?;
        Ok(())
    }

    /// The scene, or all of its errors.
    pub fn parse(&self) -> Result<SceneDoc, SceneErrors> {
        let root = self.outline()?;
        let text = version::upgrade(&self.text, &root).map_err(|issue| self.located(&root, vec![issue]))?;
        let mut doc = read(text, &root).map_err(|complaint| located_at(&self.file, &self.text, complaint))?;
        doc.limits = self.limits;
        validate(&doc).map_err(|issues| self.located(&root, issues))?;
        doc.files.clone_from(&self.files);
        if let Some(folder) = &self.folder {
            read_files(&mut doc, |name| read_file(&folder.join(name), self.limits.file_bytes))
                .map_err(|issues| self.located(&root, issues))?;
        }
        Ok(doc)
    }

    /// The outline of the text, or why it has none.
    fn outline(&self) -> Result<TextNode<'_>, SceneErrors> {
        outline(&self.text).map_err(|complaint| located_at(&self.file, &self.text, complaint))
    }

    /// Issues with line and column of the value, or of the innermost value around it that is written.
    fn located(&self, root: &TextNode<'_>, issues: Vec<SceneIssue>) -> SceneErrors {
        let place = |issue: SceneIssue| {
            let whole = || line_column(&self.text, root.span.start);
            let (line, column) = self.place(root, &issue.field).unwrap_or_else(whole);
            SceneError { file: self.file.clone(), line, column, issue }
        };
        SceneErrors::new(issues.into_iter().map(place).collect())
    }

    /// Line and column of a path, or of its longest part that is written.
    fn place(&self, root: &TextNode<'_>, path: &str) -> Option<(usize, usize)> {
        let steps = if path.is_empty() { Vec::new() } else { parse_path(path)? };
        let (node, _) = follow(&self.text, root, &steps);
        Some(line_column(&self.text, node.span.start))
    }
}

/// A complaint with its line and column.
fn located_at(file: &str, text: &str, Complaint { offset, issue }: Complaint) -> SceneErrors {
    let (line, column) = line_column(text, offset);
    SceneErrors::new(vec![SceneError { file: file.to_owned(), line, column, issue }])
}

impl SceneDoc {
    /// Reads a scene from text; `file` is the name to print in errors.
    pub fn from_ron(text: &str, file: &str) -> Result<Self, SceneErrors> {
        SceneSource::new(text, file).parse()
    }

    /// Reads a scene from a file.
    pub fn load(path: &Path) -> Result<Self, SceneErrors> {
        SceneSource::load(path)?.parse()
    }

    /// Replaces one value, as [`SceneSource::set`] does, and checks the result.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), SceneErrors> {
        let mut source = SceneSource::new(self.to_ron(), self.name.clone()).with_limits(self.limits);
        source.set(path, value)?;
        let edited = source.parse()?;
        let files = std::mem::take(&mut self.files);
        *self = Self { files, ..edited };
        Ok(())
    }
}

/// The text of a scene from a file or a pipe, or the message and hint of an error.
fn read_text(path: &Path, most: u64) -> Result<String, (String, String)> {
    let bytes = File::open(path).map_err(|error| error.to_string()).and_then(|file| read_bytes(file, most));
    let bytes = bytes.map_err(|message| (message, String::new()))?;
    let is_strange = |&byte: &u8| byte < b' ' && !byte.is_ascii_whitespace();
    let strange = bytes.iter().position(is_strange);
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        strange.map_or(at, |strange| strange.min(at))
    });
    let place = match (text, strange) {
        (Ok(text), None) => return Ok(text),
        (Ok(_), Some(at)) | (Err(at), _) => at,
    };
    Err((format!("byte {} is not text", place + 1), "scenes are RON text in UTF-8".to_owned()))
}

/// Removes the byte order mark that some editors write.
fn without_byte_order_mark(text: String) -> String {
    text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)
}

/// The contents of a file, or an error message.
fn read_file(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => missing(path),
        _ => error.to_string(),
    })?;
    if !metadata.is_file() {
        return Err("this is not a file".to_owned());
    }
    if metadata.len() > most {
        return Err(too_large(metadata.len(), most));
    }
    read_bytes(File::open(path).map_err(|error| error.to_string())?, most)
}

/// What to say of a file that is not there: which one beside it has a similar name.
fn missing(path: &Path) -> String {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut beside: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    beside.sort_unstable();
    match nearest(name, beside.iter().map(String::as_str)) {
        Some(other) => format!("there is no such file; did you mean `{other}`?"),
        None => "there is no such file".to_owned(),
    }
}

/// Reads at most [`MAX_BYTES`]; the file may grow while it is read, or be endless.
fn read_bytes(file: File, most: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > most { Err(too_large(bytes.len() as u64, most)) } else { Ok(bytes) }
}

fn too_large(n: u64, most: u64) -> String {
    format!("it has {n} bytes, more than {most}; the limit `file_bytes` can be raised")
}
