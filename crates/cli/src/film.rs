//! A filmstrip of the motion as SVG: the pose at equal intervals, with the poses on the way as fading ghosts.
//!
//! All panels share one orthographic view and one scale. Flat faces are shaded by their slant; a body drawn far away
//! comes before one that is near. Scenes with very many bodies are drawn as one line per body.

use std::fmt::Write as _;

use glam::DVec3;

use crate::solid::Solid;
use crate::stage::{Camera, Frame, Look, MARGIN, SOFT_INK, Window, colors, css, draw_head, finite, hull};
use crate::svg::{Anchor, Svg, number};

/// Panels of a film, and ghosts in each.
const PANELS: usize = 8;
const GHOSTS: usize = 6;
/// Beyond this number of bodies each is drawn as a line, and beyond `LINES` some are left out.
const SOLIDS: usize = 300;
const LINES: usize = 3000;

const WIDTH: f64 = 1200.0;
const GAP: f64 = 12.0;
const HEAD: f64 = 76.0;

/// Draws the film. `gravity` decides what is down.
pub(crate) fn draw(title: &str, subtitle: &str, looks: &[Look], frames: &[Frame], gravity: DVec3) -> String {
    let frames = finite(frames);
    let camera = Camera::of_motion(looks, &frames, gravity);
    let layout = Layout::nearest_to_wide_screen(camera.aspect());
    let mut svg = Svg::new(WIDTH, layout.height, title);
    let window = |panel: usize| Window::fit(camera, layout.corner(panel), layout.panel);
    draw_head(&mut svg, WIDTH, title, subtitle, window(0).scale);
    let Some(last) = frames.len().checked_sub(1) else { return svg.finish() };
    let colors = colors(looks);
    for panel in 0..PANELS {
        let now = panel * last / (PANELS - 1);
        let before = panel.saturating_sub(1) * last / (PANELS - 1);
        let scene = Scene { window: window(panel), looks, colors: &colors };
        scene.draw_background(&mut svg, frames[now].time);
        scene.draw_trail(&mut svg, &frames[before..=now]);
        let ghosts = GHOSTS.min((now - before).saturating_sub(1));
        for k in 0..ghosts {
            let at = before + (k + 1) * (now - before) / (ghosts + 1);
            let opacity = 0.08 + 0.22 * (k as f64 + 1.0) / (ghosts as f64 + 1.0);
            scene.draw_pose(&mut svg, frames[at], Some(opacity));
        }
        scene.draw_pose(&mut svg, frames[now], None);
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
            let tall = width * aspect.clamp(0.35, 2.6);
            Self { columns, panel: (width, tall), height: HEAD + rows * (tall + GAP) - GAP + MARGIN }
        };
        let shape = |layout: &Self| (layout.height / WIDTH - 9.0 / 16.0).abs();
        [8, 4, 2].map(build).into_iter().min_by(|a, b| shape(a).total_cmp(&shape(b))).expect("three candidates")
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
    fn draw_background(&self, svg: &mut Svg, time: f64) {
        let (x, y) = self.window.corner;
        self.window.draw_backdrop(svg);
        let soft = format!("fill=\"{SOFT_INK}\"");
        svg.text((x + 12.0, y + 22.0), Anchor::Start, 13.0, &soft, &format!("{time:.2} s"));
    }

    /// The path of the body that moves most between the panels.
    fn draw_trail(&self, svg: &mut Svg, frames: &[&Frame]) {
        let length = |body: usize| -> f64 {
            let step = |pair: &[&Frame]| pair[0].poses[body].translation.distance(pair[1].poses[body].translation);
            frames.windows(2).map(step).sum()
        };
        let Some(body) = (0..self.looks.len()).max_by(|&a, &b| length(a).total_cmp(&length(b))) else { return };
        let points = frames.iter().map(|frame| self.window.pixel(frame.poses[body].translation));
        let dots = "fill=\"none\" stroke=\"#98a1ad\" stroke-width=\"1.2\" stroke-dasharray=\"1 4\"";
        svg.polyline(points, &format!("{dots} stroke-linecap=\"round\""));
    }

    /// One pose: solid, or a ghost of the given opacity.
    fn draw_pose(&self, svg: &mut Svg, frame: &Frame, ghost: Option<f64>) {
        if let Some(opacity) = ghost {
            svg.open_group(&format!("opacity=\"{opacity:.2}\""));
        }
        if self.looks.len() > SOLIDS {
            self.draw_lines(svg, frame);
        } else {
            self.draw_solids(svg, frame, ghost.is_some());
        }
        if ghost.is_some() {
            svg.close_group();
        }
    }

    /// One line per body, grouped by colour.
    fn draw_lines(&self, svg: &mut Svg, frame: &Frame) {
        let stride = self.looks.len().div_ceil(LINES);
        let bucket = self.looks.len().div_ceil(24);
        for start in (0..self.looks.len()).step_by(bucket) {
            let mut path = String::new();
            for body in (start..(start + bucket).min(self.looks.len())).step_by(stride) {
                for solid in &self.looks[body].solids {
                    let (a, b) = solid.spine();
                    let [a, b] = [a, b].map(|point| self.window.pixel(frame.poses[body].transform_point(point)));
                    write!(path, "M{:.1} {:.1}L{:.1} {:.1}", a.0, a.1, b.0, b.1).expect("writing to a string");
                }
            }
            let color = css(self.colors[start], 1.0);
            let style = "fill=\"none\" stroke-width=\"1.4\" stroke-linecap=\"round\"";
            svg.raw(&format!("<path d=\"{path}\" stroke=\"{color}\" {style}/>\n"));
        }
    }

    fn draw_solids(&self, svg: &mut Svg, frame: &Frame, ghost: bool) {
        for (body, solid) in self.window.far_to_near(self.looks, frame) {
            let pose = &frame.poses[body];
            let points: Vec<DVec3> = solid.points.iter().map(|&point| pose.transform_point(point)).collect();
            if ghost || solid.faces.is_empty() {
                self.draw_silhouette(svg, &points, solid.radius, self.colors[body], ghost);
            } else {
                self.draw_faces(svg, solid, &points, self.colors[body]);
            }
        }
    }

    /// The outline of the points, grown by the radius; with a bright core where it is round.
    fn draw_silhouette(&self, svg: &mut Svg, points: &[DVec3], radius: f64, color: [f64; 3], ghost: bool) {
        let outline = hull(points.iter().map(|&point| self.window.pixel(point)).collect());
        let r = radius * self.window.scale;
        let mut layer = |grow: f64, shade: f64, shift: f64| {
            let fill = css(color, shade);
            if outline.len() == 1 {
                svg.circle((outline[0].0 - shift, outline[0].1 - shift), grow, &format!("fill=\"{fill}\""));
                return;
            }
            let round = "stroke-linejoin=\"round\" stroke-linecap=\"round\"";
            let style = format!("fill=\"{fill}\" stroke=\"{fill}\" stroke-width=\"{}\" {round}", number(2.0 * grow));
            svg.polygon(outline.iter().map(|&(x, y)| (x - shift, y - shift)), &style);
        };
        if ghost {
            layer(r, 1.0, 0.0);
            return;
        }
        layer(r + 0.6, 0.62, 0.0);
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
            let style = format!("fill=\"{fill}\" stroke=\"{fill}\" stroke-width=\"0.7\" stroke-linejoin=\"round\"");
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
            let look = Look { solids: vec![Solid::capsule(0.1, 1.0)], color: None };
            let pose = |i: usize, k: usize| Pose::from_translation(DVec3::new(i as f64, 0.0, k as f64));
            let frames: Vec<Frame> = (0..frames)
                .map(|k| Frame { time: k as f64, poses: (0..bodies).map(|i| pose(i, k)).collect() })
                .collect();
            let svg = draw("film", "", &vec![look; bodies], &frames, DVec3::NEG_Z);
            assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf"));
        }
    }
}
