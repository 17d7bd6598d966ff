//! Overconstrained linkages at default settings, against references in one coordinate.
//!
//! A single loop is a list of hinge lines `(p_i, a_i)` at the start and one rigid body behind each of them; the body behind the last one is
//! the ground. With angles `θ` the bodies are at `E_0(θ_0) … E_i(θ_i)`, `E` a rotation about a line. The loop moves along the curve
//! whose tangent `t` has `Σ a_i t_i = 0`, `Σ p_i × a_i t_i = 0`, `t_k = 1` at the present lines (least squares; `k` turns fastest at the start). Along it
//! ```text
//! q̈ = −(½ m' q̇² + V')/m        m = Σ |twist of unit rate|²_M,  V = −Σ m g·x,  ' by central differences along t
//! ```
//! by Runge and Kutta's rule with steps far below those of the test. Nothing is shared with the library but rotations.

mod geometry;
mod single_loop;

use glam::DVec3;
use sinew_math::{Pose, ops};
use sinew_mechanism::{
    BodyId, Displacement, Explicit, Implicit, JointKind, MechanismBuilder, Model, Order, Scheme, Settings,
    State, Workspace, step,
};

use crate::support::{add_bar, pin};
use geometry::{altmann, bennett, double_hooke, goldberg, myard, sarrus};
use single_loop::{SingleLoop, runge_kutta};

/// Gravity that is in no plane of a linkage.
const ASKEW: DVec3 = DVec3::new(3.0, -2.0, -9.0);

/// Default settings of a scheme with another step length.
fn usual(scheme: Scheme, dt: f64) -> Settings {
    let mut settings = Settings::default();
    (settings.dt, settings.gravity, settings.scheme) = (dt, ASKEW, scheme);
    settings
}

/// Default implicit steps of an order.
fn implicit(order: Order) -> Scheme {
    let mut scheme = Implicit::default();
    scheme.order = order;
    Scheme::Implicit(scheme)
}

/// The state after a time; no joint may be left open.
fn run(model: &Model, settings: &Settings, seconds: f64) -> State {
    let (mut state, mut workspace) = (model.initial_state(), Workspace::new(model));
    for k in 0..(seconds / settings.dt).round() as usize {
        let report = step(model, &mut state, &sinew_mechanism::Input::default(), settings, &mut workspace);
        assert_eq!((report.worst_joint, report.non_finite), (None, None), "step {k}: {report:?}");
    }
    state
}

/// Errors of the places of the bodies after a time, for several step lengths.
fn errors(model: &Model, scheme: Scheme, seconds: f64, rates: &[f64], places: &[DVec3]) -> Vec<f64> {
    let error = |rate: &f64| {
        let state = run(model, &usual(scheme, 1.0 / rate), seconds);
        let gaps = state.poses.iter().zip(places).map(|(pose, place)| pose.translation.distance(*place));
        gaps.fold(0.0, f64::max)
    };
    rates.iter().map(error).collect()
}

/// The observed order between the first and the last error.
fn slope(errors: &[f64], rates: &[f64]) -> f64 {
    let (first, last) = (0, errors.len() - 1);
    ops::ln(errors[first] / errors[last]) / ops::ln(rates[last] / rates[first])
}

/// The observed orders of some schemes against the places of a reference; those of the bodies at the start tell how far it moves.
fn check_orders(
    name: &str,
    model: &Model,
    seconds: f64,
    places: &[DVec3],
    schemes: [(Scheme, [f64; 3], f64); 2],
) {
    let start = model.initial_state();
    let moved = start.poses.iter().zip(places).map(|(pose, place)| pose.translation.distance(*place));
    let moved = moved.fold(0.0, f64::max);
    assert!(moved > 0.05, "{name} hardly moves: {moved} m");
    for (scheme, rates, expected) in schemes {
        let errors = errors(model, scheme, seconds, &rates, places);
        let slope = slope(&errors, &rates);
        assert!(slope > expected, "{name}, {scheme:?}: order {slope}, errors {errors:?} m");
    }
}

/// Both orders of implicit steps.
fn check_implicit(name: &str, model: &Model, seconds: f64, places: &[DVec3]) {
    let rates = [120.0, 240.0, 480.0];
    let schemes = [(implicit(Order::First), rates, 0.9), (implicit(Order::Second), rates, 1.8)];
    check_orders(name, model, seconds, places, schemes);
}

/// Runge–Kutta of fourth order, and displacement steps.
fn check_others(name: &str, model: &Model, seconds: f64, places: &[DVec3]) {
    let (explicit, displacement) = (Explicit::default(), Displacement::default());
    let schemes = [
        (Scheme::Explicit(explicit), [60.0, 120.0, 240.0], 3.5),
        (Scheme::Displacement(displacement), [120.0, 240.0, 480.0], 1.8),
    ];
    check_orders(name, model, seconds, places, schemes);
}

fn check(name: &str, model: &Model, seconds: f64, places: &[DVec3]) {
    check_implicit(name, model, seconds, places);
    check_others(name, model, seconds, places);
}

fn check_loop(name: &str, linkage: &SingleLoop, seconds: f64) {
    linkage.assert_closed(name);
    let model = linkage.builder().build().expect("a linkage");
    check(name, &model, seconds, &linkage.places_after(ASKEW, seconds));
}

#[test]
fn bennett_moves_as_its_reference() {
    check_loop("Bennett", &bennett(), 0.5);
}

#[test]
fn goldberg_moves_as_its_reference() {
    check_loop("Goldberg", &goldberg(), 1.3);
}

#[test]
fn myard_moves_as_its_reference() {
    check_loop("Myard", &myard(), 0.5);
}

