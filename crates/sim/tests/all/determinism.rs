//! The same bits at any thread count, with any workspace, on every platform.
//!
//! `fixtures/golden/digests.ron` holds one digest per fixture. A change of the mathematics changes it: run the tests
//! once with `SINEW_UPDATE=1` to write it anew, and say in the changelog why.

use std::collections::BTreeMap;

use sinew_sim::{Workspace, digest, step};

use crate::common::{ended, fixtures, mechanisms, world};

#[test]
fn digests_are_those_of_the_table() {
    let found: BTreeMap<String, String> = mechanisms()
        .into_iter()
        .map(|name| (name.clone(), format!("{:016x}", ended(&name).plain().digest)))
        .collect();
    let path = fixtures("golden").join("digests.ron");
    if std::env::var_os("SINEW_UPDATE").is_some() {
        let pretty = ron::ser::to_string_pretty(&found, ron::ser::PrettyConfig::new().indentor("  "));
        std::fs::write(&path, pretty.expect("a map of strings") + "\n").expect("a writable folder");
    }
    let text = std::fs::read_to_string(&path).expect("the table of digests");
    let wanted: BTreeMap<String, String> = ron::from_str(&text).expect("a map of strings");
    assert_eq!(found, wanted, "see the head of this file");
}

#[test]
fn a_new_workspace_in_every_step_changes_nothing() {
    for name in ["hand", "robot", "branching_tree", "double_pendulum"] {
        let mut world = world(name);
        let mut state = world.checkpoint();
        for _ in 0..40 {
            let input = world.input_at(world.time());
            world.step();
            let mut workspace = Workspace::new(world.model());
            step(world.model(), &mut state, &input, world.settings(), &mut workspace);
            assert_eq!(digest(&state), world.digest(), "{name}");
        }
    }
}

/// Two trees of several thousand limbs: more than one task for the threads.
#[cfg(feature = "parallel")]
#[test]
fn thread_counts_change_nothing_where_there_is_work_for_many() {
    let text = std::fs::read_to_string(fixtures("mechanisms").join("branching_tree.ron")).expect("a fixture");
    let mut source = sinew_sim::SceneSource::new(text, "branching_tree.ron");
    source.set("generators[0].depth", "8").expect("a deeper tree");
    source.set("generators[1].depth", "11").expect("a deeper tree");
    let scene = source.parse().expect("a good scene");
    let with_threads = |n: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("threads");
        pool.install(|| {
            let mut world = sinew_sim::World::from_scene(&scene).expect("a good scene");
            assert!(world.mechanism().plan().schedule(512).tasks.len() > 4, "too small to be split");
            for _ in 0..10 {
                world.step();
            }
            world.digest()
        })
    };
    let alone = with_threads(1);
    for n in [2, 3, 8] {
        assert_eq!(with_threads(n), alone, "{n} threads");
    }
}

/// The first steps; `cargo xtask determinism` compares whole runs.
#[cfg(feature = "parallel")]
#[test]
fn thread_counts_change_nothing() {
    for name in mechanisms() {
        let start = world(&name);
        assert_eq!(after(&start, 40, 3), after(&start, 40, 1), "{name} with 3 threads");
    }
}

/// Bodies, a tree of many limbs, contacts, flesh, and flesh in contact, each with all counts.
#[cfg(feature = "parallel")]
#[test]
fn any_thread_count_gives_the_same_bits() {
    for name in ["chain_1000", "branching_tree", "heap_40", "worm", "hand_flesh"] {
        let start = world(name);
        let alone = after(&start, 15, 1);
        for n in [2, 3, 8] {
            assert_eq!(after(&start, 15, n), alone, "{name} with {n} threads");
        }
    }
}

/// The digest after some steps on so many threads.
#[cfg(feature = "parallel")]
fn after(start: &sinew_sim::World, steps: usize, n_threads: usize) -> u64 {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("threads");
    pool.install(|| {
        let mut world = start.clone();
        for _ in 0..steps {
            world.step();
        }
        world.digest()
    })
}
