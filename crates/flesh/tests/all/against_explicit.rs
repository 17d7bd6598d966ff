//! Implicit steps of 1/60 s against explicit ones of 0.1 ms, which solve neither systems nor have damping of their own.
//!
//! What separates them is the error of the implicit scheme: backward Euler damps a vibration of circular frequency ω at the
//! rate ½ω²h, so a bar that swings at 9 rad/s loses half of the amplitude in a second at h = 1/60 s. So the motion is compared
//! over the first half second as a part of the largest displacement, the tolerances are twice what is measured, they shrink
//! with the step as the order says, and the state at rest, which has no such error, is compared tightly.

use glam::DVec3;
use sinew_flesh::{
    ExplicitFlesh, ExplicitWorkspace, FleshOptions, FleshState, finish_explicit, predict_bodies,
    step_explicit,
};
use sinew_mechanism::{Explicit, Grab, Implicit, Input, Order, Scheme, Settings, State, Workspace, step};

use crate::statics::{cantilever, farthest};
use crate::support::{Chain, ChainSpec, Run};

/// A mechanism with flesh in explicit steps: flesh first, with the bones where their twists lead, then the bones.
pub(crate) struct Reference<'a> {
    pub(crate) chain: &'a Chain,
    pub(crate) state: State,
    pub(crate) soft: FleshState,
    pub(crate) settings: Settings,
    pub(crate) substeps: u32,
    ahead: State,
    input: Input,
    workspace: Workspace,
    work: ExplicitWorkspace,
    pub(crate) wrenches: Vec<(sinew_mechanism::BodyId, sinew_math::Force)>,
}

impl<'a> Reference<'a> {
    pub(crate) fn new(chain: &'a Chain, dt: f64) -> Self {
        let state = chain.model.initial_state();
        let mut settings = Settings::default();
        (settings.scheme, settings.dt) = (Scheme::Explicit(Explicit::default()), dt);
        Self {
            chain,
            soft: chain.flesh.initial_state(&state),
            ahead: state.clone(),
            state,
            settings,
            substeps: 0,
            input: Input::default(),
            workspace: Workspace::new(&chain.model),
            work: ExplicitWorkspace::new(&chain.flesh),
            wrenches: Vec::new(),
        }
    }

    pub(crate) fn step(&mut self) {
        let Settings { dt, gravity, .. } = self.settings;
        predict_bodies(&self.state, dt, &mut self.ahead);
        let settings = ExplicitFlesh { dt, gravity, substeps: self.substeps, ..ExplicitFlesh::default() };
        let report = step_explicit(
            &self.chain.flesh,
            [&self.state, &self.ahead],
            &settings,
            &mut self.soft,
            &mut self.work,
            &mut self.wrenches,
        );
        assert!(!report.refused && report.non_finite.is_none() && report.elements.non_finite.is_none());
        self.input.wrenches.clear();
        self.input.wrenches.extend(self.wrenches.iter().copied());
        step(&self.chain.model, &mut self.state, &self.input, &self.settings, &mut self.workspace);
        finish_explicit(&self.chain.flesh, &self.state, &mut self.soft, &mut self.work);
    }
}

/// A damper of 10 N·s/m between each bone and the world.
fn damp(chain: &Chain, input: &mut Input) {
    let hold = |body| Grab { body, point: DVec3::ZERO, target: DVec3::ZERO, stiffness: 0.0, damping: 10.0 };
    input.grabs = chain.model.bodies().map(hold).collect();
}

/// Frames of 1/60 s.
const FRAME: f64 = 1.0 / 60.0;

/// Nodes at every frame of the explicit motion.
fn explicit_frames(chain: &Chain, n_frames: usize) -> Vec<Vec<DVec3>> {
    let mut run = Reference::new(chain, FRAME / 167.0);
    damp(chain, &mut run.input);
    let mut frame = || {
        (0..167).for_each(|_| run.step());
        run.soft.nodes[0].positions.clone()
    };
    (0..n_frames).map(|_| frame()).collect()
}

