//! Joint-space dynamics of a world at one moment: `sinew-recursive` on arrays.
//!
//! Coordinates and rates are those of `sinew_recursive::TreeState`, one entry per degree of freedom of every link in the order of `dof_names`; quaternions
//! are `w x y z` there. Spatial vectors are angular first. Derivatives by coordinates are along the tangent. Cost: linear per pass, quadratic per matrix.

use std::sync::{Mutex, MutexGuard, PoisonError};

use glam::DVec3;
use pyo3::prelude::*;
use sinew_math::{Force, Motion};
use sinew_recursive::{Dynamics, HybridCommand, JointMatrices, LinkId, Tree, TreeState};
use sinew_sim::World;

use crate::arrays::{AnyNumbers, Numbers, array, numbers};
use crate::errors::{dynamics_error, unknown};
use crate::threads::detached;
use crate::vectors::Vec3;
use crate::world::vector;

/// A world in joint coordinates: ``world.dynamics()``. It is a moment of its own, which steps of the world do not change. It knows masses, joints and gravity:
/// armatures, springs, damping, friction, limits and motors of joints, contacts and flesh are left out. An armature `a` of a joint is to be added to its entry
/// on the diagonal of the mass matrix, and `a` times the acceleration to the torques of ``inverse``.
///
/// >>> import numpy as np, sinew
/// >>> dynamics = sinew.load("chain_10").dynamics()
/// >>> mass = dynamics.mass_matrix()
/// >>> mass.shape == (dynamics.n_dofs, dynamics.n_dofs)
/// True
/// >>> hold = dynamics.gravity_forces()                 # what carries the weight: nothing accelerates
/// >>> bool(np.abs(dynamics.forward(hold, rates=np.zeros(dynamics.n_dofs))).max() < 1e-6)
/// True
#[pyclass(name = "Dynamics", module = "sinew", frozen)]
pub(crate) struct PyDynamics {
    tree: Tree,
    gravity: DVec3,
    links: Vec<String>,
    dofs: Vec<String>,
    work: Mutex<Work>,
}

/// A moment, and scratch.
struct Work {
    state: TreeState,
    dynamics: Dynamics,
    matrices: JointMatrices,
}

/// Matrices by coordinates, by rates, and by torques or accelerations.
type Derivatives<'py> = (Numbers<'py>, Numbers<'py>, Numbers<'py>);

impl PyDynamics {
    pub(crate) fn new(tree: Tree, state: TreeState, world: &World) -> Self {
        let mut dynamics = Dynamics::new(&tree);
        dynamics.kinematics(&tree, &state);
        let links = tree.links().map(|link| tree.name(link).to_owned()).collect();
        let dofs = tree.links().flat_map(|link| dof_names(&tree, link, world)).collect();
        let matrices = JointMatrices::new(&tree);
        let work = Mutex::new(Work { state, dynamics, matrices });
        Self { tree, gravity: world.settings().gravity, links, dofs, work }
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn n(&self) -> usize {
        self.tree.n_dofs()
    }

    fn of_dofs(&self, what: &str, given: &AnyNumbers<'_>) -> PyResult<Vec<f64>> {
        numbers(what, given, &[&[self.n()]])
    }

    fn link(&self, py: Python<'_>, body: &str) -> PyResult<LinkId> {
        self.tree.link_named(body).ok_or_else(|| unknown(py, "link", body, &self.links))
    }

    /// Works at these rates, or at those of the moment, and leaves the moment as it was.
    fn at_rates<T>(
        &self,
        py: Python<'_>,
        rates: Option<&AnyNumbers<'_>>,
        make: impl FnOnce(&Tree, &mut Work) -> T + Send,
    ) -> PyResult<T>
    where
        T: Send,
    {
        let rates = rates.map(|rates| self.of_dofs("rates", rates)).transpose()?;
        let tree = &self.tree;
        let cell = &self.work;
        Ok(detached(py, || {
            let mut work = cell.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(rates) = rates else { return make(tree, &mut work) };
            let before = std::mem::replace(&mut work.state.rates, rates);
            let Work { state, dynamics, .. } = &mut *work;
            dynamics.kinematics(tree, state);
            let made = make(tree, &mut work);
            let Work { state, dynamics, .. } = &mut *work;
            state.rates = before;
            dynamics.kinematics(tree, state);
            made
        }))
    }

    fn matrix<'py>(&self, py: Python<'py>, numbers: Vec<f64>) -> PyResult<Numbers<'py>> {
        array(py, &[self.n(), self.n()], numbers)
    }
}

