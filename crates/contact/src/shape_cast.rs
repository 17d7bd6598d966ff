//! Where a convex shape that moves along a line without turning first touches something.
//!
//! The gap between two convex solids is a convex function of the way. Along any direction `n` the gap between their supporting planes is a lower bound of
//! it, which closes at the rate `n·u`. So Newton's method on the gap, with `n` from the nearest points (parry's GJK), comes to the touch from before
//! and never passes it; between flat sides it ends after finitely many steps. Round shapes are cores with radii, surfaces (triangle meshes, height
//! fields, skins) the triangles that the box of the shape may meet on its way. World axes, metres. Cost: some five GJK per solid or triangle
//! near the way.

use crate::error::ContactError;
use crate::placed::{PlacedCollider, WorldShape};
use crate::placed_skin::PlacedSkin;
use crate::primitives::ConvexCore;
use crate::ray_triangle::LocalRay;
use crate::refit_tree::NodeBox;
use crate::shape::ContactShape;
use crate::shape_nearest::nearest_point;
use crate::shape_overlap::{box_in, core, encloses, inner_point, radius};
use glam::{DQuat, DVec3};
use parry3d_f64::math::Pose as ParryPose;
use parry3d_f64::query::epa::EPA;
use parry3d_f64::query::gjk::{self, ConstantOrigin, CsoPoint, GJKResult, VoronoiSimplex};
use parry3d_f64::shape::{SupportMap, Triangle};
use sinew_math::Pose;

/// Newton steps per solid or triangle, at most. A shape that grazes another one halves its error in each.
const STEPS: u32 = 64;

/// Share of the size of the shape that counts as no gap.
const TOUCHING: f64 = 1e-9;

/// Share of the size of the shape before the touch where its place is looked for: nearest points of solids that touch say little.
const BEFORE: f64 = 1e-5;

/// Least cosine between the motion and the direction of what it meets; below it passes.
const PASSING: f64 = 1e-12;

/// Where a moving shape touches: the way (m), negative if it begins inside by so much; the place, and the outward normal there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CastTouch {
    pub(crate) way: f64,
    pub(crate) point: DVec3,
    pub(crate) normal: DVec3,
}

/// A convex shape on its way.
pub(crate) struct MovingShape<'a> {
    shape: &'a ContactShape,
    placed: PlacedCollider,
    core: Option<ConvexCore<'a>>,
    /// World from core at the start.
    pose: ParryPose,
    /// Unit, or zero if it stays.
    along: DVec3,
    /// How far it goes (m).
    pub(crate) reach: f64,
    /// The middle of its box, on its way, and the half extents (m).
    ray: LocalRay,
    half: DVec3,
}

/// Something convex that stands still: its core at a pose, and the radius that the core leaves out.
struct Obstacle<'a> {
    core: &'a dyn SupportMap,
    pose: ParryPose,
    radius: f64,
}

/// Two cores at some moment: the unit vector from the moving to the standing one, and the nearest point of the latter.
struct NearCores {
    towards: DVec3,
    point: DVec3,
    are_apart: bool,
}

impl<'a> MovingShape<'a> {
    /// A ball, box, capsule, cylinder or convex hull that begins at a pose (world from shape) and moves without turning (m).
    pub(crate) fn new(shape: &'a ContactShape, from: Pose, motion: DVec3) -> Result<Self, ContactError> {
        let placed = PlacedCollider::of_shape(shape, from)?;
        let name = match shape {
            ContactShape::Plane => "plane",
            ContactShape::Field(_) => "height field",
            ContactShape::Mesh(_) => "mesh",
            ContactShape::Solid(_) | ContactShape::Convex(_) => "",
        };
        let extent = shape.extent().filter(|_| name.is_empty()).ok_or(ContactError::NotCast(name))?;
        if !motion.is_finite() {
            return Err(ContactError::Motion);
        }
        let core = core(shape);
        let rotation = core.as_ref().map_or(from.rotation, |core| core.turned(from.rotation));
        let along = motion.normalize_or_zero();
        Ok(Self {
            shape,
            core,
            pose: ParryPose::from_parts(from.translation, rotation),
            along,
            reach: motion.length(),
            ray: LocalRay::new(from.transform_point(extent.centre), along),
            half: extent.turned(placed.axes),
            placed,
        })
    }

