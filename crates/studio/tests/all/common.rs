//! Scenes and holds for tests.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use egui::vec2;
use egui_kittest::Harness;
use glam::DVec3;
use sinew_sim::Grab;
use sinew_studio::{BlankPainter, Engine, Library, OpenScene, Session, Studio};

/// A fixture of the project.
pub(crate) fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/mechanisms")
        .join(name)
        .with_extension("ron")
}

/// A session at the beginning of a fixture.
pub(crate) fn session(name: &str) -> Session {
    Session::new(OpenScene::load(&fixture(name)).expect("fixtures are good"))
}

/// A soft hold on the middle of a body.
pub(crate) fn soft(session: &Session, body: &str, target: DVec3) -> Grab {
    let body = session.world().body(body).expect("the body is there");
    Grab { body, point: DVec3::ZERO, target, stiffness: 50.0, damping: 2.0 }
}

/// The interface without a display.
pub(crate) type Window = Harness<'static, Studio>;

/// A folder for files of tests.
pub(crate) fn folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("sinew-studio-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for tests");
    folder
}

/// The interface of a session that stays with the test.
pub(crate) fn window(session: Session) -> Window {
    let library = Library::of_folder(&fixture("hand").with_file_name(""));
    around(Studio::new(Engine::inline(session), library, &folder()))
}

/// An interface without a display.
pub(crate) fn around(studio: Studio) -> Window {
    let mut window = Harness::builder()
        .with_size(vec2(1280.0, 800.0))
        .build_ui_state(|ui, studio: &mut Studio| studio.ui(ui, &mut BlankPainter, 1.0 / 60.0), studio);
    window.step();
    window.step();
    window
}

/// Its session.
pub(crate) fn inline(window: &mut Window) -> &Session {
    match window.state_mut().engine() {
        Engine::Inline(both) => &both.0,
        Engine::Thread(_) => unreachable!("tests decide when time passes"),
    }
}

/// Shows so many frames.
pub(crate) fn steps(window: &mut Window, n: usize) {
    (0..n).for_each(|_| window.step());
}

/// Shows frames until something is so, which must not take forever.
pub(crate) fn until(window: &mut Window, is_so: impl Fn(&Window) -> bool) {
    let begin = Instant::now();
    while !is_so(window) {
        assert!(begin.elapsed() < Duration::from_secs(120), "it never came");
        std::thread::sleep(Duration::from_millis(5));
        window.step();
    }
}
