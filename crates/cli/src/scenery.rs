//! What the world is made of: planes, height fields and solids that can be touched, and shadows on the ground.
//!
//! Scenery is drawn before everything else, whatever it would hide: what moves is what is looked at. A plane is drawn from
//! a line behind everything towards the viewer without end.

use glam::DVec3;
use sinew_math::Pose;
use sinew_scene::{ColliderShapeDoc, SceneDoc, ShapeDoc};

use crate::figure::{Figure, GHOST_SOLIDS};
use crate::solid::Solid;
use crate::stage::{Detail, Frame, INK, css, hull};
use crate::svg::{Svg, number, trace};

/// Colours of planes, of their far edges, and of everything else.
const PLANE: &str = "#e7eaef";
const EDGE: &str = "#d3d9e1";
const STONE: [f64; 3] = [0.78, 0.81, 0.85];
/// Cells along each side of a height field beyond which some are left out.
const CELLS: usize = 40;

/// A rectangle of the page: upper left corner and size, in pixels.
type Panel = ((f64, f64), (f64, f64));

/// Colliders of the world.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scenery {
    /// A point, and the direction where it is free, of length 1.
    planes: Vec<(DVec3, DVec3)>,
    solids: Vec<(Solid, Pose)>,
    /// Triangles of height fields.
    ground: Vec<[DVec3; 3]>,
}

impl Scenery {
    /// That of a scene with its generators written out.
    pub(crate) fn of(scene: &SceneDoc) -> Self {
        let mut scenery = Self::default();
        for collider in scene.colliders.iter().filter(|collider| collider.body == "world") {
            match &collider.shape {
                ColliderShapeDoc::Plane { point, normal } => {
                    scenery.planes.push((*point, normal.normalize_or(DVec3::Z)));
                }
                ColliderShapeDoc::Solid(shape) => {
                    scenery.solids.push((to_solid(shape), shape.at().to_pose()));
                }
                ColliderShapeDoc::HeightField { at, size, heights } => {
                    scenery.ground.extend(triangles(&at.to_pose(), *size, heights));
                }
                ColliderShapeDoc::OfBody => {}
            }
        }
        scenery
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.planes.is_empty() && self.solids.is_empty() && self.ground.is_empty()
    }
}

fn to_solid(shape: &ShapeDoc) -> Solid {
    match shape {
        ShapeDoc::Box(doc) => Solid::cuboid(doc.size),
        ShapeDoc::Sphere(doc) => Solid::ball(doc.radius),
        ShapeDoc::Capsule(doc) => Solid::capsule(doc.radius, doc.length),
        ShapeDoc::Cylinder(doc) => Solid::cylinder(doc.radius, doc.length),
        ShapeDoc::Ellipsoid(doc) => Solid::ellipsoid(doc.semi_axes),
    }
}

