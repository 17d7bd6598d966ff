//! Forces across joints and efforts along them, of the last step.
//!
//! Implicit steps leave the forces across joints in the state. Steps in joint coordinates leave forces and efforts in their scratch, as
//! of the last substep: the reaction `F = ĴV̇ + B` of a link's joint and its torque `τ − D q̈`, with that of actuators. Other steppers
//! give no forces across joints. Otherwise the effort along a coordinate is that of springs, limits and motors in the present
//! state. World axes, SI. Cost: one pass over the joints.

use glam::DVec3;
use sinew_math::{Force, Motion, exp_so3, shift_force};
use sinew_mechanism::{BodyId, DriveCoordinate, Input, JointDemand, JointId, joint_reading};
use sinew_recursive::{Dynamics, Tree};

use crate::workspace::LastStep;
use crate::{Model, State, Workspace};

impl Workspace {
    /// Force of each joint on its body 1 in the last step, which must have led to this state of this model: world axes, N.
    pub fn joint_forces(&self, model: &Model, state: &State) -> Vec<DVec3> {
        let mut forces = sinew_mechanism::joint_forces(model.mechanism(), &state.bodies);
        let Some((tree, dynamics)) = self.reduced_step(model) else { return forces };
        for link in tree.links().filter(|link| !self.is_touched(tree.body(*link))) {
            let Some(joint) = tree.joint(link) else { continue };
            let on_link = dynamics.reaction(link).linear;
            let is_first = model.mechanism().joint_bodies(joint).0 == Some(tree.body(link));
            forces[joint.index()] = if is_first { on_link } else { -on_link };
        }
        for (joint, wrench) in self.closing_wrenches(model) {
            forces[joint.index()] = wrench.linear;
        }
        forces
    }

    /// What each joint did to its body 1 in the last step, which must have been one of this model: torque about the anchor on body 1
    /// (N·m) and force (N), world axes, as [`sinew_mechanism::Workspace::joint_wrenches`] says for each scheme; after a step in joint
    /// coordinates, of its last substep, actuators included. Empty unless [`crate::Settings::reactions`] asked for them.
    pub fn joint_wrenches(&self, model: &Model) -> Vec<Force> {
        let Some((tree, dynamics)) = self.reduced_step(model) else {
            return self.mechanism.joint_wrenches().to_vec();
        };
        if self.accelerations().is_empty() {
            return Vec::new();
        }
        let touched = self.touched.as_deref().map_or(&[][..], |touched| touched.mechanism.joint_wrenches());
        let mut wrenches = touched.to_vec();
        wrenches.resize(model.mechanism().n_joints(), Force::ZERO);
        for link in tree.links().filter(|link| !self.is_touched(tree.body(*link))) {
            let Some(joint) = tree.joint(link) else { continue };
            let on_link = dynamics.reaction(link);
            let is_first = model.mechanism().joint_bodies(joint).0 == Some(tree.body(link));
            // Joint frame 2, about which the reaction is then, may have left the anchor on body 1.
            let on_first = || -shift_force(on_link, dynamics.joint_offset(tree, link));
            wrenches[joint.index()] = if is_first { on_link } else { on_first() };
        }
        for (joint, wrench) in self.closing_wrenches(model) {
            wrenches[joint.index()] = wrench;
        }
        wrenches
    }

    /// What the joints that close loops did to their bodies 1 in the last step, which was one in joint coordinates; those that took an
    /// implicit step, because something touched their bodies, are left out.
    fn closing_wrenches<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = (JointId, Force)> + 'a {
        let parts = model.reduced().zip(self.reduced.as_deref());
        parts.into_iter().flat_map(move |(reduced, work)| {
            let looped = reduced.looped();
            let ends = |joint| <[_; 2]>::from(model.mechanism().joint_bodies(joint)).into_iter().flatten();
            let untouched =
                looped.joints().filter(move |joint| !ends(*joint).any(|body| self.is_touched(body)));
            untouched.filter_map(move |joint| Some((joint, work.integrator.loops().reaction(looped, joint)?)))
        })
    }

    /// Mean acceleration of each body in the last step, at its centre of mass, world axes, rad/s² and m/s². Empty unless
    /// [`crate::Settings::reactions`] asked for them.
    pub fn accelerations(&self) -> &[Motion] {
        match &self.reduced {
            Some(work) if self.last == LastStep::Reduced => &work.accelerations,
            _ => self.mechanism.accelerations(),
        }
    }

    /// Torque (N·m) or force (N) along a coordinate of a joint: of springs, limits and motors, and of actuators if the last step
    /// was one in joint coordinates. Without a coordinate, the length of the torque that turns a ball joint. `gravity` is that of the settings, m/s².
    pub fn joint_effort(
        &self,
        model: &Model,
        state: &State,
        (input, gravity): (&Input, DVec3),
        joint: JointId,
        along: Option<DriveCoordinate>,
    ) -> f64 {
        if let Some(effort) = self.reduced_effort(model, joint, along) {
            return effort;
        }
        let model = model.mechanism();
        let demand = &JointDemand { input, poses: &state.bodies.poses, gravity };
        let reading = joint_reading(model, &state.bodies, joint);
        let Some(along) = along else {
            let rotation = exp_so3(reading.rotation);
            let rate = rotation.conjugate() * reading.angular_rate;
            return model.rotation_response(joint, rotation, rate, demand, 0.0).torque.length();
        };
        let value_and_rate = match along {
            DriveCoordinate::Twist => [reading.twist, reading.twist_rate],
            DriveCoordinate::Slide => [reading.slide, reading.slide_rate],
        };
        model.scalar_response(joint, along, value_and_rate, demand, 0.0).torque
    }

    /// The effort of the last step, if it was one in joint coordinates.
    fn reduced_effort(&self, model: &Model, joint: JointId, along: Option<DriveCoordinate>) -> Option<f64> {
        let (tree, dynamics) = self.reduced_step(model)?;
        let link = tree.links().find(|link| tree.joint(*link) == Some(joint))?;
        if self.is_touched(tree.body(link)) {
            return None;
        }
        let torques = &dynamics.torques()[tree.dofs(link)];
        Some(match along {
            None => torques.iter().map(|torque| torque * torque).sum::<f64>().sqrt(),
            Some(along) => torques.get(tree.joint_kind(link).rate_index(along)).copied().unwrap_or(0.0),
        })
    }

    /// Whether a body took an implicit step because something touched it.
    fn is_touched(&self, body: BodyId) -> bool {
        self.touched.as_deref().is_some_and(|touched| touched.has(body.index()))
    }

    /// The tree and the dynamics of the last step, if it was one of this model in joint coordinates.
    fn reduced_step<'a>(&'a self, model: &'a Model) -> Option<(&'a Tree, &'a Dynamics)> {
        let work = self.reduced.as_deref().filter(|_| self.last == LastStep::Reduced)?;
        Some((model.reduced()?.tree(), &work.dynamics))
    }
}
