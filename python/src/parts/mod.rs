//! Parts of scenes in code, with the names of the Rust builders. Every method returns another part; nothing is changed in place.

pub(crate) mod body;
pub(crate) mod contact;
pub(crate) mod joint;
pub(crate) mod line;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use sinew_scene::{BodyDoc, ColliderDoc, EditableScene, JointDoc, RopeDoc, SceneDoc, SpringDoc};

use self::body::PyBodyDoc;
use self::contact::PyColliderDoc;
use self::joint::PyJointDoc;
use self::line::{PyRopeDoc, PySpringDoc};

/// A part that a scene or a world takes.
#[derive(Clone)]
pub(crate) enum AnyPart {
    Body(BodyDoc),
    Joint(Box<JointDoc>),
    Collider(ColliderDoc),
    Spring(SpringDoc),
    Rope(RopeDoc),
}

impl<'a, 'py> FromPyObject<'a, 'py> for AnyPart {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(body) = given.cast::<PyBodyDoc>() {
            return Ok(Self::Body(body.get().0.clone()));
        }
        if let Ok(joint) = given.cast::<PyJointDoc>() {
            return Ok(Self::Joint(Box::new(joint.get().0.clone())));
        }
        if let Ok(collider) = given.cast::<PyColliderDoc>() {
            return Ok(Self::Collider(collider.get().0.clone()));
        }
        if let Ok(spring) = given.cast::<PySpringDoc>() {
            return Ok(Self::Spring(spring.get().0.clone()));
        }
        if let Ok(rope) = given.cast::<PyRopeDoc>() {
            return Ok(Self::Rope(rope.get().0.clone()));
        }
        let found = given.get_type();
        Err(PyTypeError::new_err(format!(
            "expected a BodyDoc, JointDoc, ColliderDoc, SpringDoc or RopeDoc, not {found}"
        )))
    }
}

impl AnyPart {
    pub(crate) fn add_to(self, scene: SceneDoc) -> SceneDoc {
        match self {
            Self::Body(part) => scene.with(part),
            Self::Joint(part) => scene.with(*part),
            Self::Collider(part) => scene.with(part),
            Self::Spring(part) => scene.with(part),
            Self::Rope(part) => scene.with(part),
        }
    }

    pub(crate) fn insert_into(self, scene: &mut EditableScene) {
        match self {
            Self::Body(part) => _ = scene.insert(part),
            Self::Joint(part) => _ = scene.insert(*part),
            Self::Collider(part) => _ = scene.insert(part),
            Self::Spring(part) => _ = scene.insert(part),
            Self::Rope(part) => _ = scene.insert(part),
        }
    }

    /// The name of a part that is a new version of one that is there, which it replaces; none of a part without a name.
    pub(crate) fn replace_in(self, scene: &mut EditableScene) -> bool {
        fn put<P: sinew_scene::ScenePart>(scene: &mut EditableScene, part: P) -> bool {
            let found = part.name().map(str::to_owned).and_then(|name| scene.find::<P>(&name));
            found.is_some_and(|handle| scene.replace(handle, part).is_some())
        }
        match self {
            Self::Body(part) => put(scene, part),
            Self::Joint(part) => put(scene, *part),
            Self::Collider(part) => put(scene, part),
            Self::Spring(part) => put(scene, part),
            Self::Rope(part) => put(scene, part),
        }
    }
}

/// The class of a document: a newtype around it, with equality and a short text.
macro_rules! document_class {
    ($(#[doc = $doc:literal])* $class:ident($doc_type:ty) as $name:literal) => {
        $(#[doc = $doc])*
        #[pyclass(name = $name, module = "sinew", frozen)]
        #[derive(Clone)]
        pub(crate) struct $class(pub(crate) $doc_type);

        #[pymethods]
        impl $class {
            fn __eq__(&self, other: &Self) -> bool {
                self.0 == other.0
            }

            fn __repr__(&self) -> String {
                let text = ron::to_string(&self.0).unwrap_or_default();
                format!("{}{text}", $name)
            }
        }
    };
}
pub(crate) use document_class;
