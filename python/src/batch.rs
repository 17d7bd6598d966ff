//! Batches in Python: arrays of leading dimension n, stepped without the interpreter lock.

mod factors;
mod readings;

use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::Instant;

use glam::DVec3;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use rayon::prelude::*;
use sinew_mechanism::BodyId;
use sinew_scene::ChangeDoc;
use sinew_sim::{SceneVariants, SceneVariation, World, state_to_bytes};

use self::factors::variations;
use crate::arrays::{AnyNumbers, Numbers, numbers, numbers_or_nan};
use crate::checkpoint::PyCheckpoint;
use crate::choice::chosen;
use crate::errors::{build_error, restore_error};
use crate::input::{PyInput, busy};
use crate::members::{GivenToAll, Members, STRIDE};
use crate::scene::PySceneDoc;
use crate::source::{LoadedScene, ReadingChoices};
use crate::threads::detached;
use crate::vectors::pose;
use crate::world::{PATIENCE, PyWorld};

/// The most members, and the most memory that their states may take: more is a mistake, and the system would end the process for it.
const MOST: usize = 10_000_000;
const MOST_BYTES: usize = 64 << 30;

/// Many members of one scene, stepped on all cores with the bits that each would have alone.
///
/// ``scene`` is a world, whose present state is where members begin; a ``SceneDoc``; or whatever ``sinew.load`` takes. With ``auto_reset``, a time in
/// seconds, a member that reaches it or is lost (``is_done``) begins anew with the next step, which it spends on that. ``contacts`` keeps the forces of
/// contacts.
///
/// Arrays have a leading axis of members: ``poses`` is (n, bodies, 7), ``input.efforts`` (n, coordinates).
///
/// >>> import numpy as np, sinew
/// >>> batch = sinew.Batch("chain_10", 4)
/// >>> batch.input.forces[:, -1, 0] = np.linspace(0, 3, 4)        # newtons along x on the last body
/// >>> batch.step(30)
/// >>> batch.poses.shape
/// (4, 10, 7)
/// >>> len(set(batch.digests))
/// 4
#[pyclass(name = "Batch", module = "sinew", frozen, weakref)]
pub(crate) struct PyBatch {
    cell: Mutex<Members>,
    input: Py<PyInput>,
    n: usize,
}

impl PyBatch {
    pub(crate) fn lock(&self) -> PyResult<MutexGuard<'_, Members>> {
        match self.cell.try_lock() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::Poisoned(guard)) => Ok(guard.into_inner()),
            Err(TryLockError::WouldBlock) => Err(busy()),
        }
    }

    fn chosen(&self, members: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<usize>> {
        chosen(members, self.n)
    }
}

/// The world that a batch is made of.
fn world_of(given: &Bound<'_, PyAny>) -> PyResult<World> {
    let py = given.py();
    if let Ok(world) = given.cast::<PyWorld>() {
        return Ok(world.get().lock()?.world.clone());
    }
    if let Ok(scene) = given.cast::<PySceneDoc>() {
        return scene.get().0.build(py);
    }
    let path: std::path::PathBuf = given.extract()?;
    LoadedScene::find(py, &path.to_string_lossy(), ReadingChoices::default())?.build(py)
}

#[pymethods]
impl PyBatch {
    #[new]
    #[pyo3(signature = (scene, n, auto_reset=None, contacts=false))]
    fn new(scene: &Bound<'_, PyAny>, n: usize, auto_reset: Option<f64>, contacts: bool) -> PyResult<Self> {
        let py = scene.py();
        if n == 0 || n > MOST {
            return Err(PyValueError::new_err(format!("a batch has 1 to {MOST} members, not {n}")));
        }
        if auto_reset.is_some_and(|limit| limit.is_nan() || limit <= 0.0) {
            return Err(PyValueError::new_err("auto_reset is a time above 0 s"));
        }
        let world = world_of(scene)?;
        // Written out, a state takes about as much as in memory.
        let bytes = state_to_bytes(world.state()).len().saturating_mul(n);
        if bytes > MOST_BYTES {
            let (asked, most) = (bytes >> 30, MOST_BYTES >> 30);
            return Err(PyValueError::new_err(format!(
                "{n} members take about {asked} GiB; at most {most} GiB are allowed"
            )));
        }
        let mut members = detached(py, || Members::new(world, n));
        (members.auto_reset, members.keeps_contacts) = (auto_reset, contacts);
        let input = Py::new(py, PyInput::new(Arc::clone(&members.layout), Some(n)))?;
        Ok(Self { cell: Mutex::new(members), input, n })
    }

