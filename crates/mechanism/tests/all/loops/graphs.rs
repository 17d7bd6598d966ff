//! One implicit step of random graphs with loops against a dense solve of the same equations.

use glam::DVec3;
use sinew_mechanism::{
    BodyId, Grab, Gyroscopic, Implicit, Input, JacobianAt, JointId, LoopMethod, LoopReport, Model, Order,
    Scheme, Settings, State, Structure, TreeForm, Workspace, joint_forces, step, violation,
};
use sinew_testkit::{Rng, soak_scale};

use crate::dense_oracle::assembly::{Solution, solve, worst_row_error};
use crate::dense_oracle::scene::{Scene, Taste};
use crate::dense_oracle::{SMOOTH, converged_errors, difference, in_body_axes};
use crate::support::{Run, ladder, one_solve, tight};

/// How a graph is solved.
#[derive(Clone, Copy, Debug)]
struct Way {
    method: LoopMethod,
    precondition: bool,
    form: TreeForm,
    budget: Option<u32>,
}

impl Way {
    const PLAIN: Self = Self {
        method: LoopMethod::ConjugateResidual,
        precondition: true,
        form: TreeForm::Pair,
        budget: None,
    };

    fn settings(self, scene: &Scene, geometric_stiffness: bool) -> Settings {
        let mut settings = tight(scene.settings);
        settings.loops.solve.method = self.method;
        settings.loops.solve.precondition = self.precondition;
        let mut implicit = one_solve();
        (implicit.form, implicit.geometric_stiffness) = (self.form, geometric_stiffness);
        settings.scheme = Scheme::Implicit(implicit);
        settings
    }

    fn step(self, scene: &Scene, model: &Model, start: &State, loaded: bool) -> (State, LoopReport) {
        let mut state = start.clone();
        let input = Input { loop_iterations: self.budget, ..scene.input.clone() };
        let settings = self.settings(scene, loaded);
        let report = step(model, &mut state, &input, &settings, &mut Workspace::new(model));
        (state, report.loops)
    }
}

/// Wild scenes with loops; half of them without joint errors, so that rows may well depend on each other.
fn random_graph(rng: &mut Rng, case: usize) -> Scene {
    let error = if case.is_multiple_of(2) { 0.05 } else { 0.0 };
    let taste = Taste { error, mass_decades: if case.is_multiple_of(3) { 1 } else { 0 }, ..Taste::WILD };
    let mut scene = Scene::random(rng, &taste);
    scene.close(rng, &taste, 4);
    scene
}

fn full(scene: &Scene) -> Model {
    let mut builder = scene.builder();
    builder.set_structure(Structure::Full);
    builder.build().expect("a valid mechanism")
}

/// Up to `count` graphs whose rows do not contradict each other, each with its model and state.
fn for_graphs(seed: u64, count: usize, mut visit: impl FnMut(usize, &Scene, &Model, &State)) {
    let mut rng = Rng::new(seed);
    let (mut found, mut case) = (0, 0);
    while found < count {
        let scene = random_graph(&mut rng, case);
        case += 1;
        let model = scene.model();
        if model.n_loop_multipliers() > 0 && oracle(&scene, &model, &model.initial_state(), false).is_some() {
            visit(case - 1, &scene, &model, &model.initial_state());
            found += 1;
        }
    }
}

fn oracle(scene: &Scene, model: &Model, state: &State, loaded: bool) -> Option<Solution> {
    solve(scene, model, &in_body_axes(model, state), loaded, 3e-2)
}

#[test]
fn many_loops_are_solved_directly_as_the_dense_equations() {
    let mut rng = Rng::new(77);
    let taste = Taste { n_bodies: 40, error: 0.0, dt: 1e-2, ..Taste::WILD };
    let (mut worst, mut found, mut case) = (0.0f64, 0, 0);
    while found < 12 {
        let mut scene = Scene::random(&mut rng, &taste);
        scene.close(&mut rng, &taste, 40);
        case += 1;
        let model = scene.model();
        let start = model.initial_state();
        // Rows of joints that are open are softened on purpose.
        let open = violation(&model, &start, &scene.input);
        if model.n_loop_multipliers() <= 64 || open.position.max(open.rotation) > 1e-9 {
            continue;
        }
        let Some(expected) = oracle(&scene, &model, &start, false) else { continue };
        let (end, report) =
            Way { method: LoopMethod::Auto, ..Way::PLAIN }.step(&scene, &model, &start, false);
        let error = difference(&scene, &end.motions, &expected.motions);
        assert!(error <= 1e-6, "case {case}: {error:e}, {report:?}");
        worst = worst.max(error);
        // Where most rows are in loops, iterations are cheaper.
        found += u32::from(report.iterations == 1);
    }
    println!("{case} graphs, worst {worst:e}");
}

