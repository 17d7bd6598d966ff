//! The input of a world or a batch in Python: arrays that Python writes to, and holds on bodies.
//!
//! An array is made when it is first asked for. Before a step the library copies those that were made, so that they may be written to while it steps.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use glam::DVec3;
use numpy::{PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyEllipsis;
use sinew_mechanism::{BodyId, Grab};

use crate::arrays::{AnyNumbers, array, copy_into, numbers, shape_text};
use crate::choice::chosen;
use crate::errors::unknown;
use crate::given::{Given, GivenArray};
use crate::layout::Layout;
use crate::vectors::Vec3;

/// What acts in every step from now on, beside what the scene has recorded.
///
/// Each attribute is an array that you write to; for a batch it has a leading axis of members. What you write stays until you write something else, or
/// call ``clear``. Forces and efforts add to those of the scene. Targets, drives, poses and activations replace those of the scene where they are
/// numbers; ``nan``, as at first, leaves the scene's.
///
/// >>> import sinew
/// >>> world = sinew.load("chain_10")
/// >>> world.input.forces[-1] = [0, 0, 5]         # newtons, on the last body
/// >>> world.input.efforts[world.coordinate(world.joint_names[0])] = 0.1
/// >>> report = world.step(10)
/// >>> world.input.clear()
#[pyclass(name = "Input", module = "sinew", frozen)]
pub(crate) struct PyInput {
    arrays: [PyOnceLock<Py<PyArrayDyn<f64>>>; GivenArray::ALL.len()],
    layout: Arc<Layout>,
    /// The number of members of a batch; none for a world.
    n_members: Option<usize>,
    given: Mutex<Given>,
    /// Per member, or those of the world; empty as long as there are none.
    grabs: Mutex<Vec<Vec<Grab>>>,
}

/// A lock that no panic can spoil: what it guards is plain data.
fn lock<T>(cell: &Mutex<T>) -> MutexGuard<'_, T> {
    cell.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PyInput {
    pub(crate) fn new(layout: Arc<Layout>, n_members: Option<usize>) -> Self {
        Self {
            arrays: std::array::from_fn(|_| PyOnceLock::new()),
            layout,
            n_members,
            given: Mutex::new(Given::of(n_members.unwrap_or(1))),
            grabs: Mutex::new(Vec::new()),
        }
    }

    fn shape(&self, kind: GivenArray) -> Vec<usize> {
        self.n_members.into_iter().chain(kind.shape(&self.layout)).collect()
    }

    fn array<'py>(&self, py: Python<'py>, kind: GivenArray) -> PyResult<&Bound<'py, PyArrayDyn<f64>>> {
        let make = || {
            let shape = self.shape(kind);
            Ok::<_, PyErr>(array(py, &shape, vec![kind.blank(); shape.iter().product()])?.unbind())
        };
        Ok(self.arrays[kind as usize].get_or_try_init(py, make)?.bind(py))
    }

    fn set(&self, py: Python<'_>, kind: GivenArray, numbers: &Bound<'_, PyAny>) -> PyResult<()> {
        self.array(py, kind)?.set_item(PyEllipsis::get(py), numbers)
    }

    /// Copies what Python has written; `None` if it never wrote anything.
    pub(crate) fn read(&self, py: Python<'_>) -> PyResult<Option<MutexGuard<'_, Given>>> {
        if self.arrays.iter().all(|made| made.get(py).is_none()) {
            return Ok(None);
        }
        let mut given = self.given.try_lock().map_err(|_| busy())?;
        for (kind, made) in GivenArray::ALL.iter().zip(&self.arrays) {
            let Some(made) = made.get(py) else { continue };
            let numbers = given.numbers(*kind);
            copy_into(made.bind(py), numbers)?;
            let wanted = self.shape(*kind);
            if numbers.len() != wanted.iter().product::<usize>() {
                let (name, wanted) = (kind.name(), shape_text(&wanted));
                return Err(PyValueError::new_err(format!(
                    "input.{name} was resized: its shape must be {wanted}"
                )));
            }
            if let Some(at) = numbers.iter().position(|number| !kind.takes(*number)) {
                let (name, number) = (kind.name(), numbers[at]);
                return Err(PyValueError::new_err(format!(
                    "input.{name}: number {at} is {number}, which is not finite"
                )));
            }
        }
        Ok(Some(given).filter(|given| !given.is_empty()))
    }

    /// The holds of each member, or of the world; empty without any.
    pub(crate) fn grabs(&self) -> Vec<Vec<Grab>> {
        lock(&self.grabs).clone()
    }

    /// Takes over what was written to another input of the same layout.
    pub(crate) fn copy_from(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        for (kind, made) in GivenArray::ALL.iter().zip(&other.arrays) {
            if let Some(made) = made.get(py) {
                self.set(py, *kind, made.bind(py).as_any())?;
            }
        }
        *lock(&self.grabs) = other.grabs();
        Ok(())
    }
}

