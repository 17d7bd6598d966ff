//! One pose of everything, as SVG.
//!
//! Flat faces are shaded by their slant; what is far away comes before what is near. Scenes with very many bodies are
//! drawn as one thick line per body. Flesh is drawn triangle by triangle, those that look away left out, together with
//! the solids outside it; bones come last, as if seen through the flesh.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use glam::DVec3;
use sinew_math::Pose;

use crate::skin::Skin;
use crate::solid::Solid;
use crate::stage::{Cast, Colors, Detail, Frame, INK, Window, css, hull};
use crate::svg::{Svg, number, trace};

/// Beyond so many solids ghosts are thick lines and fewer, beyond `SOLIDS` all are, beyond `LINES` some are left out.
pub(crate) const GHOST_SOLIDS: usize = 120;
const SOLIDS: usize = 600;
const LINES: usize = 2000;

/// Width of the dark edge of a solid, in pixels.
const OUTLINE: f64 = 0.6;
/// How clearly bones are seen through flesh.
const BONES: f64 = 0.4;
/// Layers from far to near among which triangles are put in order; within one, those of one shade share a path.
const STRATA: f64 = 24.0;
/// Shades of one colour.
const SHADES: f64 = 32.0;

/// Everything in one window.
pub(crate) struct Figure<'a> {
    pub(crate) window: Window,
    pub(crate) cast: &'a Cast,
    pub(crate) colors: &'a Colors,
}

/// Something to put in order by depth.
enum Piece {
    Face([(f64, f64); 3]),
    Contour([(f64, f64); 2]),
    Solid(usize),
}

