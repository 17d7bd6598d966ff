//! Save, restore, continue: the same bits as without the break.

use sinew_sim::{
    BodyDoc, ColliderDoc, DVec3, FleshDoc, FleshMeshDoc, RestoreError, SavedError, SceneDoc, Shape, State,
    World, digest, state_from_bytes, state_from_text, state_to_bytes, state_to_text,
};

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
    let of_sizes = RestoreError::OtherModel { bodies: 4, joints: 4, found_bodies: 0, found_joints: 0 };
    assert_eq!(error, of_sizes);
    assert!(error.to_string().contains("restore states of the same scene"));
    let mut broken = world.checkpoint();
    broken.bodies.history.increments.push(sinew_sim::Motion::ZERO);
    assert!(world.restore(&broken).is_err());
}

#[test]
fn saved_states_keep_every_bit_and_know_their_model() {
    let text = include_str!("../../../../fixtures/mechanisms/hand.ron");
    let scenes = [
        SceneDoc::from_ron(text, "hand.ron").expect("a good scene"),
        SceneDoc::new("flesh").with(ColliderDoc::floor(0.0)).with(
            FleshDoc::new("jelly", FleshMeshDoc::Beam { size: DVec3::splat(0.2), cells: [2; 3] }).touching(),
        ),
    ];
    for scene in scenes {
        let mut world = World::from_scene(&scene).expect("a good scene");
        for _ in 0..7 {
            world.step();
        }
        let state = world.checkpoint();
        let bytes = state_from_bytes(&state_to_bytes(&state)).expect("a state");
        let written = state_from_text(&state_to_text(&state)).expect("a state");
        assert_eq!([digest(&bytes), digest(&written)], [digest(&state); 2]);
        assert_eq!((&bytes, &written), (&state, &state));
        world.step();
        let after = world.digest();
        world.restore(&bytes).expect("its own state");
        world.step();
        assert_eq!(world.digest(), after);
    }
}

#[test]
fn states_of_another_mechanism_of_the_same_size_are_refused() {
    let of = |name: &str, mass: f64| {
        let ball = BodyDoc::new(name).shape(Shape::Sphere { radius: 0.1 }).mass(mass);
        World::from_scene(&SceneDoc::new("ball").with(ball)).expect("a good scene")
    };
    let (mut a, b, c) = (of("ball", 1.0), of("bowl", 1.0), of("ball", 2.0));
    assert!(a.restore(b.state()).is_err() && a.restore(c.state()).is_err());
    assert!(a.restore(of("ball", 1.0).state()).is_ok());
    let error = a.restore(b.state()).expect_err("another model").to_string();
    assert!(error.contains("another model"), "{error}");
}

#[test]
fn damaged_states_are_refused_with_a_reason() {
    let world = World::from_scene(&SceneDoc::new("empty")).expect("a good scene");
    let bytes = state_to_bytes(world.state());
    let none = SavedError::NotSaved { wanted: "state" };
    for other in [&b"hello"[..], b"hello\nworld", b"sinew recording 2 00000000\n", b""] {
        assert_eq!(state_from_bytes(other), Err(none.clone()));
    }
    assert_eq!(state_from_text("(a: 1)"), Err(none));
    let other = SavedError::OtherVersion("9".to_owned());
    assert_eq!(state_from_bytes(b"sinew state 9\n"), Err(other.clone()));
    assert_eq!(state_from_text("// sinew state 9 0\n()"), Err(other));
    let head = 1 + bytes.iter().position(|&byte| byte == b'\n').expect("a first line");
    for n in head..bytes.len() {
        assert!(matches!(state_from_bytes(&bytes[..n]), Err(SavedError::Damaged(_))), "{n}");
        let mut flipped = bytes.clone();
        flipped[n] ^= 1 << (n % 8);
        assert!(matches!(state_from_bytes(&flipped), Err(SavedError::Damaged(_))), "{n}");
    }
    let text = state_to_text(world.state());
    assert!(matches!(
        state_from_text(&text.replacen("time: 0.0", "time: 0.5", 1)),
        Err(SavedError::Damaged(_))
    ));
    assert!(state_from_text(&text.replace('\n', "\r\n")).is_ok());
}

#[test]
fn states_with_numbers_that_are_not_finite_are_refused_by_name() {
    let jelly = FleshDoc::new("jelly", FleshMeshDoc::Beam { size: DVec3::splat(0.2), cells: [2; 3] });
    let ball = BodyDoc::new("ball").shape(Shape::Sphere { radius: 0.1 });
    let scene = SceneDoc::new("both").with(jelly).with(ball);
    let mut world = World::from_scene(&scene).expect("a good scene");
    world.step();
    let good = world.checkpoint();
    type Spoil = fn(&mut State);
    let spoilt: [(Spoil, &str); 6] = [
        (|state| state.bodies.time = f64::NAN, "the time is not finite"),
        (|state| state.bodies.poses[0].translation.y = f64::INFINITY, "body `ball`"),
        (|state| state.bodies.motions[0].angular.x = f64::NAN, "body `ball`"),
        (|state| state.bodies.pulls[0].z = f64::NAN, "body `ball`"),
        (|state| state.flesh.nodes[0].velocities[5].z = f64::NEG_INFINITY, "node 5 of flesh `jelly`"),
        (|state| state.flesh.nodes[0].positions[7].x = f64::NAN, "node 7 of flesh `jelly`"),
    ];
    let digest = world.digest();
    for (spoil, name) in spoilt {
        let mut state = good.clone();
        spoil(&mut state);
        let error = world.restore(&state).expect_err(name);
        assert!(error.to_string().contains(name), "{error}");
        assert_eq!(world.digest(), digest, "{name}: the world stays as it was");
    }
    world.restore(&good).expect("its own state");
}
