//! Implicit steps under the commands of a score: bodies, flesh and contacts in one solve, actuators as laws inside their joints.
//!
//! A command is a function of what acts on the character beside its actuators ([`crate::ReducedModel`]), and that depends on the command: who
//! pushes the ground is pushed back. So a step is tried, what acted is measured, and the command is given again, until it stays. With the
//! tree of the skeleton that carries its flesh, at the beginning of the step,
//! ```text
//! d(x) = M q̈ + b − τ        q̈ = (q̇⁺ − q̇)/h        x = command(d)
//! ```
//! `q̇⁺` are the rates that the implicit step with the command `x` ends with, `τ` the torques of the actuators in it. The unknown `d`, one
//! number per degree of freedom, is found by Anderson's method (`settling`); the step before gives the first guess.
//!
//! | joint | law inside it |
//! |---|---|
//! | prescribed or driven, acceleration `q̈` | the rate `q̇ + h q̈`, to a millionth |
//! | actuator with a torque | that torque; springs of a landing at the end of the step |
//! | passive | its own forces |
//!
//! On a loop, rates of some joints follow from those of others (`following`): these have the torque of the command instead of its rate.
//!
//! After the step bodies are put on the joints of the tree and on the loops to rounding, and the fixed nodes of flesh with them; their twists stay.
//! World axes, SI. Cost: one to [`MOST_TRIALS`] implicit steps, one where the command does not ask for `d`; nothing allocates once warm.

mod following;
mod settling;
mod workspace;

use glam::DVec3;
use sinew_control::{ControlInput, ControllerState};
use sinew_fem::FemState;
use sinew_flesh::{FleshState, NodeHistory};
use sinew_math::{Force, Motion, shift_force, shift_motion};
use sinew_mechanism::{BodyId, Servo};
use sinew_recursive::{Dynamics, JointMode, LinkId, Tree, TreeLoads};

use self::workspace::ActuatorLaw;
pub(crate) use self::workspace::ScoredWorkspace;
use crate::reduced::drags;
use crate::step::StepCall;
use crate::{ReducedModel, State, StepReport};

/// Implicit steps at most.
const MOST_TRIALS: u32 = 6;

/// Change of a command that is left alone: what it moves a joint by in the step, rad or m.
const SETTLED: f64 = 3e-5;

/// How much more inertia a prescribed joint seems to have than the whole character.
const HARD: f64 = 1e6;

impl StepCall<'_> {
    /// An implicit step under the commands of a score.
    pub(crate) fn step_scored(&mut self, reduced: &ReducedModel, bodies: &sinew_mechanism::Settings) {
        let slot = self.workspace.scored.take();
        let mut work = slot.unwrap_or_else(|| Box::new(ScoredWorkspace::new(reduced, self.state)));
        work.begin(reduced, self);
        let mut bodies = *bodies;
        bodies.reactions = true;
        work.give_command(reduced, self);
        for trial in 1..=MOST_TRIALS {
            work.write_servos(reduced, self);
            let call = StepCall {
                model: self.model,
                input: &work.input,
                settings: self.settings,
                state: self.state,
                workspace: self.workspace,
                watch: self.watch,
                report: StepReport { health: self.report.health, ..StepReport::default() },
            };
            let report = call.made_without_score(&bodies);
            (self.report.mechanism, self.report.flesh) = (report.mechanism, report.flesh);
            self.report.effort.substeps = trial;
            work.measure(reduced, self);
            let [tried, next] = &mut work.rates;
            std::mem::swap(tried, next);
            if trial == MOST_TRIALS || report.mechanism.non_finite.is_some() {
                break;
            }
            work.give_command(reduced, self);
            if work.is_settled(self.settings.dt) {
                break;
            }
            restore(&work.start, self.state);
        }
        work.finish(reduced, self);
        self.workspace.scored = Some(work);
    }
}

/// Goes back to where a step began; the controller keeps its phase, which a second command does not change.
fn restore(start: &State, state: &mut State) {
    state.bodies.clone_from(&start.bodies);
    copy_flesh(&start.flesh, &mut state.flesh);
}

