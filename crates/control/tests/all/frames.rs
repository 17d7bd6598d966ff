//! Goals are about points and orientations of body frames, wherever these are on their bones.

use glam::DVec3;
use sinew_control::{Aim, Facing, Gains, Goal, Guide, PointTarget, Style, levels};
use sinew_math::{MassProperties, Pose, exp_so3};
use sinew_mechanism::{BodySpec, JointFrames, JointKind, JointSpec, MechanismBuilder};
use sinew_recursive::Tree;
use sinew_testkit::Rng;

use crate::support::{Run, ends, random_state, random_wrenches};

/// Four bones on ball joints, with body frames that a twin whose are at the centres of mass sees at `frame`.
fn chain(frame: &Pose) -> Tree {
    let mut builder = MechanismBuilder::new();
    let mass = MassProperties::cuboid(DVec3::new(0.2, 0.08, 0.06), 1000.0).transformed_by(frame.inverse());
    let mut before = None;
    for k in 0..4 {
        let pose = Pose::from_translation(DVec3::X * (0.1 + 0.2 * f64::from(k))).compose(frame);
        let body = builder.add_body(BodySpec::dynamic("", pose, mass));
        let above = before.map_or(Pose::IDENTITY, |above| builder.body_pose(above));
        let joint = Pose::from_translation(DVec3::X * (0.2 * f64::from(k)));
        let frames = JointFrames::coincident(&pose, &above, &joint);
        builder.add_joint(JointSpec::new("", JointKind::Ball, body, before, frames));
        before = Some(body);
    }
    Tree::from_model(&builder.build().expect("a chain")).expect("a tree")
}

#[test]
fn commands_do_not_depend_on_where_body_frames_are() {
    let frame = Pose::new(exp_so3(DVec3::new(0.2, 0.7, -0.9)), DVec3::new(0.1, -0.2, 0.3));
    let place = PointTarget::At(DVec3::new(0.4, 0.2, 0.3));
    let orientation = exp_so3(DVec3::X * 0.3);
    let aims = |frame: &Pose| {
        [
            Aim::Position(place.clone()),
            Aim::Position(PointTarget::Held),
            Aim::Component { axis: DVec3::new(1.0, 2.0, 0.0), place: place.clone() },
            Aim::Height(place.clone()),
            Aim::Orientation(Facing::At(orientation * frame.rotation)),
            Aim::Orientation(Facing::Held),
            Aim::Velocity(DVec3::X),
            Aim::Spin(DVec3::Y),
            Aim::Acceleration(DVec3::Z),
            Aim::SpinRate(DVec3::X),
        ]
    };
    for aim in 0..aims(&frame).len() {
        for style in [Style::Acceleration, Style::Torque, Style::Velocity] {
            let command = |frame: &Pose| {
                let (mut rng, tree) = (Rng::new(17), chain(frame));
                let point = frame.inverse().transform_point(DVec3::new(0.1, 0.02, 0.03));
                let gains = Gains { stiffness: 30.0, ..Gains::damper(4.0) };
                let [_, bone] = ends(&tree);
                let goal = Goal { bone, point, aim: aims(frame)[aim].clone(), gains, level: levels::DRAG };
                let mut run = Run::guided(tree, Guide::new(style, vec![goal]));
                run.state = random_state(&mut rng, &run.tree, 0.6, 0.5);
                let external = random_wrenches(&mut rng, &run.tree);
                let grab = Goal::drag(bone, point, PointTarget::At(DVec3::new(0.3, 0.3, 0.1)));
                let _ = run.decide(&external, &[]);
                let mut values = run.command.values.clone();
                let _ = run.decide(&external, &[grab]);
                values.extend(&run.command.values);
                values
            };
            let (plain, moved) = (command(&Pose::IDENTITY), command(&frame));
            assert!(plain.iter().any(|value| value.abs() > 1e-3));
            for (a, b) in plain.iter().zip(&moved) {
                assert!((a - b).abs() < 1e-9 * (1.0 + a.abs()), "{:?} {style:?}: {a} {b}", aims(&frame)[aim]);
            }
        }
    }
}
