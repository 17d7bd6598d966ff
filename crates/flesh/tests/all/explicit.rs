//! Explicit flesh and contacts beside bones that other schemes move.

use glam::DVec3;
use sinew_contact::{Anchors, Collider, ContactMaterial, ContactModel, Groups};
use sinew_flesh::{
    ExplicitFlesh, ExplicitWorkspace, FleshOptions, FleshState, finish_explicit, predict_bodies,
    rigid_wrenches, step_explicit,
};
use sinew_math::{Force, Motion, Pose, ops};
use sinew_mechanism::{
    BodyId, Displacement, Explicit, Input, Scheme, Settings, State, Workspace, momentum, step,
};

use crate::against_explicit::Reference;
use crate::contact::{Block, Jelly, on_slope, scene, total_momentum};
use crate::support::{Chain, ChainSpec};

/// Bones that go first and feel the flesh one step later.
struct Lagged<'a> {
    chain: &'a Chain,
    state: State,
    before: State,
    soft: FleshState,
    settings: Settings,
    input: Input,
    workspace: Workspace,
    work: ExplicitWorkspace,
    wrenches: Vec<(BodyId, Force)>,
    substeps: u32,
}

impl<'a> Lagged<'a> {
    fn new(chain: &'a Chain, dt: f64) -> Self {
        let state = chain.model.initial_state();
        let mut settings = Settings::default();
        settings.dt = dt;
        Self {
            chain,
            soft: chain.flesh.initial_state(&state),
            before: state.clone(),
            state,
            settings,
            input: Input::default(),
            workspace: Workspace::new(&chain.model),
            work: ExplicitWorkspace::new(&chain.flesh),
            wrenches: Vec::new(),
            substeps: 0,
        }
    }

    fn step(&mut self) -> sinew_flesh::ExplicitReport {
        self.input.wrenches.clear();
        self.input.wrenches.extend(self.wrenches.iter().copied());
        self.before.clone_from(&self.state);
        step(&self.chain.model, &mut self.state, &self.input, &self.settings, &mut self.workspace);
        let Settings { dt, gravity, .. } = self.settings;
        let settings = ExplicitFlesh { dt, gravity, substeps: self.substeps, ..ExplicitFlesh::default() };
        step_explicit(
            &self.chain.flesh,
            [&self.before, &self.state],
            &settings,
            &mut self.soft,
            &mut self.work,
            &mut self.wrenches,
        )
    }
}

fn spec(options: FleshOptions) -> ChainSpec {
    ChainSpec { n_bones: 3, cells: [12, 2, 2], young: 2e4, is_hung: false, options, every: 4 }
}

/// A chain of bones in flesh above a floor that only the flesh touches.
fn worm() -> Chain {
    let material = ContactMaterial::for_load(2.0, 0.2, 5e-4, 0.5);
    let options = FleshOptions {
        stiffness_damping_s: 0.002,
        bone_damping_per_s: 5.0,
        contact: Some((material, Groups::ALL)),
    };
    Chain::with_contact(&spec(options), |model| {
        let floor = ContactMaterial::passive(0.5);
        let floor = Collider::ground(DVec3::Z * -0.02, DVec3::Z, floor).expect("a floor");
        Some(ContactModel::new(vec![floor], model.n_bodies(), &[]).expect("contacts"))
    })
}

#[test]
fn a_worm_falls_on_a_floor_and_rests() {
    let chain = worm();
    let body = &chain.flesh.bodies()[0];
    let free: f64 = body.attachments().free().iter().map(|f| body.fem().masses()[f.node as usize]).sum();
    let mut run = Reference::new(&chain, 1e-3);
    run.settings.scheme = Scheme::default();
    (0..3000).for_each(|_| run.step());
    let nodes = &run.soft.nodes[0];
    let fastest = nodes.velocities.iter().map(|v| v.length()).fold(0.0, f64::max);
    let lowest = nodes.positions.iter().map(|x| x.z).fold(f64::INFINITY, f64::min);
    println!("worm of {:.2} kg: {fastest:.1e} m/s, lowest {lowest:.5} m", free + 0.9);
    assert!(fastest < 1e-3, "{fastest:e} m/s");
    assert!((-0.022..=-0.0195).contains(&lowest), "{lowest}");
    // Nothing else holds the bones up: the flesh gives them their weight.
    let felt: DVec3 = run.wrenches.iter().map(|(_, wrench)| wrench.linear).sum();
    assert!((felt - DVec3::Z * (0.9 * 9.81)).length() < 1e-2 * 0.9 * 9.81, "{felt}");
    let settled = run.soft.nodes[0].positions.clone();
    (0..500).for_each(|_| run.step());
    let creep = crate::statics::farthest(&settled, &run.soft.nodes[0].positions) / 0.5;
    println!("worm at rest: creeps {creep:.1e} m/s");
    assert!(creep < 1e-4, "{creep:e} m/s");
}

