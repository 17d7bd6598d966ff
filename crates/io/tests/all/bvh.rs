//! Motions in BVH, against forward kinematics of their own.

use glam::{DMat3, DVec3};
use sinew_io::{ImportOptions, Outcome, RootHold, read_bvh};
use sinew_math::ops;
use sinew_scene::JointKind;
use sinew_sim::World;
use sinew_testkit::{Rng, soak_scale};

/// Frames a second, and how many.
const RATE: f64 = 30.0;
const FRAMES: usize = 61;

/// A biped of seven joints in centimetres: a hinge at one knee, other orders elsewhere.
const SKELETON: &str = "HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Chest
  {
    OFFSET 0 20 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT Arm
    {
      OFFSET 18 22 0
      CHANNELS 3 Yrotation Zrotation Xrotation
      End Site
      {
        OFFSET 30 0 0
      }
    }
    End Site
    {
      OFFSET 0 50 0
    }
  }
  JOINT Thigh
  {
    OFFSET 9 -6 0
    CHANNELS 3 Zrotation Yrotation Xrotation
    JOINT Shin
    {
      OFFSET 0 -42 0
      CHANNELS 1 Xrotation
      End Site
      {
        OFFSET 0 -42 0
      }
    }
  }
}
MOTION
";

/// Joints: parent, offset (cm), axes of rotation channels.
const JOINTS: [(&str, usize, [f64; 3], &str); 5] = [
    ("Hips", 0, [0.0, 0.0, 0.0], "ZXY"),
    ("Chest", 0, [0.0, 20.0, 0.0], "ZXY"),
    ("Arm", 1, [18.0, 22.0, 0.0], "YZX"),
    ("Thigh", 0, [9.0, -6.0, 0.0], "ZYX"),
    ("Shin", 3, [0.0, -42.0, 0.0], "X"),
];

/// The channel `n` of a frame: the place of the root in cm, then degrees.
fn channel(frame: usize, n: usize) -> f64 {
    let time = frame as f64 / RATE;
    let wave = ops::sin(std::f64::consts::TAU * time * 0.7 + n as f64);
    match n {
        0 => 60.0 * time,
        1 => 95.0 + 2.0 * wave,
        2 => 5.0 * wave,
        3..=5 => 10.0 * wave,
        15 => 30.0 + 30.0 * wave,
        _ => 30.0 * wave,
    }
}

fn text() -> String {
    let mut text = format!("{SKELETON}Frames: {FRAMES}\nFrame Time: {}\n", 1.0 / RATE);
    for frame in 0..FRAMES {
        let line: Vec<String> = (0..16).map(|n| format!("{:.6}", channel(frame, n))).collect();
        text += &(line.join(" ") + "\n");
    }
    text
}

fn axis_turn(axis: char, degrees: f64) -> DMat3 {
    let (s, c) = ops::sin_cos(degrees.to_radians());
    match axis {
        'X' => DMat3::from_cols_array(&[1., 0., 0., 0., c, s, 0., -s, c]),
        'Y' => DMat3::from_cols_array(&[c, 0., -s, 0., 1., 0., s, 0., c]),
        _ => DMat3::from_cols_array(&[c, s, 0., -s, c, 0., 0., 0., 1.]),
    }
}

/// Where joints are in a frame, in metres and z-up: rotations multiplied as the format has it.
fn forward(frame: usize) -> Vec<DVec3> {
    let (mut at, mut turns): (Vec<DVec3>, Vec<DMat3>) = Default::default();
    let mut next = 3;
    for (number, (_, parent, offset, axes)) in JOINTS.iter().enumerate() {
        let mut turn = DMat3::IDENTITY;
        for axis in axes.chars() {
            turn *= axis_turn(axis, channel(frame, next));
            next += 1;
        }
        let offset = DVec3::from_array(*offset);
        if number == 0 {
            at.push(DVec3::new(channel(frame, 0), channel(frame, 1), channel(frame, 2)));
            turns.push(turn);
        } else {
            at.push(at[*parent] + turns[*parent] * offset);
            turns.push(turns[*parent] * turn);
        }
    }
    at.into_iter().map(|x| DVec3::new(x.x, -x.z, x.y) * 0.01).collect()
}

#[test]
fn bodies_begin_where_forward_kinematics_puts_them() {
    let read = read_bvh(&text(), "walk.bvh", &ImportOptions::default()).expect("a motion");
    assert!(
        read.report.of(Outcome::Approximated).any(|finding| finding.what.contains("centimetres")),
        "{}",
        read.report
    );
    for (body, x) in read.scene.bodies.iter().zip(forward(0)) {
        assert!(body.pose.to_pose().translation.distance(x) < 1e-7, "{}", body.name);
    }
    let kinds: Vec<bool> = read.scene.joints.iter().map(|joint| joint.free.is_some()).collect();
    assert_eq!(kinds, [true, true, true, false]);
    assert_eq!(read.scene.joints[3].kind, JointKind::Hinge);
}

