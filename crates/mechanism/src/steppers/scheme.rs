//! Backward Euler and BDF2 as one scheme, and the points it linearizes at.
//!
//! **BDF2 is backward Euler from an extrapolated base.** With `ρ = h/h₀`, `γ = ρ²/(1+2ρ)`, `β = (1+ρ)/(1+2ρ)`:
//! ```text
//! v̂ = v + γ(v − v₋),   q̂ = q ⊕ γΔ,   h' = β h,   M(v⁺ − v̂) = h' F⁺ − Jᵀλ,   q⁺ = q̂ ⊕ h' v⁺,   C(q⁺) = 0
//! ```
//! linearized at `q̂ ⊕ h' v_k` with `v_k = v + ρ(v − v₋)`. An island whose motion is not resolved makes the step with backward Euler
//! (`order_fallback`).

use sinew_math::{Motion, Pose, Vec3x2, turn_x2, twice};
use sinew_topology::NONE;

use crate::input_index::StepInput;
use crate::loops::Refinement;
use crate::model::JointModel;
use crate::prepare::{add_compensation, move_pose, set_targets};
use crate::steppers::{JointCare, OrderFallback, RESOLVED_TURN};
use crate::tree::LinearizationPoint;
use crate::workspace::PointScratch;
use crate::{CouplingPoint, History, Model, Order, Settings, State, Workspace, move_kinematic};

/// Numbers of the scheme for this step.
#[derive(Clone, Copy)]
pub(crate) struct SchemeCoefficients<'a> {
    /// Whether this step is of second order, except for islands that fall back.
    pub(crate) is_second: bool,
    /// What falls back to first order, although there is a history.
    pub(crate) fallback: OrderFallback<'a>,
    /// Whether the next one may be of second order.
    pub(crate) keeps_history: bool,
    /// Whether its twists are those of a straight line from its start to its end. Where steps of second order begin, the twists before and after are
    /// those of a moment.
    pub(crate) bends: bool,
    /// Effective step `β h`.
    pub(crate) h: f64,
    /// `γ`.
    pub(crate) carry: f64,
    /// `ρ`.
    pub(crate) ratio: f64,
    /// Length of the step, s.
    dt: f64,
}

impl<'a> SchemeCoefficients<'a> {
    /// The scheme of this step: second order only where there is a history worth extrapolating.
    pub(crate) fn new(state: &State, order: Order, dt: f64, fallback: OrderFallback<'a>) -> Self {
        let keeps_history = order == Order::Second;
        let history = &state.history;
        let has_history = keeps_history && history.step > 0.0 && history.motions.len() == state.motions.len();
        if !has_history || fallback.is_whole {
            let (is_second, bends, carry, ratio) = (false, has_history || !keeps_history, 0.0, 0.0);
            return Self { is_second, fallback, keeps_history, bends, h: dt, carry, ratio, dt };
        }
        let rho = dt / history.step;
        let denominator = 1.0 + 2.0 * rho;
        Self {
            is_second: true,
            fallback,
            keeps_history,
            bends: false,
            h: dt * (1.0 + rho) / denominator,
            carry: rho * rho / denominator,
            ratio: rho,
            dt,
        }
    }

    /// The scheme of a body's island.
    #[inline]
    pub(crate) fn of(&self, body: usize) -> Self {
        if self.fallback.is_fallen(body) { self.fallen() } else { *self }
    }

    /// The scheme of the island of a joint.
    #[inline]
    pub(crate) fn of_joint(&self, joint: &JointModel) -> Self {
        let is_fallen = |body: u32| self.fallback.is_fallen(body as usize);
        if is_fallen(joint.body1) || is_fallen(joint.body2) { self.fallen() } else { *self }
    }

    /// The scheme of islands that fall back.
    fn fallen(&self) -> Self {
        Self { is_second: false, bends: true, h: self.dt, carry: 0.0, ratio: 0.0, ..*self }
    }

