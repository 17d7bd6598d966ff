//! Signed distances of points from shapes, through the point query.

use glam::{DVec2, DVec3};
use sinew_contact::{
    Collider, ContactMaterial, ContactModel, ContactPoint, ContactShape, ContactWorkspace, ConvexHull,
    Groups, HeightField, Mover, Owner, PointCloud,
};
use sinew_math::{Pose, Shape};
use sinew_testkit::{Rng, derivative};

pub(crate) fn box_corners(edges: DVec3) -> Vec<DVec3> {
    (0..8)
        .map(|i| edges * DVec3::new((i & 1) as f64 - 0.5, (i >> 1 & 1) as f64 - 0.5, (i >> 2) as f64 - 0.5))
        .collect()
}

fn shapes() -> Vec<ContactShape> {
    let edges = DVec3::new(1.0, 0.6, 0.4);
    vec![
        ContactShape::Plane,
        ContactShape::Solid(Shape::Box { size: edges }),
        ContactShape::Solid(Shape::Sphere { radius: 0.4 }),
        ContactShape::Solid(Shape::Capsule { radius: 0.2, length: 0.7 }),
        ContactShape::Solid(Shape::Cylinder { radius: 0.3, length: 0.8 }),
        ContactShape::Convex(ConvexHull::new(&box_corners(edges)).unwrap()),
    ]
}

/// Depth and normal of one point against one shape of the world.
fn touch(shape: &ContactShape, pose: Pose, point: DVec3) -> Option<ContactPoint> {
    let collider = Collider::new(Owner::World, pose, shape.clone(), ContactMaterial::passive(0.5)).unwrap();
    let model = ContactModel::new(vec![collider], 0, &[]).unwrap();
    let mut out = Vec::new();
    let cloud = cloud(std::slice::from_ref(&point));
    model.point_contacts(&cloud, &[], 10.0, &mut ContactWorkspace::new(), &mut out);
    assert!(out.len() <= 1);
    out.pop()
}

pub(crate) fn cloud(points: &[DVec3]) -> PointCloud<'_> {
    let material = ContactMaterial::new(1e3, 0.0, 0.5);
    PointCloud { points, first: 0, material, groups: Groups::ALL, ignored: &[] }
}

#[test]
fn the_normal_is_the_gradient_of_the_distance_and_leads_to_the_surface() {
    let mut rng = Rng::new(11);
    for shape in shapes() {
        let mut checked = 0;
        for _ in 0..400 {
            let pose = Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0));
            let point = pose.transform_point(rng.vec3(-0.7, 0.7));
            let found = touch(&shape, pose, point).unwrap();
            assert!(matches!(found.a, Mover::Vertex(0)) && found.point == point);
            assert!((found.normal.length() - 1.0).abs() < 1e-12, "{shape:?}");
            let along = |direction: DVec3| {
                derivative(1e-4, 0.0, |t| -touch(&shape, pose, point + direction * t).unwrap().depth)
            };
            let gradient = DVec3::new(along(DVec3::X), along(DVec3::Y), along(DVec3::Z));
            // near ridges of the distance the difference quotient sees both sides
            if (gradient.length() - 1.0).abs() < 1e-6 {
                assert!((gradient - found.normal).length() < 1e-5, "{shape:?}: {gradient} {}", found.normal);
                checked += 1;
            }
            let surface = touch(&shape, pose, point + found.normal * found.depth).unwrap();
            assert!(surface.depth.abs() < 1e-10, "{shape:?}: {}", surface.depth);
        }
        assert!(checked > 350, "{shape:?}: {checked}");
    }
}

#[test]
fn a_hull_of_the_corners_of_a_box_is_the_box() {
    let mut rng = Rng::new(12);
    let edges = DVec3::new(1.0, 0.6, 0.4);
    let hull = ContactShape::Convex(ConvexHull::new(&box_corners(edges)).unwrap());
    for _ in 0..2000 {
        let point = rng.vec3(-1.0, 1.0);
        let one = touch(&ContactShape::Solid(Shape::Box { size: edges }), Pose::IDENTITY, point).unwrap();
        let two = touch(&hull, Pose::IDENTITY, point).unwrap();
        assert!((one.depth - two.depth).abs() < 1e-12, "{} {}", one.depth, two.depth);
        assert!((one.normal - two.normal).length() < 1e-9);
    }
}