#[test]
fn random_graphs_soak() {
    let (mut worst, mut worst_force, mut redundant, mut most) = (0.0f64, 0.0f64, 0, 0);
    for_graphs(11, 300 * soak_scale(), |case, scene, model, start| {
        let expected = oracle(scene, model, start, false).expect("seen before");
        let (end, report) = Way::PLAIN.step(scene, model, start, false);
        let error = difference(scene, &end.motions, &expected.motions);
        assert!(error <= 1e-8, "case {case}: {error:e}, {report:?}\n{scene:#?}");
        worst = worst.max(error);
        most = most.max(report.iterations);
        let Some(forces) = expected.forces else {
            redundant += 1;
            return;
        };
        let scale = forces.iter().map(|f| f.length()).fold(1.0, f64::max);
        for (joint, force) in joint_forces(model, &end).into_iter().enumerate() {
            if !model.is_tree_joint(JointId::from_index(joint)) {
                let gap = (force - forces[joint]).length() / scale;
                assert!(gap <= 1e-7, "case {case}, joint {joint}: {gap:e}\n{scene:#?}");
                worst_force = worst_force.max(gap);
            }
        }
    });
    println!(
        "random graphs ({redundant} redundant): motions {worst:e}, forces {worst_force:e}, {most} iterations"
    );
}

#[test]
fn every_method_and_form_finds_the_same_motion() {
    use LoopMethod::{BiConjugateGradient, ConjugateGradient, ConjugateResidual, Dense};
    let mut worst = 0.0f64;
    for_graphs(12, 60 * soak_scale(), |case, scene, model, start| {
        let everything = full(scene);
        for (model, start) in [(model, start.clone()), (&everything, everything.initial_state())] {
            let expected = oracle(scene, model, &start, false).expect("consistent rows");
            for method in [ConjugateResidual, ConjugateGradient, BiConjugateGradient, Dense] {
                for precondition in [true, false] {
                    for form in [TreeForm::Pair, TreeForm::Block] {
                        let way = Way { method, precondition, form, budget: None };
                        let (end, report) = way.step(scene, model, &start, false);
                        let error = difference(scene, &end.motions, &expected.motions);
                        let is_full = std::ptr::eq(model, &everything);
                        assert!(
                            error <= 1e-8,
                            "case {case}, {way:?}, full {is_full}: {error:e} {report:?}\n{scene:#?}"
                        );
                        worst = worst.max(error);
                    }
                }
            }
        }
    });
    println!("all methods: worst relative difference {worst:e}");
}

#[test]
fn tree_rows_hold_whatever_the_budget() {
    let mut worst = 0.0f64;
    let mut rng = Rng::new(13);
    for case in 0..300 {
        let scene = random_graph(&mut rng, case);
        let model = scene.model();
        let start = model.initial_state();
        let placed = in_body_axes(&model, &start);
        for budget in [Some(0), Some(1), Some(3), None] {
            let (end, report) = Way { budget, ..Way::PLAIN }.step(&scene, &model, &start, false);
            assert!(budget.is_none_or(|most| report.iterations <= most), "{report:?}");
            let in_tree = |joint| model.is_tree_joint(JointId::from_index(joint));
            let error = worst_row_error(&scene, &placed, &end.motions, in_tree);
            assert!(error <= 1e-12, "case {case}, budget {budget:?}: {error:e}\n{scene:#?}");
            worst = worst.max(error);
        }
    }
    println!("tree rows under any budget: {worst:e}");
}