/// Copies flesh into memory that is there.
fn copy_flesh(from: &FleshState, to: &mut FleshState) {
    let FleshState { nodes, history, anchors, body_anchors } = from;
    for (FemState { positions, velocities, flow }, to) in nodes.iter().zip(&mut to.nodes) {
        to.positions.clone_from(positions);
        to.velocities.clone_from(velocities);
        to.flow.clone_from(flow);
    }
    for (NodeHistory { velocities, increments }, to) in history.iter().zip(&mut to.history) {
        to.velocities.clone_from(velocities);
        to.increments.clone_from(increments);
    }
    to.anchors.clone_from(anchors);
    to.body_anchors.clone_from(body_anchors);
}

impl ScoredWorkspace {
    /// Reads the state, and takes the first guess of what acts.
    fn begin(&mut self, reduced: &ReducedModel, call: &StepCall<'_>) {
        let tree = reduced.tree();
        self.start.bodies.clone_from(&call.state.bodies);
        copy_flesh(&call.state.flesh, &mut self.start.flesh);
        self.tree_state.read_mechanism(tree, &call.state.bodies);
        let looped = reduced.looped();
        self.loops.release(looped, |joint| call.input.released.contains(&joint));
        self.command.modes.fill(JointMode::Passive);
        let Self { loops, dynamics, command, tree_state, following, controller, .. } = self;
        loops.project_coordinates(looped, dynamics, command, tree_state);
        if let Some(controller) = controller {
            controller.release(looped, |joint| call.input.released.contains(&joint));
            let actuation = controller.actuation();
            following.choose(looped, dynamics, loops, |dof| actuation.is_active(tree.link_of_dof(dof)));
        }
        for link in tree.links() {
            fill_gradients(tree, &self.dynamics, link, &mut self.gradients);
        }
        self.drags.clear();
        self.drags.extend(drags(call.model.mechanism(), tree, call.input));
        self.settling.begin(tree.n_dofs(), &call.state.control.pushes);
    }

    /// Commands of the actuators under the present guess, as laws and rates.
    fn give_command(&mut self, reduced: &ReducedModel, call: &mut StepCall<'_>) {
        let (tree, h) = (reduced.tree(), call.settings.dt);
        let Some(controller) = &mut self.controller else { return };
        fill_external(tree, &self.dynamics, &self.gradients, self.settling.guess(), &mut self.external);
        let gravity = call.settings.gravity;
        let given = ControlInput {
            external: &self.external,
            drags: &self.drags,
            ..ControlInput::new(self.start.bodies.time, h, gravity)
        };
        let control = &mut call.state.control;
        let commanded =
            controller.command(reduced.looped(), &self.tree_state, &given, control, &mut self.command);
        call.report.effort.note_command(tree, controller, control, &commanded);
        call.report.health.ignored_inputs = commanded.ignored_drags as u32;
        // A joint that is locked because it is singular is so in the step, too.
        self.dynamics.kinematics(tree, &self.tree_state);
        let loads = TreeLoads { gravity, external: &self.external, ..TreeLoads::default() };
        let _ = self.loops.respond(reduced.looped(), &mut self.dynamics, &self.command, &loads);
        self.fill_laws(reduced, &call.state.control, h);
    }

    /// The command as laws inside joints, and the rates that it asks for.
    fn fill_laws(&mut self, reduced: &ReducedModel, control: &ControllerState, h: f64) {
        let Some(controller) = &self.controller else { return };
        let (tree, springs) = (reduced.tree(), controller.springs(control));
        for (link, dof) in tree.links().flat_map(|link| tree.dofs(link).map(move |dof| (link, dof))) {
            let (rate, acceleration) = (self.tree_state.rates[dof], self.dynamics.accelerations()[dof]);
            self.rates[1][dof] = rate + h * acceleration;
            self.laws[dof] = match self.command.mode(link) {
                _ if !controller.actuation().is_active(link) => None,
                JointMode::Driven if self.following.follows(dof) => {
                    Some(ActuatorLaw { force: self.command.values[dof], damping: 0.0 })
                }
                JointMode::Prescribed | JointMode::Driven => {
                    let damping = HARD * reduced.inertia_along(self.dynamics.column(dof)) / h;
                    Some(ActuatorLaw { force: damping * self.rates[1][dof], damping })
                }
                JointMode::Passive => {
                    let spring = springs.filter(|_| !controller.is_saturated(link));
                    let [k, c] = spring.map_or([0.0; 2], |s| [s.stiffness[dof], s.damping[dof]]);
                    // The command has the damper at the beginning of the step.
                    Some(ActuatorLaw { force: self.command.values[dof] + c * rate, damping: c + h * k })
                }
            };
        }
    }

