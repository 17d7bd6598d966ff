//! A crane: a boom on a motor, and a load on a rope that a winch pulls in.

use sinew_sim::{
    BodyDoc, BuildError, ColliderDoc, CurveDoc, DVec3, EndDoc, JointDoc, JointKind, MotorDoc, RopeDoc,
    SceneDoc, Shape, TrackDoc, World,
};

/// The crane, with its load on the ground.
fn crane() -> SceneDoc {
    let tip = DVec3::new(2.0, 0.0, 0.0);
    let winch = CurveDoc::Scalars(vec![(0.0, 2.5), (3.0, 1.0)]);
    SceneDoc::new("crane")
        .with(ColliderDoc::floor(0.0))
        .with(
            BodyDoc::fixed("tower").at(DVec3::Z * 1.5).shape(Shape::Box { size: DVec3::new(0.3, 0.3, 3.0) }),
        )
        .with(
            BodyDoc::new("boom")
                .at(DVec3::new(2.0, 0.0, 3.0))
                .shape(Shape::Box { size: DVec3::new(4.0, 0.2, 0.2) })
                .mass(200.0),
        )
        .with(
            JointDoc::new(JointKind::Hinge, "mast", "boom")
                .at(DVec3::Z * 3.0)
                .axis(DVec3::Z)
                .motor(MotorDoc::position(1.2, 4e4, 2e4).max_force(2e3)),
        )
        .with(
            BodyDoc::new("load")
                .at(DVec3::new(4.0, 0.0, 0.5))
                .shape(Shape::Box { size: DVec3::ONE })
                .mass(500.0)
                .touching(),
        )
        .with(TrackDoc { name: "winch".to_owned(), curve: winch, ..TrackDoc::default() })
        .with(
            RopeDoc::new("rope", [EndDoc::on("boom", tip), EndDoc::on("load", DVec3::Z * 0.5)])
                .wound_by("winch"),
        )
}

/// The world after some steps, the height of the load (m), how far the boom has turned (rad), and the tension of the rope (N).
pub(crate) fn run(n_steps: u32) -> Result<(World, [f64; 3]), BuildError> {
    let mut world = World::from_scene(&crane())?;
    for _ in 0..n_steps {
        world.step();
    }
    let load = world.body("load").map_or(0.0, |load| world.pose(load).translation.z);
    let turned = world.joint("mast").map_or(0.0, |mast| world.reading(mast).twist);
    let tension = world.transmission("rope").map_or(0.0, |rope| world.transmission_reading(rope).force);
    Ok((world, [load, turned, tension]))
}

#[expect(clippy::print_stdout, reason = "a program for people")]
fn main() -> Result<(), BuildError> {
    let (_, [height, turned, tension]) = run(360)?;
    println!(
        "the load hangs {height:.2} m up, the boom has turned by {turned:.2} rad, the rope pulls with {tension:.0} N"
    );
    Ok(())
}