#[test]
fn what_the_flesh_loses_the_bones_get() {
    let options = FleshOptions { stiffness_damping_s: 0.001, bone_damping_per_s: 4.0, contact: None };
    let chain = Chain::new(&spec(options));
    let start = |state: &mut State| {
        for (i, motion) in state.motions.iter_mut().enumerate() {
            *motion = Motion::new(DVec3::new(0.5, 0.1, 0.2), DVec3::new(0.3, 0.4 * i as f64, 0.1));
        }
    };
    // Bones that go first have not yet felt the last step.
    let mut lagged = Lagged::new(&chain, 1e-3);
    lagged.settings.gravity = DVec3::ZERO;
    start(&mut lagged.state);
    let before = total_momentum(&chain, (&lagged.state, &lagged.soft)).linear;
    (0..300).for_each(|_| {
        lagged.step();
    });
    let due: DVec3 = lagged.wrenches.iter().map(|(_, wrench)| wrench.linear * 1e-3).sum();
    let after = total_momentum(&chain, (&lagged.state, &lagged.soft)).linear + due;
    let error = (after - before).length() / before.length();
    println!("lagged: momentum off by {error:.1e}");
    assert!(error < 1e-11, "{error:e}");

    // Bones whose end is predicted feel it in the same step.
    let mut same = Reference::new(&chain, 1e-3);
    same.settings.gravity = DVec3::ZERO;
    start(&mut same.state);
    let before = total_momentum(&chain, (&same.state, &same.soft));
    (0..300).for_each(|_| same.step());
    let after = total_momentum(&chain, (&same.state, &same.soft));
    let linear = (after.linear - before.linear).length() / before.linear.length();
    let angular = (after.angular - before.angular).length() / before.angular.length();
    println!("predicted: momentum off by {linear:.1e}, angular by {angular:.1e}");
    assert!(linear < 1e-11 && angular < 1e-2, "{linear:e} {angular:e}");
}

/// The rates of growth in the header of `explicit.rs`.
#[test]
fn prediction_takes_energy_where_lag_gives_it() {
    let chain = Chain::new(&spec(FleshOptions::default()));
    let energy = |state: &State, soft: &FleshState| {
        let bones = sinew_mechanism::energy(&chain.model, state, DVec3::ZERO, 1.0).total();
        bones + chain.flesh.energy(soft, DVec3::ZERO).total()
    };
    let push = |state: &mut State| state.motions.iter_mut().for_each(|motion| motion.linear = DVec3::Y);
    let schemes = [Scheme::default(), Scheme::Explicit(Explicit::default())];
    let ends = schemes.map(|scheme| {
        let mut lagged = Lagged::new(&chain, 1e-4);
        let mut predicted = Reference::new(&chain, 1e-4);
        (lagged.substeps, predicted.substeps) = (8, 8);
        for settings in [&mut lagged.settings, &mut predicted.settings] {
            (settings.scheme, settings.gravity) = (scheme, DVec3::ZERO);
        }
        push(&mut lagged.state);
        push(&mut predicted.state);
        let start = energy(&predicted.state, &predicted.soft);
        for _ in 0..1000 {
            lagged.step();
            predicted.step();
        }
        [energy(&predicted.state, &predicted.soft) / start, energy(&lagged.state, &lagged.soft) / start]
    });
    println!("energy of bones in flesh after 0.1 s, predicted and lagged, implicit and explicit: {ends:.4?}");
    assert!(ends[0][0] < 1.0 && ends[1][0] < 1.1, "{ends:?}");
    assert!(ends[0][1] > 1.1 && ends[1][1] > ends[0][1], "{ends:?}");
}

/// Distance along a slope that a box goes in `n` steps of `dt`, after as many to settle.
fn slips(degrees: f64, scheme: Scheme, dt: f64, n: usize) -> [DVec3; 2] {
    let chain = scene(&[on_slope(degrees, DVec3::new(0.3, 0.2, 0.1), 2.0)], &[], Some(degrees), 0.5);
    let mut settings = Settings::default();
    (settings.scheme, settings.dt) = (scheme, dt);
    let (mut state, mut input) = (chain.model.initial_state(), Input::default());
    let mut workspace = Workspace::new(&chain.model);
    let (mut work, mut anchors) = (ExplicitWorkspace::new(&chain.flesh), Anchors::new());
    let (mut wrenches, mut places) = (Vec::new(), Vec::new());
    for i in 0..2 * n {
        if i % n == 0 {
            places.push((state.poses[0].translation, state.motions[0].linear));
        }
        rigid_wrenches(&chain.flesh, &state, dt, &mut anchors, &mut work, &mut wrenches);
        input.wrenches.clear();
        input.wrenches.extend(wrenches.iter().copied());
        step(&chain.model, &mut state, &input, &settings, &mut workspace);
    }
    [state.poses[0].translation - places[1].0, state.motions[0].linear - places[1].1]
}

