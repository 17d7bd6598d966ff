//! A car with four wheels on springs, driven by the rear axle and steered by the front one, over a bump.

use sinew_sim::{
    BodyDoc, BuildError, ColliderDoc, ContactDoc, DVec3, DriveCoordinate, Handle, Input, JointDoc, JointKind,
    MotorDoc, Pose, SceneDoc, Shape, ShapeDoc, World,
};

struct Car {
    body: Handle<BodyDoc>,
    driven: Vec<Handle<JointDoc>>,
}

fn car(world: &mut World) -> Result<Car, BuildError> {
    let rubber = ContactDoc::with_friction(1.0);
    let wheel = ShapeDoc::cylinder(DVec3::Y * -0.1, DVec3::Y * 0.1, 0.3);
    world.edit(|parts| {
        let chassis = Shape::Box { size: DVec3::new(2.4, 1.2, 0.4) };
        let body =
            parts.insert(BodyDoc::new("chassis").at(DVec3::Z * 0.7).shape(chassis).mass(800.0).touching());
        let mut driven = Vec::new();
        for (i, (x, y)) in [(0.9, 0.8), (0.9, -0.8), (-0.9, 0.8), (-0.9, -0.8)].into_iter().enumerate() {
            let (hub, tyre, at) = (format!("hub {i}"), format!("tyre {i}"), DVec3::new(x, y, 0.3));
            parts.insert(BodyDoc::new(&hub).at(at).shape(Shape::Sphere { radius: 0.1 }).mass(10.0));
            parts.insert(BodyDoc::new(&tyre).at(at).shape(wheel).mass(15.0).contact(rubber));
            let strut =
                JointDoc::new(JointKind::Prismatic, format!("strut {i}"), &hub).parent("chassis").at(at);
            parts.insert(strut.axis(DVec3::Z).spring(4e4, 3e3).limits(-0.15, 0.15));
            let axle = JointDoc::new(JointKind::Hinge, format!("axle {i}"), &tyre)
                .parent(&hub)
                .at(at)
                .axis(DVec3::Y);
            let axle = parts.insert(if x < 0.0 { axle } else { axle.motor(MotorDoc::velocity(0.0, 0.0)) });
            driven.extend((x < 0.0).then_some(axle));
        }
        Car { body, driven }
    })
}

/// The world after some steps, how far the car has come (m), and how far it leans: the sine of the angle.
pub(crate) fn run(n_steps: u32) -> Result<(World, [f64; 2]), BuildError> {
    let bump = ShapeDoc::cylinder(DVec3::new(4.0, -3.0, -0.42), DVec3::new(4.0, 3.0, -0.42), 0.5);
    let road = ColliderDoc::floor(0.0).contact(ContactDoc::with_friction(1.0));
    let scene = SceneDoc::new("car").with(road).with(ColliderDoc::solid(bump).named("bump"));
    let mut world = World::from_scene(&scene)?;
    let car = car(&mut world)?;
    for _ in 0..n_steps {
        let mut input = Input::default();
        for axle in car.driven.iter().filter_map(|&axle| world.id(axle)) {
            input.add_effort(world.mechanism(), &world.state().bodies, axle, DriveCoordinate::Twist, 150.0);
        }
        world.step_with(&input);
    }
    let pose = world.get(car.body).map_or(Pose::IDENTITY, |body| body.pose());
    Ok((world, [pose.translation.x, (pose.rotation * DVec3::Z).cross(DVec3::Z).length()]))
}

#[expect(clippy::print_stdout, reason = "a program for people")]
fn main() -> Result<(), BuildError> {
    let (_, [x, lean]) = run(300)?;
    println!("after 5 s the car has come {x:.1} m and leans by {:.1} %", 100.0 * lean);
    Ok(())
}
