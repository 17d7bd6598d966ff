//! Pictures and animations of a session, by the rasterizer of `sinew-picture`: no window, no graphics card.

use std::fs;
use std::path::{Path, PathBuf};

use sinew_picture::{Animation, Image, Palette, PictureError, Renderer, Scene, encode_png};
use sinew_scene::Steps;

use crate::{Drawing, Fault, Frame, Orbit, Session, Show, Wishes};

/// Pixels of a picture.
const PICTURE: (usize, usize) = (1280, 800);
/// Pixels of an animation.
const FILM: (usize, usize) = (480, 320);
/// Pictures of an animation per simulated second, and at most in all.
const RATE: f64 = 25.0;
const MOST: f64 = 500.0;
/// Share of the work on an animation that steps and pictures are; the rest is the file.
const STEPS: f64 = 0.8;

/// What frames must hold for all that is shown.
pub fn wishes(show: &Show) -> Wishes {
    Wishes {
        nodes: show.nodes,
        tint: show.tint,
        contacts: show.contacts,
        joint_forces: show.joint_forces,
        limits: show.limits,
        ..Wishes::default()
    }
}

/// Draws a frame.
///
/// # Errors
/// If the size is zero or too large.
pub fn draw(
    frame: &Frame,
    orbit: &Orbit,
    show: &Show,
    (width, height): (usize, usize),
) -> Result<Image, PictureError> {
    let mut drawing = Drawing::default();
    drawing.fill(frame, show, None);
    let (mut scene, size) = (Scene::default(), (width as f64, height as f64));
    drawing.to_picture(&mut scene, orbit, size);
    let camera = orbit.to_picture(size, drawing.reach);
    Ok(Renderer::new(width, height)?.render(&scene, &camera).clone())
}

/// The present moment as PNG.
pub(crate) fn picture(session: &mut Session, orbit: &Orbit, show: &Show) -> Result<Vec<u8>, Fault> {
    let frame = snapshot(session, show);
    let image = draw(&frame, orbit, show, PICTURE).map_err(told)?;
    let mut bytes = Vec::new();
    encode_png(&image, &mut bytes).map_err(told)?;
    Ok(bytes)
}

/// The recording as GIF. The session is led through all of it; `go_on` is told which share is done, and says whether to go on: `None`
/// if not.
pub(crate) fn film(
    session: &mut Session,
    orbit: &Orbit,
    show: &Show,
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
        // The step that ends nearest to when the next picture is due.
        if times.last().is_none_or(|last| now + 0.5 * dt > last + interval) {
            images.push(draw(&snapshot(session, show), orbit, show, FILM).map_err(told)?);
            times.push(now);
        }
    }
    let palette = Palette::of(images.iter().step_by(images.len().div_ceil(8)));
    let mut animation = Animation::new(Vec::new(), palette, FILM).map_err(told)?;
    for (i, image) in images.iter().enumerate() {
        if !go_on(STEPS + (1.0 - STEPS) * i as f64 / images.len() as f64) {
            return Ok(None);
        }
        let shown = times.get(i + 1).map_or(interval, |next| next - times[i]);
        animation.push(image, shown).map_err(told)?;
    }
    animation.finish().map(Some).map_err(told)
}

/// Makes the folder of a file, if there is none.
pub(crate) fn make_folder(path: &Path) -> Result<(), Fault> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder
        .map_or(Ok(()), fs::create_dir_all)
        .map_err(|error| Fault::new(format!("cannot write {}: {error}", path.display())))
}

/// Writes a file beside its place first, so that it is never there in part.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    make_folder(path)?;
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    let part = PathBuf::from(name);
    let outcome = fs::write(&part, bytes).and_then(|()| fs::rename(&part, path));
    outcome.map_err(|error| {
        // It may not even have been begun.
        let _ = fs::remove_file(&part);
        Fault::new(format!("cannot write {}: {error}", path.display()))
    })
}

fn snapshot(session: &mut Session, show: &Show) -> Frame {
    let mut frame = Frame::default();
    session.fill_with(&mut frame, &wishes(show));
    frame
}

fn told(error: PictureError) -> Fault {
    Fault::new(error.to_string())
}
