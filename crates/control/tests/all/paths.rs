//! Paths of places and turns, alone and as targets of goals.

use glam::DVec3;
use sinew_control::{
    Aim, ControlError, Facing, Gains, Goal, Guide, PointPath, PointTarget, PoseGoal, Style, TurnPath,
};
use sinew_math::{exp_so3, log_so3};
use sinew_mechanism::JointKind;
use sinew_testkit::assert_close;

use crate::support::{Run, chain, ends};

#[test]
fn places_and_turns_go_evenly_between_their_points() {
    let path = PointPath::new(vec![(1.0, DVec3::X), (3.0, DVec3::Y), (4.0, DVec3::Z)]).unwrap();
    assert_close!(path.at(0.0), DVec3::X, 0.0);
    assert_close!(path.at(2.5), DVec3::new(0.25, 0.75, 0.0), 1e-15);
    assert_close!(path.at(9.0), DVec3::Z, 0.0);
    let turn = exp_so3(DVec3::new(0.2, -0.9, 0.4));
    // the length of a turn does not matter
    let turns = TurnPath::new(vec![(0.0, exp_so3(DVec3::ZERO)), (2.0, turn * 3.0)]).unwrap();
    for (time, share) in [(-1.0, 0.0), (0.5, 0.25), (2.0, 1.0), (5.0, 1.0)] {
        assert_close!(log_so3(turns.at(time)), log_so3(turn) * share, 1e-14);
    }
}

#[test]
fn bad_points_are_refused_and_leave_a_path_as_it_was() {
    let mut path = PointPath::new(vec![(0.0, DVec3::ZERO)]).unwrap();
    let before = path.clone();
    assert_eq!(path.push(0.0, DVec3::X), Err(ControlError::TimeNotIncreasing { index: 1 }));
    let nan = ControlError::NotValid {
        what: "position of point",
        index: 1,
        range: "finite, and not a zero quaternion",
    };
    assert_eq!(path.push(1.0, DVec3::NAN), Err(nan.clone()));
    assert_eq!(path, before);
    path.push(1.0, DVec3::X).unwrap();
    assert_close!(path.at(0.5), DVec3::X * 0.5, 0.0);
    assert_eq!(PointPath::new(vec![(0.0, DVec3::ZERO), (1.0, DVec3::NAN)]), Err(nan));
    assert_eq!(TurnPath::new(vec![]), Err(ControlError::Empty));
    let still = exp_so3(DVec3::ZERO);
    let refused = TurnPath::new(vec![(0.0, still), (1.0, still * 0.0)]);
    assert_eq!(
        refused.unwrap_err().to_string(),
        "orientation of point 1 must be finite, and not a zero quaternion"
    );
    let refused = TurnPath::new(vec![(1.0, still), (0.0, still)]);
    assert_eq!(refused, Err(ControlError::TimeNotIncreasing { index: 1 }));
}

#[test]
fn bones_follow_paths_of_places_and_turns() {
    let tree = chain(6, &[JointKind::Ball], false);
    let [_, tip] = ends(&tree);
    let away = PointPath::new(vec![(0.0, DVec3::ZERO), (1.0, DVec3::new(-0.3, 0.2, 0.2))]).unwrap();
    let turn = exp_so3(DVec3::new(0.3, 0.2, -0.4));
    let mut run = Run::guided(tree, Guide::new(Style::Acceleration, vec![]));
    let (start, upright) = (run.place(tip, DVec3::ZERO), run.dynamics.body_pose(&run.tree, tip).rotation);
    let turns = TurnPath::new(vec![(0.0, upright), (1.0, turn * upright)]).unwrap();
    let goals = vec![
        Goal::hold(tip, Aim::Orientation(Facing::Along(turns))),
        Goal::drag(tip, DVec3::ZERO, PointTarget::Beside(away.clone())),
    ];
    let rest = run.tree.neutral_state().coordinates;
    let calm = PoseGoal { coordinates: rest, gains: Gains::damper(8.0), ramp: 0.0 };
    let mut run = Run::guided(run.tree, Guide::new(Style::Acceleration, goals).with_pose(calm));
    let _ = run.run(0.7, &[]);
    // on the way, without a lag
    let off = (run.place(tip, DVec3::ZERO) - start - away.at(0.7)).length();
    assert!(off < 0.01, "{off} m off the path");
    let _ = run.run(2.0, &[]);
    assert!((run.place(tip, DVec3::ZERO) - start - away.at(9.0)).length() < 5e-3);
    let turned = run.dynamics.body_pose(&run.tree, tip).rotation;
    assert!(log_so3(turned * upright.conjugate()).distance(log_so3(turn)) < 5e-3);
}

#[cfg(feature = "serde")]
#[test]
fn guidance_and_its_state_survive_being_written() {
    let tree = chain(3, &[JointKind::Ball], true);
    let [head, tip] = ends(&tree);
    let path = PointPath::new(vec![(0.0, DVec3::ZERO), (1.0, DVec3::X)]).unwrap();
    let goals = vec![
        Goal::hold(head, Aim::Orientation(Facing::Held)).with_gains(Gains::critical(4.0).with_reach(0.5)),
        Goal::drag(tip, DVec3::Y, PointTarget::Along(path)),
    ];
    let guide = Guide::new(Style::Velocity, goals);
    let text = serde_json::to_string(&guide).unwrap();
    assert_eq!(serde_json::from_str::<Guide>(&text).unwrap(), guide);
    let backwards = text.replace("[0.0,[0.0,0.0,0.0]]", "[2.0,[0.0,0.0,0.0]]");
    assert!(backwards != text && serde_json::from_str::<Guide>(&backwards).is_err());
    let mut run = Run::guided(tree, guide);
    let _ = run.decide(&[], &[]);
    let text = serde_json::to_string(&run.control).unwrap();
    assert_eq!(serde_json::from_str::<sinew_control::ControllerState>(&text).unwrap(), run.control);
    assert_eq!(run.control.held.len(), 2);
}
