//! A filmstrip of the motion as SVG: the pose at equal intervals, with the poses on the way as fading ghosts.
//!
//! All panels share one orthographic view and one scale. What a pose looks like is said in `figure`.

use glam::DVec3;

use crate::figure::{Figure, GHOST_SOLIDS};
use crate::stage::{
    Camera, Cast, Colors, Detail, Frame, MARGIN, SOFT_INK, Window, draw_backdrop, draw_head, finite,
};
use crate::svg::{Anchor, Svg};

/// Panels of a film, and ghosts in each.
const PANELS: usize = 8;
const GHOSTS: usize = 6;

const WIDTH: f64 = 1200.0;
const GAP: f64 = 12.0;
const HEAD: f64 = 76.0;
/// Height of the strip with the time, in each panel.
const LABEL: f64 = 28.0;

/// Draws the film. `gravity` decides what is down.
pub(crate) fn draw(title: &str, subtitle: &str, cast: &Cast, frames: &[Frame], gravity: DVec3) -> String {
    let frames = finite(frames);
    let camera = Camera::of_motion(cast, &frames, gravity);
    let layout = Layout::nearest_to_wide_screen(camera.aspect());
    let mut svg = Svg::new(WIDTH, layout.height, title);
    let window = |panel: usize| {
        let (x, y) = layout.corner(panel);
        Window::fit(camera, (x, y + LABEL), (layout.panel.0, layout.panel.1 - LABEL))
    };
    draw_head(&mut svg, WIDTH, title, subtitle, window(0).scale);
    let Some(last) = frames.len().checked_sub(1) else { return svg.finish() };
    let colors = Colors::of(cast);
    for panel in 0..PANELS {
        let now = panel * last / (PANELS - 1);
        let before = panel.saturating_sub(1) * last / (PANELS - 1);
        let figure = Figure { window: window(panel), cast, colors: &colors };
        draw_backdrop(&mut svg, layout.corner(panel), layout.panel);
        figure.draw_scenery(&mut svg, (layout.corner(panel), layout.panel), &frames);
        figure.draw_shadows(&mut svg, (layout.corner(panel), layout.panel), frames[now]);
        let (x, y) = layout.corner(panel);
        let time = format!("{:.2} s", frames[now].time);
        svg.text((x + 12.0, y + 22.0), Anchor::Start, 13.0, &format!("fill=\"{SOFT_INK}\""), &time);
        figure.draw_trail(&mut svg, &frames[before..=now]);
        let many = cast.looks.len() > GHOST_SOLIDS || !cast.flesh.is_empty();
        let most = if many { GHOSTS / 2 } else { GHOSTS };
        let ghosts = most.min((now - before).saturating_sub(1));
        for k in 0..ghosts {
            let at = before + (k + 1) * (now - before) / (ghosts + 1);
            let opacity = 0.08 + 0.22 * (k as f64 + 1.0) / (ghosts as f64 + 1.0);
            figure.draw_ghost(&mut svg, frames[at], opacity);
        }
        figure.draw_pose(&mut svg, frames[now], Detail::Film);
        figure.draw_strings(&mut svg, frames[now]);
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

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use sinew_math::Pose;

    use super::draw;
    use crate::solid::Solid;
    use crate::stage::{Cast, Frame, Look};

    #[test]
    fn every_amount_of_frames_and_bodies_draws() {
        for (bodies, frames) in [(0, 0), (1, 1), (3, 2), (3, 100), (1000, 9)] {
            let look = Look { solid: Solid::capsule(0.1, 1.0), color: None, is_bone: false };
            let cast = Cast { looks: vec![look; bodies], ..Cast::default() };
            let pose = |i: usize, k: usize| Pose::from_translation(DVec3::new(i as f64, 0.0, k as f64));
            let frames: Vec<Frame> = (0..frames)
                .map(|k| Frame {
                    time: k as f64,
                    poses: (0..bodies).map(|i| pose(i, k)).collect(),
                    lines: vec![(DVec3::ZERO, DVec3::X)],
                    ..Frame::default()
                })
                .collect();
            let svg = draw("film", "", &cast, &frames, DVec3::NEG_Z);
            assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf"));
        }
    }
}
