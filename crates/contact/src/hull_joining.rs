//! Hulls joined to fewer. Metres.
//!
//! Of all pairs whose boxes touch, the one that adds the least volume is joined first, if the common hull is within the tolerance. If there are still too many, those are joined that reach out least.
//! Cost: O(n²) boxes, and a hull for each pair that touches.

use crate::convex_hull::ConvexHull;
use crate::hull_reach::{Reach, ReachMeter, ReachingHull};

/// The common hull of two hulls, by number.
struct HullUnion {
    of: [usize; 2],
    /// What it fills beyond them (m³).
    added: f64,
    hull: ConvexHull,
    /// Set if it reaches out too far.
    reach: Option<Reach>,
}

impl HullUnion {
    /// Of two hulls whose boxes touch, up to a slack (m).
    fn of(hulls: &[ReachingHull], i: usize, j: usize, slack: f64) -> Option<Self> {
        let (a, b) = (&hulls[i].hull, &hulls[j].hull);
        let (near, far) = (a.extent(), b.extent());
        let apart = (near.centre - far.centre).abs() - near.half - far.half;
        if apart.max_element() > slack {
            return None;
        }
        let hull = ConvexHull::new(&[a.corners(), b.corners()].concat()).ok()?;
        Some(Self { of: [i, j], added: hull.volume() - a.volume() - b.volume(), hull, reach: None })
    }
}

/// The hulls that are left if as many as possible are joined; at most `most` if enough of them touch.
pub(crate) fn joined(
    mut hulls: Vec<ReachingHull>,
    meter: &ReachMeter<'_>,
    most: usize,
    slack: f64,
) -> Vec<ReachingHull> {
    let pairs = (0..hulls.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
    let mut unions: Vec<HullUnion> = pairs.filter_map(|(i, j)| HullUnion::of(&hulls, i, j, slack)).collect();
    let mut is_left = vec![true; hulls.len()];
    let mut n = hulls.len();
    while let Some(k) = smallest(&unions).or_else(|| nearest(&unions).filter(|_| n > most)) {
        let reach = unions[k].reach.unwrap_or_else(|| meter.reach(&unions[k].hull, meter.far()));
        if reach.distance > meter.allowed && unions[k].reach.is_none() {
            unions[k].reach = Some(reach);
            continue;
        }
        let HullUnion { of: [i, j], hull, .. } = unions.swap_remove(k);
        (is_left[i], is_left[j]) = (false, false);
        let new = hulls.len();
        hulls.push(ReachingHull { hull, reach });
        unions.retain(|union| union.of.iter().all(|&k| is_left[k]));
        unions.extend((0..new).filter(|&k| is_left[k]).filter_map(|k| HullUnion::of(&hulls, k, new, slack)));
        is_left.push(true);
        n -= 1;
    }
    hulls.into_iter().zip(is_left).filter_map(|(hull, left)| left.then_some(hull)).collect()
}

/// The union that adds the least volume, of those not refused.
fn smallest(unions: &[HullUnion]) -> Option<usize> {
    let open = (0..unions.len()).filter(|&k| unions[k].reach.is_none());
    let key = |k: usize| (unions[k].added, unions[k].of);
    open.min_by(|&a, &b| key(a).0.total_cmp(&key(b).0).then(key(a).1.cmp(&key(b).1)))
}

/// The union that reaches out least, of those refused.
fn nearest(unions: &[HullUnion]) -> Option<usize> {
    let key = |k: usize| (unions[k].reach.map_or(f64::INFINITY, |reach| reach.distance), unions[k].of);
    (0..unions.len()).min_by(|&a, &b| key(a).0.total_cmp(&key(b).0).then(key(a).1.cmp(&key(b).1)))
}
