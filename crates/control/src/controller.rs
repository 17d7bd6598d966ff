//! The controller: computes the command of each step from a score, a state and an input.
//!
//! Cost: that of guidance in a guiding phase, otherwise linear in links. Never fails; a state, input or command that is
//! not finite gives a passive command without torques, and is reported.

use std::sync::Arc;

use glam::DVec3;
use sinew_mechanism::JointId;
use sinew_recursive::{Dynamics, HybridCommand, JointMode, LinkId, LoopedTree, Springs, TreeState};

use crate::goal::{Aim, Goal, GoalPoint, GoalTimes};
use crate::guidance::{ActiveGuide, Guidance};
use crate::input::{ControlContext, ControlInput};
use crate::report::{ControlReport, GoalReport};
use crate::score::{Act, Score};
use crate::{
    actuation::Actuation, controller_state::ControllerState, error::ControlError, landing, plant::Plant,
    playback::Player, saturation::Saturation,
};

/// A score for one tree, ready to give commands. Everything but score and actuation is scratch. Clones share the score.
#[derive(Clone, Debug)]
pub struct Controller {
    actuation: Actuation,
    score: Arc<Score>,
    plant: Plant,
    guidance: Guidance,
    saturation: Saturation,
    player: Player,
}

impl Controller {
    /// Checks a score against a tree. Loops that close in it are kept by every command.
    ///
    /// # Errors
    /// Names the phase and what is wrong in it: an unknown bone, a number out of range, times out of order, sizes of
    /// another tree.
    pub fn new(looped: &LoopedTree, actuation: Actuation, score: Score) -> Result<Self, ControlError> {
        let tree = looped.tree();
        if !actuation.fits(tree) {
            let (found, expected) = (actuation.n_dofs(), tree.n_dofs());
            return Err(ControlError::WrongSize { what: "actuation", index: 0, found, expected });
        }
        score.check(tree)?;
        let mut plant = Plant::new(looped);
        let guidance = Guidance::new(tree, &mut plant.dynamics);
        let saturation = Saturation::new(tree, actuation.has_torque_limits());
        let (score, player) = (Arc::new(score), Player::new(tree));
        Ok(Self { actuation, score, plant, guidance, saturation, player })
    }

    /// The actuators.
    pub fn actuation(&self) -> &Actuation {
        &self.actuation
    }

    /// Lets the joints go that close loops and that `is_released` names; the others hold.
    pub fn release(&mut self, looped: &LoopedTree, is_released: impl Fn(JointId) -> bool) {
        self.plant.release(looped, is_released);
    }

    /// The score.
    pub fn score(&self) -> &Score {
        &self.score
    }

    /// Fills `out` with the command for a step that begins in `state`, and moves `control` on to the phase of the
    /// present time. Allocates nothing once every phase has been seen.
    ///
    /// # Panics
    /// If an argument belongs to another tree.
    pub fn command(
        &mut self,
        looped: &LoopedTree,
        state: &TreeState,
        input: &ControlInput<'_>,
        control: &mut ControllerState,
        out: &mut HybridCommand,
    ) -> ControlReport {
        let tree = looped.tree();
        assert!(self.actuation.fits(tree), "the controller belongs to another tree");
        let mut report = ControlReport { ignored_drags: input.drags.len(), ..ControlReport::default() };
        let score = [-input.dt, 0.0, input.dt].map(|offset| self.score.warp.at(input.time + offset)[0]);
        let step = GoalTimes { score, dt: input.dt, up: (-input.gravity).normalize_or(DVec3::Z) };
        let at = ControlContext { looped, tree, actuation: &self.actuation, state, input, step };
        out.modes.resize(tree.n_links(), JointMode::Passive);
        out.values.resize(tree.n_dofs(), 0.0);
        if !at.is_finite() {
            report.phase = control.phase;
            report.not_finite = true;
            clear(out);
            return report;
        }
        self.plant.kinematics(looped, state);
        enter(&self.score, &at, &self.plant.dynamics, control);
        self.saturation.begin();
        self.guidance.forget_goals();
        let act = control.phase.map_or(&Act::Passive, |phase| &self.score.phases[phase].act);
        match act {
            Act::Passive => passive(&at, out),
            Act::Land(springs) => {
                landing::command(springs, &at, out);
                self.saturation.apply(&at, &mut self.plant, out);
            }
            Act::Keyframes(playback) => {
                report.missed_key = self.player.command(&at, playback, control, &self.score.warp, out);
                self.guidance.agree_with_loops(&at, &mut self.plant, out);
                self.saturation.apply(&at, &mut self.plant, out);
            }
            Act::Guide(guide) => {
                let active = ActiveGuide { guide, held: &control.held, age: at.time() - control.entered };
                let (plant, saturation) = (&mut self.plant, &mut self.saturation);
                report = self.guidance.command(&at, &active, plant, saturation, out);
            }
        }
        self.plant.drive_loops(&at, out);
        report.phase = control.phase;
        report.saturated = self.saturation.count();
        if !out.values.iter().all(|x| x.is_finite()) {
            report.not_finite = true;
            clear(out);
        }
        report
    }

