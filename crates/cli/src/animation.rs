//! The motion as an animated SVG that any browser plays in a loop, without scripts.
//!
//! Every solid is one path whose outline jumps from frame to frame (`<animate calcMode="discrete">`), drawn up to
//! three times in different widths and shades by `<use>`. With flesh, what hides what changes all the time: then every
//! frame is a picture of its own, and all but one are hidden. Programs that do not animate show the first frame.

use glam::DVec3;
use sinew_math::Pose;

use crate::figure::Figure;
use crate::solid::Solid;
use crate::stage::{
    Camera, Cast, Colors, Detail, Frame, MARGIN, Window, css, draw_backdrop, draw_head, finite, hull,
};
use crate::svg::{Svg, number, trace};

/// Points times frames beyond which frames are left out: about a megabyte and a half of text.
const BUDGET: usize = 120_000;
/// Bytes of all pictures of flesh together beyond which frames are left out.
const BYTES: usize = 1_700_000;

const WIDTH: f64 = 960.0;
const HEAD: f64 = 76.0;

/// Draws the animation; it plays in real time. `gravity` decides what is down.
pub(crate) fn draw(title: &str, subtitle: &str, cast: &Cast, frames: &[Frame], gravity: DVec3) -> String {
    let all = finite(frames);
    let camera = Camera::of_motion(cast, &all, gravity);
    let size = (WIDTH - 2.0 * MARGIN, (WIDTH - 2.0 * MARGIN) * camera.aspect().clamp(0.3, 0.75));
    let window = Window::fit(camera, (MARGIN, HEAD), size);
    let mut svg = Svg::new(WIDTH, HEAD + size.1 + MARGIN, title);
    draw_head(&mut svg, WIDTH, title, subtitle, window.scale);
    draw_backdrop(&mut svg, window.corner, window.size);
    let colors = Colors::of(cast);
    let figure = Figure { window, cast, colors: &colors };
    figure.draw_scenery(&mut svg, (window.corner, window.size), &all);
    if cast.flesh.is_empty() {
        draw_paths(&mut svg, &figure, &all);
    } else {
        draw_pictures(&mut svg, &figure, &all);
    }
    svg.finish()
}

/// Some of the frames, evenly spread, and how long (s) all of them are shown.
fn thinned<'f>(frames: &[&'f Frame], stride: usize) -> (Vec<&'f Frame>, f64) {
    let frames: Vec<&Frame> = frames.iter().step_by(stride.max(1)).copied().collect();
    let times = frames.first().zip(frames.last()).map_or(0.0, |(first, last)| last.time - first.time);
    // Every frame is shown equally long; the last one too, hence one interval more than there are differences.
    let intervals = frames.len().saturating_sub(1).max(1) as f64;
    (frames, (times * (intervals + 1.0) / intervals).max(1e-3))
}

/// Every solid as one path that moves.
fn draw_paths(svg: &mut Svg, figure: &Figure<'_>, frames: &[&Frame]) {
    let Figure { window, cast, colors } = figure;
    // A silhouette seldom has more than eight corners.
    let points: usize = cast.looks.iter().map(|look| look.solid.points.len().min(8)).sum();
    let (frames, duration) = thinned(frames, (frames.len() * points).div_ceil(BUDGET));
    let Some(middle) = frames.get(frames.len() / 2) else { return };
    for i in window.far_to_near(&cast.looks, middle) {
        let solid = &cast.looks[i].solid;
        let outlines: Vec<String> =
            frames.iter().map(|frame| outline(window, solid, &frame.poses[i])).collect();
        let id = format!("s{i}");
        svg.raw(&format!(
            "<defs><path id=\"{id}\" d=\"{}\" stroke-linejoin=\"round\" stroke-linecap=\"round\"><animate \
             attributeName=\"d\" dur=\"{duration:.3}s\" repeatCount=\"indefinite\" calcMode=\"discrete\" \
             values=\"{}\"/></path></defs>\n",
            outlines[0],
            outlines.join(";")
        ));
        draw_layers(svg, &id, window.scale * solid.radius, colors.looks[i]);
    }
}

/// Every frame as a picture of its own, seen one after the other, equally long.
fn draw_pictures(svg: &mut Svg, figure: &Figure<'_>, frames: &[&Frame]) {
    let draw = |svg: &mut Svg, frame: &Frame| {
        figure.draw_shadows(svg, (figure.window.corner, figure.window.size), frame);
        figure.draw_pose(svg, frame, Detail::Animation);
        figure.draw_strings(svg, frame);
    };
    let Some(middle) = frames.get(frames.len() / 2) else { return };
    let mut sample = Svg::new(0.0, 0.0, "");
    draw(&mut sample, middle);
    let (frames, duration) = thinned(frames, (frames.len() * sample.finish().len()).div_ceil(BYTES));
    let n = frames.len();
    for (i, frame) in frames.into_iter().enumerate() {
        let [from, to] = [i, i + 1].map(|i| format!("{:.5}", i as f64 / n as f64));
        let (base, values, times) = match i {
            0 => ("visible", "visible;hidden", format!("0;{to}")),
            _ => ("hidden", "hidden;visible;hidden", format!("0;{from};{to}")),
        };
        svg.open_group(&format!("visibility=\"{base}\""));
        if n > 1 {
            svg.raw(&format!(
                "<animate attributeName=\"visibility\" dur=\"{duration:.3}s\" repeatCount=\"indefinite\" \
                 calcMode=\"discrete\" values=\"{values}\" keyTimes=\"{times}\"/>\n"
            ));
        }
        draw(svg, frame);
        svg.close_group();
    }
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
    trace(&mut path, corners);
    path.push('z');
    path
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use sinew_math::Pose;

    use super::draw;
    use crate::solid::Solid;
    use crate::stage::{Cast, Frame, Look};

    #[test]
    fn one_outline_per_frame_within_the_budget() {
        let look = Look { solid: Solid::cuboid(DVec3::ONE), color: None, is_bone: false };
        for (bodies, frames, wanted) in [(1, 1, 1), (2, 30, 30), (900, 300, 17)] {
            let pose = |k: i32| Pose::from_translation(DVec3::X * f64::from(k));
            let film: Vec<Frame> = (0..frames)
                .map(|k| Frame { time: f64::from(k), poses: vec![pose(k); bodies], ..Frame::default() })
                .collect();
            let cast = Cast { looks: vec![look.clone(); bodies], ..Cast::default() };
            let svg = draw("a", "", &cast, &film, DVec3::NEG_Z);
            let values = svg.split("values=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
            assert_eq!(values.split(';').count(), wanted);
            assert!(!svg.contains("NaN"));
        }
        assert!(draw("a", "", &Cast::default(), &[], DVec3::ZERO).ends_with("</svg>\n"));
    }
}
