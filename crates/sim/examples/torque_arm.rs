//! A robot arm under torque control: it carries its own weight, moves its hand to a wall and presses on it with 20 N.

use sinew_recursive::{Dynamics, LinkId, Tree, TreeState};
use sinew_sim::{
    BodyDoc, ColliderDoc, DVec3, DriveCoordinate, Input, JointDoc, JointKind, Motion, Pose, SceneDoc, Shape,
    ShapeDoc, World,
};

const LINKS: [&str; 3] = ["upper", "fore", "hand"];
const LENGTH: f64 = 0.4;
const GRAVITY: DVec3 = DVec3::new(0.0, 0.0, -9.81);

fn scene() -> SceneDoc {
    let wall = ShapeDoc::from(Shape::Box { size: DVec3::new(0.1, 2.0, 2.0) }).at(DVec3::X * 0.85);
    let mut scene = SceneDoc::new("arm").with(ColliderDoc::solid(wall).named("wall"));
    for (i, name) in LINKS.into_iter().enumerate() {
        let at = DVec3::new(0.0, 0.0, -LENGTH * i as f64);
        let link = ShapeDoc::capsule(DVec3::ZERO, DVec3::Z * -LENGTH, 0.04);
        let joint = JointDoc::new(JointKind::Hinge, name, name).at(at).axis(DVec3::Y);
        let joint = if i > 0 { joint.parent(LINKS[i - 1]) } else { joint };
        scene = scene.with(BodyDoc::new(name).at(at).shape(link).mass(2.0).touching()).with(joint);
    }
    scene
}

/// Torques that carry the arm, pull its hand to a place with a spring of at most 20 N, and damp the joints.
fn torques(tree: &Tree, dynamics: &mut Dynamics, state: &TreeState, hand: LinkId) -> Vec<f64> {
    dynamics.kinematics(tree, state);
    let mut torques = vec![0.0; tree.n_dofs()];
    dynamics.fill_gravity(tree, GRAVITY, &mut torques);
    let tip = dynamics.body_pose(tree, hand).transform_point(DVec3::Z * -LENGTH);
    let pull = (DVec3::new(1.0, 0.0, -0.4) - tip) * 100.0;
    let pull = pull.clamp_length_max(20.0);
    let mut jacobian = vec![Motion::ZERO; tree.n_dofs()];
    dynamics.fill_jacobian(tree, hand, tip, &mut jacobian);
    for ((torque, column), rate) in torques.iter_mut().zip(&jacobian).zip(&state.rates) {
        *torque += column.linear.dot(pull) - 2.0 * rate;
    }
    torques
}

/// The world after some steps, the force on the wall (N), and how far the tip of the hand is from it (m).
pub(crate) fn run(n_steps: u32) -> Result<(World, [f64; 2]), Box<dyn std::error::Error>> {
    let mut world = World::from_scene(&scene())?;
    let tree = Tree::from_model(world.mechanism())?;
    let (mut dynamics, hand) = (Dynamics::new(&tree), tree.link_named("hand").ok_or("no hand")?);
    for _ in 0..n_steps {
        let state = TreeState::from_mechanism(&tree, &world.state().bodies);
        let mut input = Input::default();
        for (link, torque) in tree.links().zip(torques(&tree, &mut dynamics, &state, hand)) {
            if let Some(joint) = tree.joint(link) {
                input.add_effort(
                    world.mechanism(),
                    &world.state().bodies,
                    joint,
                    DriveCoordinate::Twist,
                    torque,
                );
            }
        }
        world.step_with(&input);
    }
    let force: f64 = world.contacts().map(|contact| contact.force.x.abs()).sum();
    let pose: Pose = world.pose(tree.body(hand));
    Ok((world, [force, 0.8 - pose.transform_point(DVec3::Z * -LENGTH).x - 0.04]))
}

#[expect(clippy::print_stdout, reason = "a program for people")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (_, [force, gap]) = run(300)?;
    println!("the hand presses with {force:.1} N, {:.1} mm from the wall", 1e3 * gap);
    Ok(())
}
