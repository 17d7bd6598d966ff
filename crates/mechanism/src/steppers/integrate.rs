//! The end of an implicit step: new poses and twists from the solved twists of the pairs.
//!
//! Bodies move from the state by `h v⁺`, or from the last linearization point by what the solve added to it. Bodies without
//! joints keep energy and momentum by an implicit midpoint step of their rotation ([`Gyroscopic::Auto`]).

use sinew_math::{Motion, Pose, Sym3, Vec3x2, momentum_step, spin_step, turn_x2, twice};
use sinew_topology::NONE;

use crate::prepare::{first_non_finite, increment, move_pose};
use crate::steppers::{PointSolver, SchemeCoefficients, StepTask};
use crate::tree::{BodyLoads, Rotor};
use crate::{BodyId, Gyroscopic, Model, State};

/// What the new poses depend on.
struct Solution<'a> {
    task: &'a StepTask<'a>,
    scheme: &'a SchemeCoefficients<'a>,
    /// New twists, per pair.
    motions: &'a [Motion],
    /// Tell which bodies a companion holds.
    loads: &'a BodyLoads,
}

/// Writes the solution into the state. Returns the first body that is no longer finite.
pub(crate) fn integrate(
    task: &StepTask<'_>,
    scheme: &SchemeCoefficients<'_>,
    state: &mut State,
    (solver, rotors): (&PointSolver<'_>, &[Rotor]),
) -> Option<BodyId> {
    let (model, settings) = (task.model, task.settings);
    solver.tree.store_twists(model, &mut state.twists);
    if scheme.keeps_history {
        let history = &mut state.history;
        history.increments.resize(state.poses.len(), Motion::ZERO);
        history.motions.clone_from(&state.motions);
        history.step = settings.dt;
    } else {
        // The history would no longer be that of the step before.
        state.forget_history();
        if solver.loops.as_ref().is_some_and(|loops| loops.graph.is_some()) {
            state.history.motions.clone_from(&state.motions);
            state.history.step = -settings.dt;
        }
    }
    let solution = Solution { task, scheme, motions: &solver.tree.motions, loads: solver.loads };
    if scheme.keeps_history || settings.gyroscopic == Gyroscopic::Momentum {
        solution.integrate_any(state);
    } else {
        solution.integrate_plain(state);
    }
    rotors.iter().for_each(|rotor| rotor.finish(state, scheme.keeps_history));
    task.place_kinematic(&mut state.poses);
    first_non_finite(state)
}

impl Solution<'_> {
    /// Whether a body has no joint and nothing else that holds it: its rotation keeps energy and momentum.
    fn spins(&self, body: usize) -> bool {
        let StepTask { model, input, settings, .. } = *self.task;
        let is_coupled = || self.loads.is_coupled(model.pair_of_body[body] as usize);
        let is_free = || !is_coupled() && !input.holds(body as u32);
        model.spins_free[body] && settings.gyroscopic == Gyroscopic::Auto && is_free()
    }

    /// The usual case: first order, one solve. Bodies go two by two where both are moved by joints.
    fn integrate_plain(&self, state: &mut State) {
        let (model, h) = (self.task.model, self.scheme.h);
        let mut poses = state.poses.chunks_exact_mut(2);
        let mut motions = state.motions.chunks_exact_mut(2);
        let bodies = poses.by_ref().zip(motions.by_ref()).zip(model.pair_of_body.chunks_exact(2)).enumerate();
        for (chunk, ((poses, motions), pairs)) in bodies {
            let free = &model.spins_free[2 * chunk..2 * chunk + 2];
            let ([p0, p1], [m0, m1], &[a, b]) = (poses, motions, pairs) else { continue };
            if a != NONE && b != NONE && !(free[0] || free[1]) {
                (*m0, *m1) = (self.motions[a as usize], self.motions[b as usize]);
                let angular = Vec3x2::new(m0.angular, m1.angular) * twice(h);
                [p0.rotation, p1.rotation] = turn_x2(angular, p0.rotation, p1.rotation);
                p0.translation += m0.linear * h;
                p1.translation += m1.linear * h;
            } else {
                self.integrate_one(2 * chunk, p0, m0);
                self.integrate_one(2 * chunk + 1, p1, m1);
            }
        }
        if let ([pose], [motion]) = (poses.into_remainder(), motions.into_remainder()) {
            self.integrate_one(model.bodies.len() - 1, pose, motion);
        }
    }

    /// Moves one body by its new twist.
    fn integrate_one(&self, body: usize, pose: &mut Pose, motion: &mut Motion) {
        let (model, h) = (self.task.model, self.scheme.h);
        let pair = model.pair_of_body[body];
        if pair == NONE {
            return;
        }
        *motion = self.motions[pair as usize];
        if self.spins(body) {
            let inertia = principal_inertia(model, body);
            (pose.rotation, motion.angular) = spin_step(&inertia, pose.rotation, motion.angular, h);
            pose.translation += motion.linear * h;
        } else {
            *pose = move_pose(pose, *motion * h);
        }
    }

    /// Any scheme, remembering the increment if the scheme needs it.
    fn integrate_any(&self, state: &mut State) {
        let model = self.task.model;
        for body in 0..state.poses.len() {
            let pair = model.pair_of_body[body];
            if pair == NONE {
                continue;
            }
            let SchemeCoefficients { is_second, h, .. } = self.scheme.of(body);
            let mut motion = self.motions[pair as usize];
            let old = state.poses[body];
            let mut pose = self.scheme.end(state, body, motion);
            let inertia = || principal_inertia(model, body);
            if !is_second && self.task.settings.gyroscopic == Gyroscopic::Momentum {
                (pose.rotation, motion.angular) = momentum_step(&inertia(), old.rotation, motion.angular, h);
            } else if !is_second && self.spins(body) {
                (pose.rotation, motion.angular) = spin_step(&inertia(), old.rotation, motion.angular, h);
            }
            if self.scheme.keeps_history {
                state.history.increments[body] = increment(&old, &pose);
            }
            (state.poses[body], state.motions[body]) = (pose, motion);
        }
    }
}

/// Inertia in the central frame, which is that of the poses.
fn principal_inertia(model: &Model, body: usize) -> Sym3 {
    Sym3::diagonal(model.bodies[body].inertia.moments)
}
