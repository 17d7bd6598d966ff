//! The motion as an animated SVG that any browser plays in a loop, without scripts.
//!
//! Every solid is one path whose outline jumps from frame to frame (`<animate calcMode="discrete">`), drawn up to
//! three times in different widths and shades by `<use>`. Programs that do not animate show the first frame.

use std::fmt::Write as _;

use glam::DVec3;
use sinew_math::Pose;

use crate::solid::Solid;
use crate::stage::{
    Camera, Frame, Look, MARGIN, Window, colors, css, draw_backdrop, draw_head, finite, hull,
};
use crate::svg::{Svg, number};

/// Points times frames beyond which frames are left out: about a megabyte and a half of text.
const BUDGET: usize = 120_000;

const WIDTH: f64 = 960.0;
const HEAD: f64 = 76.0;

/// Draws the animation; it plays in real time. `gravity` decides what is down.
pub(crate) fn draw(title: &str, subtitle: &str, looks: &[Look], frames: &[Frame], gravity: DVec3) -> String {
    let all = finite(frames);
    let camera = Camera::of_motion(looks, &all, gravity);
    // A silhouette seldom has more than eight corners.
    let points: usize = looks.iter().map(|look| look.solid.points.len().min(8)).sum();
    let stride = (all.len() * points).div_ceil(BUDGET).max(1);
    let frames: Vec<&Frame> = all.into_iter().step_by(stride).collect();
    let size = (WIDTH - 2.0 * MARGIN, (WIDTH - 2.0 * MARGIN) * camera.aspect().clamp(0.3, 0.75));
    let window = Window::fit(camera, (MARGIN, HEAD), size);
    let mut svg = Svg::new(WIDTH, HEAD + size.1 + MARGIN, title);
    draw_head(&mut svg, WIDTH, title, subtitle, window.scale);
    draw_backdrop(&mut svg, window.corner, window.size);
    let (Some(first), Some(last)) = (frames.first(), frames.last()) else { return svg.finish() };
    // Every frame is shown equally long; the last one too, hence one interval more than there are differences.
    let intervals = (frames.len() - 1).max(1) as f64;
    let duration = ((last.time - first.time) * (intervals + 1.0) / intervals).max(1e-3);
    let colors = colors(looks);
    for i in window.far_to_near(looks, frames[frames.len() / 2]) {
        let solid = &looks[i].solid;
        let outlines: Vec<String> =
            frames.iter().map(|frame| outline(&window, solid, &frame.poses[i])).collect();
        let id = format!("s{i}");
        svg.raw(&format!(
            "<defs><path id=\"{id}\" d=\"{}\" stroke-linejoin=\"round\" stroke-linecap=\"round\"><animate \
             attributeName=\"d\" dur=\"{duration:.3}s\" repeatCount=\"indefinite\" calcMode=\"discrete\" \
             values=\"{}\"/></path></defs>\n",
            outlines[0],
            outlines.join(";")
        ));
        draw_layers(&mut svg, &id, window.scale * solid.radius, colors[i]);
    }
    svg.finish()
}

/// The path `id` in a dark outline, its own colour and, if it is round, a bright core. `r` is in pixels.
fn draw_layers(svg: &mut Svg, id: &str, r: f64, color: [f64; 3]) {
    let mut layer = |grow: f64, shade: f64, shift: f64| {
        let (fill, width, shift) = (css(color, shade), number(2.0 * grow), number(-shift));
        let moved =
            if shift == "0" { String::new() } else { format!(" transform=\"translate({shift} {shift})\"") };
        svg.raw(&format!(
            "<use href=\"#{id}\" fill=\"{fill}\" stroke=\"{fill}\" stroke-width=\"{width}\"{moved}/>\n"
        ));
    };
    layer(r + 0.7, 0.62, 0.0);
    layer(r, 1.0, 0.0);
    if r > 2.0 {
        layer(0.45 * r, 1.22, 0.28 * r);
    }
}

/// The silhouette of a solid as path data; a ball is a line of length zero, which round caps make a disc.
fn outline(window: &Window, solid: &Solid, pose: &Pose) -> String {
    let corners = hull(solid.points.iter().map(|&point| window.pixel(pose.transform_point(point))).collect());
    let mut path = String::new();
    let mut last = (0.0, 0.0);
    for (i, corner) in corners.into_iter().enumerate() {
        // Tenths of a pixel, relative after the first point: rounding first keeps the outline closed.
        let at = ((10.0 * corner.0).round(), (10.0 * corner.1).round());
        let mark = if i == 0 { 'M' } else { 'l' };
        let step = [at.0 - last.0, at.1 - last.1].map(|tenths| number(0.1 * tenths));
        write!(path, "{mark}{} {}", step[0], step[1]).expect("writing to a string");
        last = at;
    }
    path.push('z');
    path
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use sinew_math::Pose;

    use super::draw;
    use crate::solid::Solid;
    use crate::stage::{Frame, Look};

    #[test]
    fn one_outline_per_frame_within_the_budget() {
        let look = Look { solid: Solid::cuboid(DVec3::ONE), color: None };
        for (bodies, frames, wanted) in [(1, 1, 1), (2, 30, 30), (900, 300, 17)] {
            let pose = |k: i32| Pose::from_translation(DVec3::X * f64::from(k));
            let film: Vec<Frame> = (0..frames)
                .map(|k| Frame { time: f64::from(k), poses: vec![pose(k); bodies], lines: Vec::new() })
                .collect();
            let svg = draw("a", "", &vec![look.clone(); bodies], &film, DVec3::NEG_Z);
            let values = svg.split("values=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
            assert_eq!(values.split(';').count(), wanted);
            assert!(!svg.contains("NaN"));
        }
        assert!(draw("a", "", &[], &[], DVec3::ZERO).ends_with("</svg>\n"));
    }
}
