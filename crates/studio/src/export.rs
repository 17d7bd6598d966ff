//! Pictures and animations of a session, by the software renderer: no window, no graphics card.

use std::fs;
use std::path::Path;

use sinew_io::Disk;
use sinew_picture::{Animation, Image, Palette, PictureError, encode_png};
use sinew_scene::Steps;
use sinew_show::{Drawing, DrawingRenderer, ShowOptions};

use crate::snapshot::{Snapshot, SnapshotWishes};
use crate::{camera::Orbit, fault::Fault, session::Session};

/// Size of a picture in pixels.
const PICTURE: (usize, usize) = (1280, 800);
/// Size of an animation in pixels.
const FILM: (usize, usize) = (480, 320);
/// Pictures of an animation per simulated second, and largest total number.
const RATE: f64 = 25.0;
const MOST: f64 = 500.0;
/// Share of steps and pictures in the progress of an animation; the rest is encoding.
const STEPS: f64 = 0.8;

/// Draws a snapshot. Fails if the size is zero or too large.
pub fn draw(
    snapshot: &Snapshot,
    orbit: &Orbit,
    show: &ShowOptions,
    (width, height): (usize, usize),
) -> Result<Image, PictureError> {
    let mut drawing = Drawing::default();
    drawing.fill(&snapshot.visible, &snapshot.drawing_context(*show), None);
    let camera = orbit.to_picture((width as f64, height as f64), drawing.reach);
    Ok(DrawingRenderer::new(width, height)?.render(&drawing, &camera).clone())
}

/// A PNG picture of the present moment.
pub(crate) fn picture(session: &mut Session, orbit: &Orbit, show: &ShowOptions) -> Result<Vec<u8>, Fault> {
    let snapshot = snapshot(session, show);
    let image = draw(&snapshot, orbit, show, PICTURE)?;
    let mut bytes = Vec::new();
    encode_png(&image, &mut bytes)?;
    Ok(bytes)
}

/// The recording as GIF. Seeks through all recorded steps. `go_on` receives the progress (0 to 1) and returns whether
/// to go on; the result is `None` if it returns false.
pub(crate) fn film(
    session: &mut Session,
    orbit: &Orbit,
    show: &ShowOptions,
    go_on: &mut dyn FnMut(f64) -> bool,
) -> Result<Option<Vec<u8>>, Fault> {
    let timeline = session.timeline();
    let n_steps = timeline.n_steps();
    let last = timeline.changes().last().map_or_else(|| session.doc(), |change| &change.doc);
    let interval = (1.0 / RATE).max(Steps::of(last).time_after(n_steps) / MOST);
    let (mut images, mut times) = (Vec::new(), Vec::new());
    for step in 0..=n_steps {
        if !go_on(STEPS * step as f64 / n_steps as f64) {
            return Ok(None);
        }
        session.seek(step);
        let (now, dt) = (session.world().time(), session.world().settings().dt);
        // A picture at the step that ends nearest to its due time.
        if times.last().is_none_or(|last| now + 0.5 * dt > last + interval) {
            images.push(draw(&snapshot(session, show), orbit, show, FILM)?);
            times.push(now);
        }
    }
    let palette = Palette::of(images.iter().step_by(images.len().div_ceil(8)));
    let mut animation = Animation::new(Vec::new(), palette, FILM)?;
    for (i, image) in images.iter().enumerate() {
        if !go_on(STEPS + (1.0 - STEPS) * i as f64 / images.len() as f64) {
            return Ok(None);
        }
        let shown = times.get(i + 1).map_or(interval, |next| next - times[i]);
        animation.push(image, shown)?;
    }
    Ok(Some(animation.finish()?))
}

/// Creates the folder of a file if it does not exist.
pub(crate) fn make_folder(path: &Path) -> Result<(), Fault> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder
        .map_or(Ok(()), fs::create_dir_all)
        .map_err(|error| Fault::new(format!("cannot write {}: {error}", path.display())))
}

/// Writes a file that appears when it is complete.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    make_folder(path)?;
    sinew_io::write_file::<Disk>(path, None, bytes)
        .map_err(|error| Fault::new(format!("cannot write {}: {error}", path.display())))
}

fn snapshot(session: &mut Session, show: &ShowOptions) -> Snapshot {
    let mut snapshot = Snapshot::default();
    session.fill_with(&mut snapshot, &SnapshotWishes { show: *show, ..SnapshotWishes::default() });
    snapshot
}
