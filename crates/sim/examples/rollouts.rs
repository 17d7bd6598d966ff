//! A thousand rollouts of one model from slightly different states, on all cores: how often does a falling stick land on its head?

use sinew_sim::{
    BodyDoc, BuildError, ColliderDoc, DVec3, Input, Pose, SceneDoc, Shape, State, Workspace, World,
    step_batch,
};

pub(crate) const STICK: Shape = Shape::Box { size: DVec3::new(0.3, 0.2, 0.5) };

/// Where the sticks are after some steps, and the share of those that came to rest with their heads up.
pub(crate) fn run(n_rollouts: usize, n_steps: u32) -> Result<(Vec<Pose>, f64), BuildError> {
    let scene = SceneDoc::new("stick")
        .with(ColliderDoc::floor(0.0))
        .with(BodyDoc::new("stick").at(DVec3::Z).shape(STICK).touching());
    let world = World::from_scene(&scene)?;
    let (model, settings) = (world.model(), world.settings());
    let mut states: Vec<State> = (0..n_rollouts)
        .map(|i| {
            let mut state = world.checkpoint();
            state.bodies.motions[0].angular = DVec3::Y * (0.02 * i as f64);
            state
        })
        .collect();
    let inputs = vec![Input::default(); n_rollouts];
    let mut workspaces: Vec<Workspace> = Vec::new();
    for _ in 0..n_steps {
        step_batch(model, &mut states, &inputs, settings, &mut workspaces);
    }
    let poses: Vec<Pose> = states.iter().map(|state| state.bodies.poses[0]).collect();
    let n_up = poses.iter().filter(|pose| (pose.rotation * DVec3::Z).z > 0.9).count();
    Ok((poses, n_up as f64 / n_rollouts as f64))
}

#[expect(clippy::print_stdout, reason = "a program for people")]
fn main() -> Result<(), BuildError> {
    println!("{:.0} % of a thousand sticks stand on their feet", 100.0 * run(1000, 120)?.1);
    Ok(())
}
