//! Anchors: matching by key, bounds, order, and a round trip through text.

use glam::DVec3;
use sinew_contact::{Anchors, ContactAnchor, ContactKey, ContactMaterial, ContactPoint, Mover, Opposite};

fn contact(a: u32, feature: u64) -> ContactPoint {
    let material = ContactMaterial::for_mass(1.0, 0.5);
    ContactPoint {
        key: ContactKey { a, b: 0, feature },
        a: Mover::Body(a),
        b: Opposite::World,
        point: DVec3::ZERO,
        normal: DVec3::Z,
        depth: 0.0,
        law: material.with(&material),
    }
}

#[test]
fn contacts_find_their_own_stretch_and_forgotten_ones_are_gone() {
    let first = [contact(1, 0), contact(1, 5), contact(2, 0), contact(4, 1)];
    let mut anchors = Anchors::new();
    anchors.replace(&first, &[DVec3::X, DVec3::Y, DVec3::splat(f64::NAN), DVec3::Z]);
    assert_eq!(anchors.entries().len(), 3);
    let second = [contact(0, 0), contact(1, 5), contact(2, 0), contact(3, 0), contact(4, 1), contact(4, 2)];
    let mut stretches = Vec::new();
    anchors.fill_stretches(&second, &mut stretches);
    assert_eq!(stretches, [DVec3::ZERO, DVec3::Y, DVec3::ZERO, DVec3::ZERO, DVec3::Z, DVec3::ZERO]);
    anchors.replace(&second, &stretches);
    assert_eq!(anchors.entries().len(), 2);
    anchors.fill_stretches(&first, &mut stretches);
    assert_eq!(stretches, [DVec3::ZERO, DVec3::Y, DVec3::ZERO, DVec3::Z]);
    anchors.clear();
    anchors.fill_stretches(&first, &mut stretches);
    assert_eq!(stretches, [DVec3::ZERO; 4]);
}

#[test]
fn entries_in_any_order_are_sorted() {
    let anchor = |a, stretch| ContactAnchor { key: contact(a, 0).key, stretch };
    let anchors = Anchors::from(vec![anchor(3, DVec3::X), anchor(1, DVec3::Y), anchor(3, DVec3::Z)]);
    assert_eq!(anchors.entries(), [anchor(1, DVec3::Y), anchor(3, DVec3::X)]);
    assert_eq!(Vec::from(anchors.clone()), anchors.entries());
}

#[cfg(feature = "serde")]
#[test]
fn anchors_survive_text() {
    let mut anchors = Anchors::new();
    anchors.replace(&[contact(1, u64::MAX)], &[DVec3::new(1e-5, 1.0 / 3.0, -0.0)]);
    let text = serde_json::to_string(&anchors).unwrap();
    assert_eq!(serde_json::from_str::<Anchors>(&text).unwrap(), anchors);
}
