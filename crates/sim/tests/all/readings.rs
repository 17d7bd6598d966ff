//! Coordinates of joints as tables and programs read them.

use glam::DVec3;
use sinew_sim::{JointReading, World};

use crate::common::small;

const MASS: &str = "mass: Properties(mass: 1, inertia: Diagonal(1, 1, 1))";

/// A body on a joint without gravity: its spin about x, fields of the scene, and the joint.
fn spun(spin: f64, fields: &str, joint: &str) -> World {
    small(&format!(
        r#"gravity: (0, 0, 0), {fields} bodies: [(name: "b", velocity: (angular: ({spin}, 0, 0)), {MASS})],
           joints: [(name: "j", child: "b", {joint})]"#
    ))
}

fn reading(world: &World) -> JointReading {
    world.reading(world.joint("j").expect("a joint"))
}

fn run(world: &mut World, seconds: f64) {
    for _ in 0..(seconds / world.settings().dt).round() as usize {
        assert!(world.step().health.is_good());
    }
}

#[test]
fn the_angle_of_a_free_joint_does_not_wrap() {
    let steppers = [
        "",
        "stepper: Implicit(order: 2),",
        "stepper: Explicit(),",
        "stepper: Displacement(),",
        "stepper: Reduced(),",
    ];
    for stepper in steppers {
        for joint in ["kind: Hinge", "kind: Cylindrical", "kind: Planar"] {
            for spin in [-0.9, 10.0, 70.0, -170.0] {
                if f64::abs(spin) > 100.0 && !stepper.is_empty() {
                    continue;
                }
                let mut world = spun(spin, stepper, joint);
                run(&mut world, 4.0);
                let twist = reading(&world).twist;
                // Explicit steps lose a little; a lost turn would be 6.3.
                assert!((twist - 4.0 * spin).abs() < 0.5, "{stepper} {joint} {spin}: {twist}");
            }
        }
    }
}

#[test]
fn counting_turns_changes_no_motion() {
    let run_of = |joint: &str| {
        let mut world = spun(10.0, "dt: 0.01,", joint);
        run(&mut world, 3.0);
        (world.state().bodies.poses.clone(), reading(&world).twist)
    };
    let (free, angle) = run_of("kind: Hinge");
    let (sprung, known) = run_of("kind: Hinge, spring: (stiffness: 1e-12)");
    assert!(free[0].rotation.angle_between(sprung[0].rotation) < 1e-6);
    assert!((angle - known).abs() < 1e-9 && (angle - 30.0).abs() < 1e-9, "{angle} {known}");
}

#[test]
fn a_rotation_reads_zero_where_its_spring_is_relaxed() {
    let joint = "kind: Ball, spring: (stiffness: 9, damping: 6, rest_rotation: (0.3, 0.5, -0.2))";
    let mut world = spun(0.0, "", joint);
    let rest = DVec3::new(0.3, 0.5, -0.2);
    assert!(reading(&world).rotation.distance(-rest) < 1e-12);
    run(&mut world, 10.0);
    assert!(reading(&world).rotation.length() < 1e-3);
    let turned = world.pose(world.body("b").expect("a body")).rotation;
    assert!(sinew_math::log_so3(turned).distance(rest) < 1e-3);
}
