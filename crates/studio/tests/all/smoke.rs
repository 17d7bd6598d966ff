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

/// What is told at the command line where there is no display.
#[cfg(all(unix, not(target_os = "macos")))]
fn told_without_display(scene: &str) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_sinew-studio"))
        .arg(scene)
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("WAYLAND_SOCKET")
        .output()
        .expect("the studio starts");
    assert!(!run.status.success());
    String::from_utf8_lossy(&run.stderr).into_owned()
}

#[cfg(all(unix, not(target_os = "macos")))]
#[test]
fn without_a_display_it_is_said_what_can_be_had_instead() {
    let told = told_without_display("worm");
    for part in ["there is no display", "sinew run worm --gif", "sinew-studio worm --shot"] {
        assert!(told.contains(part), "{told}");
    }
    assert!(told_without_display("wrm").contains("did you mean `worm`?"));
}
