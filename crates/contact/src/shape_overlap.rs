//! Whether two shapes overlap, and whether a triangle meets a shape. Exact to rounding for solids; depths and contact points are not asked for.
//!
//! Convex solids by parry's GJK on their cores, enlarged by their radii. A surface (triangle mesh, height field) overlaps a shape if one of its triangles
//! meets it or if the shape is inside. A sheet has no inside. World axes in, frames of the shapes inside, metres. Cost: constant for two
//! solids, the triangles in the box of the other for a surface.

use crate::height_field::HeightField;
use crate::placed::WorldShape;
use crate::primitives::{ConvexCore, core_radius};
use crate::ray_triangle::segment_meets;
use crate::refit_tree::NodeBox;
use crate::shape::ContactShape;
use crate::tri_mesh::{TriMesh, nearest_on};
use glam::{DQuat, DVec3};
use parry3d_f64::math::Pose as ParryPose;
use parry3d_f64::query::gjk::{self, CsoPoint, GJKResult, VoronoiSimplex};
use parry3d_f64::shape::{SupportMap, Triangle};
use sinew_math::Shape;

/// Whether two shapes overlap or touch. Two planes never do.
pub(crate) fn overlap(a: WorldShape<'_>, b: WorldShape<'_>) -> bool {
    use ContactShape::{Field, Mesh, Plane, Solid};
    match (a.shape, b.shape) {
        (Plane, Plane) => false,
        (Mesh(_) | Field(_), _) => surface_overlaps(a, b),
        (_, Mesh(_) | Field(_)) => surface_overlaps(b, a),
        (Plane, _) => reaches_plane(b, a),
        (_, Plane) => reaches_plane(a, b),
        (Solid(Shape::Sphere { radius }), _) => ball_overlaps(a, *radius, b),
        (_, Solid(Shape::Sphere { radius })) => ball_overlaps(b, *radius, a),
        _ => solids_overlap(a, b),
    }
}

/// Whether a triangle and a shape have a point in common; corners in the frame of the shape (m).
pub(crate) fn triangle_meets(corners: [DVec3; 3], shape: &ContactShape) -> bool {
    match shape {
        ContactShape::Plane => corners.iter().any(|corner| corner.z <= 0.0),
        ContactShape::Solid(Shape::Sphere { radius }) => {
            nearest_on(corners, DVec3::ZERO).point.length() <= *radius
        }
        ContactShape::Mesh(mesh) => meets_mesh(corners, mesh),
        ContactShape::Field(field) => meets_field(corners, field),
        ContactShape::Solid(_) | ContactShape::Convex(_) => {
            let Some(core) = core(shape) else { return false };
            let [a, b, c] = corners;
            let pose = ParryPose::from_parts(DVec3::ZERO, core.turned(DQuat::IDENTITY));
            cores_meet(&pose.inverse(), core.support(), &Triangle::new(a, b, c), radius(shape))
        }
    }
}

/// A point inside a shape, or of it, in its frame (m); none for a plane.
pub(crate) fn inner_point(shape: &ContactShape) -> Option<DVec3> {
    match shape {
        ContactShape::Plane => None,
        ContactShape::Mesh(mesh) => mesh.vertices().first().copied(),
        ContactShape::Field(field) => field.surface(0.0, 0.0).map(|(height, _)| DVec3::Z * height),
        ContactShape::Solid(_) | ContactShape::Convex(_) => Some(shape.middle()),
    }
}

/// Whether the inside of a shape holds a point (m, frame of the shape).
fn holds(shape: &ContactShape, point: DVec3) -> bool {
    shape.signed_distance(point).is_some_and(|distance| distance <= 0.0)
}

/// Whether a point of the world is inside a mesh, or in the ground under a height field.
pub(crate) fn encloses(surface: WorldShape<'_>, point: DVec3) -> bool {
    let local = surface.placed.local(point);
    let is_far_below = match surface.shape {
        ContactShape::Field(field) => !field.extent().holds(local, 0.0),
        _ => false,
    };
    holds(surface.shape, local) && !is_far_below
}

fn surface_overlaps(surface: WorldShape<'_>, other: WorldShape<'_>) -> bool {
    let inner = inner_point(other.shape).map(|point| other.placed.pose.transform_point(point));
    if inner.is_some_and(|point| encloses(surface, point)) {
        return true;
    }
    let around = box_in(other, surface);
    let mut meets = false;
    let mut look = |corners: [DVec3; 3]| {
        let local = |corner: DVec3| other.placed.local(surface.placed.pose.transform_point(corner));
        meets = meets || triangle_meets(corners.map(local), other.shape);
    };
    match surface.shape {
        ContactShape::Mesh(mesh) => mesh.faces_in(&around, |face| look(mesh.corners_of(face))),
        ContactShape::Field(field) => field.triangles_in(&around, &mut look),
        _ => {}
    }
    meets
}