#[test]
fn bodies_follow_within_two_centimetres() {
    let read = read_bvh(&text(), "walk.bvh", &ImportOptions::default()).expect("a motion");
    let mut world = World::from_scene(&read.scene).expect("a world");
    let mut most = 0.0_f64;
    for step in 1..=120 {
        let report = world.step();
        assert!(report.health.is_good(), "{:?}", report.health);
        if step % 2 == 0 {
            for ((name, ..), x) in JOINTS.iter().zip(forward(step / 2)) {
                let at = world.pose(world.body(name).expect("a bone")).translation;
                most = most.max(at.distance(x));
            }
        }
    }
    assert!(world.violation().position < 1e-4, "{:?}", world.violation());
    assert!(most < 0.02, "{most} m off");
}

#[test]
fn a_skeleton_that_is_let_go_falls_on_the_floor() {
    let mut options = ImportOptions::default();
    options.root = RootHold::Free;
    let read = read_bvh(&text(), "walk.bvh", &options).expect("a motion");
    let mut world = World::from_scene(&read.scene).expect("a world");
    let floor = forward(0).iter().map(|x| x.z).fold(f64::INFINITY, f64::min) - 0.42;
    for _ in 0..180 {
        assert!(world.step().health.is_good());
    }
    let hips = world.pose(world.body("Hips").expect("a bone")).translation;
    assert!(hips.z > floor && hips.z < floor + 0.6, "the hips are at {hips}, the floor at {floor}");
}

#[test]
fn faults_have_lines() {
    for (from, to, wanted) in [
        ("CHANNELS 1 Xrotation", "CHANNELS 1 Xturn", "walk.bvh:31: there is no channel `Xturn`"),
        ("OFFSET 0 20 0", "OFFSET 0 20 x", "walk.bvh:8: `x` is no number"),
        ("Frames: 61", "Frames: 60", "there are more than 60 frames of 16 numbers"),
        ("Frames: 61", "Frames: 99999999999", "no count"),
        ("Frames: 61", "Frames: 62", "the file ends where a number is expected"),
    ] {
        let error = read_bvh(&text().replace(from, to), "walk.bvh", &ImportOptions::default());
        let error = error.expect_err(wanted).to_string();
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn damaged_motions_never_panic() {
    let text = text();
    let mut rng = Rng::new(11);
    for _ in 0..1500 * soak_scale() {
        let mut damaged = text.clone().into_bytes();
        for _ in 0..1 + rng.below(3) {
            // Mostly in the hierarchy, which is the beginning.
            let most = if rng.below(3) == 0 { damaged.len() } else { 900 };
            let at = rng.below(most);
            match rng.below(4) {
                0 => damaged[at] = b"0123456789 {}.-eX\n"[rng.below(18)],
                1 => drop(damaged.drain(at..(at + 7).min(most))),
                2 => damaged.truncate(at.max(1000)),
                _ => damaged[at] = b'Z',
            }
            damaged.resize(damaged.len().max(1000), b' ');
        }
        let Ok(damaged) = String::from_utf8(damaged) else { continue };
        let _ = read_bvh(&damaged, "walk.bvh", &ImportOptions::default());
    }
}

#[test]
fn joints_with_taken_names_and_far_turns_are_listed() {
    let renamed = text().replace("JOINT Chest", "JOINT Thigh").replace("ROOT Hips", "ROOT world");
    let read = read_bvh(&renamed, "walk.bvh", &ImportOptions::default()).expect("a motion");
    let found: Vec<String> =
        read.report.of(Outcome::Repaired).map(|it| format!("{}: {}", it.place, it.what)).collect();
    let wanted = [
        "walk.bvh:2: JOINT world: its name is taken; it is called `world_2`",
        "walk.bvh:24: JOINT Thigh: its name is taken; it is called `Thigh_2`",
    ];
    assert_eq!(found, wanted);
    assert!(read.scene.bodies.iter().any(|body| body.name == "Thigh_2"));
    let far = |text: &str| {
        let read = read_bvh(text, "walk.bvh", &ImportOptions::default()).expect("a motion");
        read.report.of(Outcome::Approximated).any(|it| it.what.contains("motors fade out"))
    };
    assert!(!far(&text()));
    // A whole turn, in twelve parts: some of it is far from any middle.
    let mut turn = "HIERARCHY ROOT a { OFFSET 0 0 0 CHANNELS 3 Xposition Yposition Zposition JOINT b { OFFSET 0 1 0
        CHANNELS 3 Zrotation Xrotation Yrotation End Site { OFFSET 0 1 0 } } } MOTION Frames: 12 Frame Time: 0.1"
        .to_owned();
    (0..12).for_each(|k| turn += &format!("\n0 0 0 {} 0 0", 30 * k));
    assert!(far(&turn));
}