    /// Whether the command stays what was tried.
    fn is_settled(&self, h: f64) -> bool {
        let [tried, next] = &self.rates;
        let actuated = self.laws.iter().zip(tried.iter().zip(next)).filter(|(law, _)| law.is_some());
        actuated.map(|(_, (tried, next))| (tried - next).abs() * h).fold(0.0, f64::max) < SETTLED
    }

    /// Writes the laws as an input for the mechanism.
    fn write_servos(&mut self, reduced: &ReducedModel, call: &StepCall<'_>) {
        let (tree, model) = (reduced.tree(), call.model.mechanism());
        self.input.clone_from(call.input);
        self.input.grabs.retain(|grab| !grab.is_hard());
        self.input.servos.clear();
        for link in tree.links() {
            let Some(joint) = tree.joint(link) else { continue };
            let (body1, body2) = model.joint_bodies(joint);
            let is_flipped = body1 != Some(tree.body(link));
            for dof in tree.dofs(link) {
                let Some(ActuatorLaw { force, damping }) = self.laws[dof] else { continue };
                let mut gradient = self.gradients[dof];
                if is_flipped && let (Some(one), Some(two)) = (body1, body2) {
                    let place = |body: BodyId| self.start.bodies.poses[body.index()].translation;
                    gradient = shift_force(gradient, place(two) - place(one)) * -1.0;
                }
                self.input.servos.push((joint, Servo { gradient, force, damping }));
            }
        }
    }

    /// Measures what acted beside the actuators, and what these did.
    fn measure(&mut self, reduced: &ReducedModel, call: &mut StepCall<'_>) {
        let (tree, h) = (reduced.tree(), call.settings.dt);
        self.end.read_mechanism(tree, &call.state.bodies);
        for ((q, end), start) in
            self.inverse.values.iter_mut().zip(&self.end.rates).zip(&self.tree_state.rates)
        {
            *q = (end - start) / h;
        }
        let _ = self.dynamics.hybrid(tree, &self.tree_state, &self.inverse, call.settings.gravity, &[]);
        self.settling.measured().copy_from_slice(self.dynamics.torques());
        let effort = &mut call.report.effort;
        (effort.torque_square, effort.acceleration_square) = (0.0, 0.0);
        let wrenches = call.workspace.mechanism.joint_wrenches();
        for link in tree.links() {
            let limit = self.controller.as_ref().map(|controller| controller.actuation().torque_limit(link));
            let is_unasked =
                self.command.mode(link) == JointMode::Prescribed && limit.is_none_or(f64::is_infinite);
            for dof in tree.dofs(link).filter(|dof| self.laws[*dof].is_some()) {
                let torque = self.torque(tree, call.model.mechanism(), wrenches, (link, dof));
                effort.torque_square += torque * torque;
                effort.acceleration_square += self.inverse.values[dof] * self.inverse.values[dof];
                // Whatever acts along a joint of given motion, the command asks for it only to find out if its torque is enough.
                let measured = &mut self.settling.measured()[dof];
                *measured = if is_unasked { 0.0 } else { *measured - torque };
            }
        }
        self.settling.mix();
    }

    /// The torque of a joint along a degree of freedom in the step, from what its joint did.
    fn torque(
        &self,
        tree: &Tree,
        model: &sinew_mechanism::Model,
        wrenches: &[Force],
        (link, dof): (LinkId, usize),
    ) -> f64 {
        let Some(joint) = tree.joint(link) else { return 0.0 };
        let (Some(body1), Some(&on_body1)) = (model.joint_bodies(joint).0, wrenches.get(joint.index()))
        else {
            return 0.0;
        };
        let point = model.joint_frames(joint).point1;
        let anchor = self.start.bodies.poses[body1.index()].transform_point(point);
        let column = shift_motion(self.dynamics.column(dof), anchor - self.dynamics.origin(link));
        let along = on_body1.dot(column);
        if body1 == tree.body(link) { along } else { -along }
    }

