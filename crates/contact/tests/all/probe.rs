//! Rays, nearest points and overlaps against marches along the distance, searches through samples, and each other.

use glam::DVec3;
use sinew_contact::{
    Collider, ContactMaterial, ContactModel, ContactShape, Groups, HeightField, Owner, Probe, RayCast, Skin,
    TouchSide, TriMesh,
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

fn poses(rng: &mut Rng, n: usize, spread: f64) -> Vec<Pose> {
    (0..n).map(|_| Pose::new(rng.rotation(), rng.vec3(-spread, spread))).collect()
}

/// Signed distance of a place of the world; none beyond the border of a height field.
fn distance(shape: &ContactShape, pose: &Pose, place: DVec3) -> Option<f64> {
    shape.signed_distance(pose.inverse().transform_point(place))
}

/// Where the sign of the distance first changes along a ray, by small steps and bisection.
fn march(shape: &ContactShape, pose: &Pose, ray: &RayCast, step: f64) -> Option<f64> {
    let at = |way: f64| distance(shape, pose, ray.origin + ray.direction * way);
    let mut way = 0.0;
    while way + step <= ray.reach {
        if let (Some(a), Some(b)) = (at(way), at(way + step))
            && (a < 0.0) != (b < 0.0)
        {
            let (mut low, mut high) = (way, way + step);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                let is_same = at(middle).is_some_and(|d| (d < 0.0) == (a < 0.0));
                (low, high) = if is_same { (middle, high) } else { (low, middle) };
            }
            return Some(high);
        }
        way += step;
    }
    None
}

#[test]
fn a_ray_meets_what_a_march_along_it_meets_soak() {
    let mut rng = Rng::new(31);
    let (mut met, mut missed, mut from_inside) = (0, 0, 0);
    for _ in 0..12 * soak_scale() {
        for shape in every_shape(&mut rng) {
            let size = rng.power_of_ten(-2, 2);
            let model = model(std::slice::from_ref(&shape));
            let pose = Pose::new(rng.rotation(), rng.vec3(-size, size));
            let probe = Probe::new(Some(&model), &[pose]);
            for _ in 0..12 {
                let origin = pose.transform_point(rng.vec3(-1.5, 1.5));
                let towards = pose.transform_point(rng.vec3(-0.5, 0.5));
                let Some(direction) = (towards - origin).try_normalize() else { continue };
                let ray = RayCast::new(origin, direction).within(3.0);
                // any length of the direction is the same ray
                let found = probe.ray(&RayCast { direction: direction * rng.uniform(0.1, 9.0), ..ray });
                match (found, march(&shape, &pose, &ray, 1e-3)) {
                    (Some(hit), expected) => {
                        let local = pose.inverse().transform_point(hit.point);
                        let off = shape.signed_distance(local).unwrap();
                        assert!(off.abs() < 1e-9 * (1.0 + size), "{off} {shape:?}");
                        assert!(
                            (hit.point - (origin + direction * hit.distance)).length() < 1e-9 * (1.0 + size)
                        );
                        assert!((hit.normal.length() - 1.0).abs() < 1e-9);
                        assert_eq!((hit.body, hit.side), (Some(0), TouchSide::Collider(0)));
                        let begins_inside = distance(&shape, &pose, origin).is_some_and(|d| d < 0.0);
                        if let Some(way) = expected {
                            assert!(hit.distance <= way + 1e-6, "{} {way} {shape:?}", hit.distance);
                            // a glancing ray may be in and out again between two steps of the march
                            let glances = (hit.normal.dot(direction)).abs() < 0.1;
                            assert!(glances || (hit.distance - way).abs() < 1e-6, "{} {way}", hit.distance);
                        }
                        assert_eq!(hit.normal.dot(direction) > 0.0, begins_inside, "{shape:?}");
                        from_inside += usize::from(begins_inside);
                        met += 1;
                    }
                    (None, expected) => {
                        assert!(expected.is_none(), "{expected:?} {shape:?}");
                        missed += 1;
                    }
                }
            }
        }
    }
    assert!(met > 300 && missed > 100 && from_inside > 50, "{met} {missed} {from_inside}");
}

