//! Contacts of two solids: against parry's own contact query, against hulls of the same solid, and with the sides exchanged.

use crate::distances::box_corners;
use glam::{DQuat, DVec2, DVec3};
use parry3d_f64::math::Pose as ParryPose;
use parry3d_f64::shape::{Ball, Capsule, ConvexPolyhedron, Cuboid, Cylinder, Shape as ParryShape};
use sinew_contact::{
    Collider, ContactMaterial, ContactModel, ContactPoint, ContactShape, ContactWorkspace, ConvexHull,
    HeightField, Mover, Opposite, Owner,
};
use sinew_math::{Pose, Shape, exp_so3};
use sinew_testkit::{Rng, soak_scale};

const EDGES: DVec3 = DVec3::new(0.8, 0.5, 0.6);

fn hull_points() -> Vec<DVec3> {
    let mut rng = Rng::new(77);
    (0..24).map(|_| rng.unit_vec() * 0.4 * DVec3::new(1.0, 0.8, 1.2)).collect()
}

fn solids() -> Vec<(ContactShape, Box<dyn ParryShape>)> {
    let turn = |p: DVec3| DVec3::new(p.x, p.y, p.z);
    vec![
        (ContactShape::Solid(Shape::Box { size: EDGES }), Box::new(Cuboid::new(EDGES * 0.5))),
        (ContactShape::Solid(Shape::Sphere { radius: 0.3 }), Box::new(Ball::new(0.3))),
        (
            ContactShape::Solid(Shape::Capsule { radius: 0.2, length: 0.6 }),
            Box::new(Capsule::new_x(0.3, 0.2)),
        ),
        (
            ContactShape::Convex(ConvexHull::new(&hull_points()).unwrap()),
            Box::new(
                ConvexPolyhedron::from_convex_hull(&hull_points().into_iter().map(turn).collect::<Vec<_>>())
                    .unwrap(),
            ),
        ),
    ]
}

pub(crate) fn model_of(shapes: [&ContactShape; 2]) -> ContactModel {
    let material = ContactMaterial::for_mass(1.0, 0.5);
    let collider =
        |i: usize| Collider::new(Owner::Body(i as u32), Pose::IDENTITY, shapes[i].clone(), material).unwrap();
    ContactModel::new(vec![collider(0), collider(1)], 2, &[]).unwrap()
}

fn contacts(shapes: [&ContactShape; 2], poses: [Pose; 2], margin: f64) -> Vec<ContactPoint> {
    let mut out = Vec::new();
    let report = model_of(shapes).rigid_contacts(&poses, margin, &mut ContactWorkspace::new(), &mut out);
    assert_eq!(report.n_contacts, out.len());
    assert!(out.len() <= 16 && out.windows(2).all(|w| w[0].key < w[1].key));
    out
}

fn deepest(contacts: &[ContactPoint]) -> Option<&ContactPoint> {
    contacts.iter().max_by(|a, b| a.depth.total_cmp(&b.depth))
}

fn parry_pose(pose: &Pose) -> ParryPose {
    ParryPose::from_parts(pose.translation, pose.rotation)
}

