//! Films are made while time goes on, one at a time, and whole or not at all.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use egui::Key;
use egui_kittest::kittest::Queryable;
use sinew_show::ShowOptions;
use sinew_studio::{Engine, Orbit, SessionCommand, Snapshot};

use crate::common::{folder, inline, session, steps, until, window};

fn parts(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    entries.filter(|entry| entry.path().extension().is_some_and(|end| end == "part")).count()
}

fn film(path: &Path) -> SessionCommand {
    SessionCommand::Film { path: path.to_owned(), orbit: Orbit::default(), show: ShowOptions::default() }
}

#[test]
fn time_goes_on_while_a_film_is_made() {
    let mut session = session("worm");
    (0..15).for_each(|_| session.step_once());
    let mut window = window(session);
    window.key_press(Key::Space);
    steps(&mut window, 2);
    window.key_press(Key::G);
    window.step();
    assert!(window.query_by_label_contains("GIF: ").is_some() && window.query_by_label("GIF").is_none());
    let before = inline(&mut window).step();
    steps(&mut window, 5);
    assert!(inline(&mut window).step() > before);
    window.key_press(Key::G);
    steps(&mut window, 2);
    let busy = "a film is being made already: wait for it or stop it";
    assert!(window.query_by_label(busy).is_some());
    let n_steps = inline(&mut window).timeline().n_steps();
    until(&mut window, |window| window.query_by_label("GIF").is_some());
    window.step();
    assert!(window.query_by_label_contains("wrote ").is_some());
    assert!(inline(&mut window).timeline().n_steps() > n_steps, "the film led nobody back");
    let bytes = fs::read(folder().join("worm.gif")).expect("it was written");
    assert!(bytes.starts_with(b"GIF89a") && bytes.ends_with(&[0x3b]), "the whole of it");
}

#[test]
fn a_film_can_be_stopped_by_button_and_by_key() {
    let here = folder().join("stopped");
    fs::create_dir_all(&here).expect("a folder");
    let mut session = session("worm");
    (0..60).for_each(|_| session.step_once());
    let mut window = window(session);
    for by_key in [false, true] {
        let path = here.join("stopped.gif");
        window.state_mut().engine().send(film(&path));
        steps(&mut window, 2);
        if by_key {
            window.key_press(Key::Escape);
        } else {
            window.get_by_label("Stop").click();
        }
        until(&mut window, |window| window.query_by_label("GIF").is_some());
        window.step();
        assert!(window.query_by_label_contains("stopped, nothing was written").is_some());
        assert!(!path.exists() && parts(&here) == 0);
    }
}

#[test]
fn closing_stops_a_film_at_once_and_leaves_no_file() {
    let here = folder().join("closed");
    fs::create_dir_all(&here).expect("a folder");
    let path = here.join("closed.gif");
    let mut session = session("chain_1000");
    (0..300).for_each(|_| session.step_once());
    let mut engine = Engine::threaded(session, || {});
    engine.send(film(&path));
    let begin = Instant::now();
    while engine.board(|board| board.film()).is_none() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it never began");
        std::thread::sleep(Duration::from_millis(1));
    }
    engine.send(SessionCommand::Play(true));
    let mut snapshot = Snapshot::default();
    while !(engine.look(&mut snapshot) && snapshot.clock.step > 301) {
        assert!(begin.elapsed() < Duration::from_secs(60), "time stands still");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(engine.board(|board| board.film()).is_some(), "it takes long");
    drop(engine);
    assert!(!path.exists() && parts(&here) == 0);
}

#[test]
fn what_cannot_be_written_is_said_and_leaves_nothing() {
    let mut window = window(session("hand"));
    window.state_mut().engine().send(film(&folder().join("early.gif")));
    steps(&mut window, 2);
    assert!(window.query_by_label_contains("nothing was recorded").is_some());
    window.key_press(Key::Space);
    steps(&mut window, 5);
    let here = folder().join("taken");
    fs::create_dir_all(here.join("a.gif/inside")).expect("a folder");
    window.state_mut().engine().send(film(&here.join("a.gif")));
    steps(&mut window, 2);
    until(&mut window, |window| window.query_by_label("GIF").is_some());
    window.step();
    assert!(window.query_by_label_contains("cannot write").is_some());
    assert_eq!(parts(&here), 0);
}
