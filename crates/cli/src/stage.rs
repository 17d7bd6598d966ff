//! What films and animations share: how things look, the camera that holds a whole motion, and the map to pixels.

use glam::DVec3;
use sinew_math::Pose;

use crate::scenery::Scenery;
use crate::skin::Skin;
use crate::solid::Solid;
use crate::svg::{Anchor, Svg, quantity};
use crate::view::View;

/// Colours of texts.
pub(crate) const INK: &str = "#1d2430";
pub(crate) const SOFT_INK: &str = "#69727f";
/// Background of a picture of bodies.
const BACKDROP: &str = "#f5f6f8";
/// Room at the edges of a page, in pixels.
pub(crate) const MARGIN: f64 = 24.0;

/// Something to draw, in its own frame.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    pub(crate) solid: Solid,
    /// Red, green, blue from 0 to 1; chosen by position in the list if absent.
    pub(crate) color: Option<DVec3>,
    /// Whether it is inside flesh that is fixed to its body.
    pub(crate) is_bone: bool,
}

/// The surface of a body of flesh, finest first: for the pose shown in a film, in an animation, and for ghosts and shadows.
#[derive(Clone, Debug)]
pub(crate) struct Flesh {
    pub(crate) skins: [Skin; 3],
    /// Red, green, blue from 0 to 1; chosen by position in the list if absent.
    pub(crate) color: Option<DVec3>,
}

/// Which of the skins of flesh is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    Film,
    Animation,
    Ghost,
}

/// Everything there is to draw, but not where it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cast {
    pub(crate) looks: Vec<Look>,
    pub(crate) flesh: Vec<Flesh>,
    pub(crate) scenery: Scenery,
}

/// Where everything is at one time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    /// Time (s).
    pub(crate) time: f64,
    /// World from the frame of the solid, one per look.
    pub(crate) poses: Vec<Pose>,
    /// Points of the finest skin of each body of flesh, in the world.
    pub(crate) skins: Vec<Vec<DVec3>>,
    /// Springs and holds, as lines between two points of the world.
    pub(crate) lines: Vec<(DVec3, DVec3)>,
}

impl Frame {
    /// Places of all solids and points of all flesh.
    pub(crate) fn points(&self) -> impl Iterator<Item = DVec3> {
        self.poses.iter().map(|pose| pose.translation).chain(self.skins.iter().flatten().copied())
    }

    /// The middle of every solid and of every body of flesh.
    pub(crate) fn middles(&self) -> Vec<DVec3> {
        let mean = |points: &Vec<DVec3>| points.iter().sum::<DVec3>() / points.len().max(1) as f64;
        self.poses.iter().map(|pose| pose.translation).chain(self.skins.iter().map(mean)).collect()
    }
}

/// A view, and the smallest and largest picture coordinates (m) of everything that will be drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Camera {
    pub(crate) view: View,
    pub(crate) low: DVec3,
    pub(crate) high: DVec3,
}

impl Camera {
    /// A camera that sees all bodies and flesh in all frames, with some room. `gravity` decides what is down.
    pub(crate) fn of_motion(cast: &Cast, frames: &[&Frame], gravity: DVec3) -> Self {
        let points = frames.iter().flat_map(|frame| frame.points());
        let view = View::of_motion(points, gravity, !cast.scenery.is_empty());
        let (mut low, mut high) = (DVec3::splat(f64::INFINITY), DVec3::splat(f64::NEG_INFINITY));
        for frame in frames {
            for at in frame.skins.iter().flatten().map(|&point| view.project(point)) {
                (low, high) = (low.min(at), high.max(at));
            }
            for (Look { solid, .. }, pose) in cast.looks.iter().zip(&frame.poses) {
                for &point in &solid.points {
                    let at = view.project(pose.transform_point(point));
                    low = low.min(at - solid.radius);
                    high = high.max(at + solid.radius);
                }
            }
        }
        if low.x > high.x {
            (low, high) = (DVec3::NEG_ONE, DVec3::ONE);
        }
        let room = 0.06 * (high - low).truncate().max_element().max(1e-6);
        Self { view, low: low - room, high: high + room }
    }

