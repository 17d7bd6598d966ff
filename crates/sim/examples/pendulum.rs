//! A rod on a hinge, let go sideways: prints its angle over time.

use std::error::Error;

use sinew_sim::{SceneDoc, World};

const SCENE: &str = r#"(
  format: 1,
  name: "pendulum",
  dt: 0.01,
  duration_s: 2,
  samples: Count(20),
  bodies: [(name: "rod", pose: (position: (0.5, 0, 0)), shapes: [Box(size: (1, 0.05, 0.05))])],
  joints: [(name: "pivot", kind: Hinge, child: "rod", frames: World(axis: (0, 1, 0)))],
)"#;

pub(crate) fn pendulum() -> Result<World, Box<dyn Error>> {
    Ok(World::from_scene(&SceneDoc::from_ron(SCENE, "pendulum.ron")?)?)
}

#[expect(clippy::print_stdout, reason = "a program for people")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut world = pendulum()?;
    let pivot = world.joint("pivot").expect("the scene has a pivot");
    for sample in world.info().samples.clone() {
        let mut index = 0;
        while index < sample {
            index = world.step().index;
        }
        println!("{:.2} s  {:7.2}°", world.time(), world.reading(pivot).twist.to_degrees());
    }
    Ok(())
}
