//! What a world is asked: names, poses, coordinates, efforts, contacts, flesh, measures. Arrays are copies of the moment: body frames are computed from
//! central frames, so there is no memory to look into, and a state that steps would change under a view.

use glam::DVec3;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySlice};
use sinew_math::exp_so3;
use sinew_mechanism::{BodyId, JointDemand, JointId};
use sinew_recursive::{Tree, TreeState};
use sinew_scene::SceneDoc;
use sinew_show::{DrawList, draw};
use sinew_sim::{ContactPartner, World};

use super::{PyWorld, Running, vector};
use crate::arrays::{Numbers, array};
use crate::dynamics::PyDynamics;
use crate::errors::{dynamics_error, unknown};
use crate::layout::Coordinate;
use crate::report::{PyEnergy, PyNotice};
use crate::threads::detached;
use crate::vectors::{Vec3, push_pose};

impl Running {
    pub(crate) fn body(&self, py: Python<'_>, name: &str) -> PyResult<BodyId> {
        self.world.body(name).ok_or_else(|| unknown(py, "body", name, &self.layout.bodies))
    }

    fn joint(&self, py: Python<'_>, name: &str) -> PyResult<JointId> {
        self.world.joint(name).ok_or_else(|| unknown(py, "joint", name, &self.layout.joints))
    }

    fn flesh(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        self.world.flesh(name).ok_or_else(|| unknown(py, "flesh", name, &self.layout.flesh))
    }

    /// The scene with all edits.
    pub(crate) fn scene(&self) -> PyResult<SceneDoc> {
        let gone = || pyo3::exceptions::PyValueError::new_err("this world was not made from a scene");
        self.world.to_scene().ok_or_else(gone)
    }

    fn coordinates<'py>(&self, py: Python<'py>, rates: bool) -> PyResult<Numbers<'py>> {
        let n = self.layout.coordinates.len();
        let mut numbers = Vec::with_capacity(n);
        self.layout.push_readings(self.world.mechanism(), &self.world.state().bodies, rates, &mut numbers);
        array(py, &[n], numbers)
    }

    /// Efforts of springs, limits, motors and actuators along the coordinates.
    fn efforts(&self) -> Vec<f64> {
        let effort = |(joint, coordinate): &(JointId, Coordinate)| match coordinate {
            Coordinate::Along(along) => self.world.joint_effort(*joint, Some(*along)),
            Coordinate::Rotation(part) => self.torque(*joint)[*part],
        };
        self.layout.coordinates.iter().map(effort).collect()
    }

    /// The torque of a joint that turns in every way, in its frame 2.
    fn torque(&self, joint: JointId) -> DVec3 {
        let (world, reading) = (&self.world, self.world.reading(joint));
        let (poses, gravity) = (&world.state().bodies.poses, world.settings().gravity);
        let rotation = exp_so3(reading.rotation);
        let demand = JointDemand { input: world.input(), poses, gravity };
        let rate = rotation.conjugate() * reading.angular_rate;
        rotation * world.mechanism().rotation_response(joint, rotation, rate, &demand, 0.0).torque
    }
}

/// Poses of the body frames of a world.
pub(crate) fn push_poses(world: &World, out: &mut Vec<f64>) {
    for body in world.mechanism().bodies() {
        push_pose(&world.pose(body), out);
    }
}

#[pymethods]
impl PyWorld {
    /// The name of the scene.
    #[getter]
    fn name(&self) -> PyResult<String> {
        Ok(self.lock()?.world.info().name.clone())
    }

    /// Time, s.
    #[getter]
    fn time(&self) -> PyResult<f64> {
        Ok(self.lock()?.world.time())
    }

    /// The length of a step, s.
    #[getter]
    fn dt(&self) -> PyResult<f64> {
        Ok(self.lock()?.world.settings().dt)
    }

    /// The number of steps that the scene lasts.
    #[getter]
    fn n_steps(&self) -> PyResult<u64> {
        Ok(self.lock()?.world.info().n_steps)
    }

