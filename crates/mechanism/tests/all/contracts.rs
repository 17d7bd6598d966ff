//! Promises about the step as a program: no allocation, the same bits at any number of threads, exact replays.

use glam::DVec3;
use sinew_math::{Motion, Pose};
use sinew_mechanism::{
    BodySpec, Implicit, Input, JointKind, JointSpec, MechanismBuilder, Model, Order, RotationForce,
    RungeKutta, ScalarForce, Scheme, Settings, State, TreeForm, Workspace, step,
};
use sinew_testkit::Rng;

use crate::dense_oracle::scene::{Scene, Taste};
use crate::support::{Chain, explicit, frames_at, implicit, settings, slab};

fn block_form() -> Settings {
    let mut scheme = Implicit::default();
    scheme.form = TreeForm::Block;
    let mut settings = settings(0.01);
    settings.scheme = Scheme::Implicit(scheme);
    settings
}

fn all_settings() -> [Settings; 6] {
    [
        settings(0.01),
        implicit(0.01, Order::First, 5),
        implicit(0.01, Order::Second, 1),
        implicit(0.01, Order::Second, 3),
        block_form(),
        explicit(0.001, RungeKutta::Fourth, 10.0),
    ]
}

/// A trunk with arms of mixed joints: wide enough for several tasks.
fn wide_tree(arms: usize, links: usize) -> MechanismBuilder {
    let mut rng = Rng::new(8);
    let mut builder = MechanismBuilder::new();
    let mass = slab(DVec3::new(0.4, 0.1, 0.1));
    let trunk = builder.add_body(BodySpec::dynamic("", Pose::IDENTITY, slab(DVec3::splat(0.5))));
    for _ in 0..arms {
        let mut parent = trunk;
        for _ in 0..links {
            let above = builder.body_pose(parent);
            let pose = Pose::new(rng.rotation(), above.translation + rng.vec3(-0.4, 0.4));
            let motion = Motion::new(rng.vec3(-0.5, 0.5), rng.vec3(-0.5, 0.5));
            let body = builder.add_body(BodySpec::dynamic("", pose, mass).with_motion(motion));
            let anchor = pose.translation.midpoint(above.translation);
            let frames = frames_at(&pose, &above, anchor, rng.unit_vec());
            let kind = [JointKind::Hinge, JointKind::Ball, JointKind::Universal][rng.below(3)];
            let mut joint = JointSpec::new("", kind, body, Some(parent), frames);
            match kind {
                JointKind::Hinge => joint = joint.with_twist(ScalarForce::spring(5.0, 0.1, 0.2)),
                _ => joint = joint.with_rotation(RotationForce::spring(5.0, 0.2)),
            }
            if rng.chance(0.2) {
                (joint.child, joint.parent, joint.frames) = (parent, Some(body), swapped(&joint));
            }
            builder.add_joint(joint);
            parent = body;
        }
    }
    builder
}

fn swapped(joint: &JointSpec) -> sinew_mechanism::JointFrames {
    let f = &joint.frames;
    sinew_mechanism::JointFrames {
        rotation1: f.rotation2,
        point1: f.point2,
        rotation2: f.rotation1,
        point2: f.point1,
    }
}

/// Every number of a state, bit by bit.
fn bits(state: &State) -> Vec<u64> {
    let mut out = vec![state.time.to_bits()];
    for pose in &state.poses {
        out.extend(pose.rotation.to_array().map(f64::to_bits));
        out.extend(pose.translation.to_array().map(f64::to_bits));
    }
    let motions = state.motions.iter().chain(&state.history.motions).chain(&state.history.increments);
    out.extend(motions.flat_map(|m| m.to_array().map(f64::to_bits)));
    out.extend(state.pulls.iter().flat_map(|p| p.to_array().map(f64::to_bits)));
    out.extend(state.twists.iter().map(|t| t.to_bits()));
    out
}

fn run(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    workspace: &mut Workspace,
    n: usize,
) {
    for _ in 0..n {
        let report = step(model, state, input, settings, workspace);
        assert_eq!(report.non_finite, None);
    }
}

#[test]
fn a_step_allocates_nothing() {
    let mut rng = Rng::new(9);
    let mut cases: Vec<(Model, Input)> = vec![
        (Chain::new(50, JointKind::Hinge).build().build().expect("a chain"), Input::default()),
        (Chain::new(50, JointKind::Ball).build().build().expect("a chain"), Input::default()),
        (wide_tree(4, 10).build().expect("a tree"), Input::default()),
    ];
    for _ in 0..20 {
        let scene = Scene::random(&mut rng, &Taste::WILD);
        cases.push((scene.model(), scene.input));
    }
    for (model, input) in &cases {
        for settings in all_settings() {
            let (mut state, mut workspace) = (model.initial_state(), Workspace::new(model));
            // The first steps of a scheme size its scratch and the history in the state.
            run(model, &mut state, input, &settings, &mut workspace, 2);
            let seen = allocation_counter::measure(|| {
                step(model, &mut state, input, &settings, &mut workspace);
            });
            assert_eq!(seen.count_total, 0, "{} bytes with {settings:?}", seen.bytes_total);
        }
    }
}

