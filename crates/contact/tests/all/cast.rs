//! Shapes that move along a line, against overlaps at many places of their way, rays, and each other.

use glam::{DVec2, DVec3};
use sinew_contact::{
    Collider, ContactError, ContactMaterial, ContactModel, ContactShape, Groups, HeightField, Owner, Probe,
    RayCast, Skin, SurfaceHit, TouchSide, TriMesh,
};
use sinew_math::{Pose, Shape};
use sinew_testkit::{Rng, soak_scale};

use crate::sensors::every_shape;
use crate::tri_mesh::ball;

fn model(shapes: &[ContactShape]) -> ContactModel {
    let collider = |(i, shape): (usize, &ContactShape)| {
        let material = ContactMaterial::passive(0.5);
        Collider::new(Owner::Body(i as u32), Pose::IDENTITY, shape.clone(), material).unwrap()
    };
    ContactModel::new(shapes.iter().enumerate().map(collider).collect(), shapes.len(), &[]).unwrap()
}

fn is_convex(shape: &ContactShape) -> bool {
    matches!(shape, ContactShape::Solid(_) | ContactShape::Convex(_))
}

fn cast(probe: &Probe<'_>, shape: &ContactShape, from: Pose, motion: DVec3) -> Option<SurfaceHit> {
    probe.cast(shape, from, motion, Groups::ALL).unwrap()
}

fn moved(pose: Pose, by: DVec3) -> Pose {
    Pose::new(pose.rotation, pose.translation + by)
}

#[test]
fn a_cast_touches_where_overlaps_along_the_way_begin_soak() {
    let mut rng = Rng::new(71);
    let (mut met, mut missed, mut inside) = (0, 0, 0);
    for _ in 0..4 * soak_scale() {
        let shapes = every_shape(&mut rng);
        for own in shapes.iter().filter(|shape| is_convex(shape)) {
            for other in &shapes {
                let model = model(std::slice::from_ref(other));
                let pose = Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0));
                let probe = Probe::new(Some(&model), &[pose]);
                let from = Pose::new(rng.rotation(), pose.transform_point(rng.vec3(-3.0, 3.0)));
                let aim = pose.transform_point(rng.vec3(-0.7, 0.7));
                let motion = (aim - from.translation) * rng.uniform(0.3, 1.5);
                let overlaps = |way: f64| {
                    let at = moved(from, motion.normalize() * way);
                    !probe.overlaps(own, at, Groups::ALL).unwrap().is_empty()
                };
                let n = 100;
                let ways = |upto: f64| (0..=n).map(move |i| upto * f64::from(i) / f64::from(n));
                let near = 1e-6;
                match cast(&probe, own, from, motion) {
                    Some(hit) if hit.distance < 0.0 => {
                        assert!(overlaps(0.0), "{own:?} {other:?}");
                        inside += 1;
                    }
                    Some(hit) => {
                        let free = ways(hit.distance - near).find(|&way| way >= 0.0 && overlaps(way));
                        assert!(free.is_none(), "{free:?} {} {own:?} {other:?}", hit.distance);
                        // It is in, a little later, unless it only grazes.
                        let cosine = -hit.normal.dot(motion.normalize());
                        assert!(cosine >= 0.0 && (hit.normal.length() - 1.0).abs() < 1e-9);
                        let (later, out) = (hit.distance + 1e-4, hit.distance + 1e-4 > motion.length());
                        assert!(cosine < 0.1 || out || overlaps(later), "{cosine} {own:?} {other:?}");
                        met += 1;
                    }
                    None => {
                        let found = ways(motion.length() - near).find(|&way| overlaps(way));
                        assert!(found.is_none(), "{found:?} of {} {own:?} {other:?}", motion.length());
                        missed += 1;
                    }
                }
            }
        }
    }
    assert!(met > 60 && missed > 20 && inside > 10, "{met} {missed} {inside}");
}

#[test]
fn the_place_of_a_touch_is_on_both_surfaces() {
    let mut rng = Rng::new(72);
    let mut met = 0;
    for _ in 0..6 {
        let shapes = every_shape(&mut rng);
        for own in shapes.iter().filter(|shape| is_convex(shape)) {
            for other in &shapes {
                let model = model(std::slice::from_ref(other));
                let pose = Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0));
                let probe = Probe::new(Some(&model), &[pose]);
                let from = Pose::new(rng.rotation(), pose.transform_point(rng.unit_vec() * 4.0));
                let motion = (pose.transform_point(rng.vec3(-0.2, 0.2)) - from.translation) * 1.2;
                let Some(hit) = cast(&probe, own, from, motion).filter(|hit| hit.distance > 0.0) else {
                    continue;
                };
                let end = moved(from, motion.normalize() * hit.distance);
                for (shape, pose) in [(own, end), (other, pose)] {
                    let local = pose.inverse().transform_point(hit.point);
                    let off = shape.signed_distance(local);
                    assert!(off.is_none_or(|off| off.abs() < 1e-4), "{off:?} {shape:?} {own:?} {other:?}");
                }
                met += 1;
            }
        }
    }
    assert!(met > 60, "{met}");
}

