use glam::DVec3;
use sinew_control::*;
use sinew_math::{MassProperties, Pose};
use sinew_mechanism::*;
use sinew_recursive::*;
use std::time::Instant;
fn chain(n: usize, kinds: &[JointKind], floating: bool) -> Tree {
    let mut builder = MechanismBuilder::new();
    let axis = rotation_to_axis(DVec3::Y).unwrap();
    let mut before = None;
    for k in 0..n {
        let pose = Pose::from_translation(DVec3::X * (0.1 + 0.2 * k as f64));
        let body = builder.add_body(BodySpec::dynamic(
            "",
            pose,
            MassProperties::cuboid(DVec3::new(0.2, 0.08, 0.06), 1000.0),
        ));
        let joint = Pose::new(axis, DVec3::X * (0.2 * k as f64));
        if !(floating && before.is_none()) {
            let above = before.map_or(Pose::IDENTITY, |above| builder.body_pose(above));
            let frames = JointFrames::coincident(&pose, &above, &joint);
            let kind = if before.is_none() { JointKind::Hinge } else { kinds[k % kinds.len()] };
            builder.add_joint(JointSpec::new("", kind, body, before, frames));
        }
        before = Some(body);
    }
    Tree::from_model(&builder.build().unwrap()).unwrap()
}
fn main() {
    let only = std::env::args().nth(1);
    for (name, tree) in [
        ("worm", chain(7, &[JointKind::Ball, JointKind::Universal], true)),
        ("c100", chain(100, &[JointKind::Hinge], true)),
        ("c1000", chain(1000, &[JointKind::Hinge], true)),
        ("c4000", chain(4000, &[JointKind::Hinge], true)),
    ] {
        if only.as_deref().is_some_and(|o| o != name) {
            continue;
        }
        let last = tree.links().last().unwrap();
        let first = tree.links().next().unwrap();
        for style in [Style::Acceleration, Style::Torque, Style::Velocity] {
            for pose in [false, true] {
                for two in [false, true] {
                    let mut goals =
                        vec![Goal::drag(last, DVec3::X * 0.1, Place::At(DVec3::new(1.0, 0.2, 0.5)))];
                    if two {
                        goals.push(Goal::hold(first, Aim::Orientation(Facing::Held)));
                    }
                    let mut guide = Guide::new(style, goals);
                    if pose {
                        guide = guide.with_pose(PoseGoal {
                            coordinates: tree.neutral_state().coordinates,
                            gains: Gains::critical(3.0),
                            ramp: 0.1,
                        });
                    }
                    let mut c =
                        Controller::new(&tree, Actuation::new(&tree), Score::single(Act::Guide(guide)))
                            .unwrap();
                    let mut s = tree.neutral_state();
                    let turn: Vec<f64> = (0..tree.n_dofs()).map(|k| 0.1 * ((k % 5) as f64 - 2.0)).collect();
                    tree.advance(&mut s.coordinates, &turn, 1.0);
                    s.rates.copy_from_slice(&turn);
                    let mut cs = ControllerState::default();
                    let mut cmd = Command::passive(&tree);
                    let m = ControlInput::new(0.0, 1e-3, DVec3::Z * -9.81);
                    let mut d = Dynamics::new(&tree);
                    let reps = if tree.n_links() > 500 { 20 } else { 2000 };
                    let (mut best, mut hyb) = (f64::MAX, f64::MAX);
                    for _ in 0..reps {
                        let t = Instant::now();
                        let _ = c.command(&tree, &s, &m, &mut cs, &mut cmd);
                        best = best.min(t.elapsed().as_secs_f64());
                        let t = Instant::now();
                        let _ = d.hybrid(&tree, &s, &cmd, DVec3::Z * -9.81, &[]);
                        hyb = hyb.min(t.elapsed().as_secs_f64());
                    }
                    println!(
                        "{name} {style:?} pose {pose} two {two}: command {:.2} us, hybrid {:.2} us",
                        best * 1e6,
                        hyb * 1e6
                    );
                }
            }
        }
    }
}
