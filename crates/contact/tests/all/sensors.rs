//! Sensors: overlaps against a search for a common point of two shapes.

use glam::{DVec2, DVec3};
use sinew_contact::{
    Collider, ContactMaterial, ContactModel, ContactShape, ContactWorkspace, ConvexHull, FleshOutline,
    Groups, HeightField, Owner, PlacedSkin, SensorModel, Skin, SkinBoxes, TouchSide, TriMesh,
};
use sinew_math::{Pose, Shape, ops};
use sinew_testkit::{Rng, soak_scale};

use crate::tri_mesh::ball;

/// One of every kind of shape, about 1 m large; the height field is much wider.
pub(crate) fn every_shape(rng: &mut Rng) -> Vec<ContactShape> {
    let mut size = |least: f64| rng.uniform(least, 0.8);
    let mut shapes: Vec<ContactShape> = vec![
        ContactShape::Plane,
        Shape::Box { size: DVec3::new(size(0.2), size(0.2), size(0.2)) }.into(),
        Shape::Sphere { radius: size(0.2) }.into(),
        Shape::Capsule { radius: size(0.1), length: size(0.1) }.into(),
        Shape::Cylinder { radius: size(0.2), length: size(0.2) }.into(),
    ];
    let points: Vec<DVec3> = (0..10).map(|_| rng.vec3(-0.5, 0.5)).collect();
    shapes.push(ContactShape::Convex(ConvexHull::new(&points).unwrap()));
    let (phase, height) = (rng.uniform(0.0, 6.0), rng.uniform(0.05, 0.3));
    let hills = |x: f64, y: f64| height * ops::sin(4.0 * x + phase) * ops::cos(5.0 * y);
    shapes.push(ContactShape::Field(HeightField::from_fn([33, 41], DVec2::new(10.0, 11.0), hills).unwrap()));
    let (vertices, triangles) = ball(1, || rng.uniform(0.4, 0.6));
    shapes.push(TriMesh::new(&vertices, &triangles, Some(true)).unwrap().into());
    shapes
}

/// The least `max(φ_a, φ_b)` over all points: negative if the shapes have a common point, and half of the gap if they have none.
fn common(a: (&ContactShape, Pose), b: (&ContactShape, Pose), rng: &mut Rng) -> f64 {
    let distance = |(shape, pose): (&ContactShape, Pose), p: DVec3| {
        let local = pose.inverse().transform_point(p);
        shape.signed_distance(local).unwrap_or(10.0)
    };
    let depth = |p: DVec3| distance(a, p).max(distance(b, p));
    let middle = 0.5 * (a.1.translation + b.1.translation);
    let mut starts: Vec<DVec3> = (0..200).map(|_| middle + rng.vec3(-1.5, 1.5)).collect();
    starts.extend([a.1.translation, b.1.translation]);
    starts.sort_by(|p, q| depth(*p).total_cmp(&depth(*q)));
    let mut least = f64::INFINITY;
    for start in &starts[..5] {
        let (mut best, mut value, mut step) = (*start, depth(*start), 0.3);
        while step > 1e-5 && value > -1e-3 {
            let tries = (0..24).map(|_| best + rng.unit_vec() * step);
            let next = tries.min_by(|p, q| depth(*p).total_cmp(&depth(*q))).unwrap();
            if depth(next) < value {
                (best, value) = (next, depth(next));
            } else {
                step *= 0.6;
            }
        }
        least = least.min(value);
    }
    least
}

fn place(rng: &mut Rng, is_plane: bool) -> Pose {
    let far = if is_plane { 0.5 } else { 1.1 };
    Pose::new(rng.rotation(), rng.vec3(-far, far))
}

fn collider(owner: Owner, shape: &ContactShape) -> Collider {
    Collider::new(owner, Pose::IDENTITY, shape.clone(), ContactMaterial::passive(0.5)).unwrap()
}

#[test]
fn sensors_feel_what_has_a_point_in_common_with_them_soak() {
    let mut rng = Rng::new(17);
    let mut counts = [0, 0];
    for _ in 0..6 * soak_scale() {
        let shapes = every_shape(&mut rng);
        for (i, first) in shapes.iter().enumerate() {
            for second in &shapes[i..] {
                let is_plane = |shape: &ContactShape| matches!(shape, ContactShape::Plane);
                let is_endless = |shape| is_plane(shape) || matches!(shape, ContactShape::Field(_));
                if is_endless(first) && is_endless(second) {
                    continue;
                }
                let poses = [place(&mut rng, is_plane(first)), place(&mut rng, is_plane(second))];
                let least = common((first, poses[0]), (second, poses[1]), &mut rng);
                if least.abs() < 5e-4 {
                    continue;
                }
                // either may be the sensor
                for (a, b, poses) in [(first, second, poses), (second, first, [poses[1], poses[0]])] {
                    let all = vec![collider(Owner::Body(0), a), collider(Owner::Body(1), b)];
                    let sensors = SensorModel::new(ContactModel::new(all, 2, &[]).unwrap(), 1);
                    let mut found = Vec::new();
                    sensors.overlaps(&poses, &mut ContactWorkspace::new(), &mut found);
                    assert_eq!(!found.is_empty(), least < 0.0, "{least} {poses:?}\n{a:?}\n{b:?}");
                    counts[usize::from(least < 0.0)] += 1;
                }
            }
        }
    }
    assert!(counts[0] > 60 && counts[1] > 60, "{counts:?}");
}

