//! Joints that are let go for some steps: while they are, the motion is that of the mechanism without them.

use glam::DVec3;
use sinew_mechanism::{
    Assembly, BodyId, Displacement, JointId, JointKind, JointSpec, MechanismBuilder, Order, RungeKutta,
    ScalarForce, Scheme, Settings, TreeForm,
};
use sinew_testkit::assert_close;
use sinew_topology::Priority;

use crate::support::{Chain, Run, explicit, implicit, joined, tight};

const HOOK: DVec3 = DVec3::new(1.2, 0.3, -0.8);

/// A chain of four links, and a joint from its last one to a hook that it does not reach yet.
fn hooked(kind: JointKind) -> (MechanismBuilder, JointId) {
    let mut builder = Chain::new(4, JointKind::Ball).build();
    let hook = JointSpec::new("hook", kind, BodyId::from_index(3), None, joined(DVec3::X * 0.25, HOOK));
    let joint = builder.add_joint(hook.with_priority(Priority::Secondary));
    (builder, joint)
}

fn schemes() -> Vec<(&'static str, Settings)> {
    let mut block = implicit(0.01, Order::First, 2);
    if let Scheme::Implicit(scheme) = &mut block.scheme {
        scheme.form = TreeForm::Block;
    }
    let mut displaced = implicit(0.01, Order::First, 1);
    displaced.scheme = Scheme::Displacement(Displacement::default());
    let mut stabilized = implicit(0.01, Order::First, 1);
    stabilized.stabilize = Some(Assembly::default());
    let all = [
        ("first order", implicit(0.01, Order::First, 1)),
        ("second order", implicit(0.01, Order::Second, 4)),
        ("block", block),
        ("stabilized", stabilized),
        ("explicit", explicit(0.01, RungeKutta::Fourth, 10.0)),
        ("displacement", displaced),
    ];
    all.map(|(name, settings)| (name, tight(settings))).to_vec()
}

#[test]
fn what_is_let_go_holds_nothing() {
    for (name, settings) in schemes() {
        for kind in [JointKind::Ball, JointKind::Hinge, JointKind::Fixed] {
            let (builder, joint) = hooked(kind);
            let mut run = Run::new(builder, settings);
            run.input.released.push(joint);
            let mut alone = Run::new(Chain::new(4, JointKind::Ball).build(), settings);
            for step in 0..30 {
                run.step();
                alone.step();
                for (a, b) in run.state.poses.iter().zip(&alone.state.poses) {
                    assert_close!(a.translation, b.translation, 1e-9);
                    assert_close!(a.rotation, b.rotation, 1e-9, "{name}, {kind:?}, step {step}");
                }
            }
            assert!(run.state.loops.forces.iter().all(|f| *f == 0.0), "{name}");
            assert_eq!(run.input.n_unusable(&run.model), 0);
            assert!(run.violation().position < 0.05, "{name}: {:?}", run.violation());
        }
    }
}

#[test]
fn it_closes_when_it_is_on_and_goes_free_when_it_is_let_go() {
    for (name, settings) in schemes() {
        let (builder, joint) = hooked(JointKind::Ball);
        let mut run = Run::new(builder, settings);
        let is_explicit = name == "explicit";
        let gap = |run: &Run| {
            let (a, b) = run.model.joint_anchors(&run.state, joint);
            a.distance(b)
        };
        run.input.released.push(joint);
        run.steps(10);
        assert!(gap(&run) > 0.5, "{name}");
        run.input.released.clear();
        run.steps(if is_explicit { 150 } else { 60 });
        let met = gap(&run);
        assert!(met < if is_explicit { 1e-2 } else { 1e-4 }, "{name}: {met:e}");
        // Displacement steps keep no forces.
        let is_pulled = run.state.loops.forces.iter().any(|f| *f != 0.0);
        assert!(is_pulled || name == "displacement", "{name}");
        run.input.released.push(joint);
        run.steps(20);
        assert!(gap(&run) > 0.05, "{name}: {:e}", gap(&run));
    }
}

#[test]
fn a_joint_that_cannot_be_let_go_is_left_alone_and_counted() {
    let (mut builder, hook) = hooked(JointKind::Ball);
    let body = BodyId::from_index(3);
    let frames = joined(DVec3::ZERO, DVec3::ZERO);
    let sprung = JointSpec::new("sprung", JointKind::Hinge, body, None, frames)
        .with_priority(Priority::Secondary)
        .with_twist(ScalarForce::spring(1.0, 0.0, 0.0));
    let sprung = builder.add_joint(sprung);
    let soft = JointSpec::new("soft", JointKind::Ball, body, None, frames)
        .with_priority(Priority::Secondary)
        .with_compliance(1e-3);
    let soft = builder.add_joint(soft);
    let mut run = Run::new(builder, implicit(0.01, Order::First, 1));
    let start = run.state.clone();
    run.input.released.push(hook);
    run.steps(5);
    let wanted = std::mem::replace(&mut run.state, start);
    run.input.released.extend([JointId::from_index(0), sprung, soft, JointId::from_index(99)]);
    assert_eq!(run.input.n_unusable(&run.model), 4);
    run.steps(5);
    assert_eq!(run.state, wanted);
}
