//! States and recordings as bytes and as text, to the bit.
//!
//! Both begin with the line `sinew state 2 9f3a01bc`, in text as a comment: what it is, the version of the form, and the CRC-32 of the rest. In
//! bytes the rest is CBOR, in text RON. Both keep every bit of every number by themselves, whatever features of serialization crates a program has
//! switched on. Other versions, and what is damaged, are refused. Cost: linear.

use serde::Serialize;
use serde::de::DeserializeOwned;
use sinew_engine::State;

use crate::Recording;

/// The version of the forms of states and recordings.
const VERSION: &str = "2";
const STATE: SavedForm = SavedForm::new("state", VERSION);
const RECORDING: SavedForm = SavedForm::new("recording", VERSION);

/// A form in which something is saved: what it is, and the version. Programs save values of their own in it.
///
/// ```
/// use sinew_sim::{SavedError, SavedForm};
///
/// let score = SavedForm::new("high score", "1");
/// let saved = score.to_bytes(&(12.5, "Ada"))?;
/// assert!(saved.starts_with(b"sinew high score 1 "));
/// assert_eq!(score.read_bytes::<(f64, String)>(&saved)?, (12.5, "Ada".to_owned()));
/// assert!(matches!(score.read_bytes::<(f64, String)>(&saved[..30]), Err(SavedError::Damaged(_))));
/// # Ok::<(), SavedError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavedForm {
    kind: &'static str,
    version: &'static str,
}

/// Why something saved cannot be read, or something not be saved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SavedError {
    /// It is nothing saved, or something else than was asked for.
    NotSaved {
        /// What was asked for.
        wanted: &'static str,
    },
    /// It was written by another version of the form.
    OtherVersion(String),
    /// It is damaged: where or how.
    Damaged(String),
    /// It cannot be saved: why.
    CannotSave(String),
}

impl std::fmt::Display for SavedError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotSaved { wanted } => {
                write!(f, "this is no saved {wanted}; write one with {wanted}_to_bytes or {wanted}_to_text")
            }
            Self::OtherVersion(found) => {
                write!(
                    f,
                    "it has the form {found}, this library reads {VERSION}; read it with the version that wrote it"
                )
            }
            Self::Damaged(what) => write!(f, "it is damaged: {what}"),
            Self::CannotSave(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for SavedError {}

/// A state as bytes. [`state_from_bytes`] reads them.
///
/// ```
/// use sinew_sim::{BodyDoc, SceneDoc, Shape, World, state_from_bytes, state_to_bytes};
///
/// let ball = BodyDoc::new("ball").shape(Shape::Sphere { radius: 0.1 });
/// let mut world = World::from_scene(&SceneDoc::new("fall").with(ball))?;
/// world.step();
/// let saved = state_to_bytes(world.state());
/// world.step();
/// world.restore(&state_from_bytes(&saved)?)?;
/// assert_eq!(state_to_bytes(world.state()), saved);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn state_to_bytes(state: &State) -> Vec<u8> {
    // States have nothing that CBOR cannot hold.
    STATE.to_bytes(state).unwrap_or_default()
}

/// The state that bytes hold.
///
/// # Errors
/// If they are no state, of another version, or damaged.
pub fn state_from_bytes(bytes: &[u8]) -> Result<State, SavedError> {
    STATE.read_bytes(bytes)
}

/// A state as text. [`state_from_text`] reads it.
pub fn state_to_text(state: &State) -> String {
    // States have no maps with odd keys, the only thing that the writer refuses.
    STATE.to_text(state).unwrap_or_default()
}

/// The state that a text holds.
///
/// # Errors
/// If it is no state, of another version, or damaged.
pub fn state_from_text(text: &str) -> Result<State, SavedError> {
    STATE.read_text(text)
}

/// A recording as bytes. [`recording_from_bytes`] reads them.
///
/// # Errors
/// If its world was made from a model: only scenes can be saved.
pub fn recording_to_bytes(recording: &Recording) -> Result<Vec<u8>, SavedError> {
    RECORDING.to_bytes(recording)
}