    /// The springs of the present phase, if it is a landing; see [`ControlInput::implicit_springs`].
    pub fn springs(&self, control: &ControllerState) -> Option<&Springs> {
        match &self.score.phases.get(control.phase?)?.act {
            Act::Land(springs) => Some(springs),
            _ => None,
        }
    }

    /// Drags of the present phase at a time of the run (s): each goal with the target of its point, world axes.
    pub fn drags<'a>(
        &'a self,
        control: &'a ControllerState,
        time: f64,
    ) -> impl Iterator<Item = (&'a Goal, DVec3)> {
        let time = self.score.warp.at(time)[0];
        self.goals(control).iter().zip(&control.held).filter_map(move |(goal, held)| match &goal.aim {
            Aim::Position(place) if goal.is_drag() => Some((goal, place.at(held.translation, time))),
            _ => None,
        })
    }

    /// Goals of the present phase that keep something and drag nothing.
    pub fn constraints<'a>(&'a self, control: &ControllerState) -> impl Iterator<Item = &'a Goal> {
        self.goals(control).iter().filter(|goal| !goal.is_drag())
    }

    /// Goals of the present phase.
    fn goals(&self, control: &ControllerState) -> &[Goal] {
        match control.phase.and_then(|phase| self.score.phases.get(phase)).map(|phase| &phase.act) {
            Some(Act::Guide(guide)) => guide.goals.as_slice(),
            _ => &[],
        }
    }

    /// Reports on the goals of the last command, if it guided: those of the score, then live drags.
    pub fn goal_reports(&self) -> &[GoalReport] {
        self.guidance.goal_reports()
    }

    /// The bone of the first goal of the score that the last command did not lead to.
    pub fn missing(&self, control: &ControllerState) -> Option<LinkId> {
        let mut goals = self.goals(control).iter().zip(self.goal_reports());
        goals.find(|(_, report)| report.is_missed).map(|(goal, _)| goal.bone)
    }

    /// Whether the torque of a joint was held at its limit in the last command.
    pub fn is_saturated(&self, link: LinkId) -> bool {
        self.saturation.holds(link)
    }
}

/// Moves on to the phase of the present time. A phase that begins stores the poses of the bones of its goals.
fn enter(score: &Score, at: &ControlContext<'_>, dynamics: &Dynamics, control: &mut ControllerState) {
    let phase = score.phase_at(at.time());
    let goals = match phase.map(|phase| &score.phases[phase].act) {
        Some(Act::Guide(guide)) => guide.goals.as_slice(),
        _ => &[],
    };
    if phase == control.phase && control.held.len() == goals.len() {
        return;
    }
    control.phase = phase;
    control.entered = at.time();
    control.held.clear();
    control.held.extend(goals.iter().map(|goal| GoalPoint::new(at.tree, dynamics, goal).pose));
    control.gap.clear();
    if let Some(Act::Keyframes(playback)) = phase.map(|phase| &score.phases[phase].act)
        && playback.from_here
    {
        let speed = score.warp.at(at.input.time)[1];
        playback.clip.gap(at.tree, at.state, [at.time(), speed], &mut control.gap);
    }
}

fn passive(at: &ControlContext<'_>, out: &mut HybridCommand) {
    out.modes.fill(JointMode::Passive);
    for link in at.tree.links() {
        let driven = at.actuation.is_active(link);
        for dof in at.tree.dofs(link) {
            out.values[dof] = if driven { 0.0 } else { at.input.torque(dof) };
        }
    }
}

/// All joints passive without torques.
fn clear(out: &mut HybridCommand) {
    out.modes.fill(JointMode::Passive);
    out.values.fill(0.0);
}
