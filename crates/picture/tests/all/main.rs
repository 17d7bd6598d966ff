//! Pictures: what is covered, what hides what, and what comes out of the files again.

#[test]
fn look() {
    use glam::DVec3;
    use sinew_math::{Pose, exp_so3};
    use sinew_picture::*;
    let mut scene = Scene::default();
    let at = |x: f64, y: f64, z: f64| Pose::new(exp_so3(DVec3::new(0.3 * x, y, 0.4)), DVec3::new(x, y, z));
    scene.solid.push(&Mesh::sphere(0.5, 48), &at(0.0, 0.0, 0.5), Color::srgb(0.93, 0.62, 0.50));
    scene.solid.push(&Mesh::cuboid(DVec3::new(0.5, 0.6, 0.4)), &at(1.2, 0.3, 0.6), Color::srgb(0.2, 0.45, 0.85));
    scene.solid.push(&Mesh::capsule(0.2, 0.8, 32), &at(-1.2, 0.1, 0.8), Color::srgb(0.1, 0.58, 0.68));
    scene.solid.push(&Mesh::cylinder(0.2, 0.8, 32), &at(0.2, 1.3, 0.5), Color::srgb(0.48, 0.36, 0.86));
    scene.solid.push(&Mesh::ellipsoid(DVec3::new(0.2, 0.4, 0.1), 32), &at(0.2, -1.3, 0.4), Color::srgb(0.95, 0.5, 0.3));
    scene.inside.push(&Mesh::capsule(0.1, 0.8, 32), &at(0.0, 0.0, 0.5), Color::srgb(0.99, 0.96, 0.88));
    scene.push_arrow(Line { from: DVec3::new(0.0, 0.0, 1.0), to: DVec3::new(0.8, 0.0, 1.6), width: 3.0, color: Color::srgb(0.1,0.1,0.1) }, 0.2);
    scene.planes.push(Plane { point: DVec3::ZERO, normal: DVec3::Z });
    let view = View::of_motion(scene.solid.positions(), DVec3::NEG_Z);
    let camera = Camera::framing(view, scene.solid.positions(), 960.0 / 640.0);
    let mut renderer = Renderer::new(960, 640).unwrap();
    let t = std::time::Instant::now();
    let mut image = renderer.render(&scene, &camera).clone();
    println!("{:?}", t.elapsed());
    image.write("Sinew 0.25 s (worm) ABCDEFGHIJKLMNOPQRSTUVWXYZ", (20.0, 20.0), 14.0, [40, 45, 55]);
    image.write("abcdefghijklmnopqrstuvwxyz 0123456789 !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", (20.0, 50.0), 12.0, [40, 45, 55]);
    let mut bytes = Vec::new();
    encode_png(&image, &mut bytes).unwrap();
    std::fs::write("/tmp/look.png", bytes).unwrap();
}