#[pymethods]
impl PyDynamics {
    /// The number of degrees of freedom.
    #[getter]
    fn n_dofs(&self) -> usize {
        self.n()
    }

    /// The number of coordinates: one more than degrees of freedom per quaternion.
    #[getter]
    fn n_coordinates(&self) -> usize {
        self.tree.n_coordinates()
    }

    /// The names of the degrees of freedom: that of the joint, or of the body that has none, with a number where there are several.
    #[getter]
    fn dof_names(&self) -> Vec<String> {
        self.dofs.clone()
    }

    /// The names of the links, which are bodies.
    #[getter]
    fn link_names(&self) -> Vec<String> {
        self.links.clone()
    }

    /// Gravity that every method assumes, m/s².
    #[getter]
    fn gravity<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        vector(py, self.gravity)
    }

    /// Joint coordinates, rad and m; quaternions are w x y z.
    #[getter]
    fn coordinates<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        array(py, &[self.tree.n_coordinates()], self.work().state.coordinates.clone())
    }

    /// Joint rates.
    #[getter]
    fn rates<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        array(py, &[self.n()], self.work().state.rates.clone())
    }

    /// Moves to other coordinates, at these rates, or at rest.
    #[pyo3(signature = (coordinates, rates=None))]
    fn move_to(&self, coordinates: AnyNumbers<'_>, rates: Option<AnyNumbers<'_>>) -> PyResult<()> {
        let mut coordinates = numbers("coordinates", &coordinates, &[&[self.tree.n_coordinates()]])?;
        let rates = rates.map(|rates| self.of_dofs("rates", &rates)).transpose()?;
        self.tree.renormalize(&mut coordinates);
        let mut work = self.work();
        let Work { state, dynamics, .. } = &mut *work;
        *state = TreeState { coordinates, rates: rates.unwrap_or_else(|| vec![0.0; self.n()]) };
        dynamics.kinematics(&self.tree, state);
        Ok(())
    }

    /// The coordinates after these rates for a time (s): ``integrate`` of other libraries.
    fn advanced<'py>(&self, py: Python<'py>, rates: AnyNumbers<'_>, h: f64) -> PyResult<Numbers<'py>> {
        let rates = self.of_dofs("rates", &rates)?;
        let mut coordinates = self.work().state.coordinates.clone();
        self.tree.advance(&mut coordinates, &rates, h);
        array(py, &[coordinates.len()], coordinates)
    }

    /// The mass matrix, without armatures.
    fn mass_matrix<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        let n = self.n();
        let out = self.at_rates(py, None, |tree, work| {
            let mut out = vec![0.0; n * n];
            work.dynamics.fill_mass_matrix(tree, &mut out);
            out
        })?;
        self.matrix(py, out)
    }

    /// The Coriolis matrix: times the rates, it is the part of ``bias`` without gravity.
    fn coriolis_matrix<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        let out =
            self.at_rates(py, None, |tree, work| work.matrices.coriolis(tree, &mut work.dynamics).to_vec())?;
        self.matrix(py, out)
    }

    /// Torques and forces that keep the rates as they are: Coriolis, centrifugal and gravity.
    #[pyo3(signature = (rates=None))]
    fn bias<'py>(&self, py: Python<'py>, rates: Option<AnyNumbers<'_>>) -> PyResult<Numbers<'py>> {
        let (n, gravity) = (self.n(), self.gravity);
        let out = self.at_rates(py, rates.as_ref(), |tree, work| {
            let mut out = vec![0.0; n];
            work.dynamics.fill_bias(tree, gravity, &[], &mut out);
            out
        })?;
        array(py, &[n], out)
    }

    /// Torques and forces that carry the weight.
    fn gravity_forces<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        let (n, gravity) = (self.n(), self.gravity);
        let out = self.at_rates(py, None, |tree, work| {
            let mut out = vec![0.0; n];
            work.dynamics.fill_gravity(tree, gravity, &mut out);
            out
        })?;
        array(py, &[n], out)
    }

    /// Inverse dynamics: torques and forces that give these accelerations.
    #[pyo3(signature = (accelerations, rates=None))]
    fn inverse<'py>(
        &self,
        py: Python<'py>,
        accelerations: AnyNumbers<'_>,
        rates: Option<AnyNumbers<'_>>,
    ) -> PyResult<Numbers<'py>> {
        let (n, gravity) = (self.n(), self.gravity);
        let accelerations = self.of_dofs("accelerations", &accelerations)?;
        let out = self.at_rates(py, rates.as_ref(), |tree, work| {
            let mut out = vec![0.0; n];
            work.dynamics.fill_inverse(tree, &accelerations, gravity, &[], &mut out);
            out
        })?;
        array(py, &[n], out)
    }

    /// Forward dynamics: accelerations under these torques and forces. Springs, motors and contacts of the scene are not in it. Raises
    /// ``DynamicsError`` if something without mass can move.
    #[pyo3(signature = (torques, rates=None))]
    fn forward<'py>(
        &self,
        py: Python<'py>,
        torques: AnyNumbers<'_>,
        rates: Option<AnyNumbers<'_>>,
    ) -> PyResult<Numbers<'py>> {
        let gravity = self.gravity;
        let torques = self.of_dofs("torques", &torques)?;
        let (out, report) = self.at_rates(py, rates.as_ref(), |tree, work| {
            let command = HybridCommand { values: torques, ..HybridCommand::passive(tree) };
            let report = work.dynamics.hybrid(tree, &work.state, &command, gravity, &[]);
            (work.dynamics.accelerations().to_vec(), report)
        })?;
        self.check(py, report.singular)?;
        array(py, &[self.n()], out)
    }

    /// Derivatives of ``inverse``: of the torques by coordinates, by rates, and by accelerations (the mass matrix).
    #[pyo3(signature = (accelerations, rates=None))]
    fn inverse_derivatives<'py>(
        &self,
        py: Python<'py>,
        accelerations: AnyNumbers<'_>,
        rates: Option<AnyNumbers<'_>>,
    ) -> PyResult<Derivatives<'py>> {
        let gravity = self.gravity;
        let accelerations = self.of_dofs("accelerations", &accelerations)?;
        let [a, b, c] = self.at_rates(py, rates.as_ref(), |tree, work| {
            let Work { dynamics, matrices, .. } = work;
            matrices.inverse(tree, dynamics, &accelerations, gravity, &[]);
            [matrices.torques_by_coordinates(), matrices.torques_by_rates(), matrices.mass_matrix()]
                .map(<[f64]>::to_vec)
        })?;
        Ok((self.matrix(py, a)?, self.matrix(py, b)?, self.matrix(py, c)?))
    }

    /// Derivatives of ``forward``: of the accelerations by coordinates, by rates, and by torques (the inverse of the mass matrix).
    #[pyo3(signature = (torques, rates=None))]
    fn forward_derivatives<'py>(
        &self,
        py: Python<'py>,
        torques: AnyNumbers<'_>,
        rates: Option<AnyNumbers<'_>>,
    ) -> PyResult<Derivatives<'py>> {
        let gravity = self.gravity;
        let torques = self.of_dofs("torques", &torques)?;
        let ([a, b, c], report) = self.at_rates(py, rates.as_ref(), |tree, work| {
            let Work { dynamics, matrices, .. } = work;
            let report = matrices.forward(tree, dynamics, &torques, gravity, &[]);
            let all = [
                matrices.accelerations_by_coordinates(),
                matrices.accelerations_by_rates(),
                matrices.inverse_mass_matrix(),
            ];
            (all.map(<[f64]>::to_vec), report)
        })?;
        self.check(py, report.singular)?;
        Ok((self.matrix(py, a)?, self.matrix(py, b)?, self.matrix(py, c)?))
    }

    /// The Jacobian of a point of a body (in its body frame, m): six rows, angular then linear, world axes; times the rates it is the twist of the body at
    /// that point.
    ///
    /// >>> import numpy as np, sinew
    /// >>> world = sinew.load("chain_10")
    /// >>> _ = world.step(30)
    /// >>> dynamics, body = world.dynamics(), world.body_names[-1]
    /// >>> twist = dynamics.jacobian(body) @ dynamics.rates
    /// >>> bool(np.abs(twist[:3] - world.twists[-1, :3]).max() < 1e-2)
    /// True
    #[pyo3(signature = (body, point=Vec3(DVec3::ZERO)))]
    fn jacobian<'py>(&self, py: Python<'py>, body: &str, point: Vec3) -> PyResult<Numbers<'py>> {
        self.columns(py, body, point, Dynamics::fill_jacobian)
    }

    /// Its rate of change.
    #[pyo3(signature = (body, point=Vec3(DVec3::ZERO)))]
    fn jacobian_rate<'py>(&self, py: Python<'py>, body: &str, point: Vec3) -> PyResult<Numbers<'py>> {
        self.columns(py, body, point, Dynamics::fill_jacobian_rate)
    }

    /// The matrix that gives the momentum about the centre of mass: six rows, angular then linear.
    fn centroidal_matrix<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        let n = self.n();
        let out = self.at_rates(py, None, |tree, work| {
            let mut out = vec![Force::ZERO; n];
            work.dynamics.fill_centroidal_matrix(tree, &mut out);
            out
        })?;
        transposed(py, out.iter().map(|column| [column.angular, column.linear]))
    }

    /// Momentum about the centre of mass: angular (kg·m²/s), linear (kg·m/s).
    #[getter]
    fn centroidal_momentum<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        let momentum = self.work().dynamics.centroidal_momentum();
        array(py, &[6], [momentum.angular.to_array(), momentum.linear.to_array()].concat())
    }

    /// The centre of mass, m, world.
    #[getter]
    fn centre_of_mass<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        vector(py, self.work().dynamics.centre_of_mass())
    }

    /// Kinetic energy, J.
    #[getter]
    fn kinetic_energy(&self) -> f64 {
        self.work().dynamics.kinetic_energy()
    }

    /// Pose of the body frame of a link: position and quaternion x y z w.
    fn pose<'py>(&self, py: Python<'py>, body: &str) -> PyResult<Numbers<'py>> {
        let link = self.link(py, body)?;
        let mut out = Vec::with_capacity(7);
        crate::vectors::push_pose(&self.work().dynamics.body_pose(&self.tree, link), &mut out);
        array(py, &[7], out)
    }

    fn __repr__(&self) -> String {
        format!("Dynamics({} links, {} degrees of freedom)", self.links.len(), self.n())
    }
}

