//! Names of bodies and tracks, resolved to ids once. Unknown names are errors with the path of the field.

use std::collections::BTreeMap;

use sinew_engine::BodyPoint;
use sinew_mechanism::BodyId;
use sinew_scene::{EndDoc, SceneDoc};

use crate::error::BuildError;

/// Name of the world in scenes.
pub const WORLD: &str = "world";

/// Ids of bodies and places of tracks by name.
pub(crate) struct Names<'d> {
    pub(crate) bodies: BTreeMap<&'d str, BodyId>,
    tracks: BTreeMap<&'d str, usize>,
    /// Whether flesh is fixed to the world. The last body then stands for it.
    pub(crate) has_ground: bool,
}

impl<'d> Names<'d> {
    /// The names of a scene with its generators written out.
    pub(crate) fn of(scene: &'d SceneDoc) -> Self {
        let named = scene.bodies.iter().enumerate();
        let mut bodies: BTreeMap<_, _> =
            named.map(|(i, doc)| (doc.name.as_str(), BodyId::from_index(i))).collect();
        let mut attached = scene.flesh.iter().flat_map(|flesh| &flesh.attach);
        let has_ground = attached.any(|attach| attach.body.as_deref() == Some(WORLD));
        if has_ground {
            bodies.insert(WORLD, BodyId::from_index(scene.bodies.len()));
        }
        let tracks = scene.tracks.iter().enumerate().map(|(i, track)| (track.name.as_str(), i)).collect();
        Self { bodies, tracks, has_ground }
    }

    pub(crate) fn body(&self, name: &str, path: &dyn Fn() -> String) -> Result<BodyId, BuildError> {
        self.bodies.get(name).copied().ok_or_else(|| unknown(path()))
    }

    pub(crate) fn track(&self, name: &str, path: &dyn Fn() -> String) -> Result<usize, BuildError> {
        self.tracks.get(name).copied().ok_or_else(|| unknown(path()))
    }

    /// A point of a body or of the world.
    pub(crate) fn point(&self, doc: &EndDoc, path: &str) -> Result<BodyPoint, BuildError> {
        Ok(match doc {
            EndDoc::World(point) => BodyPoint { body: None, point: *point },
            EndDoc::Body { name, point } => {
                BodyPoint { body: Some(self.body(name, &|| path.to_owned())?), point: *point }
            }
        })
    }
}

/// A name that `validate` did not find either, or that only a generator could have made.
pub(crate) fn unknown(field: String) -> BuildError {
    BuildError::Unsupported {
        field,
        what: "nothing in the scene has this name",
        hint: "use the name of a body or track of the scene",
    }
}