#[test]
fn a_height_field_over_a_slanted_plane_is_that_plane() {
    let mut rng = Rng::new(13);
    let normal = DVec3::new(-0.3, 0.2, 1.0).normalize();
    let field = HeightField::from_fn([5, 9], DVec2::new(4.0, 3.0), |x, y| 0.3 * x - 0.2 * y + 0.1).unwrap();
    let shape = ContactShape::Field(field.clone());
    let pose = Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0));
    for _ in 0..1000 {
        let local = DVec3::new(rng.uniform(-2.0, 2.0), rng.uniform(-1.5, 1.5), rng.uniform(-1.0, 1.0));
        let found = touch(&shape, pose, pose.transform_point(local)).unwrap();
        let depth = -normal.dot(local - DVec3::Z * 0.1);
        assert!((found.depth - depth).abs() < 1e-12);
        assert!((found.normal - pose.transform_vector(normal)).length() < 1e-12);
    }
    assert_eq!(field.surface(2.1, 0.0), None);
    assert!(touch(&shape, Pose::IDENTITY, DVec3::new(2.01, 0.0, 0.0)).is_none());
    assert!(field.surface(2.0, 1.5).is_some() && field.surface(-2.0, -1.5).is_some());
}

#[test]
fn centres_and_axes_have_a_normal() {
    for shape in shapes() {
        let found = touch(&shape, Pose::IDENTITY, DVec3::ZERO).unwrap();
        assert!((found.normal.length() - 1.0).abs() < 1e-15, "{shape:?}");
    }
}

#[test]
fn bad_shapes_are_refused_with_a_reason() {
    let make = |shape| Collider::new(Owner::World, Pose::IDENTITY, shape, ContactMaterial::passive(0.5));
    for (shape, word) in [
        (ContactShape::Solid(Shape::Box { size: DVec3::new(1.0, 0.0, 1.0) }), "size"),
        (ContactShape::Solid(Shape::Sphere { radius: -1.0 }), "radius"),
        (ContactShape::Solid(Shape::Sphere { radius: f64::NAN }), "radius"),
        (ContactShape::Solid(Shape::Capsule { radius: 0.1, length: 0.0 }), "length"),
        (ContactShape::Solid(Shape::Cylinder { radius: f64::INFINITY, length: 1.0 }), "radius"),
    ] {
        assert!(make(shape).unwrap_err().to_string().contains(word));
    }
    let flat = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::X + DVec3::Y, DVec3::new(0.3, 0.3, 1e-9)];
    assert!(ConvexHull::new(&flat).is_err());
    assert!(ConvexHull::new(&flat[..3]).is_err());
    assert!(ConvexHull::new(&[DVec3::ONE; 12]).is_err());
    assert!(ConvexHull::new(&[DVec3::ZERO, DVec3::X, DVec3::Y * f64::NAN, DVec3::Z]).is_err());
    assert!(HeightField::new([1, 4], DVec2::ONE, vec![0.0; 4]).is_err());
    assert!(HeightField::new([2, 4], DVec2::ONE, vec![0.0; 7]).is_err());
    assert!(HeightField::new([usize::MAX, 4], DVec2::ONE, vec![0.0; 7]).is_err());
    assert!(HeightField::new([2, 2], DVec2::new(1.0, -1.0), vec![0.0; 4]).is_err());
    assert!(HeightField::new([2, 2], DVec2::ONE, vec![0.0, 0.0, f64::NAN, 0.0]).is_err());
    let bad_pose = Pose::from_translation(DVec3::new(0.0, f64::NAN, 0.0));
    let collider = Collider::new(Owner::World, bad_pose, ContactShape::Plane, ContactMaterial::passive(0.5));
    assert!(collider.is_err());
    assert!(Collider::ground(DVec3::ZERO, DVec3::ZERO, ContactMaterial::passive(0.5)).is_err());
}

