//! Assignments of nodes to bones.

use glam::DVec3;
use sinew_fem::{Attachments, BoneCapsule, BoneState, FemError, nearest_bones, nodes_within, paint};
use sinew_math::{Motion, Pose, exp_so3};
use sinew_testkit::{Rng, assert_close};

fn capsule(bone: u32, x: f64) -> BoneCapsule {
    BoneCapsule { bone, start: DVec3::new(x, 0.0, 0.0), end: DVec3::new(x + 1.0, 0.0, 0.0), radius_m: 0.1 }
}

#[test]
fn distances_are_to_the_surface_of_the_capsule() {
    let bone = capsule(0, 0.0);
    assert_close!(bone.distance(DVec3::new(0.5, 0.3, 0.0)), 0.2, 1e-15);
    assert_close!(bone.distance(DVec3::new(-1.0, 0.0, 0.0)), 0.9, 1e-15);
    assert_close!(bone.distance(DVec3::new(0.7, 0.0, 0.05)), -0.05, 1e-15);
    let point = BoneCapsule { end: bone.start, ..bone };
    assert_close!(point.distance(DVec3::new(0.0, 0.0, 0.6)), 0.5, 1e-15);
}

#[test]
fn nodes_go_to_the_nearest_bone_within_reach() {
    let capsules = [capsule(4, 0.0), capsule(7, 2.0)];
    let nodes = [DVec3::new(0.5, 0.15, 0.0), DVec3::new(2.1, 0.0, 0.0), DVec3::new(1.6, 0.0, 0.0)];
    assert_eq!(nodes_within(&nodes, &capsules, 0.1), [Some(4), Some(7), None]);
    assert_eq!(nearest_bones(&nodes, &capsules), [Some(4), Some(7), Some(7)]);
    assert_eq!(nearest_bones(&nodes, &[]), [None, None, None]);
}

#[test]
fn painting_adds_to_distances_and_refuses_conflicts() {
    let mut bones = vec![None, Some(1), None];
    paint(&mut bones, &[0, 1], 1).unwrap();
    assert_eq!(bones, [Some(1), Some(1), None]);
    assert_eq!(
        paint(&mut bones, &[2, 1], 3).unwrap_err(),
        FemError::AttachedTwice { node: 1, first: 1, second: 3 }
    );
    assert!(matches!(paint(&mut bones, &[9], 3).unwrap_err(), FemError::EntryOutOfRange { index: 0, .. }));
}

#[test]
fn attached_nodes_follow_their_bone() {
    let mut rng = Rng::new(81);
    let x: Vec<DVec3> = (0..10).map(|_| rng.vec3(-1.0, 1.0)).collect();
    let pose = |rng: &mut Rng| Pose { rotation: rng.rotation(), translation: rng.vec3(-1.0, 1.0) };
    let poses = [pose(&mut rng), pose(&mut rng)];
    let bones: Vec<Option<u32>> = (0..10).map(|i| [Some(0), Some(1), None][i % 3]).collect();
    let attachments = Attachments::new(&x, &poses, &bones, &[Some(1); 10]).unwrap();
    assert_eq!((attachments.attached().len(), attachments.free().len()), (7, 3));
    assert!(attachments.free().iter().all(|free| free.reference == Some(1)));

    let twist = Motion { angular: DVec3::new(0.3, -0.2, 0.9), linear: DVec3::new(1.0, 2.0, 3.0) };
    let motion = |pose: &Pose| BoneState { world_from_bone: *pose, twist };
    let (mut positions, mut velocities) = (x.clone(), vec![DVec3::ZERO; 10]);
    attachments.prescribe(&poses.map(|pose| motion(&pose)), &mut positions, &mut velocities);
    assert_close!(positions, x, 1e-15);

    // velocities are the derivative of positions
    let h = 1e-6;
    let later = poses.map(|pose| Pose {
        rotation: exp_so3(twist.angular * h) * pose.rotation,
        translation: pose.translation + twist.linear * h,
    });
    let (mut moved, mut other) = (x.clone(), velocities.clone());
    attachments.prescribe(&later.map(|pose| motion(&pose)), &mut moved, &mut other);
    for attached in attachments.attached() {
        let node = attached.node as usize;
        assert_close!((moved[node] - positions[node]) / h, velocities[node], 1e-5);
    }
}

#[test]
fn bad_assignments_are_errors() {
    let x = [DVec3::ZERO, DVec3::X];
    let poses = [Pose::IDENTITY];
    let error = |bones: &[Option<u32>], references: &[Option<u32>]| {
        Attachments::new(&x, &poses, bones, references).unwrap_err()
    };
    assert!(matches!(error(&[None], &[None; 2]), FemError::WrongLength { .. }));
    assert!(matches!(error(&[None, Some(1)], &[None; 2]), FemError::EntryOutOfRange { index: 1, .. }));
    assert!(matches!(error(&[None; 2], &[Some(3), None]), FemError::EntryOutOfRange { index: 0, .. }));
}