#[test]
fn a_tiny_ball_touches_what_a_ray_meets() {
    let mut rng = Rng::new(73);
    let (mut met, mut missed) = (0, 0);
    let tiny = ContactShape::Solid(Shape::Sphere { radius: 1e-7 });
    for _ in 0..20 * soak_scale() {
        for shape in every_shape(&mut rng) {
            let model = model(std::slice::from_ref(&shape));
            let pose = Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0));
            let probe = Probe::new(Some(&model), &[pose]);
            let origin = pose.transform_point(rng.unit_vec() * 3.0);
            let motion = (pose.transform_point(rng.vec3(-0.7, 0.7)) - origin) * 1.4;
            let ray = probe.ray(&RayCast::new(origin, motion).within(motion.length()));
            let ball = cast(&probe, &tiny, Pose::from_translation(origin), motion);
            match (ray, ball) {
                (Some(ray), Some(ball)) if ball.distance > 0.0 => {
                    let cosine = -ray.normal.dot(motion.normalize());
                    assert!(cosine < 0.05 || (ray.distance - ball.distance).abs() < 1e-5, "{shape:?}");
                    assert_eq!((ray.side, ray.body), (ball.side, ball.body));
                    met += 1;
                }
                // A ray that begins inside meets the surface where it leaves.
                (_, Some(ball)) if ball.distance <= 0.0 => {
                    let local = pose.inverse().transform_point(origin);
                    assert!(shape.signed_distance(local).unwrap() < 1e-6, "{shape:?}");
                }
                (Some(ray), None) => {
                    assert!(ray.normal.dot(motion).abs() < 0.05 * motion.length(), "{ray:?} {shape:?}");
                }
                (None, Some(ball)) => {
                    assert!(ball.normal.dot(motion).abs() < 0.05 * motion.length(), "{ball:?} {shape:?}");
                }
                _ => missed += 1,
            }
        }
    }
    assert!(met > 50 && missed > 5, "{met} {missed}");
}

#[test]
fn among_many_the_first_is_met_and_groups_hide_some() {
    let mut rng = Rng::new(74);
    let shapes: Vec<ContactShape> = (0..60)
        .map(|i| match i % 3 {
            0 => Shape::Box { size: rng.vec3(0.2, 0.6) }.into(),
            1 => Shape::Capsule { radius: 0.15, length: 0.4 }.into(),
            _ => Shape::Sphere { radius: 0.2 }.into(),
        })
        .collect();
    let poses: Vec<Pose> = shapes.iter().map(|_| Pose::new(rng.rotation(), rng.vec3(-3.0, 3.0))).collect();
    let all = model(&shapes);
    let probe = Probe::new(Some(&all), &poses);
    let own = ContactShape::Solid(Shape::Box { size: DVec3::new(0.3, 0.2, 0.1) });
    for _ in 0..60 {
        let (from, motion) = (Pose::new(rng.rotation(), rng.vec3(-6.0, 6.0)), rng.vec3(-9.0, 9.0));
        let single = |(i, shape): (usize, &ContactShape)| {
            let model = model(std::slice::from_ref(shape));
            let hit = cast(&Probe::new(Some(&model), &poses[i..=i]), &own, from, motion)?;
            Some((hit.distance, i))
        };
        let first = shapes.iter().enumerate().filter_map(single).min_by(|a, b| a.partial_cmp(b).unwrap());
        let found = cast(&probe, &own, from, motion).map(|hit| (hit.distance, hit.body.unwrap()));
        assert_eq!(found, first);
        assert!(probe.cast(&own, from, motion, Groups::NONE).unwrap().is_none());
    }
}

