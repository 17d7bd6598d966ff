//! Where an edge of a skin touches a solid between its ends. Frame of the solid, metres.
//!
//! The signed distance `φ` of a convex solid is a convex function, so its slope along an edge grows. The lowest part of the
//! edge is where the slope changes sign; where the edge lies flat on a face it is an interval, and both of its ends touch. At
//! a ridge the normal jumps from `n₁` to `n₂`: the one of their mixtures `n = αn₁ + (1 − α)n₂` that is at right angles to the edge
//! is the normal of the contact, and the depth along it is `−φ/|n|`. Cost: about 50 distances per edge that comes near;
//! two for edges that cannot.

use crate::capsule_pair::nearest;
use crate::height_field::HeightField;
use crate::nearest::Nearest;
use crate::refit_tree::NodeBox;
use crate::shape::ContactShape;
use crate::tri_mesh::TriMesh;
use glam::DVec3;

/// Slopes up to this count as flat: 0.1°.
const FLAT: f64 = 0.002;
/// Halvings of an edge: to 1e-7 of its length.
const HALVINGS: u32 = 24;
/// An interval shorter than this part of the edge is one point.
const POINT: f64 = 1e-3;
/// The normal of a ridge is known if the mixture is at least this long.
const MIXED: f64 = 0.3;

/// A ridge or corner of a mesh touches a skin, which bends over it, from a direction up to this sine beside its faces.
pub(crate) const BENT: f64 = 0.5;

/// The ends of an edge, and the distance there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeEnds {
    pub(crate) places: [DVec3; 2],
    pub(crate) nearest: [Nearest; 2],
}

/// A point of an edge: where along it (0 to 1), distance and normal. Without a normal the edge is so deep that no
/// side of the solid is nearest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct EdgePoint {
    pub(crate) at: f64,
    pub(crate) distance: f64,
    pub(crate) normal: Option<DVec3>,
}

impl EdgeEnds {
    pub(crate) fn place(&self, at: f64) -> DVec3 {
        self.places[0] + (self.places[1] - self.places[0]) * at
    }

    /// The distance (m) interpolated between the ends: never below that of the solid.
    pub(crate) fn chord(&self, at: f64) -> f64 {
        self.nearest[0].distance * (1.0 - at) + self.nearest[1].distance * at
    }

    /// The lowest part of the edge between its ends if it is nearer to a convex solid than `margin`: a point, or both
    /// ends of an interval.
    pub(crate) fn lowest(&self, solid: &ContactShape, margin: f64) -> [Option<EdgePoint>; 2] {
        let along = self.places[1] - self.places[0];
        let flat = FLAT * along.length();
        let [start, end] = self.nearest.map(|nearest| nearest.normal.dot(along));
        if start > flat || end < -flat || self.least(start, end) > margin {
            return [None; 2];
        }
        let left = self.search(solid, |slope| slope >= -flat, start);
        let right = self.search(solid, |slope| slope > flat, start);
        let (Some(left), Some(right)) = (left, right) else { return [None; 2] };
        let (from, to) = (left.upper, right.lower);
        if from <= 0.0 && to >= 1.0 {
            return [None; 2];
        }
        if to - from > POINT {
            let Some(middle) = solid.distance(self.place(0.5 * (from + to))) else { return [None; 2] };
            return [from, to].map(|at| self.point(solid, at, Some(middle.normal)));
        }
        [self.ridge(solid, left.lower, right.upper), None]
    }

    /// The lowest point over a height field where the edge crosses lines of its grid, if nearer than `margin`.
    pub(crate) fn lowest_crossing(&self, field: &HeightField, margin: f64) -> Option<EdgePoint> {
        let mut lowest: Option<EdgePoint> = None;
        field.crossings(self.places, |at| {
            if let Some(Nearest { distance, normal }) = field.distance(self.place(at))
                && distance <= margin
                && lowest.is_none_or(|lowest| distance < lowest.distance)
            {
                lowest = Some(EdgePoint { at, distance, normal: Some(normal) });
            }
        });
        lowest
    }

