//! A filmstrip of the motion as SVG: the pose at equal intervals, with the poses on the way as fading ghosts.
//!
//! All panels share one orthographic view and one scale. Flat faces are shaded by their slant; a body drawn far away
//! comes before one that is near. Scenes with very many bodies are drawn as one thick line per body.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use glam::DVec3;

use crate::solid::Solid;
use crate::stage::{
    Camera, Frame, INK, Look, MARGIN, SOFT_INK, Window, colors, css, draw_backdrop, draw_head, finite, hull,
};
use crate::svg::{Anchor, Svg, number};

/// Panels of a film, and ghosts in each.
const PANELS: usize = 8;
const GHOSTS: usize = 6;
/// Beyond so many solids ghosts are thick lines and fewer, beyond `SOLIDS` all are, beyond `LINES` some are left out.
const GHOST_SOLIDS: usize = 120;
const SOLIDS: usize = 600;
const LINES: usize = 2000;

/// Width of the dark edge of a solid, in pixels.
const OUTLINE: f64 = 0.6;

const WIDTH: f64 = 1200.0;
const GAP: f64 = 12.0;
const HEAD: f64 = 76.0;
/// Height of the strip with the time, in each panel.
const LABEL: f64 = 28.0;

/// Draws the film. `gravity` decides what is down.
pub(crate) fn draw(title: &str, subtitle: &str, looks: &[Look], frames: &[Frame], gravity: DVec3) -> String {
    let frames = finite(frames);
    let camera = Camera::of_motion(looks, &frames, gravity);
    let layout = Layout::nearest_to_wide_screen(camera.aspect());
    let mut svg = Svg::new(WIDTH, layout.height, title);
    let window = |panel: usize| {
        let (x, y) = layout.corner(panel);
        Window::fit(camera, (x, y + LABEL), (layout.panel.0, layout.panel.1 - LABEL))
    };
    draw_head(&mut svg, WIDTH, title, subtitle, window(0).scale);
    let Some(last) = frames.len().checked_sub(1) else { return svg.finish() };
    let colors = colors(looks);
    for panel in 0..PANELS {
        let now = panel * last / (PANELS - 1);
        let before = panel.saturating_sub(1) * last / (PANELS - 1);
        let scene = Scene { window: window(panel), looks, colors: &colors };
        draw_backdrop(&mut svg, layout.corner(panel), layout.panel);
        let (x, y) = layout.corner(panel);
        let time = format!("{:.2} s", frames[now].time);
        svg.text((x + 12.0, y + 22.0), Anchor::Start, 13.0, &format!("fill=\"{SOFT_INK}\""), &time);
        scene.draw_trail(&mut svg, &frames[before..=now]);
        let most = if looks.len() > GHOST_SOLIDS { GHOSTS / 2 } else { GHOSTS };
        let ghosts = most.min((now - before).saturating_sub(1));
        for k in 0..ghosts {
            let at = before + (k + 1) * (now - before) / (ghosts + 1);
            let opacity = 0.08 + 0.22 * (k as f64 + 1.0) / (ghosts as f64 + 1.0);
            scene.draw_pose(&mut svg, frames[at], Some(opacity));
        }
        scene.draw_pose(&mut svg, frames[now], None);
        scene.draw_strings(&mut svg, frames[now]);
    }
    svg.finish()
}

/// Grid of panels.
struct Layout {
    columns: usize,
    panel: (f64, f64),
    height: f64,
}

impl Layout {
    /// As many columns as bring the page nearest to 16 : 9.
    fn nearest_to_wide_screen(aspect: f64) -> Self {
        let build = |columns: usize| {
            let rows = PANELS.div_ceil(columns) as f64;
            let width = (WIDTH - 2.0 * MARGIN - GAP * (columns as f64 - 1.0)) / columns as f64;
            let tall = LABEL + width * aspect.clamp(0.25, 2.6);
            Self { columns, panel: (width, tall), height: HEAD + rows * (tall + GAP) - GAP + MARGIN }
        };
        let shape = |layout: &Self| (layout.height / WIDTH - 9.0 / 16.0).abs();
        [8, 4, 2]
            .map(build)
            .into_iter()
            .min_by(|a, b| shape(a).total_cmp(&shape(b)))
            .expect("three candidates")
    }