/// The box of a shape along the axes of another one, in its frame; everything for a plane.
pub(crate) fn box_in(shape: WorldShape<'_>, frame: WorldShape<'_>) -> NodeBox {
    let Some(extent) = shape.shape.extent() else {
        return NodeBox { low: DVec3::NEG_INFINITY, high: DVec3::INFINITY };
    };
    let centre = frame.placed.local(shape.placed.pose.transform_point(extent.centre));
    let half = extent.turned(frame.placed.axes.transpose() * shape.placed.axes);
    NodeBox { low: centre - half, high: centre + half }
}

fn reaches_plane(solid: WorldShape<'_>, plane: WorldShape<'_>) -> bool {
    let down = solid.placed.axes.transpose() * -plane.placed.axes.z_axis;
    let lowest = match core(solid.shape) {
        Some(core) => {
            let turn = core.turned(DQuat::IDENTITY);
            turn * core.support().local_support_point(turn.inverse() * down)
        }
        None => DVec3::ZERO,
    };
    let height = plane.placed.local(solid.placed.pose.transform_point(lowest)).z;
    height <= radius(solid.shape)
}

fn ball_overlaps(ball: WorldShape<'_>, radius: f64, other: WorldShape<'_>) -> bool {
    let centre = other.placed.local(ball.placed.pose.translation);
    other.shape.signed_distance(centre).is_some_and(|distance| distance <= radius)
}

fn solids_overlap(a: WorldShape<'_>, b: WorldShape<'_>) -> bool {
    let (Some(first), Some(second)) = (core(a.shape), core(b.shape)) else { return false };
    let pose = |solid: WorldShape<'_>, core: &ConvexCore<'_>| {
        let pose = solid.placed.pose;
        ParryPose::from_parts(pose.translation, core.turned(pose.rotation))
    };
    let pose = pose(a, &first).inv_mul(&pose(b, &second));
    cores_meet(&pose, first.support(), second.support(), radius(a.shape) + radius(b.shape))
}

/// Whether two convex cores are at most `reach` apart (m); `pose` is that of the second in the frame of the first.
fn cores_meet(pose: &ParryPose, a: &dyn SupportMap, b: &dyn SupportMap, reach: f64) -> bool {
    let towards = pose.translation.try_normalize().unwrap_or(DVec3::X);
    let mut simplex = VoronoiSimplex::new();
    simplex.reset(CsoPoint::from_shapes(pose, a, b, towards));
    match gjk::closest_points(pose, a, b, reach, true, &mut simplex) {
        GJKResult::Intersection => true,
        GJKResult::ClosestPoints(p, q, normal) => normal.dot(q - p) <= reach,
        GJKResult::NoIntersection(_) | GJKResult::Proximity(_) => false,
    }
}

fn meets_mesh(corners: [DVec3; 3], mesh: &TriMesh) -> bool {
    if mesh.is_solid() && corners.iter().any(|&corner| mesh.distance(corner).distance <= 0.0) {
        return true;
    }
    let mut meets = false;
    mesh.faces_in(&NodeBox::around(corners), |face| {
        meets = meets || triangles_cross(corners, mesh.corners_of(face));
    });
    meets
}

fn meets_field(corners: [DVec3; 3], field: &HeightField) -> bool {
    let is_under = |&point: &DVec3| field.distance(point).is_some_and(|nearest| nearest.distance <= 0.0);
    if corners.iter().any(is_under) {
        return true;
    }
    let mut meets = false;
    let around = NodeBox::around(corners);
    field.triangles_in(&around, &mut |ground| meets = meets || triangles_cross(corners, ground));
    meets
}

/// Whether an edge of one triangle passes through the other.
fn triangles_cross(a: [DVec3; 3], b: [DVec3; 3]) -> bool {
    let edges = |t: [DVec3; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
    edges(a).into_iter().any(|edge| segment_meets(edge, b))
        || edges(b).into_iter().any(|edge| segment_meets(edge, a))
}

/// The core of a convex shape; none for a ball.
pub(crate) fn core(shape: &ContactShape) -> Option<ConvexCore<'_>> {
    match shape {
        ContactShape::Solid(shape) => ConvexCore::of(shape),
        ContactShape::Convex(hull) => Some(ConvexCore::Hull(hull.solid())),
        ContactShape::Plane | ContactShape::Field(_) | ContactShape::Mesh(_) => None,
    }
}

/// The radius that the core leaves out (m).
pub(crate) fn radius(shape: &ContactShape) -> f64 {
    match shape {
        ContactShape::Solid(Shape::Sphere { radius }) => *radius,
        ContactShape::Solid(shape) => core_radius(shape),
        _ => 0.0,
    }
}