impl PyDynamics {
    fn columns<'py>(
        &self,
        py: Python<'py>,
        body: &str,
        point: Vec3,
        fill: impl Fn(&Dynamics, &Tree, LinkId, DVec3, &mut [Motion]),
    ) -> PyResult<Numbers<'py>> {
        let link = self.link(py, body)?;
        let mut out = vec![Motion::ZERO; self.n()];
        let work = self.work();
        let in_world = work.dynamics.body_pose(&self.tree, link).transform_point(point.0);
        fill(&work.dynamics, &self.tree, link, in_world, &mut out);
        transposed(py, out.iter().map(|column| [column.angular, column.linear]))
    }

    fn check(&self, py: Python<'_>, singular: Option<(LinkId, usize)>) -> PyResult<()> {
        let Some((link, _)) = singular else { return Ok(()) };
        let name = self.tree.name(link);
        Err(dynamics_error(
            py,
            &format!("`{name}` and what it carries have no mass along a coordinate of its joint"),
        ))
    }
}

/// Columns of six as an array of six rows.
fn transposed<'py>(
    py: Python<'py>,
    columns: impl Iterator<Item = [DVec3; 2]> + Clone,
) -> PyResult<Numbers<'py>> {
    let n = columns.clone().count();
    let part = |row: usize| columns.clone().map(move |column| column[row / 3][row % 3]);
    array(py, &[6, n], (0..6).flat_map(part).collect())
}

/// The names of the degrees of freedom of a link.
fn dof_names(tree: &Tree, link: LinkId, world: &World) -> Vec<String> {
    let name = tree.joint(link).map_or(tree.name(link), |joint| world.mechanism().joint_name(joint));
    match tree.dofs(link).len() {
        1 => vec![name.to_owned()],
        n => (0..n).map(|k| format!("{name}.{k}")).collect(),
    }
}
