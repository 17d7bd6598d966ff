//! Pictures of recorded frames, seen by one camera for all frames.

use glam::DVec3;
use sinew_math::ops;
use sinew_picture::{Camera, Image, Mesh, PictureError, View};
use sinew_scene::{CameraDoc, SceneDoc};
use sinew_show::{Drawing, DrawingContext, DrawingRenderer, LineKind, ShowOptions, tessellated};

use crate::error::CommandError;
use crate::record::{FilmSetting, RecordedFrame};

/// Colour of text in a picture.
const INK: [u8; 3] = [38, 44, 54];
/// Sides of circles in the outlines that the camera frames.
const ROUGH: usize = 8;
/// Largest number of points on the path of a grab. Paths of longer runs are thinned, so that the cost of an animation
/// is linear in its length.
const PATH: usize = 512;
/// Width over height of pictures by a camera of the scene.
const PLACED: f64 = 1.5;

/// Size, camera and content of pictures.
#[derive(Clone, Debug, Default)]
pub(crate) struct PictureWishes {
    /// Width and height in pixels; fitted to the motion if absent.
    pub(crate) size: Option<(usize, usize)>,
    pub(crate) eye: Eye,
    pub(crate) show: ShowOptions,
}

/// A camera.
#[derive(Clone, Debug)]
pub(crate) enum Eye {
    /// A view by name, of [`View::NAMES`], that frames the whole motion.
    Framing(String),
    /// A camera of the scene.
    Placed(CameraDoc),
}

impl Default for Eye {
    fn default() -> Self {
        Self::Framing("corner".to_owned())
    }
}

impl Eye {
    /// A camera of the scene or a view by name; the default view without a name.
    pub(crate) fn named(name: Option<&str>, scene: &SceneDoc) -> Result<Self, CommandError> {
        let Some(name) = name else { return Ok(Self::default()) };
        if let Some(camera) = scene.cameras.iter().find(|camera| camera.name == name) {
            return Ok(Self::Placed(camera.clone()));
        }
        if View::NAMES.contains(&name) {
            return Ok(Self::Framing(name.to_owned()));
        }
        let mut names: Vec<&str> = scene.cameras.iter().map(|camera| camera.name.as_str()).collect();
        names.extend(
            View::NAMES.iter().filter(|view| scene.cameras.iter().all(|camera| camera.name != **view)),
        );
        Err(CommandError(format!("there is no camera called `{name}`: valid are {}", names.join(", "))))
    }

    /// Size of the picture and camera. `area` is the number of pixels if no size is given; `points` set the default
    /// view, `seen` what must be in the picture.
    fn place(
        &self,
        size: Option<(usize, usize)>,
        area: usize,
        gravity: DVec3,
        points: impl Iterator<Item = DVec3> + Clone,
        seen: impl Iterator<Item = DVec3> + Clone,
    ) -> ((usize, usize), Camera) {
        let aspect = |(width, height): (usize, usize)| width as f64 / height.max(1) as f64;
        match self {
            Self::Framing(name) => {
                let view = View::named(name, points.clone(), gravity);
                let view = view.unwrap_or_else(|| View::of_motion(points, gravity));
                let size = size.unwrap_or_else(|| natural_size(view, seen.clone(), area));
                (size, Camera::framing(view, seen, aspect(size)))
            }
            Self::Placed(doc) => {
                let size = size.unwrap_or_else(|| sized(PLACED, area));
                let opening = doc.field_of_view.map_or(Camera::OPENING, |angle| ops::tan(0.5 * angle));
                let up = (-gravity).try_normalize().unwrap_or(DVec3::Z);
                (size, Camera::placed((doc.from, doc.at), up, opening, seen, aspect(size)))
            }
        }
    }
}

/// A film set: the setting, a camera and a renderer.
pub(crate) struct FilmSet<'a> {
    setting: &'a FilmSetting,
    /// Frames by their number of grabs, for the paths of grabs.
    by_grabs: Vec<Vec<&'a RecordedFrame>>,
    floor: Option<(DVec3, DVec3)>,
    camera: Camera,
    renderer: DrawingRenderer,
    drawing: Drawing,
    show: ShowOptions,
}

impl<'a> FilmSet<'a> {
    /// Places the camera. `area` is the number of pixels if no size is given.
    pub(crate) fn new(
        setting: &'a FilmSetting,
        frames: &'a [RecordedFrame],
        wishes: &PictureWishes,
        area: usize,
    ) -> Result<Self, PictureError> {
        let first = frames.first().map_or(&[][..], |frame| &frame.visible.list.solids);
        let outlines: Vec<Mesh> = first.iter().map(|solid| tessellated(&solid.shape, ROUGH)).collect();
        let solids = frames.iter().flat_map(|frame| {
            outlines.iter().zip(&frame.visible.list.solids).flat_map(|(outline, solid)| {
                outline.positions().map(|point| solid.world_from_shape.transform_point(point))
            })
        });
        let points = frames.iter().flat_map(RecordedFrame::points);
        let seen = points.clone().chain(solids);
        let gravity = setting.gravity;
        let (size, camera) = wishes.eye.place(wishes.size, area, gravity, points, seen.clone());
        let up = (-gravity).normalize_or_zero();
        let heights = seen.map(|point| point.dot(up)).filter(|height| height.is_finite());
        let lowest = heights.fold(f64::INFINITY, f64::min);
        Ok(Self {
            setting,
            by_grabs: by_grabs(frames),
            floor: setting.scenery.floor(up * lowest, gravity),
            camera,
            renderer: DrawingRenderer::new(size.0, size.1)?,
            drawing: Drawing::default(),
            show: wishes.show,
        })
    }