    /// Height over width of what it sees.
    pub(crate) fn aspect(&self) -> f64 {
        let size = self.high - self.low;
        size.y / size.x
    }
}

/// The frames whose poses and points are all finite: what was computed before trouble began.
pub(crate) fn finite(frames: &[Frame]) -> Vec<&Frame> {
    let is_finite = |frame: &&Frame| {
        frame.poses.iter().all(Pose::is_finite) && frame.skins.iter().flatten().all(|point| point.is_finite())
    };
    frames.iter().filter(is_finite).collect()
}

/// A rectangle of the page that shows what a camera sees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) camera: Camera,
    /// Upper left corner, in pixels.
    pub(crate) corner: (f64, f64),
    pub(crate) size: (f64, f64),
    /// Pixels per metre.
    pub(crate) scale: f64,
}

impl Window {
    /// The largest scale at which everything fits.
    pub(crate) fn fit(camera: Camera, corner: (f64, f64), size: (f64, f64)) -> Self {
        let extent = camera.high - camera.low;
        Self { camera, corner, size, scale: (size.0 / extent.x).min(size.1 / extent.y) }
    }

    /// Pixel of a point of the world.
    pub(crate) fn pixel(&self, point: DVec3) -> (f64, f64) {
        let from_middle = self.camera.view.project(point) - 0.5 * (self.camera.low + self.camera.high);
        (
            self.corner.0 + 0.5 * self.size.0 + self.scale * from_middle.x,
            self.corner.1 + 0.5 * self.size.1 - self.scale * from_middle.y,
        )
    }

    /// How near the middle of a solid is to the viewer (m).
    pub(crate) fn depth(&self, look: &Look, pose: &Pose) -> f64 {
        let points = &look.solid.points;
        let center = points.iter().sum::<DVec3>() / points.len().max(1) as f64;
        self.camera.view.project(pose.transform_point(center)).z
    }

