//! The loop of the studio without a window: how long frames of the interface take, how fast a recording is rewound, how much
//! memory it takes. `cargo run --release -p sinew-studio --example headless [SECONDS]`

use std::path::Path;
use std::time::{Duration, Instant};

use sinew_studio::{BlankPainter, Engine, Library, OpenScene, Session, SessionCommand, Studio};

#[expect(clippy::print_stdout, reason = "this is a measurement")]
fn main() {
    let seconds: f64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(30.0);
    for name in ["hand", "mesh_320", "worm", "chain_10000"] {
        let Ok(opened) = OpenScene::built_in(name) else { continue };
        println!("{name}: {}", frames(opened, seconds));
    }
    for name in ["worm", "chain_10000"] {
        let Ok(opened) = OpenScene::built_in(name) else { continue };
        println!("{name}: {}", rewinds(opened));
    }
}

/// Frames of the interface at 60 per second, beside a session on its own thread: frame k is due k/60 s after the beginning, however
/// late the one before it was. Everything counts from the moment at which playing is asked for.
fn frames(opened: OpenScene, seconds: f64) -> String {
    let engine = Engine::threaded(Session::new(opened), || {});
    let mut studio = Studio::new(engine, Library::default(), Path::new("."));
    let context = egui::Context::default();
    let (begin, mut times, mut last) = (Instant::now(), Vec::new(), 0.0);
    studio.engine().send(SessionCommand::Play(true));
    for k in 1..=(60.0 * seconds) as u32 {
        let due = Duration::from_secs_f64(f64::from(k) / 60.0);
        std::thread::sleep(due.saturating_sub(begin.elapsed()));
        let frame = Instant::now();
        let now = begin.elapsed().as_secs_f64();
        let input = egui::RawInput {
            screen_rect: Some(egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(1280.0, 800.0))),
            time: Some(now),
            events: vec![egui::Event::PointerMoved(egui::pos2(600.0 + 50.0 * (now % 2.0) as f32, 380.0))],
            ..egui::RawInput::default()
        };
        let mut output = context.run_ui(input, |ui| studio.ui(ui, &mut BlankPainter, now - last));
        output.textures_delta.clear();
        let _ = context.tessellate(output.shapes, output.pixels_per_point);
        last = now;
        times.push(frame.elapsed().as_secs_f64());
    }
    let (steps, seconds) = (studio.snapshot().clock.step, last);
    times.sort_by(f64::total_cmp);
    let at = |share: f64| 1e3 * times[((times.len() - 1) as f64 * share) as usize];
    format!(
        "{:.1} steps and {:.1} frames per second; a frame takes {:.2} ms, 99 % at most {:.2} ms, the longest {:.2} ms",
        steps as f64 / seconds,
        times.len() as f64 / seconds,
        at(0.5),
        at(0.99),
        at(1.0)
    )
}

/// A minute of recording, and visits to steps all over it.
fn rewinds(opened: OpenScene) -> String {
    let mut session = Session::new(opened);
    let n = (60.0 / session.world().settings().dt).round() as u64;
    let begin = Instant::now();
    let mut digests = Vec::new();
    for step in 0..n {
        session.step_once();
        if step % 97 == 96 {
            digests.push((step + 1, session.world().digest()));
        }
    }
    let recorded = begin.elapsed().as_secs_f64();
    let (mut longest, mut good) = (0.0f64, true);
    for (step, digest) in digests.iter().rev() {
        let begin = Instant::now();
        session.seek(*step);
        longest = longest.max(begin.elapsed().as_secs_f64());
        good &= session.world().digest() == *digest;
    }
    format!(
        "{n} steps recorded in {recorded:.1} s, {:.1} MB; the longest of {} rewinds took {:.0} ms, {}",
        session.timeline().bytes() as f64 / 1e6,
        digests.len(),
        1e3 * longest,
        if good { "all to the bit" } else { "NOT to the bit" }
    )
}
