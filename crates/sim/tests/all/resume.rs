//! Save, restore, continue: the same bits as without the break.

use sinew_sim::{State, StateMismatch, World};

use crate::common::{chain, run, scene, world};

#[test]
fn a_restored_run_goes_on_with_the_same_bits() {
    for name in ["pendulum", "hand", "robot", "branching_tree", "chain_100", "double_pendulum"] {
        let mut world = world(name);
        run(&mut world, 50);
        let saved = world.checkpoint();
        run(&mut world, 50);
        let wanted = world.digest();
        // In the same world, and in a new one.
        world.restore(&saved).expect("its own state");
        run(&mut world, 50);
        assert_eq!(world.digest(), wanted, "{name}");
        let mut other = World::from_scene(&scene(name)).expect("a fixture");
        other.restore(&saved).expect("a state of the same scene");
        run(&mut other, 50);
        assert_eq!(other.digest(), wanted, "{name}, new world");
    }
}

#[test]
fn measures_are_those_of_the_restored_state() {
    let mut world = world("robot");
    run(&mut world, 130); // joint torques are switched off by then
    let (saved, energy, violation) = (world.checkpoint(), world.energy(), world.violation());
    run(&mut world, 130);
    world.restore(&saved).expect("its own state");
    assert_eq!((world.energy(), world.violation()), (energy, violation));
}

#[test]
fn a_state_survives_text_to_the_bit() {
    for name in ["double_pendulum", "hand"] {
        let mut world = world(name);
        run(&mut world, 37);
        world.state_mut().bodies.motions[0].linear.x = -0.0;
        let text = ron::to_string(world.state()).expect("plain data");
        let read: State = ron::from_str(&text).expect("what was written");
        assert_eq!(sinew_sim::digest(&read), world.digest(), "{name}");
    }
}

#[test]
fn reset_begins_again() {
    let mut world = world("hand");
    let start = world.digest();
    run(&mut world, 20);
    let after = world.digest();
    world.reset();
    assert_eq!(world.digest(), start);
    run(&mut world, 20);
    assert_eq!(world.digest(), after);
}

#[test]
fn states_of_other_scenes_are_refused() {
    let mut world = chain();
    let state = State::default();
    let error = world.restore(&state).expect_err("no bodies at all");
    assert_eq!(error, StateMismatch { bodies: 4, joints: 4, found_bodies: 0, found_joints: 0 });
    assert!(error.to_string().contains("restore states of the same scene"));
    let mut broken = world.checkpoint();
    broken.bodies.history.increments.push(sinew_sim::Motion::ZERO);
    assert!(world.restore(&broken).is_err());
}
