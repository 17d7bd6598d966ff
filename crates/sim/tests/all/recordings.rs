//! Recordings reach every step of a run with its bits, whatever happened between the steps: edits, changes of the scene, settings, bodies put elsewhere.

use glam::DVec3;
use sinew_sim::{BodyDoc, ColliderDoc, Pose, Recording, SceneDoc, Shape, World, digest};
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
        let text = ron::to_string(&recording).expect("a recording of a scene");
        let read: Recording = ron::from_str(&text).expect("what was written");
        for from in [&recording, &read] {
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