    /// The place over or under the nearest ridge of a mesh, pushed towards `inward`, if nearer than `margin` and not deeper than `deepest`.
    pub(crate) fn at_ridge(
        &self,
        mesh: &TriMesh,
        inward: DVec3,
        (margin, deepest): (f64, f64),
    ) -> Option<EdgePoint> {
        let along = self.places[1] - self.places[0];
        let around = NodeBox::around(self.places);
        let reach = DVec3::splat(margin.max(deepest.min(along.length())));
        let around = NodeBox { low: around.low - reach, high: around.high + reach };
        let mut nearest_ridge: Option<EdgePoint> = None;
        mesh.ridges.within(&around, |index| {
            let ridge = &mesh.features.ridges[index as usize];
            let other = ridge.ends[1] - ridge.ends[0];
            let Some(normal) = along.cross(other).try_normalize() else { return };
            let normal = normal * 1f64.copysign(normal.dot(inward));
            let (at, on_ridge) = nearest(self.places[0] - ridge.ends[0], along, other);
            let is_between = |at: f64| at > 0.0 && at < 1.0;
            if !is_between(at) || !is_between(on_ridge) || !mesh.may_touch_ridge(ridge, normal, BENT) {
                return;
            }
            let place = self.place(at);
            let distance = normal.dot(place - (ridge.ends[0] + other * on_ridge));
            // an edge under a ridge is in the solid and about as deep, or the ridge is on its other side
            let is_there = || {
                let depth = if mesh.is_solid() {
                    -mesh.distance(place).distance
                } else {
                    mesh.distance(place).distance
                };
                distance >= 0.0 || -distance <= depth / MIXED
            };
            if distance <= margin
                && distance >= -deepest
                && nearest_ridge.is_none_or(|known| distance.abs() < known.distance.abs())
                && is_there()
            {
                nearest_ridge = Some(EdgePoint { at, distance, normal: Some(normal) });
            }
        });
        nearest_ridge
    }

    /// A lower bound of the distance along the edge, by the tangents at its ends.
    fn least(&self, start: f64, end: f64) -> f64 {
        let [a, b] = self.nearest.map(|nearest| nearest.distance);
        if start >= 0.0 {
            a
        } else if end <= 0.0 {
            b
        } else {
            a + start * (b - end - a) / (start - end)
        }
    }

    /// Brackets where the slope begins to fulfil a condition.
    fn search(&self, solid: &ContactShape, begins: impl Fn(f64) -> bool, start: f64) -> Option<Bracket> {
        let along = self.places[1] - self.places[0];
        let mut bracket = Bracket { lower: 0.0, upper: 1.0 };
        if begins(start) {
            return Some(Bracket { lower: 0.0, upper: 0.0 });
        }
        if !begins(self.nearest[1].normal.dot(along)) {
            return Some(Bracket { lower: 1.0, upper: 1.0 });
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * (bracket.lower + bracket.upper);
            if begins(solid.distance(self.place(middle))?.normal.dot(along)) {
                bracket.upper = middle;
            } else {
                bracket.lower = middle;
            }
        }
        Some(bracket)
    }

    fn point(&self, solid: &ContactShape, at: f64, normal: Option<DVec3>) -> Option<EdgePoint> {
        let distance = solid.distance(self.place(at))?.distance;
        Some(EdgePoint { at, distance, normal })
    }

    /// The contact between two places close to each other, with the mixture of their normals.
    fn ridge(&self, solid: &ContactShape, before: f64, after: f64) -> Option<EdgePoint> {
        let along = self.places[1] - self.places[0];
        let normals = [solid.distance(self.place(before))?.normal, solid.distance(self.place(after))?.normal];
        let [falls, rises] = normals.map(|normal| normal.dot(along));
        let share = if rises > falls { (rises / (rises - falls)).clamp(0.0, 1.0) } else { 0.5 };
        let mixed = normals[0] * share + normals[1] * (1.0 - share);
        let length = mixed.length();
        let mut point = self.point(solid, 0.5 * (before + after), None)?;
        if length >= MIXED {
            point.normal = Some(mixed / length);
            if point.distance < 0.0 {
                point.distance /= length;
            }
        }
        Some(point)
    }
}

/// Two places on an edge with a change between them.
struct Bracket {
    lower: f64,
    upper: f64,
}

/// How far a point inside a convex solid has to go along a unit vector until it is outside (m), if that is at most `most`.
pub(crate) fn way_out(solid: &ContactShape, from: DVec3, direction: DVec3, most: f64) -> Option<f64> {
    let is_outside = |way: f64| Some(solid.distance(from + direction * way)?.distance >= 0.0);
    if !is_outside(most)? {
        return None;
    }
    let (mut inside, mut outside) = (0.0, most);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (inside + outside);
        if is_outside(middle)? {
            outside = middle;
        } else {
            inside = middle;
        }
    }
    Some(outside)
}
