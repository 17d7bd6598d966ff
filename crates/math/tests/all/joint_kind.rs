//! Joint kinds: names, counts and masks agree.

use sinew_math::{DriveCoordinate, JointKind};

#[test]
fn names_round_trip() {
    for kind in JointKind::all(0.25) {
        assert_eq!(JointKind::from_name(kind.name(), 0.25), Some(kind));
    }
    assert_eq!(JointKind::from_name("screw", 0.25).and_then(JointKind::parameter), Some(0.25));
    assert_eq!(JointKind::from_name("pin", 0.0), None);
}

#[test]
fn masks_count_the_rows() {
    for kind in JointKind::all(1.0) {
        if let Some(mask) = kind.locked_mask() {
            assert_eq!(mask.count_ones() as usize, kind.n_rows(), "{kind:?}");
        }
        assert_eq!(kind.n_rows() + kind.free_dimension(), 6);
    }
}

#[test]
fn drives_never_exceed_six_rows_and_never_hit_a_locked_direction() {
    for kind in JointKind::all(1.0) {
        let twist = kind.can_drive(DriveCoordinate::Twist);
        let slide = kind.can_drive(DriveCoordinate::Slide);
        assert!(kind.n_rows() + usize::from(twist) + usize::from(slide) <= 6);
        if let Some(mask) = kind.locked_mask() {
            assert!(!twist || mask & 0b000_001 == 0, "{kind:?}");
            assert!(!slide || mask & 0b001_000 == 0, "{kind:?}");
        }
    }
}

#[test]
fn driven_coordinates_are_among_the_coordinates_of_their_joint() {
    for kind in JointKind::all(1.0) {
        for along in [DriveCoordinate::Twist, DriveCoordinate::Slide] {
            if kind.can_drive(along) {
                assert!(kind.rate_index(along) < kind.free_dimension(), "{kind:?}");
                assert!(kind.coordinate_index(along) < kind.n_coordinates(), "{kind:?}");
            }
        }
    }
}
