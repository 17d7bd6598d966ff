//! Springs and ropes between points of bodies and the world. m, N.

use pyo3::prelude::*;
use sinew_scene::{EndDoc, RopeDoc, SpringDoc};

use super::document_class;
use crate::vectors::Vec3;

document_class! {
    /// An end of a spring, or a point that a rope runs through: ``EndDoc.on`` a body, or ``EndDoc.world``.
    ///
    /// >>> from sinew import EndDoc
    /// >>> hook = EndDoc.world([0, 0, 2])
    PyEndDoc(EndDoc) as "EndDoc"
}

#[pymethods]
impl PyEndDoc {
    /// A point of a body, in its body frame (m).
    #[staticmethod]
    fn on(body: String, point: Vec3) -> Self {
        Self(EndDoc::on(body, point.0))
    }

    /// A point of the world (m).
    #[staticmethod]
    fn world(point: Vec3) -> Self {
        Self(point.0.into())
    }
}

document_class! {
    /// A spring between two points (N/m), of rest length 0 without a word.
    ///
    /// >>> from sinew import EndDoc, SpringDoc
    /// >>> spring = SpringDoc("spring", EndDoc.world([0, 0, 2]), EndDoc.on("ball", [0, 0, 0]), 100).damping(1).rest_length(0.5)
    PySpringDoc(SpringDoc) as "SpringDoc"
}

#[pymethods]
impl PySpringDoc {
    #[new]
    fn new(name: String, start: &PyEndDoc, end: &PyEndDoc, stiffness: f64) -> Self {
        Self(SpringDoc::new(name, start.0.clone(), end.0.clone(), stiffness))
    }

    /// Its damping along the line (N·s/m).
    fn damping(&self, damping: f64) -> Self {
        Self(self.0.clone().damping(damping))
    }

    /// Its length without force (m).
    fn rest_length(&self, rest_length: f64) -> Self {
        Self(self.0.clone().rest_length(rest_length))
    }
}

document_class! {
    /// A rope through points, as long as its path is at first.
    ///
    /// >>> from sinew import EndDoc, RopeDoc
    /// >>> rope = RopeDoc("rope", [EndDoc.world([0, 0, 2]), EndDoc.on("ball", [0, 0, 0])]).length(1.5)
    PyRopeDoc(RopeDoc) as "RopeDoc"
}

#[pymethods]
impl PyRopeDoc {
    #[new]
    fn new(py: Python<'_>, name: String, path: Vec<Py<PyEndDoc>>) -> Self {
        Self(RopeDoc::new(name, path.iter().map(|end| end.borrow(py).0.clone())))
    }

    /// Its length (m).
    fn length(&self, length: f64) -> Self {
        Self(self.0.clone().length(length))
    }
}
