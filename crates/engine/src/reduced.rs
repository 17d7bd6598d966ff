//! Steps in joint coordinates: hybrid recursive dynamics under the commands of a controller, with flesh and contact (KP08).
//!
//! Poses and twists of the bodies stay the state. A step reads joint coordinates from them, advances, and writes them back, both to
//! rounding. One substep of length `h`:
//!
//! | | stage | by |
//! |---|---|---|
//! | 1 | flesh and contacts advance around bones that follow their twists; wrenches on bodies | `sinew_flesh::step_explicit` |
//! | 2 | all other forces on bodies and along joints | `sinew_mechanism::external_wrenches`, `Model::scalar_response_to` |
//! | 3 | commands of the actuators | `sinew_control::Controller` |
//! | 4 | accelerations and torques; forces change the rates, then the tree moves by inertia | `sinew_recursive::Integrator` |
//!
//! A step is cut into substeps while contact is violent: something touches, and the fastest node moves further than
//! [`CALM_DISTANCE`] in a step. Joint forces act on passive joints only; a command replaces them. Hard grabs drag bones while a
//! guide controls them; otherwise they are counted as ignored. Landing springs are taken at the end of a substep, so they may be
//! stiff (except with Runge–Kutta, which evaluates forces at every stage).
//! World axes, SI. Cost: linear, but for the parts of inertial motion, which long chains need more of (`sinew_recursive`, `drift`); nothing
//! allocates once warm.

mod momentum;
mod substep;
mod workspace;

use sinew_flesh::{ExplicitFlesh, FleshState};
use sinew_mechanism::{Stage, first_non_finite, move_kinematic, place_kinematic};

use self::substep::Substep;
pub(crate) use self::substep::drags;
pub(crate) use self::workspace::ReducedWorkspace;
use crate::explicit_flesh::FleshSubsteps;
use crate::step::StepCall;
use crate::touched::TouchedIslands;
use crate::workspace::LastStep;
use crate::{Reduced, ReducedModel};

/// Furthest that a node in contact moves in a calm substep, m.
const CALM_DISTANCE: f64 = 1e-3;

impl StepCall<'_> {
    /// A step in joint coordinates.
    pub(crate) fn step_reduced(&mut self, reduced: &ReducedModel, how: Reduced) {
        let Self { model, input, settings, state, workspace, watch, report } = self;
        let (mechanism, dt) = (model.mechanism(), settings.dt);
        workspace.last = LastStep::Reduced;
        let work = &mut workspace.reduced;
        let work = work.get_or_insert_with(|| Box::new(ReducedWorkspace::new(reduced, &state.bodies)));
        let explicit = &mut workspace.explicit;
        let mut flesh = model
            .flesh()
            .map(|flesh| (flesh, FleshSubsteps::in_slot(explicit, (mechanism, flesh), &state.bodies)));
        // A command prescribes what an implicit step would have to find.
        let mut touched = match reduced.controller {
            None => TouchedIslands::begin(&mut workspace.touched, model, &state.bodies, input),
            Some(_) => {
                workspace.touched = None;
                None
            }
        };
        let given = settings.flesh_substeps().unwrap_or(0);
        // A command sees the torques of flesh, and its substeps are those that it was planned for.
        let resolved = flesh.as_ref().filter(|_| reduced.controller.is_none());
        let resolved = resolved.map_or(1, |(_, explicit)| explicit.n_parts(dt, given));
        let substeps = n_substeps(&state.flesh, dt, how.most_substeps).max(resolved);
        report.effort.substeps = substeps;
        // Steps of other schemes may come before and after.
        state.bodies.forget_history();
        state.bodies.forget_pulls();
        move_kinematic(mechanism, &mut state.bodies, input, dt);
        work.accelerations.clear();
        if settings.reactions {
            work.accelerations.extend(state.bodies.motions.iter().map(|&motion| -motion));
        }
        watch.done(Stage::Prepare);
        let explicit = ExplicitFlesh {
            dt: dt / f64::from(substeps),
            gravity: settings.gravity,
            substeps: given,
            activations: &workspace.activations,
            skin: Some(&input.skin),
            ..ExplicitFlesh::default()
        };
        let gyration = &model.gyration;
        let substep = Substep { mechanism, reduced, input, gyration, method: how.method, flesh: explicit };
        work.release(reduced, input);
        for _ in 0..substeps {
            let flesh = flesh.as_mut().map(|(flesh, explicit)| (*flesh, &mut **explicit));
            let pushed = touched.as_mut().map(|(touched, _)| &mut touched.input);
            substep.advance(state, work, (flesh, pushed), report, *watch);
        }
        place_kinematic(mechanism, &mut state.bodies, input);
        report.mechanism.iterations = substeps;
        if let Some((touched, touching)) = touched {
            let places = (&mut state.bodies, &mut state.flesh.body_anchors);
            let (implicit, found) = touched.settle((mechanism, touching), settings, places, *watch);
            report.take_touched(implicit, found, &state.bodies);
            if let Some((flesh, explicit)) = flesh {
                explicit.finish(flesh, &state.bodies, &mut state.flesh);
            }
        }
        for (acceleration, &motion) in work.accelerations.iter_mut().zip(&state.bodies.motions) {
            *acceleration = (*acceleration + motion) * (1.0 / dt);
        }
        report.mechanism.non_finite = first_non_finite(&state.bodies);
    }
}

/// Substeps needed for the present speed of flesh in contact.
fn n_substeps(flesh: &FleshState, dt: f64, most: u32) -> u32 {
    if !is_in_contact(flesh) {
        return 1;
    }
    let distance = fastest(flesh) * dt;
    (distance / CALM_DISTANCE).ceil().clamp(1.0, f64::from(most.max(1))) as u32
}

/// Whether something touches.
fn is_in_contact(flesh: &FleshState) -> bool {
    !flesh.anchors.entries().is_empty() || !flesh.body_anchors.entries().is_empty()
}

/// Speed of the fastest node, m/s.
fn fastest(flesh: &FleshState) -> f64 {
    let nodes = flesh.nodes.iter().flat_map(|nodes| &nodes.velocities);
    nodes.map(|v| v.length_squared()).fold(0.0, f64::max).sqrt()
}
