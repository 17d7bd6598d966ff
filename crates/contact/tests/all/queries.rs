//! Who is looked at: filters, order, reuse of buffers, allocation, bad input.

use crate::distances::cloud;
use glam::{DQuat, DVec2, DVec3};
use sinew_contact::{
    Collider, ContactError, ContactMaterial, ContactModel, ContactPoint, ContactShape, ContactWorkspace,
    ConvexHull, Groups, HeightField, Opposite, Owner, PointCloud, TriMesh,
};
use sinew_math::{Pose, Shape};
use sinew_testkit::Rng;

fn ball(owner: Owner) -> Collider {
    let material = ContactMaterial::for_mass(1.0, 0.5);
    Collider::new(owner, Pose::IDENTITY, ContactShape::Solid(Shape::Sphere { radius: 1.0 }), material)
        .unwrap()
}

fn count(colliders: Vec<Collider>, n_bodies: usize, ignored: &[[Owner; 2]]) -> usize {
    let model = ContactModel::new(colliders, n_bodies, ignored).unwrap();
    let poses: Vec<Pose> =
        (0..n_bodies).map(|i| Pose::from_translation(DVec3::X * (0.1 * i as f64))).collect();
    let mut out = Vec::new();
    model.rigid_contacts(&poses, 0.0, &mut ContactWorkspace::new(), &mut out);
    out.len()
}

#[test]
fn owners_joints_and_groups_decide_who_touches() {
    use Owner::{Body, World};
    assert_eq!(count(vec![ball(Body(0)), ball(Body(1))], 2, &[]), 1);
    assert_eq!(count(vec![ball(Body(0)), ball(Body(0))], 1, &[]), 0);
    assert_eq!(count(vec![ball(World), ball(World)], 0, &[]), 0);
    assert_eq!(count(vec![ball(World), ball(Body(0))], 1, &[]), 1);
    let three = || vec![ball(Body(0)), ball(Body(1)), ball(Body(2))];
    assert_eq!(count(three(), 3, &[]), 3);
    assert_eq!(count(three(), 3, &[[Body(2), Body(1)], [Body(1), Body(2)]]), 2);
    assert_eq!(count(vec![ball(World), ball(Body(0))], 1, &[[Body(0), World]]), 0);
    let groups = |member_of, collides_with| Groups { member_of, collides_with };
    let pair = |a, b| count(vec![ball(Body(0)).with_groups(a), ball(Body(1)).with_groups(b)], 2, &[]);
    assert_eq!(pair(groups(1, 2), groups(2, 1)), 1);
    assert_eq!(pair(groups(1, 2), groups(2, 2)), 0);
    assert_eq!(pair(groups(1, 1), groups(2, 3)), 0);
    assert_eq!(pair(Groups::NONE, Groups::ALL), 0);
}

#[test]
fn a_collider_of_a_missing_body_is_an_error() {
    let error = ContactModel::new(vec![ball(Owner::Body(0)), ball(Owner::Body(7))], 2, &[]).unwrap_err();
    assert!(
        matches!(error, ContactError::Collider { collider: 1, .. }) && error.to_string().contains("body 7")
    );
    assert!(ContactModel::new(vec![], 1, &[[Owner::Body(0), Owner::Body(1)]]).is_err());
}

/// A crowd of all shapes over a field and a plane.
fn crowd(rng: &mut Rng, n: usize) -> (ContactModel, Vec<Pose>) {
    let material = ContactMaterial::for_mass(1.0, 0.5);
    let hull: Vec<DVec3> = (0..16).map(|_| rng.unit_vec() * 0.3).collect();
    let hull = ConvexHull::new(&hull).unwrap();
    let field = HeightField::from_fn([9, 9], DVec2::splat(6.0), |x, y| 0.1 * x * y).unwrap();
    let mut colliders = vec![
        Collider::ground(DVec3::Z * -1.0, DVec3::Z, ContactMaterial::passive(0.5)).unwrap(),
        Collider::new(
            Owner::World,
            Pose::IDENTITY,
            ContactShape::Field(field),
            ContactMaterial::passive(0.5),
        )
        .unwrap(),
    ];
    for solid in [None, Some(false)] {
        let (vertices, triangles) = crate::tri_mesh::ball(2, || 1.0);
        let mesh = TriMesh::new(&vertices, &triangles, solid).unwrap();
        colliders.push(Collider::new(Owner::World, Pose::IDENTITY, mesh.into(), material).unwrap());
    }
    let mut poses = Vec::new();
    for i in 0..n {
        let shape = match i % 5 {
            0 => ContactShape::Solid(Shape::Box { size: DVec3::new(0.5, 0.3, 0.4) }),
            1 => ContactShape::Solid(Shape::Sphere { radius: 0.25 }),
            2 => ContactShape::Solid(Shape::Capsule { radius: 0.15, length: 0.4 }),
            3 => ContactShape::Solid(Shape::Cylinder { radius: 0.2, length: 0.4 }),
            _ => ContactShape::Convex(hull.clone()),
        };
        let pose = Pose::new(rng.rotation(), rng.vec3(-0.1, 0.1));
        let collider = Collider::new(Owner::Body(i as u32), pose, shape, material).unwrap();
        // somewhere in the middle of the list
        colliders.insert(rng.below(colliders.len() + 1), collider);
        poses.push(Pose::new(rng.rotation(), rng.vec3(-1.2, 1.2)));
    }
    (ContactModel::new(colliders, n, &[]).unwrap(), poses)
}