/// Nodes at every frame of the implicit motion in steps of `FRAME / per_frame`.
fn implicit_frames(chain: &Chain, order: Order, per_frame: usize, n_frames: usize) -> Vec<Vec<DVec3>> {
    let mut run = Run::new(chain);
    let mut implicit = Implicit::default();
    implicit.order = order;
    run.settings.scheme = Scheme::Implicit(implicit);
    run.settings.dt = FRAME / per_frame as f64;
    damp(chain, &mut run.input);
    let mut frame = || {
        (0..per_frame).for_each(|_| {
            run.step();
        });
        run.soft.nodes[0].positions.clone()
    };
    (0..n_frames).map(|_| frame()).collect()
}

/// Largest distance of any node in any frame, as a part of the largest displacement.
fn apart(found: &[Vec<DVec3>], expected: &[Vec<DVec3>], rest: &[DVec3]) -> f64 {
    let most = expected.iter().map(|x| farthest(x, rest)).fold(0.0, f64::max);
    found.iter().zip(expected).map(|(a, b)| farthest(a, b)).fold(0.0, f64::max) / most
}

/// `shape` says what of the nodes is compared at rest.
#[expect(clippy::print_stdout, reason = "tests print what they measure")]
fn compare(
    what: &str,
    chain: &Chain,
    allowed: [f64; 2],
    at_rest: f64,
    shape: impl Fn(&Vec<DVec3>) -> Vec<DVec3>,
) {
    let rest = &chain.flesh.bodies()[0].fem().mesh().positions().to_vec();
    let n_frames = 30;
    let expected = explicit_frames(chain, 360);
    for (order, allowed) in [Order::First, Order::Second].into_iter().zip(allowed) {
        let errors = [1, 2, 4].map(|per_frame| {
            let found = implicit_frames(chain, order, per_frame, n_frames);
            apart(&found, &expected[..n_frames], rest)
        });
        println!("{what}, {order:?}, 1/60, 1/120 and 1/240 s: {errors:.4?} of the displacement");
        assert!(errors[0] < allowed, "{what}, {order:?}: {errors:?}");
        let falls = if order == Order::First { 0.65 } else { 0.4 };
        assert!(errors[2] < falls * errors[1], "{what}, {order:?}: {errors:?}");
    }
    let last = implicit_frames(chain, Order::First, 1, expected.len());
    let [found, expected, rest] = [&last[359], &expected[359], rest].map(&shape);
    let error = farthest(&found, &expected) / farthest(&expected, &rest);
    println!("{what}, at rest: {error:.1e} of the displacement");
    assert!(error < at_rest, "{what} at rest: {error:e}");
}

#[test]
fn a_cantilever_moves_as_in_explicit_steps() {
    let options = FleshOptions { stiffness_damping_s: 0.0, bone_damping_per_s: 6.0, contact: None };
    let chain = cantilever(DVec3::new(1.0, 0.2, 0.2), [10, 2, 2], [1e6, 0.4], options);
    compare("cantilever", &chain, [0.17, 0.032], 1e-6, Vec::clone);
}

#[test]
fn a_chain_in_flesh_moves_as_in_explicit_steps() {
    let options = FleshOptions { stiffness_damping_s: 0.0, bone_damping_per_s: 6.0, contact: None };
    let spec = ChainSpec { n_bones: 3, cells: [12, 2, 2], young: 1e5, is_hung: true, options, every: 4 };
    // Nothing turns it back about the vertical through its joint.
    let unturned = |x: &DVec3| DVec3::new((*x - DVec3::Y * 0.05).truncate().length(), 0.0, x.z);
    let shape = |x: &Vec<DVec3>| x.iter().map(unturned).collect();
    compare("chain", &Chain::new(&spec), [0.08, 0.014], 2e-4, shape);
}