/// Two triangles per cell of a height field, counterclockwise from above, in the world; of a fine one, not all cells.
fn triangles(at: &Pose, size: [f64; 2], heights: &[Vec<f64>]) -> Vec<[DVec3; 3]> {
    let kept = |n: usize| -> Vec<usize> {
        let last = n.saturating_sub(1);
        let cells = last.min(CELLS);
        (0..=cells).map(|i| i * last / cells.max(1)).collect()
    };
    let (rows, columns) = (kept(heights.len()), kept(heights.first().map_or(0, Vec::len)));
    let place = |i: usize, n: usize| i as f64 / (n.max(2) - 1) as f64 - 0.5;
    let point = |row: usize, column: usize| {
        let x = size[0] * place(column, heights[row].len());
        let y = size[1] * place(row, heights.len());
        at.transform_point(DVec3::new(x, y, heights[row][column]))
    };
    let mut triangles = Vec::new();
    for rows in rows.windows(2) {
        for columns in columns.windows(2) {
            let [a, b] = [columns[0], columns[1]].map(|column| point(rows[0], column));
            let [d, c] = [columns[0], columns[1]].map(|column| point(rows[1], column));
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    triangles
}

impl Figure<'_> {
    /// Everything of the world that can be touched; `motion` is what must fit before the far edges of planes.
    pub(crate) fn draw_scenery(&self, svg: &mut Svg, panel: Panel, motion: &[&Frame]) {
        let scenery = &self.cast.scenery;
        if scenery.is_empty() {
            return;
        }
        let [x, y, w, h] = [panel.0.0, panel.0.1, panel.1.0, panel.1.1].map(number);
        svg.raw(&format!(
            "<clipPath id=\"{}\"><rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"8\"/></clipPath>\n",
            clip_name(panel)
        ));
        clipped(svg, panel, "stroke-linejoin=\"round\" stroke-linecap=\"round\"", |svg| {
            for &plane in &scenery.planes {
                self.draw_plane(svg, plane, motion);
            }
            let view = self.window.camera.view;
            let depth = |triangle: &[DVec3; 3]| triangle.iter().sum::<DVec3>().dot(view.toward);
            let mut ground = scenery.ground.clone();
            ground.sort_by(|a, b| depth(a).total_cmp(&depth(b)));
            for [a, b, c] in ground {
                if let Some(shade) = self.shade((b - a).cross(c - a)) {
                    let (mut path, fill, edge) = (String::new(), css(STONE, shade), css(STONE, 0.95 * shade));
                    trace(&mut path, [a, b, c].map(|point| self.window.pixel(point)));
                    svg.raw(&format!(
                        "<path d=\"{path}z\" fill=\"{fill}\" stroke=\"{edge}\" stroke-width=\"0.6\"/>\n"
                    ));
                }
            }
            for (solid, pose) in &scenery.solids {
                self.draw_solid(svg, solid, pose, STONE.map(|part| 0.9 * part), false);
            }
        });
    }

    /// Shadows on the planes that light falls on, after the scenery of the same panel.
    pub(crate) fn draw_shadows(&self, svg: &mut Svg, panel: Panel, frame: &Frame) {
        let ink = format!("fill=\"{INK}\" stroke=\"{INK}\" stroke-width=\"0.7\" opacity=\"0.13\"");
        for &plane in &self.cast.scenery.planes {
            let Some(shadow) = self.shadow(plane) else { continue };
            clipped(
                svg,
                panel,
                &format!("{ink} stroke-linejoin=\"round\" stroke-linecap=\"round\""),
                |svg| {
                    for (skin, mut points) in self.surfaces(frame, Detail::Ghost) {
                        points.iter_mut().for_each(|point| *point = shadow(*point));
                        let path = self.flat(skin, &points, plane.1);
                        svg.raw(&format!("<path d=\"{path}\"/>\n"));
                    }
                    let looks = self.cast.looks.iter().zip(&frame.poses).filter(|(look, _)| !look.is_bone);
                    for (look, pose) in looks.take(GHOST_SOLIDS) {
                        let fallen =
                            look.solid.points.iter().map(|&point| shadow(pose.transform_point(point)));
                        let mut path = String::new();
                        trace(&mut path, hull(fallen.map(|point| self.window.pixel(point)).collect()));
                        let width = number(0.7 + 2.0 * look.solid.radius * self.window.scale);
                        svg.raw(&format!("<path d=\"{path}z\" stroke-width=\"{width}\"/>\n"));
                    }
                },
            );
        }
    }

    /// Where the shadow of a point falls on a plane; `None` if no light falls on it from in front.
    fn shadow(&self, (origin, normal): (DVec3, DVec3)) -> Option<impl Fn(DVec3) -> DVec3> {
        let view = self.window.camera.view;
        let ray = 0.15 * view.right - view.up - 0.2 * view.toward;
        let steep = -ray.dot(normal);
        let seen = steep > 0.3 && normal.dot(view.toward) > 0.0;
        seen.then_some(move |point: DVec3| point + ray * ((point - origin).dot(normal).max(0.0) / steep))
    }

    fn draw_plane(&self, svg: &mut Svg, (origin, normal): (DVec3, DVec3), motion: &[&Frame]) {
        let camera = &self.window.camera;
        let view = camera.view;
        let nearer = (view.toward - normal * view.toward.dot(normal))
            .try_normalize()
            .unwrap_or_else(|| normal.any_orthonormal_vector());
        let along = normal.cross(nearer);
        let middle = 0.5 * (camera.low + camera.high);
        let middle = view.right * middle.x + view.up * middle.y + view.toward * middle.z;
        let middle = middle - normal * (middle - origin).dot(normal);
        let shadow = self.shadow((origin, normal));
        let farthest = motion.iter().flat_map(|frame| frame.points()).fold(0.0f64, |far, point| {
            let fallen = shadow.as_ref().map_or(point, |shadow| shadow(point));
            far.min((point - middle).dot(nearer)).min((fallen - middle).dot(nearer))
        });
        let (width, height) = self.window.size;
        // Far enough to leave the window however flat the plane is seen.
        let length = 20.0 * (width + height) / self.window.scale;
        let far = middle + nearer * (farthest - 0.08 * (camera.high - camera.low).max_element());
        let [left, right] = [far - along * length, far + along * length];
        let corners = [left, right, right + nearer * length, left + nearer * length];
        let mut path = String::new();
        trace(&mut path, corners.map(|point| self.window.pixel(point)));
        svg.raw(&format!("<path d=\"{path}z\" fill=\"{PLANE}\"/>\n"));
        svg.line(self.window.pixel(left), self.window.pixel(right), EDGE, 1.0);
    }
}

/// Draws only what is inside the panel, whose `clipPath` was written before.
fn clipped(svg: &mut Svg, panel: Panel, attributes: &str, draw: impl FnOnce(&mut Svg)) {
    svg.open_group(&format!("clip-path=\"url(#{})\"", clip_name(panel)));
    svg.open_group(attributes);
    draw(svg);
    svg.close_group();
    svg.close_group();
}

fn clip_name(((x, y), _): Panel) -> String {
    format!("panel-{}-{}", x.round(), y.round())
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use sinew_math::Pose;
    use sinew_scene::SceneDoc;

    use super::{CELLS, Scenery, triangles};

    #[test]
    fn height_fields_look_up_and_cover_their_size() {
        for (rows, columns) in [(2, 2), (3, 5), (100, 7)] {
            let heights = vec![vec![0.5; columns]; rows];
            let found = triangles(&Pose::IDENTITY, [4.0, 2.0], &heights);
            assert_eq!(found.len(), 2 * (rows - 1).min(CELLS) * (columns - 1));
            let normals = found.iter().map(|[a, b, c]| (*b - *a).cross(*c - *a));
            assert!(normals.clone().all(|normal| normal.z > 0.0));
            assert!((normals.map(|normal| 0.5 * normal.z).sum::<f64>() - 8.0).abs() < 1e-12);
            assert!(found.iter().flatten().any(|x| x.distance(DVec3::new(2.0, -1.0, 0.5)) < 1e-12));
        }
        assert!(triangles(&Pose::IDENTITY, [1.0, 1.0], &[]).is_empty());
    }

    #[test]
    fn only_colliders_of_the_world_are_scenery() {
        let text = "(format: 1,
            bodies: [(name: \"a\", mass: Density(1000), shapes: [Sphere(radius: 1)])],
            colliders: [
                (shape: Plane(point: (0, 0, 0), normal: (0, 0, 2))),
                (shape: Solid(Box(size: (1, 1, 1)))),
                (body: \"a\", shape: OfBody),
            ])";
        let scenery = Scenery::of(&SceneDoc::from_ron(text, "a.ron").unwrap());
        assert_eq!((scenery.planes.len(), scenery.solids.len(), scenery.ground.len()), (1, 1, 0));
        assert_eq!(scenery.planes[0].1, DVec3::Z);
        assert!(!scenery.is_empty() && Scenery::default().is_empty());
    }
}