impl Figure<'_> {
    /// The path of the solid or flesh that moves most in these frames.
    pub(crate) fn draw_trail(&self, svg: &mut Svg, frames: &[&Frame]) {
        let middles: Vec<Vec<DVec3>> = frames.iter().map(|frame| frame.middles()).collect();
        let length =
            |i: usize| -> f64 { middles.windows(2).map(|pair| pair[0][i].distance(pair[1][i])).sum() };
        let n = self.cast.looks.len() + self.cast.flesh.len();
        let Some(most) = (0..n).max_by(|&a, &b| length(a).total_cmp(&length(b))) else {
            return;
        };
        let points = middles.iter().map(|middles| self.window.pixel(middles[most]));
        let dots = "fill=\"none\" stroke=\"#98a1ad\" stroke-width=\"1.2\" stroke-dasharray=\"1 4\"";
        svg.polyline(points, &format!("{dots} stroke-linecap=\"round\""));
    }

    /// Springs and holds: a thin line with a dot at the end that pulls.
    pub(crate) fn draw_strings(&self, svg: &mut Svg, frame: &Frame) {
        for &(from, to) in &frame.lines {
            let (from, to) = (self.window.pixel(from), self.window.pixel(to));
            svg.line(from, to, INK, 0.9);
            svg.circle(to, 2.2, &format!("fill=\"{INK}\""));
        }
    }

    /// One pose.
    pub(crate) fn draw_pose(&self, svg: &mut Svg, frame: &Frame, detail: Detail) {
        svg.open_group(&format!("{GROUP} stroke-width=\"0.7\""));
        let looks = &self.cast.looks;
        let (bones, others): (Vec<usize>, Vec<usize>) = if looks.len() <= SOLIDS {
            self.window.far_to_near(looks, frame).into_iter().partition(|&i| looks[i].is_bone)
        } else {
            self.draw_lines(svg, frame, OUTLINE, 0.62);
            self.draw_lines(svg, frame, 0.0, 1.0);
            Default::default()
        };
        self.draw_pieces(svg, frame, detail, &others);
        svg.close_group();
        if !bones.is_empty() {
            svg.open_group(&format!("{GROUP} opacity=\"{BONES}\""));
            bones.iter().for_each(|&i| self.draw_look(svg, i, frame, false));
            svg.close_group();
        }
    }

    /// One pose as a ghost of the given opacity.
    pub(crate) fn draw_ghost(&self, svg: &mut Svg, frame: &Frame, opacity: f64) {
        svg.open_group(&format!("{GROUP} stroke-width=\"0.7\" opacity=\"{opacity:.2}\""));
        let looks = &self.cast.looks;
        if looks.len() <= GHOST_SOLIDS {
            let order = self.window.far_to_near(looks, frame);
            order
                .into_iter()
                .filter(|&i| !looks[i].is_bone)
                .for_each(|i| self.draw_look(svg, i, frame, true));
        } else {
            self.draw_lines(svg, frame, 0.0, 1.0);
        }
        for ((skin, points), color) in self.surfaces(frame, Detail::Ghost).zip(&self.colors.flesh) {
            let fill = css(*color, 1.0);
            let path = self.flat(skin, &points, self.window.camera.view.toward);
            svg.raw(&format!("<path d=\"{path}\" fill=\"{fill}\" stroke=\"{fill}\"/>\n"));
        }
        svg.close_group();
    }

    /// The surface of every body of flesh.
    pub(crate) fn surfaces<'f>(
        &'f self,
        frame: &'f Frame,
        detail: Detail,
    ) -> impl Iterator<Item = (&'f Skin, Vec<DVec3>)> {
        self.cast.flesh.iter().zip(&frame.skins).map(move |(flesh, points)| {
            let skin = &flesh.skins[detail as usize];
            (skin, if detail == Detail::Film { points.clone() } else { skin.place(points) })
        })
    }

    /// The triangles that look in a direction, as one path without shades.
    pub(crate) fn flat(&self, skin: &Skin, points: &[DVec3], toward: DVec3) -> String {
        let mut path = String::new();
        for triangle in &skin.triangles {
            let [a, b, c] = triangle.map(|i| points[i as usize]);
            if (b - a).cross(c - a).dot(toward) > 0.0 {
                trace(&mut path, [a, b, c].map(|point| self.window.pixel(point)));
                path.push('z');
            }
        }
        path
    }

    /// Flesh, and the solids outside it, from far to near.
    fn draw_pieces(&self, svg: &mut Svg, frame: &Frame, detail: Detail, solids: &[usize]) {
        let view = self.window.camera.view;
        let mut pieces: Vec<(f64, String, Piece)> = Vec::new();
        for &i in solids {
            pieces.push((
                self.window.depth(&self.cast.looks[i], &frame.poses[i]),
                String::new(),
                Piece::Solid(i),
            ));
        }
        for ((skin, points), &color) in self.surfaces(frame, detail).zip(&self.colors.flesh) {
            let pixels: Vec<(f64, f64)> = points.iter().map(|&point| self.window.pixel(point)).collect();
            let mut depths = Vec::with_capacity(skin.triangles.len());
            for triangle in &skin.triangles {
                let [a, b, c] = triangle.map(|i| points[i as usize]);
                let depth = (a + b + c).dot(view.toward) / 3.0;
                let shade = self.shade((b - a).cross(c - a));
                depths.push(shade.map(|_| depth));
                if let Some(shade) = shade {
                    let fill = css(color, (SHADES * shade).round() / SHADES);
                    pieces.push((depth, fill, Piece::Face(triangle.map(|i| pixels[i as usize]))));
                }
            }
            let edge = css(color, 0.55);
            for (ends, sides) in &skin.edges {
                let mut seen = sides.iter().filter_map(|&side| depths[side as usize]);
                if let (Some(depth), None) = (seen.next(), seen.next()) {
                    pieces.push((depth, edge.clone(), Piece::Contour(ends.map(|i| pixels[i as usize]))));
                }
            }
        }
        let range = pieces.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), piece| {
            (low.min(piece.0), high.max(piece.0))
        });
        let flesh = !self.cast.flesh.is_empty();
        let stratum = |depth: f64| {
            // Solids alone keep their exact order.
            if flesh { (STRATA * (depth - range.0) / (range.1 - range.0).max(1e-9)).floor() } else { 0.0 }
        };
        let rank = |piece: &Piece| match piece {
            Piece::Face(_) => 0,
            Piece::Contour(_) => 1,
            Piece::Solid(_) => 2,
        };
        pieces.sort_by(|a, b| {
            stratum(a.0).total_cmp(&stratum(b.0)).then(rank(&a.2).cmp(&rank(&b.2))).then(a.1.cmp(&b.1))
        });
        let mut last = 0;
        while last < pieces.len() {
            let first = last;
            let (_, color, kind) = &pieces[first];
            let same = |piece: &&(f64, String, Piece)| piece.1 == *color && rank(&piece.2) == rank(kind);
            last += pieces[first..].iter().take_while(same).count();
            let mut path = String::new();
            for (_, _, piece) in &pieces[first..last] {
                match piece {
                    Piece::Solid(i) => self.draw_look(svg, *i, frame, false),
                    Piece::Contour(ends) => trace(&mut path, *ends),
                    Piece::Face(corners) => {
                        trace(&mut path, *corners);
                        path.push('z');
                    }
                }
            }
            match kind {
                Piece::Solid(_) => {}
                Piece::Contour(_) => svg.raw(&format!("<path d=\"{path}\" stroke=\"{color}\"/>\n")),
                Piece::Face(_) => {
                    svg.raw(&format!("<path d=\"{path}\" fill=\"{color}\" stroke=\"{color}\"/>\n"));
                }
            }
        }
    }

    /// How bright a face with this normal is: the brighter the more it looks up and towards the viewer; `None` if it
    /// looks away.
    pub(crate) fn shade(&self, normal: DVec3) -> Option<f64> {
        let view = self.window.camera.view;
        let normal = normal.normalize_or_zero();
        let light = (view.toward + 0.9 * view.up - 0.4 * view.right).normalize();
        (normal.dot(view.toward) > 0.0).then(|| 0.62 + 0.5 * normal.dot(light).max(0.0))
    }

    /// One thick line per body, grown by some pixels; neighbours of one colour and width share a path.
    fn draw_lines(&self, svg: &mut Svg, frame: &Frame, grow: f64, shade: f64) {
        let stride = self.cast.looks.len().div_ceil(LINES);
        let mut paths: BTreeMap<(String, String), String> = BTreeMap::new();
        for i in (0..self.cast.looks.len()).step_by(stride) {
            let solid = &self.cast.looks[i].solid;
            let width = (solid.thickness * self.window.scale).max(1.2) + 2.0 * grow;
            // Few steps of colour, so that long chains make few paths.
            let color = self.colors.looks[i].map(|part| (part * 24.0).round() / 24.0);
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

    fn draw_look(&self, svg: &mut Svg, i: usize, frame: &Frame, ghost: bool) {
        self.draw_solid(svg, &self.cast.looks[i].solid, &frame.poses[i], self.colors.looks[i], ghost);
    }

    /// A solid; as a ghost, its silhouette.
    pub(crate) fn draw_solid(&self, svg: &mut Svg, solid: &Solid, pose: &Pose, color: [f64; 3], ghost: bool) {
        let points: Vec<DVec3> = solid.points.iter().map(|&p| pose.transform_point(p)).collect();
        if ghost || solid.faces.is_empty() {
            self.draw_silhouette(svg, solid, &points, color, ghost);
        } else {
            self.draw_faces(svg, solid, &points, color);
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
        for face in &solid.faces {
            let [a, b, c] = [0, 1, 2].map(|i| points[face[i]]);
            let Some(shade) = self.shade((b - a).cross(c - b)) else { continue };
            let fill = css(color, shade);
            let style = format!("fill=\"{fill}\" stroke=\"{fill}\" stroke-width=\"0.7\"");
            svg.polygon(face.iter().map(|&i| self.window.pixel(points[i])), &style);
        }
    }
}

/// Attributes of a group of solids.
const GROUP: &str = "fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"round\"";

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use sinew_math::Pose;

    use super::Figure;
    use crate::skin::Skin;
    use crate::solid::Solid;
    use crate::stage::{Camera, Cast, Colors, Detail, Flesh, Frame, Look, Window};
    use crate::svg::Svg;

    /// A tetrahedron with edges of about a metre.
    const CORNERS: [DVec3; 4] = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    const FACES: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

    fn drawn(cast: &Cast, frame: &Frame, detail: Detail) -> String {
        let colors = Colors::of(cast);
        let camera = Camera::of_motion(cast, &[frame], DVec3::NEG_Z);
        let window = Window::fit(camera, (0.0, 0.0), (400.0, 400.0));
        for &point in frame.skins.iter().flatten() {
            let (x, y) = window.pixel(point);
            assert!((0.0..=400.0).contains(&x) && (0.0..=400.0).contains(&y), "{point} is out of sight");
        }
        let mut svg = Svg::new(400.0, 400.0, "");
        Figure { window, cast, colors: &colors }.draw_pose(&mut svg, frame, detail);
        svg.finish()
    }

    #[test]
    fn what_is_near_hides_what_is_far() {
        let flesh = |color: DVec3| Flesh {
            skins: [(); 3].map(|()| Skin::within(99, &[(&CORNERS, &FACES)]).remove(0)),
            color: Some(color),
        };
        let look = Look { solid: Solid::ball(0.3), color: Some(DVec3::Y), is_bone: false };
        let flesh = vec![flesh(DVec3::X), flesh(DVec3::Z)];
        let cast = Cast { looks: vec![look; 2], flesh, ..Cast::default() };
        // Balls are far apart along x, so that the viewer stands at negative y.
        let at = |y: f64| CORNERS.map(|x| x + DVec3::Y * y).to_vec();
        for side in [-2.0, 2.0] {
            let poses = [-20.0, 20.0].map(|x| Pose::from_translation(DVec3::X * x)).to_vec();
            let frame = Frame { poses, skins: vec![at(side), at(-side)], ..Frame::default() };
            for detail in [Detail::Film, Detail::Animation] {
                let svg = drawn(&cast, &frame, detail);
                let is = |channel: usize| {
                    // Fills of one channel only: red, green and blue things.
                    let mut places = svg.match_indices("fill=\"#").filter_map(|(at, _)| {
                        let parts = [0, 2, 4].map(|i| &svg[at + 7 + i..at + 9 + i] != "00");
                        (parts[channel] && parts.iter().filter(|lit| **lit).count() == 1).then_some(at)
                    });
                    places.next().expect("something of every colour")
                };
                let [red, blue] = [0, 2].map(is);
                assert_eq!(red < blue, side > 0.0, "the far one comes first");
                assert!(!svg.contains("NaN"));
            }
        }
    }

    #[test]
    fn bones_come_last_and_are_seen_through() {
        let skins = [(); 3].map(|()| Skin::within(99, &[(&CORNERS, &FACES)]).remove(0));
        let look = Look { solid: Solid::ball(0.1), color: None, is_bone: true };
        let cast = Cast { looks: vec![look], flesh: vec![Flesh { skins, color: None }], ..Cast::default() };
        let frame = Frame {
            poses: vec![Pose::from_translation(DVec3::splat(0.2))],
            skins: vec![CORNERS.to_vec()],
            ..Frame::default()
        };
        let svg = drawn(&cast, &frame, Detail::Film);
        let group = svg.find("opacity=").expect("a group that lets flesh through");
        assert!(svg.rfind('z').is_some_and(|last_face| last_face < group), "{svg}");
    }
}
