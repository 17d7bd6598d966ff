//! Contents of the files that scenes name, as recordings keep them: as bytes where a format has them. A scene with the files of the scene before
//! keeps nothing.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sinew_scene::SceneDoc;

/// By the name as written.
type SceneFiles = BTreeMap<String, FileBytes>;

/// Files of scenes in order; none where they are those of the scene before, which has none before the first.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct SavedFiles(Vec<Option<SceneFiles>>);

impl SavedFiles {
    /// Those of scenes.
    pub(crate) fn of(scenes: &[SceneDoc]) -> Self {
        let nothing = BTreeMap::new();
        let before = std::iter::once(&nothing).chain(scenes.iter().map(|scene| &scene.files));
        let kept = |(scene, before): (&SceneDoc, &BTreeMap<String, Vec<u8>>)| {
            let saved = scene.files.iter().map(|(name, bytes)| (name.clone(), FileBytes(bytes.clone())));
            (scene.files != *before).then(|| saved.collect())
        };
        Self(scenes.iter().zip(before).map(kept).collect())
    }

    /// Gives them back.
    pub(crate) fn give(self, scenes: &mut [SceneDoc]) {
        let mut last = BTreeMap::new();
        for (scene, files) in scenes.iter_mut().zip(self.0) {
            if let Some(files) = files {
                last = files.into_iter().map(|(name, FileBytes(bytes))| (name, bytes)).collect();
            }
            scene.files.clone_from(&last);
        }
    }
}

/// The content of a file.
#[derive(Debug)]
struct FileBytes(Vec<u8>);

impl Serialize for FileBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for FileBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_byte_buf(BytesVisitor).map(Self)
    }
}

/// Takes bytes in every form that a format gives them.
struct BytesVisitor;

impl<'de> Visitor<'de> for BytesVisitor {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of a file")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }

    fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
        Ok(bytes)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<u8>, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = list.next_element()? {
            bytes.push(byte);
        }
        Ok(bytes)
    }
}