/// Something that another thread uses right now.
pub(crate) fn busy() -> PyErr {
    pyo3::exceptions::PyRuntimeError::new_err(
        "another thread uses this world or batch right now: give each thread its own (World.copy), or wait for the other one",
    )
}

#[pymethods]
impl PyInput {
    /// Torques (N·m) and forces (N) along the coordinates of the joints, in the order of ``world.coordinate_names``.
    #[getter]
    fn efforts<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyArrayDyn<f64>>> {
        self.array(py, GivenArray::Efforts)
    }

    #[setter]
    fn set_efforts(&self, py: Python<'_>, numbers: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set(py, GivenArray::Efforts, numbers)
    }

    /// Positions that motors pull towards (rad or m), in the order of ``world.motor_names``. A motor with a number in one of ``targets``,
    /// ``target_rates`` and ``target_forces`` gets all three; those that are ``nan`` count as 0.
    #[getter]
    fn targets<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyArrayDyn<f64>>> {
        self.array(py, GivenArray::Targets)
    }

    #[setter]
    fn set_targets(&self, py: Python<'_>, numbers: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set(py, GivenArray::Targets, numbers)
    }

    /// Rates that motors pull towards (rad/s or m/s), in the order of ``world.motor_names``.
    #[getter]
    fn target_rates<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyArrayDyn<f64>>> {
        self.array(py, GivenArray::TargetRates)
    }

    #[setter]
    fn set_target_rates(&self, py: Python<'_>, numbers: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set(py, GivenArray::TargetRates, numbers)
    }

    /// What motors give beside their gains (N·m or N), in the order of ``world.motor_names``.
    #[getter]
    fn target_forces<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyArrayDyn<f64>>> {
        self.array(py, GivenArray::TargetForces)
    }

    #[setter]
    fn set_target_forces(&self, py: Python<'_>, numbers: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set(py, GivenArray::TargetForces, numbers)
    }

    /// Forces on the centres of mass of the bodies (N), world axes, in the order of ``world.body_names``.
    #[getter]
    fn forces<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyArrayDyn<f64>>> {
        self.array(py, GivenArray::Forces)
    }

    #[setter]
    fn set_forces(&self, py: Python<'_>, numbers: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set(py, GivenArray::Forces, numbers)
    }

    /// Torques on the bodies (N·m), world axes, in the order of ``world.body_names``.
    #[getter]
    fn torques<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyArrayDyn<f64>>> {
        self.array(py, GivenArray::Torques)
    }

    #[setter]
    fn set_torques(&self, py: Python<'_>, numbers: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set(py, GivenArray::Torques, numbers)
    }

    /// Values of driven coordinates at the end of the step (rad or m), in the order of ``world.drive_names``.
    #[getter]
    fn drives<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyArrayDyn<f64>>> {
        self.array(py, GivenArray::Drives)
    }

    #[setter]
    fn set_drives(&self, py: Python<'_>, numbers: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set(py, GivenArray::Drives, numbers)
    }

    /// Their rates (rad/s or m/s); ``nan`` counts as 0.
    #[getter]
    fn drive_rates<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyArrayDyn<f64>>> {
        self.array(py, GivenArray::DriveRates)
    }

    #[setter]
    fn set_drive_rates(&self, py: Python<'_>, numbers: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set(py, GivenArray::DriveRates, numbers)
    }

    /// Poses of kinematic bodies at the end of the step, in the order of ``world.kinematic_names``: position and quaternion x y z w.
    #[getter]
    fn kinematic<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyArrayDyn<f64>>> {
        self.array(py, GivenArray::Kinematic)
    }

    #[setter]
    fn set_kinematic(&self, py: Python<'_>, numbers: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set(py, GivenArray::Kinematic, numbers)
    }

    /// Activations of muscles, 0 to 1, in the order of ``world.muscle_names``.
    #[getter]
    fn activations<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyArrayDyn<f64>>> {
        self.array(py, GivenArray::Activations)
    }

    #[setter]
    fn set_activations(&self, py: Python<'_>, numbers: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set(py, GivenArray::Activations, numbers)
    }

