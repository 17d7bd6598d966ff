//! What a batch is asked: arrays with a row per member, filled on all cores.

use numpy::PyArrayDyn;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use sinew_sim::{digest, energy};

use super::PyBatch;
use crate::arrays::{Numbers, array};
use crate::errors::unknown;
use crate::members::Members;
use crate::threads::detached;
use crate::vectors::push_pose;

impl PyBatch {
    /// An array with a row of this shape per member.
    pub(super) fn rows<'py>(
        &self,
        py: Python<'py>,
        shape: &[usize],
        fill: impl Fn(&Members, usize, &mut Vec<f64>) + Sync,
    ) -> PyResult<Numbers<'py>> {
        let width: usize = shape.iter().product();
        let members = self.lock()?;
        let members = &*members;
        let mut all = vec![0.0; self.n * width];
        detached(py, || {
            let begin = || Vec::with_capacity(width);
            let rows = all.par_chunks_mut(width.max(1)).enumerate().with_min_len(16);
            rows.for_each_init(begin, |row, (k, out)| {
                row.clear();
                fill(members, k, row);
                out.copy_from_slice(row);
            });
        });
        let shape: Vec<usize> = [self.n].iter().chain(shape).copied().collect();
        array(py, &shape, all)
    }

    fn flags<'py>(
        &self,
        py: Python<'py>,
        of: impl Fn(&Members, usize) -> bool,
    ) -> PyResult<Bound<'py, PyArrayDyn<bool>>> {
        let members = self.lock()?;
        array(py, &[self.n], (0..self.n).map(|k| of(&members, k)).collect())
    }

    fn coordinates<'py>(&self, py: Python<'py>, rates: bool) -> PyResult<Numbers<'py>> {
        let width = self.lock()?.layout.coordinates.len();
        self.rows(py, &[width], |members, k, out| {
            let (model, bodies) = (members.model_of(k).mechanism(), &members.all[k].state.bodies);
            members.layout.push_readings(model, bodies, rates, out);
        })
    }
}

#[pymethods]
impl PyBatch {
    /// Times of the members, s.
    #[getter]
    fn times<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        self.rows(py, &[], |members, k, out| out.push(members.all[k].state.bodies.time))
    }

    /// Poses of the body frames: position (m) and quaternion x y z w; (n, bodies, 7).
    #[getter]
    fn poses<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        let n_bodies = self.lock()?.layout.bodies.len();
        self.rows(py, &[n_bodies, 7], |members, k, out| {
            let (model, bodies) = (members.model_of(k).mechanism(), &members.all[k].state.bodies);
            model.bodies().for_each(|body| push_pose(&model.body_pose(bodies, body), out));
        })
    }

    /// Angular velocity (rad/s), and velocity (m/s) of the origin of the body frame, world axes; (n, bodies, 6).
    #[getter]
    fn twists<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        let n_bodies = self.lock()?.layout.bodies.len();
        self.rows(py, &[n_bodies, 6], |members, k, out| {
            let (model, bodies) = (members.model_of(k).mechanism(), &members.all[k].state.bodies);
            for body in model.bodies() {
                let central = bodies.motions[body.index()];
                let arm = model.body_pose(bodies, body).translation - bodies.poses[body.index()].translation;
                out.extend_from_slice(&central.angular.to_array());
                out.extend_from_slice(&(central.linear + central.angular.cross(arm)).to_array());
            }
        })
    }

    /// Coordinates of the joints; (n, coordinates).
    #[getter]
    fn joint_positions<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        self.coordinates(py, false)
    }

    /// Their rates; (n, coordinates).
    #[getter]
    fn joint_rates<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        self.coordinates(py, true)
    }

    /// Forces of contacts on the bodies in the last step, N, world axes; (n, bodies, 3). For batches made with ``contacts=True``.
    #[getter]
    fn contact_forces<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        let (n_bodies, keeps) = {
            let members = self.lock()?;
            (members.layout.bodies.len(), members.keeps_contacts)
        };
        if !keeps {
            return Err(PyValueError::new_err(
                "make the batch with contacts=True to keep the forces of contacts",
            ));
        }
        self.rows(py, &[n_bodies, 3], |members, k, out| {
            out.extend_from_slice(&members.all[k].contact_forces);
            out.resize(3 * n_bodies, 0.0);
        })
    }

    /// Positions of the nodes of flesh, m, world; (n, nodes, 3).
    fn flesh_nodes<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Numbers<'py>> {
        let (flesh, n_nodes) = {
            let members = self.lock()?;
            let flesh =
                members.world.flesh(name).ok_or_else(|| unknown(py, "flesh", name, &members.layout.flesh))?;
            (flesh, members.all[0].state.flesh.nodes[flesh].positions.len())
        };
        self.rows(py, &[n_nodes, 3], |members, k, out| {
            let nodes = &members.all[k].state.flesh.nodes[flesh].positions;
            out.extend(nodes.iter().flat_map(|node| node.to_array()));
        })
    }

    /// Mechanical energy of each member, J.
    #[getter]
    fn energies<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        self.rows(py, &[], |members, k, out| {
            let gravity = members.gravity_of(k);
            out.push(energy(members.model_of(k), &members.all[k].state, gravity, 1.0).total());
        })
    }

    /// Fingerprints of the states, as the command prints them.
    #[getter]
    fn digests(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let members = self.lock()?;
        let all = &members.all;
        Ok(detached(py, || all.par_iter().map(|member| format!("{:016x}", digest(&member.state))).collect()))
    }

    /// Which members are lost: their last step could not be made, or left something that is not finite.
    #[getter]
    fn is_lost<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<bool>>> {
        self.flags(py, |members, k| members.all[k].is_lost)
    }

    /// Which members are lost, or at the end of their time (``auto_reset``).
    #[getter]
    fn is_done<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<bool>>> {
        self.flags(py, Members::is_done)
    }

    /// Which members had no warning in their last step.
    #[getter]
    fn is_good<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<bool>>> {
        self.flags(py, |members, k| members.all[k].is_good)
    }
}
