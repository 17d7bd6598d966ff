//! One implicit step against a dense solve of the same equations, on random mechanisms.

pub(crate) mod assembly;
mod balance;
mod bounded;
pub(crate) mod scene;

use sinew_math::{Motion, exp_so3, quat_to_mat3};
use sinew_mechanism::{
    BodyKind, Gyroscopic, Implicit, Input, JacobianAt, Model, Order, Scheme, State, TreeForm, Workspace, step,
};
use sinew_testkit::{Rng, assert_close, soak_scale};

use scene::{Scene, Taste};

use crate::support::one_solve;

/// Largest difference of the twists from the dense ones, relative to the largest twist.
pub(crate) fn difference(scene: &Scene, found: &[Motion], expected: &[Motion]) -> f64 {
    let size = |m: &Motion| m.angular.abs().max_element().max(m.linear.abs().max_element());
    let scale = expected.iter().map(size).fold(1.0, f64::max);
    let gap = |body: usize| size(&(found[body] - expected[body]));
    let dynamic = (0..found.len()).filter(|b| scene.bodies[*b].kind == BodyKind::Dynamic);
    dynamic.map(gap).fold(0.0, |worst: f64, gap| if gap.is_nan() { f64::INFINITY } else { worst.max(gap) })
        / scale
}

/// The state with poses in body axes at the centres of mass, as the oracle wants it.
pub(crate) fn in_body_axes(model: &Model, state: &State) -> State {
    let mut out = state.clone();
    for body in model.bodies() {
        out.poses[body.index()].rotation = model.body_pose(state, body).rotation;
    }
    out
}

fn stepped(
    scene: &Scene,
    model: &Model,
    mut state: State,
    form: TreeForm,
    geometric_stiffness: bool,
) -> State {
    let mut implicit = one_solve();
    (implicit.form, implicit.geometric_stiffness) = (form, geometric_stiffness);
    let mut settings = scene.settings;
    settings.scheme = Scheme::Implicit(implicit);
    step(model, &mut state, &scene.input, &settings, &mut Workspace::new(model));
    state
}

fn compare(seed: u64, count: usize, taste: &Taste, tolerance: f64, pulled: bool) -> f64 {
    let mut rng = Rng::new(seed);
    let mut worst = 0.0f64;
    for case in 0..count {
        let scene = Scene::random(&mut rng, taste);
        let model = scene.model();
        let mut start = model.initial_state();
        if pulled {
            start.pulls.iter_mut().for_each(|pull| *pull = rng.vec3(-1e3, 1e3));
        }
        let placed = in_body_axes(&model, &start);
        let expected =
            assembly::solve(&scene, &model, &placed, pulled, 1e-7).expect("independent rows").motions;
        for form in [TreeForm::Pair, TreeForm::Block] {
            let state = in_body_axes(&model, &stepped(&scene, &model, start.clone(), form, pulled));
            let error = difference(&scene, &state.motions, &expected);
            worst = worst.max(error);
            assert!(error <= tolerance, "case {case}, {form:?}: {error:e}\n{scene:#?}");
            check_poses(&scene, &placed, &state);
        }
    }
    worst
}

/// The new poses are the old ones moved by the new twists for one step.
fn check_poses(scene: &Scene, start: &State, end: &State) {
    for body in 0..scene.bodies.len() {
        if scene.bodies[body].kind == BodyKind::Dynamic {
            let (motion, h) = (end.motions[body], scene.settings.dt);
            let (before, after) = (start.poses[body], end.poses[body]);
            let turned = quat_to_mat3(exp_so3(motion.angular * h) * before.rotation);
            assert_close!(quat_to_mat3(after.rotation), turned, 1e-13);
            assert_close!(after.translation, before.translation + motion.linear * h, 1e-13);
        }
    }
}

#[test]
fn random_trees_soak() {
    let worst = compare(1, 1_000 * soak_scale(), &Taste::WILD, 1e-8, false);
    println!("random trees: worst relative difference {worst:e}");
}

#[test]
fn random_trees_under_load_soak() {
    let worst = compare(4, 300 * soak_scale(), &Taste::WILD, 1e-8, true);
    println!("random trees under load: worst relative difference {worst:e}");
}

#[test]
fn stiff_trees_with_mass_ratios_of_a_million_soak() {
    let taste = Taste { n_bodies: 6, mass_decades: 3, stiffness_decades: 6, ..Taste::WILD };
    let worst = compare(2, 300 * soak_scale(), &taste, 1e-8, false);
    println!("stiff trees, mass ratios: worst relative difference {worst:e}");
}

/// Many iterations, which stop only at a joint error of exactly zero.
fn converged(order: Order) -> Scheme {
    let mut scheme = Implicit::default();
    (scheme.order, scheme.newton_iterations, scheme.newton_tolerance) = (order, 60, 0.0);
    (scheme.jacobian, scheme.most_substeps) = (JacobianAt::Predicted, 1);
    Scheme::Implicit(scheme)
}

