//! Drawings: all primitives of one moment, for the software renderer and for graphics cards.
//!
//! Sizes of marks and arrows follow the reach of the scene. Items that are not finite are skipped. World axes, metres.
//! Cost: linear in solids, nodes and surface points.

use std::sync::Arc;

use glam::DVec3;
use sinew_math::{Pose, UnitSolid, ops};
use sinew_mechanism::BodyId;
use sinew_picture::Color;

use crate::primitives::{
    CONTACT, DARK, EDGE, FIXED_NODE, FREE_NODE, GRAB, HELD, HIGHLIGHT, Instance, JOINT, JOINT_FORCE, PIN,
    Rgb, STONE, ShownArrow, ShownLine, ShownSolid, ShownSurface,
};
use crate::{
    list::{DrawConstraint, HeldQuantity, LineKind},
    looks::SceneLooks,
    options::ShowOptions,
    scenery::Scenery,
    visible::VisibleState,
};

/// Line widths of edges of tetrahedra, and of paths of grabs and joint limits, relative to springs and grabs.
const EDGE_WEIGHT: f64 = 0.45;
pub(crate) const THIN: f64 = 0.6;
/// Sides of what looks round.
const ROUND: u32 = 24;
/// Standard gravity (m/s²), for the scale of forces.
const GRAVITY: f64 = 9.81;

/// Everything to draw at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing {
    /// Solids of the scenery.
    pub scenery: Vec<ShownSolid>,
    /// Solids of bodies.
    pub solids: Vec<ShownSolid>,
    /// Nodes of flesh: balls.
    pub nodes: Vec<Instance>,
    /// Targets of grabs: balls that show faintly through everything.
    pub targets: Vec<Instance>,
    /// Joints and pins: balls in front of everything.
    pub marks: Vec<Instance>,
    /// Forces, in front of everything.
    pub arrows: Vec<ShownArrow>,
    /// Joint limits and constraints of scores, in front of everything.
    pub gauges: Vec<ShownLine>,
    /// Surfaces of flesh; bones show through them.
    pub surfaces: Vec<ShownSurface>,
    /// Open surfaces: height fields, and surfaces through points of bodies.
    pub sheets: Vec<ShownSurface>,
    /// Lines.
    pub lines: Vec<ShownLine>,
    /// Ground and walls: a point, and the free direction.
    pub planes: Vec<(DVec3, DVec3)>,
    /// Size of the scene (m); sizes of marks and arrows follow it.
    pub reach: f64,
}

/// What does not change from one drawing to the next.
#[derive(Clone, Copy)]
pub struct DrawingContext<'a> {
    /// Colours, bones, the mesh of flesh.
    pub looks: &'a SceneLooks,
    /// Ground, walls and solids of the world.
    pub scenery: &'a Scenery,
    /// A plane below the scene: a point, and the free direction; see [`Scenery::floor`].
    pub floor: Option<(DVec3, DVec3)>,
    /// Size of the scene (m); sizes of marks and arrows follow it.
    pub reach: f64,
    /// What is shown.
    pub show: ShowOptions,
}

impl Drawing {
    /// Replaces the drawing by that of a moment; one body can be highlighted.
    pub fn fill(&mut self, visible: &VisibleState, context: &DrawingContext<'_>, highlight: Option<BodyId>) {
        self.clear();
        self.reach = context.reach;
        self.push_scenery(context.scenery);
        self.planes.extend(context.floor);
        self.push_bodies(visible, context.looks, highlight);
        if context.show.nodes {
            self.push_nodes(visible, context.looks);
        } else if context.show.flesh {
            self.push_flesh(visible, context.looks);
        }
        for (sheet, color) in visible.list.surfaces.iter().zip(&context.looks.surfaces) {
            push_surface(&mut self.sheets, &sheet.points, &sheet.triangles, color.to_array());
        }
        self.push_marks(visible, context.show.joints);
        self.push_lines(visible);
        for constraint in &visible.list.constraints {
            push_constraint(constraint, 0.045 * self.reach, &mut self.gauges);
        }
        self.push_forces(visible, context);
        for limit in visible.limits.iter().filter(|_| context.show.limits) {
            limit.draw(0.12 * self.reach, &mut self.gauges);
        }
    }

