//! The rasterizer: coverage, depth, perspective, and what it must survive.

use glam::DVec3;
use sinew_math::Pose;
use sinew_picture::{Camera, Color, Image, Mesh, PictureError, Plane, Renderer, Scene, SceneLine, View};

use crate::{camera, overhead, still_life};

const SIDE: usize = 100;

/// What a scene looks like from above, ten pixels per metre at height 0.
fn from_above(scene: &Scene) -> Image {
    Renderer::new(SIDE, SIDE).expect("a size").render(scene, &overhead()).clone()
}

/// A surface that light makes no difference to, as lines as wide as they are long.
fn flat(scene: &mut Scene, middle: DVec3, side: f64, color: Color) {
    let half = DVec3::X * (0.5 * side);
    // The width is in pixels, and square ends reach half of it beyond the line.
    let width = side * 100.0 / (10.0 - middle.z);
    scene.lines.push(SceneLine { from: middle - half * 1e-6, to: middle + half * 1e-6, width, color });
}

fn red() -> Color {
    Color::srgb(1.0, 0.0, 0.0)
}

fn blue() -> Color {
    Color::srgb(0.0, 0.0, 1.0)
}

fn is_red(pixel: [u8; 3]) -> bool {
    pixel == [255, 0, 0]
}

/// How much of every pixel is covered by dark triangles on a bright background, from 0 to 1.
fn coverage(image: &Image, empty: &Image) -> Vec<f64> {
    // Blue light of the background against none.
    let linear = |byte: u8| {
        let value = f64::from(byte) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { sinew_math::ops::pow((value + 0.055) / 1.055, 2.4) }
    };
    let pairs = image.pixels().iter().zip(empty.pixels());
    pairs.map(|(pixel, empty)| 1.0 - linear(pixel[2]) / linear(empty[2])).collect()
}

#[test]
fn the_area_of_a_square_is_covered_exactly_once() {
    let empty = from_above(&Scene::default());
    for (x, y, side) in [(0.0, 0.0, 4.0), (0.037, -1.21, 2.5), (1.5, 1.5, 0.31)] {
        let mut scene = Scene::default();
        flat(&mut scene, DVec3::new(x, y, 0.0), side, red());
        let shares = coverage(&from_above(&scene), &empty);
        let area = shares.iter().sum::<f64>() / 100.0;
        assert!((area - side * side).abs() < 0.02 * side * side + 0.03 * side, "{area} of {}", side * side);
        assert!(shares.iter().all(|share| (-0.02..=1.001).contains(share)), "seams or doubles");
    }
}

#[test]
fn neighbours_leave_no_seam_and_no_overlap() {
    // A fan of many thin triangles around a point, all of one colour: their union is a polygon without holes.
    let n = 97;
    let rim = |i: usize| {
        let angle = std::f64::consts::TAU * i as f64 / n as f64;
        let (sin, cos) = sinew_math::ops::sin_cos(angle);
        DVec3::new(4.0 * cos + 0.013, 4.0 * sin - 0.007, 0.0)
    };
    let positions: Vec<DVec3> =
        std::iter::once(DVec3::new(0.013, -0.007, 0.0)).chain((0..n).map(rim)).collect();
    let triangles: Vec<[u32; 3]> = (0..n as u32).map(|i| [0, 1 + i, 1 + (i + 1) % n as u32]).collect();
    let scene = Scene { solid: Mesh::smooth(&positions, &triangles, red()), ..Scene::default() };
    let image = from_above(&scene);
    for (i, pixel) in image.pixels().iter().enumerate() {
        let place = DVec3::new((i % SIDE) as f64 + 0.5 - 50.0, 50.0 - (i / SIDE) as f64 - 0.5, 0.0) / 10.0;
        if place.length() < 3.8 {
            assert!(pixel[0] > 100 && pixel[2] < 120, "a hole at {place}: {pixel:?}");
        } else if place.length() > 4.2 {
            assert!(pixel[2] > 150, "too much at {place}: {pixel:?}");
        }
    }
}

