//! Pictures: what is covered, what hides what, and what comes out of the files again.

mod files;
mod golden;
mod meshes;
mod render;

use glam::DVec3;
use sinew_math::{Pose, exp_so3};
use sinew_picture::{Camera, Color, Mesh, Plane, Scene, SceneLine, View};

/// One of every shape over a checkered ground, with a bone inside a ball and an arrow.
fn still_life() -> Scene {
    let mut scene = Scene::default();
    let at = |x: f64, y: f64, z: f64| Pose::new(exp_so3(DVec3::new(0.3 * x, y, 0.4)), DVec3::new(x, y, z));
    let solid = &mut scene.solid;
    solid.push(&Mesh::sphere(0.5, 40), &at(0.0, 0.0, 0.5), Color::srgb(0.93, 0.62, 0.50));
    solid.push(&Mesh::cuboid(DVec3::new(0.5, 0.6, 0.4)), &at(1.2, 0.3, 0.6), Color::srgb(0.2, 0.45, 0.85));
    solid.push(&Mesh::capsule(0.2, 0.8, 24), &at(-1.2, 0.1, 0.8), Color::srgb(0.1, 0.58, 0.68));
    solid.push(&Mesh::cylinder(0.2, 0.8, 24), &at(0.2, 1.3, 0.5), Color::srgb(0.48, 0.36, 0.86));
    let semi_axes = DVec3::new(0.2, 0.4, 0.1);
    solid.push(&Mesh::ellipsoid(semi_axes, 24), &at(0.2, -1.3, 0.4), Color::srgb(0.95, 0.5, 0.3));
    scene.inside.push(&Mesh::capsule(0.1, 0.6, 24), &at(0.0, 0.0, 0.5), Color::srgb(0.99, 0.96, 0.88));
    let (from, to) = (DVec3::new(0.0, 0.0, 1.0), DVec3::new(0.8, 0.0, 1.6));
    scene.push_arrow(SceneLine { from, to, width: 2.0, color: Color::srgb(0.8, 0.15, 0.16) }, 0.2);
    scene.planes.push(Plane { point: DVec3::ZERO, normal: DVec3::Z });
    scene
}

/// A camera that sees all of a scene's solids.
fn camera(scene: &Scene, name: &str, (width, height): (usize, usize)) -> Camera {
    let view = View::named(name, scene.solid.positions(), DVec3::NEG_Z).expect("a known name");
    Camera::framing(view, scene.solid.positions(), width as f64 / height as f64)
}

/// A camera at height 10 that looks straight down, x to the right and y up, and sees 10 m × 10 m at height 0.
fn overhead() -> Camera {
    let view = View { right: DVec3::X, up: DVec3::Y, toward: DVec3::Z, zenith: DVec3::Z };
    Camera { view, eye: DVec3::Z * 10.0, opening: (0.5, 0.5), focus: DVec3::ZERO, reach: 8.0 }
}
