//! Edits of a world while it runs: bodies put elsewhere, parts added, replaced and removed. An edit gives the world another model, so rows of arrays may
//! change their meaning, and the input begins anew.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sinew_math::Motion;
use sinew_scene::{BodyDoc, ColliderDoc, EditableScene, Handle, JointDoc, RopeDoc, ScenePart, SpringDoc};
use sinew_sim::BuildError;

use super::{PyWorld, Running};
use crate::arrays::{AnyNumbers, numbers};
use crate::errors::{build_error, unknown};
use crate::input::{PyInput, busy};
use crate::layout::Layout;
use crate::parts::AnyPart;
use crate::scene::PySceneDoc;
use crate::threads::detached;
use crate::vectors::pose;

impl Running {
    fn handle<P: ScenePart>(&self, py: Python<'_>, name: &str, valid: &[String]) -> PyResult<Handle<P>> {
        self.world.find::<P>(name).ok_or_else(|| unknown(py, P::WORD, name, valid))
    }
}

impl PyWorld {
    /// Edits the scene; none of it happens if it cannot be built.
    fn edit(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut EditableScene) -> PyResult<()> + Send,
    ) -> PyResult<()> {
        let mut running = self.lock()?;
        let mut input = self.input.try_lock().map_err(|_| busy())?;
        let scene = running.scene()?;
        let world = &mut running.world;
        let edited: Result<PyResult<()>, BuildError> = detached(py, || world.edit(change));
        edited.map_err(|error| build_error(py, &error, &scene, None))??;
        running.layout = Arc::new(Layout::of(&running.world));
        *input = Py::new(py, PyInput::new(Arc::clone(&running.layout), None))?;
        Ok(())
    }
}

#[pymethods]
impl PyWorld {
    /// Puts a body elsewhere: pose of its body frame in the world, position and quaternion x y z w. Its motion stays.
    fn set_pose(&self, py: Python<'_>, body: &str, pose: AnyNumbers<'_>) -> PyResult<()> {
        let given = numbers("pose", &pose, &[&[7]])?;
        let pose = self::pose(&given).ok_or_else(|| PyValueError::new_err("pose: the quaternion is zero"))?;
        let mut running = self.lock()?;
        let handle = running.handle::<BodyDoc>(py, body, &running.layout.bodies)?;
        running.world.set_pose(handle, pose);
        Ok(())
    }

    /// Gives a body another motion: angular velocity (rad/s), and velocity (m/s) of the origin of its body frame, world axes.
    fn set_twist(&self, py: Python<'_>, body: &str, twist: AnyNumbers<'_>) -> PyResult<()> {
        let given = numbers("twist", &twist, &[&[6]])?;
        let (angular, linear) = (glam::DVec3::from_slice(&given), glam::DVec3::from_slice(&given[3..]));
        let mut running = self.lock()?;
        let handle = running.handle::<BodyDoc>(py, body, &running.layout.bodies)?;
        running.world.set_motion(handle, Motion::new(angular, linear));
        Ok(())
    }

    /// Adds parts while it runs: bodies, joints, colliders, springs, ropes. A joint joins its bodies where they are now. The arrays of ``input`` begin
    /// anew. Raises ``BuildError``, and nothing changes.
    ///
    /// >>> import sinew
    /// >>> from sinew import BodyDoc, ColliderDoc, SceneDoc, Shape
    /// >>> world = SceneDoc("yard").add(ColliderDoc.floor()).build()
    /// >>> world.insert(BodyDoc("ball").at([0, 0, 1]).shape(Shape.sphere(0.1)).touching())
    /// >>> _ = world.step(60)
    /// >>> bool(world.poses[0, 2] < 0.2)
    /// True
    /// >>> world.remove("body", "ball")
    #[pyo3(signature = (*parts))]
    fn insert(&self, py: Python<'_>, parts: Vec<AnyPart>) -> PyResult<()> {
        self.edit(py, |scene| {
            parts.into_iter().for_each(|part| part.insert_into(scene));
            Ok(())
        })
    }

    /// Replaces parts by others of the same kind and name: heavier bodies, stiffer joints. Bodies go on moving.
    #[pyo3(signature = (*parts))]
    fn replace(&self, py: Python<'_>, parts: Vec<AnyPart>) -> PyResult<()> {
        self.edit(py, |scene| match parts.into_iter().all(|part| part.replace_in(scene)) {
            true => Ok(()),
            false => {
                Err(PyValueError::new_err("there is no part of this kind and name to replace: use insert"))
            }
        })
    }

    /// Removes a part, and what hangs on it. ``kind`` is ``"body"``, ``"joint"``, ``"collider"``, ``"spring"`` or ``"rope"``.
    fn remove(&self, py: Python<'_>, kind: &str, name: &str) -> PyResult<()> {
        let (bodies, joints) = {
            let running = self.lock()?;
            (running.layout.bodies.clone(), running.layout.joints.clone())
        };
        let kinds = ["body", "joint", "collider", "spring", "rope"];
        let found = {
            let running = self.lock()?;
            match kind {
                "body" => running.handle::<BodyDoc>(py, name, &bodies).map(|_| ()),
                "joint" => running.handle::<JointDoc>(py, name, &joints).map(|_| ()),
                "collider" => running.handle::<ColliderDoc>(py, name, &[]).map(|_| ()),
                "spring" => running.handle::<SpringDoc>(py, name, &[]).map(|_| ()),
                "rope" => running.handle::<RopeDoc>(py, name, &[]).map(|_| ()),
                _ => Err(unknown(py, "kind of part", kind, &kinds)),
            }
        };
        found?;
        self.edit(py, |scene| {
            fn out<P: ScenePart>(scene: &mut EditableScene, name: &str) {
                if let Some(handle) = scene.find::<P>(name) {
                    scene.remove(handle);
                }
            }
            match kind {
                "body" => out::<BodyDoc>(scene, name),
                "joint" => out::<JointDoc>(scene, name),
                "collider" => out::<ColliderDoc>(scene, name),
                "spring" => out::<SpringDoc>(scene, name),
                _ => out::<RopeDoc>(scene, name),
            }
            Ok(())
        })
    }

    /// The scene with all edits, to be written or built again.
    fn to_scene(&self) -> PyResult<PySceneDoc> {
        Ok(PySceneDoc::from_doc(self.lock()?.scene()?))
    }
}
