//! Typed indices and the vector they index.

use sinew_math::{IndexVec, TypedIndex, define_index};

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
    assert_eq!(<JointId as TypedIndex>::from_index(3).index(), 3);
}

#[test]
#[should_panic(expected = "more than 2³² items")]
fn too_many_items() {
    let _ = BodyId::from_index(1 << 32);
}

#[test]
fn index_vec_behaves_like_a_vector() {
    let mut names: IndexVec<BodyId, &str> = IndexVec::new();
    assert!(names.is_empty());
    let (a, b) = (names.push("upper"), names.push("lower"));
    assert_eq!((names[a], names[b], names.len()), ("upper", "lower", 2));
    names[b] = "hand";
    assert_eq!(names.get(BodyId::from_index(2)), None);
    assert_eq!(names.get(b), Some(&"hand"));
    assert_eq!(names.indices().collect::<Vec<_>>(), [a, b]);
    assert_eq!(names.iter_enumerated().next_back(), Some((b, &"hand")));
    assert_eq!(names.iter().chain(&names).count(), 4);
    for name in names.iter_mut() {
        *name = &name[..1];
    }
    names.as_mut_slice().swap(0, 1);
    assert_eq!(names.as_slice(), ["h", "u"]);
    assert_eq!(format!("{names:?}"), r#"["h", "u"]"#);
    let copies: IndexVec<JointId, f64> = IndexVec::from_elem(0.5, 3);
    assert_eq!(copies, [0.5; 3].into_iter().collect());
    assert_eq!(IndexVec::<BodyId, u8>::default().len(), 0);
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
    round_trip(&IndexVec::<BodyId, f64>::from(vec![1.0, 2.5]));
    round_trip(&Pose::new(DQuat::from_xyzw(0.5, 0.5, 0.5, 0.5), DVec3::X));
    round_trip(&Motion::new(DVec3::X, DVec3::Y));
    round_trip(&Force::new(DVec3::X, DVec3::Y));
    round_trip(&Sym3::IDENTITY);
    round_trip(&MassProperties::default());
    round_trip(&MassProperties::default().spatial_inertia());
}
