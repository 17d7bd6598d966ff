//! A frame as things to draw: boxes, balls and cylinders that are placed and stretched, surfaces, lines, arrows. The same list
//! feeds the window and pictures without a window. World axes, metres; what is not finite is left out.

use glam::{DMat3, DQuat, DVec3};
use sinew_math::{Pose, ops};
use sinew_picture::{Color, Line, Mesh, Plane, Scene};
use sinew_show::{LineKind, Shape};
use sinew_sim::BodyId;

use crate::{Frame, Orbit, Show};

/// Red, green, blue from 0 to 1, as on a screen.
pub type Rgb = [f32; 3];

const BLACK: Rgb = [0.05, 0.05, 0.06];
pub(crate) const RED: Rgb = [0.82, 0.16, 0.16];
pub(crate) const GREEN: Rgb = [0.18, 0.62, 0.30];
pub(crate) const BLUE: Rgb = [0.20, 0.42, 0.85];
const MOSS: Rgb = [0.05, 0.60, 0.25];
const ORANGE: Rgb = [0.95, 0.55, 0.15];
const STONE: Rgb = [0.72, 0.74, 0.77];
const DARK: Rgb = [0.20, 0.23, 0.28];
const LIGHT: Rgb = [1.0, 0.92, 0.35];

/// A unit solid that is placed and stretched. The unit box has edges of 1, the unit ball a radius of 1, cylinder and cone (tip towards +x) a
/// radius of 1 and a length of 1 along x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instance {
    /// World from its frame.
    pub pose: Pose,
    /// Stretch along its axes.
    pub scale: DVec3,
    /// Colour.
    pub color: Rgb,
    /// Whether it is seen through flesh.
    pub is_bone: bool,
}

/// A smooth surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Its points, m.
    pub points: Vec<DVec3>,
    /// Three points each, counterclockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Colour.
    pub color: Rgb,
    /// Colours of the points, if they have their own.
    pub colors: Vec<Rgb>,
}

impl Surface {
    /// The colour of a point.
    pub fn color_at(&self, point: usize) -> Rgb {
        self.colors.get(point).copied().unwrap_or(self.color)
    }
}

/// A straight line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// One end, m.
    pub from: DVec3,
    /// The other end, m.
    pub to: DVec3,
    /// Colour.
    pub color: Rgb,
}

impl Segment {
    /// The cylinder along it, of a thickness in m.
    pub fn along(&self, thickness: f64) -> Instance {
        let way = self.to - self.from;
        Instance {
            pose: Pose::new(turn_to(way.normalize_or(DVec3::X)), 0.5 * (self.from + self.to)),
            scale: DVec3::new(way.length(), 0.5 * thickness, 0.5 * thickness),
            color: self.color,
            is_bone: false,
        }
    }
}

/// A force, seen through everything.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrow {
    /// Where it acts, m.
    pub from: DVec3,
    /// Its tip, m.
    pub to: DVec3,
    /// Colour.
    pub color: Rgb,
}

impl Arrow {
    /// Its shaft, a cylinder, and its head, a cone; `reach` is that of the scene, m.
    pub fn parts(&self, reach: f64) -> [Instance; 2] {
        let way = self.to - self.from;
        let length = way.length();
        let direction = way.normalize_or(DVec3::X);
        let rotation = turn_to(direction);
        let head = (0.35 * length).min(0.06 * reach);
        let part = |from: f64, to: f64, radius: f64| Instance {
            pose: Pose::new(rotation, self.from + direction * (0.5 * (from + to))),
            scale: DVec3::new(to - from, radius, radius),
            color: self.color,
            is_bone: false,
        };
        [part(0.0, length - head, 0.12 * head), part(length - head, length, 0.4 * head)]
    }
}

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
    pub gauges: Vec<Segment>,
    /// Surfaces of flesh.
    pub surfaces: Vec<Surface>,
    /// Surfaces that nothing is inside of: height fields, and those through points of bodies.
    pub sheets: Vec<Surface>,
    /// Lines.
    pub lines: Vec<Segment>,
    /// Ground and walls: a point, and the free direction.
    pub planes: Vec<(DVec3, DVec3)>,
    /// How far things reach, m.
    pub reach: f64,
}