    /// Gives `change` those of the multipliers of the loops that belong to islands that fall back, and how much longer the step is for them.
    pub(crate) fn lengthen(&self, model: &Model, multipliers: &mut [f64], change: impl Fn(&mut f64, f64)) {
        if self.fallback.bodies().is_some() {
            let share = self.dt / self.h;
            let multipliers = multipliers.iter_mut().zip(model.multiplier_bodies());
            let fallen = multipliers.filter(|&(_, body)| self.fallback.is_fallen(body as usize));
            fallen.for_each(|(multiplier, _)| change(multiplier, share));
        }
    }

    /// The longest effective step of all islands, s.
    pub(crate) fn longest(&self) -> f64 {
        if self.fallback.bodies().is_some() { self.dt } else { self.h }
    }

    /// The twist that a body is expected to have at the end of a first-order step: that of its start, and what the step before has changed
    /// in it, if that is known and was resolved.
    pub(crate) fn expected(&self, state: &State, body: usize) -> Motion {
        let now = state.motions[body];
        let History { step, motions, .. } = &state.history;
        let Some(before) = motions.get(body).filter(|_| *step < 0.0) else { return now };
        let change = (now - *before) * (-self.h / step);
        if change.angular.length() * self.h < RESOLVED_TURN { now + change } else { now }
    }

    /// Where a body is at the end of the step, if it moves with a twist.
    pub(crate) fn end(&self, state: &State, body: usize, motion: Motion) -> Pose {
        let (pose, Self { is_second, carry, h, .. }) = (&state.poses[body], self.of(body));
        if is_second {
            let carried = move_pose(pose, state.history.increments[body] * carry);
            move_pose(&carried, motion * h)
        } else {
            move_pose(pose, motion * h)
        }
    }

    /// What a companion needs to know of a linearization point.
    pub(crate) fn coupling_point<'b>(
        &self,
        at: &LinearizationPoint<'b>,
        settings: &Settings,
        is_again: bool,
    ) -> CouplingPoint<'b> {
        let (scheme, at) = match at.fallen_point().filter(|_| self.fallback.has_companion) {
            Some(fallen) => (self.fallen(), fallen),
            None => (*self, *at),
        };
        CouplingPoint {
            poses: at.measured_poses(),
            motions: at.motions,
            is_ahead: at.displaced.is_some(),
            is_again,
            keeps_directions: at.measured.is_some(),
            is_same: false,
            has_loops: false,
            h: scheme.h,
            dt: settings.dt,
            carry: scheme.carry,
            ratio: scheme.ratio,
            gravity: settings.gravity,
        }
    }
}

impl PointScratch {
    /// Room for the points that the scheme needs.
    pub(crate) fn prepare(&mut self, scheme: &SchemeCoefficients<'_>, n: usize) {
        if scheme.keeps_history {
            self.resize(n);
            self.base.resize(n, Motion::ZERO);
        }
    }

    /// Room for one displaced point.
    fn resize(&mut self, n: usize) {
        self.poses.resize(n, Pose::IDENTITY);
        self.velocities.resize(n, Motion::ZERO);
    }

    /// Predicted end of a second-order step; islands that fall back stay at its start.
    pub(crate) fn extrapolate(
        &mut self,
        task: &StepTask<'_>,
        state: &State,
        scheme: &SchemeCoefficients<'_>,
    ) {
        for body in 0..state.poses.len() {
            if task.model.pair_of_body[body] == NONE || scheme.fallback.is_fallen(body) {
                self.poses[body] = state.poses[body];
                self.velocities[body] = state.motions[body];
                self.base[body] = state.motions[body];
                continue;
            }
            let (now, before) = (state.motions[body], state.history.motions[body]);
            let change = now - before;
            self.base[body] = now + change * scheme.carry;
            let guess = now + change * scheme.ratio;
            self.velocities[body] = guess;
            let carried = move_pose(&state.poses[body], state.history.increments[body] * scheme.carry);
            self.poses[body] = move_pose(&carried, guess * scheme.h);
        }
        task.place_kinematic(&mut self.poses);
    }

