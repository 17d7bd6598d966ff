//! Multipliers and joint forces have one sign (docs/notation.md): what holds a hanging body points up wherever it is told.

use glam::DVec3;
use sinew_math::{MassProperties, Motion, Pose};
use sinew_mechanism::{
    BodySpec, Grab, Implicit, Input, JointKind, JointSpec, MechanismBuilder, Scheme, Settings, TreeForm,
    Workspace, joint_forces, step,
};
use sinew_topology::Priority;

use crate::support::{joined, single};

/// Of 2 kg, N.
const WEIGHT: f64 = 19.62;

fn mass() -> MassProperties {
    MassProperties::cuboid(DVec3::ONE, 2.0)
}

fn settings(form: TreeForm) -> Settings {
    let mut scheme = Implicit::default();
    scheme.form = form;
    let mut settings = Settings::default();
    (settings.scheme, settings.reactions) = (Scheme::Implicit(scheme), true);
    settings
}

#[test]
fn joints_hold_a_hanging_body_up() {
    for (priority, form) in [
        (Priority::Primary, TreeForm::Pair),
        (Priority::Primary, TreeForm::Block),
        (Priority::Secondary, TreeForm::Pair),
    ] {
        let (builder, _, joint) = single(mass(), Pose::IDENTITY, Motion::ZERO, |body| {
            let frames = joined(DVec3::ZERO, DVec3::ZERO);
            JointSpec::new("pin", JointKind::Ball, body, None, frames).with_priority(priority)
        });
        let model = builder.build().expect("a valid mechanism");
        assert_eq!(model.is_tree_joint(joint), priority == Priority::Primary);
        let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
        step(&model, &mut state, &Input::default(), &settings(form), &mut workspace);
        let up = |force: DVec3| (force - DVec3::Z * WEIGHT).length() < 1e-6;
        assert!(up(joint_forces(&model, &state)[joint.index()]), "{priority:?} {form:?}");
        assert!(up(workspace.joint_wrenches()[joint.index()].linear), "{priority:?} {form:?}");
        if priority == Priority::Primary {
            assert!(up(state.pulls[0]), "{form:?}: {:?}", state.pulls);
        } else {
            assert!(up(state.loops.pulls[0]), "{:?}", state.loops);
            assert!(up(DVec3::from_slice(&state.loops.forces)), "{:?}", state.loops);
        }
    }
}

#[test]
fn grabs_hold_a_hanging_body_up() {
    let mut builder = MechanismBuilder::new();
    let body = builder.add_body(BodySpec::dynamic("body", Pose::IDENTITY, mass()));
    let model = builder.build().expect("a valid mechanism");
    let mut input = Input::default();
    let target = DVec3::ZERO;
    input.grabs.push(Grab { body, point: DVec3::ZERO, target, stiffness: f64::INFINITY, damping: 0.0 });
    let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
    step(&model, &mut state, &input, &settings(TreeForm::Pair), &mut workspace);
    let force = workspace.grab_wrenches()[0].linear;
    assert!((force - DVec3::Z * WEIGHT).length() < 1e-6, "{force}");
}
