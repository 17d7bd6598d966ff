//! Small piles for a few seconds; `cargo xtask soak piles` makes larger ones.

use sinew_soak::{Pile, PlacedBox, largest_overlap};

use glam::{DQuat, DVec3};
use sinew_math::Pose;

#[test]
fn towers_and_pyramids_stand() {
    for pile in [Pile::Tower(10), Pile::Pyramid(6)] {
        let run = pile.run(1, 2.0).expect("a scene");
        assert!(run.deepest < 5e-4, "{}: {run:?}", pile.name());
        assert!(run.drift < 1e-6 && run.gain < 1e-4, "{}: {run:?}", pile.name());
    }
}

/// Before contacts were solved as one problem, heaps ended 60 mm deep and never came out again.
#[test]
fn a_heap_comes_to_rest_without_overlap() {
    let run = Pile::Heap(18).run(1, 4.0).expect("a scene");
    assert!(run.deepest < 30e-3 && run.deepest_at_rest < 2e-3, "{run:?}");
    assert!(run.gain < 1e-3 && run.speed < 0.05, "{run:?}");
}

#[test]
fn ragdolls_fall_without_coming_apart() {
    let parts = Pile::Ragdolls(2).parts(1);
    assert_eq!((parts.boxes.len(), parts.joints.len()), (30, 28));
    assert_eq!(parts.joints.iter().filter(|joint| joint.axis.is_some()).count(), 16);
    let run = Pile::Ragdolls(2).run(1, 1.0).expect("a scene");
    assert!(run.gap < 1e-3 && run.deepest < 30e-3 && run.gain < 1e-2, "{run:?}");
}

#[test]
fn overlap_of_boxes_is_that_of_hand() {
    let half = DVec3::new(0.5, 1.0, 2.0);
    let level = DQuat::IDENTITY;
    let quarter = DQuat::from_xyzw(0.0, 0.0, 0.5_f64.sqrt(), 0.5_f64.sqrt());
    let at = |x: f64, turn: DQuat| PlacedBox { pose: Pose::new(turn, DVec3::new(x, 0.0, 3.0)), half };
    assert!((at(0.0, level).overlap(&at(0.9, level)) - 0.1).abs() < 1e-12);
    // A quarter turn: half sizes 0.5 and 1.
    assert!((at(0.0, level).overlap(&at(1.2, quarter)) - 0.3).abs() < 1e-12);
    assert!(at(0.0, level).overlap(&at(1.1, level)) < 0.0);
    let (overlap, ground) = largest_overlap(&[at(0.0, level), at(0.9, level), at(5.0, level)], &|_, _| false);
    assert!((overlap - 0.1).abs() < 1e-12 && ground == 0.0);
}
