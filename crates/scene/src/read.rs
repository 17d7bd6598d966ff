//! RON to documents and back, with error messages for people who write scenes.
//!
//! The RON reader reports the position where it stopped and what it expected. Where it expected one of several choices
//! (`Density(…)`, `Total(…)`, …) and found a bare value, the text is read again with each choice written in front of that
//! value; choices with which the reader gets further become the hint. Cost: one reading, a few more for an error.

use std::ops::Range;

use ron::extensions::Extensions;

use crate::error::{SceneIssue, SceneIssueKind as Kind};
use crate::outline::{TextNode, offset_of};
use crate::{doc::SceneDoc, outline_parser::is_blank, suggest::suggestion};

/// Extensions that scenes are read and written with.
const EXTENSIONS: Extensions = Extensions::IMPLICIT_SOME.union(Extensions::UNWRAP_VARIANT_NEWTYPES);

/// How scenes are read and written.
fn options() -> ron::Options {
    ron::Options::default().with_default_extension(EXTENSIONS)
}

impl SceneDoc {
    /// The scene as RON that reads back equal to the bit; fields with their usual values are left out.
    pub fn to_ron(&self) -> String {
        let config = ron::ser::PrettyConfig::new().extensions(EXTENSIONS).indentor("  ");
        let text = options().to_string_pretty(self, config);
        text.expect("scene documents hold nothing that RON cannot write")
    }
}

/// An error of the reader, and the byte at which it is.
pub(crate) struct Complaint {
    pub(crate) offset: usize,
    pub(crate) issue: SceneIssue,
}

/// The document in `text`, whose outline is `root`.
pub(crate) fn read(text: &str, root: &TextNode<'_>) -> Result<SceneDoc, Complaint> {
    options().from_str::<SceneDoc>(text).map_err(|error| {
        let mut issue = issue_from_ron(&error.code);
        let mut offset = offset_after_blank(text, &error);
        if matches!(error.code, ron::Error::ExpectedStructLike) {
            // The reader stopped behind the name that needs parentheses.
            offset = text[..offset_of_error(text, &error)].trim_end().len().saturating_sub(1);
        }
        let (node, path) = root.at_offset(offset);
        if expects_choice(&error.code) {
            describe_choice(text, node, &mut issue);
        }
        if let ron::Error::ExpectedNamedStructLike(_) = error.code {
            describe_fields(text, (node, &path), &mut issue);
        }
        issue.field = path;
        if matches!(issue.kind, Kind::MissingField | Kind::WrongType) {
            offset = node.span.start;
        }
        if matches!(error.code, ron::Error::ExpectedFloat) && is_doubled(text, offset) {
            issue.hint = "choices hold their numbers directly: leave out the inner parentheses".to_owned();
        }
        Complaint { offset, issue }
    })
}

/// The outline of `text`, or why it has none.
pub(crate) fn outline(text: &str) -> Result<TextNode<'_>, Complaint> {
    TextNode::parse(text).ok_or_else(|| explain(text))
}

/// Why `text` has no outline.
fn explain(text: &str) -> Complaint {
    let issue = |message: String, hint: &str| SceneIssue {
        field: String::new(),
        kind: Kind::Syntax,
        message,
        hint: hint.to_owned(),
    };
    const SHAPE: &str = "a scene is one list of fields: (format: 1, name: …)";
    if is_blank(text) {
        return Complaint { offset: 0, issue: issue("this text contains no scene".to_owned(), SHAPE) };
    }
    match options().from_str::<ron::Value>(text) {
        Err(error) => {
            let offset = offset_after_blank(text, &error);
            let mut issue = issue_from_ron(&error.code);
            show_line(text, offset, &error.code, &mut issue);
            Complaint { offset, issue }
        }
        Ok(_) => {
            let message = "this is RON, but not a scene".to_owned();
            Complaint { offset: 0, issue: issue(message, SHAPE) }
        }
    }
}

