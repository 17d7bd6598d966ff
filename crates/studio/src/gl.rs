//! OpenGL drawing inside the paint callback of a window: solids as instances of unit meshes, flesh as smooth
//! surfaces, lines as thin cylinders. Then bones that show through flesh (depth first, so that only the nearest
//! shows), and marks in front of everything.
//!
//! The drawing is copied when the interface paints. OpenGL is called only in the callback, on the thread of the window.

use std::sync::{Arc, Mutex, PoisonError};

use eframe::egui_glow::CallbackFn;
use egui::{PaintCallback, PaintCallbackInfo, Rect, Ui};
use glam::{DMat3, DVec3};
use sinew_show::{Drawing, Instance, Instances, Rgb, ShownLine, ShownSurface, line_width};
use three_d::{
    AmbientLight, Blend, Camera, ClearState, ColorMaterial, Context, CpuMaterial, CpuMesh, Cull, DepthTest,
    DirectionalLight, Gm, Indices, InstancedMesh, Instances as Instances3d, Light, Mat4, Mesh, Object,
    PhysicalMaterial, Positions, RenderTarget, ScissorBox, Srgba, Vec3, Viewport, WriteMask, radians, vec3,
};

use crate::{camera::Orbit, fault::Fault, painter::ScenePainter};

/// Background colour.
const SKY: [f32; 3] = [0.87, 0.90, 0.94];
/// Opacity of bones inside flesh, of 255.
const THROUGH: u8 = 90;
/// Grid lines of planes on each side of the centre.
const GRID: i32 = 10;
const GRID_COLOR: Rgb = [0.66, 0.69, 0.74];

/// Draws with OpenGL.
pub struct GlPainter {
    shared: Arc<Mutex<Shared>>,
}

struct Shared {
    context: Context,
    drawing: Drawing,
    orbit: Orbit,
}

impl GlPainter {
    /// A painter for the window of an OpenGL context. Fails if the context lacks required features.
    pub fn new(context: Arc<eframe::glow::Context>) -> Result<Self, Fault> {
        let context = Context::from_gl_context(context).map_err(|error| Fault::new(error.to_string()))?;
        let shared = Shared { context, drawing: Drawing::default(), orbit: Orbit::default() };
        Ok(Self { shared: Arc::new(Mutex::new(shared)) })
    }
}

impl ScenePainter for GlPainter {
    fn paint(&mut self, ui: &Ui, rect: Rect, drawing: &Drawing, orbit: &Orbit) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.drawing.clone_from(drawing);
        shared.orbit = *orbit;
        let painted = Arc::clone(&self.shared);
        let callback = CallbackFn::new(move |info, painter| {
            let shared = painted.lock().unwrap_or_else(PoisonError::into_inner);
            shared.paint(&info, painter.intermediate_fbo());
        });
        ui.painter().add(PaintCallback { rect, callback: Arc::new(callback) });
    }
}

impl Shared {
    fn paint(&self, info: &PaintCallbackInfo, target: Option<eframe::glow::Framebuffer>) {
        let (view, clip) = (info.viewport_in_pixels(), info.clip_rect_in_pixels());
        let viewport = Viewport {
            x: view.left_px,
            y: view.from_bottom_px,
            width: view.width_px.max(1) as u32,
            height: view.height_px.max(1) as u32,
        };
        let scissor = ScissorBox {
            x: clip.left_px,
            y: clip.from_bottom_px,
            width: clip.width_px.max(0) as u32,
            height: clip.height_px.max(0) as u32,
        };
        let [width, height] = info.screen_size_px;
        let screen = match target {
            Some(framebuffer) => RenderTarget::from_framebuffer(&self.context, width, height, framebuffer),
            None => RenderTarget::screen(&self.context, width, height),
        };
        let camera = self.camera(viewport);
        let objects = self.objects(f64::from(viewport.height));
        let lights = self.lights();
        let lights: Vec<&dyn Light> = lights.iter().map(|light| &**light).collect();
        let seen: Vec<&dyn Object> = objects.iter().map(|object| &**object).collect();
        screen.clear_partially(scissor, ClearState::color_and_depth(SKY[0], SKY[1], SKY[2], 1.0, 1.0));
        screen.render_partially(scissor, &camera, seen, &lights);
        if !self.drawing.surfaces.is_empty() {
            screen.clear_partially(scissor, ClearState::depth(1.0));
            for matter in [self.depth_alone(), self.shining()] {
                let bones = self.solids(true, &matter);
                screen.render_partially(scissor, &camera, bones.iter().map(|object| &**object), &lights);
            }
        }
        let front = self.front(f64::from(viewport.height));
        screen.clear_partially(scissor, ClearState::depth(1.0));
        screen.render_partially(scissor, &camera, front.iter().map(|object| &**object), &lights);
        screen.into_framebuffer();
    }