    /// Unit solids of covered bones, or of everything else.
    pub fn instances(&self, bones: bool) -> Instances {
        let is_covered = !self.surfaces.is_empty();
        let mut out = Instances::default();
        let solids = self.scenery.iter().chain(&self.solids);
        solids.filter(|solid| (solid.is_bone && is_covered) == bones).for_each(|solid| out.push(solid));
        if !bones {
            out.balls.extend(self.nodes.iter().chain(&self.targets));
        }
        out
    }

    fn clear(&mut self) {
        [&mut self.scenery, &mut self.solids].into_iter().for_each(Vec::clear);
        [&mut self.nodes, &mut self.targets, &mut self.marks].into_iter().for_each(Vec::clear);
        [&mut self.surfaces, &mut self.sheets].into_iter().for_each(Vec::clear);
        [&mut self.lines, &mut self.gauges].into_iter().for_each(Vec::clear);
        self.arrows.clear();
        self.planes.clear();
    }

    fn push_scenery(&mut self, scenery: &Scenery) {
        self.planes.extend(&scenery.planes);
        let solid = |&(shape, pose)| ShownSolid { shape, pose, color: STONE, is_bone: false };
        self.scenery.extend(scenery.solids.iter().map(solid));
        self.sheets.extend_from_slice(&scenery.ground);
    }

    fn push_bodies(&mut self, visible: &VisibleState, looks: &SceneLooks, highlight: Option<BodyId>) {
        for (solid, look) in visible.list.solids.iter().zip(&looks.solids) {
            let (plain, pose) = (look.color.to_array(), solid.world_from_shape);
            let color = if highlight == Some(solid.body) { mix(plain, HIGHLIGHT, 0.6) } else { plain };
            if pose.is_finite() {
                self.solids.push(ShownSolid { shape: solid.shape, pose, color, is_bone: look.is_bone });
            }
        }
    }

    fn push_flesh(&mut self, visible: &VisibleState, looks: &SceneLooks) {
        for (i, (flesh, look)) in visible.list.flesh.iter().zip(&looks.flesh).enumerate() {
            if push_surface(&mut self.surfaces, &flesh.points, &flesh.triangles, look.color.to_array())
                && let (Some(tints), Some(surface)) = (visible.tints.get(i), self.surfaces.last_mut())
            {
                surface.colors.extend(tints.iter().map(|&tint| Color::of_scale(tint)));
            }
        }
    }

    /// The mesh of flesh: edges, and balls whose volumes are proportional to the masses of the nodes.
    fn push_nodes(&mut self, visible: &VisibleState, looks: &SceneLooks) {
        for (look, points) in looks.flesh.iter().zip(&visible.nodes) {
            for &[a, b] in &look.edges {
                self.push_line(points[a as usize], points[b as usize], EDGE, EDGE_WEIGHT);
            }
            let heaviest = look.nodes.iter().fold(0.0f64, |most, node| most.max(node.0));
            for (&(mass, is_fixed), &center) in look.nodes.iter().zip(points) {
                let radius = 0.03 * self.reach * ops::pow((mass / heaviest).max(0.0), 1.0 / 3.0);
                let color = if is_fixed { FIXED_NODE } else { FREE_NODE };
                self.nodes.extend(ball(center, radius, color));
            }
        }
    }

    /// Joints and pins.
    fn push_marks(&mut self, visible: &VisibleState, joints: bool) {
        let joints = visible.list.points.iter().filter(|_| joints);
        self.marks.extend(joints.filter_map(|joint| ball(joint.position, 0.012 * self.reach, JOINT)));
        self.marks.extend(visible.pins.iter().filter_map(|&pin| ball(pin, 0.02 * self.reach, PIN)));
    }

    /// Springs, grabs, and the targets of grabs.
    fn push_lines(&mut self, visible: &VisibleState) {
        for line in &visible.list.lines {
            let color = if line.kind == LineKind::Grab { GRAB } else { DARK };
            self.push_line(line.from, line.to, color, 1.0);
            if line.kind == LineKind::Grab {
                self.targets.extend(ball(line.to, 0.014 * self.reach, GRAB));
            }
        }
    }

    /// Adds the path of the target of a grab.
    pub fn push_path(&mut self, from: DVec3, to: DVec3) {
        self.push_line(from, to, GRAB, THIN);
    }