    /// The end of the step that the solved `motions` (per pair) lead to.
    pub(crate) fn move_ends(
        &mut self,
        task: &StepTask<'_>,
        state: &State,
        scheme: &SchemeCoefficients<'_>,
        motions: &[Motion],
    ) {
        let pairs = &task.model.pair_of_body;
        self.ends.clone_from(&state.poses);
        self.velocities.clear();
        let velocities = pairs.iter().zip(&state.motions);
        self.velocities
            .extend(velocities.map(|(&pair, given)| motions.get(pair as usize).copied().unwrap_or(*given)));
        if scheme.is_second {
            for body in (0..pairs.len()).filter(|&body| pairs[body] != NONE) {
                self.ends[body] = scheme.end(state, body, self.velocities[body]);
            }
        } else {
            move_two_by_two(pairs, &self.velocities, scheme.h, &mut self.ends);
        }
        task.place_kinematic(&mut self.ends);
    }
}

/// Moves the bodies of pairs by `h v`.
fn move_two_by_two(pairs: &[u32], velocities: &[Motion], h: f64, poses: &mut [Pose]) {
    let chunks = poses.chunks_mut(2).zip(velocities.chunks(2)).zip(pairs.chunks(2));
    for ((poses, velocities), pairs) in chunks {
        if let ([p0, p1], [v0, v1], [a, b]) = (&mut *poses, velocities, pairs)
            && *a != NONE
            && *b != NONE
        {
            let angular = Vec3x2::new(v0.angular, v1.angular) * twice(h);
            [p0.rotation, p1.rotation] = turn_x2(angular, p0.rotation, p1.rotation);
            p0.translation += v0.linear * h;
            p1.translation += v1.linear * h;
            continue;
        }
        for ((pose, velocity), _) in
            poses.iter_mut().zip(velocities).zip(pairs).filter(|(_, pair)| **pair != NONE)
        {
            *pose = move_pose(pose, *velocity * h);
        }
    }
}

/// Model, input and settings of one step.
#[derive(Clone, Copy)]
pub(crate) struct StepTask<'a> {
    pub(crate) model: &'a Model,
    pub(crate) input: StepInput<'a>,
    pub(crate) settings: &'a Settings,
    /// Whether the step is not to be made if it leaves joints open.
    pub(crate) is_tentative: bool,
    /// What is done about its joints beside its solves.
    pub(crate) care: JointCare,
    /// Whether Newton iterations may linearize where the step ends, which damps: not while it can be divided instead.
    pub(crate) may_damp: bool,
    /// Share of a whole step that is made.
    pub(crate) share: f64,
}

impl StepTask<'_> {
    /// Puts kinematic bodies where they are at the end of the step.
    pub(crate) fn place_kinematic(&self, poses: &mut [Pose]) {
        for (body, goal) in self.input.goals(self.model) {
            poses[body] = goal;
        }
    }
}

/// A step under way.
pub(crate) struct ActiveStep<'a, 'b> {
    pub(crate) task: StepTask<'a>,
    pub(crate) state: &'a mut State,
    pub(crate) workspace: &'a mut Workspace,
    pub(crate) run: &'a mut Refinement<'b>,
}

impl StepTask<'_> {
    /// Whether joints that are open stay so, to be closed by displacements after the step.
    pub(crate) fn mends(&self) -> bool {
        self.care == JointCare::Mended
    }
}

impl ActiveStep<'_, '_> {
    /// Takes twists of kinematic bodies and motor targets from the input.
    pub(crate) fn take_input(&mut self) {
        let StepTask { model, input, settings, .. } = self.task;
        move_kinematic(model, self.state, &input, settings.dt);
        set_targets(model, &input, &mut self.workspace.targets);
        add_compensation(model, &self.state.poses, settings.gravity, &mut self.workspace.targets);
    }
}