#[test]
fn loaded_graphs_soak() {
    let mut rng = Rng::new(14);
    let mut worst = 0.0f64;
    for_graphs(15, 100 * soak_scale(), |case, scene, model, start| {
        let mut start = start.clone();
        start.pulls.iter_mut().chain(&mut start.loops.pulls).for_each(|pull| *pull = rng.vec3(-1e3, 1e3));
        let expected = oracle(scene, model, &start, true).expect("seen before");
        for form in [TreeForm::Pair, TreeForm::Block] {
            let (end, report) = Way { form, ..Way::PLAIN }.step(scene, model, &start, true);
            let error = difference(scene, &end.motions, &expected.motions);
            assert!(error <= 1e-8, "case {case}, {form:?}: {error:e}, {report:?}\n{scene:#?}");
            worst = worst.max(error);
        }
    });
    println!("graphs under load: worst relative difference {worst:e}");
}

/// Trees and loops of joints without forces, whose rows are independent.
fn bare_graph(rng: &mut Rng) -> Option<Scene> {
    let taste = Taste { error: 0.0, ..SMOOTH };
    let mut scene = Scene::random(rng, &taste);
    scene.close(rng, &taste, 3);
    scene.springs.clear();
    for joint in &mut scene.joints {
        (joint.twist, joint.slide, joint.rotation) = (None, None, None);
        joint.driven.clear();
    }
    scene.input = Input::default();
    scene.settings.gyroscopic = Gyroscopic::Auto;
    let model = scene.model();
    let solution = oracle(&scene, &model, &model.initial_state(), false)?;
    (model.n_rows().1 > 0 && solution.forces.is_some()).then_some(scene)
}

#[test]
fn forms_and_structures_agree_over_many_steps() {
    let mut rng = Rng::new(16);
    let (mut found, mut worst) = (0, 0.0f64);
    while found < 30 {
        let Some(scene) = bare_graph(&mut rng) else { continue };
        found += 1;
        for (order, newton) in [(Order::First, 1), (Order::First, 4), (Order::Second, 1), (Order::Second, 3)]
        {
            let run = |model: Model, form: TreeForm| {
                let mut implicit = Implicit::default();
                (implicit.order, implicit.newton_iterations, implicit.form) = (order, newton, form);
                (implicit.newton_tolerance, implicit.most_substeps) = (1e-10, 1);
                implicit.jacobian = JacobianAt::Predicted;
                let mut settings = tight(scene.settings);
                settings.loops.solve.method = LoopMethod::ConjugateResidual;
                settings.scheme = Scheme::Implicit(implicit);
                let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
                for _ in 0..10 {
                    step(&model, &mut state, &scene.input, &settings, &mut workspace);
                }
                state
            };
            let pair = run(scene.model(), TreeForm::Pair);
            let others = [(scene.model(), TreeForm::Block), (full(&scene), TreeForm::Pair)];
            for (which, (model, form)) in others.into_iter().enumerate() {
                let error = difference(&scene, &run(model, form).motions, &pair.motions);
                assert!(error <= 1e-7, "{order:?} {newton} {which}: {error:e}\n{scene:#?}");
                worst = worst.max(error);
            }
        }
    }
    println!("ten steps, all forms: {worst:e}");
}

#[test]
fn newton_iterations_solve_the_nonlinear_step_with_loops() {
    let mut rng = Rng::new(17);
    let (mut found, mut missed, mut worst) = (0, 0, [0.0f64; 2]);
    while found < 60 {
        let mut scene = Scene::random(&mut rng, &SMOOTH);
        scene.close(&mut rng, &SMOOTH, 3);
        let model = scene.model();
        let start = model.initial_state();
        let is_regular = oracle(&scene, &model, &start, false).is_some_and(|s| s.forces.is_some());
        if !is_regular || model.n_rows().1 == 0 {
            continue;
        }
        found += 1;
        scene.settings = tight(scene.settings);
        let (error, balance) = converged_errors(&mut rng, scene.clone(), &model);
        // Newton's method may miss a loop that its start all but stretches out.
        if error > 1e-6 {
            missed += 1;
            continue;
        }
        assert!(error < 1e-10 && balance < 1e-8, "case {found}: {error:e} m, {balance:e}\n{scene:#?}");
        worst = [worst[0].max(error), worst[1].max(balance)];
    }
    println!("converged steps with loops: {:e} m, imbalance {:e}, {missed} missed", worst[0], worst[1]);
    assert!(missed <= 6, "{missed} of 60");
}

