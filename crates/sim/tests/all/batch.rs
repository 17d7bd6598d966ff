//! Many states at once, and runs that are wound back.

use glam::DVec3;
use sinew_sim::{Grab, Input, Recording, State, Workspace, digest, step, step_batch};

use crate::common::{chain, world};

/// States that differ, and inputs that differ.
fn crowd(n: usize) -> (Vec<State>, Vec<Input>) {
    let world = chain();
    let body = world.mechanism().bodies().last().expect("four links");
    (0..n)
        .map(|i| {
            let mut state = world.checkpoint();
            state.bodies.motions[0].angular.y = i as f64;
            let mut input = Input::default();
            let target = DVec3::new(0.0, 0.1 * i as f64, 1.0);
            input.grabs.push(Grab { body, point: DVec3::ZERO, target, stiffness: 5.0, damping: 0.1 });
            (state, input)
        })
        .unzip()
}

#[test]
fn a_batch_gives_the_bits_of_single_steps() {
    let world = chain();
    let (model, settings) = (world.model(), world.settings());
    for n in [0, 1, 2, 7, 33] {
        let (mut states, inputs) = crowd(n);
        let mut alone = states.clone();
        let mut workspaces = Vec::new();
        for _ in 0..5 {
            let reports = step_batch(model, &mut states, &inputs, settings, &mut workspaces);
            for (i, state) in alone.iter_mut().enumerate() {
                let report = step(model, state, &inputs[i], settings, &mut Workspace::new(model));
                assert_eq!(report, reports[i]);
            }
        }
        assert_eq!(
            states.iter().map(digest).collect::<Vec<_>>(),
            alone.iter().map(digest).collect::<Vec<_>>()
        );
    }
}

#[test]
fn one_input_or_none_serves_all_states() {
    let world = chain();
    let (model, settings) = (world.model(), world.settings());
    let (states, inputs) = crowd(5);
    for inputs in [&inputs[..1], &[]] {
        let mut batch = states.clone();
        step_batch(model, &mut batch, inputs, settings, &mut Vec::new());
        let input = inputs.first().cloned().unwrap_or_default();
        for (state, found) in states.iter().zip(&batch) {
            let mut state = state.clone();
            step(model, &mut state, &input, settings, &mut Workspace::new(model));
            assert_eq!(digest(&state), digest(found));
        }
    }
}

#[test]
fn a_recording_rewinds_to_every_step() {
    let mut world = world("robot");
    let mut recording = Recording::new(&world, 16);
    let mut digests = vec![world.digest()];
    for _ in 0..150 {
        recording.step(&mut world);
        digests.push(world.digest());
    }
    assert_eq!(recording.n_steps(), 150);
    for n in [150, 0, 1, 15, 16, 17, 100, 149] {
        let state = recording.state_after(n);
        assert_eq!(digest(&state.expect("recorded")), digests[n], "step {n}");
    }
    assert_eq!(recording.state_after(151), None);
    // Another turn from step 40 on.
    recording.truncate(40);
    assert_eq!(recording.n_steps(), 40);
    let state = recording.state_after(40).expect("recorded");
    world.restore(&state).expect("the same model");
    for _ in 0..30 {
        recording.step_by(&mut world, |world| world.step_with(&Input::default()));
    }
    let state = recording.state_after(70).expect("recorded");
    assert_eq!(digest(&state), world.digest());
    assert_ne!(world.digest(), digests[70]);
    // Through text and back.
    let text = ron::to_string(&recording).expect("plain data");
    let read: Recording = ron::from_str(&text).expect("what was written");
    assert_eq!(ron::to_string(&read).expect("plain data"), text);
    assert_eq!(read.state_after(70), recording.state_after(70));
}