    /// Gravity, m/s², world axes. It can be set between steps; a change of the scene replaces it.
    #[getter]
    fn gravity<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        vector(py, self.lock()?.world.settings().gravity)
    }

    #[setter]
    fn set_gravity(&self, gravity: Vec3) -> PyResult<()> {
        let mut running = self.lock()?;
        running.world.settings_mut().gravity = gravity.0;
        running.world.wake();
        Ok(())
    }

    /// The names of the bodies, in the order of ``poses``.
    #[getter]
    fn body_names(&self) -> PyResult<Vec<String>> {
        Ok(self.lock()?.layout.bodies.clone())
    }

    /// The names of the joints.
    #[getter]
    fn joint_names(&self) -> PyResult<Vec<String>> {
        Ok(self.lock()?.layout.joints.clone())
    }

    /// The names of the coordinates, in the order of ``joint_positions``: that of the joint, with ``.angle``, ``.slide`` or ``.x``, ``.y``, ``.z``
    /// where a joint has several.
    #[getter]
    fn coordinate_names(&self) -> PyResult<Vec<String>> {
        Ok(self.lock()?.layout.coordinate_names.clone())
    }

    /// The names of the joints with motors, in the order of ``input.targets``.
    #[getter]
    fn motor_names(&self) -> PyResult<Vec<String>> {
        Ok(self.lock()?.layout.motors.iter().map(|(_, name)| name.clone()).collect())
    }

    /// The names of the joints with driven coordinates, in the order of ``input.drives``.
    #[getter]
    fn drive_names(&self) -> PyResult<Vec<String>> {
        Ok(self.lock()?.layout.drives.iter().map(|(_, _, name)| name.clone()).collect())
    }

    /// The names of the kinematic bodies, in the order of ``input.kinematic``.
    #[getter]
    fn kinematic_names(&self) -> PyResult<Vec<String>> {
        Ok(self.lock()?.layout.kinematic.iter().map(|(_, name)| name.clone()).collect())
    }

    /// The names of the muscles, as ``flesh.muscle``, in the order of ``input.activations``.
    #[getter]
    fn muscle_names(&self) -> PyResult<Vec<String>> {
        Ok(self.lock()?.layout.muscles.iter().map(|(_, name)| name.clone()).collect())
    }

    /// The names of the bodies of flesh.
    #[getter]
    fn flesh_names(&self) -> PyResult<Vec<String>> {
        Ok(self.lock()?.layout.flesh.clone())
    }

    /// The row of a body in ``poses``, ``twists`` and ``input.forces``.
    fn body(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        Ok(self.lock()?.body(py, name)?.index())
    }

    /// Where the coordinates of a joint are in ``joint_positions`` and ``input.efforts``: a slice.
    fn coordinate<'py>(&self, py: Python<'py>, joint: &str) -> PyResult<Bound<'py, PySlice>> {
        let running = self.lock()?;
        let span = &running.layout.spans[running.joint(py, joint)?.index()];
        Ok(PySlice::new(py, span.start as isize, span.end as isize, 1))
    }

    /// Poses of the body frames in the world: position (m) and quaternion, ``x y z`` and ``x y z w``, one row per body.
    #[getter]
    fn poses<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        let running = self.lock()?;
        let n = running.layout.bodies.len();
        let mut numbers = Vec::with_capacity(7 * n);
        push_poses(&running.world, &mut numbers);
        array(py, &[n, 7], numbers)
    }

    /// Angular velocity (rad/s), and velocity (m/s) of the origin of the body frame, world axes, one row per body.
    #[getter]
    fn twists<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        let running = self.lock()?;
        let bodies = running.world.mechanism().bodies();
        let motions = bodies.map(|body| running.world.motion(body));
        let numbers = motions.flat_map(|m| [m.angular.to_array(), m.linear.to_array()]).flatten().collect();
        array(py, &[running.layout.bodies.len(), 6], numbers)
    }

    /// Coordinates of the joints: angles (rad), slides (m), rotation vectors (rad).
    #[getter]
    fn joint_positions<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        self.lock()?.coordinates(py, false)
    }

    /// Their rates; of rotation vectors the angular velocity in the frame of the parent.
    #[getter]
    fn joint_rates<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        self.lock()?.coordinates(py, true)
    }

    /// Torques (N·m) and forces (N) of springs, limits and motors along the coordinates of the joints; along angles and slides also those of actuators,
    /// once a step was made.
    #[getter]
    fn joint_efforts<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        let running = self.lock()?;
        array(py, &[running.layout.coordinates.len()], running.efforts())
    }

    /// Force of each joint on its child in the last step, N, world axes, one row per joint.
    #[getter]
    fn joint_forces<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        let forces = self.lock()?.world.joint_forces();
        array(py, &[forces.len(), 3], forces.iter().flat_map(|force| force.to_array()).collect())
    }

    /// Contacts that acted in the last step, as a dict of arrays with a row per contact: ``point`` (m), ``normal``, ``force`` (N, on the first of the two),
    /// ``depth`` (m), ``bodies`` (two rows of ``poses`` each, -1 for the world and for flesh); and ``names``, a list of pairs.
    ///
    /// >>> import sinew
    /// >>> world = sinew.load("balls_stop")
    /// >>> _ = world.step(30)
    /// >>> contacts = world.contacts
    /// >>> contacts["force"].shape[1]
    /// 3
    #[getter]
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let running = self.lock()?;
        let world = &running.world;
        let all: Vec<_> = world.contacts().collect();
        let vectors = |of: &dyn Fn(usize) -> DVec3| {
            array(py, &[all.len(), 3], (0..all.len()).flat_map(|k| of(k).to_array()).collect())
        };
        let number = |partner: Option<ContactPartner>| {
            partner.and_then(ContactPartner::body).map_or(-1, |body| body.index() as i64)
        };
        let dict = PyDict::new(py);
        dict.set_item("point", vectors(&|k| all[k].point)?)?;
        dict.set_item("normal", vectors(&|k| all[k].normal)?)?;
        dict.set_item("force", vectors(&|k| all[k].force)?)?;
        dict.set_item(
            "depth",
            array(py, &[all.len()], all.iter().map(|contact| contact.depth).collect::<Vec<_>>())?,
        )?;
        let bodies =
            all.iter().flat_map(|contact| [number(Some(contact.on)), number(contact.by)]).collect::<Vec<_>>();
        dict.set_item("bodies", array(py, &[all.len(), 2], bodies)?)?;
        let names = all.iter().map(|contact| contact.sides.map(|side| world.side_name(side)).into());
        dict.set_item("names", names.collect::<Vec<(&str, &str)>>())?;
        Ok(dict)
    }

    /// Positions of the nodes of flesh, m, world, one row per node.
    fn flesh_nodes<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Numbers<'py>> {
        let running = self.lock()?;
        let nodes = &running.world.state().flesh.nodes[running.flesh(py, name)?].positions;
        array(py, &[nodes.len(), 3], nodes.iter().flat_map(|node| node.to_array()).collect())
    }

    /// Velocities of the nodes of flesh, m/s, world.
    fn flesh_velocities<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Numbers<'py>> {
        let running = self.lock()?;
        let nodes = &running.world.state().flesh.nodes[running.flesh(py, name)?].velocities;
        array(py, &[nodes.len(), 3], nodes.iter().flat_map(|node| node.to_array()).collect())
    }

    /// The surface of flesh as it is drawn: points (m, world) and triangles, each three rows of points.
    fn flesh_surface<'py>(
        &self,
        py: Python<'py>,
        name: &str,
    ) -> PyResult<(Numbers<'py>, Bound<'py, numpy::PyArrayDyn<u32>>)> {
        let running = self.lock()?;
        let flesh = running.flesh(py, name)?;
        let mut list = DrawList::default();
        draw(&running.world, &mut list);
        let drawn = &list.flesh[flesh];
        let points = drawn.points.iter().flat_map(|point| point.to_array()).collect();
        let triangles = drawn.triangles.iter().flatten().copied().collect();
        Ok((array(py, &[drawn.points.len(), 3], points)?, array(py, &[drawn.triangles.len(), 3], triangles)?))
    }

    /// Mechanical energy, J.
    #[getter]
    fn energy(&self) -> PyResult<PyEnergy> {
        Ok(self.lock()?.world.energy().into())
    }

    /// Momentum of all bodies and flesh: angular about the origin of the world (kg·m²/s), linear (kg·m/s).
    #[getter]
    fn momentum<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        let momentum = self.lock()?.world.momentum();
        array(py, &[6], [momentum.angular.to_array(), momentum.linear.to_array()].concat())
    }

    /// Largest errors of the joints: gap (m) and angle (rad).
    #[getter]
    fn violation(&self) -> PyResult<(f64, f64)> {
        let violation = self.lock()?.world.violation();
        Ok((violation.position, violation.rotation))
    }

    /// Masses of the bodies, kg; 0 if forces do not move them.
    #[getter]
    fn masses<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        let running = self.lock()?;
        let model = running.world.mechanism();
        array(py, &[model.n_bodies()], model.bodies().map(|body| model.body_mass(body)).collect())
    }

    /// Which bodies sleep.
    #[getter]
    fn asleep<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, numpy::PyArrayDyn<bool>>> {
        let running = self.lock()?;
        let asleep = running.world.mechanism().bodies().map(|body| running.world.is_asleep(body));
        array(py, &[running.layout.bodies.len()], asleep.collect())
    }

    /// Fingerprint of all bits of the state, as the command prints it.
    #[getter]
    fn digest(&self, py: Python<'_>) -> PyResult<String> {
        let running = self.lock()?;
        let running = &*running;
        Ok(format!("{:016x}", detached(py, || running.world.digest())))
    }

    /// What the steps of this world told: each notice once, with how often and since when.
    #[getter]
    fn notices(&self) -> PyResult<Vec<PyNotice>> {
        Ok(self.lock()?.world.notices().iter().map(PyNotice::from).collect())
    }

    /// Whether no step told a warning.
    #[getter]
    fn is_good(&self) -> PyResult<bool> {
        Ok(self.lock()?.world.notices().are_good())
    }

    /// What of the scene is probably not meant.
    #[getter]
    fn doubts(&self) -> PyResult<Vec<String>> {
        Ok(self.lock()?.world.info().doubts.iter().map(ToString::to_string).collect())
    }

    /// The world in joint coordinates as it is now: mass matrix, inverse and forward dynamics, derivatives, Jacobians.
    ///
    /// Raises ``DynamicsError`` if joints close loops.
    fn dynamics(&self, py: Python<'_>) -> PyResult<PyDynamics> {
        let running = self.lock()?;
        let world = &running.world;
        let tree = Tree::from_model(world.mechanism()).map_err(|error| dynamics_error(py, &error))?;
        let state = TreeState::from_mechanism(&tree, &world.state().bodies);
        Ok(PyDynamics::new(tree, state, world))
    }

    /// The reading of one joint: a dict of its ``twist`` (rad), ``slide`` (m), ``rotation`` (rad) and their rates.
    fn joint<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        let running = self.lock()?;
        let reading = running.world.reading(running.joint(py, name)?);
        let dict = PyDict::new(py);
        dict.set_item("twist", reading.twist)?;
        dict.set_item("twist_rate", reading.twist_rate)?;
        dict.set_item("slide", reading.slide)?;
        dict.set_item("slide_rate", reading.slide_rate)?;
        dict.set_item("rotation", vector(py, reading.rotation)?)?;
        dict.set_item("angular_rate", vector(py, reading.angular_rate)?)?;
        Ok(dict)
    }
}
