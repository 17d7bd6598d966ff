//! Frames of any length on steps of one length, and poses between two steps for renderers.
//!
//! A world advances in steps of `dt`, which keeps its bits. A frame adds its seconds to what is left of the last one, and as many whole steps are made
//! as fit. What is left, `r` with `0 ≤ r < dt`, is how far the picture is behind: poses are interpolated between the last two states,
//! `x = x₋ + (r/dt)(x − x₋)` and the rotation by the same share of the turn between them, so the picture lags by one step and never jumps.
//! Neither belongs to the state: they change no motion.

use sinew_engine::StepReport;
use sinew_math::{Pose, exp_so3, log_so3};
use sinew_mechanism::BodyId;

use super::World;

/// The most steps that one frame makes.
const MOST_STEPS: u32 = 8;

/// A frame of [`World::advance`].
#[derive(Clone, Debug)]
pub struct Frame {
    /// Steps made.
    pub steps: u32,
    /// Time that was given up because the frame would have taken too many steps, s.
    pub skipped: f64,
    /// The report of the last step; none if no step was due.
    pub report: Option<StepReport>,
}

impl World {
    /// Advances by the time of one frame (s): as many steps as are due, with the recorded inputs of the scene, but at most eight. Time beyond that is
    /// skipped, so that a slow machine does not fall further and further behind.
    ///
    /// ```
    /// use sinew_sim::{BodyDoc, DVec3, SceneDoc, Shape, World};
    ///
    /// let ball = BodyDoc::new("ball").shape(Shape::Sphere { radius: 0.1 }).velocity(DVec3::X);
    /// let mut world = World::from_scene(&SceneDoc { gravity: DVec3::ZERO, ..SceneDoc::new("roll").with(ball) })?;
    /// let ball = world.body("ball").expect("it is there");
    /// for _ in 0..144 {
    ///     world.advance(1.0 / 144.0);
    ///     let picture = world.pose_in_frame(ball).translation.x;
    ///     assert!(picture <= world.time());
    /// }
    /// // one step behind
    /// assert!((world.pose_in_frame(ball).translation.x - (1.0 - 1.0 / 60.0)).abs() < 1e-9);
    /// # Ok::<(), sinew_sim::BuildError>(())
    /// ```
    pub fn advance(&mut self, frame_seconds: f64) -> Frame {
        let mut frame = Frame { steps: 0, skipped: 0.0, report: None };
        if frame_seconds > 0.0 && frame_seconds.is_finite() {
            self.clock.left += frame_seconds;
        }
        // A frame that ends with a step by rounding makes it.
        while self.clock.left >= self.settings.dt * (1.0 - 1e-9) {
            if frame.steps == MOST_STEPS {
                frame.skipped = std::mem::take(&mut self.clock.left);
                break;
            }
            self.clock.left = (self.clock.left - self.settings.dt).max(0.0);
            self.clock.before.clone_from(&self.state.bodies.poses);
            frame.report = Some(self.step());
            frame.steps += 1;
        }
        frame
    }

    /// Pose of a body frame at the time of the last frame of [`World::advance`], `world_from_body`: between the last two states.
    pub fn pose_in_frame(&self, body: BodyId) -> Pose {
        let now = self.state.bodies.poses[body.index()];
        let before = self.clock.before.get(body.index()).copied().unwrap_or(now);
        let share = (self.clock.left / self.settings.dt).clamp(0.0, 1.0);
        let turn = log_so3(now.rotation * before.rotation.conjugate()) * share;
        let between =
            Pose::new(exp_so3(turn) * before.rotation, before.translation.lerp(now.translation, share));
        between.compose(&self.mechanism().central_frame(body).inverse())
    }
}
