//! Momentum of mechanisms that nothing holds: linear and angular, in every scheme, over many steps.
//!
//! Changes are relative to the sum of the magnitudes of all bodies at the start, angular momenta about the centre of mass of the
//! mechanism: whatever happens inside, both totals stay. Schemes without implicit forces get softer springs and shorter steps.

use glam::DVec3;
use sinew_math::Force;
use sinew_scene::{
    DisplacementDoc, ExplicitDoc, ImplicitDoc, ReducedDoc, ReducedMethodDoc, SceneDoc, StabilizeDoc,
    StepperDoc,
};
use sinew_sim::{BuildError, World};

use crate::random_forces::Strength;
use crate::random_scene::random_floating;

/// A way to step, as a scene names it.
#[derive(Clone, Debug)]
pub struct SteppedBy {
    /// In words.
    pub name: &'static str,
    stepper: StepperDoc,
    stabilize: bool,
    dt: f64,
    strength: Strength,
    is_tree: bool,
}

/// How much a run lost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MomentumLoss {
    /// Largest change of the linear momentum, relative.
    pub linear: f64,
    /// Largest change of the angular momentum, relative.
    pub angular: f64,
    /// Steps until the state was no longer finite; none if it stayed so.
    pub non_finite: Option<u64>,
    /// Steps in which health named an open joint.
    pub named: u64,
}

impl MomentumLoss {
    /// The larger one; infinite if the state did not stay finite.
    pub fn largest(&self) -> f64 {
        if self.non_finite.is_some() { f64::INFINITY } else { self.linear.max(self.angular) }
    }
}

impl SteppedBy {
    /// Every scheme.
    pub fn all() -> Vec<Self> {
        let implicit = |order, newton_iterations| {
            StepperDoc::Implicit(ImplicitDoc { order, newton_iterations, ..ImplicitDoc::default() })
        };
        let usual = |name, stepper, stabilize| {
            let dt = 1.0 / 60.0;
            Self { name, stepper, stabilize, dt, strength: Strength::FIRM, is_tree: false }
        };
        let short = |name, stepper, is_tree| {
            let dt = 1.0 / 240.0;
            Self { name, stepper, stabilize: false, dt, strength: Strength::SOFT, is_tree }
        };
        let reduced = |method| StepperDoc::Reduced(ReducedDoc { method, ..ReducedDoc::default() });
        let mut explicit = short("explicit, stabilized", StepperDoc::Explicit(ExplicitDoc::default()), false);
        explicit.stabilize = true;
        // Stable up to hω = 2, Runge and Kutta's rule up to 2.8.
        let mut symplectic = short("reduced, symplectic", reduced(ReducedMethodDoc::SymplecticEuler), true);
        symplectic.dt = 1.0 / 480.0;
        vec![
            usual("implicit 1", implicit(1, 10), false),
            usual("implicit 1, one solve", implicit(1, 1), false),
            usual("implicit 1, stabilized", implicit(1, 10), true),
            usual("implicit 2", implicit(2, 10), false),
            usual("implicit 2, stabilized", implicit(2, 10), true),
            short("explicit", StepperDoc::Explicit(ExplicitDoc::default()), false),
            explicit,
            short("displacement", StepperDoc::Displacement(DisplacementDoc::default()), false),
            symplectic,
            short("reduced, Rk4", reduced(ReducedMethodDoc::Rk4), true),
            short("reduced, implicit", reduced(ReducedMethodDoc::Implicit), true),
        ]
    }

    /// The floating mechanism of a seed, stepped in this way.
    pub fn scene(&self, seed: u64, steps: u64) -> SceneDoc {
        let seconds = self.dt * steps as f64;
        let mut scene = random_floating(seed, seconds, self.is_tree, &self.strength);
        scene.dt = self.dt;
        scene.stepper = self.stepper.clone();
        scene.stabilize = self.stabilize.then(StabilizeDoc::default);
        scene
    }

    /// Runs the mechanism of a seed.
    ///
    /// # Errors
    /// If the scene cannot be built.
    pub fn run(&self, seed: u64, steps: u64) -> Result<MomentumLoss, BuildError> {
        let mut world = World::from_scene(&self.scene(seed, steps))?;
        let start = about_center(&world);
        let (linear, angular) = magnitudes(&world);
        let mut loss = MomentumLoss::default();
        for k in 0..steps {
            let report = world.step();
            if report.health.non_finite.is_some() {
                loss.non_finite = Some(k + 1);
                break;
            }
            loss.named += u64::from(report.health.open_joint.is_some());
            let now = about_center(&world);
            loss.linear = loss.linear.max((now.linear - start.linear).length() / linear);
            loss.angular = loss.angular.max((now.angular - start.angular).length() / angular);
        }
        Ok(loss)
    }
}

/// Linear momentum, and angular momentum about the centre of mass.
fn about_center(world: &World) -> Force {
    let Force { angular, linear } = world.momentum();
    Force::new(angular - center(world).cross(linear), linear)
}

/// Centre of mass, m.
fn center(world: &World) -> DVec3 {
    let (model, poses) = (world.mechanism(), &world.state().bodies.poses);
    let (mut mass, mut moment) = (0.0, DVec3::ZERO);
    for body in model.bodies() {
        mass += model.body_mass(body);
        moment += model.body_mass(body) * poses[body.index()].translation;
    }
    moment / mass
}

/// Sums of the magnitudes of the linear and angular momenta of all bodies.
fn magnitudes(world: &World) -> (f64, f64) {
    let (model, state, center) = (world.mechanism(), &world.state().bodies, center(world));
    let (mut linear, mut angular) = (0.0, 0.0);
    for body in model.bodies() {
        let (pose, motion) = (&state.poses[body.index()], &state.motions[body.index()]);
        let momentum = model.body_mass(body) * motion.linear;
        let spin = model.principal_moments(body).max_element() * motion.angular.length();
        linear += momentum.length();
        angular += spin + (pose.translation - center).cross(momentum).length();
    }
    (linear, angular)
}