#[test]
fn friction_holds_in_schemes_without_contacts() {
    let schemes = [
        ("explicit", Scheme::Explicit(Explicit::default())),
        ("displacement", Scheme::Displacement(Displacement::default())),
        ("implicit, contacts explicit", Scheme::default()),
    ];
    for (what, scheme) in schemes {
        let [moved, _] = slips(20.0, scheme, 2.5e-4, 4000);
        println!("{what} at 20 degrees: creeps {:.1e} m/s", moved.length());
        assert!(moved.length() < 1e-6, "{what}: {moved}");
        let (sin, cos) = ops::sin_cos(40_f64.to_radians());
        let [_, gained] = slips(40.0, scheme, 2.5e-4, 2000);
        let (found, expected) = (gained.dot(DVec3::new(cos, 0.0, -sin)) / 0.5, 9.81 * (sin - 0.5 * cos));
        println!("{what} at 40 degrees: {found:.5} m/s², Coulomb {expected:.5}");
        assert!((found / expected - 1.0).abs() < 0.03, "{what}: {found} for {expected}");
    }
}

#[test]
fn flesh_rests_on_a_box_that_rests_on_the_ground() {
    let block = Block { pose: Pose::from_translation(DVec3::Z * 0.15), edges: DVec3::splat(0.3), mass: 2.0 };
    let jelly = Jelly { corner: DVec3::new(-0.1, -0.1, 0.302), edge: 0.2, cells: 2, young: 2e4 };
    let chain = scene(&[block], &[jelly], Some(0.0), 0.5);
    let mut settings = Settings::default();
    (settings.scheme, settings.dt) = (Scheme::Explicit(Explicit::default()), 2.5e-4);
    let (mut state, mut input) = (chain.model.initial_state(), Input::default());
    let (mut soft, mut ahead) = (chain.flesh.initial_state(&state), state.clone());
    let mut workspace = Workspace::new(&chain.model);
    let (mut work, mut anchors) = (ExplicitWorkspace::new(&chain.flesh), Anchors::new());
    let (mut felt, mut held) = (Vec::new(), Vec::new());
    let explicit = ExplicitFlesh { dt: settings.dt, ..ExplicitFlesh::default() };
    for _ in 0..8000 {
        predict_bodies(&state, settings.dt, &mut ahead);
        step_explicit(&chain.flesh, [&state, &ahead], &explicit, &mut soft, &mut work, &mut felt);
        rigid_wrenches(&chain.flesh, &state, settings.dt, &mut anchors, &mut work, &mut held);
        input.wrenches = felt.iter().chain(&held).copied().collect();
        step(&chain.model, &mut state, &input, &settings, &mut workspace);
        finish_explicit(&chain.flesh, &state, &mut soft, &mut work);
    }
    let weight = chain.flesh.bodies()[0].fem().masses().iter().sum::<f64>() * 9.81;
    let (on_box, from_ground) = (felt[0].1.linear, held[0].1.linear);
    let speed = soft.nodes[0].velocities.iter().map(|v| v.length()).fold(0.0, f64::max);
    println!(
        "flesh on a box, explicit: {on_box:.4} N for {weight:.4}, ground {from_ground:.4}, {speed:.1e} m/s"
    );
    assert!(speed < 5e-3, "{speed:e} m/s");
    assert!((on_box + DVec3::Z * weight).length() < 1e-2 * weight, "{on_box}");
    assert!((from_ground - DVec3::Z * (weight + 2.0 * 9.81)).length() < 1e-2 * weight, "{from_ground}");
}

#[test]
fn nothing_allocates_once_warm_and_a_restored_state_has_the_same_bits() {
    let chain = worm();
    let mut run = Lagged::new(&chain, 1e-3);
    (0..200).for_each(|_| {
        run.step();
    });
    let mut again = Lagged::new(&chain, 1e-3);
    again.state.clone_from(&run.state);
    again.soft.clone_from(&run.soft);
    again.wrenches.clone_from(&run.wrenches);
    (0..100).for_each(|_| {
        run.step();
        again.step();
    });
    assert!(run.state == again.state && run.soft == again.soft && run.wrenches == again.wrenches);
    assert!(!run.soft.anchors.entries().is_empty(), "something sticks");
    run.before.clone_from(&run.state);
    let counted = allocation_counter::measure(|| {
        for _ in 0..20 {
            let settings = ExplicitFlesh { dt: 1e-3, ..ExplicitFlesh::default() };
            let states = [&run.before, &run.state];
            step_explicit(&chain.flesh, states, &settings, &mut run.soft, &mut run.work, &mut run.wrenches);
        }
    });
    assert_eq!(counted.count_total, 0);
}

#[test]
fn trouble_is_reported() {
    let chain = worm();
    let mut run = Lagged::new(&chain, 1e-3);
    run.settings.dt = f64::NAN;
    assert!(run.step().refused);
    run.settings.dt = 1e-3;
    run.soft.nodes[0].positions[1] = DVec3::NAN;
    let report = run.step();
    assert!(report.elements.non_finite.is_some());
    assert!(momentum(&chain.model, &run.state).is_finite(), "bones do not catch it");
    let none = FleshState::default();
    run.soft = none;
    assert!(run.step().refused);
    finish_explicit(&chain.flesh, &run.state, &mut run.soft, &mut run.work);
}
