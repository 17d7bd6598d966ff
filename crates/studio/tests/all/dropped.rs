//! Files that are dropped into the window.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui::{DroppedFile, HoveredFile};
use egui_kittest::kittest::Queryable;

use crate::common::{Window, fixture, folder, session, steps, window};

/// A file as a window system hands it over.
#[derive(Debug)]
struct Dropped {
    path: PathBuf,
    contents: Option<Vec<u8>>,
}

impl DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.path
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        self.contents.clone().map_or_else(|| fs::read(&self.path).map_err(|error| error.to_string()), Ok)
    }
}

fn drop_files(window: &mut Window, paths: &[&Path]) {
    for path in paths {
        let path = path.to_path_buf();
        window.input_mut().dropped_files.push(Arc::new(Dropped { path, contents: None }));
    }
    steps(window, 3);
}

fn text(name: &str, n: u32) -> String {
    let link = "link: (shapes: [Capsule(radius: 0.02, length: 0.2)]), joint: (kind: Hinge)";
    format!("(format: 1, name: \"{name}\", generators: [Chain(n: {n}, {link})])")
}

fn written(name: &str, text: &str) -> PathBuf {
    let path = folder().join(name);
    fs::write(&path, text).expect("a file");
    path
}

fn name(window: &Window) -> &str {
    &window.state().snapshot().overview.name
}

#[test]
fn a_good_file_is_opened_and_watched() {
    let path = written("dropped.ron", &text("dropped", 3));
    let mut window = window(session("hand"));
    drop_files(&mut window, &[&path]);
    assert_eq!((name(&window), window.state().snapshot().overview.bodies.len()), ("dropped", 3));
    written("dropped.ron", &text("dropped", 11));
    steps(&mut window, 40);
    assert_eq!(window.state().snapshot().overview.bodies.len(), 11);
}

#[test]
fn of_several_files_the_first_scene_is_opened() {
    let notes = written("notes.txt", "no scene");
    let (one, two) = (written("one.ron", &text("one", 1)), written("two.ron", &text("two", 2)));
    let mut window = window(session("hand"));
    drop_files(&mut window, &[&notes, &one, &two]);
    assert_eq!(name(&window), "one");
    assert!(window.query_by_label("Dismiss").is_none());
}

#[test]
fn a_broken_file_is_explained_and_the_last_scene_goes_on() {
    let mut window = window(session("hand"));
    drop_files(&mut window, &[&fixture("hand").with_file_name("../invalid/syntax.ron")]);
    assert!(window.query_by_label_contains("syntax.ron:").is_some());
    assert_eq!(name(&window), "hand");
    window.key_press(egui::Key::Space);
    steps(&mut window, 10);
    assert!(window.state().snapshot().clock.step > 5);
    // what is gone by the time it is read
    drop_files(&mut window, &[&folder().join("never_was.ron")]);
    assert!(window.query_by_label_contains("never_was.ron").is_some());
}

#[test]
fn the_scenes_of_a_folder_are_listed() {
    let here = folder().join("of_scenes");
    fs::create_dir_all(here.join("empty")).expect("a folder");
    written("of_scenes/alpha.ron", &text("alpha", 2));
    let mut window = window(session("hand"));
    drop_files(&mut window, &[&here]);
    assert_eq!(name(&window), "hand");
    window.get_by_label("alpha").click();
    steps(&mut window, 3);
    assert_eq!(name(&window), "alpha");
    drop_files(&mut window, &[&here.join("empty")]);
    assert!(window.query_by_label_contains("there is no scene").is_some());
    assert!(window.query_by_label("alpha").is_some(), "the list stays");
}

#[test]
fn a_file_without_a_place_is_opened_by_its_contents() {
    let mut window = window(session("hand"));
    let give = |window: &mut Window, contents: &[u8]| {
        let file = Dropped { path: "bare.ron".into(), contents: Some(contents.to_vec()) };
        window.input_mut().dropped_files.push(Arc::new(file));
        steps(window, 3);
    };
    give(&mut window, text("bare", 4).as_bytes());
    assert_eq!((name(&window), window.state().snapshot().overview.bodies.len()), ("bare", 4));
    give(&mut window, format!("\u{feff}{}", text("bare", 5)).as_bytes());
    assert_eq!(window.state().snapshot().overview.bodies.len(), 5);
    give(&mut window, b"(format: 1,\n oops");
    assert!(window.query_by_label_contains("bare.ron:2:").is_some());
    give(&mut window, &[0xff, 0xfe]);
    assert!(window.query_by_label_contains("not text").is_some());
    assert_eq!(name(&window), "bare");
}

#[test]
fn while_files_hover_it_is_said_what_dropping_them_does() {
    let mut window = window(session("hand"));
    let hover = |window: &mut Window, paths: &[PathBuf]| {
        let file = |path: &PathBuf| HoveredFile { path: Some(path.clone()), ..HoveredFile::default() };
        window.input_mut().hovered_files = paths.iter().map(file).collect();
        steps(window, 2);
    };
    let path = fixture("worm");
    hover(&mut window, std::slice::from_ref(&path));
    assert!(window.query_by_label("Drop to open worm.ron").is_some());
    hover(&mut window, &[folder().join("notes.txt"), path]);
    assert!(window.query_by_label("Drop to open worm.ron, one of 2").is_some());
    hover(&mut window, &[folder()]);
    assert!(window.query_by_label_contains("Drop to list the scenes in sinew-studio-").is_some());
    hover(&mut window, &[]);
    assert!(window.query_by_label_contains("Drop to").is_none());
    assert_eq!(name(&window), "hand");
}

#[test]
fn the_list_shows_the_scene_that_was_opened() {
    let mut window = window(session("hand"));
    steps(&mut window, 3);
    let is_seen = |window: &Window, name: &str| {
        let entry = window.get_by_label(name).rect();
        let (first, last) = (window.get_by_label("Scenes").rect(), window.get_by_label("Reload").rect());
        first.bottom() <= entry.top() && entry.bottom() <= last.top()
    };
    assert!(is_seen(&window, "hand"));
    assert!(!is_seen(&window, "worm_roll"));
    drop_files(&mut window, &[&fixture("worm_roll").canonicalize().expect("a fixture")]);
    assert!(is_seen(&window, "worm_roll"));
}

#[test]
fn contents_that_cannot_be_opened_leave_the_open_file_watched() {
    let path = written("kept.ron", &text("kept", 3));
    let mut window = window(session("hand"));
    drop_files(&mut window, &[&path]);
    let give = |window: &mut Window, contents: String| {
        let file = Dropped { path: "bare.ron".into(), contents: Some(contents.into_bytes()) };
        window.input_mut().dropped_files.push(Arc::new(file));
        steps(window, 3);
    };
    give(&mut window, "(format: 1, oops".to_owned());
    written("kept.ron", &text("kept", 11));
    steps(&mut window, 40);
    assert_eq!(window.state().snapshot().overview.bodies.len(), 11);
    // Contents that can be opened have no file to watch.
    give(&mut window, text("bare", 4));
    written("kept.ron", &text("kept", 2));
    steps(&mut window, 40);
    assert_eq!((name(&window), window.state().snapshot().overview.bodies.len()), ("bare", 4));
}