    /// Whether it may touch what is in a box on the first part of its way.
    pub(crate) fn may_reach(&self, node: &NodeBox, reach: f64) -> bool {
        let around = NodeBox { low: node.low - self.half, high: node.high + self.half };
        around.entry(self.ray.origin, self.ray.inverse).is_some_and(|at| at <= reach.max(0.0))
    }

    /// The first touch of a collider, at most `reach` along the way.
    pub(crate) fn touch(&self, other: WorldShape<'_>, reach: f64) -> Option<CastTouch> {
        match other.shape {
            ContactShape::Plane => self.touch_plane(other, reach),
            ContactShape::Solid(_) | ContactShape::Convex(_) => {
                let (found, placed) = (core(other.shape), other.placed.pose);
                let turned = found.as_ref().map_or(placed.rotation, |core| core.turned(placed.rotation));
                let pose = ParryPose::from_parts(placed.translation, turned);
                self.meet(
                    &Obstacle { core: support(found.as_ref()), pose, radius: radius(other.shape) },
                    reach,
                )
            }
            ContactShape::Mesh(_) | ContactShape::Field(_) => self.touch_surface(other, reach),
        }
    }

    /// The first touch of a skin, at most `reach` along the way.
    pub(crate) fn touch_skin(&self, skin: &PlacedSkin<'_>, reach: f64) -> Option<CastTouch> {
        let inner = self.middle();
        if skin.is_inside(inner) {
            let (point, normal, distance) = skin.nearest(inner)?;
            return Some(self.enclosed(inner, (distance, normal), point));
        }
        let mut first = None;
        let bound = |first: &Option<CastTouch>| first.map_or(reach, |touch| touch.way);
        skin.skin.tree.walk(
            skin.boxes,
            &mut first,
            |first, node| self.may_reach(node, bound(first)),
            |first, face| {
                if let Some(corners) = skin.face(face) {
                    self.touch_triangle(corners, bound(first), first);
                }
            },
        );
        first
    }

    fn touch_plane(&self, plane: WorldShape<'_>, reach: f64) -> Option<CastTouch> {
        let normal = plane.placed.axes.z_axis;
        let lowest = self.support_towards(-normal) - normal * radius(self.shape);
        let (gap, rate) = (plane.placed.local(lowest).z, -normal.dot(self.along));
        let way = self.way_to(gap, rate)?;
        let place = lowest + self.along * way.max(0.0);
        let point = place - normal * plane.placed.local(place).z;
        (way <= reach).then_some(CastTouch { way, point, normal })
    }

    fn touch_surface(&self, surface: WorldShape<'_>, reach: f64) -> Option<CastTouch> {
        let inner = self.middle();
        if encloses(surface, inner) {
            let (distance, normal) = nearest_point(surface.shape, surface.placed.local(inner))?;
            let normal = surface.placed.axes * normal;
            return Some(self.enclosed(inner, (distance, normal), inner - normal * distance));
        }
        let own = WorldShape { shape: self.shape, placed: &self.placed };
        let start = box_in(own, surface);
        let moved = surface.placed.axes.transpose() * (self.along * reach.max(0.0));
        let around = start.with(NodeBox { low: start.low + moved, high: start.high + moved });
        let mut first = None;
        let mut look = |corners: [DVec3; 3]| {
            let bound = first.map_or(reach, |touch: CastTouch| touch.way);
            let corners = corners.map(|corner| surface.placed.pose.transform_point(corner));
            if self.may_reach(&NodeBox::around(corners), bound) {
                self.touch_triangle(corners, bound, &mut first);
            }
        };
        match surface.shape {
            ContactShape::Mesh(mesh) => mesh.faces_in(&around, |face| look(mesh.corners_of(face))),
            ContactShape::Field(field) => field.triangles_in(&around, &mut look),
            _ => {}
        }
        first
    }

    /// Replaces a touch by an earlier one of a triangle of the world.
    fn touch_triangle(&self, [a, b, c]: [DVec3; 3], reach: f64, first: &mut Option<CastTouch>) {
        let triangle = Triangle::new(a, b, c);
        let pose = ParryPose::from_parts(DVec3::ZERO, DQuat::IDENTITY);
        let touch = self.meet(&Obstacle { core: &triangle, pose, radius: 0.0 }, reach);
        if let Some(touch) = touch.filter(|touch| first.is_none_or(|known| touch.way < known.way)) {
            *first = Some(touch);
        }
    }