#[test]
fn what_is_nearer_hides_what_is_farther_in_any_order() {
    for order in [[0, 1], [1, 0]] {
        let mut scene = Scene::default();
        for i in order {
            let (height, color) = [(1.0, red()), (0.0, blue())][i];
            flat(&mut scene, DVec3::Z * height, 2.0, color);
        }
        assert!(is_red(from_above(&scene).pixel(50, 50)));
    }
}

#[test]
fn nothing_hides_a_force() {
    let mut scene = Scene::default();
    flat(&mut scene, DVec3::Z, 9.0, blue());
    // It is in the shadow of what hides it.
    let reddish = |scene: &Scene| from_above(scene).pixels().iter().filter(|[r, _, b]| r > b).count();
    let before = reddish(&scene);
    scene.push_force(DVec3::ZERO, DVec3::X * 3.0, 1.0, red());
    assert!(before == 0 && reddish(&scene) > 10, "{before} {}", reddish(&scene));
}

#[test]
fn lines_that_cross_hide_each_other_where_they_should() {
    // One line rises to the right, the other to the left, almost above each other.
    let mut scene = Scene::default();
    let end = |x: f64, z: f64| DVec3::new(x, 0.0, z);
    let line = |from, to, color| SceneLine { from, to, width: 8.0, color };
    scene.lines.push(line(end(-3.0, 0.0), end(3.0, 2.0), red()));
    scene.lines.push(line(end(-3.0, 2.0), end(3.0, 0.0), blue()));
    let image = from_above(&scene);
    assert!(is_red(image.pixel(70, 50)), "{:?}", image.pixel(70, 50));
    assert_eq!(image.pixel(30, 50), [0, 0, 255]);
}

#[test]
fn colours_are_interpolated_in_the_world_and_not_in_the_picture() {
    // A strip that recedes from the viewer: the middle of its length is not the middle of its picture.
    let view = View { right: DVec3::X, up: DVec3::Z, toward: DVec3::NEG_Y, zenith: DVec3::Z };
    let camera = Camera { view, eye: DVec3::Z, opening: (0.5, 0.5), focus: DVec3::Y * 5.0, reach: 9.0 };
    let positions = [(-0.5, 2.0), (0.5, 2.0), (0.5, 14.0), (-0.5, 14.0)].map(|(x, y)| DVec3::new(x, y, 0.0));
    let mut scene = Scene::default();
    let paint = |i: usize| if i < 2 { Color::srgb(0.0, 1.0, 0.0) } else { red() };
    scene.solid.push_smooth(&positions, &[[0, 1, 2], [0, 2, 3]], paint);
    let image = Renderer::new(SIDE, SIDE).unwrap().render(&scene, &camera).clone();
    // Half way, at y = 8, the strip is seen 1/8 below the middle, at row 50 + 100/8.
    let (_, row, distance) = camera.pixel(DVec3::new(0.0, 8.0, 0.0), SIDE, SIDE).unwrap();
    assert!((row - 62.5).abs() < 1e-9 && (distance - 8.0).abs() < 1e-12);
    let even = (50..100).filter(|&y| {
        let [r, g, b] = image.pixel(50, y).map(f64::from);
        b < 100.0 && (r - g).abs() < 40.0
    });
    let even: Vec<usize> = even.collect();
    assert!(even.contains(&62) && even.iter().all(|y| (60..66).contains(y)), "{even:?}");
}

#[test]
fn shadows_fall_on_the_ground_and_on_other_bodies() {
    let mut scene = Scene::default();
    scene.planes.push(Plane { point: DVec3::ZERO, normal: DVec3::Z });
    scene.solid.push(&Mesh::cuboid(DVec3::new(2.0, 2.0, 0.2)), &Pose::IDENTITY, Color::srgb(0.5, 0.5, 0.5));
    let bright = from_above(&scene).pixel(50, 50)[1];
    // A small ball high above, in the direction of the light.
    let camera = overhead();
    let light = camera.view.zenith + 0.42 * camera.view.toward - 0.42 * camera.view.right;
    let above = Pose::from_translation(light * 2.5);
    scene.solid.push(&Mesh::sphere(0.8, 24), &above, red());
    let image = from_above(&scene);
    assert!(image.pixel(50, 50)[1] + 40 < bright, "{:?} against {bright}", image.pixel(50, 50));
    scene.solid.clear();
    scene.solid.push(&Mesh::sphere(0.8, 24), &above, red());
    let (with, without) = (from_above(&scene).pixel(50, 50), {
        scene.solid.clear();
        from_above(&scene).pixel(50, 50)
    });
    assert!(with[1] + 40 < without[1], "{with:?} against {without:?}");
}