    /// Contact and joint forces. A force equal to the weight of the scene is half as long as the scene. Lengths of
    /// contact forces grow with the square root of the force, because flesh has many contacts with small forces.
    fn push_forces(&mut self, visible: &VisibleState, context: &DrawingContext<'_>) {
        let weight = GRAVITY * context.looks.mass;
        let unit = 0.5 * self.reach / weight.max(f64::MIN_POSITIVE).sqrt();
        for &(point, force) in visible.contacts.iter().filter(|_| context.show.contacts) {
            self.push_arrow(point, force, unit * force.length().sqrt(), CONTACT);
        }
        let joints = visible.list.points.iter().filter(|_| context.show.joint_forces);
        for (joint, &force) in joints.zip(&visible.joint_forces) {
            self.push_arrow(joint.position, force, 0.5 * self.reach * force.length() / weight, JOINT_FORCE);
        }
    }

    fn push_arrow(&mut self, from: DVec3, force: DVec3, length: f64, color: Rgb) {
        let length = length.min(self.reach);
        if let Some(direction) =
            force.try_normalize().filter(|_| length > 0.01 * self.reach && from.is_finite())
        {
            self.arrows.push(ShownArrow { from, to: from + direction * length, color });
        }
    }

    fn push_line(&mut self, from: DVec3, to: DVec3, color: Rgb, weight: f64) {
        if from.is_finite() && to.is_finite() {
            self.lines.push(ShownLine { from, to, color, weight });
        }
    }
}

/// Unit solids by shape, for graphics cards.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Instances {
    /// Boxes.
    pub boxes: Vec<Instance>,
    /// Balls and ellipsoids.
    pub balls: Vec<Instance>,
    /// Cylinders.
    pub cylinders: Vec<Instance>,
}

impl Instances {
    fn push(&mut self, solid: &ShownSolid) {
        for piece in solid.shape.pieces() {
            let pose = Pose::new(solid.pose.rotation, solid.pose.transform_point(DVec3::X * piece.x));
            let list = match piece.solid {
                UnitSolid::Cube => &mut self.boxes,
                UnitSolid::Ball => &mut self.balls,
                UnitSolid::Cylinder => &mut self.cylinders,
            };
            list.push(Instance { pose, scale: piece.scale, color: solid.color });
        }
    }
}

/// The mark of a constraint, red as in KP08: a wire ball where a rotation is held, a wire cube where a place is. Seen from any side they are a
/// circle and a rectangle.
fn push_constraint(constraint: &DrawConstraint, size: f64, out: &mut Vec<ShownLine>) {
    let at = constraint.position;
    if !at.is_finite() {
        return;
    }
    let mut line = |from: DVec3, to: DVec3| {
        out.push(ShownLine { from: at + from * size, to: at + to * size, color: HELD, weight: 2.0 });
    };
    for [a, b, c] in
        [[DVec3::X, DVec3::Y, DVec3::Z], [DVec3::Y, DVec3::Z, DVec3::X], [DVec3::Z, DVec3::X, DVec3::Y]]
    {
        match constraint.kind {
            HeldQuantity::Rotation => {
                let point = |k: u32| {
                    let (sine, cosine) =
                        ops::sin_cos(std::f64::consts::TAU * f64::from(k) / f64::from(ROUND));
                    a * cosine + b * sine
                };
                (0..ROUND).for_each(|k| line(point(k), point(k + 1)));
            }
            HeldQuantity::Place => {
                for (s, t) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
                    let side = (b * s + c * t) * 0.8;
                    line(side - a * 0.8, side + a * 0.8);
                }
            }
        }
    }
}

/// Adds a surface if all its points are finite, and returns whether it did.
fn push_surface(
    out: &mut Vec<ShownSurface>,
    points: &[DVec3],
    triangles: &Arc<[[u32; 3]]>,
    color: Rgb,
) -> bool {
    let is_finite = points.iter().all(|point| point.is_finite());
    if is_finite {
        let (points, triangles) = (points.to_vec(), Arc::clone(triangles));
        out.push(ShownSurface { points, triangles, color, colors: Vec::new() });
    }
    is_finite
}

fn ball(center: DVec3, radius: f64, color: Rgb) -> Option<Instance> {
    center.is_finite().then(|| Instance::ball(center, radius, color))
}

fn mix(a: Rgb, b: Rgb, part: f64) -> Rgb {
    [0, 1, 2].map(|i| a[i] + (b[i] - a[i]) * part)
}
