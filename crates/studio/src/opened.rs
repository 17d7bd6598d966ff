//! A scene that was opened: its document, where it came from, and the world made of it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sinew_scene::{SceneDoc, SceneErrors, SceneSource};
use sinew_sim::{BuildError, World};

use crate::Origin;

/// What is shown when no scene is given.
const PENDULUM: &str = r#"(format: 1, name: "double pendulum", duration_s: 10,
    generators: [Chain(n: 2, link: (shapes: [Capsule(radius: 0.03, length: 0.4)]), joint: (kind: Hinge))])"#;

/// A scene that can be simulated.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The document.
    pub doc: Arc<SceneDoc>,
    /// The file, if it came from one.
    pub path: Option<PathBuf>,
    /// The world at its beginning.
    pub world: World,
}

/// Why something could not be done, in lines for the user; those about scenes begin with file, line and column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Fault {
    /// At least one line.
    pub lines: Vec<String>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines.join("\n"))
    }
}

impl Fault {
    /// A fault of one line.
    pub fn new(line: impl Into<String>) -> Self {
        Self { lines: vec![line.into()] }
    }
}

impl From<SceneErrors> for Fault {
    fn from(errors: SceneErrors) -> Self {
        Self { lines: errors.as_slice().iter().map(ToString::to_string).collect() }
    }
}

impl Opened {
    /// Reads a file and builds what it describes.
    ///
    /// # Errors
    /// Everything that is wrong with the scene, with places in the file.
    pub fn load(path: &Path) -> Result<Self, Fault> {
        let source = SceneSource::load(path)?;
        Ok(Self { path: Some(path.to_owned()), ..Self::from_source(&source)? })
    }

    /// A scene that is built in.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn built_in(name: &str) -> Result<Self, Fault> {
        let text = sinew_scenes::text(name);
        let text = text.ok_or_else(|| Fault::new(format!("no scene called `{name}` is built in")))?;
        Self::from_text(text, &format!("{name}.ron"))
    }

    /// What a library means.
    ///
    /// # Errors
    /// Everything that is wrong with the scene, with places in the file.
    pub fn of(origin: &Origin) -> Result<Self, Fault> {
        match origin {
            Origin::File(path) => Self::load(path),
            Origin::BuiltIn(name) => Self::built_in(name),
        }
    }

    /// Builds a scene from text; `name` stands for the file in messages.
    ///
    /// # Errors
    /// Everything that is wrong with the scene, with places in the text.
    pub fn from_text(text: &str, name: &str) -> Result<Self, Fault> {
        Self::from_source(&SceneSource::new(text, name))
    }

    fn from_source(source: &SceneSource) -> Result<Self, Fault> {
        let doc = source.parse()?;
        let world = World::from_scene(&doc).map_err(|error| located(source, &error))?;
        Ok(Self { doc: Arc::new(doc), path: None, world })
    }

    /// A double pendulum, for when there is nothing else to show.
    pub fn pendulum() -> Self {
        Self::from_text(PENDULUM, "pendulum").expect("the scene that is built in is good")
    }

    /// The world of another document of the same origin.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn rebuild(doc: &SceneDoc) -> Result<World, Fault> {
        World::from_scene(doc)
            .map_err(|error| Fault { lines: error.to_string().lines().map(str::to_owned).collect() })
    }
}

/// An error found after reading, with the place in the text.
fn located(source: &SceneSource, error: &BuildError) -> Fault {
    let fields = error.fields();
    let message = error.to_string();
    let lines = message.lines().enumerate().map(|(i, line)| {
        let place = fields.get(i).and_then(|field| source.locate(field));
        place.map_or_else(
            || format!("{}: {line}", source.file()),
            |(row, column)| format!("{}:{row}:{column}: {line}", source.file()),
        )
    });
    Fault { lines: lines.collect() }
}
