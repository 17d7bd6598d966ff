//! Faces and edges of a skin against solids, compared with a search through many points of the skin.

use glam::{DQuat, DVec2, DVec3, Vec3Swizzles};
use sinew_contact::{
    Collider, ContactMaterial, ContactModel, ContactShape, ContactWorkspace, ConvexHull, Groups, HeightField,
    Mover, Owner, PointCloud, Skin, SkinCloud, SkinContacts,
};
use sinew_math::{Pose, Shape, exp_so3};
use sinew_testkit::Rng;

/// Corners and triangles of a box around the origin, counter-clockwise seen from outside.
fn box_skin(size: DVec3) -> (Vec<DVec3>, Skin) {
    let points = crate::distances::box_corners(size);
    let triangles = vec![
        [0, 2, 1],
        [1, 2, 3],
        [4, 5, 6],
        [5, 7, 6],
        [0, 1, 4],
        [1, 5, 4],
        [2, 6, 3],
        [3, 6, 7],
        [0, 4, 2],
        [2, 4, 6],
        [1, 3, 5],
        [3, 7, 5],
    ];
    let skin = Skin::new(triangles, &points).unwrap();
    (points, skin)
}

fn solids() -> Vec<ContactShape> {
    let edges = DVec3::new(0.3, 0.2, 0.12);
    let tip =
        [DVec3::ZERO, DVec3::new(0.1, 0.0, 0.3), DVec3::new(-0.1, 0.1, 0.3), DVec3::new(0.0, -0.1, 0.3)];
    vec![
        ContactShape::Solid(Shape::Box { size: edges }),
        ContactShape::Solid(Shape::Sphere { radius: 0.12 }),
        ContactShape::Solid(Shape::Capsule { radius: 0.05, length: 0.3 }),
        ContactShape::Solid(Shape::Cylinder { radius: 0.1, length: 0.25 }),
        ContactShape::Convex(ConvexHull::new(&tip).unwrap()),
    ]
}

fn find(shape: &ContactShape, pose: Pose, points: &[DVec3], skin: &Skin, margin: f64) -> SkinContacts {
    let collider = Collider::new(Owner::World, pose, shape.clone(), ContactMaterial::passive(0.5)).unwrap();
    let model = ContactModel::new(vec![collider], 0, &[]).unwrap();
    let material = ContactMaterial::new(1e3, 0.0, 0.5);
    let points = PointCloud { points, first: 7, material, groups: Groups::ALL, ignored: &[] };
    let mut out = SkinContacts::default();
    model.skin_contacts(&SkinCloud { points, skin }, &[], margin, &mut ContactWorkspace::new(), &mut out);
    out
}

/// The least distance of the skin from a solid, by points on its faces, refined around the best.
fn least_distance(shape: &ContactShape, pose: Pose, points: &[DVec3], skin: &Skin) -> f64 {
    let mut least = f64::INFINITY;
    for triangle in skin.triangles() {
        let [a, b, c] = triangle.map(|i| points[i as usize]);
        let at = |u: f64, v: f64| {
            // u, v in the unit square, folded into the triangle
            let (u, v) = (u.clamp(0.0, 1.0), v.clamp(0.0, 1.0));
            let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
            let place = a + (b - a) * u + (c - a) * v;
            shape.signed_distance(pose.inverse().transform_point(place)).unwrap()
        };
        let n = 40;
        let grid = (0..=n).flat_map(|i| (0..=n - i).map(move |j| (f64::from(i), f64::from(j))));
        let grid = grid.map(|(i, j)| (i / f64::from(n), j / f64::from(n)));
        let (mut best, mut step) =
            (grid.min_by(|p, q| at(p.0, p.1).total_cmp(&at(q.0, q.1))).unwrap(), 0.5 / f64::from(n));
        for _ in 0..40 {
            let around = (-2..=2).flat_map(|i| (-2..=2).map(move |j| (f64::from(i), f64::from(j))));
            let around = around.map(|(i, j)| (best.0 + i * step, best.1 + j * step));
            best = around
                .filter(|p| p.0 >= 0.0 && p.1 >= 0.0 && p.0 + p.1 <= 1.0)
                .min_by(|p, q| at(p.0, p.1).total_cmp(&at(q.0, q.1)))
                .unwrap();
            step *= 0.7;
        }
        least = least.min(at(best.0, best.1));
    }
    least
}

