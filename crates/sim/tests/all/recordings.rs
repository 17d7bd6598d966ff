//! Recordings reach every step of a run with its bits, whatever happened between the steps: edits, changes of the scene, settings, bodies put elsewhere.

use glam::DVec3;
use sinew_sim::{
    BodyDoc, ColliderDoc, Pose, Recording, RewindError, SceneDoc, Shape, World, digest, recording_from_bytes,
    recording_from_text, recording_to_bytes, recording_to_text,
};
use sinew_testkit::Rng;

use crate::common::{mechanisms, scene};
use crate::edit_sequences::{change, random_body};

/// What happens before a step: often nothing.
fn interfere(rng: &mut Rng, world: &mut World, frame: usize) {
    match frame % 10 {
        0 | 5 => drop(world.edit(|scene| change(rng, scene))),
        3 => world.settings_mut().gravity.x = rng.uniform(-1.0, 1.0),
        7 => {
            let first = world.parts::<BodyDoc>().next().map(|(body, _)| body);
            if let Some((body, view)) = first.and_then(|body| Some((body, world.get(body)?))) {
                let pose = view.pose();
                world.set_pose(body, Pose { translation: pose.translation + DVec3::Z, ..pose });
            }
        }
        _ => {}
    }
}

#[test]
fn a_run_that_is_edited_before_its_first_step_rewinds_to_before_the_edit() {
    let mut world =
        World::from_scene(&SceneDoc::new("edits").with(ColliderDoc::floor(0.0))).expect("a scene");
    let mut recording = Recording::new(&world, 7);
    let start = (world.checkpoint(), world.to_scene());
    let ball = BodyDoc::new("ball").at(DVec3::Z).shape(Shape::Sphere { radius: 0.1 }).touching();
    world.insert(ball).expect("a good edit");
    recording.step(&mut world);
    let first = (world.checkpoint(), world.to_scene());
    for n in [0, 1, 0] {
        recording.rewind(&mut world, n).expect("it compiled before");
        assert_eq!((world.checkpoint(), world.to_scene()), [&start, &first][n].clone());
    }
    assert!(world.find::<BodyDoc>("ball").is_none());
}

#[test]
fn edited_runs_rewind_to_every_step_and_go_on() {
    for seed in 0..3 {
        let mut rng = Rng::new(seed);
        let scene = SceneDoc::new("edits").with(ColliderDoc::floor(0.0)).with(random_body(&mut rng, "first"));
        let mut world = World::from_scene(&scene).expect("a good scene");
        let mut recording = Recording::new(&world, 7);
        let mut digests = vec![world.digest()];
        let mut names = vec![world.to_scene()];
        for frame in 0..100 {
            interfere(&mut rng, &mut world, frame);
            recording.step(&mut world);
            digests.push(world.digest());
            names.push(world.to_scene());
        }
        let text = recording_to_text(&recording).expect("a recording of a scene");
        let read = recording_from_text(&text).expect("what was written");
        let bytes = recording_to_bytes(&recording).expect("a recording of a scene");
        assert_eq!(recording_to_bytes(&read), Ok(bytes.clone()), "text keeps every bit");
        let unpacked = recording_from_bytes(&bytes).expect("what was written");
        assert!(recording_from_bytes(&bytes[..bytes.len() - 1]).is_err());
        for from in [&recording, &read, &unpacked] {
            for n in 0..=100 {
                assert_eq!(
                    digest(&from.state_after(n).expect("recorded")),
                    digests[n],
                    "seed {seed}, step {n}"
                );
            }
            assert_eq!(from.state_after(101), None);
            for n in [98, 14, 0, 51, 72, 100] {
                from.rewind(&mut world, n).expect("it compiled before");
                assert_eq!(
                    (world.digest(), &world.to_scene()),
                    (digests[n], &names[n]),
                    "seed {seed}, step {n}"
                );
                // Nothing happens before the next step of these.
                if n % 10 != 0 {
                    world.step();
                    assert_eq!(world.digest(), digests[n + 1], "seed {seed}, step {n}");
                }
            }
        }
        // Another turn from step 33 on, which is recorded as well.
        recording.rewind(&mut world, 33).expect("it compiled before");
        recording.truncate(33);
        for _ in 0..20 {
            recording.step(&mut world);
        }
        assert_eq!(recording.state_after(53).as_ref(), Some(world.state()));
        assert_eq!(digest(&recording.state_after(33).expect("recorded")), digests[33]);
    }
}

