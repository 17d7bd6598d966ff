//! Opening scenes: from a file, a built-in name or text to a document and its world. Errors name file, line and column.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sinew_scene::{SceneDoc, SceneSource};
use sinew_sim::World;

use crate::{fault::Fault, library::Origin};

/// The scene shown when none is given.
const PENDULUM: &str = r#"(format: 1, name: "double pendulum", duration_s: 10,
    generators: [Chain(n: 2, link: (shapes: [Capsule(radius: 0.03, length: 0.4)]), joint: (kind: Hinge))])"#;

/// An open scene.
#[derive(Clone, Debug)]
pub struct OpenScene {
    /// The document.
    pub doc: Arc<SceneDoc>,
    /// The file, if it came from one.
    pub path: Option<PathBuf>,
    /// The world at its initial state.
    pub world: World,
}

impl OpenScene {
    /// Reads a file and builds its scene. Fails with all errors of the scene, with line and column in the file.
    pub fn load(path: &Path) -> Result<Self, Fault> {
        let source = SceneSource::load(path)?;
        Ok(Self { path: Some(path.to_owned()), ..Self::from_source(&source)? })
    }

    /// Builds a built-in scene. Fails if there is no built-in scene of that name.
    pub fn built_in(name: &str) -> Result<Self, Fault> {
        let text = sinew_scenes::text(name);
        let text = text.ok_or_else(|| Fault::new(format!("there is no built-in scene called `{name}`")))?;
        Self::from_text(text, &format!("{name}.ron"))
    }

    /// Opens a scene of a library. Fails with all errors of the scene, with line and column in the file.
    pub fn of(origin: &Origin) -> Result<Self, Fault> {
        match origin {
            Origin::File(path) => Self::load(path),
            Origin::BuiltIn(name) => Self::built_in(name),
        }
    }

    /// Builds a scene from text; `name` replaces the file name in messages. Fails with all errors of the scene, with
    /// line and column in the text.
    pub fn from_text(text: &str, name: &str) -> Result<Self, Fault> {
        Self::from_source(&SceneSource::new(text, name))
    }

    fn from_source(source: &SceneSource) -> Result<Self, Fault> {
        let doc = source.parse()?;
        let world = World::from_scene(&doc).map_err(|error| Fault { lines: error.located(source, &doc) })?;
        Ok(Self { doc: Arc::new(doc), path: None, world })
    }

    /// A double pendulum, the default scene.
    pub fn pendulum() -> Self {
        Self::from_text(PENDULUM, "pendulum").expect("the default scene is valid")
    }

    /// The world of an edited document. Fails with all errors of the document.
    pub fn rebuild(doc: &SceneDoc) -> Result<World, Fault> {
        World::from_scene(doc)
            .map_err(|error| Fault { lines: error.to_string().lines().map(str::to_owned).collect() })
    }
}
