//! Worlds in Python: building, stepping, going back, copies and pickles. Readings, edits and pictures are in the modules below.
//!
//! A world has a lock that a step takes while it runs without the interpreter lock. A thread that finds it taken gets an exception instead of waiting,
//! since it would hold the interpreter meanwhile. Signals are looked for every 20 ms of a long run; the world is then at the end of a step.

mod edits;
mod readings;
mod sights;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sinew_mechanism::Grab;
use sinew_sim::{Assembly, Input, State, StepReport, World, state_from_bytes, state_to_bytes};

use crate::arrays::array;
use crate::checkpoint::PyCheckpoint;
use crate::errors::restore_error;
use crate::given::Given;
use crate::input::{PyInput, busy};
use crate::layout::Layout;
use crate::picture::Film;
use crate::report::{PyAssemblyReport, PyStepReport};
use crate::scene::of_files;
use crate::threads::detached;
use crate::vectors::Vec3;

/// How long steps go on before signals are looked for.
pub(crate) const PATIENCE: Duration = Duration::from_millis(20);

/// A scene that runs: ``sinew.load(scene)`` makes one, ``step`` advances it.
///
/// >>> import sinew
/// >>> world = sinew.load("chain_10")
/// >>> report = world.step(60)
/// >>> world.poses.shape, world.twists.shape
/// ((10, 7), (10, 6))
/// >>> round(world.time, 6)
/// 1.0
#[pyclass(name = "World", module = "sinew", frozen, weakref)]
pub(crate) struct PyWorld {
    cell: Mutex<Running>,
    input: Mutex<Py<PyInput>>,
}

/// A world and what Python keeps beside it.
pub(crate) struct Running {
    pub(crate) world: World,
    pub(crate) layout: Arc<Layout>,
    report: StepReport,
    film: Option<Film>,
    /// Scratch: the input of a step.
    scratch: Input,
}

impl Running {
    pub(crate) fn new(world: World) -> Self {
        let layout = Arc::new(Layout::of(&world));
        Self { world, layout, report: StepReport::default(), film: None, scratch: Input::default() }
    }

    /// One step, with what is given beside the recorded inputs.
    fn step(&mut self, given: Option<&Given>, grabs: &[Grab]) -> StepReport {
        let Self { world, layout, scratch, .. } = self;
        let report = if given.is_none() && grabs.is_empty() {
            world.step()
        } else {
            world.take_changes();
            world.fill_input(world.state(), scratch);
            if let Some(given) = given {
                given.add(0, layout, (world.mechanism(), &world.state().bodies), scratch);
            }
            scratch.grabs.extend_from_slice(grabs);
            world.step_with(scratch)
        };
        if let Some(film) = &mut self.film {
            film.note(&self.world);
        }
        report
    }

    /// Steps until all are made, or it is time to look for signals; tells how many were made. The clock is read after 1, 2, 4, 8 … steps, so that reading
    /// it costs nothing and the time is overdrawn by its double at most.
    fn advance(&mut self, n: u64, given: Option<&Given>, grabs: &[Grab]) -> u64 {
        let mut report = self.step(given, grabs);
        if n > 1 {
            let begin = Instant::now();
            let (mut made, mut look) = (1, 1);
            while made < n {
                if made == look {
                    if begin.elapsed() > PATIENCE {
                        self.report = report;
                        return made;
                    }
                    look *= 2;
                }
                report = self.step(given, grabs);
                made += 1;
            }
        }
        self.report = report;
        n
    }
}

impl PyWorld {
    pub(crate) fn new(py: Python<'_>, world: World) -> PyResult<Self> {
        let running = Running::new(world);
        let input = Py::new(py, PyInput::new(Arc::clone(&running.layout), None))?;
        Ok(Self { cell: Mutex::new(running), input: Mutex::new(input) })
    }

    pub(crate) fn lock(&self) -> PyResult<MutexGuard<'_, Running>> {
        match self.cell.try_lock() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::Poisoned(guard)) => Ok(guard.into_inner()),
            Err(TryLockError::WouldBlock) => Err(busy()),
        }
    }

    fn current_input(&self, py: Python<'_>) -> PyResult<Py<PyInput>> {
        Ok(self.input.try_lock().map_err(|_| busy())?.clone_ref(py))
    }

    /// A copy that knows nothing of this one.
    fn copied(&self, py: Python<'_>) -> PyResult<Self> {
        let world = {
            let running = self.lock()?;
            let running = &*running;
            detached(py, || running.world.clone())
        };
        let copy = Self::new(py, world)?;
        copy.current_input(py)?.get().copy_from(py, self.current_input(py)?.get())?;
        Ok(copy)
    }
}

#[pymethods]
impl PyWorld {
    /// Advances by ``n`` steps with the recorded inputs of the scene and what ``world.input`` says, and returns the report of the last one.
    ///
    /// Other threads run meanwhile, and Ctrl-C stops it between two steps.
    ///
    /// >>> import sinew
    /// >>> world = sinew.load("hand")
    /// >>> world.step(2).is_good
    /// True
    #[pyo3(signature = (n=1))]
    fn step(&self, py: Python<'_>, n: u64) -> PyResult<PyStepReport> {
        let mut running = self.lock()?;
        let input = self.input.try_lock().map_err(|_| busy())?;
        let input = input.get();
        let given = input.read(py)?;
        let (given, grabs) = (given.as_deref(), input.grabs().concat());
        let running = &mut *running;
        let mut left = n;
        while left > 0 {
            left -= detached(py, || running.advance(left, given, &grabs));
            if left > 0 {
                py.check_signals()?;
            }
        }
        Ok(PyStepReport(running.report))
    }