    /// Advances every member by ``n`` steps. Ctrl-C stops it between two steps of the batch.
    #[pyo3(signature = (n=1))]
    fn step(&self, py: Python<'_>, n: u64) -> PyResult<()> {
        let mut members = self.lock()?;
        let members = &mut *members;
        let input = self.input.get();
        let (given, grabs) = (input.read(py)?, input.grabs());
        let given = GivenToAll { arrays: given.as_deref(), grabs: &grabs };
        let (mut left, mut stride) = (n, 1);
        while left > 0 {
            detached(py, || {
                let begin = Instant::now();
                while left > 0 && begin.elapsed() < PATIENCE {
                    let steps = stride.min(left);
                    members.step(given, steps as usize);
                    left -= steps;
                    // Strides as long as their time is short.
                    stride = if begin.elapsed() < PATIENCE / 4 {
                        (2 * stride).min(STRIDE as u64)
                    } else {
                        1.max(stride / 2)
                    };
                }
            });
            if left > 0 {
                py.check_signals()?;
            }
        }
        Ok(())
    }

    /// What acts on the members in every step beside what the scene has recorded; each array has a leading axis of members. See ``Input``.
    #[getter]
    fn input(&self, py: Python<'_>) -> Py<PyInput> {
        self.input.clone_ref(py)
    }

    /// The number of members.
    #[getter]
    fn n(&self) -> usize {
        self.n
    }

    fn __len__(&self) -> usize {
        self.n
    }

    /// The length of a step, s.
    #[getter]
    fn dt(&self) -> PyResult<f64> {
        Ok(self.lock()?.world.settings().dt)
    }

    /// A world of the scene as the members begin, to ask for names, or to draw.
    #[getter]
    fn world(&self, py: Python<'_>) -> PyResult<PyWorld> {
        let world = self.lock()?.world.clone();
        PyWorld::new(py, world)
    }

