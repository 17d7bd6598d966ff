//! States as bytes and as text, to the bit.
//!
//! Bytes are `sinew state 1` and a line feed, then CBOR; text is RON. Both keep every bit of every number by themselves, whatever features of
//! serialization crates a program has switched on. The version is that of the form: other versions are refused. Cost: linear.

use sinew_engine::State;

/// The version of both forms.
const VERSION: u32 = 1;

/// What bytes begin with.
const MAGIC: &[u8] = b"sinew state ";

/// Why a saved state cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SavedStateError {
    /// It is no saved state.
    NotAState,
    /// It was written by another version of the form.
    OtherVersion(String),
    /// It is damaged: where or how.
    Damaged(String),
}

impl std::fmt::Display for SavedStateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotAState => {
                f.write_str("this is no saved state; write one with state_to_bytes or state_to_text")
            }
            Self::OtherVersion(found) => {
                write!(
                    f,
                    "the state has the form {found}, this library reads {VERSION}; save it again with the version that wrote it, as a scene"
                )
            }
            Self::Damaged(what) => write!(f, "the saved state is damaged: {what}"),
        }
    }
}

impl std::error::Error for SavedStateError {}

/// A state as text.
#[derive(serde::Serialize, serde::Deserialize)]
struct SavedState<S> {
    sinew_state: u32,
    state: S,
}

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
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_string().bytes().chain([b'\n']));
    // Writing to memory does not fail.
    let _ = ciborium::into_writer(state, &mut bytes);
    bytes
}

/// The state that bytes hold.
///
/// # Errors
/// If they are no state, of another version, or damaged.
pub fn state_from_bytes(bytes: &[u8]) -> Result<State, SavedStateError> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(SavedStateError::NotAState)?;
    let end = rest.iter().position(|&byte| byte == b'\n').ok_or(SavedStateError::NotAState)?;
    let version = String::from_utf8_lossy(&rest[..end]).into_owned();
    if version != VERSION.to_string() {
        return Err(SavedStateError::OtherVersion(version));
    }
    ciborium::from_reader(&rest[end + 1..]).map_err(|error| SavedStateError::Damaged(error.to_string()))
}

/// A state as text. [`state_from_text`] reads it.
pub fn state_to_text(state: &State) -> String {
    let saved = SavedState { sinew_state: VERSION, state };
    // States have no maps with odd keys, the only thing that the writer refuses.
    ron::ser::to_string_pretty(&saved, ron::ser::PrettyConfig::default()).unwrap_or_default()
}

/// The state that a text holds.
///
/// # Errors
/// If it is no state, of another version, or damaged.
pub fn state_from_text(text: &str) -> Result<State, SavedStateError> {
    let head = text.trim_start().strip_prefix('(').map(str::trim_start);
    let version =
        head.and_then(|head| head.strip_prefix("sinew_state:")).ok_or(SavedStateError::NotAState)?;
    let version = version.split([',', ')']).next().unwrap_or_default().trim();
    if version != VERSION.to_string() {
        return Err(SavedStateError::OtherVersion(version.to_owned()));
    }
    let saved: SavedState<State> =
        ron::from_str(text).map_err(|error| SavedStateError::Damaged(error.to_string()))?;
    Ok(saved.state)
}