/// The recording that bytes hold.
///
/// # Errors
/// If they are no recording, of another version, or damaged.
pub fn recording_from_bytes(bytes: &[u8]) -> Result<Recording, SavedError> {
    RECORDING.read_bytes(bytes)
}

/// A recording as text. [`recording_from_text`] reads it.
///
/// # Errors
/// If its world was made from a model: only scenes can be saved.
pub fn recording_to_text(recording: &Recording) -> Result<String, SavedError> {
    RECORDING.to_text(recording)
}

/// The recording that a text holds.
///
/// # Errors
/// If it is no recording, of another version, or damaged.
pub fn recording_from_text(text: &str) -> Result<Recording, SavedError> {
    RECORDING.read_text(text)
}

impl SavedForm {
    /// A form of a kind of things, in a version, which is a single word.
    pub const fn new(kind: &'static str, version: &'static str) -> Self {
        Self { kind, version }
    }

    /// A value as bytes.
    ///
    /// # Errors
    /// If it has something that CBOR cannot hold.
    pub fn to_bytes(self, value: &impl Serialize) -> Result<Vec<u8>, SavedError> {
        let mut rest = Vec::new();
        ciborium::into_writer(value, &mut rest).map_err(|error| SavedError::CannotSave(error.to_string()))?;
        let mut bytes = self.head(&rest).into_bytes();
        bytes.push(b'\n');
        bytes.append(&mut rest);
        Ok(bytes)
    }

    /// The value that bytes hold.
    ///
    /// # Errors
    /// If they are of another kind or version, or damaged.
    pub fn read_bytes<T: DeserializeOwned>(self, bytes: &[u8]) -> Result<T, SavedError> {
        let line = bytes.iter().position(|&byte| byte == b'\n').ok_or(self.not_saved())?;
        let rest = &bytes[line + 1..];
        self.check_head(&String::from_utf8_lossy(&bytes[..line]), rest)?;
        ciborium::from_reader(rest).map_err(|error| SavedError::Damaged(error.to_string()))
    }

    fn to_text(self, value: &impl Serialize) -> Result<String, SavedError> {
        let rest = ron::ser::to_string_pretty(value, ron::ser::PrettyConfig::default().new_line("\n"));
        let rest = rest.map_err(|error| SavedError::CannotSave(error.to_string()))? + "\n";
        Ok(format!("// {}\n{rest}", self.head(rest.as_bytes())))
    }

    fn read_text<T: DeserializeOwned>(self, text: &str) -> Result<T, SavedError> {
        // Editors may have given the lines and the text other ends.
        let text = text.replace('\r', "");
        let (line, rest) = text.split_once('\n').ok_or(self.not_saved())?;
        let line = line.strip_prefix("// ").ok_or(self.not_saved())?;
        let rest = rest.trim_end().to_owned() + "\n";
        self.check_head(line, rest.as_bytes())?;
        ron::from_str(&rest).map_err(|error| SavedError::Damaged(error.to_string()))
    }

    /// The first line.
    fn head(self, rest: &[u8]) -> String {
        format!("sinew {} {} {:08x}", self.kind, self.version, crc32fast::hash(rest))
    }

    /// Compares the first line with the one that `rest` should have.
    fn check_head(self, line: &str, rest: &[u8]) -> Result<(), SavedError> {
        let words =
            line.strip_prefix("sinew ").and_then(|line| line.strip_prefix(self.kind)?.strip_prefix(' '));
        let version = words.ok_or(self.not_saved())?.split(' ').next().unwrap_or_default();
        if version != self.version {
            return Err(SavedError::OtherVersion(version.to_owned()));
        }
        if line != self.head(rest) {
            return Err(SavedError::Damaged("its checksum differs: it was cut or changed".to_owned()));
        }
        Ok(())
    }

    fn not_saved(self) -> SavedError {
        SavedError::NotSaved { wanted: self.kind }
    }
}
