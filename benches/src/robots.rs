//! Robots of thirty hinges, whose joint space the suite and the bench `joint_space` time.

use glam::DVec3;
use sinew_math::{MassProperties, Pose, ops};
use sinew_mechanism::{
    BodySpec, JointFrames, JointKind, JointSpec, MechanismBuilder, Model, rotation_to_axis,
};
use sinew_recursive::{Tree, TreeState};

/// Hinges of a robot.
pub const ROBOT_HINGES: usize = 30;

/// Rods of 0.2 m in a row on hinges about x, y and z in turn, and the way they hang: `limbs` rows on the world, or on a free body; the tips of
/// some pairs of limbs are held together by hinges.
///
/// # Panics
/// If there are no limbs.
pub fn robot(limbs: usize, is_floating: bool, n_loops: usize) -> Model {
    let rod = MassProperties::cuboid(DVec3::new(0.05, 0.06, 0.2), 1000.0);
    let mut builder = MechanismBuilder::new();
    let base = is_floating.then(|| builder.add_body(BodySpec::dynamic("base", Pose::IDENTITY, rod)));
    let mut tips = Vec::new();
    for limb in 0..limbs {
        let mut above = base;
        for k in 0..ROBOT_HINGES / limbs {
            let place = DVec3::new(0.1 * limb as f64, 0.02 * k as f64, -0.2 * k as f64);
            let pose = Pose::from_translation(place - DVec3::Z * 0.1);
            let parent = above.map_or(Pose::IDENTITY, |body| builder.body_pose(body));
            let body = builder.add_body(BodySpec::dynamic("", pose, rod));
            let axis = rotation_to_axis(DVec3::AXES[k % 3]).expect("not zero");
            let frames = JointFrames::coincident(&pose, &parent, &Pose::new(axis, place));
            builder.add_joint(JointSpec::new("", JointKind::Hinge, body, above, frames));
            above = Some(body);
        }
        tips.extend(above);
    }
    for pair in tips.chunks_exact(2).take(n_loops) {
        let [one, two] = [pair[0], pair[1]].map(|tip| builder.body_pose(tip));
        let frames = JointFrames::coincident(&one, &two, &Pose::from_translation(one.translation));
        builder.add_joint(JointSpec::new("", JointKind::Hinge, pair[0], Some(pair[1]), frames));
    }
    builder.build().expect("a tree")
}

/// A state away from zero.
pub fn robot_state(tree: &Tree) -> TreeState {
    let mut state = tree.neutral_state();
    let wave = |k: usize, step: f64| ops::sin_cos(k as f64 * step).0;
    let turn: Vec<f64> = (0..tree.n_dofs()).map(|k| wave(k, 0.7)).collect();
    tree.advance(&mut state.coordinates, &turn, 1.0);
    state.rates = (0..tree.n_dofs()).map(|k| wave(k, 1.3)).collect();
    state
}
