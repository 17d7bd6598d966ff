//! A ragdoll of fifteen bodies falls, and is dragged about by one hand as a mouse would do it.

use sinew_sim::{
    BodyDoc, BuildError, ColliderDoc, DVec3, Grab, Input, JointDoc, JointKind, SceneDoc, ShapeDoc, World,
};

/// Name, parent, where it begins and ends (m), radius (m). The joint is where it begins.
type Limb = (&'static str, &'static str, [f64; 3], [f64; 3], f64);

const LIMBS: [Limb; 15] = [
    ("pelvis", "", [0.0, -0.1, 1.0], [0.0, 0.1, 1.0], 0.12),
    ("belly", "pelvis", [0.0, 0.0, 1.1], [0.0, 0.0, 1.2], 0.12),
    ("chest", "belly", [0.0, 0.0, 1.3], [0.0, 0.0, 1.4], 0.14),
    ("head", "chest", [0.0, 0.0, 1.6], [0.0, 0.0, 1.7], 0.1),
    ("left arm", "chest", [0.0, 0.2, 1.5], [0.0, 0.5, 1.5], 0.05),
    ("left forearm", "left arm", [0.0, 0.5, 1.5], [0.0, 0.75, 1.5], 0.04),
    ("left hand", "left forearm", [0.0, 0.75, 1.5], [0.0, 0.85, 1.5], 0.04),
    ("right arm", "chest", [0.0, -0.2, 1.5], [0.0, -0.5, 1.5], 0.05),
    ("right forearm", "right arm", [0.0, -0.5, 1.5], [0.0, -0.75, 1.5], 0.04),
    ("right hand", "right forearm", [0.0, -0.75, 1.5], [0.0, -0.85, 1.5], 0.04),
    ("left thigh", "pelvis", [0.0, 0.1, 0.9], [0.0, 0.1, 0.55], 0.08),
    ("left shin", "left thigh", [0.0, 0.1, 0.5], [0.0, 0.1, 0.15], 0.06),
    ("right thigh", "pelvis", [0.0, -0.1, 0.9], [0.0, -0.1, 0.55], 0.08),
    ("right shin", "right thigh", [0.0, -0.1, 0.5], [0.0, -0.1, 0.15], 0.06),
    ("left foot", "left shin", [0.0, 0.1, 0.08], [0.15, 0.1, 0.08], 0.05),
];

/// Knees and elbows bend one way, everything else is a ball with a limit.
fn joint(name: &str, parent: &str, at: DVec3) -> JointDoc {
    let bends = |axis: DVec3| JointDoc::new(JointKind::Hinge, name, name).axis(axis).limits(0.0, 2.4);
    let joint = match name {
        "left shin" | "right shin" => bends(DVec3::Y),
        "left forearm" => bends(DVec3::NEG_Z),
        "right forearm" => bends(DVec3::Z),
        _ => JointDoc::new(JointKind::Ball, name, name).cone_limit(0.8),
    };
    joint.parent(parent).at(at).damping(0.5)
}

fn ragdoll(world: &mut World) -> Result<(), BuildError> {
    world.edit(|parts| {
        for (name, parent, from, to, radius) in LIMBS {
            let [from, to] = [from, to].map(DVec3::from_array);
            let limb = ShapeDoc::capsule(DVec3::ZERO, to - from, radius);
            parts.insert(BodyDoc::new(name).at(from + DVec3::Z * 0.5).shape(limb).touching());
            if !parent.is_empty() {
                parts.insert(joint(name, parent, from + DVec3::Z * 0.5));
            }
        }
    })
}

/// Falls for a while, then follows the mouse; gives the world then, and the height of the hand.
pub(crate) fn run(n_steps: u32) -> Result<(World, f64), BuildError> {
    let mut world = World::from_scene(&SceneDoc::new("ragdoll").with(ColliderDoc::floor(0.0)))?;
    ragdoll(&mut world)?;
    let (hand, mut mouse) = (world.body("right hand"), None);
    for _ in 0..n_steps {
        let mut input = Input::default();
        if let (true, Some(body)) = (world.time() > 1.5, hand) {
            let held = mouse.get_or_insert(world.pose(body).translation);
            *held = held.lerp(DVec3::new(1.0, 0.0, 2.5), 0.02);
            let grab = Grab { body, point: DVec3::ZERO, target: *held, stiffness: 5e3, damping: 3e2 };
            input.grabs.push(grab);
        }
        world.step_with(&input);
    }
    let height = hand.map_or(0.0, |hand| world.pose(hand).translation.z);
    Ok((world, height))
}

#[expect(clippy::print_stdout, reason = "a program for people")]
fn main() -> Result<(), BuildError> {
    println!("after 5 s the hand is {:.2} m up", run(300)?.1);
    Ok(())
}
