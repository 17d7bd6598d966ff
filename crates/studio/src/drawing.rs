//! Drawing list of a snapshot: scaled boxes, balls and cylinders, surfaces, lines, arrows. It feeds both OpenGL and the software
//! renderer. World axes, metres. Items that are not finite are skipped.

use glam::DVec3;
use sinew_math::{Pose, ops};
use sinew_picture::{Color, Mesh, Plane, Scene, SceneLine};
use sinew_sim::{BodyId, DrawShape, LineKind};

use crate::camera::Orbit;
use crate::primitives::{
    Arrow, BLACK, BLUE, DARK, Instance, LIGHT, MOSS, ORANGE, RED, Rgb, STONE, ShownLine, ShownSurface,
};
use crate::show::ShowOptions;
use crate::snapshot::Snapshot;

/// Everything to draw at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing {
    /// Boxes.
    pub boxes: Vec<Instance>,
    /// Balls and ellipsoids.
    pub balls: Vec<Instance>,
    /// Cylinders.
    pub cylinders: Vec<Instance>,
    /// Forces, in front of everything.
    pub arrows: Vec<Arrow>,
    /// Joints and pins: balls in front of everything.
    pub marks: Vec<Instance>,
    /// Ranges of joints: lines in front of everything.
    pub gauges: Vec<ShownLine>,
    /// Surfaces of flesh.
    pub surfaces: Vec<ShownSurface>,
    /// Surfaces that nothing is inside of: height fields, and those through points of bodies.
    pub sheets: Vec<ShownSurface>,
    /// Lines.
    pub lines: Vec<ShownLine>,
    /// Ground and walls: a point, and the free direction.
    pub planes: Vec<(DVec3, DVec3)>,
    /// How far things reach, m.
    pub reach: f64,
}

impl Drawing {
    /// Replaces the list by what there is to draw of a snapshot; a body can be highlighted.
    pub fn fill(&mut self, snapshot: &Snapshot, show: &ShowOptions, highlight: Option<BodyId>) {
        self.clear();
        let overview = &snapshot.overview;
        self.reach = overview.reach;
        self.planes.extend(&overview.scenery.planes);
        for (shape, pose) in &overview.scenery.solids {
            self.push_shape(shape, pose, STONE, false);
        }
        for ground in &overview.scenery.ground {
            self.push_sheet(&ground.points, &ground.triangles, STONE);
        }
        for (cloth, color) in snapshot.visible.list.surfaces.iter().zip(&overview.looks.surfaces) {
            self.push_sheet(&cloth.points, &cloth.triangles, color.as_vec3().to_array());
        }
        for (solid, look) in snapshot.visible.list.solids.iter().zip(&overview.looks.solids) {
            let plain = look.color.as_vec3().to_array();
            let color = if highlight == Some(solid.body) { mix(plain, LIGHT, 0.6) } else { plain };
            self.push_shape(&solid.shape, &solid.world_from_shape, color, look.is_bone);
        }
        if show.flesh && !show.nodes {
            for (i, (flesh, look)) in
                snapshot.visible.list.flesh.iter().zip(&overview.looks.flesh).enumerate()
            {
                if flesh.points.iter().all(|point| point.is_finite()) {
                    let color = look.color.as_vec3().to_array();
                    let (points, triangles) = (flesh.points.clone(), flesh.triangles.clone());
                    let tints = snapshot.visible.tints.get(i).into_iter().flatten();
                    let colors = tints.map(|&tint| Color::of_scale(tint).to_srgb().map(|part| part as f32));
                    self.surfaces.push(ShownSurface { points, triangles, color, colors: colors.collect() });
                }
            }
        }
        if show.nodes {
            self.push_nodes(snapshot);
        }
        if show.joints {
            let size = 0.015 * overview.reach;
            let joints =
                snapshot.visible.list.points.iter().filter_map(|point| ball(point.position, size, DARK));
            self.marks.extend(joints);
        }
        for line in &snapshot.visible.list.lines {
            let color = if line.kind == LineKind::Grab { RED } else { DARK };
            self.push_line(line.from, line.to, color);
            if line.kind == LineKind::Grab {
                self.push_ball(line.to, 0.014 * overview.reach, RED);
            }
        }
        self.marks
            .extend(snapshot.visible.pins.iter().filter_map(|&pin| ball(pin, 0.02 * overview.reach, BLUE)));
        let weight = 9.81 * overview.looks.mass.max(1e-9);
        if show.contacts && !snapshot.is_posed {
            for &(point, force) in &snapshot.visible.contacts {
                // By the square root: flesh touches in many points, with little force in each.
                let share = (force.length() / weight).sqrt();
                self.push_arrow(point, force.normalize_or_zero() * (0.5 * overview.reach * share), MOSS);
            }
        }
        if show.joint_forces {
            for (point, force) in snapshot.visible.list.points.iter().zip(&snapshot.visible.joint_forces) {
                self.push_arrow(point.position, *force * (0.5 * overview.reach / weight), ORANGE);
            }
        }
        if show.limits {
            for gizmo in &snapshot.visible.limits {
                gizmo.draw(0.12 * overview.reach, &mut self.gauges);
            }
        }
    }

    /// Number of solids.
    pub fn n_instances(&self) -> usize {
        self.boxes.len() + self.balls.len() + self.cylinders.len()
    }

