//! A session on its own thread, and the picture of a window without one.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sinew_studio::{Engine, Library, Screenshot, SessionCommand, Snapshot, Studio};

use crate::common::{fixture, session};

/// Looks until the newest snapshot is as wanted.
fn wait(engine: &mut Engine, snapshot: &mut Snapshot, wanted: impl Fn(&Snapshot) -> bool) {
    let begin = Instant::now();
    while !(engine.look(snapshot) && wanted(snapshot)) {
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "step {} of {}",
            snapshot.clock.step,
            snapshot.clock.n_steps
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_session_on_its_own_thread_obeys_and_ends() {
    let woken = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&woken);
    let mut engine = Engine::threaded(session("chain_1000"), move || {
        count.fetch_add(1, Ordering::Relaxed);
    });
    let mut snapshot = Snapshot::default();
    wait(&mut engine, &mut snapshot, |snapshot| snapshot.overview.bodies.len() == 1000);
    engine.send(SessionCommand::Play(true));
    wait(&mut engine, &mut snapshot, |snapshot| snapshot.clock.step > 5);
    engine.send(SessionCommand::Seek(2));
    wait(&mut engine, &mut snapshot, |snapshot| snapshot.clock.step == 2 && !snapshot.is_playing);
    let n_steps = snapshot.clock.n_steps;
    engine.send(SessionCommand::Open(fixture("no_such_scene")));
    engine.send(SessionCommand::Step);
    wait(&mut engine, &mut snapshot, |snapshot| snapshot.clock.step == 3);
    assert_eq!(snapshot.clock.n_steps, n_steps, "a recorded step is repeated");
    assert!(
        engine
            .board(|board| board.fault.clone())
            .is_some_and(|fault| fault.to_string().contains("no_such_scene"))
    );
    assert!(engine.board(|board| board.samples().len()) > 5);
    assert!(woken.load(Ordering::Relaxed) > 5);
    drop(engine);
    assert_eq!(Arc::strong_count(&woken), 1, "the thread is gone");
}

#[test]
fn a_picture_of_the_window_needs_no_display() {
    let mut studio = Studio::new(Engine::inline(session("worm")), Library::default(), Path::new("."));
    let mut shot = Screenshot::new(640, 400).expect("a size");
    shot.show(&mut studio, 0.0, Vec::new());
    let image = shot.show(&mut studio, 0.0, Vec::new());
    let is_skin = |[r, g, b]: [u8; 3]| r > 150 && i32::from(r) - i32::from(b) > 40 && g > 60;
    let skin = image.pixels().iter().filter(|pixel| is_skin(**pixel)).count();
    let ink = image.pixels().iter().filter(|pixel| pixel.iter().all(|&part| part < 110)).count();
    assert!(skin > 500, "{skin} pixels of the worm");
    assert!(ink > 500, "{ink} pixels of text");
}
