//! Scenes as documents: put together in code, read, changed value by value, written, built.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::prelude::*;
use sinew_io::RootHold;
use sinew_scene::{SceneDoc, SceneSource};
use sinew_scenes::SCENES;

use crate::errors::{scene_error, unknown};
use crate::parts::AnyPart;
use crate::source::{LoadedScene, ReadingChoices};
use crate::threads::detached;
use crate::vectors::Vec3;
use crate::world::PyWorld;

/// What a scene is pickled as: its text and its files.
type SceneParts = (String, BTreeMap<String, Vec<u8>>);

/// A scene as a document. Every method returns another scene; ``build`` makes a world of it.
///
/// >>> from sinew import BodyDoc, ColliderDoc, JointDoc, SceneDoc, Shape
/// >>> scene = (SceneDoc("swing")
/// ...     .add(ColliderDoc.floor(0))
/// ...     .add(BodyDoc("seat").at([1, 0, 2]).shape(Shape.box([0.4, 0.6, 0.1])).touching())
/// ...     .add(JointDoc("Hinge", "bar", "seat").at([0, 0, 3]).axis([0, 1, 0])))
/// >>> world = scene.set("dt", "0.01").build()
/// >>> world.body_names, world.dt
/// (['seat'], 0.01)
#[pyclass(name = "SceneDoc", module = "sinew", frozen)]
#[derive(Clone)]
pub(crate) struct PySceneDoc(pub(crate) LoadedScene);

impl PySceneDoc {
    fn of(scene: SceneDoc) -> Self {
        Self(LoadedScene { scene, source: None, notes: Vec::new() })
    }

    pub(crate) fn from_doc(scene: SceneDoc) -> Self {
        Self::of(scene)
    }
}

#[pymethods]
impl PySceneDoc {
    #[new]
    #[pyo3(signature = (name="scene"))]
    fn new(name: &str) -> Self {
        Self::of(SceneDoc::new(name))
    }

    /// Reads a scene in RON. ``file`` is what errors call it. Raises ``SceneError``.
    #[staticmethod]
    #[pyo3(signature = (text, file="<text>"))]
    fn from_ron(py: Python<'_>, text: &str, file: &str) -> PyResult<Self> {
        LoadedScene::parsed(py, SceneSource::new(text, file)).map(Self)
    }

    /// The scene in RON.
    fn to_ron(&self) -> String {
        self.0.scene.to_ron()
    }

    /// The scene with one more part, or with all of several: bodies, joints, colliders, springs, ropes.
    #[pyo3(signature = (*parts))]
    fn add(&self, parts: Vec<AnyPart>) -> Self {
        let scene = self.0.scene.clone();
        Self::of(parts.into_iter().fold(scene, |scene, part| part.add_to(scene)))
    }

    /// The scene with another value at a path such as ``dt``, ``bodies[2].mass`` or ``joints["elbow"].spring.stiffness``; the value is RON. Every field
    /// of the scene format can be reached in this way.
    ///
    /// >>> import sinew
    /// >>> sinew.load_scene("chain_10").set("gravity", "(0, 0, -1.6)").build().gravity
    /// array([ 0. ,  0. , -1.6])
    fn set(&self, py: Python<'_>, path: &str, value: &str) -> PyResult<Self> {
        let set = || -> Result<(SceneDoc, Option<SceneSource>), sinew_scene::SceneErrors> {
            if let Some(source) = &self.0.source {
                let mut source = source.clone();
                source.set(path, value)?;
                return Ok((source.parse()?, Some(source)));
            }
            let mut scene = self.0.scene.clone();
            scene.set(path, value)?;
            Ok((scene, None))
        };
        let (scene, source) = detached(py, set).map_err(|errors| scene_error(py, &errors))?;
        Ok(Self(LoadedScene { scene, source, notes: Vec::new() }))
    }

    /// The scene under this gravity, m/s², world axes.
    fn with_gravity(&self, gravity: Vec3) -> Self {
        Self::of(SceneDoc { gravity: gravity.0, ..self.0.scene.clone() })
    }

    /// The world of the scene. Raises ``BuildError``.
    fn build(&self, py: Python<'_>) -> PyResult<PyWorld> {
        PyWorld::new(py, self.0.build(py)?)
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.0.scene.name
    }

    /// What was approximated, repaired or left out when the scene was read from a file of another tool.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.notes.clone()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0.scene == other.0.scene
    }

    /// Text and files.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, SceneParts)> {
        let make = slf.py().import("sinew._sinew")?.getattr("scene_from_parts")?;
        Ok((make, (slf.get().to_ron(), slf.get().0.scene.files.clone())))
    }

    fn __repr__(&self) -> String {
        let SceneDoc { name, bodies, joints, generators, .. } = &self.0.scene;
        let (bodies, joints, generators) = (bodies.len(), joints.len(), generators.len());
        format!("SceneDoc({name:?}: {bodies} bodies, {joints} joints, {generators} generators)")
    }
}

/// Reads a scene: a path (``.ron``, ``.urdf``, ``.xml``, ``.sdf``, ``.gltf``, ``.glb``, ``.bvh``), the name of a built-in scene, or text itself.
///
/// ``root`` holds the first body of a robot: ``"fixed"``, ``"free"`` or, as by default, ``"as_written"``. ``flesh`` puts flesh around a rig.
#[pyfunction]
#[pyo3(signature = (scene, root=None, flesh=false))]
pub(crate) fn load_scene(
    py: Python<'_>,
    scene: PathBuf,
    root: Option<&str>,
    flesh: bool,
) -> PyResult<PySceneDoc> {
    let root = match root {
        None | Some("as_written") => None,
        Some("fixed") => Some(RootHold::Fixed),
        Some("free") => Some(RootHold::Free),
        Some(other) => return Err(unknown(py, "root", other, &["fixed", "free", "as_written"])),
    };
    LoadedScene::find(py, &scene.to_string_lossy(), ReadingChoices { root, flesh }).map(PySceneDoc)
}

/// The names of the built-in scenes.
#[pyfunction]
pub(crate) fn scene_names() -> Vec<&'static str> {
    SCENES.iter().map(|(name, _)| *name).collect()
}

/// The text of a built-in scene.
#[pyfunction]
pub(crate) fn scene_text(py: Python<'_>, name: &str) -> PyResult<&'static str> {
    sinew_scenes::text(name).ok_or_else(|| unknown(py, "built-in scene", name, &scene_names()))
}

/// A scene of its text and its files.
pub(crate) fn of_files(
    py: Python<'_>,
    text: String,
    files: BTreeMap<String, Vec<u8>>,
) -> PyResult<LoadedScene> {
    LoadedScene::parsed(py, SceneSource::new(text, "<pickle>").with_files(files))
}

/// A scene as it was pickled.
#[pyfunction]
pub(crate) fn scene_from_parts(
    py: Python<'_>,
    text: String,
    files: BTreeMap<String, Vec<u8>>,
) -> PyResult<PySceneDoc> {
    of_files(py, text, files).map(PySceneDoc)
}