#[test]
fn a_box_slides_over_the_ground_that_it_rests_on_and_lands_on_it() {
    let ground = Collider::ground(DVec3::ZERO, DVec3::Z, ContactMaterial::passive(0.5)).unwrap();
    let field = HeightField::from_fn([9, 9], DVec2::splat(8.0), |_, _| 0.0).unwrap();
    let sheet = [DVec3::new(-4.0, -4.0, 0.0), DVec3::new(4.0, -4.0, 0.0), DVec3::new(0.0, 6.0, 0.0)];
    let sheet = TriMesh::new(&sheet, &[[0, 1, 2]], None).unwrap();
    let slab = ContactShape::Solid(Shape::Box { size: DVec3::new(8.0, 8.0, 1.0) });
    let solid = |shape: ContactShape, z: f64| {
        Collider::new(
            Owner::World,
            Pose::from_translation(DVec3::Z * z),
            shape,
            ContactMaterial::passive(0.5),
        )
        .unwrap()
    };
    let grounds =
        [ground, solid(ContactShape::Field(field), 0.0), solid(sheet.into(), 0.0), solid(slab, -0.5)];
    let own = ContactShape::Solid(Shape::Box { size: DVec3::new(0.4, 0.2, 0.6) });
    for ground in grounds {
        let model = ContactModel::new(vec![ground], 0, &[]).unwrap();
        let probe = Probe::new(Some(&model), &[]);
        let from = |z: f64| Pose::from_translation(DVec3::Z * z);
        assert!(cast(&probe, &own, from(0.3), DVec3::X * 0.5).is_none());
        assert!(cast(&probe, &own, from(0.3), DVec3::Z * 0.5).is_none());
        assert!(cast(&probe, &own, from(0.4), DVec3::ZERO).is_none());
        let down = cast(&probe, &own, from(0.3), DVec3::Z * -0.5).unwrap();
        assert!(down.distance.abs() < 1e-9 && down.normal.distance(DVec3::Z) < 1e-6, "{down:?}");
        let landed = cast(&probe, &own, from(1.3), DVec3::new(0.3, 0.1, -2.0)).unwrap();
        let way = DVec3::new(0.3, 0.1, -2.0).length() * 0.5;
        assert!(
            (landed.distance - way).abs() < 1e-9 && landed.normal.distance(DVec3::Z) < 1e-6,
            "{landed:?}"
        );
        assert!(landed.point.z.abs() < 1e-6);
        let inside = cast(&probe, &own, from(0.25), DVec3::X * 0.5).unwrap();
        assert!((inside.distance + 0.05).abs() < 1e-6, "{inside:?}");
        let still = cast(&probe, &own, from(0.25), DVec3::ZERO).unwrap();
        assert_eq!(still.distance.to_bits(), inside.distance.to_bits());
    }
}

#[test]
fn flesh_is_met_by_its_skin() {
    let (points, faces) = ball(3, || 1.0);
    let skin = Skin::new(faces, &points).unwrap();
    let mut probe = Probe::new(None, &[]);
    probe.add_flesh(7, &skin, points, Groups::ALL);
    let own = ContactShape::Solid(Shape::Sphere { radius: 0.25 });
    let hit = cast(&probe, &own, Pose::from_translation(DVec3::X * 3.0), DVec3::X * -5.0).unwrap();
    assert_eq!((hit.side, hit.body), (TouchSide::Flesh(7), None));
    // The ball is a polyhedron.
    assert!((hit.distance - 1.75).abs() < 0.03 && hit.normal.dot(DVec3::X) > 0.95, "{hit:?}");
    let inside = cast(&probe, &own, Pose::from_translation(DVec3::X * 0.5), DVec3::X).unwrap();
    assert!((inside.distance + 0.75).abs() < 0.03, "{inside:?}");
    assert!(cast(&probe, &own, Pose::from_translation(DVec3::X * 3.0), DVec3::X).is_none());
}

#[test]
fn what_cannot_be_cast_is_refused() {
    let probe = Probe::new(None, &[]);
    let ball = ContactShape::Solid(Shape::Sphere { radius: 0.25 });
    let refused = |shape: &ContactShape, from: Pose, motion: DVec3| {
        probe.cast(shape, from, motion, Groups::ALL).unwrap_err().to_string()
    };
    assert_eq!(
        refused(&ContactShape::Plane, Pose::IDENTITY, DVec3::X),
        "a plane cannot be cast; cast a ball, box, capsule, cylinder or convex hull"
    );
    assert_eq!(refused(&ball, Pose::IDENTITY, DVec3::X * f64::NAN), ContactError::Motion.to_string());
    let nowhere = Pose::from_translation(DVec3::NAN);
    assert_eq!(refused(&ball, nowhere, DVec3::X), ContactError::Pose.to_string());
    let flat = ContactShape::Solid(Shape::Sphere { radius: 0.0 });
    assert!(refused(&flat, Pose::IDENTITY, DVec3::X).contains("radius must be positive"));
}
