//! Solids cut into parts whose hulls are within a tolerance. Metres.
//!
//! The part whose hull reaches out farthest is cut by a plane, until all are within the tolerance. Planes to choose from lie along the faces of deep notches, halve them, or stand across
//! the axes. The best one leaves the least volume in both hulls, with a little less for halves of the same size: across a tube, no single cut gains volume (Mamou 2016).
//! Cost: for each cut, some 80 hulls of the points of the part.

use crate::cell_part::{CellPart, CutPlane};
use crate::convex_hull::ConvexHull;
use crate::error::ContactError;
use crate::hull_reach::{Reach, ReachMeter, ReachingHull};
use crate::mesh_features::{MeshFeatures, Ridge};
use crate::refit_tree::NodeBox;
use glam::DVec3;

/// Notches, and planes across each axis, that a part may be cut at.
const NOTCHES: usize = 8;
const ACROSS: usize = 5;
/// Points of a half whose volume is compared.
const COMPARED: usize = 500;
/// Weight of the difference of two halves beside their volume.
const BALANCE: f64 = 0.05;
/// Half the side of the box in which halves are compared, relative to the reach.
const NEAR: f64 = 4.0;

/// A part with its hull.
struct HulledPart {
    /// The solid it is a part of.
    solid: usize,
    part: CellPart,
    outer: ReachingHull,
    /// Whether no plane cuts it in two.
    is_whole: bool,
}

/// Cuts the solids of a meter.
pub(crate) struct HullCutter<'a> {
    pub(crate) meter: &'a ReachMeter<'a>,
    /// Points nearer to a plane are on it (m).
    pub(crate) slack: f64,
}

impl HullCutter<'_> {
    /// Hulls of parts that are within the tolerance, or at most `n`, or one for each solid.
    ///
    /// # Errors
    /// A solid without a hull.
    pub(crate) fn cut(&self, n: usize) -> Result<Vec<ReachingHull>, ContactError> {
        let wholes = self.meter.solids.iter().enumerate().map(|(solid, mesh)| {
            let part = CellPart::whole(mesh);
            let hull = ConvexHull::new(&part.points())?;
            Ok(self.measured(solid, part, hull))
        });
        let mut parts = wholes.collect::<Result<Vec<_>, ContactError>>()?;
        while parts.len() < n {
            let reach = |i: usize| parts[i].outer.reach.distance;
            let open = (0..parts.len()).filter(|&i| !parts[i].is_whole && reach(i) > self.meter.allowed);
            let Some(worst) = open.reduce(|a, b| if reach(b) > reach(a) { b } else { a }) else { break };
            match self.halved(&parts[worst]) {
                Some([low, high]) => {
                    parts[worst] = low;
                    parts.push(high);
                }
                None => parts[worst].is_whole = true,
            }
        }
        Ok(parts.into_iter().map(|part| part.outer).collect())
    }

    fn measured(&self, solid: usize, part: CellPart, hull: ConvexHull) -> HulledPart {
        let reach = self.meter.reach(&hull, self.meter.far());
        HulledPart { solid, part, outer: ReachingHull { hull, reach }, is_whole: false }
    }

    /// The halves of a part at the best plane that leaves two with a volume.
    fn halved(&self, whole: &HulledPart) -> Option<[HulledPart; 2]> {
        let solid = &self.meter.solids[whole.solid];
        let Reach { distance, place } = whole.outer.reach;
        let ways = DVec3::AXES.into_iter().flat_map(|axis| [axis, -axis]);
        let around = ways.filter_map(|way| CutPlane::through(place + way * (NEAR * distance), way));
        let near = around.fold(whole.part.clone(), |part, plane| part.below(plane, self.slack, solid));
        let mut planes = notch_planes(whole, &near, &solid.features, self.slack);
        planes.extend(axis_planes(&near));
        let score = |plane| score(&near.split(plane, self.slack, solid));
        let mut judged: Vec<(f64, CutPlane)> =
            planes.into_iter().filter_map(|plane| Some((score(plane)?, plane))).collect();
        judged.sort_by(|a, b| a.0.total_cmp(&b.0));
        judged.into_iter().find_map(|(_, plane)| {
            let [low, high] = whole.part.split(plane, self.slack, solid);
            let [inner, outer] =
                [ConvexHull::new(&low.points()).ok()?, ConvexHull::new(&high.points()).ok()?];
            Some([self.measured(whole.solid, low, inner), self.measured(whole.solid, high, outer)])
        })
    }
}

/// Planes along the faces of the deepest notches near a place of a part, and halfway between them.
fn notch_planes(whole: &HulledPart, near: &CellPart, features: &MeshFeatures, slack: f64) -> Vec<CutPlane> {
    let depth = |ridge: &Ridge| {
        let [from, to] = near.clip(ridge.ends)?;
        let depth = -whole.outer.hull.distance(0.5 * (from + to)).distance;
        (from.distance(to) > slack && depth > slack).then_some(depth)
    };
    let is_notch = |ridge: &Ridge| features.ridge_sides(ridge).iter().sum::<DVec3>().dot(ridge.outward) > 0.0;
    let notches = features.ridges.iter().filter(|ridge| is_notch(ridge));
    let mut deep: Vec<(f64, &Ridge)> = notches.filter_map(|ridge| Some((depth(ridge)?, ridge))).collect();
    deep.sort_by(|a, b| b.0.total_cmp(&a.0));
    // some of the deeper half, or all of it if they are few
    let step = deep.len().div_ceil(2 * NOTCHES).max(1);
    let mut planes = Vec::new();
    for (_, ridge) in deep.iter().step_by(step).take(NOTCHES) {
        let along = ridge.ends[1] - ridge.ends[0];
        let sides = features.ridge_sides(ridge);
        let into = sides.iter().copied().chain([sides.iter().sum()]);
        planes.extend(into.filter_map(|side| CutPlane::through(ridge.ends[0], along.cross(side))));
    }
    planes
}

/// Planes across each axis, at equal distances.
fn axis_planes(near: &CellPart) -> impl Iterator<Item = CutPlane> {
    let NodeBox { low, high } = NodeBox::around(near.points());
    let places = (1..=ACROSS).map(move |k| low + (high - low) * (k as f64 / (ACROSS + 1) as f64));
    places.flat_map(|place| DVec3::AXES.into_iter().filter_map(move |axis| CutPlane::through(place, axis)))
}

/// What is to be small for two halves: the volume of both hulls, and a little of its difference. None without two volumes.
fn score(halves: &[CellPart; 2]) -> Option<f64> {
    let [low, high] = halves.each_ref().map(|half| {
        let points = half.points();
        let step = points.len().div_ceil(COMPARED).max(1);
        ConvexHull::volume_around(&points.iter().copied().step_by(step).collect::<Vec<DVec3>>())
    });
    (low > 0.0 && high > 0.0).then(|| low + high + BALANCE * (low - high).abs())
}