#[test]
fn nothing_is_a_background_without_black() {
    let image = from_above(&Scene::default());
    assert!(image.pixels().iter().flatten().all(|byte| *byte > 150));
}

#[test]
fn degenerate_and_non_finite_things_are_left_out() {
    let empty = from_above(&Scene::default());
    let mut scene = Scene::default();
    let (nan, inf) = (DVec3::NAN, DVec3::splat(f64::INFINITY));
    for corners in
        [[DVec3::ZERO; 3], [DVec3::ZERO, DVec3::X, DVec3::X * 2.0], [nan, DVec3::X, DVec3::Y], [inf; 3]]
    {
        scene.solid.push_smooth(&corners, &[[0, 1, 2]], |_| red());
        scene.inside.push_smooth(&corners, &[[0, 1, 2], [0, 1, 9]], |_| red());
    }
    for (from, to, width) in [
        (nan, DVec3::X, 1.0),
        (DVec3::X, inf, 1.0),
        (DVec3::ZERO, DVec3::X, 0.0),
        (DVec3::ZERO, DVec3::X, f64::NAN),
    ] {
        scene.lines.push(SceneLine { from, to, width, color: red() });
        scene.push_arrow(SceneLine { from, to: from, width, color: red() }, 1.0);
        scene.push_force(from, from, 1.0, red());
        scene.push_force(from, nan, 1.0, red());
        scene.push_force(from, inf, 1.0, red());
    }
    for (point, normal) in
        [(nan, DVec3::Z), (DVec3::ZERO, DVec3::ZERO), (DVec3::ZERO, nan), (DVec3::ZERO, DVec3::NEG_Z)]
    {
        scene.planes.push(Plane { point, normal });
    }
    assert_eq!(from_above(&scene), empty);
}

#[test]
fn what_is_behind_the_eye_is_cut_off_and_not_turned_around() {
    // A large triangle through the eye: below it, seen; above it, not.
    let corners = [DVec3::new(-50.0, 1.0, 0.0), DVec3::new(50.0, 1.0, 0.0), DVec3::new(0.0, 1.0, 300.0)];
    let mut scene = Scene::default();
    scene.solid.push_smooth(&corners, &[[0, 1, 2]], |_| red());
    let image = from_above(&scene);
    // It stands upright at y = 1: everything beyond is a single edge, seen from above up to the height of the eye.
    let red = |y: usize| image.pixel(50, y)[2] < 80;
    assert!((0..40).all(red) && !(41..100).any(red));
}

#[test]
fn sizes_of_nothing_and_of_too_much_are_refused() {
    for (width, height) in [(0, 1), (1, 0), (0, 0), (16_385, 1), (1, usize::MAX)] {
        let error = Renderer::new(width, height).unwrap_err();
        assert!(matches!(error, PictureError::Size { .. }) && error.to_string().contains("16384"), "{error}");
    }
    assert_eq!(Renderer::new(1, 1).unwrap().render(&still_life(), &overhead()).pixels().len(), 1);
}

#[test]
fn a_renderer_forgets_the_last_picture() {
    let mut renderer = Renderer::new(60, 40).unwrap();
    let scene = still_life();
    let camera = camera(&scene, "corner", (60, 40));
    let first = renderer.render(&scene, &camera).clone();
    renderer.render(&Scene::default(), &camera);
    assert_eq!(*renderer.render(&scene, &camera), first);
}

#[cfg(feature = "parallel")]
#[test]
fn pixels_do_not_depend_on_the_number_of_threads() {
    let scene = still_life();
    let draw = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let camera = camera(&scene, "corner", (123, 77));
            Renderer::new(123, 77).unwrap().render(&scene, &camera).clone()
        })
    };
    let one = draw(1);
    assert!([2, 3, 7].into_iter().all(|threads| draw(threads) == one));
}