#[test]
fn scenes_with_changes_rewind_to_every_step() {
    let mut n_scenes = 0;
    for name in mechanisms() {
        let scene = scene(&name);
        let Some(last) = scene.changes.iter().map(|change| change.at_s).reduce(f64::max) else { continue };
        n_scenes += 1;
        let mut world = World::from_scene(&scene).expect("a good scene");
        let mut recording = Recording::new(&world, 16);
        let mut digests = vec![world.digest()];
        while world.time() < last + 0.1 && digests.len() < 400 {
            recording.step(&mut world);
            digests.push(world.digest());
        }
        for n in (0..digests.len()).step_by(11).chain([digests.len() - 1]) {
            let state = recording.state_after(n).expect("recorded");
            assert_eq!(digest(&state), digests[n], "{name}, step {n}");
        }
        let half = digests.len() / 2;
        recording.rewind(&mut world, half).expect("the same scene");
        world.step();
        assert_eq!(world.digest(), digests[half + 1], "{name}");
    }
    assert!(n_scenes > 0, "no scene changes on the way");
}

#[test]
fn recordings_of_worlds_without_a_scene_rewind_and_say_why_they_are_not_saved() {
    let model = crate::common::chain().model().clone();
    let mut world = World::new(model, Default::default());
    let mut recording = Recording::new(&world, 4);
    let digests: Vec<u64> = (0..10)
        .map(|_| {
            recording.step(&mut world);
            world.digest()
        })
        .collect();
    recording.rewind(&mut world, 6).expect("nothing to compile");
    assert_eq!(world.digest(), digests[5]);
    let refused = ron::to_string(&recording).expect_err("there is no scene");
    assert!(refused.to_string().contains("no scene to save"), "{refused}");
}

/// A ball above a floor, which touches it within a second.
fn yard() -> (World, BodyDoc) {
    let world = World::from_scene(&SceneDoc::new("yard").with(ColliderDoc::floor(0.0))).expect("a scene");
    (world, BodyDoc::new("").at(DVec3::Z * 0.12).shape(Shape::Sphere { radius: 0.1 }).touching())
}

#[test]
fn handles_of_what_was_undone_name_nothing_ever_after() {
    let (mut world, ball) = yard();
    let first = world.insert(ball.clone()).expect("a good edit");
    let mut recording = Recording::new(&world, 4);
    recording.step(&mut world);
    let mut undone = Vec::new();
    for _ in 0..5 {
        undone.push(world.insert(ball.clone()).expect("a good edit"));
        // Taken out and put in again, in the same slot.
        world.remove(undone[undone.len() - 1]).expect("a good edit");
        undone.push(world.insert(ball.clone()).expect("a good edit"));
        recording.step(&mut world);
        recording.rewind(&mut world, 1).expect("recorded");
        recording.truncate(1);
        let other = world.clone();
        let fresh = world.insert(ball.clone()).expect("a good edit");
        assert!(world.get(first).is_some() && world.get(fresh).is_some());
        assert!(
            undone.iter().all(|&handle| handle != fresh && world.get(handle).is_none()),
            "{undone:?} {fresh:?}"
        );
        // A copy of the world does not give it to anything else.
        let mut other = other;
        let apart = other.insert(ball.clone()).expect("a good edit");
        assert!(apart != fresh && other.get(fresh).is_none());
        undone.extend([fresh, apart]);
        recording.rewind(&mut world, 1).expect("recorded");
    }
}

#[test]
fn handles_of_an_edit_that_was_refused_name_nothing() {
    let (mut world, ball) = yard();
    let mut given = None;
    let refused = world.edit(|scene| {
        given = Some(scene.insert(ball.clone()));
        scene.insert(BodyDoc::new("massless").mass(-1.0));
    });
    assert!(refused.is_err());
    let fresh = world.insert(ball).expect("a good edit");
    assert!(given != Some(fresh) && given.is_some_and(|handle| world.get(handle).is_none()));
}

