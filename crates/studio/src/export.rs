//! Pictures and animations of a session, by the rasterizer of `sinew-picture`: no window, no graphics card.

use sinew_picture::{Animation, Image, Palette, PictureError, Renderer, Scene, encode_png};

use crate::{Drawing, Fault, Frame, Orbit, Session, Show, Wishes};

/// Pixels of a picture.
const PICTURE: (usize, usize) = (1280, 800);
/// Pixels of an animation.
const FILM: (usize, usize) = (480, 320);
/// Pictures of an animation per simulated second, and at most in all.
const RATE: f64 = 25.0;
const MOST: u64 = 500;

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
    let dt = session.world().settings().dt;
    let every = ((1.0 / (RATE * dt)).round() as u64).max(n_steps.div_ceil(MOST)).max(1);
    let mut images = Vec::new();
    for step in (0..=n_steps).step_by(every as usize) {
        session.seek(step);
        let frame = snapshot(session, show);
        images.push(draw(&frame, orbit, show, FILM).map_err(told)?);
    }
    session.seek(here);
    let palette = Palette::of(images.iter().step_by(images.len().div_ceil(8)));
    let mut animation = Animation::new(Vec::new(), palette, FILM).map_err(told)?;
    for image in &images {
        animation.push(image, every as f64 * dt).map_err(told)?;
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
