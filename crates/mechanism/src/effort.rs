//! Forces along the coordinates of joints, as wrenches on the two bodies.
//!
//! An effort `τ` along a coordinate with the rate `ẋ = g·w + e·u`, where `(w, u)` is the motion of frame 1 relative to frame 2 at point 1, is the
//! wrench `(τ g, τ e)` on body 1 at that point and its opposite on body 2: its power is `τ ẋ`, and it changes neither momentum of the two together.
//! Frame 2 and the arms are those of the given state; over the step the wrenches stay as they are. Every stepper takes wrenches. Constant cost.

use glam::DVec3;
use sinew_math::{DriveCoordinate, Force};

use crate::joints::twist_gradient;
use crate::model::{Model, State, WORLD, motion_of};
use crate::{BodyId, BodyKind, Input, JointId};

impl Input {
    /// Adds a torque (N·m) or force (N) along a coordinate of a joint for the next step, from a state. It adds to what its springs, limits and
    /// motors do.
    ///
    /// ```
    /// # use sinew_math::{DriveCoordinate, JointKind, MassProperties, Pose};
    /// # use sinew_mechanism::*;
    /// # use glam::DVec3;
    /// # let mut builder = MechanismBuilder::new();
    /// # let wheel = builder.add_body(BodySpec::dynamic("wheel", Pose::IDENTITY, MassProperties::sphere(0.2, 100.0)));
    /// # let frames = JointFrames::coincident(&Pose::IDENTITY, &Pose::IDENTITY, &Pose::IDENTITY);
    /// # let axle = builder.add_joint(JointSpec::new("axle", JointKind::Hinge, wheel, None, frames));
    /// # let model = builder.build()?;
    /// # let (mut state, settings, mut workspace) = (model.initial_state(), Settings::default(), Workspace::new(&model));
    /// let mut input = Input::default();
    /// input.add_effort(&model, &state, axle, DriveCoordinate::Twist, 0.5);
    /// step(&model, &mut state, &input, &settings, &mut workspace);
    /// assert!(joint_reading(&model, &state, axle).twist_rate > 0.0);
    /// # Ok::<(), MechanismError>(())
    /// ```
    pub fn add_effort(
        &mut self,
        model: &Model,
        state: &State,
        joint: JointId,
        along: DriveCoordinate,
        effort: f64,
    ) {
        let Some(relative) = relative_to_parent(model, state, joint) else { return };
        let wrench = match along {
            DriveCoordinate::Twist => Force::new(twist_gradient(relative.s) * effort, DVec3::ZERO),
            DriveCoordinate::Slide => Force::new(DVec3::ZERO, DVec3::X * effort),
        };
        self.add_joint_wrench(model, state, joint, wrench);
    }

    /// Adds a wrench between the bodies of a joint for the next step: torque (N·m) and force (N) on its body 1 about its point 1, in the axes of its
    /// frame 2; body 2 gets the opposite. A ball joint is turned by the torque alone.
    pub fn add_joint_wrench(&mut self, model: &Model, state: &State, joint: JointId, wrench: Force) {
        let Some(relative) = relative_to_parent(model, state, joint) else { return };
        let [torque, force] = [wrench.angular, wrench.linear].map(|v| relative.axes * v);
        for (body, arm, sign) in
            [(relative.bodies[0], relative.arms[0], 1.0), (relative.bodies[1], relative.arms[1], -1.0)]
        {
            let is_moved = |body: BodyId| model.body_kind(body) == BodyKind::Dynamic;
            if let Some(body) = body.filter(|&body| is_moved(body)) {
                self.wrenches.push((body, Force::new(torque + arm.cross(force), force) * sign));
            }
        }
    }
}

/// What the wrench of a joint needs of its place.
struct JointPlace {
    bodies: [Option<BodyId>; 2],
    axes: glam::DMat3,
    arms: [DVec3; 2],
    /// Axis `i₁` in frame 2.
    s: DVec3,
}

fn relative_to_parent(model: &Model, state: &State, joint: JointId) -> Option<JointPlace> {
    let joint = model.joints.get(joint.index())?;
    let relative = joint.relative(&state.poses, |body| motion_of(&state.motions, body), 0.0);
    let body = |body: u32| (body != WORLD).then(|| BodyId::from_index(body as usize));
    Some(JointPlace {
        bodies: [body(joint.body1), body(joint.body2)],
        axes: relative.axes2,
        arms: [relative.arm1, relative.arm2],
        s: relative.matrix.x_axis,
    })
}