    fn camera(&self, viewport: Viewport) -> Camera {
        let size = (f64::from(viewport.width), f64::from(viewport.height));
        let (_, half_height) = self.orbit.opening(size);
        let distance = self.orbit.distance as f32;
        let angle = 2.0 * sinew_math::ops::atan(half_height) as f32;
        Camera::new_perspective(
            viewport,
            to_vec(self.orbit.eye()),
            to_vec(self.orbit.target),
            to_vec(self.orbit.view().up),
            radians(angle),
            0.01 * distance,
            20.0 * distance + 20.0 * self.drawing.reach as f32,
        )
    }

    fn lights(&self) -> Vec<Box<dyn Light>> {
        let view = self.orbit.view();
        let down = to_vec(view.right * 0.4 - self.orbit.up - view.toward * 0.6);
        vec![
            Box::new(AmbientLight::new(&self.context, 0.45, Srgba::WHITE)),
            Box::new(DirectionalLight::new(&self.context, 1.8, Srgba::WHITE, down)),
        ]
    }

    fn objects(&self, height: f64) -> Vec<Box<dyn Object>> {
        let drawing = &self.drawing;
        let mut objects = self.solids(false, &self.matter());
        let lines: Vec<ShownLine> = drawing.lines.iter().copied().chain(self.grid()).collect();
        objects.extend(self.lines(&lines, height));
        for surface in drawing.sheets.iter().chain(&drawing.surfaces) {
            let mut matter = self.matter();
            matter.albedo = if surface.colors.is_empty() { to_srgba(surface.color) } else { Srgba::WHITE };
            objects.push(Box::new(Gm::new(Mesh::new(&self.context, &smooth(surface)), matter)));
        }
        objects
    }

    /// Bones that flesh covers, or all other solids.
    fn solids(&self, bones: bool, matter: &PhysicalMaterial) -> Vec<Box<dyn Object>> {
        let detail = if self.drawing.solids.len() > 2000 { 8 } else { 24 };
        let mut cube = CpuMesh::cube();
        // From edges of length 2 to edges of length 1.
        let _ = cube.transform(Mat4::from_scale(0.5));
        let (ball, cylinder) = (CpuMesh::sphere(detail), centred(CpuMesh::cylinder(detail)));
        let Instances { boxes, balls, cylinders } = self.drawing.instances(bones);
        let lists = [(cube, boxes), (ball, balls), (cylinder, cylinders)];
        let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
        lists.map(|(mesh, list)| self.placed(&mesh, &list, matter.clone())).collect()
    }

    /// Forces, joints, pins and limits.
    fn front(&self, height: f64) -> Vec<Box<dyn Object>> {
        let drawing = &self.drawing;
        let parts = drawing.arrows.iter().map(|arrow| arrow.parts(drawing.reach));
        let (shafts, heads): (Vec<Instance>, Vec<Instance>) =
            parts.map(|[shaft, head]| (shaft, head)).unzip();
        let (shaft, head) = (centred(CpuMesh::cylinder(8)), centred(CpuMesh::cone(16)));
        let parts = [(shaft, &shafts), (head, &heads), (CpuMesh::sphere(16), &drawing.marks)];
        let parts = parts.into_iter().filter(|(_, list)| !list.is_empty());
        let parts = parts.map(|(mesh, list)| self.placed(&mesh, list, self.matter()));
        parts.chain(self.lines(&drawing.gauges, height)).collect()
    }

