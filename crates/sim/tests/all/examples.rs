//! The examples do what they say.

#[path = "../../examples/car.rs"]
#[expect(dead_code, reason = "an example is a program")]
mod car;
#[path = "../../examples/crane.rs"]
#[expect(dead_code, reason = "an example is a program")]
mod crane;
#[path = "../../examples/gripper.rs"]
#[expect(dead_code, reason = "an example is a program")]
mod gripper;
#[path = "../../examples/pendulum.rs"]
#[expect(dead_code, reason = "an example is a program")]
mod pendulum;
#[path = "../../examples/ragdoll.rs"]
#[expect(dead_code, reason = "an example is a program")]
mod ragdoll;
#[path = "../../examples/rollback.rs"]
#[expect(dead_code, reason = "an example is a program")]
mod rollback;
#[path = "../../examples/rollouts.rs"]
#[expect(dead_code, reason = "an example is a program")]
mod rollouts;

#[path = "../../examples/score.rs"]
#[expect(dead_code, reason = "an example is a program")]
mod score;
#[path = "../../examples/soft_arm.rs"]
#[expect(dead_code, reason = "an example is a program")]
mod soft_arm;
#[path = "../../examples/torque_arm.rs"]
#[expect(dead_code, reason = "an example is a program")]
mod torque_arm;

#[test]
fn the_arm_presses_on_the_wall_with_the_force_it_is_told() {
    let (_, [force, gap]) = torque_arm::run(300).expect("an arm");
    assert!((force / 20.0 - 1.0).abs() < 0.15 && gap.abs() < 2e-3, "{force} {gap}");
}

/// A rod that falls from the horizontal about its end passes the lowest point with `θ̇² = 3 g / L`, up to its width.
#[test]
fn the_pendulum_is_let_go_and_swings() {
    let mut world = pendulum::pendulum().expect("a pendulum");
    let pivot = world.joint("pivot").expect("a pivot");
    let mut fastest = 0.0f64;
    for _ in 0..100 {
        world.step();
        fastest = fastest.max(world.reading(pivot).twist_rate.abs());
    }
    assert!((fastest / (3.0f64 * 9.81).sqrt() - 1.0).abs() < 0.02, "{fastest}");
}

#[test]
fn the_ragdoll_falls_and_is_dragged_up() {
    let [fallen, dragged] = [80, 300].map(|n| ragdoll::run(n).expect("a ragdoll").1);
    assert!(fallen < 0.6 && dragged > 1.8, "{fallen} {dragged}");
}

#[test]
fn the_crane_lifts_its_load_and_turns() {
    let (_, [height, turned, tension]) = crane::run(300).expect("a crane");
    assert!((height - 1.5).abs() < 0.2 && (turned - 1.2).abs() < 0.3, "{height} {turned}");
    assert!((tension / (500.0 * 9.81) - 1.0).abs() < 0.2, "{tension}");
}

#[test]
fn the_car_drives_over_the_bump() {
    let (_, [x, lean]) = car::run(240).expect("a car");
    assert!(x > 5.0 && lean < 0.1, "{x} {lean}");
}

#[test]
fn players_agree_to_the_bit() {
    assert!(rollback::run(60).expect("a rink").1);
}

#[test]
fn sticks_land_on_some_side() {
    let (_, share) = rollouts::run(40, 90).expect("sticks");
    assert!((0.1..=1.0).contains(&share), "{share}");
}

#[test]
fn the_gripper_holds_the_cube_without_a_table() {
    let (_, [sunk, lean, error]) = gripper::run(180).expect("a gripper");
    assert!(sunk.abs() < 0.01 && lean < 1e-4 && error < 1e-5, "{sunk} {lean} {error}");
}

#[test]
fn the_tendon_bends_the_soft_arm() {
    let (_, [risen, turned, tension]) = soft_arm::run(90).expect("an arm");
    assert!(risen > 0.1 && turned > 0.5 && tension > 5.0, "{risen} {turned} {tension}");
}

#[test]
fn the_arms_bend_and_lead_their_bar_along_its_track() {
    let (_, [bent, off, open]) = score::run(150).expect("two arms");
    assert!((bent + 0.5).abs() < 1e-3 && off < 5e-3 && open < 1e-9, "{bent} {off} {open:e}");
}