    /// Draws a frame, with its time in the corner if `stamp` is set.
    pub(crate) fn shoot(&mut self, frame: &RecordedFrame, stamp: bool) -> Image {
        let FilmSetting { looks, scenery, .. } = self.setting;
        let (floor, reach, show) = (self.floor, self.camera.reach, self.show);
        self.drawing.fill(&frame.visible, &DrawingContext { looks, scenery, floor, reach, show }, None);
        self.push_paths(frame);
        let mut image = self.renderer.render(&self.drawing, &self.camera).clone();
        if stamp {
            let size = (image.height() as f64 / 26.0).clamp(8.0, 30.0);
            image.write(&time(frame), (size, size), size, INK);
        }
        image
    }

    /// Paths of the targets of grabs so far.
    fn push_paths(&mut self, frame: &RecordedFrame) {
        let alike = self.by_grabs.get(frame.targets().count()).map_or(&[][..], Vec::as_slice);
        let before = &alike[..alike.partition_point(|before| before.time <= frame.time)];
        let path: Vec<&&RecordedFrame> = thinned(before, PATH).collect();
        for pair in path.windows(2) {
            for (from, to) in pair[0].targets().zip(pair[1].targets()) {
                self.drawing.push_path(from, to);
            }
        }
    }
}

impl RecordedFrame {
    /// Centres of solids, points of flesh and of meshes, and ends of springs and grabs (m).
    fn points(&self) -> impl Iterator<Item = DVec3> + Clone {
        let list = &self.visible.list;
        let places = list.solids.iter().map(|solid| solid.world_from_shape.translation);
        let flesh = list.flesh.iter().flat_map(|flesh| flesh.points.iter().copied());
        let all = places.chain(flesh).chain(list.mesh_points());
        all.chain(list.lines.iter().flat_map(|line| [line.from, line.to]))
    }

    /// Targets of grabs (m).
    fn targets(&self) -> impl Iterator<Item = DVec3> {
        self.visible.list.lines.iter().filter(|line| line.kind == LineKind::Grab).map(|line| line.to)
    }
}

/// Frames by their number of grabs, in order of time.
fn by_grabs(frames: &[RecordedFrame]) -> Vec<Vec<&RecordedFrame>> {
    let most = frames.iter().map(|frame| frame.targets().count()).max().unwrap_or(0);
    let mut lists = vec![Vec::new(); most + 1];
    frames.iter().for_each(|frame| lists[frame.targets().count()].push(frame));
    lists
}

/// Every item, or every second, fourth … one, so that there are at most `most`; and the last one.
fn thinned<T>(items: &[T], most: usize) -> impl Iterator<Item = &T> {
    let every = items.len().div_ceil(most).next_power_of_two();
    let last = items.last().filter(|_| !(items.len() - 1).is_multiple_of(every));
    items.iter().step_by(every).chain(last)
}

/// The time of a frame as text.
pub(crate) fn time(frame: &RecordedFrame) -> String {
    format!("{:.2} s", frame.time)
}

/// Size in pixels of a picture with `area` pixels and the aspect of the seen points, between 0.7 and 1.6.
fn natural_size(view: View, seen: impl Iterator<Item = DVec3>, area: usize) -> (usize, usize) {
    let start = (DVec3::splat(f64::INFINITY), DVec3::splat(f64::NEG_INFINITY));
    let (low, high) = seen
        .map(|point| view.project(point))
        .filter(|point| point.is_finite())
        .fold(start, |(low, high), point| (low.min(point), high.max(point)));
    let extent = high - low;
    let wide = extent.x / extent.y;
    let aspect = if wide.is_finite() { wide.clamp(0.7, 1.6) } else { 1.5 };
    sized(aspect, area)
}

/// Size in pixels of a picture with this width over height and `area` pixels.
fn sized(aspect: f64, area: usize) -> (usize, usize) {
    let side = |share: f64| 2 * ((area as f64 * share).sqrt() / 2.0).round() as usize;
    (side(aspect), side(1.0 / aspect))
}

#[cfg(test)]
mod tests {
    use super::thinned;

    #[test]
    fn long_paths_are_thinned_to_their_last_point() {
        for n in 0..300_usize {
            let items: Vec<usize> = (0..n).collect();
            let kept: Vec<usize> = thinned(&items, 20).copied().collect();
            assert!(kept.len() <= 21 && kept.len() >= n.min(11), "{n}: {}", kept.len());
            assert_eq!((kept.first(), kept.last()), (items.first(), items.last()));
            assert!(n > 20 || kept == items);
        }
    }
}
