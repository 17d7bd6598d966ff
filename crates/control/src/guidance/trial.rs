//! Trial of a command on the end of its step; `course` has the equations. World axes, SI. Cost: a pass of kinematics for every command that is
//! tried.

use glam::DVec3;
use sinew_math::Motion;
use sinew_recursive::{Dynamics, HybridCommand, JointMode};

use crate::goal::{Goal, GoalPoint};
use crate::{input::ControlContext, plant::Plant};

use super::course::GoalCourse;
use super::scratch::{ActiveGuide, Guidance};

/// A change of `b h²` below this share of the radius of gyration, or of a radian, ends the search for `b`.
const STRAIGHT: f64 = 1e-4;

/// The same, where the search does not come closer.
const ROUGH: f64 = 1e-2;

/// Turn of a joint in one step beyond which no command is trusted (rad).
const LARGEST_TURN: f64 = 1.0;

impl Guidance {
    /// Moves the tree to the beginning of the step before; `plant` is left with the accelerations of a tree that coasts.
    pub(super) fn look_back(&mut self, at: &ControlContext<'_>, plant: &mut Plant) {
        coast(at, &mut self.probe);
        plant.respond_unloaded(at, &self.probe, &[]);
        self.elsewhere.products.copy_from_slice(plant.dynamics.accelerations());
        self.elsewhere.go(at, -at.input.dt, |_| 0.0);
        self.courses.clear();
    }

    /// The point of a goal with its mean velocity in the step before, after [`Self::look_back`].
    pub(super) fn point_before(
        &mut self,
        at: &ControlContext<'_>,
        dynamics: &Dynamics,
        goal: &Goal,
    ) -> GoalPoint {
        let mut now = GoalPoint::new(at.tree, dynamics, goal);
        let coasting = dynamics.acceleration_at(goal.bone, now.pose.translation) * (-0.5 * at.input.dt);
        self.courses.push(GoalCourse { pose: now.pose, coasting: now.motion + coasting, bend: Motion::ZERO });
        now.motion = self.elsewhere.mean_motion(at.tree, goal, &now.pose, -at.input.dt);
        now
    }

    /// Whether a step with the accelerations in `dynamics` takes the points of goals where the rows say. If not, the next command is solved with the
    /// courses found here or, where they do not settle, with more robustness.
    ///
    /// Rows hold for short turns. Near a singular pose they ask for long ones, where they are wrong, and a command that follows them would
    /// whip the character.
    pub(super) fn leads_there(
        &mut self,
        at: &ControlContext<'_>,
        active: &ActiveGuide<'_>,
        dynamics: &Dynamics,
    ) -> bool {
        let before = std::mem::replace(&mut self.trust.missed, f64::INFINITY);
        let missed = if is_rash(at, dynamics) { before } else { self.look_ahead(at, active, dynamics) };
        if missed <= STRAIGHT {
            return true;
        }
        if missed < 0.5 * before {
            self.trust.missed = missed;
            return false;
        }
        if missed <= ROUGH {
            return true;
        }
        let above = |level: &u8| *level < self.trust.level;
        self.trust.lower(active.goals(at).map(|goal| goal.level).filter(above).max());
        self.courses.iter_mut().for_each(|course| course.bend = Motion::ZERO);
        false
    }

    /// Finds how the points of goals bend off in a step with the accelerations in `dynamics`; returns the largest change
    /// since the last time, `b h²` in radii of gyration or rad.
    fn look_ahead(&mut self, at: &ControlContext<'_>, active: &ActiveGuide<'_>, dynamics: &Dynamics) -> f64 {
        let h = at.input.dt;
        self.elsewhere.go(at, h, |dof| dynamics.accelerations()[dof]);
        let mut most = 0.0_f64;
        for ((goal, rows), course) in active.goals(at).zip(&self.goals).zip(&mut self.courses) {
            let Some(rows) = rows else { continue };
            let mean = self.elsewhere.mean_motion(at.tree, goal, &course.pose, h);
            let straight = dynamics.acceleration_at(goal.bone, course.pose.translation);
            let bend = (mean - course.coasting) * (1.0 / h) - straight;
            let news = bend - course.bend;
            let news = if rows.angular { news.angular.length() } else { news.linear.length() / self.radius };
            most = most.max(news * h * h);
            course.bend = bend;
        }
        most
    }
}

/// Whether a joint turns further in a step with this command than [`LARGEST_TURN`], and further than it would at its present rate.
fn is_rash(at: &ControlContext<'_>, dynamics: &Dynamics) -> bool {
    let (h, rates, accelerations) = (at.input.dt, &at.state.rates, dynamics.accelerations());
    at.tree.links().any(|link| {
        let turn = |ahead: f64| -> f64 {
            let spin = |dof| dynamics.column(dof).angular * (rates[dof] + ahead * accelerations[dof]);
            h * at.tree.dofs(link).map(spin).sum::<DVec3>().length()
        };
        turn(h) > turn(0.0).max(LARGEST_TURN)
    })
}

/// Driven joints keep their rates, nothing acts on the others.
fn coast(at: &ControlContext<'_>, out: &mut HybridCommand) {
    out.values.fill(0.0);
    for link in at.tree.links() {
        let driven = at.actuation.is_active(link);
        out.modes[link.index()] = if driven { JointMode::Prescribed } else { JointMode::Passive };
    }
}