/// Says between what a comma is missing, or in which line the reader stopped, unless there is a hint.
fn show_line(text: &str, offset: usize, error: &ron::Error, issue: &mut SceneIssue) {
    let before = text[..offset].trim_end().lines().next_back().unwrap_or_default().trim();
    let after = text[offset..].lines().next().unwrap_or_default().trim();
    if matches!(error, ron::Error::ExpectedComma) {
        issue.message = "a comma is missing, or a bracket does not fit".to_owned();
        issue.hint = format!("between `{}` and `{}`", end_of(before), start_of(after));
    } else if issue.hint.is_empty() && !after.is_empty() {
        issue.hint = format!("at `{}`", start_of(after));
    }
}

/// The first characters of a line.
fn start_of(line: &str) -> &str {
    line.char_indices().nth(MAX_ECHO).map_or(line, |(end, _)| &line[..end])
}

/// The last characters of a line.
fn end_of(line: &str) -> &str {
    line.char_indices().nth_back(MAX_ECHO).map_or(line, |(begin, _)| &line[begin..])
}

fn offset_of_error(text: &str, error: &ron::error::SpannedError) -> usize {
    offset_of(text, error.span.start.line, error.span.start.col)
}

/// Where an error is, white space before it left out.
fn offset_after_blank(text: &str, error: &ron::error::SpannedError) -> usize {
    let offset = offset_of_error(text, error);
    offset + text[offset..].len() - text[offset..].trim_start().len()
}

/// Whether the value at `offset` begins with a parenthesis right behind that of a choice, as in `Vector((0, 0, 1))`.
fn is_doubled(text: &str, offset: usize) -> bool {
    let outer = text[..offset].trim_end().strip_suffix('(');
    text[offset..].starts_with('(') && outer.is_some_and(|name| name.ends_with(char::is_alphanumeric))
}

/// Whether the reader expected a choice and found something else.
fn expects_choice(error: &ron::Error) -> bool {
    use ron::Error::{ExpectedIdentifier, ExpectedStructLike, InvalidIdentifier, SuggestRawIdentifier};
    matches!(error, ExpectedIdentifier | ExpectedStructLike | InvalidIdentifier(_) | SuggestRawIdentifier(_))
}

/// Message and hint for a value at which a choice was expected.
fn describe_choice(text: &str, node: &TextNode<'_>, issue: &mut SceneIssue) {
    let value = &text[node.span.clone()];
    let named = |name: &str| {
        if value.starts_with('(') { format!("{name}{value}") } else { format!("{name}({value})") }
    };
    issue.kind = Kind::WrongType;
    if value.starts_with(|c: char| c.is_alphabetic()) {
        let whole = format!("{value}()");
        let fits = gets_past(text, &node.span, &whole);
        issue.message = format!("`{value}` needs parentheses");
        issue.hint = format!("write {}", if fits { whole } else { format!("{value}(…)") });
        return;
    }
    let choices = choices_at(text, &node.span);
    let fitting: Vec<String> =
        choices.iter().map(|name| named(name)).filter(|whole| gets_past(text, &node.span, whole)).collect();
    issue.message = "a bare value is not allowed here".to_owned();
    issue.hint = match choices.len() {
        0 => "write a name before the value".to_owned(),
        _ if fitting.is_empty() || value.len() > MAX_ECHO => suggestion(value, choices),
        _ => format!("write {}", fitting.join(" or ")),
    };
}

/// Message and hint for a bare value at which a list of fields was expected: the first field that takes it, and the others.
fn describe_fields(text: &str, (node, path): (&TextNode<'_>, &str), issue: &mut SceneIssue) {
    let value = &text[node.span.clone()];
    let name = path.rsplit('.').next().unwrap_or(path);
    // No field is called `_`, so the reader lists the valid ones.
    let fields =
        match options().from_str::<SceneDoc>(&with(text, &node.span, "(_: 0)")).map_err(|error| error.code) {
            Err(ron::Error::NoSuchStructField { expected, .. }) => expected,
            _ => &[],
        };
    let fits = |field: &&&str| gets_past(text, &node.span, &format!("({field}: {value})"));
    let first = fields.iter().find(fits).filter(|_| value.len() <= MAX_ECHO);
    let given = first.map(|field| format!("{field}: {value}"));
    let others = fields.iter().filter(|field| Some(*field) != first).map(|field| format!("{field}: …"));
    let list: Vec<String> = given.into_iter().chain(others).take(MAX_FIELDS).collect();
    let more = if fields.len() > MAX_FIELDS { ", …" } else { "" };
    issue.kind = Kind::WrongType;
    issue.message = format!("`{name}` is a list of fields, not a bare value");
    issue.hint = format!("write {name}: ({}{more})", list.join(", "));
}

/// Most fields that a hint names.
const MAX_FIELDS: usize = 4;

/// Longest value that is repeated in a hint, in bytes.
const MAX_ECHO: usize = 60;

/// The choices that may stand at `span`; empty if none may.
fn choices_at(text: &str, span: &Range<usize>) -> &'static [&'static str] {
    // No choice is called `_`, so the reader lists the valid ones.
    match options().from_str::<SceneDoc>(&with(text, span, "_")).map_err(|error| error.code) {
        Err(ron::Error::NoSuchEnumVariant { expected, .. }) => expected,
        _ => &[],
    }
}

