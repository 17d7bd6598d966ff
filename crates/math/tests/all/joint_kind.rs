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

#[test]
fn kinds_that_lock_directions_are_found_by_them() {
    for kind in JointKind::all(1.0).into_iter().filter(|kind| kind.locked_mask().is_some()) {
        let mask = kind.locked_mask().unwrap();
        let translations = [3, 4, 5].map(|bit| mask >> bit & 1 == 1);
        let found = JointKind::locking(translations, (mask & 0b111).count_ones() as u8);
        assert_eq!(found, kind);
    }
    assert_eq!(JointKind::locking([true; 3], 1), JointKind::Universal);
    for (translations, rotations, rows) in [
        ([true, false, false], 0, 1),
        ([false, true, false], 1, 2),
        ([false, true, true], 1, 3),
        ([true, true, false], 2, 4),
    ] {
        let kind = JointKind::locking(translations, rotations);
        assert_eq!((kind.n_rows(), kind.free_dimension()), (rows, 6 - rows), "{kind:?}");
        let bits =
            translations.iter().enumerate().map(|(i, &locked)| u8::from(locked) << (i + 3)).sum::<u8>();
        let expected = [Some(bits), None, Some(bits | 0b110)][usize::from(rotations)];
        assert_eq!(kind.locked_mask(), expected, "{kind:?}");
        assert_eq!(kind.can_drive(DriveCoordinate::Twist), rotations == 2, "{kind:?}");
        let is_masked = matches!(kind, JointKind::Masked { .. });
        assert_eq!(kind.can_drive(DriveCoordinate::Slide), is_masked && !translations[0], "{kind:?}");
        assert_eq!(kind.accepts_rotation_force(), is_masked && rotations < 2, "{kind:?}");
    }
}

/// What each kind lets act on it, as the documents list it: twist and slide that can be driven, limits of the twist, forces on the whole
/// rotation, whether it is the same seen from the other body, and numbers of rows and of coordinates.
#[test]
fn abilities_of_every_kind() {
    let table = [
        ("fixed", "------r", 6, 0),
        ("hinge", "t-T---r", 5, 1),
        ("prismatic", "-s----r", 5, 1),
        ("cylindrical", "tsT---r", 4, 2),
        ("planar", "t-T----", 3, 3),
        ("ball", "--TRq--", 3, 4),
        ("universal", "--TR---", 4, 2),
        ("orientation", "-------", 3, 3),
        ("point_on_line", "-s--q--", 2, 5),
        ("point_on_plane", "----q--", 1, 6),
        ("free", "--TRq--", 0, 7),
        ("screw", "t-T---r", 5, 1),
        ("rolling_sphere", "----qn-", 3, 6),
        ("rolling_disc", "----qn-", 3, 6),
    ];
    assert_eq!(table.len(), JointKind::all(0.5).len());
    for (name, abilities, n_rows, n_coordinates) in table {
        let kind = JointKind::from_name(name, 0.5).unwrap();
        let found = [
            (kind.can_drive(DriveCoordinate::Twist), 't'),
            (kind.can_drive(DriveCoordinate::Slide), 's'),
            (kind.has_twist(), 'T'),
            (kind.accepts_rotation_force(), 'R'),
            (kind.has_quaternion(), 'q'),
            (!kind.is_holonomic(), 'n'),
            (kind.is_reversible(), 'r'),
        ];
        let found: String = found.iter().map(|&(has, letter)| if has { letter } else { '-' }).collect();
        assert_eq!(
            (found.as_str(), kind.n_rows(), kind.n_coordinates()),
            (abilities, n_rows, n_coordinates),
            "{name}"
        );
        let has_parameter = matches!(name, "screw" | "rolling_sphere" | "rolling_disc");
        assert_eq!(kind.parameter(), has_parameter.then_some(0.5), "{name}");
    }
    let slide = DriveCoordinate::Slide;
    assert_eq!(
        (JointKind::Cylindrical.rate_index(slide), JointKind::Cylindrical.coordinate_index(slide)),
        (1, 1)
    );
    assert_eq!(
        (JointKind::PointOnLine.rate_index(slide), JointKind::PointOnLine.coordinate_index(slide)),
        (3, 4)
    );
    assert_eq!(JointKind::Prismatic.rate_index(slide), 0);
    assert_eq!(JointKind::Cylindrical.rate_index(DriveCoordinate::Twist), 0);
}