#[test]
fn the_normal_of_a_hit_is_the_gradient_of_the_distance() {
    let mut rng = Rng::new(32);
    let mut checked = 0;
    for _ in 0..20 {
        for shape in every_shape(&mut rng) {
            let model = model(std::slice::from_ref(&shape));
            let probe = Probe::new(Some(&model), &[Pose::IDENTITY]);
            let (origin, towards) = (rng.unit_vec() * 2.0, rng.vec3(-0.3, 0.3));
            let Some(hit) = probe.ray(&RayCast::new(origin, towards - origin)) else { continue };
            let h = 1e-6;
            let along = |axis: DVec3| {
                let at = |t: f64| shape.signed_distance(hit.point + axis * t).unwrap_or(f64::NAN);
                (at(h) - at(-h)) / (2.0 * h)
            };
            let gradient = DVec3::new(along(DVec3::X), along(DVec3::Y), along(DVec3::Z));
            // at edges it is not defined
            if (gradient.length() - 1.0).abs() < 1e-4 {
                assert!(gradient.distance(hit.normal) < 1e-3, "{gradient} {} {shape:?}", hit.normal);
                checked += 1;
            }
        }
    }
    assert!(checked > 60, "{checked}");
}

#[test]
fn the_first_of_many_is_the_least_of_each() {
    let mut rng = Rng::new(33);
    let mut shapes = Vec::new();
    (0..6).for_each(|_| shapes.extend(every_shape(&mut rng).into_iter().skip(1)));
    let all = model(&shapes);
    let poses = poses(&mut rng, shapes.len(), 4.0);
    let probe = Probe::new(Some(&all), &poses);
    for _ in 0..300 {
        let ray = RayCast::new(rng.vec3(-5.0, 5.0), rng.unit_vec());
        let single = |i: usize| {
            let model = model(&shapes[i..=i]);
            let hit = Probe::new(Some(&model), &poses[i..=i]).ray(&ray)?;
            Some((i as u32, hit.distance))
        };
        let mut expected: Vec<(u32, f64)> = (0..shapes.len()).filter_map(single).collect();
        expected.sort_by(|a, b| a.1.total_cmp(&b.1));
        let found = probe.ray_all(&ray);
        let sides: Vec<_> = expected.iter().map(|(i, _)| TouchSide::Collider(*i)).collect();
        assert_eq!(found.iter().map(|hit| hit.side).collect::<Vec<_>>(), sides);
        assert_eq!(probe.ray(&ray), found.first().copied());
        if let Some(first) = found.first() {
            assert!(probe.ray(&ray.within(0.99 * first.distance)).is_none());
            let point = rng.vec3(-5.0, 5.0);
            let near = probe.closest_point(point, f64::INFINITY, Groups::ALL).unwrap();
            let single = |i: usize| {
                let model = model(&shapes[i..=i]);
                let probe = Probe::new(Some(&model), &poses[i..=i]);
                probe.closest_point(point, f64::INFINITY, Groups::ALL).unwrap().distance
            };
            let least = (0..shapes.len()).map(single).fold(f64::INFINITY, f64::min);
            assert_eq!(near.distance.to_bits(), least.to_bits());
            assert!(least < 0.0 || probe.closest_point(point, 0.99 * least, Groups::ALL).is_none());
        }
    }
}