#[test]
fn the_nearest_contact_is_the_nearest_point_of_the_skin() {
    let mut rng = Rng::new(21);
    let (points, skin) = box_skin(DVec3::new(1.0, 0.8, 0.6));
    for shape in solids() {
        let (mut n_between, mut n) = (0, 0);
        while n < 60 {
            let pose = Pose::new(rng.rotation(), rng.vec3(-0.75, 0.75));
            let least = least_distance(&shape, pose, &points, &skin);
            // apart, and outside the flesh
            let is_outside = skin.depths(&points, &[pose.translation])[0] < 0.0;
            if !(is_outside && least > 1e-3 && least < 0.1) {
                continue;
            }
            n += 1;
            let found = find(&shape, pose, &points, &skin, 0.15);
            let between = found.between.iter().map(|it| -it.contact.depth).fold(f64::INFINITY, f64::min);
            let vertices = found.points.iter().map(|it| -it.depth).fold(f64::INFINITY, f64::min);
            n_between += usize::from(between < vertices);
            let nearest = between.min(vertices);
            assert!((nearest - least).abs() < 5e-5, "{shape:?}: {nearest} instead of {least}");
        }
        assert!(n_between > 30, "{shape:?}: faces and edges are nearest in {n_between} of {n}");
    }
}

/// The lowest height of a turned solid (m).
fn lowest(shape: &ContactShape, rotation: DQuat) -> f64 {
    let up = rotation.inverse() * DVec3::Z;
    match shape {
        ContactShape::Solid(Shape::Box { size }) => -0.5 * size.dot(up.abs()),
        ContactShape::Solid(Shape::Sphere { radius }) => -radius,
        ContactShape::Solid(Shape::Capsule { radius, length }) => -radius - 0.5 * length * up.x.abs(),
        ContactShape::Solid(Shape::Cylinder { radius, length }) => {
            -radius * up.yz().length() - 0.5 * length * up.x.abs()
        }
        ContactShape::Convex(hull) => hull.corners().iter().map(|p| p.dot(up)).fold(f64::INFINITY, f64::min),
        _ => unreachable!("solids only"),
    }
}