/// A spring between two free bodies is all there is between them: it must not turn the pair.
#[test]
fn springs_between_bodies_keep_both_momenta() {
    let mut rng = Rng::new(18);
    for _ in 0..50 {
        let mut scene = Scene::random(&mut rng, &Taste { n_bodies: 1, ..SMOOTH });
        let other = Scene::random(&mut rng, &Taste { n_bodies: 1, ..SMOOTH });
        let bodies = [scene.bodies[0].clone(), other.bodies[0].clone()];
        scene.bodies = bodies.map(|b| b.with_damping(0.0, 0.0)).to_vec();
        (scene.joints, scene.input) = (Vec::new(), Input::default());
        scene.springs.clear();
        scene.close_by_spring(&mut rng);
        scene.settings = tight(scene.settings);
        (scene.settings.gravity, scene.settings.gyroscopic) = (DVec3::ZERO, Gyroscopic::None);
        let model = scene.model();
        let mut state = model.initial_state();
        let before = sinew_mechanism::momentum(&model, &state);
        step(&model, &mut state, &scene.input, &scene.settings, &mut Workspace::new(&model));
        // The momentum of the step lives at the poses of its start: rotations have not moved the inertia yet.
        let mut there = model.initial_state();
        there.motions.clone_from(&state.motions);
        let change = sinew_mechanism::momentum(&model, &there) - before;
        assert!(change.linear.length() < 1e-11, "{:e}", change.linear.length());
        assert!(change.angular.length() < 1e-11, "{:e} {:?}", change.angular.length(), scene.springs);
    }
}

#[test]
fn joints_that_only_hold_points_are_solved_at_once_as_on_the_tree() {
    // More loop rows than the dense method takes. The block form solves the tree first.
    let ends = [TreeForm::Pair, TreeForm::Block].map(|form| {
        let mut settings = Settings::default();
        let mut implicit = one_solve();
        implicit.form = form;
        settings.scheme = Scheme::Implicit(implicit);
        let mut run = Run::new(ladder(30), settings);
        run.state.motions.iter_mut().for_each(|motion| motion.linear += DVec3::new(0.3, 0.2, 0.0));
        let target = DVec3::new(1.0, 1.0, -3.0);
        let body = BodyId::from_index(40);
        run.input.grabs.push(Grab { body, point: DVec3::X * 0.1, target, stiffness: 20.0, damping: 1.0 });
        run.steps(30);
        run
    });
    let gap = violation(&ends[0].model, &ends[0].state, &ends[0].input).position;
    assert!(gap <= 1e-4, "{gap:e}");
    let difference = difference_of_poses(&ends[0].state, &ends[1].state);
    assert!(difference <= 1e-10, "{difference:e}");
    println!("at once or on the tree: {difference:e} m, joints open by {gap:e} m");
}

/// Largest distance between the centres of bodies, m.
fn difference_of_poses(a: &State, b: &State) -> f64 {
    a.poses.iter().zip(&b.poses).map(|(a, b)| a.translation.distance(b.translation)).fold(0.0, f64::max)
}

#[test]
fn a_taut_ladder_goes_on_from_its_state_alone() {
    // What a workspace remembers of the steps before changes nothing, whoever solves the loops.
    for method in [LoopMethod::Auto, LoopMethod::ConjugateResidual] {
        for solves in [1, 10] {
            let mut settings = Settings::default();
            let mut implicit = Implicit::default();
            implicit.newton_iterations = solves;
            settings.scheme = Scheme::Implicit(implicit);
            settings.loops.solve.method = method;
            let mut run = Run::new(ladder(30), settings);
            for (motion, pose) in run.state.motions.iter_mut().zip(&run.state.poses) {
                motion.angular = DVec3::Y * 20.0;
                motion.linear = motion.angular.cross(pose.translation);
            }
            run.steps(11);
            let mut again = Run::new(ladder(30), settings);
            again.state = run.state.clone();
            let (warm, cold) = (run.step(), again.step());
            assert_eq!(warm.damped_parts, cold.damped_parts, "{method:?}, {solves} solves");
            assert!(solves > 1 || warm.damped_parts == 0, "{method:?}: one solve is linearized at the start");
            assert!(run.state == again.state, "{method:?}, {solves} solves");
        }
    }
}