    /// Upper left corner of a panel.
    fn corner(&self, panel: usize) -> (f64, f64) {
        let (column, row) = (panel % self.columns, panel / self.columns);
        (MARGIN + column as f64 * (self.panel.0 + GAP), HEAD + row as f64 * (self.panel.1 + GAP))
    }
}

/// The bodies in one panel.
struct Scene<'a> {
    window: Window,
    looks: &'a [Look],
    colors: &'a [[f64; 3]],
}

impl Scene<'_> {
    /// The path of the solid that moves most between the panels.
    fn draw_trail(&self, svg: &mut Svg, frames: &[&Frame]) {
        let length = |i: usize| -> f64 {
            let step = |pair: &[&Frame]| pair[0].poses[i].translation.distance(pair[1].poses[i].translation);
            frames.windows(2).map(step).sum()
        };
        let Some(most) = (0..self.looks.len()).max_by(|&a, &b| length(a).total_cmp(&length(b))) else {
            return;
        };
        let points = frames.iter().map(|frame| self.window.pixel(frame.poses[most].translation));
        let dots = "fill=\"none\" stroke=\"#98a1ad\" stroke-width=\"1.2\" stroke-dasharray=\"1 4\"";
        svg.polyline(points, &format!("{dots} stroke-linecap=\"round\""));
    }

    /// Springs and holds: a thin line with a dot at the end that pulls.
    fn draw_strings(&self, svg: &mut Svg, frame: &Frame) {
        for &(from, to) in &frame.lines {
            let (from, to) = (self.window.pixel(from), self.window.pixel(to));
            svg.line(from, to, INK, 0.9);
            svg.circle(to, 2.2, &format!("fill=\"{INK}\""));
        }
    }

    /// One pose: solid, or a ghost of the given opacity.
    fn draw_pose(&self, svg: &mut Svg, frame: &Frame, ghost: Option<f64>) {
        let opacity = ghost.map(|opacity| format!(" opacity=\"{opacity:.2}\"")).unwrap_or_default();
        svg.open_group(&format!("fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"round\"{opacity}"));
        let most = if ghost.is_some() { GHOST_SOLIDS } else { SOLIDS };
        if self.looks.len() <= most {
            self.draw_solids(svg, frame, ghost.is_some());
        } else {
            if ghost.is_none() {
                self.draw_lines(svg, frame, OUTLINE, 0.62);
            }
            self.draw_lines(svg, frame, 0.0, 1.0);
        }
        svg.close_group();
    }

    /// One thick line per body, grown by some pixels; neighbours of one colour and width share a path.
    fn draw_lines(&self, svg: &mut Svg, frame: &Frame, grow: f64, shade: f64) {
        let stride = self.looks.len().div_ceil(LINES);
        let mut paths: BTreeMap<(String, String), String> = BTreeMap::new();
        for i in (0..self.looks.len()).step_by(stride) {
            let solid = &self.looks[i].solid;
            let width = (solid.thickness * self.window.scale).max(1.2) + 2.0 * grow;
            // Few steps of colour, so that long chains make few paths.
            let color = self.colors[i].map(|part| (part * 24.0).round() / 24.0);
            let path = paths.entry((css(color, shade), format!("{width:.1}"))).or_default();
            let ends = [solid.spine.0, solid.spine.1];
            let [a, b] = ends.map(|point| self.window.pixel(frame.poses[i].transform_point(point)));
            write!(path, "M{:.1} {:.1}L{:.1} {:.1}", a.0, a.1, b.0, b.1).expect("writing to a string");
        }
        for ((color, width), path) in paths {
            let style =
                format!("fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\" stroke-linecap=\"round\"");
            svg.raw(&format!("<path d=\"{path}\" {style}/>\n"));
        }
    }

    fn draw_solids(&self, svg: &mut Svg, frame: &Frame, ghost: bool) {
        for i in self.window.far_to_near(self.looks, frame) {
            let solid = &self.looks[i].solid;
            let points: Vec<DVec3> =
                solid.points.iter().map(|&p| frame.poses[i].transform_point(p)).collect();
            if ghost || solid.faces.is_empty() {
                self.draw_silhouette(svg, solid, &points, self.colors[i], ghost);
            } else {
                self.draw_faces(svg, solid, &points, self.colors[i]);
            }
        }
    }

    /// The outline of the points, grown by the radius; with a bright core where it is round.
    fn draw_silhouette(&self, svg: &mut Svg, solid: &Solid, points: &[DVec3], color: [f64; 3], ghost: bool) {
        let outline = hull(points.iter().map(|&point| self.window.pixel(point)).collect());
        let r = solid.radius * self.window.scale;
        let mut layer = |grow: f64, shade: f64, shift: f64| {
            let fill = css(color, shade);
            let width = number(2.0 * grow);
            if let (Some(first), Some(last), true) = (outline.first(), outline.last(), outline.len() < 3) {
                // A line without area, for a ball without length: the round ends make the shape.
                let [x, y] = [first.0 - shift, first.1 - shift].map(number);
                let [dx, dy] = [last.0 - first.0, last.1 - first.1].map(number);
                svg.raw(&format!(
                    "<path d=\"M{x} {y}l{dx} {dy}\" stroke=\"{fill}\" stroke-width=\"{width}\"/>\n"
                ));
                return;
            }
            let style = format!("fill=\"{fill}\" stroke=\"{fill}\" stroke-width=\"{width}\"");
            svg.polygon(outline.iter().map(|&(x, y)| (x - shift, y - shift)), &style);
        };
        if ghost {
            layer(r, 1.0, 0.0);
            return;
        }
        // A thin solid keeps a thin edge, or it would be all edge.
        layer(r + OUTLINE.min(0.12 * solid.thickness * self.window.scale), 0.62, 0.0);
        layer(r, 1.0, 0.0);
        if r > 2.0 {
            layer(0.45 * r, 1.22, 0.28 * r);
        }
    }

    /// The faces that look at the viewer, brighter the more they look up and towards the viewer.
    fn draw_faces(&self, svg: &mut Svg, solid: &Solid, points: &[DVec3], color: [f64; 3]) {
        let view = self.window.camera.view;
        let light = (view.toward + 0.9 * view.up - 0.4 * view.right).normalize();
        for face in &solid.faces {
            let [a, b, c] = [0, 1, 2].map(|i| points[face[i]]);
            let normal = (b - a).cross(c - b).normalize_or_zero();
            if normal.dot(view.toward) <= 0.0 {
                continue;
            }
            let fill = css(color, 0.62 + 0.5 * normal.dot(light).max(0.0));
            let style = format!("fill=\"{fill}\" stroke=\"{fill}\" stroke-width=\"0.7\"");
            svg.polygon(face.iter().map(|&i| self.window.pixel(points[i])), &style);
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use sinew_math::Pose;

    use super::draw;
    use crate::solid::Solid;
    use crate::stage::{Frame, Look};

    #[test]
    fn every_amount_of_frames_and_bodies_draws() {
        for (bodies, frames) in [(0, 0), (1, 1), (3, 2), (3, 100), (1000, 9)] {
            let look = Look { solid: Solid::capsule(0.1, 1.0), color: None };
            let pose = |i: usize, k: usize| Pose::from_translation(DVec3::new(i as f64, 0.0, k as f64));
            let frames: Vec<Frame> = (0..frames)
                .map(|k| Frame {
                    time: k as f64,
                    poses: (0..bodies).map(|i| pose(i, k)).collect(),
                    lines: vec![(DVec3::ZERO, DVec3::X)],
                })
                .collect();
            let svg = draw("film", "", &vec![look; bodies], &frames, DVec3::NEG_Z);
            assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf"));
        }
    }
}