    /// What acts in every step beside what the scene has recorded: forces, efforts, targets. See ``Input``.
    #[getter]
    fn input(&self, py: Python<'_>) -> PyResult<Py<PyInput>> {
        self.current_input(py)
    }

    /// A copy of the state, to be restored later or elsewhere.
    fn checkpoint(&self) -> PyResult<PyCheckpoint> {
        Ok(PyCheckpoint(self.lock()?.world.checkpoint()))
    }

    /// Goes back to a checkpoint, or to the bytes of one. From there on every step gives the same bits as it did then.
    ///
    /// Raises ``RestoreError`` if it belongs to another model, and the world stays as it is.
    fn restore(&self, checkpoint: &Bound<'_, PyAny>) -> PyResult<()> {
        let state = PyCheckpoint::state_of(checkpoint)?;
        let mut running = self.lock()?;
        running.world.restore(&state).map_err(|error| restore_error(checkpoint.py(), &error))
    }

    /// Goes back to the beginning, and forgets what steps told. The input stays.
    fn reset(&self) -> PyResult<()> {
        let mut running = self.lock()?;
        running.world.reset();
        running.report = StepReport::default();
        Ok(())
    }

    /// Moves the bodies until the joints are closed and the grabs of the input are met, at fixed time.
    fn assemble(&self, py: Python<'_>) -> PyResult<PyAssemblyReport> {
        let mut running = self.lock()?;
        let grabs = self.current_input(py)?.get().grabs().concat();
        let running = &mut *running;
        let input = Input { grabs, ..running.world.input_at(running.world.time()) };
        Ok(detached(py, || running.world.assemble(&input, &Assembly::default())).into())
    }

    /// Inverse kinematics: moves the bodies, as little as possible, until points of bodies are at their targets (world, m) and all joints closed.
    /// ``targets`` has a target per body name, ``points`` a point in the body frame (m) where it is not the origin.
    ///
    /// A target out of reach is met as nearly as the joints allow if ``yielding`` is about 0.01. ``limits`` keeps the limits of the joints.
    ///
    /// >>> import sinew
    /// >>> world = sinew.load("robot")
    /// >>> reach = world.poses[world.body("left_hand"), :3] + [0.02, 0, 0.02]
    /// >>> world.ik({"left_hand": reach}).outcome
    /// 'assembled'
    /// >>> bool(abs(world.poses[world.body("left_hand"), :3] - reach).max() < 1e-6)
    /// True
    #[pyo3(signature = (targets, points=BTreeMap::new(), limits=false, yielding=0.0))]
    fn ik(
        &self,
        py: Python<'_>,
        targets: BTreeMap<String, Vec3>,
        points: BTreeMap<String, Vec3>,
        limits: bool,
        yielding: f64,
    ) -> PyResult<PyAssemblyReport> {
        let mut running = self.lock()?;
        if let Some(name) = points.keys().find(|name| !targets.contains_key(*name)) {
            return Err(PyValueError::new_err(format!("`{name}` has a point, but no target")));
        }
        let mut input = Input::default();
        for (name, target) in &targets {
            let body = running.body(py, name)?;
            let point = points.get(name).map_or(glam::DVec3::ZERO, |point| point.0);
            input.grabs.push(Grab { body, point, target: target.0, stiffness: f64::INFINITY, damping: 0.0 });
        }
        let mut assembly = Assembly::default();
        (assembly.limits, assembly.yielding) = (limits, yielding);
        let running = &mut *running;
        Ok(detached(py, || running.world.assemble(&input, &assembly)).into())
    }

    /// A copy of the world with its state and input, for another thread or another future.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        self.copied(py)
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        self.copied(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.copied(py)
    }

    /// Scene with all edits, files, state and gravity; what ``world.input`` holds is not in it.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, WorldParts<'py>)> {
        let py = slf.py();
        let running = slf.get().lock()?;
        let running = &*running;
        let scene = running.scene()?;
        let (text, state) = detached(py, || (scene.to_ron(), state_to_bytes(running.world.state())));
        let make = py.import("sinew._sinew")?.getattr("world_from_parts")?;
        let gravity = running.world.settings().gravity.to_array();
        Ok((make, (text, scene.files.clone(), PyBytes::new(py, &state), gravity)))
    }

    fn __repr__(&self) -> PyResult<String> {
        let running = self.lock()?;
        let (name, model) = (&running.world.info().name, running.world.mechanism());
        let (bodies, joints, time) = (model.n_bodies(), model.n_joints(), running.world.time());
        Ok(format!("World({name:?}: {bodies} bodies, {joints} joints, time={time:.6} s)"))
    }
}

/// What a world is pickled as: the text of its scene, files, state, gravity.
type WorldParts<'py> = (String, BTreeMap<String, Vec<u8>>, Bound<'py, PyBytes>, [f64; 3]);

/// A world as it was pickled.
#[pyfunction]
pub(crate) fn world_from_parts(
    py: Python<'_>,
    text: String,
    files: BTreeMap<String, Vec<u8>>,
    state: &[u8],
    gravity: [f64; 3],
) -> PyResult<PyWorld> {
    let mut world = of_files(py, text, files)?.build(py)?;
    let state: State = detached(py, || state_from_bytes(state)).map_err(|error| restore_error(py, &error))?;
    world.restore(&state).map_err(|error| restore_error(py, &error))?;
    world.settings_mut().gravity = glam::DVec3::from_array(gravity);
    PyWorld::new(py, world)
}

/// The array of a vector.
pub(crate) fn vector<'py>(py: Python<'py>, v: glam::DVec3) -> PyResult<crate::arrays::Numbers<'py>> {
    array(py, &[3], v.to_array().to_vec())
}
