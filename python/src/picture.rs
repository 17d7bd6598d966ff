//! Pictures and pages of worlds. A picture shows the present; a page plays a motion that was recorded.
//!
//! The camera frames what is seen in the first frame of the picture, from a side that the motion suggests, as the command does.

use glam::DVec3;
use sinew_io::{Clip, PageOptions, page};
use sinew_math::ops;
use sinew_picture::{Camera, PictureError, View, encode_png};
use sinew_scene::{CameraDoc, SceneDoc};
use sinew_show::{
    Drawing, DrawingContext, DrawingRenderer, SceneLooks, Scenery, ShowOptions, VisibleState, tessellated,
};
use sinew_sim::World;

/// Sides of circles in the outlines that the camera frames.
const ROUGH: usize = 8;
/// Frames per second of a page, and the most of them.
const RATE: f64 = 60.0;
const MOST_FRAMES: usize = 3600;

/// A camera: a view by name that frames everything, or one that the scene has.
pub(crate) enum Eye {
    Framing(String),
    Placed(CameraDoc),
}

impl Eye {
    /// The camera of a name, or the names that there are.
    pub(crate) fn named(name: &str, scene: Option<&SceneDoc>) -> Result<Self, Vec<String>> {
        let cameras = scene.map_or(&[][..], |scene| &scene.cameras);
        if let Some(camera) = cameras.iter().find(|camera| camera.name == name) {
            return Ok(Self::Placed(camera.clone()));
        }
        if View::NAMES.contains(&name) {
            return Ok(Self::Framing(name.to_owned()));
        }
        let own = cameras.iter().map(|camera| camera.name.clone());
        Err(own.chain(View::NAMES.map(str::to_owned)).collect())
    }

    fn camera(&self, points: &[DVec3], gravity: DVec3, aspect: f64) -> Camera {
        let points = points.iter().copied();
        match self {
            Self::Framing(name) => {
                let view = View::named(name, points.clone(), gravity);
                let view = view.unwrap_or_else(|| View::of_motion(points.clone(), gravity));
                Camera::framing(view, points, aspect)
            }
            Self::Placed(doc) => {
                let opening = doc.field_of_view.map_or(Camera::OPENING, |angle| ops::tan(0.5 * angle));
                let up = (-gravity).try_normalize().unwrap_or(DVec3::Z);
                Camera::placed((doc.from, doc.at), up, opening, points, aspect)
            }
        }
    }
}

/// The world as it is, as PNG.
pub(crate) fn png(
    world: &World,
    scene: Option<&SceneDoc>,
    (width, height): (usize, usize),
    (eye, show): (&Eye, ShowOptions),
) -> Result<Vec<u8>, PictureError> {
    let looks = SceneLooks::of(world);
    let scenery = scene.map(|scene| Scenery::of(&scene.expanded(), world.appearance())).unwrap_or_default();
    let mut visible = VisibleState::default();
    visible.fill(world, &looks, &show);
    let points = points(&visible);
    let gravity = world.settings().gravity;
    let camera = eye.camera(&points, gravity, width as f64 / height.max(1) as f64);
    let up = (-gravity).normalize_or_zero();
    let lowest =
        points.iter().map(|point| point.dot(up)).filter(|h| h.is_finite()).fold(f64::INFINITY, f64::min);
    let floor = scenery.floor(up * lowest, gravity);
    let mut drawing = Drawing::default();
    let context = DrawingContext { looks: &looks, scenery: &scenery, floor, reach: camera.reach, show };
    drawing.fill(&visible, &context, None);
    let mut bytes = Vec::new();
    encode_png(DrawingRenderer::new(width, height)?.render(&drawing, &camera), &mut bytes)?;
    Ok(bytes)
}

/// Points that a picture must show.
fn points(visible: &VisibleState) -> Vec<DVec3> {
    let list = &visible.list;
    let solids = list.solids.iter().flat_map(|solid| {
        let outline = tessellated(&solid.shape, ROUGH);
        let place = |point| solid.world_from_shape.transform_point(point);
        outline.positions().map(place).collect::<Vec<_>>()
    });
    let flesh = list.flesh.iter().flat_map(|flesh| flesh.points.iter().copied());
    let lines = list.lines.iter().flat_map(|line| [line.from, line.to]);
    solids.chain(flesh).chain(list.mesh_points()).chain(lines).collect()
}

/// A motion on its way to a page: a frame every so often, thinned when there are many.
#[derive(Clone, Debug)]
pub(crate) struct Film {
    clip: Clip,
    /// Steps between frames.
    every: u64,
    /// Steps since the last frame.
    since: u64,
}

impl Film {
    /// Begins with the world as it is.
    pub(crate) fn new(world: &World, rate: Option<f64>) -> Self {
        let mut clip = Clip::new(world.info().name.clone(), world);
        clip.push(world);
        let steps = 1.0 / (rate.unwrap_or(RATE) * world.settings().dt);
        Self { clip, every: steps.round().clamp(1.0, 1e9) as u64, since: 0 }
    }

    /// Notes a step.
    pub(crate) fn note(&mut self, world: &World) {
        self.since += 1;
        if self.since < self.every {
            return;
        }
        self.since = 0;
        self.clip.push(world);
        if self.clip.frames.len() > MOST_FRAMES {
            // Every second frame from now on, and of what there is.
            let mut at = 0;
            self.clip.frames.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.every *= 2;
        }
    }

    pub(crate) fn n_frames(&self) -> usize {
        self.clip.frames.len()
    }

    /// The page, as the command writes it.
    pub(crate) fn page(&self, world: &World, speed: f64, camera: Option<String>) -> Result<String, String> {
        let model = world.mechanism();
        let facts = format!("{} bodies, {} joints", model.n_bodies(), model.n_joints());
        let camera = camera.unwrap_or_else(|| PageOptions::default().camera);
        page(&self.clip, &PageOptions { speed, camera, facts }).map_err(|error| error.to_string())
    }
}