/// Joint error and imbalance of converged steps: one of backward Euler, and two of BDF2 of different length.
pub(crate) fn converged_errors(rng: &mut Rng, mut scene: Scene, model: &Model) -> (f64, f64) {
    let mut workspace = Workspace::new(model);
    // Backward Euler: the momentum base is the start.
    scene.settings.scheme = converged(Order::First);
    let mut state = model.initial_state();
    let (start, base) = (in_body_axes(model, &state), state.motions.clone());
    step(model, &mut state, &scene.input, &scene.settings, &mut workspace);
    let end = in_body_axes(model, &state);
    let first_order = balance::errors(&scene, (Some(&start), &end), &base, scene.settings.dt);

    // The second step of BDF2 has a past.
    scene.settings.scheme = converged(Order::Second);
    let mut state = model.initial_state();
    let first = state.clone();
    step(model, &mut state, &scene.input, &scene.settings, &mut workspace);
    let ratio = rng.uniform(0.6, 1.5);
    let second = state.clone();
    scene.settings.dt *= ratio;
    // After a jolt the scheme starts anew.
    let turns = second.motions.iter().zip(&second.history.motions);
    if turns.map(|(a, b)| (a.angular - b.angular).length()).fold(0.0, f64::max) * scene.settings.dt > 0.24 {
        return first_order;
    }
    step(model, &mut state, &scene.input, &scene.settings, &mut workspace);
    let (carry, h) =
        (ratio * ratio / (1.0 + 2.0 * ratio), scene.settings.dt * (1.0 + ratio) / (1.0 + 2.0 * ratio));
    let before = &second.history.motions;
    let base: Vec<Motion> =
        second.motions.iter().zip(before).map(|(now, then)| *now + (*now - *then) * carry).collect();
    let second_order = balance::errors(&scene, (None, &in_body_axes(model, &state)), &base, h);
    for body in (0..scene.bodies.len()).filter(|b| scene.bodies[*b].kind == BodyKind::Dynamic) {
        let x = |s: &State| s.poses[body].translation;
        let carried = x(&second) + (x(&second) - x(&first)) * carry;
        assert_close!(x(&state), carried + state.motions[body].linear * h, 1e-12);
    }
    (first_order.0.max(second_order.0), first_order.1.max(second_order.1))
}

#[test]
fn newton_iterations_solve_the_nonlinear_step() {
    let mut rng = Rng::new(3);
    let (mut worst_error, mut worst_balance) = (0.0f64, 0.0f64);
    for case in 0..60 {
        let scene = Scene::random(&mut rng, &SMOOTH);
        let model = scene.model();
        if model.n_rows().0 == 0 {
            continue;
        }
        let (error, balance) = converged_errors(&mut rng, scene.clone(), &model);
        assert!(error < 1e-11 && balance < 1e-9, "case {case}: {error:e} m, {balance:e}\n{scene:#?}");
        (worst_error, worst_balance) = (worst_error.max(error), worst_balance.max(balance));
    }
    println!("converged steps: worst joint error {worst_error:e}, worst imbalance {worst_balance:e}");
}

/// Small steps from small errors with moderate springs, so that Newton's method converges.
pub(crate) const SMOOTH: Taste =
    Taste { n_bodies: 6, mass_decades: 0, stiffness_decades: 2, error: 0.02, dt: 1.0 / 100.0, smooth: true };

/// Joints without errors and forces, gravity, large turns.
fn bare(rng: &mut Rng, n_loops: usize) -> Scene {
    let taste = Taste { n_bodies: 7, error: 0.0, dt: 1.0 / 15.0, ..SMOOTH };
    let mut scene = Scene::random(rng, &taste);
    if n_loops > 0 {
        scene.close(rng, &taste, n_loops);
    }
    for joint in &mut scene.joints {
        (joint.twist, joint.slide, joint.rotation, joint.compliance) = (None, None, None, 0.0);
        joint.driven.clear();
    }
    for body in &mut scene.bodies {
        (body.angular_damping, body.linear_damping) = (0.0, 0.0);
    }
    scene.springs.clear();
    let kinematic = std::mem::take(&mut scene.input.kinematic);
    scene.input = Input { kinematic, ..Input::default() };
    scene.settings.gyroscopic = [Gyroscopic::None, Gyroscopic::Implicit, Gyroscopic::Explicit][rng.below(3)];
    // What is given back to floating bodies is no impulse of a joint.
    (scene.settings.keep_momentum, scene.settings.limit_energy) = (false, false);
    scene
}

#[test]
fn default_newton_iterations_balance_with_directions_of_the_start() {
    let mut rng = Rng::new(17);
    let (mut whole, mut worst, mut turned) = (0, (0.0f64, 0.0f64), 0.0f64);
    for case in 0..200 {
        let mut scene = bare(&mut rng, if case % 2 == 0 { 0 } else { 2 });
        let model = scene.model();
        let mut scheme = Implicit::default();
        (scheme.newton_tolerance, scheme.newton_iterations) = (1e-12, 60);
        scene.settings.scheme = Scheme::Implicit(scheme);
        let mut state = model.initial_state();
        let start = in_body_axes(&model, &state);
        let report = step(&model, &mut state, &scene.input, &scene.settings, &mut Workspace::new(&model));
        // Divided steps are several, damped ones have other directions; what is measured is a whole one.
        if report.substeps > 1 || report.damped_parts > 0 || report.unclosed > 0.0 || report.iterations < 2 {
            continue;
        }
        let end = in_body_axes(&model, &state);
        let (open, imbalance) = balance::errors_from_start(&scene, &start, &end);
        assert!(
            open < 1e-10 && imbalance < 1e-9,
            "case {case}: {open:e}, {imbalance:e}, {report:?}\n{scene:#?}"
        );
        whole += 1;
        worst = (worst.0.max(open), worst.1.max(imbalance));
        let turns = end.motions.iter().map(|m| m.angular.length() * scene.settings.dt);
        turned = turns.fold(turned, f64::max);
    }
    println!("default steps: {whole} whole, largest turn {turned} rad, worst error and imbalance {worst:?}");
    assert!(whole > 60 && turned > 0.3, "{whole} steps, {turned} rad");
}
