//! The run time: one call per step turns a score, a state and what acts on it into a command.

use std::sync::Arc;

use glam::DVec3;
use sinew_math::Pose;
use sinew_recursive::{Dynamics, HybridCommand, JointMode, LinkId, Springs, Tree, TreeState};

use crate::actuation::Actuation;
use crate::error::ControlError;
use crate::goal::{Aim, Goal, Place, Sight};
use crate::guidance::{Guidance, Task};
use crate::landing;
use crate::playback::Player;
use crate::report::{ControlReport, GoalReport};
use crate::saturation::Saturation;
use crate::score::{Act, Score};
use crate::situation::{Moment, Situation};

/// What control remembers from one step to the next. Plain data: with it, the state of the tree and the score, a run goes on with the
/// same bits.
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ControllerState {
    /// The phase that the score is in; `None` before the first one.
    pub phase: Option<usize>,
    /// Time of the score at which the phase was entered (s).
    pub entered: f64,
    /// Per goal of the phase: the bone as it was then, the translation being the place of the goal's point (world axes).
    pub held: Vec<Pose>,
    /// Where a clip that begins wherever the joints are found them then: displacements and rates beside the clip, per dof.
    pub gap: Vec<f64>,
}

/// A score for one tree, ready to give commands. Everything beside score and actuation is scratch: losing it changes no result.
/// Clones share the score, however long its paths.
#[derive(Clone, Debug)]
pub struct Controller {
    actuation: Actuation,
    score: Arc<Score>,
    dynamics: Dynamics,
    guidance: Guidance,
    saturation: Saturation,
    player: Player,
}

impl Controller {
    /// Checks a score against a tree.
    ///
    /// # Errors
    /// Names the phase and what is wrong in it: an unknown bone, a number out of range, times out of order, sizes of another tree.
    pub fn new(tree: &Tree, actuation: Actuation, score: Score) -> Result<Self, ControlError> {
        if !actuation.fits(tree) {
            let (found, expected) = (actuation.n_dofs(), tree.n_dofs());
            return Err(ControlError::WrongSize { what: "actuation", index: 0, found, expected });
        }
        score.check(tree)?;
        let mut dynamics = Dynamics::new(tree);
        let guidance = Guidance::new(tree, &mut dynamics);
        let saturation = Saturation::new(tree, actuation.has_torque_limits());
        let (score, player) = (Arc::new(score), Player::new(tree));
        Ok(Self { actuation, score, dynamics, guidance, saturation, player })
    }

    /// What the joints can do.
    #[must_use]
    pub fn actuation(&self) -> &Actuation {
        &self.actuation
    }

    /// The score.
    #[must_use]
    pub fn score(&self) -> &Score {
        &self.score
    }

    /// Fills `out` with the command for a step that begins in `state`, and moves `control` on to the phase of the moment. Allocates
    /// nothing once every phase has been seen.
    ///
    /// # Panics
    /// If an argument belongs to another tree.
    pub fn command(
        &mut self,
        tree: &Tree,
        state: &TreeState,
        moment: &Moment<'_>,
        control: &mut ControllerState,
        out: &mut HybridCommand,
    ) -> ControlReport {
        assert!(self.actuation.fits(tree), "controller of another tree");
        let mut report = ControlReport::default();
        let time = self.score.warp.at(moment.time)[0];
        let at = Situation { tree, actuation: &self.actuation, state, moment, time };
        out.modes.resize(tree.n_links(), JointMode::Passive);
        out.values.resize(tree.n_dofs(), 0.0);
        if !at.is_finite() {
            report.phase = control.phase;
            report.not_finite = true;
            report.ignored_drags = moment.drags.len();
            stop(out);
            return report;
        }
        self.dynamics.kinematics(tree, state);
        enter(&self.score, &at, &self.dynamics, control);
        report.phase = control.phase;
        self.saturation.begin();
        let act = control.phase.map_or(&Act::Passive, |phase| &self.score.phases[phase].act);
        if !matches!(act, Act::Guide(_)) {
            report.ignored_drags = moment.drags.len();
        }
        match act {
            Act::Passive => passive(&at, out),
            Act::Land(springs) => {
                landing::command(springs, &at, out);
                self.saturation.apply(&at, &mut self.dynamics, out);
            }
            Act::Keyframes(playback) => {
                self.player.command(&at, playback, control, &self.score.warp, out);
                self.saturation.apply(&at, &mut self.dynamics, out);
            }
            Act::Guide(guide) => {
                let task = Task { guide, held: &control.held, age: time - control.entered };
                let (dynamics, saturation) = (&mut self.dynamics, &mut self.saturation);
                self.guidance.command(&at, &task, dynamics, saturation, out, &mut report);
            }
        }
        report.saturated = self.saturation.count();
        if !out.values.iter().all(|x| x.is_finite()) {
            report.not_finite = true;
            stop(out);
        }
        report
    }

