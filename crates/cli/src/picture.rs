//! A frame of a run as a picture: bodies by shape, flesh, scenery, springs and holds, seen by one camera for all frames.

use glam::DVec3;
use sinew_math::{Pose, ops};
use sinew_picture::{Camera, Color, Image, Mesh, PictureError, Plane, Renderer, Scene, SceneLine, View};
use sinew_scene::{CameraDoc, SceneDoc};
use sinew_sim::{DrawShape, Scenery, surface_stretches};

use crate::args::PictureExtra;
use crate::error::CommandError;
use crate::frame::{FilmSetting, RecordedFrame};

/// Text in a picture.
const INK: [u8; 3] = [38, 44, 54];
/// Thickness of a line, per height of the picture.
const LINE: f64 = 1.0 / 260.0;
/// Sides of the circles that outlines are measured with.
const ROUGH: usize = 8;
/// Stretches from this much shorter to this much longer are shown from blue to red.
const STRETCH: f64 = 0.4;

/// Points on the path of a hold, at most: at every frame of a run of that many, at every other one of a longer run, and
/// so on. An animation then takes time in proportion to its length.
const PATH: usize = 512;

/// Width over height of what a camera of the scene sees.
const PLACED: f64 = 1.5;

/// How pictures are wanted.
#[derive(Clone, Debug, Default)]
pub(crate) struct PictureWishes {
    /// Width and height in pixels; chosen by the shape of the motion if absent.
    pub(crate) size: Option<(usize, usize)>,
    /// From where.
    pub(crate) eye: Eye,
    /// What is shown besides surfaces.
    pub(crate) show: Vec<PictureExtra>,
}

/// From where pictures are seen.
#[derive(Clone, Debug)]
pub(crate) enum Eye {
    /// A view by name, of [`View::NAMES`], from where the whole motion is seen.
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
    /// By name: a camera of the scene, or else a view; the usual one without a name.
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
}

/// A camera in front of a setting.
pub(crate) struct Set<'a> {
    setting: &'a FilmSetting,
    /// Frames by the number of their holds, for the paths of those.
    by_holds: Vec<Vec<&'a RecordedFrame>>,
    /// One per shape, in its own frame.
    shapes: Vec<Mesh>,
    planes: Vec<Plane>,
    stone: Mesh,
    camera: Camera,
    renderer: Renderer,
    scene: Scene,
    show: &'a [PictureExtra],
}

impl<'a> Set<'a> {
    /// Places the camera. `area` is the number of pixels where no size is wished for.
    pub(crate) fn new(
        setting: &'a FilmSetting,
        frames: &'a [RecordedFrame],
        wishes: &'a PictureWishes,
        area: usize,
    ) -> Result<Self, PictureError> {
        let gravity = setting.gravity;
        let outlines: Vec<Mesh> = setting.shapes.iter().map(|shape| tessellated(shape, ROUGH)).collect();
        let solids = frames.iter().flat_map(|frame| {
            outlines
                .iter()
                .zip(&frame.poses)
                .flat_map(|(outline, pose)| outline.positions().map(|point| pose.transform_point(point)))
        });
        let seen = frames.iter().flat_map(|frame| frame.points()).chain(solids);
        let aspect = |(width, height): (usize, usize)| width as f64 / height.max(1) as f64;
        let (size, camera) = match &wishes.eye {
            Eye::Framing(name) => {
                let points = frames.iter().flat_map(|frame| frame.points());
                let view = View::named(name, points.clone(), gravity)
                    .unwrap_or_else(|| View::of_motion(points, gravity));
                let size = wishes.size.unwrap_or_else(|| natural_size(view, seen.clone(), area));
                (size, Camera::framing(view, seen.clone(), aspect(size)))
            }
            Eye::Placed(doc) => {
                let size = wishes.size.unwrap_or_else(|| sized(PLACED, area));
                let opening = doc.field_of_view.map_or(Camera::OPENING, |angle| ops::tan(0.5 * angle));
                let up = (-gravity).try_normalize().unwrap_or(DVec3::Z);
                (size, Camera::placed((doc.from, doc.at), up, opening, seen.clone(), aspect(size)))
            }
        };
        let (width, height) = size;
        let detail = match setting.shapes.len() {
            0..=250 => 40,
            251..=2500 => 16,
            _ => 8,
        };
        let mut stone = Mesh::default();
        let grey = Color::srgb(0.72, 0.74, 0.77);
        for (shape, pose) in &setting.scenery.solids {
            stone.push(&tessellated(shape, 64), pose, grey);
        }
        for sheet in &setting.scenery.ground {
            stone.push_smooth(&sheet.points, &sheet.triangles, |_| grey);
        }
        Ok(Self {
            setting,
            by_holds: by_holds(frames),
            shapes: setting.shapes.iter().map(|shape| tessellated(shape, detail)).collect(),
            planes: planes(&setting.scenery, seen, gravity),
            stone,
            camera,
            renderer: Renderer::new(width, height)?,
            scene: Scene::default(),
            show: &wishes.show,
        })
    }