#[test]
fn a_contact_is_on_the_skin_and_leads_out_of_the_solid() {
    let mut rng = Rng::new(22);
    let (points, skin) = box_skin(DVec3::new(1.0, 0.8, 0.6));
    for shape in solids() {
        for _ in 0..100 {
            let inwards = rng.uniform(-0.02, 0.02);
            let rotation = rng.rotation();
            // let the solid down on the upper face
            let height = 0.3 - inwards - lowest(&shape, rotation);
            let pose =
                Pose::new(rotation, DVec3::new(rng.uniform(-0.2, 0.2), rng.uniform(-0.1, 0.1), height));
            let found = find(&shape, pose, &points, &skin, 0.05);
            for it in &found.between {
                let [a, b, c] = skin.triangles()[it.face as usize].map(|i| points[i as usize]);
                let on = a * it.weights[0] + b * it.weights[1] + c * it.weights[2];
                assert!(on.distance(it.contact.point) < 1e-12 && matches!(it.contact.a, Mover::Face(_)));
                assert!((it.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                assert!(it.contact.normal.z < 0.1, "{shape:?}: the skin is pushed up by {:?}", it.contact);
                assert!(it.contact.law.stiffness > 0.0 && it.contact.law.stiffness <= 1e3);
            }
            let deepest = found.between.iter().map(|it| it.contact.depth).fold(f64::NEG_INFINITY, f64::max);
            assert!((deepest - inwards).abs() < 1e-4, "{shape:?}: {deepest} instead of {inwards}");
            let keys: Vec<_> = found.between.iter().map(|it| it.contact.key).collect();
            assert!(keys.is_sorted_by(|a, b| a < b), "{keys:?}");
        }
    }
}

#[test]
fn a_box_on_a_large_face_stands_on_its_corners() {
    let (points, skin) = box_skin(DVec3::new(2.0, 2.0, 1.0));
    let shape = ContactShape::Solid(Shape::Box { size: DVec3::new(0.2, 0.3, 0.1) });
    // clear of the diagonal
    let pose = Pose::from_translation(DVec3::new(0.5, 0.4, 0.549));
    let found = find(&shape, pose, &points, &skin, 1e-3);
    assert!(found.points.is_empty());
    assert_eq!(found.between.len(), 4, "{found:?}");
    for it in &found.between {
        assert!((it.contact.depth - 1e-3).abs() < 1e-12 && it.contact.normal == -DVec3::Z);
        assert!(it.contact.law.stiffness >= 1e3, "in full");
    }
    // the other way round: a small skin on a large box needs its vertices only
    let (points, skin) = box_skin(DVec3::new(0.2, 0.3, 0.1));
    let table = ContactShape::Solid(Shape::Box { size: DVec3::new(2.0, 2.0, 1.0) });
    let found = find(&table, Pose::from_translation(DVec3::Z * -0.549), &points, &skin, 1e-3);
    assert_eq!((found.points.len(), found.between.len()), (4, 0), "{found:?}");
}

#[test]
fn edges_that_cross_push_at_right_angles_to_both() {
    // a roof over a roof: the upper is a solid turned by 45° about x, the lower a skin turned about y
    let (points, skin) = box_skin(DVec3::splat(1.0));
    let turn = exp_so3(DVec3::Y * std::f64::consts::FRAC_PI_4);
    let points: Vec<DVec3> = points.iter().map(|&p| turn * p).collect();
    let shape = ContactShape::Solid(Shape::Box { size: DVec3::splat(1.0) });
    for depth in [0.05, 1e-3, -1e-3, -0.05] {
        let up = 2.0 * std::f64::consts::FRAC_1_SQRT_2 - depth;
        let turned = exp_so3(DVec3::X * std::f64::consts::FRAC_PI_4);
        let pose = Pose::new(turned, DVec3::new(0.02, 0.03, up));
        let found = find(&shape, pose, &points, &skin, 0.1);
        let it = found.between.iter().max_by(|a, b| a.contact.depth.total_cmp(&b.contact.depth)).unwrap();
        assert!((it.contact.depth - depth).abs() < 1e-6, "{depth}: {it:?}");
        assert!((it.contact.normal + DVec3::Z).length() < 1e-5, "{depth}: {it:?}");
        assert!((it.contact.point.truncate() - DVec2::new(0.0, 0.03)).length() < 1e-5, "{it:?}");
    }
}

#[test]
fn a_skin_deep_inside_a_post_is_pushed_back_along_it() {
    // the floor of a cube with a point in the middle, over a post of 0.2 m that has come in by 0.15 m
    let corners = crate::distances::box_corners(DVec3::splat(1.0));
    let points: Vec<DVec3> = corners.into_iter().chain([DVec3::Z * -0.5]).collect();
    let mut triangles = box_skin(DVec3::splat(1.0)).1.triangles()[2..].to_vec();
    triangles.extend([[0, 2, 8], [2, 3, 8], [3, 1, 8], [1, 0, 8]]);
    let skin = Skin::new(triangles, &points).unwrap();
    let post = ContactShape::Solid(Shape::Box { size: DVec3::new(0.2, 0.2, 1.0) });
    let found = find(&post, Pose::from_translation(DVec3::new(0.01, 0.0, -0.85)), &points, &skin, 0.01);
    let middle = found.points.iter().find(|it| it.key.a == 15).unwrap();
    assert!((middle.normal - DVec3::Z).length() < 1e-9, "{middle:?}");
    assert!((middle.depth - 0.15).abs() < 1e-6, "{middle:?}");
    assert!(found.between.iter().all(|it| it.contact.normal.z > 0.9), "{found:?}");
}

#[test]
fn a_hill_of_a_height_field_reaches_between_the_points() {
    let (points, skin) = box_skin(DVec3::new(2.0, 2.0, 1.0));
    let hill = |x: f64, y: f64| if x.abs() + y.abs() < 1e-9 { 0.4 } else { 0.0 };
    let shape = ContactShape::Field(HeightField::from_fn([5, 5], DVec2::splat(4.0), hill).unwrap());
    // the diagonal of the floor does not pass through the top of the hill
    let pose = Pose::from_translation(DVec3::new(0.3, 0.1, -0.89));
    let found = find(&shape, pose, &points, &skin, 0.0);
    let deepest = found.between.iter().map(|it| it.contact.depth).fold(0.0, f64::max);
    assert!((deepest - 0.01).abs() < 1e-12, "{found:?}");
    assert!(found.points.is_empty());
}

#[test]
fn faces_find_the_same_bits_with_a_used_workspace() {
    let mut rng = Rng::new(24);
    let (points, skin) = box_skin(DVec3::new(1.0, 0.8, 0.6));
    let colliders: Vec<Collider> = solids()
        .into_iter()
        .map(|shape| {
            let pose = Pose::new(rng.rotation(), rng.vec3(-0.5, 0.5));
            Collider::new(Owner::World, pose, shape, ContactMaterial::passive(0.5)).unwrap()
        })
        .collect();
    let model = ContactModel::new(colliders, 0, &[]).unwrap();
    let mut used = (ContactWorkspace::new(), SkinContacts::default());
    for _ in 0..50 {
        let moved: Vec<DVec3> = points.iter().map(|&p| p + rng.vec3(-0.1, 0.1)).collect();
        let material = ContactMaterial::new(1e3, 0.0, 0.5);
        let cloud = PointCloud { points: &moved, first: 0, material, groups: Groups::ALL, ignored: &[] };
        let cloud = SkinCloud { points: cloud, skin: &skin };
        model.skin_contacts(&cloud, &[], 0.1, &mut used.0, &mut used.1);
        let mut fresh = SkinContacts::default();
        model.skin_contacts(&cloud, &[], 0.1, &mut ContactWorkspace::new(), &mut fresh);
        assert_eq!((&used.1.points, &used.1.between), (&fresh.points, &fresh.between));
    }
}
