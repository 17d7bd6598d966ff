//! States that Python keeps: as values, as bytes, in pickles. The bytes are those of `sinew_sim::state_to_bytes`.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sinew_sim::{State, digest, state_from_bytes, state_to_bytes};

use crate::errors::restore_error;
use crate::threads::detached;

/// A state of a world, to go back to. It can be pickled, and written to a file as ``bytes(checkpoint)``.
///
/// >>> import pickle, sinew
/// >>> world = sinew.load("chain_10")
/// >>> _ = world.step(10)
/// >>> checkpoint = world.checkpoint()
/// >>> _ = world.step(10)
/// >>> world.restore(pickle.loads(pickle.dumps(checkpoint)))
/// >>> world.digest == checkpoint.digest
/// True
#[pyclass(name = "Checkpoint", module = "sinew", frozen)]
pub(crate) struct PyCheckpoint(pub(crate) State);

impl PyCheckpoint {
    /// The state that bytes hold.
    pub(crate) fn read(py: Python<'_>, bytes: &[u8]) -> PyResult<State> {
        detached(py, || state_from_bytes(bytes)).map_err(|error| restore_error(py, &error))
    }

    /// The state of a checkpoint, or of its bytes.
    pub(crate) fn state_of(given: &Bound<'_, PyAny>) -> PyResult<State> {
        match given.cast::<Self>() {
            Ok(checkpoint) => Ok(checkpoint.get().0.clone()),
            Err(_) => {
                let wanted = "expected a Checkpoint, or the bytes of one";
                let bytes = given.extract::<Vec<u8>>();
                Self::read(given.py(), &bytes.map_err(|_| pyo3::exceptions::PyTypeError::new_err(wanted))?)
            }
        }
    }
}

#[pymethods]
impl PyCheckpoint {
    /// Reads what ``bytes(checkpoint)`` gave. Raises ``RestoreError`` if the bytes are damaged, or of another version.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        Self::read(py, data).map(Self)
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &detached(py, || state_to_bytes(&self.0)))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.get_type().getattr("from_bytes")?, (slf.get().__bytes__(slf.py()),)))
    }

    /// Time, s.
    #[getter]
    fn time(&self) -> f64 {
        self.0.bodies.time
    }

    /// Fingerprint of all bits of the state, as the command prints it.
    #[getter]
    fn digest(&self) -> String {
        format!("{:016x}", digest(&self.0))
    }

    fn __eq__(&self, other: &Self) -> bool {
        digest(&self.0) == digest(&other.0)
    }

    fn __hash__(&self) -> u64 {
        digest(&self.0)
    }

    fn __repr__(&self) -> String {
        format!("Checkpoint(time={:.6}, digest={})", self.time(), self.digest())
    }
}
