//! Pictures and animations of a session, by the rasterizer of `sinew-picture`: no window, no graphics card.

use sinew_picture::{Animation, Image, Palette, PictureError, Renderer, Scene, encode_png};

use crate::{Drawing, Fault, Frame, Orbit, Session, Show, Wishes};

/// Pixels of a picture.
const PICTURE: (usize, usize) = (1280, 800);
/// Pixels of an animation.
const FILM: (usize, usize) = (480, 320);
/// Pictures of an animation per simulated second, and at most in all.
const RATE: f64 = 25.0;
const MOST: f64 = 500.0;

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

/// The recording as GIF; the session stays where it is.
pub(crate) fn film(session: &mut Session, orbit: &Orbit, show: &Show) -> Result<Vec<u8>, Fault> {
    let (here, n_steps) = (session.step(), session.timeline().n_steps());
    if n_steps == 0 {
        return Err(Fault::new("nothing was recorded yet: play first"));
    }
    session.seek(n_steps);
    let interval = (1.0 / RATE).max(session.world().time() / MOST);
    let (mut images, mut times) = (Vec::new(), Vec::new());
    for step in 0..=n_steps {
        session.seek(step);
        let (now, dt) = (session.world().time(), session.world().settings().dt);
        // The step that ends nearest to when the next picture is due.
        if times.last().is_none_or(|last| now + 0.5 * dt > last + interval) {
            images.push(draw(&snapshot(session, show), orbit, show, FILM).map_err(told)?);
            times.push(now);
        }
    }
    session.seek(here);
    let palette = Palette::of(images.iter().step_by(images.len().div_ceil(8)));
    let mut animation = Animation::new(Vec::new(), palette, FILM).map_err(told)?;
    for (i, image) in images.iter().enumerate() {
        let shown = times.get(i + 1).map_or(interval, |next| next - times[i]);
        animation.push(image, shown).map_err(told)?;
    }
    animation.finish().map_err(told)
}

fn snapshot(session: &mut Session, show: &Show) -> Frame {
    let mut frame = Frame::default();
    session.fill_with(&mut frame, &wishes(show));
    frame
}

fn told(error: PictureError) -> Fault {
    Fault::new(error.to_string())
}