fn bits(contacts: &[ContactPoint]) -> Vec<[u64; 8]> {
    contacts
        .iter()
        .map(|c| {
            let (p, n) = (c.point, c.normal);
            let key = u64::from(c.key.a) << 32 ^ u64::from(c.key.b) ^ c.key.feature;
            [
                p.x.to_bits(),
                p.y.to_bits(),
                p.z.to_bits(),
                n.x.to_bits(),
                n.y.to_bits(),
                n.z.to_bits(),
                c.depth.to_bits(),
                key,
            ]
        })
        .collect()
}

#[test]
fn used_buffers_give_the_bits_of_fresh_ones_and_all_pairs_are_found() {
    let mut rng = Rng::new(31);
    let (model, mut poses) = crowd(&mut rng, 40);
    let mut work = ContactWorkspace::new();
    let (mut one, mut two) = (Vec::new(), Vec::new());
    for _ in 0..20 {
        model.rigid_contacts(&poses, 0.01, &mut work, &mut one);
        model.rigid_contacts(&poses, 0.01, &mut ContactWorkspace::new(), &mut two);
        assert!(one.len() > 50 && one.windows(2).all(|w| w[0].key < w[1].key));
        assert_eq!(bits(&one), bits(&two));
        // pair by pair, without a broad phase
        let mut alone = Vec::new();
        for i in 0..model.colliders().len() {
            for j in 0..i {
                let pair = vec![model.colliders()[j].clone(), model.colliders()[i].clone()];
                let pair = ContactModel::new(pair, poses.len(), &[]).unwrap();
                pair.rigid_contacts(&poses, 0.01, &mut ContactWorkspace::new(), &mut two);
                alone.extend(two.iter().map(|c| (c.depth.to_bits(), c.point.x.to_bits())));
            }
        }
        let mut together: Vec<_> = one.iter().map(|c| (c.depth.to_bits(), c.point.x.to_bits())).collect();
        together.sort_unstable();
        alone.sort_unstable();
        assert_eq!(together, alone);
        for pose in &mut poses {
            pose.translation += rng.vec3(-0.05, 0.05);
        }
    }
}

#[test]
fn points_find_what_a_search_over_all_finds_in_any_order_of_queries() {
    let mut rng = Rng::new(32);
    let (model, poses) = crowd(&mut rng, 15);
    let points: Vec<DVec3> = (0..500).map(|_| rng.vec3(-1.5, 1.5)).collect();
    let mut work = ContactWorkspace::new();
    let mut out = Vec::new();
    let report = model.point_contacts(&cloud(&points), &poses, 0.02, &mut work, &mut out);
    assert_eq!(report.n_contacts, out.len());
    assert!(out.len() > 100 && out.windows(2).all(|w| w[0].key < w[1].key));
    let mut single = Vec::new();
    let mut all = Vec::new();
    for (i, point) in points.iter().enumerate() {
        single.clear();
        let one = PointCloud { first: i as u32, ..cloud(std::slice::from_ref(point)) };
        model.point_contacts(&one, &poses, 0.02, &mut work, &mut single);
        all.extend_from_slice(&single);
    }
    assert_eq!(bits(&out), bits(&all));
    // owners and groups
    let mut fewer = Vec::new();
    let inside = PointCloud { ignored: &[Owner::World], ..cloud(&points) };
    model.point_contacts(&inside, &poses, 0.02, &mut work, &mut fewer);
    assert!(fewer.iter().all(|c| c.b != Opposite::World));
    assert_eq!(fewer.len(), out.iter().filter(|c| c.b != Opposite::World).count());
    let apart = PointCloud { groups: Groups::NONE, ..cloud(&points) };
    assert_eq!(model.point_contacts(&apart, &poses, 0.02, &mut work, &mut fewer).n_contacts, 0);
}

#[test]
fn queries_allocate_nothing_once_warm() {
    let mut rng = Rng::new(33);
    let (model, poses) = crowd(&mut rng, 60);
    let points: Vec<DVec3> = (0..1000).map(|_| rng.vec3(-1.5, 1.5)).collect();
    let (mut work, mut out) = (ContactWorkspace::new(), Vec::new());
    let mut run = || {
        model.rigid_contacts(&poses, 0.01, &mut work, &mut out);
        model.point_contacts(&cloud(&points), &poses, 0.01, &mut work, &mut out);
    };
    run();
    let counted = allocation_counter::measure(run);
    assert_eq!(counted.count_total, 0, "{counted:?}");
}

