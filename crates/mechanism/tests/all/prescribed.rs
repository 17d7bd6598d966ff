//! Kinematic bodies and driven coordinates under the explicit stepper: order of accuracy along smooth paths.

use glam::DVec3;
use sinew_math::{Motion, Pose, exp_so3, left_jacobian, ops};
use sinew_mechanism::{
    Assembly, BodyId, BodySpec, Drive, DriveCoordinate, Input, JointId, JointKind, JointSpec, Loops,
    MechanismBuilder, Model, Order, RungeKutta, Settings, State, Workspace, assemble, rotation_to_axis, step,
};

use crate::convergence::distance;
use crate::support::{explicit, frames_at, implicit, slab};

/// A hand that moves and turns: pose of its frame, and twist at its origin.
fn hand(t: f64, phase: f64) -> (Pose, Motion) {
    let (sin, cos) = (ops::sin, ops::cos);
    let (a, b) = (2.0 * t + phase, 3.0 * t - phase);
    let turn = DVec3::new(0.4 * sin(t), 0.3 * sin(a), 0.5 * t);
    let rate = DVec3::new(0.4 * cos(t), 0.6 * cos(a), 0.5);
    let pose = Pose::new(exp_so3(turn), DVec3::new(0.15 * sin(a), 0.1 * sin(b), phase + 0.1 * cos(t)));
    let velocity = DVec3::new(0.3 * cos(a), 0.3 * cos(b), -0.1 * sin(t));
    (pose, Motion::new(left_jacobian(turn) * rate, velocity))
}

/// A driven angle.
fn angle(t: f64) -> Drive {
    let (sin, cos) = (ops::sin(2.0 * t), ops::cos(2.0 * t));
    Drive { coordinate: DriveCoordinate::Twist, value: 0.7 * sin, rate: 1.4 * cos, acceleration: -2.8 * sin }
}

/// Two hands with a chain of two links between them, which closes a loop, and a pendulum on an arm that the first hand turns.
struct Puppet {
    model: Model,
    hands: [BodyId; 2],
    arm: JointId,
}

const PHASES: [f64; 2] = [0.0, 0.6];

impl Puppet {
    fn new() -> Self {
        let mut builder = MechanismBuilder::new();
        let starts = PHASES.map(|phase| hand(0.0, phase));
        let hands = [0, 1].map(|i| {
            let (pose, twist) = starts[i];
            builder.add_body(BodySpec::kinematic(format!("hand{i}"), pose).with_motion(twist))
        });
        let bar = slab(DVec3::new(0.5, 0.1, 0.06));
        let ends = starts.map(|(pose, _)| pose.translation);
        let elbow = 0.5 * (ends[0] + ends[1]) + DVec3::X * 0.4;
        let mut link = |name: &str, from: DVec3, to: DVec3| {
            let along = (to - from).normalize();
            let turn = rotation_to_axis(along).expect("a direction");
            let pose = Pose::new(turn, 0.5 * (from + to));
            (builder.add_body(BodySpec::dynamic(name, pose, bar)), pose)
        };
        let upper = link("upper", ends[0], elbow);
        let lower = link("lower", elbow, ends[1]);
        let (arm_end, bob_end) = (ends[0] - DVec3::Y * 0.5, ends[0] - DVec3::Y * 0.5 - DVec3::Z * 0.5);
        let arm = link("arm", ends[0], arm_end);
        let bob = link("bob", arm_end, bob_end);
        let join = |kind, child: (BodyId, Pose), parent: (BodyId, Pose), at: DVec3, axis: DVec3| {
            let frames = frames_at(&child.1, &parent.1, at, axis);
            JointSpec::new("", kind, child.0, Some(parent.0), frames)
        };
        let held = [0, 1].map(|i| (hands[i], starts[i].0));
        let joints = [
            join(JointKind::Ball, upper, held[0], ends[0], DVec3::X),
            join(JointKind::Ball, lower, upper, elbow, DVec3::X),
            join(JointKind::Ball, lower, held[1], ends[1], DVec3::X),
            join(JointKind::Hinge, bob, arm, arm_end, DVec3::Y),
        ];
        for joint in joints {
            builder.add_joint(joint);
        }
        let turned = join(JointKind::Hinge, arm, held[0], ends[0], DVec3::X);
        let arm = builder.add_joint(turned.driven_by(DriveCoordinate::Twist));
        Self { model: builder.build().expect("a valid mechanism"), hands, arm }
    }

    /// The input of a step that ends at a time.
    fn input(&self, end: f64, gives_twists: bool) -> Input {
        let mut input = Input::default();
        for (&body, phase) in self.hands.iter().zip(PHASES) {
            let (pose, twist) = hand(end, phase);
            input.kinematic.push((body, pose));
            if gives_twists {
                input.kinematic_twists.push((body, twist));
            }
        }
        input.drives.push((self.arm, angle(end)));
        input
    }

    /// The state after `n` steps.
    fn run(&self, mut settings: Settings, n: usize, gives_twists: bool) -> State {
        let mut workspace = Workspace::new(&self.model);
        let mut state = self.model.initial_state();
        let mut exact = Assembly::default();
        exact.tolerance = 1e-14;
        let start = Input { kinematic: Default::default(), ..self.input(0.0, true) };
        assemble(&self.model, &mut state, &start, &exact, &Loops::default(), &mut workspace);
        settings.dt = TIME / n as f64;
        for k in 1..=n {
            let input = self.input(settings.dt * k as f64, gives_twists);
            let report = step(&self.model, &mut state, &input, &settings, &mut workspace);
            assert!(report.non_finite.is_none() && input.n_unusable(&self.model) == 0);
        }
        state
    }
}

const TIME: f64 = 1.0;

/// Largest difference of poses alone.
fn pose_distance(a: &State, b: &State) -> f64 {
    let still = |s: &State| State { motions: vec![Motion::ZERO; s.motions.len()], ..s.clone() };
    distance(&still(a), &still(b))
}

#[test]
fn explicit_steps_keep_their_order_under_prescribed_motion() {
    let puppet = Puppet::new();
    let method = |method| explicit(0.0, method, 0.0);
    let fine = puppet.run(method(RungeKutta::Fourth), 3200, true);
    for (kind, n, least) in [(RungeKutta::Fourth, 100, 3.8), (RungeKutta::Second, 200, 1.9)] {
        let [coarse, half] = [n, 2 * n].map(|n| distance(&puppet.run(method(kind), n, true), &fine));
        let order = ops::ln(coarse / half) / ops::ln(2.0);
        println!("{kind:?}: {coarse:e} {half:e} order {order:.2}");
        assert!(order >= least && half < 1e-2, "{kind:?}: {coarse:e} {half:e} order {order}");
    }
    // Without the twists the goals are passed at the same times, and what hangs on them is of second order.
    let [coarse, half] =
        [200, 400].map(|n| pose_distance(&puppet.run(method(RungeKutta::Fourth), n, false), &fine));
    let order = ops::ln(coarse / half) / ops::ln(2.0);
    assert!(order >= 1.8, "goals alone: {coarse:e} {half:e} order {order}");
    // The implicit stepper, which knows nothing of twists of goals, goes the same way.
    let other = puppet.run(implicit(0.0, Order::Second, 8), 4000, false);
    let apart = pose_distance(&other, &fine);
    println!("goals alone: order {order:.2}; implicit: {apart:e}");
    assert!(apart < 1e-4, "{apart:e} from the implicit solution");
}