#[test]
fn flesh_is_felt_where_a_solid_of_its_form_is_felt_soak() {
    let mut rng = Rng::new(18);
    let mut counts = [0, 0];
    for _ in 0..12 * soak_scale() {
        let (points, triangles) = ball(2, || rng.uniform(0.4, 0.6));
        let solid: ContactShape = TriMesh::new(&points, &triangles, Some(true)).unwrap().into();
        let skin = Skin::new(triangles, &points).unwrap();
        let pose = place(&mut rng, false);
        let places: Vec<DVec3> = points.iter().map(|&p| pose.transform_point(p)).collect();
        let mut boxes = SkinBoxes::default();
        let skin = PlacedSkin::new(&skin, &places, &mut boxes);
        for shape in every_shape(&mut rng) {
            let mut at = place(&mut rng, matches!(shape, ContactShape::Plane));
            // some are much smaller, and all inside
            let shape = match shape {
                ContactShape::Solid(Shape::Sphere { .. }) if rng.chance(0.5) => {
                    at.translation = pose.translation + rng.vec3(-0.2, 0.2);
                    Shape::Sphere { radius: 0.05 }.into()
                }
                other => other,
            };
            let all = vec![collider(Owner::Body(0), &solid), collider(Owner::Body(1), &shape)];
            let sensors = SensorModel::new(ContactModel::new(all, 2, &[]).unwrap(), 1);
            let (mut expected, mut found) = (Vec::new(), Vec::new());
            sensors.overlaps(&[pose, at], &mut ContactWorkspace::new(), &mut expected);
            let flesh = FleshOutline { number: 3, skin, groups: Groups::ALL, ignored: &[] };
            sensors.flesh_overlaps(&flesh, &[pose, at], &mut found);
            assert_eq!(found.len(), expected.len(), "{shape:?}");
            let sides = [TouchSide::Collider(1), TouchSide::Flesh(3)];
            assert!(found.iter().all(|pair| pair.sides == sides && pair.is_sensor));
            counts[found.len()] += 1;
            let ignoring = FleshOutline { ignored: &[Owner::Body(1)], ..flesh };
            let apart = FleshOutline { groups: Groups::NONE, ..flesh };
            found.clear();
            [ignoring, apart].iter().for_each(|flesh| sensors.flesh_overlaps(flesh, &[pose, at], &mut found));
            assert!(found.is_empty());
        }
    }
    assert!(counts[0] > 10 && counts[1] > 10, "{counts:?}");
}

#[test]
fn sensors_ignore_their_owner_other_groups_and_joints_but_not_softness() {
    let shape: ContactShape = Shape::Sphere { radius: 0.1 }.into();
    let groups = |member_of, collides_with| Groups { member_of, collides_with };
    let felt = |colliders: Vec<Collider>, ignored: &[[Owner; 2]]| {
        let parts = (0..colliders.len() as u32).map(|i| 10 + i).collect();
        let all = ContactModel::new(colliders, 2, ignored).unwrap().with_parts(parts).unwrap();
        let mut found = Vec::new();
        SensorModel::new(all, 1).overlaps(&[Pose::IDENTITY; 2], &mut ContactWorkspace::new(), &mut found);
        found
    };
    let [one, two] = [0, 1].map(|body| collider(Owner::Body(body), &shape));
    let found = felt(vec![one.clone(), two.clone()], &[]);
    assert_eq!(found[0].sides, [TouchSide::Collider(10), TouchSide::Collider(11)]);
    // two sensors feel each other
    assert_eq!(felt(vec![collider(Owner::World, &shape), one.clone(), two.clone()], &[]).len(), 3);
    assert!(felt(vec![one.clone(), one.clone()], &[]).is_empty());
    assert!(felt(vec![one.clone(), two.clone()], &[[Owner::Body(1), Owner::Body(0)]]).is_empty());
    assert!(felt(vec![one.with_groups(groups(1, 2)), two.with_groups(groups(2, 2))], &[]).is_empty());
}

#[test]
fn what_passes_a_thin_sensor_within_a_step_is_felt() {
    let mut rng = Rng::new(19);
    let gate: ContactShape = Shape::Box { size: DVec3::new(0.01, 2.0, 2.0) }.into();
    let sheet = {
        let corners =
            [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(y, z)| DVec3::new(0.0, y, z));
        TriMesh::new(&corners, &[[0, 1, 2], [0, 2, 3]], Some(false)).unwrap().into()
    };
    for _ in 0..300 {
        let shape = every_shape(&mut rng).swap_remove(1 + rng.below(5));
        let (pose, turn) = (Pose::new(rng.rotation(), rng.vec3(-5.0, 5.0)), rng.rotation());
        // from one side to the other, through the gate or beside it
        let through = rng.chance(0.5);
        let aside = if through { 0.0 } else { 3.5 };
        let from = DVec3::new(-rng.uniform(1.0, 2.0), rng.uniform(-0.2, 0.2) + aside, rng.uniform(-0.2, 0.2));
        let to = DVec3::new(rng.uniform(1.0, 2.0), rng.uniform(-0.2, 0.2) + aside, rng.uniform(-0.2, 0.2));
        let ways = [from, to].map(|place| Pose::new(turn, pose.transform_point(place)));
        for sensor in [&gate, &sheet] {
            let all = vec![collider(Owner::Body(0), &shape), collider(Owner::Body(1), sensor)];
            let sensors = SensorModel::new(ContactModel::new(all, 2, &[]).unwrap(), 1);
            let (mut work, mut found) = (ContactWorkspace::new(), Vec::new());
            sensors.overlaps_after(&[ways[0], pose], &[ways[1], pose], &mut work, &mut found);
            assert_eq!(!found.is_empty(), through, "{shape:?}");
        }
    }
}
