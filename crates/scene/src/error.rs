//! Errors of scenes: the rule that is broken, a message, a hint how to mend it, and file, line and column.

use std::fmt;

/// A fault of a scene, without a position in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneIssue {
    /// Path of the value, for instance `joints[3].child`; empty for the scene as a whole.
    pub field: String,
    /// The rule that is broken.
    pub kind: SceneIssueKind,
    /// The message.
    pub message: String,
    /// How to fix it.
    pub hint: String,
}

impl fmt::Display for SceneIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        f.write_str(&self.message)?;
        if !self.hint.is_empty() {
            write!(f, " ({})", self.hint)?;
        }
        Ok(())
    }
}

/// The rules a scene can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SceneIssueKind {
    /// The file cannot be read.
    Unreadable,
    /// The text is not RON.
    Syntax,
    /// The format number is missing or not one this version reads.
    UnsupportedFormat,
    /// A field that does not exist.
    UnknownField,
    /// A choice that does not exist.
    UnknownVariant,
    /// A field that must be given.
    MissingField,
    /// A field given twice.
    DuplicateField,
    /// A value of the wrong type or length.
    WrongType,
    /// A path to a value that does not exist.
    UnknownPath,
    /// A number that is infinite or not a number.
    NotFinite,
    /// A number outside its valid range.
    OutOfRange,
    /// A time step out of range.
    TimeStep,
    /// A name that is empty or reserved.
    BadName,
    /// A name used twice.
    DuplicateName,
    /// A reference to a name that does not exist.
    UnknownName,
    /// A mass, density or size that is not positive.
    NotPositive,
    /// A dynamic body without mass.
    NoMass,
    /// An inertia that is not physical.
    NonPhysicalInertia,
    /// A direction of length zero, or two directions that should differ but do not.
    BadDirection,
    /// A joint from a body to itself.
    SelfJoint,
    /// A joint, spring or input that cannot move anything.
    NothingToMove,
    /// A range whose lower bound is above its upper bound.
    EmptyRange,
    /// A setting that this kind of joint does not have.
    WrongJointKind,
    /// A track that does not fit its use.
    WrongTrack,
    /// A body of the wrong kind for an input.
    WrongBodyKind,
    /// A list that must not be empty.
    Empty,
    /// Times that do not increase.
    UnorderedTimes,
    /// A generator that makes no links, or too many.
    GeneratorCount,
    /// A template field that the generator sets itself.
    TemplateField,
    /// Tetrahedra that are not a valid mesh.
    BadMesh,
    /// A file of the wrong kind.
    WrongFile,
    /// An attachment that does not fit its flesh.
    WrongAttachment,
    /// A body without shapes where shapes are needed.
    NoShapes,
    /// A shape that cannot be a collider.
    BadCollider,
    /// A setting that does not fit the stepper.
    WrongStepper,
}

/// A [`SceneIssue`] with its file, line and column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneError {
    /// Name of the file, as the caller gave it.
    pub file: String,
    /// Line, counted from 1; 0 if there is no text to point into.
    pub line: usize,
    /// Column in characters, counted from 1; 0 if there is no text to point into.
    pub column: usize,
    /// The fault.
    pub issue: SceneIssue,
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.issue),
            line => write!(f, "{}:{line}:{}: {}", self.file, self.column, self.issue),
        }
    }
}

/// All errors of a scene: at least one, in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct SceneErrors(Vec<SceneError>);

impl SceneErrors {
    /// How many errors are listed; the rest is counted.
    pub const LISTED: usize = 50;

    pub(crate) fn new(mut errors: Vec<SceneError>) -> Self {
        errors.sort_by_key(|e| (e.line, e.column));
        Self(errors)
    }

    /// The line after the listed ones of `n` errors, if there are more.
    pub fn beyond_listed(n: usize) -> Option<String> {
        n.checked_sub(Self::LISTED).filter(|more| *more > 0).map(|more| format!("… and {more} more"))
    }

    /// The errors.
    pub fn as_slice(&self) -> &[SceneError] {
        &self.0
    }
}

impl fmt::Display for SceneErrors {
    /// One error per line, the first [`SceneErrors::LISTED`] of them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().take(Self::LISTED).enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Self::beyond_listed(self.0.len()).map_or(Ok(()), |more| write!(f, "\n{more}"))
    }
}
