//! A soft robot arm: a beam of rubber between a wall and a plate, bent by a tendon that a winch pulls in.

use sinew_sim::{
    AttachDoc, AttachedDoc, BodyDoc, BuildError, CurveDoc, DVec3, EndDoc, FleshDoc, FleshMaterialDoc,
    FleshMeshDoc, RopeDoc, SceneDoc, Shape, TrackDoc, World,
};

const LENGTH_M: f64 = 0.4;

/// The arm along x, at rest until its tendon gets shorter by 8 cm.
fn arm() -> SceneDoc {
    let slice = |from: f64, to: f64| AttachedDoc::Inside {
        low: DVec3::new(from, -1.0, -1.0),
        high: DVec3::new(to, 1.0, 1.0),
    };
    let held = |body: &str, nodes| AttachDoc { body: Some(body.to_owned()), nodes };
    let winch = CurveDoc::Scalars(vec![(0.0, LENGTH_M), (1.0, LENGTH_M - 0.08)]);
    let plate = |x: f64| DVec3::new(x, 0.0, 0.5);
    SceneDoc::new("soft arm")
        .with(BodyDoc::fixed("wall").at(plate(0.0)).shape(Shape::Box { size: DVec3::new(0.02, 0.1, 0.1) }))
        .with(
            BodyDoc::new("plate")
                .at(plate(LENGTH_M))
                .shape(Shape::Box { size: DVec3::new(0.01, 0.08, 0.08) }),
        )
        .with(
            FleshDoc::new(
                "rubber",
                FleshMeshDoc::Beam { size: DVec3::new(LENGTH_M, 0.06, 0.06), cells: [10, 2, 2] },
            )
            .at(DVec3::new(0.0, -0.03, 0.47))
            .material(FleshMaterialDoc::NeoHookean { young: 2e6, poisson: 0.4, plastic: None, viscous: None })
            .attach(held("wall", slice(-1.0, 0.001)))
            .attach(held("plate", slice(LENGTH_M - 0.001, 1.0))),
        )
        .with(TrackDoc { name: "winch".to_owned(), curve: winch, ..TrackDoc::default() })
        .with(
            RopeDoc::new("tendon", ["wall", "plate"].map(|body| EndDoc::on(body, DVec3::Z * 0.04)))
                .wound_by("winch"),
        )
}

/// The world after some steps, how far the plate has risen (m), the sine of the angle by which it has turned, and the tension of the tendon (N).
pub(crate) fn run(n_steps: u32) -> Result<(World, [f64; 3]), BuildError> {
    let mut world = World::from_scene(&arm())?;
    for _ in 0..n_steps {
        world.step();
    }
    let plate = world.body("plate").map(|plate| world.pose(plate)).unwrap_or_default();
    let turned = (plate.rotation * DVec3::X).cross(DVec3::X).length();
    let tension = world.transmission("tendon").map_or(0.0, |tendon| world.transmission_reading(tendon).force);
    Ok((world, [plate.translation.z - 0.5, turned, tension]))
}

#[expect(clippy::print_stdout, reason = "a program for people")]
fn main() -> Result<(), BuildError> {
    let (_, [risen, turned, tension]) = run(120)?;
    println!(
        "the tip rose by {:.1} cm and turned by an angle of sine {turned:.2}; the tendon pulls with {tension:.0} N",
        1e2 * risen
    );
    Ok(())
}
