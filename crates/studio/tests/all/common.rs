//! Scenes and holds for tests.

use std::path::PathBuf;

use glam::DVec3;
use sinew_sim::Grab;
use sinew_studio::{Opened, Session};

/// A fixture of the project.
pub(crate) fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/mechanisms")
        .join(name)
        .with_extension("ron")
}

/// A session at the beginning of a fixture.
pub(crate) fn session(name: &str) -> Session {
    Session::new(Opened::load(&fixture(name)).expect("fixtures are good"))
}

/// A soft hold on the middle of a body.
pub(crate) fn soft(session: &Session, body: &str, target: DVec3) -> Grab {
    let body = session.world().body(body).expect("the body is there");
    Grab { body, point: DVec3::ZERO, target, stiffness: 50.0, damping: 2.0 }
}