    /// Newton's method on the gap.
    fn meet(&self, other: &Obstacle<'_>, reach: f64) -> Option<CastTouch> {
        let mut near = self.nearest(0.0, other);
        let gap_at = |way: f64, near: &NearCores| self.gap(way, near.towards, other);
        let mut way = self.way_to(gap_at(0.0, &near), near.towards.dot(self.along))?;
        let mut steps = 1;
        while way > 0.0 {
            if way > reach || steps == STEPS {
                return None;
            }
            // Of solids that touch the nearest points say little: then the bound before counts, which is met.
            let found = self.nearest(way, other);
            let gap = gap_at(way, &found);
            if !found.are_apart || gap <= self.slack() {
                break;
            }
            near = found;
            way += self.way_to(gap, near.towards.dot(self.along))?;
            steps += 1;
        }
        if way > 0.0 {
            let before = self.nearest((way - BEFORE * self.size()).max(0.0), other);
            near.point = if before.are_apart { before.point } else { near.point };
        }
        (way <= reach).then(|| CastTouch {
            way,
            point: near.point - near.towards * other.radius,
            normal: -near.towards,
        })
    }

    /// The way over which a gap closes at a rate; the gap itself if the shape begins inside. None if it does not close.
    fn way_to(&self, gap: f64, rate: f64) -> Option<f64> {
        if gap < -self.slack() {
            return Some(gap);
        }
        (rate > PASSING).then(|| gap.max(0.0) / rate)
    }

    /// The touch of a shape that begins with its middle inside a surface, at a distance from it with a normal.
    fn enclosed(&self, inner: DVec3, (distance, normal): (f64, DVec3), point: DVec3) -> CastTouch {
        let lowest = self.support_towards(-normal) - normal * radius(self.shape);
        CastTouch { way: distance + normal.dot(lowest - inner), point, normal }
    }

    /// Nearest points of the cores after a way.
    fn nearest(&self, way: f64, other: &Obstacle<'_>) -> NearCores {
        let own = ParryPose { translation: self.pose.translation + self.along * way, ..self.pose };
        let pose = own.inv_mul(&other.pose);
        let core = support(self.core.as_ref());
        let mut simplex = VoronoiSimplex::new();
        let towards = pose.translation.try_normalize().unwrap_or(DVec3::X);
        simplex.reset(CsoPoint::from_shapes(&pose, core, other.core, towards));
        let found = match gjk::closest_points(&pose, core, other.core, f64::MAX, true, &mut simplex) {
            GJKResult::ClosestPoints(_, q, normal) => Some((q, normal, true)),
            GJKResult::Intersection => EPA::new()
                .closest_points(&pose, core, other.core, &simplex)
                .map(|(_, q, normal)| (q, normal, false)),
            GJKResult::NoIntersection(_) | GJKResult::Proximity(_) => None,
        };
        match found {
            Some((point, towards, are_apart)) => {
                let (point, towards) = (own.transform_point(point), own.transform_vector(towards));
                NearCores { point, towards, are_apart }
            }
            None => NearCores { point: own.translation, towards: self.along, are_apart: false },
        }
    }

    /// Gap along a direction after a way: never more than the distance; negative inside.
    fn gap(&self, way: f64, towards: DVec3, other: &Obstacle<'_>) -> f64 {
        let own = self.support_towards(towards) + self.along * way;
        let opposite = other.core.support_point(&other.pose, -towards);
        towards.dot(opposite - own) - radius(self.shape) - other.radius
    }

    /// The point of its core at the start that is farthest along a direction.
    fn support_towards(&self, direction: DVec3) -> DVec3 {
        support(self.core.as_ref()).support_point(&self.pose, direction)
    }

    /// A point of it at the start.
    fn middle(&self) -> DVec3 {
        self.placed.pose.transform_point(inner_point(self.shape).unwrap_or(DVec3::ZERO))
    }

    fn size(&self) -> f64 {
        self.half.length()
    }

    fn slack(&self) -> f64 {
        TOUCHING * self.size()
    }
}

/// The core of a shape; that of a ball is its middle.
fn support<'c>(core: Option<&'c ConvexCore<'_>>) -> &'c dyn SupportMap {
    core.map_or(&ConstantOrigin as &dyn SupportMap, ConvexCore::support)
}