    /// Gravity of each member, m/s²; (n, 3). Set it to three numbers for all, or to (n, 3). It costs nothing, and holds whatever the scene changes.
    #[getter]
    fn gravity<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        self.rows(py, &[3], |members, k, out| {
            out.extend_from_slice(&members.gravity_of(k).to_array());
        })
    }

    #[setter]
    fn set_gravity(&self, gravity: AnyNumbers<'_>) -> PyResult<()> {
        let given = numbers("gravity", &gravity, &[&[3], &[self.n, 3]])?;
        let mut members = self.lock()?;
        for (k, member) in members.all.iter_mut().enumerate() {
            let row = if given.len() == 3 { &given[..] } else { &given[3 * k..] };
            member.gravity = Some(DVec3::from_slice(row));
            member.state.sleep.wake_all();
        }
        Ok(())
    }

    /// Lets members begin anew: all, those of a mask, or those of these numbers.
    #[pyo3(signature = (members=None))]
    fn reset(&self, members: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let chosen = self.chosen(members)?;
        let mut members = self.lock()?;
        chosen.into_iter().for_each(|k| members.reset(k));
        Ok(())
    }

    /// The state of a member. A world of the same scene takes it, and the other way round.
    fn checkpoint(&self, member: usize) -> PyResult<PyCheckpoint> {
        let members = self.lock()?;
        let found = members.all.get(member);
        let missing = || pyo3::exceptions::PyIndexError::new_err(format!("there are {} members", self.n));
        Ok(PyCheckpoint(found.ok_or_else(missing)?.state.clone()))
    }

    /// Takes members to a checkpoint, or to the bytes of one. Raises ``RestoreError`` if it belongs to another model, as masses tell them apart.
    #[pyo3(signature = (checkpoint, members=None))]
    fn restore(&self, checkpoint: &Bound<'_, PyAny>, members: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let chosen = self.chosen(members)?;
        let state = PyCheckpoint::state_of(checkpoint)?;
        let mut members = self.lock()?;
        for &k in &chosen {
            state.check(members.model_of(k)).map_err(|error| restore_error(checkpoint.py(), &error))?;
        }
        for k in chosen {
            members.all[k].state.clone_from(&state);
            members.all[k].is_lost = false;
        }
        Ok(())
    }

    /// Puts the bodies of members elsewhere: (chosen, bodies, 7), at the given twists (chosen, bodies, 6) or at those that they have.
    #[pyo3(signature = (poses, twists=None, members=None))]
    fn place(
        &self,
        poses: AnyNumbers<'_>,
        twists: Option<AnyNumbers<'_>>,
        members: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let chosen = self.chosen(members)?;
        let mut guard = self.lock()?;
        let n_bodies = guard.layout.bodies.len();
        let poses = numbers("poses", &poses, &[&[chosen.len(), n_bodies, 7]])?;
        let twists =
            twists.map(|twists| numbers("twists", &twists, &[&[chosen.len(), n_bodies, 6]])).transpose()?;
        let placed: Option<Vec<_>> = poses.chunks(7).map(pose).collect();
        let placed = placed.ok_or_else(|| PyValueError::new_err("poses: a quaternion is zero"))?;
        for (at, k) in chosen.into_iter().enumerate() {
            let model = Arc::clone(guard.model_of(k));
            let state = &mut guard.all[k].state;
            state.sleep.wake_all();
            for body in 0..n_bodies {
                let (id, row) = (BodyId::from_index(body), at * n_bodies + body);
                let before = model.mechanism().body_pose(&state.bodies, id);
                if before != placed[row] {
                    model.mechanism().set_body_pose(&mut state.bodies, id, placed[row]);
                }
                let Some(twists) = &twists else { continue };
                let twist = &twists[6 * row..6 * row + 6];
                let (angular, linear) = (DVec3::from_slice(twist), DVec3::from_slice(&twist[3..]));
                let arm = state.bodies.poses[body].translation - placed[row].translation;
                state.bodies.motions[body] = sinew_math::Motion::new(angular, linear + angular.cross(arm));
            }
            state.bodies.forget_history();
        }
        Ok(())
    }

    /// Gives members factors on what the scene says, and lets them begin anew: ``mass`` (one per member, or one per member and body), ``friction``,
    /// ``joint_stiffness``, ``joint_damping``, ``flesh_stiffness``, ``contact_stiffness``, ``contact_damping``; each a number or an array per chosen
    /// member. What is left out is 1.
    ///
    /// Each varied member keeps tables of its own, and shares plan, names and scratch; with flesh, sensors or scores it compiles its scene. ``gravity`` and
    /// ``input.spring_scale`` vary without that. Members whose factors are all 1 share the model of the batch again.
    ///
    /// >>> import numpy as np, sinew
    /// >>> batch = sinew.Batch("chain_10", 3)
    /// >>> batch.vary(mass=[0.9, 1.0, 1.1])
    /// >>> batch.step(10)
    #[pyo3(signature = (members=None, *, mass=None, **factors))]
    fn vary(
        &self,
        py: Python<'_>,
        members: Option<&Bound<'_, PyAny>>,
        mass: Option<AnyNumbers<'_>>,
        factors: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let chosen = self.chosen(members)?;
        let mut guard = self.lock()?;
        let variations = variations(py, chosen.len(), guard.layout.bodies.len(), mass, factors)?;
        let variants = variants(py, &mut guard)?;
        let mut models = Vec::with_capacity(chosen.len());
        // Some at a time, so that Ctrl-C is heard.
        for some in variations.chunks(256) {
            let made = |variation: &SceneVariation| match variation.is_empty() {
                true => Ok(None),
                false => variants.model(variation).map(Some),
            };
            let made: Result<Vec<_>, _> = detached(py, || some.par_iter().map(made).collect());
            models.extend(made.map_err(|error| build_error(py, &error, variants.scene(), None))?);
            py.check_signals()?;
        }
        for (k, model) in chosen.into_iter().zip(models) {
            guard.all[k].model = model;
            guard.reset(k);
        }
        Ok(())
    }

    /// Its world, states, gravity and choices; what ``input`` holds is not in it. Members with models of their own cannot be pickled.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, BatchParts<'py>)> {
        let (py, batch) = (slf.py(), slf.get());
        // Members without a gravity of their own have that of the scene, which may change on the way.
        let gravity = batch.rows(py, &[3], |members, k, out| {
            let own = members.all[k].gravity.unwrap_or(DVec3::NAN);
            out.extend_from_slice(&own.to_array());
        })?;
        let world = Bound::new(py, batch.world(py)?)?;
        let members = batch.lock()?;
        if members.all.iter().any(|member| member.model.is_some()) {
            return Err(PyValueError::new_err(
                "a batch with varied members cannot be pickled: pickle its checkpoints",
            ));
        }
        let states =
            members.all.iter().map(|member| PyBytes::new(py, &state_to_bytes(&member.state))).collect();
        let make = py.import("sinew._sinew")?.getattr("batch_from_parts")?;
        Ok((make, (world, states, gravity, members.auto_reset, members.keeps_contacts)))
    }

    fn __repr__(&self) -> PyResult<String> {
        let members = self.lock()?;
        Ok(format!("Batch({:?}: {} members)", members.world.info().name, self.n))
    }
}