#[test]
fn no_place_of_a_surface_is_nearer_than_the_nearest_soak() {
    let mut rng = Rng::new(34);
    for _ in 0..6 * soak_scale() {
        for shape in every_shape(&mut rng) {
            let model = model(std::slice::from_ref(&shape));
            let pose = Pose::new(rng.rotation(), rng.vec3(-2.0, 2.0));
            let probe = Probe::new(Some(&model), &[pose]);
            for _ in 0..6 {
                // far away from the border of the height field, too
                let far = if matches!(shape, ContactShape::Field(_)) { 8.0 } else { 1.2 };
                let point = pose.transform_point(rng.vec3(-far, far));
                let found = probe.closest_point(point, f64::INFINITY, Groups::ALL).unwrap();
                assert!((found.point - (point - found.normal * found.distance)).length() < 1e-9);
                assert!((found.point.distance(point) - found.distance.abs()).abs() < 1e-9);
                // the place is on the surface, and inside is where the distance is negative
                let on = Probe::closest_point(&probe, found.point, 1.0, Groups::ALL).unwrap();
                assert!(on.distance.abs() < 1e-9, "{} {shape:?}", on.distance);
                if let Some(signed) = distance(&shape, &pose, point) {
                    assert!(signed.abs() < 1e-9 || (signed < 0.0) == (found.distance < 0.0), "{shape:?}");
                }
                // rays in all directions meet nothing nearer
                for _ in 0..40 {
                    let hit = probe.ray(&RayCast::new(point, rng.unit_vec()));
                    assert!(hit.is_none_or(|hit| hit.distance >= found.distance.abs() - 1e-9), "{shape:?}");
                }
                // and some of the rays about the place meet it
                let mut meets = |target: DVec3| {
                    let hit = probe.ray(&RayCast::new(point, target - point));
                    hit.is_some_and(|hit| hit.distance < found.distance.abs() + 0.02)
                };
                let is_over = distance(&shape, &pose, point).is_some();
                let mut targets = (0..30).map(|_| found.point + rng.unit_vec() * 1e-3);
                assert!(!is_over || targets.any(&mut meets), "{shape:?}");
            }
        }
    }
}

#[test]
fn skins_answer_as_solid_meshes_of_their_form_soak() {
    let mut rng = Rng::new(35);
    let (mut overlapping, mut apart) = (0, 0);
    for _ in 0..10 * soak_scale() {
        let (points, triangles) = ball(2, || rng.uniform(0.4, 0.6));
        let solid: ContactShape = TriMesh::new(&points, &triangles, Some(true)).unwrap().into();
        let skin = Skin::new(triangles, &points).unwrap();
        let pose = Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0));
        let places: Vec<DVec3> = points.iter().map(|&p| pose.transform_point(p)).collect();
        let mut flesh = Probe::new(None, &[]);
        flesh.add_flesh(4, &skin, places, Groups::ALL);
        let model = model(&[solid]);
        let body = Probe::new(Some(&model), &[pose]);
        for _ in 0..30 {
            let point = pose.transform_point(rng.vec3(-0.9, 0.9));
            let ray = RayCast::new(point, rng.unit_vec());
            let [a, b] = [&flesh, &body].map(|it| it.ray(&ray));
            assert_eq!(a.is_some(), b.is_some());
            if let (Some(a), Some(b)) = (a, b) {
                assert!((a.distance - b.distance).abs() < 1e-9 && a.normal.distance(b.normal) < 1e-6);
                assert_eq!((a.side, a.body), (TouchSide::Flesh(4), None));
            }
            let [a, b] = [&flesh, &body].map(|it| it.closest_point(point, 9.0, Groups::ALL).unwrap());
            assert!((a.distance - b.distance).abs() < 1e-9, "{} {}", a.distance, b.distance);
            assert!(a.normal.distance(b.normal) < 1e-6 || a.distance.abs() < 1e-9);
            let box_shape = Shape::Box { size: rng.vec3(0.05, 0.4) }.into();
            let at = Pose::new(rng.rotation(), point);
            let [a, b] = [&flesh, &body].map(|it| it.overlaps(&box_shape, at, Groups::ALL).unwrap());
            assert_eq!(a.len(), b.len());
            overlapping += a.len();
            apart += 1 - a.len();
        }
    }
    assert!(overlapping > 50 && apart > 50);
}