    /// Draws a frame, with its time in the corner if wanted.
    pub(crate) fn shoot(&mut self, frame: &RecordedFrame, stamp: bool) -> Image {
        self.scene.clear();
        let Scene { solid, inside, planes, .. } = &mut self.scene;
        planes.extend(&self.planes);
        solid.push_painted(&self.stone);
        let open = self.show.contains(&PictureExtra::Mesh);
        let FilmSetting { cast, flesh, sheets, .. } = self.setting;
        for (i, look) in cast.solids.iter().enumerate() {
            let layer = if look.is_bone && !open { &mut *inside } else { &mut *solid };
            layer.push(&self.shapes[i], &frame.poses[i], paint(look.color));
        }
        if open {
            self.push_nodes(frame);
        } else {
            let stretch = self.show.contains(&PictureExtra::Stretch);
            let mut stretches = Vec::new();
            for (i, (triangles, points)) in flesh.iter().zip(&frame.skins).enumerate() {
                if stretch {
                    surface_stretches(triangles, &cast.flesh[i].rest, points, &mut stretches);
                }
                let is_diagonalized = frame.diagonalized.get(i);
                let color = |point: usize| match is_diagonalized {
                    Some(of_points) => Color::of_scale(if of_points[point] { 1.0 } else { 0.5 }),
                    None if stretch => Color::of_scale(0.5 + 0.5 * stretches[point] / STRETCH),
                    None => paint(cast.flesh[i].color),
                };
                self.scene.solid.push_smooth(points, triangles, color);
            }
        }
        for ((triangles, color), points) in sheets.iter().zip(&cast.surfaces).zip(&frame.sheets) {
            self.scene.solid.push_smooth(points, triangles, |_| paint(*color));
        }
        if self.show.contains(&PictureExtra::Joints) {
            let ball = Mesh::sphere(0.012 * self.camera.reach, 16);
            let dark = Color::srgb(0.16, 0.18, 0.22);
            for &joint in &frame.joints {
                self.scene.front.push(&ball, &Pose::from_translation(joint), dark);
            }
        }
        self.push_lines(frame);
        self.push_contacts(frame);
        let mut image = self.renderer.render(&self.scene, &self.camera).clone();
        if stamp {
            let size = (image.height() as f64 / 26.0).clamp(8.0, 30.0);
            image.write(&time(frame), (size, size), size, INK);
        }
        image
    }

    /// Springs, holds, and the ways that held points were pulled.
    fn push_lines(&mut self, frame: &RecordedFrame) {
        let width = LINE * self.camera_height();
        let (dark, red) = (Color::srgb(0.20, 0.23, 0.28), Color::srgb(0.80, 0.15, 0.16));
        self.scene.lines.extend(frame.springs.iter().map(|&(from, to)| SceneLine {
            from,
            to,
            width,
            color: dark,
        }));
        let alike = self.by_holds.get(frame.grabs.len()).map_or(&[][..], Vec::as_slice);
        let before = &alike[..alike.partition_point(|before| before.time <= frame.time)];
        let path: Vec<&&RecordedFrame> = thinned(before, PATH).collect();
        for pair in path.windows(2) {
            let ways = pair[0].grabs.iter().zip(&pair[1].grabs).map(|(before, after)| (before.1, after.1));
            self.scene.lines.extend(ways.map(|(from, to)| SceneLine {
                from,
                to,
                width: 0.6 * width,
                color: red,
            }));
        }
        let ball = Mesh::sphere(0.014 * self.camera.reach, 16);
        for &(from, to) in &frame.grabs {
            self.scene.lines.push(SceneLine { from, to, width, color: red });
            self.mark(&ball, to, red);
        }
    }

    /// Forces of contacts as arrows, as long as half the scene if they carry everything, and as the square root of that.
    fn push_contacts(&mut self, frame: &RecordedFrame) {
        let color = Color::srgb(0.05, 0.60, 0.25);
        let unit = 0.5 * self.camera.reach / (9.81 * self.setting.cast.mass).max(f64::MIN_POSITIVE).sqrt();
        for &(from, force) in &frame.contacts {
            let length = (unit * force.length().sqrt()).min(self.camera.reach);
            let Some(direction) = force.try_normalize().filter(|_| length > 0.01 * self.camera.reach) else {
                continue;
            };
            self.scene.push_force(from, from + direction * length, 0.05 * self.camera.reach, color);
        }
    }