#[test]
fn the_deepest_contact_is_that_of_parry() {
    let mut rng = Rng::new(21);
    let all = solids();
    let mut compared = 0;
    for _ in 0..2000 * soak_scale() {
        let (i, j) = (rng.below(all.len()), rng.below(all.len()));
        let poses = [Pose::new(rng.rotation(), DVec3::ZERO), Pose::new(rng.rotation(), rng.vec3(-0.7, 0.7))];
        let margin = 0.05;
        let ours = contacts([&all[i].0, &all[j].0], poses, margin);
        let theirs = parry3d_f64::query::contact(
            &parry_pose(&poses[0]),
            &*all[i].1,
            &parry_pose(&poses[1]),
            &*all[j].1,
            margin,
        )
        .unwrap();
        let (Some(ours), Some(theirs)) = (deepest(&ours), &theirs) else {
            // at the rim of the margin a polygon may be a contact where a corner is not
            assert!(
                theirs.is_none_or(|t| t.dist > -1e-9 || ours.len() == 1),
                "{i} {j}: {theirs:?} but none here"
            );
            continue;
        };
        // resting contacts are shallow; deep ones may choose another way out of nearly the same length
        if theirs.dist > -0.05 {
            assert!(ours.depth > -theirs.dist - 1e-6, "{i} {j}: {} {}", ours.depth, -theirs.dist);
            if theirs.dist < 0.0 {
                assert!(
                    (ours.depth + theirs.dist).abs() < 2e-4 + 0.02 * theirs.dist.abs(),
                    "{i} {j}: {ours:?} {theirs:?}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn exchanging_the_sides_turns_the_normals() {
    let mut rng = Rng::new(22);
    let mut all: Vec<ContactShape> = solids().into_iter().map(|s| s.0).collect();
    all.push(ContactShape::Solid(Shape::Cylinder { radius: 0.25, length: 0.7 }));
    all.push(ContactShape::Plane);
    let mut found = 0;
    for _ in 0..3000 {
        let (i, j) = (rng.below(all.len()), rng.below(all.len()));
        let poses =
            [Pose::new(rng.rotation(), DVec3::ZERO), Pose::new(rng.rotation(), rng.unit_vec() * 0.55)];
        let one = contacts([&all[i], &all[j]], poses, 0.02);
        let two = contacts([&all[j], &all[i]], [poses[1], poses[0]], 0.02);
        let (Some(a), Some(b)) = (deepest(&one), deepest(&two)) else {
            assert!(one.is_empty() == two.is_empty() || one.iter().chain(&two).all(|c| c.depth < 1e-9));
            continue;
        };
        if a.depth.abs() < 0.05 {
            found += 1;
            assert!((a.depth - b.depth).abs() < 1e-3, "{i} {j} {a:?} {b:?}");
        }
    }
    assert!(found > 200, "{found}");
}

#[test]
fn a_normal_separates_and_points_from_b_to_a() {
    // moving a along the normal by the deepest depth opens the contact
    let mut rng = Rng::new(23);
    let mut all: Vec<ContactShape> = solids().into_iter().map(|s| s.0).collect();
    all.push(ContactShape::Solid(Shape::Cylinder { radius: 0.25, length: 0.7 }));
    all.push(ContactShape::Plane);
    let mut tried = 0;
    for _ in 0..3000 {
        let (i, j) = (rng.below(all.len()), rng.below(all.len()));
        let mut poses =
            [Pose::new(rng.rotation(), rng.unit_vec() * 0.55), Pose::new(rng.rotation(), DVec3::ZERO)];
        let found = contacts([&all[i], &all[j]], poses, 0.0);
        let Some(worst) = deepest(&found) else { continue };
        assert!(matches!(worst.a, Mover::Body(0)) && worst.b == Opposite::Body(1));
        tried += 1;
        poses[0].translation += worst.normal * (worst.depth * 1.001 + 1e-4);
        let left = deepest(&contacts([&all[i], &all[j]], poses, 0.0)).map_or(0.0, |c| c.depth);
        assert!(left < 1e-3 + 1e-2 * worst.depth, "{i} {j}: {left} of {}", worst.depth);
    }
    assert!(tried > 500, "{tried}");
}

#[test]
fn a_box_on_a_box_touches_in_the_four_corners_of_the_smaller_face() {
    let (small, large) = (DVec3::new(0.4, 0.3, 0.2), DVec3::new(1.0, 1.0, 0.5));
    for exact in [true, false] {
        let shape = |edges: DVec3| {
            if exact {
                ContactShape::Solid(Shape::Box { size: edges })
            } else {
                ContactShape::Convex(ConvexHull::new(&box_corners(edges)).unwrap())
            }
        };
        let poses = [Pose::new(exp_so3(DVec3::Z * 0.3), DVec3::new(0.1, 0.05, 0.35 - 1e-4)), Pose::IDENTITY];
        for order in [false, true] {
            let (shapes, placed, sign) = if order {
                ([shape(large), shape(small)], [poses[1], poses[0]], -1.0)
            } else {
                ([shape(small), shape(large)], poses, 1.0)
            };
            let found = contacts([&shapes[0], &shapes[1]], placed, 0.01);
            assert_eq!(found.len(), 4, "{exact} {order} {found:?}");
            for contact in &found {
                assert!((contact.depth - 1e-4).abs() < 1e-12, "{}", contact.depth);
                assert!((contact.normal - DVec3::Z * sign).length() < 1e-9);
                assert!((contact.point.z - 0.25).abs() < 1e-4);
            }
        }
    }
    // equal boxes, aligned: still four
    let shape = ContactShape::Solid(Shape::Box { size: DVec3::ONE });
    let found =
        contacts([&shape, &shape], [Pose::from_translation(DVec3::Z * (1.0 - 1e-4)), Pose::IDENTITY], 0.01);
    assert_eq!(found.len(), 4, "{found:?}");
}

#[test]
fn features_stay_while_the_same_parts_touch() {
    let (small, large) = (
        ContactShape::Solid(Shape::Box { size: DVec3::splat(0.3) }),
        ContactShape::Solid(Shape::Box { size: DVec3::ONE }),
    );
    let keys = |dx: f64, tilt: f64| -> Vec<_> {
        let pose = Pose::new(exp_so3(DVec3::new(tilt, 2.0 * tilt, 0.0)), DVec3::new(dx, 0.0, 0.65 - 1e-4));
        contacts([&small, &large], [pose, Pose::IDENTITY], 0.01).iter().map(|c| c.key).collect()
    };
    let first = keys(0.0, 0.0);
    for i in 0..50 {
        assert_eq!(keys(1e-3 * f64::from(i), 1e-5 * f64::from(i)), first);
    }
}

#[test]
fn solids_on_a_plane_touch_where_they_stand() {
    let ground = ContactShape::Plane;
    let lift = |z: f64, rotation: DQuat| [Pose::new(rotation, DVec3::Z * (z - 1e-4)), Pose::IDENTITY];
    let upright = exp_so3(DVec3::Y * std::f64::consts::FRAC_PI_2);
    let cylinder = ContactShape::Solid(Shape::Cylinder { radius: 0.2, length: 1.0 });
    let cases = [
        (ContactShape::Solid(Shape::Box { size: DVec3::ONE }), 0.5, DQuat::IDENTITY, 4),
        (ContactShape::Solid(Shape::Sphere { radius: 0.3 }), 0.3, DQuat::IDENTITY, 1),
        (ContactShape::Solid(Shape::Capsule { radius: 0.1, length: 1.0 }), 0.1, DQuat::IDENTITY, 2),
        (cylinder.clone(), 0.2, exp_so3(DVec3::X * 0.3), 2),
        (cylinder, 0.5, upright, 6),
        (ContactShape::Convex(ConvexHull::new(&box_corners(DVec3::ONE)).unwrap()), 0.5, DQuat::IDENTITY, 4),
    ];
    for (shape, height, rotation, n) in cases {
        let found = contacts([&shape, &ground], lift(height, rotation), 1e-6);
        let solid = found.iter().filter(|c| (c.depth - 1e-4).abs() < 1e-9).count();
        assert!(solid >= n, "{shape:?}: {found:?}");
        let flat = HeightField::from_fn([6, 7], DVec2::splat(4.0), |_, _| 0.0).unwrap();
        let on_field = contacts([&shape, &ContactShape::Field(flat)], lift(height, rotation), 1e-6);
        assert!((deepest(&on_field).unwrap().depth - 1e-4).abs() < 1e-9);
        assert!(on_field.iter().all(|c| (c.normal - DVec3::Z).length() < 1e-2));
    }
}

#[test]
fn a_peak_of_a_height_field_is_felt_by_a_face_above_it() {
    let field =
        HeightField::from_fn([3, 3], DVec2::splat(2.0), |x, y| if x == 0.0 && y == 0.0 { 0.2 } else { 0.0 });
    let shapes =
        [ContactShape::Solid(Shape::Box { size: DVec3::splat(0.5) }), ContactShape::Field(field.unwrap())];
    let pose = Pose::from_translation(DVec3::new(0.02, 0.01, 0.2 + 0.25 - 1e-3));
    let found = contacts([&shapes[0], &shapes[1]], [pose, Pose::IDENTITY], 0.0);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!((found[0].depth - 1e-3).abs() < 1e-12 && (found[0].normal - DVec3::Z).length() < 1e-12);
}

#[test]
fn cylinders_against_solids_agree_with_parry() {
    let mut rng = Rng::new(24);
    let others = solids();
    let ours = ContactShape::Solid(Shape::Cylinder { radius: 0.25, length: 0.7 });
    let theirs = Cylinder::new(0.35, 0.25);
    let axis = exp_so3(DVec3::Z * -std::f64::consts::FRAC_PI_2);
    let mut compared = 0;
    for _ in 0..1500 {
        let j = rng.below(others.len());
        let poses =
            [Pose::new(rng.rotation(), DVec3::ZERO), Pose::new(rng.rotation(), rng.unit_vec() * 0.55)];
        let found = contacts([&ours, &others[j].0], poses, 0.02);
        let turned = Pose::new(poses[0].rotation * axis, DVec3::ZERO);
        let reference = parry3d_f64::query::contact(
            &parry_pose(&turned),
            &theirs,
            &parry_pose(&poses[1]),
            &*others[j].1,
            0.02,
        )
        .unwrap();
        if let (Some(ours), Some(reference)) = (deepest(&found), reference)
            && reference.dist.abs() < 0.03
        {
            assert!((ours.depth + reference.dist).abs() < 1e-3, "{j}: {ours:?} {reference:?}");
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn hulls_that_share_a_face_touch_there() {
    let mut rng = Rng::new(9);
    for round in 0..400 {
        // Two prisms with a common face, in one frame, as written by hand: six decimals.
        let (turn, wide, deep) = (rng.rotation(), rng.uniform(0.05, 0.5), rng.uniform(0.05, 0.5));
        let [back, front] = [-rng.uniform(0.05, 0.5), rng.uniform(0.05, 0.5)];
        let tilt = rng.vec3(-0.3, 0.3);
        let face = |z: f64| {
            [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]].map(|[x, y]| {
                let x = turn * (DVec3::new(x * wide, y * deep, z) + tilt * DVec3::new(z, z, 0.0));
                (x * 1e6).round() * 1e-6
            })
        };
        let hull =
            |a: f64, b: f64| ContactShape::Convex(ConvexHull::new(&[face(a), face(b)].concat()).unwrap());
        let (first, second) = (hull(0.0, front), hull(back, 0.0));
        let found = contacts([&first, &second], [Pose::IDENTITY; 2], 1e-3);
        assert!(!found.is_empty(), "{round}");
        for contact in &found {
            assert!(contact.depth.abs() < 1e-5, "{round}: {} m deep", contact.depth);
            assert!(contact.normal.dot(turn * DVec3::Z) > 0.999, "{round}: {}", contact.normal);
        }
    }
}
