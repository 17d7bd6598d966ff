//! After the first steps, stepping allocates nothing.

use sinew_sim::{Grab, Input, World};

use crate::common::{chain, world};

fn assert_no_allocation(name: &str, world: &mut World, step: impl Fn(&mut World)) {
    (0..3).for_each(|_| step(world));
    let info = allocation_counter::measure(|| (0..100).for_each(|_| step(world)));
    assert_eq!(info.count_total, 0, "{name}: {info:?}");
}

#[test]
fn stepping_fixtures_allocates_nothing() {
    for name in ["pendulum", "double_pendulum", "chain_100", "hand", "robot", "branching_tree", "showcase"] {
        assert_no_allocation(name, &mut world(name), |world| {
            world.step();
        });
    }
}

#[test]
fn sensors_and_events_that_stay_allocate_nothing() {
    let mut world = world("gate");
    for _ in 0..150 {
        world.step();
    }
    assert_no_allocation("gate", &mut world, |world| {
        world.step();
    });
}

#[test]
fn explicit_and_block_steps_allocate_nothing() {
    for stepper in ["Explicit()", "Implicit(solver: Block)", "Implicit(order: 2, newton_iterations: 3)"] {
        let mut scene = crate::common::scene("chain_10");
        scene.set("stepper", stepper).expect("a stepper");
        let mut world = World::from_scene(&scene).expect("a scene");
        assert_no_allocation(stepper, &mut world, |world| {
            world.step();
        });
    }
}

#[test]
fn scores_in_implicit_steps_allocate_nothing() {
    let mut scene = crate::common::scene("guide_60hz");
    scene.set("stepper", "Implicit()").expect("a stepper");
    let mut world = World::from_scene(&scene).expect("a scene");
    // The arm turns so fast that steps need a second solve, whose memory is made then, in step 4.
    for _ in 0..30 {
        world.step();
    }
    assert_no_allocation("guide_60hz", &mut world, |world| {
        world.step();
    });
}

#[test]
fn inputs_of_the_caller_allocate_nothing() {
    let mut world = chain();
    let mut input = Input::default();
    for body in world.mechanism().bodies() {
        input.grabs.push(Grab {
            body,
            point: glam::DVec3::ZERO,
            target: glam::DVec3::Z,
            stiffness: 10.0,
            damping: 1.0,
        });
    }
    assert_no_allocation("four grabs", &mut world, |world| {
        world.step_with(&input);
    });
}