#[test]
fn only_surfaces_with_stiffness_on_one_side_touch() {
    let passive = ContactMaterial::passive(0.5);
    let firm = ContactMaterial { stiffness: 1e4, ..passive };
    let ball = |owner, material| {
        Collider::new(owner, Pose::IDENTITY, ContactShape::Solid(Shape::Sphere { radius: 1.0 }), material)
            .unwrap()
    };
    let colliders =
        vec![ball(Owner::World, passive), ball(Owner::Body(0), passive), ball(Owner::Body(1), firm)];
    let model = ContactModel::new(colliders, 2, &[]).unwrap();
    assert!(!model.may_touch(0, 1));
    assert!(model.may_touch(0, 2) && model.may_touch(1, 2));
}

#[test]
fn a_ground_faces_its_normal() {
    let mut rng = Rng::new(14);
    let down = [DVec3::NEG_Z, DVec3::new(1e-9, 0.0, -1.0), DVec3::new(1e-5, -3e-5, -1.0), DVec3::Z, DVec3::Y];
    for normal in down.into_iter().chain((0..50).map(|_| rng.unit_vec())) {
        let ground = Collider::ground(DVec3::ONE, normal * 3.0, ContactMaterial::passive(0.5)).unwrap();
        let up = ground.pose().transform_vector(DVec3::Z);
        assert!((up - normal.normalize()).length() < 1e-15, "{normal} {up}");
        assert!((ground.pose().rotation.length() - 1.0).abs() < 1e-15);
    }
}

#[test]
fn hulls_of_awkward_points_hold_all_of_them_or_are_refused() {
    let mut rng = Rng::new(15);
    let lattice: Vec<DVec3> = (0..125)
        .map(|i| DVec3::new((i % 5) as f64, (i / 5 % 5) as f64, (i / 25) as f64) - DVec3::splat(2.0))
        .collect();
    let mut sets = vec![lattice.clone(), [lattice.clone(), lattice].concat()];
    for n in [4, 5, 8, 20, 100, 400] {
        sets.push((0..n).map(|_| rng.unit_vec()).collect());
        sets.push((0..n).map(|_| rng.vec3(-1.0, 1.0)).collect());
        // rounded to a coarse grid: many points in common planes and lines
        sets.push((0..n).map(|_| (rng.vec3(-1.0, 1.0) * 3.0).round() / 3.0).collect());
        // rims of a drum
        let angle = |i: usize| (i / 2) as f64 * std::f64::consts::TAU / (n / 2) as f64;
        let rim = |i: usize| sinew_math::ops::sin_cos(angle(i));
        sets.push((0..n).map(|i| DVec3::new((i % 2) as f64, rim(i).0, rim(i).1)).collect());
    }
    let (mut made, mut refused) = (0, 0);
    for set in &sets {
        for scale in [DVec3::ONE, DVec3::splat(1e-6), DVec3::splat(1e6), DVec3::new(1.0, 1.0, 1e-3)] {
            for shift in [0.0, 10.0] {
                let points: Vec<DVec3> = set.iter().map(|&p| (p + DVec3::X * shift) * scale).collect();
                let Ok(hull) = ConvexHull::new(&points) else {
                    refused += 1;
                    continue;
                };
                made += 1;
                let size = scale.max_element();
                let shape = ContactShape::Convex(hull);
                for &point in &points {
                    // a margin beyond the size, so that every point is answered
                    let found = touch(&shape, Pose::IDENTITY, point).map_or(0.0, |c| c.depth);
                    assert!(found > -1e-6 * size, "{} points, {scale}, {shift}: {found}", points.len());
                }
            }
        }
    }
    assert!(made > 150 && refused < 60, "{made} {refused}");
}