#[test]
fn altmann_moves_as_its_reference() {
    let linkage = altmann();
    linkage.assert_closed("Altmann");
    let model = linkage.builder().build().expect("a linkage");
    // It passes a singular pose after 0.56 s, where the reference is good to 3e-5 m.
    check_others("Altmann", &model, 0.5, &linkage.places_after(ASKEW, 0.5));
    let places = linkage.places_after(ASKEW, 0.8);
    check_implicit("Altmann, beyond a singular pose", &model, 0.8, &places);
    let scheme = Scheme::Explicit(Explicit::default());
    let errors = errors(&model, scheme, 0.8, &[120.0, 240.0, 480.0], &places);
    assert!(errors.iter().all(|error| *error < 1e-4), "beyond a singular pose: {errors:?} m");
}

#[test]
fn sarrus_moves_as_its_reference() {
    check_loop("Sarrus", &sarrus(), 0.3);
}

#[test]
fn a_double_hooke_joint_moves_as_its_reference() {
    check_loop("double Hooke", &double_hooke(), 0.5);
}

/// Cranks of length `ℓ` that stay parallel: `(Σ I_i) φ̈ = Σ m_i ℓ_i g·e_φ(φ)`, all angles `φ` from the x axis of `frame`, about its y axis.
struct Parallelograms {
    builder: MechanismBuilder,
    /// Per body: its place at the start, and its share of the path of a crank's end.
    bodies: Vec<(DVec3, f64)>,
    /// From pivot to the end of the cranks, at the start.
    crank: DVec3,
    axis: DVec3,
    inertia: f64,
    moment: f64,
}

impl Parallelograms {
    fn new(frame: &Pose, angle: f64) -> Self {
        let along = DVec3::new(ops::cos(angle), 0.0, -ops::sin(angle)) * 0.6;
        let (crank, axis) = (frame.rotation * along, frame.rotation * DVec3::Y);
        let builder = MechanismBuilder::new();
        Self { builder, bodies: Vec::new(), crank, axis, inertia: 0.0, moment: 0.0 }
    }

    /// A crank of 1 kg on the world at a pivot.
    fn add_crank(&mut self, pivot: DVec3) -> BodyId {
        let bar = add_bar(&mut self.builder, pivot, pivot + self.crank);
        pin(&mut self.builder, JointKind::Hinge, (bar, None), pivot, self.axis);
        let length = self.crank.length();
        self.bodies.push((pivot + 0.5 * self.crank, 0.5));
        self.inertia += (length * length + 0.05 * 0.05) / 12.0 + 0.25 * length * length;
        self.moment += 0.5;
        bar
    }

    /// A bar of 1 kg across the ends of two cranks.
    fn add_across(&mut self, cranks: [BodyId; 2], pivots: [DVec3; 2]) {
        let ends = pivots.map(|pivot| pivot + self.crank);
        let bar = add_bar(&mut self.builder, ends[0], ends[1]);
        for (crank, end) in cranks.into_iter().zip(ends) {
            pin(&mut self.builder, JointKind::Hinge, (bar, Some(crank)), end, self.axis);
        }
        self.bodies.push((0.5 * (ends[0] + ends[1]), 1.0));
        self.inertia += self.crank.length_squared();
        self.moment += 1.0;
    }

    fn check(self, name: &str, seconds: f64) {
        let turned = |angle: f64| sinew_math::exp_so3(self.axis * angle) * self.crank;
        let rate = |state: [f64; 2]| {
            let arm = turned(state[0]);
            [state[1], self.moment * ASKEW.dot(self.axis.cross(arm)) / self.inertia]
        };
        let angle = runge_kutta([0.0, 0.0], seconds, 20_000, rate)[0];
        let path = turned(angle) - self.crank;
        let places: Vec<DVec3> = self.bodies.iter().map(|(place, share)| *place + path * *share).collect();
        check(name, &self.builder.build().expect("parallelograms"), seconds, &places);
    }
}

/// A frame that is turned in no special way.
fn askew_frame() -> Pose {
    Pose::from_rotation(sinew_math::exp_so3(DVec3::new(0.7, -0.4, 1.1)))
}

#[test]
fn four_bars_in_series_move_as_a_pendulum() {
    let frame = askew_frame();
    let mut series = Parallelograms::new(&frame, 0.4);
    let pivots: Vec<DVec3> = (0..6).map(|k| frame.rotation * (DVec3::X * (0.5 * f64::from(k)))).collect();
    let cranks: Vec<BodyId> = pivots.iter().map(|pivot| series.add_crank(*pivot)).collect();
    for k in 0..5 {
        series.add_across([cranks[k], cranks[k + 1]], [pivots[k], pivots[k + 1]]);
    }
    series.check("five four-bars", 0.5);
}

#[test]
fn a_platform_on_redundant_legs_moves_as_a_pendulum() {
    // Six legs carry one platform; two would do.
    let frame = askew_frame();
    let mut platform = Parallelograms::new(&frame, 1.9);
    let corners = [(0.0, 0.0), (1.0, 0.0), (0.0, 0.7), (1.0, 0.7), (0.5, 0.3), (0.2, 0.6)];
    let pivots = corners.map(|(x, y)| frame.rotation * DVec3::new(x, y, 0.0));
    let legs = pivots.map(|pivot| platform.add_crank(pivot));
    platform.add_across([legs[0], legs[3]], [pivots[0], pivots[3]]);
    let top = BodyId::from_index(6);
    for k in [1, 2, 4, 5] {
        let (end, axis) = (pivots[k] + platform.crank, platform.axis);
        pin(&mut platform.builder, JointKind::Hinge, (top, Some(legs[k])), end, axis);
    }
    platform.check("platform on six legs", 0.5);
}