impl Drawing {
    /// Replaces the list by what there is to draw of a frame; a body can be highlighted.
    pub fn fill(&mut self, frame: &Frame, show: &Show, highlight: Option<BodyId>) {
        self.clear();
        let cast = &frame.cast;
        self.reach = cast.reach;
        self.planes.extend(&cast.scenery.planes);
        for (shape, pose) in &cast.scenery.solids {
            self.push_shape(shape, pose, STONE, false);
        }
        for ground in &cast.scenery.ground {
            self.push_sheet(&ground.points, &ground.triangles, STONE);
        }
        for (cloth, color) in frame.draw.surfaces.iter().zip(&cast.looks.surfaces) {
            self.push_sheet(&cloth.points, &cloth.triangles, color.as_vec3().to_array());
        }
        for (solid, look) in frame.draw.solids.iter().zip(&cast.looks.solids) {
            let plain = look.color.as_vec3().to_array();
            let color = if highlight == Some(solid.body) { mix(plain, LIGHT, 0.6) } else { plain };
            self.push_shape(&solid.shape, &solid.world_from_shape, color, look.is_bone);
        }
        if show.flesh && !show.nodes {
            for (i, (flesh, look)) in frame.draw.flesh.iter().zip(&cast.looks.flesh).enumerate() {
                if flesh.points.iter().all(|point| point.is_finite()) {
                    let color = look.color.as_vec3().to_array();
                    let (points, triangles) = (flesh.points.clone(), flesh.triangles.clone());
                    let tints = frame.tints.get(i).into_iter().flatten();
                    let colors = tints.map(|&tint| Color::of_scale(tint).to_srgb().map(|part| part as f32));
                    self.surfaces.push(Surface { points, triangles, color, colors: colors.collect() });
                }
            }
        }
        if show.nodes {
            self.push_nodes(frame);
        }
        if show.joints {
            let size = 0.015 * cast.reach;
            let joints = frame.draw.points.iter().filter_map(|point| ball(point.position, size, DARK));
            self.marks.extend(joints);
        }
        for line in &frame.draw.lines {
            let color = if line.kind == LineKind::Grab { RED } else { DARK };
            self.push_line(line.from, line.to, color);
            if line.kind == LineKind::Grab {
                self.push_ball(line.to, 0.014 * cast.reach, RED);
            }
        }
        self.marks.extend(frame.pins.iter().filter_map(|&pin| ball(pin, 0.02 * cast.reach, BLUE)));
        let weight = 9.81 * cast.looks.mass.max(1e-9);
        if show.contacts && !frame.is_posed {
            for &(point, force) in &frame.contacts {
                // By the square root: flesh touches in many points, with little force in each.
                let share = (force.length() / weight).sqrt();
                self.push_arrow(point, force.normalize_or_zero() * (0.5 * cast.reach * share), MOSS);
            }
        }
        if show.joint_forces {
            for (point, force) in frame.draw.points.iter().zip(&frame.joint_forces) {
                self.push_arrow(point.position, *force * (0.5 * cast.reach / weight), ORANGE);
            }
        }
        if show.limits {
            for gizmo in &frame.limits {
                gizmo.draw(0.12 * cast.reach, &mut self.gauges);
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
        let line = |line: &Segment| Line { from: line.from, to: line.to, width, color: paint(line.color) };
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

    fn push_shape(&mut self, shape: &Shape, pose: &Pose, color: Rgb, is_bone: bool) {
        if !pose.is_finite() {
            return;
        }
        let at = |scale: DVec3| Instance { pose: *pose, scale, color, is_bone };
        match *shape {
            Shape::Box { size } => self.boxes.push(at(size)),
            Shape::Sphere { radius } => self.balls.push(at(DVec3::splat(radius))),
            Shape::Ellipsoid { semi_axes } => self.balls.push(at(semi_axes)),
            Shape::Cylinder { radius, length } => {
                self.cylinders.push(at(DVec3::new(length, radius, radius)));
            }
            Shape::Capsule { radius, length } => {
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
            self.sheets.push(Surface { points, triangles, color, colors: Vec::new() });
        }
    }

    fn push_ball(&mut self, at: DVec3, radius: f64, color: Rgb) {
        self.balls.extend(ball(at, radius, color));
    }

    fn push_line(&mut self, from: DVec3, to: DVec3, color: Rgb) {
        if from.is_finite() && to.is_finite() {
            self.lines.push(Segment { from, to, color });
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
    fn push_nodes(&mut self, frame: &Frame) {
        for (card, points) in frame.cast.looks.flesh.iter().zip(&frame.nodes) {
            let mean = card.nodes.iter().map(|node| node.0).sum::<f64>() / card.nodes.len().max(1) as f64;
            for &[a, b] in &card.edges {
                self.push_line(points[a as usize], points[b as usize], [0.55, 0.57, 0.60]);
            }
            for (&point, &(mass, is_fixed)) in points.iter().zip(&card.nodes) {
                let radius = 0.018 * frame.cast.reach * ops::pow(mass / mean, 1.0 / 3.0).clamp(0.3, 3.0);
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

/// The turn that takes x to a direction.
fn turn_to(direction: DVec3) -> DQuat {
    let (y, z) = direction.any_orthonormal_pair();
    DQuat::from_mat3(&DMat3::from_cols(direction, y, z))
}

fn mix(a: Rgb, b: Rgb, part: f32) -> Rgb {
    [0, 1, 2].map(|i| a[i] + (b[i] - a[i]) * part)
}