/// What varied members share; made when the first are varied.
fn variants(py: Python<'_>, members: &mut Members) -> PyResult<Arc<SceneVariants>> {
    if let Some(known) = &members.variants {
        return Ok(Arc::clone(known));
    }
    let scene = members.world.to_scene();
    let scene = scene.ok_or_else(|| PyValueError::new_err("this world was not made from a scene"))?;
    let later = &scene.changes[scene.changes_at_start()..];
    let reaches_in = |change: &ChangeDoc| {
        change.stepper.is_some() || change.factors().iter().any(|(_, factor)| factor.is_some())
    };
    if let Some(change) = later.iter().find(|change| reaches_in(change)) {
        let (name, at) = (&scene.name, change.at_s);
        return Err(PyValueError::new_err(format!(
            "members have one model for all times, but the scene `{name}` changes its own at {at} s"
        )));
    }
    let made = SceneVariants::new(&scene, members.world.in_force_at(0.0).0);
    let made = Arc::new(made.map_err(|error| build_error(py, &error, &scene, None))?);
    members.variants = Some(Arc::clone(&made));
    Ok(made)
}

/// What a batch is pickled as.
type BatchParts<'py> = (Bound<'py, PyWorld>, Vec<Bound<'py, PyBytes>>, Numbers<'py>, Option<f64>, bool);

/// A batch as it was pickled.
#[pyfunction]
pub(crate) fn batch_from_parts(
    world: &Bound<'_, PyAny>,
    states: Vec<Bound<'_, PyBytes>>,
    gravity: AnyNumbers<'_>,
    auto_reset: Option<f64>,
    contacts: bool,
) -> PyResult<PyBatch> {
    let batch = PyBatch::new(world, states.len(), auto_reset, contacts)?;
    let gravity = numbers_or_nan("gravity", &gravity, &[&[states.len(), 3]])?;
    let mut members = batch.lock()?;
    for ((member, bytes), gravity) in members.all.iter_mut().zip(&states).zip(gravity.chunks(3)) {
        member.state = PyCheckpoint::read(world.py(), bytes.as_bytes())?;
        member.gravity = Some(DVec3::from_slice(gravity)).filter(|own| own.is_finite());
    }
    drop(members);
    Ok(batch)
}