#[test]
fn the_default_step_allocates_nothing_from_the_first_one() {
    let model = Chain::new(50, JointKind::Hinge).build().build().expect("a chain");
    let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
    let settings = settings(0.01);
    let seen = allocation_counter::measure(|| {
        step(&model, &mut state, &Input::default(), &settings, &mut workspace);
    });
    assert_eq!(seen.count_total, 0);
}

#[test]
fn a_copy_of_the_state_replays_bit_by_bit_with_a_fresh_workspace() {
    let mut rng = Rng::new(10);
    let mut cases: Vec<(Model, Input)> = vec![(wide_tree(6, 8).build().expect("a tree"), Input::default())];
    for _ in 0..10 {
        let scene = Scene::random(&mut rng, &Taste { error: 0.01, ..Taste::WILD });
        cases.push((scene.model(), scene.input));
    }
    for (model, input) in &cases {
        for settings in all_settings() {
            let (mut state, mut workspace) = (model.initial_state(), Workspace::new(model));
            // Stiff springs blow the explicit baseline up sooner or later; its bits are the same until then.
            let n = if matches!(settings.scheme, Scheme::Explicit(_)) { 1 } else { 7 };
            run(model, &mut state, input, &settings, &mut workspace, n);
            let mut copy = state.clone();
            run(model, &mut state, input, &settings, &mut workspace, n);
            run(model, &mut copy, input, &settings, &mut Workspace::new(model), n);
            assert_eq!(bits(&state), bits(&copy), "{settings:?}");
        }
    }
}

#[test]
fn switching_schemes_leaves_no_trace_in_the_workspace() {
    let model = wide_tree(3, 5).build().expect("a tree");
    let mut shared = Workspace::new(&model);
    for settings in all_settings().iter().chain(&all_settings()) {
        let (mut alone, mut together) = (model.initial_state(), model.initial_state());
        run(&model, &mut alone, &Input::default(), settings, &mut Workspace::new(&model), 3);
        run(&model, &mut together, &Input::default(), settings, &mut shared, 3);
        assert_eq!(bits(&alone), bits(&together), "{settings:?}");
    }
}

#[cfg(feature = "parallel")]
#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let model = wide_tree(40, 60).build().expect("a tree");
    for settings in all_settings() {
        let result = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| {
                let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
                run(&model, &mut state, &Input::default(), &settings, &mut workspace, 4);
                bits(&state)
            })
        };
        let serial = result(1);
        for threads in [2, 3] {
            assert_eq!(serial, result(threads), "{threads} threads, {settings:?}");
        }
    }
}

#[cfg(feature = "parallel")]
#[test]
fn islands_and_roots_run_in_parallel_with_the_same_bits() {
    // Many chains, each its own island, hung from the world or a kinematic body.
    let mut builder = MechanismBuilder::new();
    let hand = builder.add_body(BodySpec::kinematic("hand", Pose::IDENTITY));
    for chain in 0..60 {
        let mut parent: Option<sinew_mechanism::BodyId> = (chain % 2 == 0).then_some(hand);
        for link in 0..40 {
            let at = DVec3::new(0.5 * f64::from(link) + 0.25, f64::from(chain), 0.0);
            let pose = Pose::from_translation(at);
            let body = builder.add_body(BodySpec::dynamic("", pose, slab(DVec3::new(0.5, 0.1, 0.1))));
            let above = parent.map_or(Pose::IDENTITY, |p| builder.body_pose(p));
            let frames = frames_at(&pose, &above, at - DVec3::X * 0.25, DVec3::Y);
            builder.add_joint(JointSpec::new("", JointKind::Hinge, body, parent, frames));
            parent = Some(body);
        }
    }
    let model = builder.build().expect("a mechanism");
    let result = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
            let mut input = Input::default();
            input.kinematic.push((hand, Pose::from_translation(DVec3::Z * 0.1)));
            run(&model, &mut state, &input, &settings(0.01), &mut workspace, 10);
            bits(&state)
        })
    };
    let serial = result(1);
    assert!([2, 3].into_iter().all(|threads| serial == result(threads)));
}

#[test]
fn a_workspace_states_the_bytes_it_holds() {
    let model = wide_tree(8, 40).build().expect("a model");
    for settings in [settings(0.01), implicit(0.01, Order::Second, 3), block_form()] {
        let (mut state, input) = (model.initial_state(), Input::default());
        let mut workspace = None;
        let held = allocation_counter::measure(|| {
            let mut made = Workspace::new(&model);
            step(&model, &mut state, &input, &settings, &mut made);
            workspace = Some(made);
        });
        let (stated, held) = (workspace.expect("made").bytes() as f64, held.bytes_current as f64);
        assert!((stated / held - 1.0).abs() < 0.15, "{:?}: states {stated}, holds {held}", settings.scheme);
    }
}