    /// Puts the bodies on their joints and remembers what acted.
    fn finish(&mut self, reduced: &ReducedModel, call: &mut StepCall<'_>) {
        let State { bodies, flesh, control, .. } = &mut *call.state;
        // Twists are mean ones of the step: those of the end pose would have another momentum.
        self.start.bodies.motions.clone_from(&bodies.motions);
        self.command.modes.fill(JointMode::Passive);
        let Self { loops, dynamics, command, end, .. } = self;
        loops.project_coordinates(reduced.looped(), dynamics, command, end);
        self.end.write_mechanism(reduced.tree(), &mut self.dynamics, bodies);
        bodies.motions.clone_from(&self.start.bodies.motions);
        if let Some(model) = call.model.flesh() {
            model.follow(bodies, flesh);
        }
        control.pushes.clone_from(self.settling.measured());
    }
}

/// Fills the rows of a link's joint: the pseudoinverse of its columns at the centre of mass, world axes.
fn fill_gradients(tree: &Tree, dynamics: &Dynamics, link: LinkId, out: &mut [Force]) {
    let dofs = tree.dofs(link);
    let arm = dynamics.central_pose(tree, link).translation - dynamics.origin(link);
    let columns: [Motion; 6] = std::array::from_fn(|k| match k < dofs.len() {
        true => shift_motion(dynamics.column(dofs.start + k), arm),
        false => Motion::ZERO,
    });
    // Gram and Schmidt: what is left of a column beside all others.
    for (k, dof) in dofs.clone().enumerate() {
        let mut rest = columns[k].to_array();
        let mut basis: [[f64; 6]; 6] = [[0.0; 6]; 6];
        let mut n = 0;
        for other in (0..dofs.len()).filter(|other| *other != k) {
            let mut along = columns[other].to_array();
            basis[..n].iter().for_each(|unit| remove(&mut along, unit));
            if normalize(&mut along) {
                basis[n] = along;
                n += 1;
            }
        }
        basis[..n].iter().for_each(|unit| remove(&mut rest, unit));
        let square: f64 = rest.iter().map(|x| x * x).sum();
        out[dof] = Force::from_array(rest) * (1.0 / square.max(f64::MIN_POSITIVE));
    }
}

/// Takes the part along a unit vector away.
fn remove(from: &mut [f64; 6], unit: &[f64; 6]) {
    let along: f64 = from.iter().zip(unit).map(|(a, b)| a * b).sum();
    from.iter_mut().zip(unit).for_each(|(a, b)| *a -= along * b);
}

/// Gives a vector unit length; false if it has none.
fn normalize(vector: &mut [f64; 6]) -> bool {
    let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    vector.iter_mut().for_each(|x| *x /= length.max(f64::MIN_POSITIVE));
    length > f64::MIN_POSITIVE
}

/// Forces along joints as wrenches: on a link, and the opposite on its parent, at centres of mass.
fn fill_external(tree: &Tree, dynamics: &Dynamics, gradients: &[Force], along: &[f64], out: &mut [Force]) {
    out.fill(Force::ZERO);
    let place = |link: LinkId| -> DVec3 { dynamics.central_pose(tree, link).translation };
    for link in tree.links() {
        let sum = tree.dofs(link).fold(Force::ZERO, |sum, dof| sum + gradients[dof] * along[dof]);
        out[link.index()] += sum;
        if let Some(parent) = tree.parent(link) {
            out[parent.index()] += shift_force(sum, place(link) - place(parent)) * -1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::{DMat3, DVec3};
    use sinew_fem::{CellFlow, FemState};
    use sinew_flesh::{FleshState, NodeHistory};

    use super::copy_flesh;

    #[test]
    fn a_step_that_is_tried_again_begins_with_the_flow_that_it_began_with() {
        let flesh = |x: f64| FleshState {
            nodes: vec![FemState {
                positions: vec![DVec3::splat(x)],
                velocities: vec![DVec3::splat(2.0 * x)],
                flow: vec![CellFlow {
                    plastic: DMat3::IDENTITY * x,
                    hardening: x,
                    viscous: DMat3::IDENTITY * (3.0 * x),
                }],
            }],
            history: vec![NodeHistory {
                velocities: vec![DVec3::splat(4.0 * x)],
                increments: vec![DVec3::splat(5.0 * x)],
            }],
            ..FleshState::default()
        };
        let (start, mut tried) = (flesh(1.0), flesh(2.0));
        copy_flesh(&start, &mut tried);
        assert_eq!(start, tried);
    }
}