#[test]
fn an_overlap_of_a_ball_is_a_distance_of_its_centre_soak() {
    let mut rng = Rng::new(36);
    for _ in 0..20 * soak_scale() {
        for shape in every_shape(&mut rng) {
            let model = model(std::slice::from_ref(&shape));
            let pose = Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0));
            let probe = Probe::new(Some(&model), &[pose]);
            let centre = pose.transform_point(rng.vec3(-1.2, 1.2));
            let near = probe.closest_point(centre, f64::INFINITY, Groups::ALL).unwrap().distance;
            for radius in [0.999, 1.001].map(|part| part * near).into_iter().filter(|radius| *radius > 0.01) {
                let ball = Shape::Sphere { radius }.into();
                let found = probe.overlaps(&ball, Pose::from_translation(centre), Groups::ALL).unwrap();
                assert_eq!(!found.is_empty(), radius > near, "{radius} {near} {shape:?}");
            }
            // a point inside overlaps whatever its size
            if near < -1e-6 && distance(&shape, &pose, centre).is_some() {
                let speck = Shape::Sphere { radius: 1e-9 }.into();
                let found = probe.overlaps(&speck, Pose::from_translation(centre), Groups::ALL).unwrap();
                assert_eq!(found.len(), 1, "{shape:?}");
            }
        }
    }
}

#[test]
fn groups_hide_colliders_and_flesh() {
    let shape: ContactShape = Shape::Sphere { radius: 1.0 }.into();
    let only = |bit: u32| Groups { member_of: bit, collides_with: bit };
    let collider = Collider::new(Owner::World, Pose::IDENTITY, shape.clone(), ContactMaterial::passive(0.5));
    let model = ContactModel::new(vec![collider.unwrap().with_groups(only(1))], 0, &[]).unwrap();
    let (points, triangles) = ball(2, || 1.5);
    let skin = Skin::new(triangles, &points).unwrap();
    let mut probe = Probe::new(Some(&model), &[]);
    probe.add_flesh(0, &skin, points, only(2));
    let ray = RayCast::new(DVec3::X * 5.0, DVec3::NEG_X);
    let (solid, flesh) = (TouchSide::Collider(0), TouchSide::Flesh(0));
    for (groups, sides) in [(Groups::ALL, vec![solid, flesh]), (only(1), vec![solid]), (only(2), vec![flesh])]
    {
        let mut met: Vec<_> = probe.ray_all(&ray.meeting(groups)).iter().map(|hit| hit.side).collect();
        met.sort_unstable();
        assert_eq!(met, sides);
        assert_eq!(probe.overlaps(&shape, Pose::IDENTITY, groups).unwrap(), sides);
        assert!(sides.contains(&probe.closest_point(DVec3::X * 3.0, 9.0, groups).unwrap().side));
    }
    assert!(probe.ray(&ray.meeting(Groups::NONE)).is_none());
    assert!(probe.closest_point(DVec3::ZERO, 9.0, Groups::NONE).is_none());
}

#[test]
fn nonsense_finds_nothing() {
    let field = HeightField::from_fn([5, 5], glam::DVec2::ONE, |x, _| x).unwrap();
    let mut rng = Rng::new(37);
    let mut shapes = every_shape(&mut rng);
    shapes.push(ContactShape::Field(field));
    let model = model(&shapes);
    let poses = poses(&mut rng, shapes.len(), 1.0);
    let probe = Probe::new(Some(&model), &poses);
    for bad in [DVec3::NAN, DVec3::INFINITY] {
        assert!(probe.ray(&RayCast::new(bad, DVec3::X)).is_none());
        assert!(probe.ray(&RayCast::new(DVec3::ZERO, bad)).is_none());
        assert!(probe.closest_point(bad, 1.0, Groups::ALL).is_none());
    }
    assert!(probe.ray(&RayCast::new(DVec3::ZERO, DVec3::ZERO)).is_none());
    assert!(probe.ray(&RayCast::new(DVec3::ZERO, DVec3::X).within(f64::NAN)).is_none());
    let flat: ContactShape = Shape::Sphere { radius: -1.0 }.into();
    assert!(probe.overlaps(&flat, Pose::IDENTITY, Groups::ALL).is_err());
    // along the axes, where components of the direction are zero, and from places on surfaces
    for axis in DVec3::AXES {
        probe.ray_all(&RayCast::new(DVec3::ZERO, axis));
        probe.ray_all(&RayCast::new(poses[0].translation, -axis));
    }
    // bodies without a pose are not there
    assert!(Probe::new(Some(&model), &[]).ray(&RayCast::new(DVec3::ZERO, DVec3::X)).is_none());
}