    /// The list as a picture, seen by an eye in a viewport of this size in pixels.
    pub fn to_picture(&self, scene: &mut Scene, orbit: &Orbit, size: (f64, f64)) {
        scene.clear();
        let detail = match self.n_instances() {
            0..=250 => 32,
            251..=2500 => 16,
            _ => 8,
        };
        let paint = |c: Rgb| Color::srgb(f64::from(c[0]), f64::from(c[1]), f64::from(c[2]));
        let is_covered = !self.surfaces.is_empty();
        let mut push = |mesh: &Mesh, at: &Instance| {
            let layer = if at.is_bone && is_covered { &mut scene.inside } else { &mut scene.solid };
            layer.push(mesh, &at.pose, paint(at.color));
        };
        self.boxes.iter().for_each(|at| push(&Mesh::cuboid(at.scale), at));
        self.balls.iter().for_each(|at| push(&Mesh::ellipsoid(at.scale, detail), at));
        self.cylinders.iter().for_each(|at| push(&Mesh::cylinder(at.scale.y, at.scale.x, detail), at));
        for surface in self.surfaces.iter().chain(&self.sheets) {
            let color = |point: usize| paint(surface.color_at(point));
            scene.solid.push_smooth(&surface.points, &surface.triangles, color);
        }
        for arrow in &self.arrows {
            scene.push_force(arrow.from, arrow.to, 0.06 * self.reach, paint(arrow.color));
        }
        for at in &self.marks {
            scene.front.push(&Mesh::ellipsoid(at.scale, 16), &at.pose, paint(at.color));
        }
        let width = (size.1 / 450.0).max(1.0);
        let thick = width * orbit.distance * orbit.pixel_angle(size);
        for line in &self.gauges {
            let at = line.along(thick);
            scene.front.push(&Mesh::cylinder(at.scale.y, at.scale.x, 5), &at.pose, paint(at.color));
        }
        let line =
            |line: &ShownLine| SceneLine { from: line.from, to: line.to, width, color: paint(line.color) };
        scene.lines.extend(self.lines.iter().map(line));
        scene.planes.extend(self.planes.iter().map(|&(point, normal)| Plane { point, normal }));
        if self.planes.is_empty() && self.sheets.is_empty() {
            let point = orbit.target - orbit.up * (1.2 * self.reach);
            scene.planes.push(Plane { point, normal: orbit.up });
        }
    }

    fn clear(&mut self) {
        [&mut self.boxes, &mut self.balls, &mut self.cylinders].into_iter().for_each(Vec::clear);
        self.arrows.clear();
        self.marks.clear();
        self.gauges.clear();
        self.surfaces.clear();
        self.sheets.clear();
        self.lines.clear();
        self.planes.clear();
    }

    fn push_shape(&mut self, shape: &DrawShape, pose: &Pose, color: Rgb, is_bone: bool) {
        if !pose.is_finite() {
            return;
        }
        let at = |scale: DVec3| Instance { pose: *pose, scale, color, is_bone };
        match *shape {
            DrawShape::Box { size } => self.boxes.push(at(size)),
            DrawShape::Sphere { radius } => self.balls.push(at(DVec3::splat(radius))),
            DrawShape::Ellipsoid { semi_axes } => self.balls.push(at(semi_axes)),
            DrawShape::Cylinder { radius, length } => {
                self.cylinders.push(at(DVec3::new(length, radius, radius)));
            }
            DrawShape::Capsule { radius, length } => {
                self.cylinders.push(at(DVec3::new(length, radius, radius)));
                for side in [-0.5, 0.5] {
                    let end = Pose::new(pose.rotation, pose.transform_point(DVec3::X * (side * length)));
                    self.balls.push(Instance { pose: end, ..at(DVec3::splat(radius)) });
                }
            }
        }
    }

    fn push_sheet(&mut self, points: &[DVec3], triangles: &[[u32; 3]], color: Rgb) {
        if points.iter().all(|point| point.is_finite()) {
            let (points, triangles) = (points.to_vec(), triangles.to_vec());
            self.sheets.push(ShownSurface { points, triangles, color, colors: Vec::new() });
        }
    }

    fn push_ball(&mut self, at: DVec3, radius: f64, color: Rgb) {
        self.balls.extend(ball(at, radius, color));
    }

    fn push_line(&mut self, from: DVec3, to: DVec3, color: Rgb) {
        if from.is_finite() && to.is_finite() {
            self.lines.push(ShownLine { from, to, color });
        }
    }

    fn push_arrow(&mut self, from: DVec3, way: DVec3, color: Rgb) {
        let length = way.length();
        if from.is_finite() && length > 0.01 * self.reach && length.is_finite() {
            let to = from + way * (3.0 * self.reach / length).min(1.0);
            self.arrows.push(Arrow { from, to, color });
        }
    }

    /// The coarse mesh; a node of the mean mass has a ball of a fixed share of the scene.
    fn push_nodes(&mut self, snapshot: &Snapshot) {
        for (card, points) in snapshot.overview.looks.flesh.iter().zip(&snapshot.visible.nodes) {
            let mean = card.nodes.iter().map(|node| node.0).sum::<f64>() / card.nodes.len().max(1) as f64;
            for &[a, b] in &card.edges {
                self.push_line(points[a as usize], points[b as usize], [0.55, 0.57, 0.60]);
            }
            for (&point, &(mass, is_fixed)) in points.iter().zip(&card.nodes) {
                let radius =
                    0.018 * snapshot.overview.reach * ops::pow(mass / mean, 1.0 / 3.0).clamp(0.3, 3.0);
                self.push_ball(point, radius, if is_fixed { BLACK } else { RED });
            }
        }
    }
}

/// A ball, if it is anywhere.
fn ball(at: DVec3, radius: f64, color: Rgb) -> Option<Instance> {
    let pose = Pose::from_translation(at);
    at.is_finite().then_some(Instance { pose, scale: DVec3::splat(radius), color, is_bone: false })
}

fn mix(a: Rgb, b: Rgb, part: f32) -> Rgb {
    [0, 1, 2].map(|i| a[i] + (b[i] - a[i]) * part)
}