    /// Indices of the looks, those far from the viewer first.
    pub(crate) fn far_to_near(&self, looks: &[Look], frame: &Frame) -> Vec<usize> {
        let depth = |i: usize| self.depth(&looks[i], &frame.poses[i]);
        let mut order: Vec<(f64, usize)> = (0..looks.len()).map(|i| (depth(i), i)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        order.into_iter().map(|(_, i)| i).collect()
    }
}

/// A rectangle behind bodies.
pub(crate) fn draw_backdrop(svg: &mut Svg, corner: (f64, f64), size: (f64, f64)) {
    svg.rect(corner, size, &format!("rx=\"8\" fill=\"{BACKDROP}\""));
}

/// Title and subtitle at the head of a page, and a bar of a round length at its right.
pub(crate) fn draw_head(svg: &mut Svg, width: f64, title: &str, subtitle: &str, pixels_per_metre: f64) {
    let soft = format!("fill=\"{SOFT_INK}\"");
    svg.text((MARGIN, 38.0), Anchor::Start, 22.0, &format!("fill=\"{INK}\" font-weight=\"600\""), title);
    svg.text((MARGIN, 60.0), Anchor::Start, 13.5, &soft, subtitle);
    let power = 10f64.powi((100.0 / pixels_per_metre).log10().floor() as i32);
    let fits = |factor: &f64| factor * power * pixels_per_metre <= 120.0;
    let length = power * [5.0, 2.0, 1.0].into_iter().find(fits).unwrap_or(1.0);
    let (right, y) = (width - MARGIN, 52.0);
    let left = right - length * pixels_per_metre;
    svg.line((left, y), (right, y), SOFT_INK, 1.5);
    for x in [left, right] {
        svg.line((x, y - 4.0), (x, y + 4.0), SOFT_INK, 1.5);
    }
    svg.text(
        (0.5 * (left + right), y - 9.0),
        Anchor::Middle,
        12.0,
        &soft,
        &format!("{} m", quantity(length)),
    );
}

/// The colours of a cast.
pub(crate) struct Colors {
    pub(crate) looks: Vec<[f64; 3]>,
    pub(crate) flesh: Vec<[f64; 3]>,
}

impl Colors {
    /// Those that the scene gives, else chosen by position in the list; flesh that is alone has the colour of skin, and
    /// bones have that of bones.
    pub(crate) fn of(cast: &Cast) -> Self {
        const SKIN: DVec3 = DVec3::new(0.93, 0.62, 0.50);
        const BONE: DVec3 = DVec3::new(0.99, 0.96, 0.88);
        let only = (cast.flesh.len() == 1).then_some(SKIN);
        Self {
            looks: along_path(
                cast.looks.iter().map(|look| look.color.or(look.is_bone.then_some(BONE))).collect(),
            ),
            flesh: along_path(cast.flesh.iter().map(|flesh| flesh.color.or(only)).collect()),
        }
    }
}

/// The colours given, or places on a path through teal, blue, violet, pink and orange.
fn along_path(given: Vec<Option<DVec3>>) -> Vec<[f64; 3]> {
    const PATH: [[f64; 3]; 5] =
        [[0.10, 0.58, 0.68], [0.20, 0.45, 0.85], [0.48, 0.36, 0.86], [0.83, 0.32, 0.62], [0.95, 0.50, 0.30]];
    let on_path = |i: usize| {
        let along = (PATH.len() - 1) as f64 * i as f64 / (given.len().max(2) - 1) as f64;
        let from = (along as usize).min(PATH.len() - 2);
        let part = along - from as f64;
        [0, 1, 2].map(|c| PATH[from][c] * (1.0 - part) + PATH[from + 1][c] * part)
    };
    given.iter().enumerate().map(|(i, color)| color.map_or_else(|| on_path(i), |c| c.to_array())).collect()
}

/// A colour times `shade` as CSS; shades above 1 go towards white.
pub(crate) fn css(color: [f64; 3], shade: f64) -> String {
    let part = |c: f64| {
        let value = if shade <= 1.0 { c * shade } else { c + (1.0 - c) * (shade - 1.0).min(1.0) };
        (255.0 * value.clamp(0.0, 1.0)).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", part(color[0]), part(color[1]), part(color[2]))
}

/// Convex hull in the plane (monotone chain); fewer than three points if all lie on a line.
pub(crate) fn hull(mut points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    points.dedup();
    if points.len() < 3 {
        return points;
    }
    let mut out = half_hull(points.iter().copied());
    out.extend(half_hull(points.iter().rev().copied()));
    out
}

/// One side of the hull of sorted points, its last point left out.
fn half_hull(points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let turn =
        |a: (f64, f64), b: (f64, f64), c: (f64, f64)| (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0);
    let mut chain: Vec<(f64, f64)> = Vec::new();
    for point in points {
        while chain.len() > 1 && turn(chain[chain.len() - 2], chain[chain.len() - 1], point) <= 0.0 {
            chain.pop();
        }
        chain.push(point);
    }
    chain.pop();
    chain
}

#[cfg(test)]
mod tests {
    use super::{css, hull};

    #[test]
    fn hull_keeps_corners_only() {
        let points = vec![(0.0, 0.0), (1.0, 0.0), (0.5, 0.5), (1.0, 1.0), (0.0, 1.0), (0.5, 0.0)];
        assert_eq!(hull(points).len(), 4);
        assert_eq!(hull(vec![(1.0, 1.0); 5]).len(), 1);
        assert_eq!(hull(vec![(0.0, 0.0), (2.0, 2.0), (1.0, 1.0)]).len(), 2);
    }

    #[test]
    fn shades_run_from_black_to_white() {
        assert_eq!(css([1.0, 0.5, 0.0], 0.0), "#000000");
        assert_eq!(css([1.0, 0.5, 0.0], 1.0), "#ff8000");
        assert_eq!(css([1.0, 0.5, 0.0], 2.0), "#ffffff");
    }
}