#[test]
fn bad_poses_and_points_are_left_out_and_counted() {
    let mut rng = Rng::new(34);
    let (model, mut poses) = crowd(&mut rng, 10);
    let (mut work, mut out) = (ContactWorkspace::new(), Vec::new());
    model.rigid_contacts(&poses, 0.01, &mut work, &mut out);
    poses[3].translation.y = f64::NAN;
    poses[5].rotation = DQuat::from_xyzw(0.0, f64::INFINITY, 0.0, 1.0);
    poses.pop();
    let report = model.rigid_contacts(&poses, 0.01, &mut work, &mut out);
    assert_eq!(report.skipped_colliders, 3);
    assert!(out.iter().all(|c| c.depth.is_finite() && c.normal.is_finite() && c.point.is_finite()));
    let points = [
        DVec3::new(f64::NAN, 0.0, -2.0),
        DVec3::new(0.0, 0.0, f64::NEG_INFINITY),
        DVec3::new(0.0, 0.0, -2.0),
    ];
    out.clear();
    let report = model.point_contacts(&cloud(&points), &poses, f64::NAN, &mut work, &mut out);
    assert_eq!((report.skipped_points, report.n_contacts), (2, out.len()));
    assert!(!out.is_empty() && out.iter().all(|c| c.depth.is_finite() && c.key.a == 2));
    // no points at all, or none that are finite
    out.clear();
    assert_eq!(model.point_contacts(&cloud(&[]), &poses, 0.1, &mut work, &mut out).n_contacts, 0);
    assert_eq!(model.point_contacts(&cloud(&points[..2]), &poses, 0.1, &mut work, &mut out).n_contacts, 0);
}

#[test]
fn shapes_in_the_same_place_and_far_away_never_panic() {
    let mut rng = Rng::new(35);
    for scale in [0.0, 1e-300, 1e-9, 1.0, 1e9, 1e150, 1e308] {
        let (model, mut poses) = crowd(&mut rng, 10);
        for pose in &mut poses {
            pose.translation *= scale;
            if rng.chance(0.5) {
                pose.rotation = DQuat::IDENTITY;
            }
        }
        let mut out = Vec::new();
        model.rigid_contacts(&poses, 0.01, &mut ContactWorkspace::new(), &mut out);
        assert!(out.iter().all(|c| c.depth.is_finite() && c.normal.is_finite() && c.point.is_finite()));
    }
}

#[test]
fn groups_do_not_hide_a_pair_from_the_search() {
    let mut rng = Rng::new(23);
    for n_groups in [1, 2, 3, 200] {
        let (mut colliders, mut poses) = (Vec::new(), Vec::new());
        for body in 0..60 {
            let shape =
                if body % 20 == 7 { ContactShape::Plane } else { Shape::Sphere { radius: 0.3 }.into() };
            let mut group = || 1 << (rng.uniform(0.0, f64::from(n_groups)) as u32 % 32);
            let groups = Groups { member_of: group(), collides_with: group() | group() };
            let collider =
                Collider::new(Owner::Body(body), Pose::IDENTITY, shape, ContactMaterial::for_mass(1.0, 0.5));
            colliders.push(collider.unwrap().with_groups(groups));
            poses.push(Pose::from_translation(rng.unit_vec()));
        }
        let model = ContactModel::new(colliders, 60, &[]).unwrap();
        let (mut work, mut found) = (ContactWorkspace::new(), Vec::new());
        // What a search among other colliders left behind does not matter.
        let other = ContactModel::new(model.colliders()[..30].to_vec(), 60, &[]).unwrap();
        other.rigid_contacts(&poses, 0.0, &mut work, &mut found);
        model.rigid_contacts(&poses, 0.0, &mut work, &mut found);
        let mut pairs: Vec<[u32; 2]> = found.iter().map(|contact| [contact.key.a, contact.key.b]).collect();
        pairs.iter_mut().for_each(|pair| pair.sort_unstable());
        pairs.sort_unstable();
        pairs.dedup();
        let is_plane = |i: usize| matches!(model.colliders()[i].shape(), ContactShape::Plane);
        let touches = |[i, j]: [usize; 2]| match (is_plane(i), is_plane(j)) {
            (true, true) => false,
            (true, false) => poses[j].translation.z - poses[i].translation.z <= 0.3,
            (false, true) => poses[i].translation.z - poses[j].translation.z <= 0.3,
            (false, false) => poses[i].translation.distance(poses[j].translation) <= 0.6,
        };
        let all = (0..60).flat_map(|i| (i + 1..60).map(move |j| [i, j]));
        let wanted = all.filter(|&[i, j]| model.may_touch(i, j) && touches([i, j]));
        let wanted: Vec<[u32; 2]> = wanted.map(|pair| pair.map(|i| i as u32)).collect();
        assert_eq!(pairs, wanted, "{n_groups} groups");
        assert!(wanted.len() > 3 || n_groups > 3);
    }
}
