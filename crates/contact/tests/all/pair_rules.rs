//! Rules for pairs of surfaces, and groups, for every kind of collider: bodies, points and skins.

use glam::DVec3;
use sinew_contact::{
    Collider, ContactError, ContactMaterial, ContactModel, ContactPoint, ContactShape, ContactWorkspace,
    Groups, Owner, PairRule, PointCloud, Skin, SkinCloud, SkinContacts,
};
use sinew_math::{Pose, Shape};
use sinew_testkit::Rng;

use crate::sensors::every_shape;
use crate::tri_mesh::ball;

fn rule(kinds: [u32; 2], friction: f64) -> PairRule {
    PairRule { kinds, friction: Some(friction), restitution: None }
}

/// Contacts of a ball of a kind, and of flesh of another, in a shape of the world of kind 1.
fn contacts(shape: &ContactShape, groups: [Groups; 2], rules: Vec<PairRule>) -> [Vec<ContactPoint>; 2] {
    let material = |kind: u32| ContactMaterial { kind, ..ContactMaterial::for_mass(1.0, 0.5) };
    let round: ContactShape = Shape::Sphere { radius: 0.5 }.into();
    // where the surface is near
    let at = match shape {
        ContactShape::Plane | ContactShape::Field(_) => DVec3::Z * 0.3,
        _ => DVec3::X * 0.7,
    };
    let ground = Collider::new(Owner::World, Pose::IDENTITY, shape.clone(), material(1)).unwrap();
    let body = Collider::new(Owner::Body(0), Pose::from_translation(at), round, material(2)).unwrap();
    let colliders = vec![ground.with_groups(groups[0]), body.with_groups(groups[1])];
    let model = ContactModel::new(colliders, 1, &[]).unwrap().with_pair_rules(rules).unwrap();
    let (mut work, mut rigid) = (ContactWorkspace::new(), Vec::new());
    model.rigid_contacts(&[Pose::IDENTITY], 0.1, &mut work, &mut rigid);
    let (points, triangles) = ball(1, || 0.5);
    let skin = Skin::new(triangles, &points).unwrap();
    let points: Vec<DVec3> = points.iter().map(|&p| at + p).collect();
    let (material, ignored) = (material(3), &[Owner::Body(0)][..]);
    let points = PointCloud { points: &points, first: 0, material, groups: groups[1], ignored };
    let mut found = SkinContacts::default();
    let cloud = SkinCloud { points, skin: &skin };
    model.skin_contacts(&cloud, &[Pose::IDENTITY], 0.1, &mut work, &mut found);
    let between = found.between.iter().map(|found| found.contact);
    [rigid, found.points.iter().copied().chain(between).collect()]
}

#[test]
fn rules_hold_for_their_pairs_only_whatever_the_shape() {
    let mut rng = Rng::new(41);
    for shape in every_shape(&mut rng) {
        let all = [Groups::ALL; 2];
        let plain = contacts(&shape, all, Vec::new());
        assert!(plain.iter().all(|list| !list.is_empty()), "{shape:?}");
        let bounce = PairRule { kinds: [3, 1], friction: None, restitution: Some(0.25) };
        let ruled =
            contacts(&shape, all, vec![rule([2, 1], 0.125), bounce, rule([2, 3], 9.0), rule([1, 2], 7.0)]);
        for (before, after) in plain.iter().flatten().zip(ruled.iter().flatten()) {
            let mut expected = *before;
            if matches!(before.a, sinew_contact::Mover::Body(_)) {
                expected.law.friction = 0.125;
            } else {
                expected.law.restitution = 0.25;
            }
            assert_eq!(*after, expected, "{shape:?}");
        }
    }
}

#[test]
fn groups_that_do_not_meet_do_not_touch_whatever_the_shape() {
    let mut rng = Rng::new(42);
    let only = |member_of: u32, collides_with: u32| Groups { member_of, collides_with };
    for shape in every_shape(&mut rng) {
        for (groups, touch) in [
            ([only(1, 2), only(2, 1)], true),
            ([only(1, 2), only(2, 2)], false),
            ([only(1, 1), only(2, 1)], false),
            ([Groups::ALL, Groups::NONE], false),
        ] {
            let found = contacts(&shape, groups, Vec::new());
            assert!(found.iter().all(|list| list.is_empty() != touch), "{shape:?} {groups:?}");
        }
    }
}

#[test]
fn rules_out_of_range_are_refused() {
    let model = |rule| ContactModel::new(Vec::new(), 0, &[]).unwrap().with_pair_rules(vec![rule]);
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let fault = model(rule([1, 2], bad)).unwrap_err();
        assert!(matches!(fault, ContactError::Material { field: "friction", .. }));
    }
    for bad in [-0.1, 1.1, f64::NAN] {
        let rule = PairRule { kinds: [0, 0], friction: None, restitution: Some(bad) };
        let fault = model(rule).unwrap_err();
        assert!(matches!(fault, ContactError::Material { field: "restitution", .. }));
    }
}
