//! Typed indices.

use sinew_math::define_index;

define_index!(
    /// A test body.
    BodyId,
    /// A test joint.
    JointId,
);

#[test]
fn indices_count_and_print() {
    let id = BodyId::from_index(7);
    assert_eq!(id.index(), 7);
    assert_eq!(format!("{id:?}"), "BodyId(7)");
    assert!(BodyId::from_index(1) < BodyId::from_index(2));
    assert_eq!(JointId::from_index(3).index(), 3);
}

#[test]
#[should_panic(expected = "more than 2³² items")]
fn too_many_items() {
    let _ = BodyId::from_index(1 << 32);
}

#[cfg(feature = "serde")]
#[test]
fn everything_round_trips_through_serde() {
    use glam::{DQuat, DVec3};
    use sinew_math::{Force, MassProperties, Motion, Pose, Sym3};

    fn round_trip<T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug>(
        value: &T,
    ) {
        let text = serde_json::to_string(value).unwrap();
        assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value);
    }
    assert_eq!(serde_json::to_string(&BodyId::from_index(3)).unwrap(), "3");
    round_trip(&BodyId::from_index(9));
    round_trip(&vec![BodyId::from_index(1), BodyId::from_index(2)]);
    round_trip(&Pose::new(DQuat::from_xyzw(0.5, 0.5, 0.5, 0.5), DVec3::X));
    round_trip(&Motion::new(DVec3::X, DVec3::Y));
    round_trip(&Force::new(DVec3::X, DVec3::Y));
    round_trip(&Sym3::IDENTITY);
    round_trip(&MassProperties::default());
    round_trip(&MassProperties::default().spatial_inertia());
}
