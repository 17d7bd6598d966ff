//! Substeps: a step that cannot close its joints is made again in halves.
//!
//! Time within the step is counted in the smallest substeps, so that the parts of a step always add up to it. A part that fails is
//! halved; after a success the next part may be twice as long again. Where halving does not help (joints that contradict each
//! other), the rest of the step goes on without it. Joints that are visibly open before or after that are closed by displacements: closing
//! them within the step would take speeds that nobody asked for. The parts depend on state, input and settings alone: a replay makes the same
//! ones.
//!
//! Kinematic bodies, drives, motor targets and lengths of ropes move evenly through the parts of a step; wrenches and grabs act in all of them.

use crate::input::{Input, central_goal};
use crate::joints::Drive;
use crate::model::{JointId, Model, State};
use crate::prepare::{increment, move_pose};

/// Parts that a step is divided into before it may be damped.
pub(crate) const UNDAMPED: u32 = 4;

/// A halved part must leave less than this share of the error that the whole left.
const IMPROVEMENT: f64 = 0.7;

/// Halvings of one step that may be of no use.
const MOST_WASTED: u32 = 2;

/// A part that was not made, because joints are or would be left open.
pub(crate) struct NotMade {
    /// Solves that were spent.
    pub(crate) solves: u32,
    /// The joint that is or would be open the most, where displacements close it.
    pub(crate) worst: Option<JointId>,
    pub(crate) remedy: Remedy,
}

/// What is to be done about it.
pub(crate) enum Remedy {
    /// Make it in halves; it would leave this joint error.
    Divide(f64),
    /// Close the joints by displacements before it is made again.
    Assemble,
    /// Make it with the joints as they are, and close them by displacements after it.
    Mend,
    /// Break this joint, which is pulled apart, and make it without.
    Break(JointId),
}

/// What is done about the joints of a part beside its solves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JointCare {
    Nothing,
    /// Displacements have closed them, as far as they could, before it.
    Assembled,
    /// Displacements close them after it; the part leaves their errors as they are.
    Mended,
}

/// The parts of one step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Substeps {
    /// In the smallest parts: the whole step, what is done, the next part.
    whole: u32,
    done: u32,
    next: u32,
    /// Error that the last part which failed has left.
    failed: f64,
    /// Halvings that did not help.
    wasted: u32,
    can_halve: bool,
    /// Of the next part.
    care: JointCare,
}

impl Substeps {
    /// One part as long as the step, which may be halved until there are `most` (a power of two, or the next below).
    pub(crate) fn new(most: u32) -> Self {
        let whole = if most > 1 { 1 << most.ilog2().min(16) } else { 1 };
        Self {
            whole,
            done: 0,
            next: whole,
            failed: f64::INFINITY,
            wasted: 0,
            can_halve: whole > 1,
            care: JointCare::Nothing,
        }
    }

    /// Length of the next part of a step of length `dt`, s.
    pub(crate) fn length(&self, dt: f64) -> f64 {
        if self.next == self.whole { dt } else { dt * f64::from(self.next) / f64::from(self.whole) }
    }

    /// The next part was not made: it is made again in another way.
    pub(crate) fn remedy(&mut self, remedy: Remedy) {
        match remedy {
            Remedy::Divide(error) => self.fail(error),
            Remedy::Assemble => self.care = JointCare::Assembled,
            Remedy::Mend => self.care = JointCare::Mended,
            // That is another mechanism.
            Remedy::Break(_) => {
                (self.failed, self.wasted, self.care) = (f64::INFINITY, 0, JointCare::Nothing);
                self.can_halve = self.whole > 1;
            }
        }
    }

    /// The next part has left the joints open by an error: halves, as long as these help.
    fn fail(&mut self, error: f64) {
        self.wasted += u32::from(error > IMPROVEMENT * self.failed);
        self.failed = error;
        if self.wasted > MOST_WASTED {
            self.can_halve = false;
        } else {
            self.next /= 2;
        }
    }

    /// Whether the next part may be damped to close its joints, instead of being divided.
    pub(crate) fn may_damp(&self) -> bool {
        !self.is_tentative() || self.next * UNDAMPED <= self.whole
    }

    /// What is done about the joints of the next part.
    pub(crate) fn care(&self) -> JointCare {
        self.care
    }

    /// Whether a part that fails can be made again.
    pub(crate) fn is_tentative(&self) -> bool {
        self.can_halve && self.next > 1
    }

    /// The next part is done; true if the step is.
    pub(crate) fn advance(&mut self) -> bool {
        self.done += self.next;
        (self.failed, self.care) = (f64::INFINITY, JointCare::Nothing);
        // Twice as long, where that ends on a multiple of itself.
        if self.done.is_multiple_of(2 * self.next) && self.done + 2 * self.next <= self.whole {
            self.next *= 2;
        }
        self.done >= self.whole
    }

    /// Whether the next part is not the whole step.
    pub(crate) fn is_divided(&self) -> bool {
        self.next < self.whole
    }

    /// Makes the input of the next part, unless that is the whole step.
    pub(crate) fn fill_input(
        &self,
        model: &Model,
        state: &State,
        input: &Input,
        dt: f64,
        part: &mut Option<Box<Input>>,
    ) {
        if !self.is_divided() {
            return;
        }
        let part = part.get_or_insert_default();
        let share = f64::from(self.next) / f64::from(self.whole - self.done);
        let left = dt * f64::from(self.whole - self.done - self.next) / f64::from(self.whole);
        fill_part_input(model, state, input, [share, left], part);
    }
}

/// Writes the input of a part of a step: `share` is its length as a part of what is left of the step, `left` the time that is left after it, s. Kinematic
/// bodies, drives, motor targets and lengths of ropes move evenly through the parts; wrenches and grabs act in all of them.
pub fn fill_part_input(
    model: &Model,
    state: &State,
    input: &Input,
    [share, left]: [f64; 2],
    part: &mut Input,
) {
    part.clone_from(input);
    for entry in &mut part.kinematic {
        if let Some((body, goal)) = central_goal(model, entry) {
            let now = state.poses[body];
            entry.1 = move_pose(&now, increment(&now, &goal) * share)
                .compose(&model.bodies[body].central.inverse());
        }
    }
    if left > 0.0 {
        // These belong to the end of the whole step.
        part.kinematic_twists.clear();
    }
    for (_, drive) in &mut part.drives {
        let Drive { value, rate, acceleration, .. } = *drive;
        drive.value = value - left * (rate - 0.5 * left * acceleration);
        drive.rate = rate - left * acceleration;
    }
    for (_, target) in &mut part.motors {
        target.position -= left * target.velocity;
    }
    for (_, length) in &mut part.lengths {
        length.position -= left * length.velocity;
    }
}