    /// The springs of a landing, if that is the phase; see [`Moment::implicit_springs`].
    #[must_use]
    pub fn springs(&self, control: &ControllerState) -> Option<&Springs> {
        match &self.score.phases.get(control.phase?)?.act {
            Act::Land(springs) => Some(springs),
            _ => None,
        }
    }

    /// Drags of the phase that a score is in, at a time of the run (s): the goal, and the place that it leads its point to, world axes.
    pub fn drags<'a>(
        &'a self,
        control: &'a ControllerState,
        time: f64,
    ) -> impl Iterator<Item = (&'a Goal, DVec3)> {
        let time = self.score.warp.at(time)[0];
        let goals = match control.phase.and_then(|phase| self.score.phases.get(phase)).map(|phase| &phase.act)
        {
            Some(Act::Guide(guide)) => guide.goals.as_slice(),
            _ => &[],
        };
        goals.iter().zip(&control.held).filter_map(move |(goal, held)| match &goal.aim {
            Aim::Position(place @ (Place::Along(_) | Place::Beside(_) | Place::At(_))) => {
                Some((goal, place.at(held.translation, time)))
            }
            _ => None,
        })
    }

    /// How the goals fared in the last command of a guiding phase: those of the score, then live drags.
    #[must_use]
    pub fn goal_reports(&self) -> &[GoalReport] {
        self.guidance.goal_reports()
    }

    /// Whether the torque of a joint was held at its limit in the last command.
    #[must_use]
    pub fn is_saturated(&self, link: LinkId) -> bool {
        self.saturation.holds(link)
    }
}

/// Moves on to the phase of the moment; a phase that begins keeps the bones of its goals in mind.
fn enter(score: &Score, at: &Situation<'_>, dynamics: &Dynamics, control: &mut ControllerState) {
    let phase = score.phase_at(at.time);
    let goals = match phase.map(|phase| &score.phases[phase].act) {
        Some(Act::Guide(guide)) => guide.goals.as_slice(),
        _ => &[],
    };
    if phase == control.phase && control.held.len() == goals.len() {
        return;
    }
    control.phase = phase;
    control.entered = at.time;
    control.held.clear();
    control.held.extend(goals.iter().map(|goal| Sight::new(at.tree, dynamics, goal).pose));
    control.gap.clear();
    if let Some(Act::Keyframes(playback)) = phase.map(|phase| &score.phases[phase].act)
        && playback.from_here
    {
        let pace = score.warp.at(at.moment.time)[1];
        playback.clip.gap(at.tree, at.state, [at.time, pace], &mut control.gap);
    }
}

fn passive(at: &Situation<'_>, out: &mut HybridCommand) {
    out.modes.fill(JointMode::Passive);
    for link in at.tree.links() {
        let driven = at.actuation.is_active(link);
        for dof in at.tree.dofs(link) {
            out.values[dof] = if driven { 0.0 } else { at.moment.torque(dof) };
        }
    }
}

/// No torques anywhere.
fn stop(out: &mut HybridCommand) {
    out.modes.fill(JointMode::Passive);
    out.values.fill(0.0);
}
