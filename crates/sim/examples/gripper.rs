//! A gripper: each finger hangs on two parallel bars, a closed loop that keeps it upright. It closes on a cube, and the table is taken away.

use sinew_sim::{
    BodyDoc, BuildError, ColliderDoc, DVec3, JointDoc, JointKind, MotorDoc, PoseDoc, SceneDoc, Shape,
    ShapeDoc, World,
};

/// Adds a finger; `side` is 1 or −1.
fn with_finger(scene: SceneDoc, side: f64, name: &str) -> SceneDoc {
    let tops = [0.05, 0.09].map(|x| DVec3::new(side * x, 0.0, 1.0));
    let bar = DVec3::new(side * 0.04, 0.0, -0.15);
    let hinge = |joint: &str, child: &str, at| {
        JointDoc::new(JointKind::Hinge, format!("{name} {joint}"), format!("{name} {child}"))
            .at(at)
            .axis(DVec3::Y)
    };
    let close = MotorDoc::velocity(side * 1.5, 1.0).max_force(1.5);
    let pad = BodyDoc::new(format!("{name} pad"))
        .at(tops[0] + bar - DVec3::Z * 0.06)
        .shape(Shape::Box { size: DVec3::new(0.02, 0.06, 0.12) })
        .shape(ShapeDoc::capsule(DVec3::Z * 0.06, DVec3::new(side * 0.04, 0.0, 0.06), 0.005))
        .touching();
    let mut scene = scene
        .with(pad)
        .with(hinge("motor", "crank", tops[0]).motor(close))
        .with(hinge("pivot", "rocker", tops[1]));
    for (link, top) in ["crank", "rocker"].into_iter().zip(tops) {
        let shape = ShapeDoc::capsule(top, top + bar, 0.005);
        scene = scene.with(BodyDoc::new(format!("{name} {link}")).shape(shape));
        scene =
            scene.with(hinge(&format!("end of {link}"), "pad", top + bar).parent(format!("{name} {link}")));
    }
    scene
}

/// The gripper above a cube on a table.
fn gripper() -> SceneDoc {
    let table = ShapeDoc::from(Shape::Box { size: DVec3::new(0.04, 0.3, 0.02) });
    let table = table.at(PoseDoc::from(DVec3::Z * 0.74));
    let cube = BodyDoc::new("cube").at(DVec3::Z * 0.78).shape(Shape::Box { size: DVec3::splat(0.06) });
    let scene = SceneDoc::new("gripper")
        .with(ColliderDoc::solid(table).named("table"))
        .with(cube.density(500.0).touching());
    with_finger(with_finger(scene, 1.0, "right"), -1.0, "left")
}

/// The world after some steps, how far the cube has sunk (m), how far a finger leans (rad), and the error of the loops (m).
pub(crate) fn run(n_steps: u32) -> Result<(World, [f64; 3]), BuildError> {
    let mut world = World::from_scene(&gripper())?;
    for step in 0..n_steps {
        if step == 60
            && let Some(table) = world.find::<ColliderDoc>("table")
        {
            world.remove(table)?;
        }
        world.step();
    }
    let pose = |name| world.body(name).map(|body| world.pose(body)).unwrap_or_default();
    let lean = (pose("right pad").rotation * DVec3::Z).cross(DVec3::Z).length();
    let (sunk, error) = (0.78 - pose("cube").translation.z, world.violation().position);
    Ok((world, [sunk, lean, error]))
}

#[expect(clippy::print_stdout, reason = "a program for people")]
fn main() -> Result<(), BuildError> {
    let (_, [sunk, lean, error]) = run(240)?;
    println!(
        "three seconds without a table: the cube sank by {:.2} mm, the fingers lean by {lean:.1e} rad, the loops are off by {error:.1e} m",
        1e3 * sunk
    );
    Ok(())
}