    /// A ball that is seen even where it is hidden, then faintly.
    fn mark(&mut self, ball: &Mesh, at: DVec3, color: Color) {
        for layer in [&mut self.scene.solid, &mut self.scene.inside] {
            layer.push(ball, &Pose::from_translation(at), color);
        }
    }

    /// The coarse mesh of flesh: its edges, and balls at its nodes with volumes in proportion to their masses, black
    /// where they are fixed to a bone, red where they are free.
    fn push_nodes(&mut self, frame: &RecordedFrame) {
        let width = 0.45 * LINE * self.camera_height();
        let (fixed, free) = (Color::srgb(0.10, 0.10, 0.12), Color::srgb(0.82, 0.13, 0.12));
        let unit = Mesh::sphere(1.0, 12);
        for (flesh, points) in self.setting.cast.flesh.iter().zip(&frame.nodes) {
            let color = Color::srgb(0.45, 0.49, 0.55);
            let line = |&[a, b]: &[u32; 2]| SceneLine {
                from: points[a as usize],
                to: points[b as usize],
                width,
                color,
            };
            self.scene.lines.extend(flesh.edges.iter().map(line));
            let heaviest = flesh.nodes.iter().fold(0.0f64, |most, node| most.max(node.0));
            for (&(mass, is_fixed), &at) in flesh.nodes.iter().zip(points) {
                let radius = 0.03 * self.camera.reach * ops::pow((mass / heaviest).max(0.0), 1.0 / 3.0);
                let ball = unit.scaled(radius);
                self.scene.solid.push(
                    &ball,
                    &Pose::from_translation(at),
                    if is_fixed { fixed } else { free },
                );
            }
        }
    }

    fn camera_height(&self) -> f64 {
        self.renderer.size().1 as f64
    }
}

fn paint(color: DVec3) -> Color {
    Color::srgb(color.x, color.y, color.z)
}

/// Frames by the number of their holds, each list in the order of time.
fn by_holds(frames: &[RecordedFrame]) -> Vec<Vec<&RecordedFrame>> {
    let most = frames.iter().map(|frame| frame.grabs.len()).max().unwrap_or(0);
    let mut lists = vec![Vec::new(); most + 1];
    frames.iter().for_each(|frame| lists[frame.grabs.len()].push(frame));
    lists
}

/// Every one, every other one, every fourth one …, so that there are at most `most`, and the last one.
fn thinned<T>(items: &[T], most: usize) -> impl Iterator<Item = &T> {
    let every = items.len().div_ceil(most).next_power_of_two();
    let last = items.last().filter(|_| !(items.len() - 1).is_multiple_of(every));
    items.iter().step_by(every).chain(last)
}

/// The time of a frame in words.
pub(crate) fn time(frame: &RecordedFrame) -> String {
    format!("{:.2} s", frame.time)
}

/// The planes of a scene; without any, but with gravity, one below everything, for shadows to fall on.
fn planes(scenery: &Scenery, seen: impl Iterator<Item = DVec3>, gravity: DVec3) -> Vec<Plane> {
    let given = scenery.planes.iter().map(|&(point, normal)| Plane { point, normal });
    let Some(up) = (-gravity)
        .try_normalize()
        .filter(|_| scenery.planes.is_empty() && scenery.ground.is_empty() && scenery.solids.is_empty())
    else {
        return given.collect();
    };
    let heights = seen.map(|point| point.dot(up)).filter(|height| height.is_finite());
    let low = heights.fold(f64::INFINITY, f64::min);
    vec![Plane { point: up * low, normal: up }]
}

/// As many pixels as wanted, as wide for their height as what is seen, within reason.
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

/// A picture of this width over height with so many pixels.
fn sized(aspect: f64, area: usize) -> (usize, usize) {
    let side = |share: f64| 2 * ((area as f64 * share).sqrt() / 2.0).round() as usize;
    (side(aspect), side(1.0 / aspect))
}

fn tessellated(shape: &DrawShape, detail: usize) -> Mesh {
    match *shape {
        DrawShape::Box { size } => Mesh::cuboid(size),
        DrawShape::Sphere { radius } => Mesh::sphere(radius, detail),
        DrawShape::Capsule { radius, length } => Mesh::capsule(radius, length, detail),
        DrawShape::Cylinder { radius, length } => Mesh::cylinder(radius, length, detail),
        DrawShape::Ellipsoid { semi_axes } => Mesh::ellipsoid(semi_axes, detail),
    }
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