/// Whether the reader gets past `span` once `value` is written there.
fn gets_past(text: &str, span: &Range<usize>, value: &str) -> bool {
    let edited = with(text, span, value);
    match options().from_str::<SceneDoc>(&edited) {
        Ok(_) => true,
        Err(error) => offset_of_error(&edited, &error) > span.start + value.len(),
    }
}

fn with(text: &str, span: &Range<usize>, value: &str) -> String {
    format!("{}{value}{}", &text[..span.start], &text[span.end..])
}

/// An error of the reader as an issue without a path.
fn issue_from_ron(error: &ron::Error) -> SceneIssue {
    use ron::Error;
    let (kind, message, hint) = match error {
        Error::NoSuchStructField { expected, found, .. } => {
            (Kind::UnknownField, format!("there is no field `{found}` here"), field_hint(found, expected))
        }
        Error::NoSuchEnumVariant { expected, found, .. } => {
            (Kind::UnknownVariant, format!("there is no `{found}` here"), variant_hint(found, expected))
        }
        Error::MissingStructField { field, .. } => {
            (Kind::MissingField, format!("`{field}` is missing"), format!("add {field}: …"))
        }
        Error::DuplicateStructField { field, .. } => {
            (Kind::DuplicateField, format!("`{field}` is given twice"), "keep one of them".to_owned())
        }
        Error::ExpectedFloat
        | Error::ExpectedInteger
        | Error::ExpectedString
        | Error::ExpectedBoolean
        | Error::ExpectedArray
        | Error::ExpectedOption
        | Error::ExpectedNamedStructLike(_)
        | Error::ExpectedDifferentStructName { .. }
        | Error::ExpectedDifferentLength { .. }
        | Error::IntegerOutOfBounds
        | Error::InvalidValueForType { .. }
        | Error::Message(_) => (Kind::WrongType, sentence(error), String::new()),
        Error::Eof => (
            Kind::Syntax,
            "the text ends too early".to_owned(),
            "close every parenthesis, bracket and quotation mark".to_owned(),
        ),
        Error::ExceededRecursionLimit => (
            Kind::Syntax,
            "values are nested too deeply".to_owned(),
            "close parentheses and brackets that were left open".to_owned(),
        ),
        _ => (Kind::Syntax, sentence(error), String::new()),
    };
    SceneIssue { field: String::new(), kind, message, hint }
}

/// The hint for a field that does not exist: those of surfaces are in `contact`.
fn field_hint(found: &str, expected: &[&str]) -> String {
    let is_of_surface = ["friction", "restitution", "firmness", "groups", "touches"].contains(&found);
    if is_of_surface && expected.contains(&"contact") {
        return format!("write contact: ({found}: …)");
    }
    suggestion(found, expected)
}

/// The hint for a choice that does not exist: shapes of bodies are `Solid` colliders.
fn variant_hint(found: &str, expected: &[&str]) -> String {
    let is_shape = ["Sphere", "Capsule", "Cylinder", "Box", "Ellipsoid"].contains(&found);
    if is_shape && expected.contains(&"Solid") {
        return format!("write Solid({found}(…)), or OfBody for all shapes of the body");
    }
    suggestion(found, expected)
}

/// The message of the reader, in lower case like every other message.
fn sentence(error: &ron::Error) -> String {
    let mut text = error.to_string();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    text
}
