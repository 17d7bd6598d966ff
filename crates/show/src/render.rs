//! Drawings as pictures of the software renderer.
//!
//! Meshes of solids are kept from one picture to the next. Cost: that of [`sinew_picture::Renderer`], and of smooth
//! normals for all surfaces.

use glam::DVec3;
use sinew_math::Shape;
use sinew_picture::{Camera, Color, Image, Mesh, PictureError, Plane, Renderer, Scene, SceneLine};

use crate::drawing::Drawing;
use crate::primitives::{Instance, Rgb, ShownArrow, ShownLine, ShownSolid, ShownSurface};

/// Width of a line of weight 1, relative to the height of the picture.
const LINE: f64 = 1.0 / 260.0;
/// Least width of a solid in a picture, in pixels: thinner ones would be hardly seen.
const THINNEST: f64 = 1.5;
/// Sides of circles: of the scenery, of joints and targets, of nodes.
const SCENERY_DETAIL: usize = 64;
const MARK_DETAIL: usize = 16;
const NODE_DETAIL: usize = 12;

/// Width of a line of weight 1 in a picture of this height, in pixels.
pub fn line_width(height: f64) -> f64 {
    LINE * height
}

/// Renders drawings.
pub struct DrawingRenderer {
    renderer: Renderer,
    scene: Scene,
    scenery: MeshCache,
    solids: MeshCache,
}

impl DrawingRenderer {
    /// A renderer of pictures of this size in pixels. Fails if a side is zero or longer than 16,384 pixels.
    pub fn new(width: usize, height: usize) -> Result<Self, PictureError> {
        let (scenery, solids) = (MeshCache::default(), MeshCache::default());
        Ok(Self { renderer: Renderer::new(width, height)?, scene: Scene::default(), scenery, solids })
    }

    /// Width and height of its pictures in pixels.
    pub fn size(&self) -> (usize, usize) {
        self.renderer.size()
    }

    /// Renders a drawing.
    pub fn render(&mut self, drawing: &Drawing, camera: &Camera) -> &Image {
        self.scene.clear();
        self.push_solids(drawing, camera);
        let ground = drawing.sheets.iter().chain(&drawing.surfaces);
        ground.for_each(|surface| push_surface(&mut self.scene.solid, surface));
        self.push_marks(drawing);
        self.push_lines(drawing, camera);
        let plane = |&(point, normal)| Plane { point, normal };
        self.scene.planes.extend(drawing.planes.iter().map(plane));
        self.renderer.render(&self.scene, camera)
    }

    fn push_solids(&mut self, drawing: &Drawing, camera: &Camera) {
        let pixel = 2.0 * camera.opening.1 / self.renderer.size().1 as f64;
        let visible = |solid: &ShownSolid| {
            let far = (camera.eye - solid.pose.translation).dot(camera.view.toward);
            ShownSolid { shape: thickened(&solid.shape, 0.5 * THINNEST * pixel * far), ..*solid }
        };
        let bodies: Vec<ShownSolid> = drawing.solids.iter().map(visible).collect();
        let Scene { solid, inside, .. } = &mut self.scene;
        let detail = match drawing.solids.len() {
            0..=250 => 40,
            251..=2500 => 16,
            _ => 8,
        };
        self.scenery.update(&drawing.scenery, SCENERY_DETAIL);
        self.solids.update(&bodies, detail);
        for (mesh, stone) in self.scenery.meshes().zip(&drawing.scenery) {
            solid.push(mesh, &stone.pose, paint(stone.color));
        }
        let is_covered = !drawing.surfaces.is_empty();
        for (mesh, body) in self.solids.meshes().zip(&drawing.solids) {
            let layer = if body.is_bone && is_covered { &mut *inside } else { &mut *solid };
            layer.push(mesh, &body.pose, paint(body.color));
        }
    }

    /// Nodes, targets, joints, pins and forces.
    fn push_marks(&mut self, drawing: &Drawing) {
        let Scene { solid, inside, front, .. } = &mut self.scene;
        let (node, mark) = (Mesh::sphere(1.0, NODE_DETAIL), Mesh::sphere(1.0, MARK_DETAIL));
        drawing.nodes.iter().for_each(|at| push_ball(solid, &node, at));
        for target in &drawing.targets {
            [&mut *solid, &mut *inside].into_iter().for_each(|layer| push_ball(layer, &mark, target));
        }
        drawing.marks.iter().for_each(|at| push_ball(front, &mark, at));
        for arrow in &drawing.arrows {
            let head = ShownArrow::head(drawing.reach);
            self.scene.push_force(arrow.from, arrow.to, head, paint(arrow.color));
        }
    }