#[test]
fn a_rewind_past_the_end_is_refused_and_changes_nothing() {
    let (mut world, ball) = yard();
    world.insert(ball).expect("a good edit");
    let mut recording = Recording::new(&world, 4);
    for _ in 0..6 {
        recording.step(&mut world);
    }
    recording.rewind(&mut world, 3).expect("recorded");
    let before = world.digest();
    let error = recording.rewind(&mut world, 7).expect_err("there are six");
    assert!(matches!(error, RewindError::NotRecorded { asked: 7, recorded: 6, .. }), "{error:?}");
    assert!(error.to_string().contains("step 7") && error.to_string().contains("6 steps"), "{error}");
    assert_eq!(world.digest(), before);
    recording.rewind(&mut world, 6).expect("the last one");
}

#[test]
fn recordings_that_were_read_keep_handles_and_the_names_of_what_was_removed() {
    let (mut world, ball) = yard();
    let names = ["one", "two", "three"];
    let handles = names.map(|name| {
        let at = DVec3::new(names.iter().position(|n| *n == name).expect("one of them") as f64, 0.0, 0.1);
        world.insert(BodyDoc { name: name.into(), ..ball.clone() }.at(at)).expect("a good edit")
    });
    let mut recording = Recording::new(&world, 4);
    for _ in 0..20 {
        recording.step(&mut world);
    }
    world.remove(handles[0]).expect("a good edit");
    recording.step(&mut world);
    let ended: Vec<String> = told(&world);
    assert!(ended.iter().any(|name| name == "one"), "{ended:?}");
    let late = world.insert(BodyDoc { name: "late".into(), ..ball.clone() }).expect("a good edit");
    recording.step(&mut world);

    let text = ron::to_string(&recording).expect("a recording of a scene");
    let read: Recording = ron::from_str(&text).expect("what was written");
    let mut bytes = Vec::new();
    ciborium::into_writer(&recording, &mut bytes).expect("a recording of a scene");
    let from_bytes: Recording = ciborium::from_reader(&bytes[..]).expect("what was written");
    for read in [read, from_bytes] {
        let (mut fresh, _) = yard();
        read.rewind(&mut fresh, 21).expect("recorded");
        assert_eq!(told(&fresh), ended);
        assert!(fresh.get(handles[0]).is_none() && fresh.get(late).is_none());
        for k in [1, 2] {
            assert_eq!(fresh.part(handles[k]).map(|body| body.name.as_str()), Some(names[k]));
        }
        read.rewind(&mut fresh, 5).expect("recorded");
        assert_eq!(fresh.part(handles[0]).map(|body| body.name.as_str()), Some("one"));
        let new = fresh.insert(ball.clone()).expect("a good edit");
        assert!(new != late && fresh.get(late).is_none(), "{new:?} {late:?}");
        read.rewind(&mut fresh, 22).expect("recorded");
        assert_eq!(fresh.part(late).map(|body| body.name.as_str()), Some("late"));
    }
    // Handles of other parts are damage.
    let damaged = text.replacen("handles:[(slots:[[", "handles:[(slots:[[(0,9),", 1);
    assert_ne!(damaged, text);
    let error = ron::from_str::<Recording>(&damaged).expect_err("nine bodies are not there");
    assert!(error.to_string().contains("damaged"), "{error}");
}

/// Names of the sides of the events of the last step.
fn told(world: &World) -> Vec<String> {
    let sides = world.events().iter().flat_map(|event| event.sides);
    sides.map(|side| world.side_name(side).to_owned()).collect()
}

#[test]
fn recordings_keep_the_files_of_their_scenes() {
    let text = r#"(format: 1, bodies: [(name: "stone", shapes: [Sphere(radius: 0.1)])], colliders: [(body: "stone", shape: Convex(file: "stone.obj"))])"#;
    let mut scene = SceneDoc::from_ron(text, "stone.ron").expect("a good scene");
    let stone = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    scene.files.insert("stone.obj".to_owned(), stone.into());
    let mut world = World::from_scene(&scene).expect("a good scene");
    let mut recording = Recording::new(&world, 2);
    for _ in 0..3 {
        recording.step(&mut world);
    }
    let text = recording_to_text(&recording).expect("a recording of a scene");
    let bytes = recording_to_bytes(&recording).expect("a recording of a scene");
    let [from_text, from_bytes] = [recording_from_text(&text), recording_from_bytes(&bytes)];
    for read in [from_text, from_bytes] {
        let mut steps = 0;
        let replayed =
            read.expect("what was written").replay(|_, _| steps += 1).expect("its scene has its files");
        assert_eq!((replayed.digest(), steps), (world.digest(), 3));
    }
}
