//! Saved scenes find the files they name, from wherever they are run.

use std::fs;
use std::path::Path;

use egui::{Key, Modifiers};
use sinew_scene::FleshMeshDoc;
use sinew_studio::{Engine, Library, OpenScene, Session, SessionCommand, Studio};

use crate::common::{around, folder, session, steps};

const CUBE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n\
    f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

/// Writes a scene that names its mesh `file`, and opens it.
fn opened(path: &Path, file: &str) -> Session {
    let text = format!(
        r#"(format: 1, name: "jelly", dt: 0.01, flesh: [(name: "cube", mesh: Surface(file: {file:?}, cells: 2))])"#
    );
    fs::write(path, text).expect("a file");
    Session::new(OpenScene::load(path).unwrap_or_else(|fault| panic!("{fault}")))
}

fn named(session: &Session) -> String {
    match &session.doc().flesh[0].mesh {
        FleshMeshDoc::Surface { file, .. } => file.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn files_are_named_as_seen_from_the_saved_scene() {
    let here = folder().join("with_mesh");
    let (from, to) = (here.join("scenes"), here.join("out/deep"));
    for folder in [&from.join("meshes"), &to] {
        fs::create_dir_all(folder).expect("a folder");
    }
    let mesh = from.join("meshes/cube.obj");
    fs::write(&mesh, CUBE).expect("a file");
    let absolute = mesh.to_str().expect("a plain name").to_owned();
    for (file, saved, wanted) in [
        ("meshes/cube.obj", to.join("saved.ron"), "../../scenes/meshes/cube.obj"),
        ("meshes/cube.obj", from.join("saved.ron"), "meshes/cube.obj"),
        ("../scenes/meshes/cube.obj", from.join("meshes/saved.ron"), "cube.obj"),
        (&absolute, to.join("saved.ron"), &absolute),
    ] {
        let mut session = opened(&from.join("jelly.ron"), file);
        (0..5).for_each(|_| session.step_once());
        session.execute(SessionCommand::Save(saved.clone())).unwrap_or_else(|fault| panic!("{fault}"));
        let mut again = Session::new(OpenScene::load(&saved).unwrap_or_else(|fault| panic!("{fault}")));
        assert_eq!(named(&again), wanted);
        (0..5).for_each(|_| again.step_once());
        assert_eq!(again.world().digest(), session.world().digest());
        // What was saved can be saved again, elsewhere.
        let elsewhere = here.join("elsewhere.ron");
        again.execute(SessionCommand::Save(elsewhere.clone())).unwrap_or_else(|fault| panic!("{fault}"));
        OpenScene::load(&elsewhere).unwrap_or_else(|fault| panic!("{fault}"));
    }
}

#[test]
fn a_file_is_never_there_in_part() {
    let here = folder().join("whole");
    fs::create_dir_all(here.join("hand_done.ron/inside")).expect("a folder");
    let mut session = session("hand");
    session.step_once();
    let fault = session
        .execute(SessionCommand::Save(here.join("hand_done.ron")))
        .expect_err("a folder is in its place");
    assert!(fault.to_string().contains("cannot write"), "{fault}");
    assert_eq!(fs::read_dir(&here).expect("a folder").count(), 1, "nothing else is left");
}

#[test]
fn what_was_done_is_not_saved_over_the_scene_that_is_open() {
    let here = folder().join("again/new");
    let first = here.join("hand_done.ron");
    let mut session = session("hand");
    (0..5).for_each(|_| session.step_once());
    session.execute(SessionCommand::Save(first.clone())).expect("the folder is made");
    let text = fs::read_to_string(&first).expect("it was saved");
    let opened = Session::new(OpenScene::load(&first).expect("it can be read"));
    let studio = Studio::new(Engine::inline(opened), Library::default(), &here);
    let mut window = around(studio);
    window.state_mut().watch(&first);
    window.key_press(Key::Space);
    steps(&mut window, 10);
    window.key_press(Key::Space);
    window.key_press_modifiers(Modifiers::COMMAND, Key::S);
    steps(&mut window, 60);
    assert_eq!(fs::read_to_string(&first).expect("it is there"), text);
    assert!(here.join("hand_done_2.ron").exists());
    assert!(window.state().snapshot().clock.n_steps > 5, "the recording goes on");
}

#[test]
fn a_scene_that_is_open_is_not_saved_over_after_others_could_not_be_opened() {
    let here = folder().join("others");
    let first = here.join("hand_done.ron");
    let mut session = session("hand");
    session.step_once();
    session.execute(SessionCommand::Save(first.clone())).expect("the folder is made");
    let text = fs::read_to_string(&first).expect("it was saved");
    let broken = here.join("broken.ron");
    fs::write(&broken, "(format: 1, oops").expect("a file");
    let opened = Session::new(OpenScene::load(&first).expect("it can be read"));
    let mut window = around(Studio::new(Engine::inline(opened), Library::default(), &here));
    window.state_mut().watch(&first);
    window.key_press(Key::ArrowRight);
    steps(&mut window, 2);
    window.state_mut().open(&broken);
    steps(&mut window, 2);
    assert_eq!(window.state().snapshot().overview.name, "hand");
    window.key_press_modifiers(Modifiers::COMMAND, Key::S);
    steps(&mut window, 2);
    assert_eq!(fs::read_to_string(&first).expect("it is there"), text);
    assert!(here.join("hand_done_2.ron").exists());
}