    fn push_lines(&mut self, drawing: &Drawing, camera: &Camera) {
        let height = self.renderer.size().1 as f64;
        let width = line_width(height);
        let line = |line: &ShownLine| SceneLine {
            from: line.from,
            to: line.to,
            width: line.weight * width,
            color: paint(line.color),
        };
        self.scene.lines.extend(drawing.lines.iter().map(line));
        // Width at the distance of the focus (m).
        let thickness = width * camera.eye.distance(camera.focus) * 2.0 * camera.opening.1 / height;
        for gauge in &drawing.gauges {
            let at = gauge.along(thickness);
            let mesh = Mesh::cylinder(at.scale.y, at.scale.x, 5);
            self.scene.front.push(&mesh, &at.pose, paint(at.color));
        }
    }
}

/// Meshes of a list of solids.
#[derive(Default)]
struct MeshCache(Vec<(Shape, usize, Mesh)>);

impl MeshCache {
    /// Makes the meshes of solids whose shape or detail has changed.
    fn update(&mut self, solids: &[ShownSolid], detail: usize) {
        self.0.truncate(solids.len());
        for (i, solid) in solids.iter().enumerate() {
            let made = || (solid.shape, detail, tessellated(&solid.shape, detail));
            match self.0.get_mut(i) {
                None => self.0.push(made()),
                Some(known) if known.0 != solid.shape || known.1 != detail => *known = made(),
                Some(_) => {}
            }
        }
    }

    fn meshes(&self) -> impl Iterator<Item = &Mesh> {
        self.0.iter().map(|(_, _, mesh)| mesh)
    }
}

/// A shape that is nowhere thinner than twice `least` (m).
fn thickened(shape: &Shape, least: f64) -> Shape {
    let half = shape.half_extents();
    if half.min_element() >= least {
        return *shape;
    }
    match *shape {
        Shape::Box { size } => Shape::Box { size: size.max(DVec3::splat(2.0 * least)) },
        Shape::Sphere { radius } => Shape::Sphere { radius: radius.max(least) },
        Shape::Capsule { radius, length } => Shape::Capsule { radius: radius.max(least), length },
        Shape::Cylinder { radius, length } => {
            Shape::Cylinder { radius: radius.max(least), length: length.max(2.0 * least) }
        }
        Shape::Ellipsoid { semi_axes } => Shape::Ellipsoid { semi_axes: semi_axes.max(DVec3::splat(least)) },
    }
}

/// The mesh of a shape in its own frame; `detail` is the number of sides of a circle.
pub fn tessellated(shape: &Shape, detail: usize) -> Mesh {
    match *shape {
        Shape::Box { size } => Mesh::cuboid(size),
        Shape::Sphere { radius } => Mesh::sphere(radius, detail),
        Shape::Capsule { radius, length } => Mesh::capsule(radius, length, detail),
        Shape::Cylinder { radius, length } => Mesh::cylinder(radius, length, detail),
        Shape::Ellipsoid { semi_axes } => Mesh::ellipsoid(semi_axes, detail),
    }
}

fn push_surface(mesh: &mut Mesh, surface: &ShownSurface) {
    let plain = paint(surface.color);
    let color = |point: usize| surface.colors.get(point).copied().unwrap_or(plain);
    mesh.push_smooth(&surface.points, &surface.triangles, color);
}

fn push_ball(mesh: &mut Mesh, unit: &Mesh, ball: &Instance) {
    mesh.push(&unit.scaled(ball.scale.x), &ball.pose, paint(ball.color));
}

fn paint([red, green, blue]: Rgb) -> Color {
    Color::srgb(red, green, blue)
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use sinew_math::{Pose, Shape};
    use sinew_picture::{Camera, View};

    use super::DrawingRenderer;
    use crate::drawing::Drawing;
    use crate::primitives::ShownSolid;

    #[test]
    fn thin_things_are_seen() {
        let ends = [DVec3::NEG_X, DVec3::X];
        let view = View::from_direction(DVec3::NEG_Y, DVec3::Z);
        let camera = Camera::framing(view, ends.into_iter(), 1.0);
        let seen = |shape: Option<Shape>| {
            let pose = Pose::IDENTITY;
            let color = [1.0, 0.0, 0.0];
            let solids = shape.map(|shape| ShownSolid { shape, pose, color, is_bone: false });
            let drawing = Drawing { solids: solids.into_iter().collect(), reach: 1.0, ..Drawing::default() };
            let image = DrawingRenderer::new(100, 100).unwrap().render(&drawing, &camera).clone();
            image.pixels().iter().filter(|pixel| pixel[0] > pixel[1].saturating_add(40)).count()
        };
        assert_eq!(seen(None), 0);
        for shape in [
            Shape::Capsule { radius: 1e-5, length: 2.0 },
            Shape::Box { size: DVec3::new(2.0, 1e-5, 1e-5) },
            Shape::Cylinder { radius: 1e-5, length: 2.0 },
            Shape::Ellipsoid { semi_axes: DVec3::new(1.0, 1e-5, 1e-5) },
        ] {
            let n = seen(Some(shape));
            assert!((70..300).contains(&n), "{shape:?}: {n}");
        }
        assert!(seen(Some(Shape::Sphere { radius: 1e-9 })) > 0);
    }
}
