//! The window itself, on a display without a screen, where there is one.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::fixture;

#[test]
fn the_window_opens_and_closes() {
    let display = format!(":{}", 90 + std::process::id() % 900);
    let server = Command::new("Xvfb")
        .args([&display, "-screen", "0", "1280x820x24"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut server) = server else {
        eprintln!("skipped: there is no Xvfb");
        return;
    };
    let begin = Instant::now();
    let mut seen = None;
    while seen.is_none() && begin.elapsed() < Duration::from_secs(60) {
        let run = Command::new(env!("CARGO_BIN_EXE_sinew-studio"))
            .arg(fixture("worm"))
            .args(["--frames", "20"])
            .env("DISPLAY", &display)
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .env_remove("WAYLAND_DISPLAY")
            .output()
            .expect("the studio starts");
        let told = String::from_utf8_lossy(&run.stderr).into_owned();
        // The server may need a moment.
        let is_early = told.contains("cannot open a window") && begin.elapsed() < Duration::from_secs(10);
        seen = (!is_early).then_some((run.status.success(), told));
    }
    let _ = server.kill();
    let _ = server.wait();
    let (is_good, told) = seen.expect("it ended");
    if told.contains("cannot open a window") {
        eprintln!("skipped: there is no OpenGL here ({told})");
    } else {
        assert!(is_good, "{told}");
    }
}