    /// Lines as cylinders, with the right width at the distance of the target.
    fn lines(&self, lines: &[ShownLine], height: f64) -> Option<Box<dyn Object>> {
        let width = line_width(height) * self.orbit.distance * self.orbit.pixel_angle((height, height));
        let list: Vec<Instance> = lines.iter().map(|line| line.along(width)).collect();
        let plain = ColorMaterial { color: Srgba::WHITE, ..ColorMaterial::default() };
        let mesh = || InstancedMesh::new(&self.context, &instances(&list), &centred(CpuMesh::cylinder(5)));
        (!lines.is_empty()).then(|| Box::new(Gm::new(mesh(), plain)) as _)
    }

    fn placed(&self, mesh: &CpuMesh, list: &[Instance], matter: PhysicalMaterial) -> Box<dyn Object> {
        Box::new(Gm::new(InstancedMesh::new(&self.context, &instances(list), mesh), matter))
    }

    fn matter(&self) -> PhysicalMaterial {
        let plain = CpuMaterial { roughness: 0.8, metallic: 0.0, ..CpuMaterial::default() };
        let mut matter = PhysicalMaterial::new_opaque(&self.context, &plain);
        matter.albedo = Srgba::WHITE;
        matter.render_states.cull = Cull::None;
        matter
    }

    /// Material that writes depth only.
    fn depth_alone(&self) -> PhysicalMaterial {
        let mut matter = self.matter();
        matter.render_states.write_mask = WriteMask::DEPTH;
        matter
    }

    /// Material of bones inside flesh.
    fn shining(&self) -> PhysicalMaterial {
        let mut matter = self.matter();
        (matter.albedo, matter.is_transparent) = (Srgba::new(255, 255, 255, THROUGH), true);
        matter.render_states.write_mask = WriteMask::COLOR;
        matter.render_states.depth_test = DepthTest::LessOrEqual;
        matter.render_states.blend = Blend::TRANSPARENCY;
        matter
    }

    /// Grid lines on the planes.
    fn grid(&self) -> Vec<ShownLine> {
        let cell = 0.25 * self.drawing.reach;
        let mut lines = Vec::new();
        for &(point, normal) in &self.drawing.planes {
            let (x, y) = normal.any_orthonormal_pair();
            let middle = self.orbit.target - normal * (self.orbit.target - point).dot(normal);
            for i in -GRID..=GRID {
                let (aside, far) = (f64::from(i) * cell, f64::from(GRID) * cell);
                for (a, b) in [(x, y), (y, x)] {
                    let from = middle + a * aside - b * far;
                    lines.push(ShownLine {
                        from,
                        to: from + b * (2.0 * far),
                        color: GRID_COLOR,
                        weight: 0.6,
                    });
                }
            }
        }
        lines
    }
}

/// Moves a mesh from 0..1 to −½..½ along x.
fn centred(mut mesh: CpuMesh) -> CpuMesh {
    let _ = mesh.transform(Mat4::from_translation(vec3(-0.5, 0.0, 0.0)));
    mesh
}

fn smooth(surface: &ShownSurface) -> CpuMesh {
    let colors = surface.colors.iter().map(|color| to_srgba(color.to_srgb()));
    let mut mesh = CpuMesh {
        positions: Positions::F32(surface.points.iter().copied().map(to_vec).collect()),
        indices: Indices::U32(surface.triangles.iter().flatten().copied().collect()),
        colors: (!surface.colors.is_empty()).then(|| colors.collect()),
        ..CpuMesh::default()
    };
    mesh.compute_normals();
    mesh
}

fn instances(list: &[Instance]) -> Instances3d {
    Instances3d {
        transformations: list.iter().map(transform).collect(),
        colors: Some(list.iter().map(|at| to_srgba(at.color)).collect()),
        ..Instances3d::default()
    }
}

fn transform(at: &Instance) -> Mat4 {
    let turned = DMat3::from_quat(at.pose.rotation);
    let axes = [turned.x_axis * at.scale.x, turned.y_axis * at.scale.y, turned.z_axis * at.scale.z];
    let [x, y, z] = axes.map(|axis| to_vec(axis).extend(0.0));
    Mat4::from_cols(x, y, z, to_vec(at.pose.translation).extend(1.0))
}

fn to_vec(v: DVec3) -> Vec3 {
    vec3(v.x as f32, v.y as f32, v.z as f32)
}

fn to_srgba(color: Rgb) -> Srgba {
    let [r, g, b] = color.map(|part| (255.0 * part.clamp(0.0, 1.0)) as u8);
    Srgba::new(r, g, b, 255)
}
