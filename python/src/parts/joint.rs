//! Joints and motors. World coordinates; m, rad, N, N·m.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sinew_scene::{FrameDoc, JointDoc, MotorDoc, suggestion};
use sinew_sim::JointKind;

use super::document_class;
use crate::vectors::Vec3;

document_class! {
    /// A motor: ``MotorDoc.position`` or ``MotorDoc.velocity``. ``world.input.targets`` and ``target_rates`` give it other targets while it runs.
    ///
    /// >>> from sinew import MotorDoc
    /// >>> servo = MotorDoc.position(0.0, stiffness=50, damping=2).max_force(30)
    PyMotorDoc(MotorDoc) as "MotorDoc"
}

#[pymethods]
impl PyMotorDoc {
    /// A motor that pulls towards a position (rad or m) with these gains.
    #[staticmethod]
    fn position(target: f64, stiffness: f64, damping: f64) -> Self {
        Self(MotorDoc::position(target, stiffness, damping))
    }

    /// A motor that pulls towards a velocity (rad/s or m/s) with this gain.
    #[staticmethod]
    fn velocity(target: f64, damping: f64) -> Self {
        Self(MotorDoc::velocity(target, damping))
    }

    /// Its largest force (N·m or N).
    fn max_force(&self, force: f64) -> Self {
        Self(self.0.clone().max_force(force))
    }

    /// It also holds what hangs on the joint against gravity, within its largest force.
    fn with_gravity_compensation(&self) -> Self {
        Self(self.0.clone().with_gravity_compensation())
    }
}

document_class! {
    /// A joint: ``JointDoc(kind, name, child)`` holds its child to the world, ``parent`` to another body. The kind is the name of a joint kind, such as
    /// ``"Hinge"``, ``"Ball"``, ``"Prismatic"`` or ``"Fixed"``; screws and rolling joints take their pitch or radius as ``parameter``.
    ///
    /// >>> from sinew import JointDoc, MotorDoc
    /// >>> knee = JointDoc("Hinge", "knee", "shin").parent("thigh").at([0, 0, 0.5]).axis([0, 1, 0]).limits(0, 2.4)
    /// >>> knee = knee.motor(MotorDoc.position(0.3, stiffness=80, damping=4))
    PyJointDoc(JointDoc) as "JointDoc"
}

/// The name of a kind as scenes write it.
fn scene_name(kind: JointKind) -> String {
    let text = format!("{kind:?}");
    text.split(' ').next().unwrap_or_default().to_owned()
}

/// The kind of joint of a name.
fn kind_named(name: &str, parameter: Option<f64>) -> PyResult<JointKind> {
    let kinds = JointKind::all(parameter.unwrap_or(f64::NAN));
    let names = kinds.map(scene_name);
    let kind = names.iter().position(|known| known == name).map(|k| kinds[k]).ok_or_else(|| {
        PyValueError::new_err(format!(
            "there is no kind of joint called `{name}`: {}",
            suggestion(name, &names)
        ))
    })?;
    match (kind.parameter(), parameter) {
        (Some(found), None) if found.is_nan() => {
            Err(PyValueError::new_err(format!("a {name} joint needs its pitch or radius as `parameter`")))
        }
        (None, Some(_)) => Err(PyValueError::new_err(format!("a {name} joint has no parameter"))),
        _ => Ok(kind),
    }
}

#[pymethods]
impl PyJointDoc {
    #[new]
    #[pyo3(signature = (kind, name, child, parameter=None))]
    fn new(kind: &str, name: String, child: String, parameter: Option<f64>) -> PyResult<Self> {
        Ok(Self(JointDoc::new(kind_named(kind, parameter)?, name, child)))
    }

    /// The body that it holds its child to, instead of the world.
    fn parent(&self, parent: String) -> Self {
        Self(self.0.clone().parent(parent))
    }

    /// Where it is: a point of the world (m), its bodies being where they are when the joint is made.
    fn at(&self, anchor: Vec3) -> Self {
        Self(self.0.clone().at(anchor.0))
    }

    /// Its main axis in world axes, its bodies being where they are when the joint is made.
    fn axis(&self, axis: Vec3) -> Self {
        Self(self.0.clone().axis(axis.0))
    }

    /// One frame per body, each in the coordinates of its body frame (anchor in m, main axis), instead of one in the world.
    fn local(&self, child_anchor: Vec3, child_axis: Vec3, parent_anchor: Vec3, parent_axis: Vec3) -> Self {
        let frame = |anchor: Vec3, axis: Vec3| FrameDoc { anchor: anchor.0, axis: axis.0, reference: None };
        let frames = (frame(child_anchor, child_axis), frame(parent_anchor, parent_axis));
        Self(self.0.clone().local(frames.0, frames.1))
    }

    /// The range of its twist or slide (rad or m).
    fn limits(&self, min: f64, max: f64) -> Self {
        Self(self.0.clone().limits(min, max))
    }

    /// The largest tilt of its main axis (rad).
    fn cone_limit(&self, angle: f64) -> Self {
        Self(self.0.clone().cone_limit(angle))
    }

    /// A spring towards where its frames coincide (N·m/rad or N/m), and its damping.
    fn spring(&self, stiffness: f64, damping: f64) -> Self {
        Self(self.0.clone().spring(stiffness, damping))
    }

    /// Viscous damping (N·m·s/rad or N·s/m).
    fn damping(&self, damping: f64) -> Self {
        Self(self.0.clone().damping(damping))
    }

    /// A motor.
    fn motor(&self, motor: &PyMotorDoc) -> Self {
        Self(self.0.clone().motor(motor.0.clone()))
    }

    /// It breaks if it has to transmit more than this force (N).
    fn breaks_at_force(&self, force: f64) -> Self {
        Self(self.0.clone().breaks_at_force(force))
    }

    /// It breaks if it has to transmit more than this torque (N·m).
    fn breaks_at_torque(&self, torque: f64) -> Self {
        Self(self.0.clone().breaks_at_torque(torque))
    }

    /// It closes a loop, and may open where joints contradict each other.
    fn secondary(&self) -> Self {
        Self(self.0.clone().secondary())
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }
}