    /// Factor on the springs and dampers of all joints; ``nan`` leaves the scene's, which is 1 if it says nothing.
    #[getter]
    fn spring_scale<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyArrayDyn<f64>>> {
        self.array(py, GivenArray::SpringScale)
    }

    #[setter]
    fn set_spring_scale(&self, py: Python<'_>, numbers: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set(py, GivenArray::SpringScale, numbers)
    }

    /// Holds a point of a body (in its body frame, m) at a target (world, m) from the next step on: by a spring (N/m, N·s/m), or exactly, as far as
    /// the joints allow, with an infinite stiffness. It replaces the hold on that body. In a batch it holds the bodies of all members, or of those that ``members``
    /// tells by a mask or by numbers, at one target or at a target each.
    ///
    /// >>> import sinew
    /// >>> world = sinew.load("chain_10")
    /// >>> world.input.grab(world.body_names[-1], target=[0.4, 0, -0.4], stiffness=100, damping=5)
    /// >>> _ = world.step(60)
    /// >>> world.input.release(world.body_names[-1])
    /// True
    #[pyo3(signature = (body, target, point=Vec3(DVec3::ZERO), stiffness=f64::INFINITY, damping=0.0, members=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn grab(
        &self,
        py: Python<'_>,
        body: &str,
        target: AnyNumbers<'_>,
        point: Vec3,
        stiffness: f64,
        damping: f64,
        members: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        if stiffness.is_nan() || stiffness < 0.0 || !(damping >= 0.0 && damping.is_finite()) {
            return Err(PyValueError::new_err(
                "stiffness and damping of a grab must be at least 0, the damping finite",
            ));
        }
        let (body, members) = (self.body(py, body)?, self.chosen(members)?);
        let targets = match self.n_members {
            None => numbers("target", &target, &[&[3]])?,
            Some(_) => numbers("target", &target, &[&[3], &[members.len(), 3]])?,
        };
        let mut grabs = lock(&self.grabs);
        grabs.resize(self.n_members.unwrap_or(1), Vec::new());
        for (row, member) in members.into_iter().enumerate() {
            let target = if targets.len() == 3 { &targets[..] } else { &targets[3 * row..] };
            let target = DVec3::from_slice(target);
            let of_member = &mut grabs[member];
            of_member.retain(|other| other.body != body);
            of_member.push(Grab { body, point: point.0, target, stiffness, damping });
        }
        Ok(())
    }

    /// Lets go of a body, in a batch those of all members or of those that ``members`` tells; whether one was held.
    #[pyo3(signature = (body, members=None))]
    fn release(&self, py: Python<'_>, body: &str, members: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        let (body, members) = (self.body(py, body)?, self.chosen(members)?);
        let (mut grabs, mut was_held) = (lock(&self.grabs), false);
        for member in members {
            let Some(of_member) = grabs.get_mut(member) else { continue };
            let before = of_member.len();
            of_member.retain(|grab| grab.body != body);
            was_held |= of_member.len() < before;
        }
        if grabs.iter().all(Vec::is_empty) {
            grabs.clear();
        }
        Ok(was_held)
    }

    /// Back to what the scene has recorded.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        for (kind, made) in GivenArray::ALL.iter().zip(&self.arrays) {
            if let Some(made) = made.get(py) {
                made.bind(py).try_readwrite()?.as_array_mut().fill(kind.blank());
            }
        }
        lock(&self.grabs).clear();
        Ok(())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let used = GivenArray::ALL.iter().zip(&self.arrays).filter(|(_, made)| made.get(py).is_some());
        let used: Vec<&str> = used.map(|(kind, _)| kind.name()).collect();
        format!(
            "Input({}; {} grabs)",
            if used.is_empty() { "as the scene has it".to_owned() } else { used.join(", ") },
            lock(&self.grabs).iter().map(Vec::len).sum::<usize>()
        )
    }
}

impl PyInput {
    /// The members that are meant; a world is one.
    fn chosen(&self, members: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<usize>> {
        match (self.n_members, members) {
            (None, Some(_)) => Err(PyValueError::new_err("a world has no members")),
            (n_members, members) => chosen(members, n_members.unwrap_or(1)),
        }
    }

    fn body(&self, py: Python<'_>, name: &str) -> PyResult<BodyId> {
        let found = self.layout.bodies.iter().position(|body| body == name);
        found.map(BodyId::from_index).ok_or_else(|| unknown(py, "body", name, &self.layout.bodies))
    }
}
