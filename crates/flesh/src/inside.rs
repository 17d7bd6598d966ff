//! How deep bodies of flesh are in each other. Skins that have crossed find no contacts, so that flesh which starts inside other flesh passes through it.
//!
//! Looks at points of flesh whose box overlaps that of other flesh by more than a tenth of the thinner one. World axes, metres. Cost: one pass over the nodes of all
//! flesh with a skin if there are two such; O(log n) per point where boxes overlap that far.

use glam::DVec3;
use sinew_contact::PlacedSkin;

use crate::model::FleshModel;
use crate::outline::OutlineBuffer;
use crate::state::FleshState;

/// Share of the thinner flesh beyond which an overlap is visibly wrong.
const VISIBLE: f64 = 0.1;

/// Lowest and highest corner.
type Extent = (DVec3, DVec3);

impl FleshModel {
    /// Two bodies of flesh that are inside each other by more than a tenth of the thinner one, the worst if there are several.
    pub fn inside_each_other(
        &self,
        state: &FleshState,
        buffers: &mut [OutlineBuffer; 2],
    ) -> Option<[usize; 2]> {
        let mut worst = (VISIBLE, None);
        for i in 0..self.bodies.len() {
            for j in i + 1..self.bodies.len() {
                let share = self.share_inside([i, j], state, buffers);
                if share > worst.0 {
                    worst = (share, Some([i, j]));
                }
            }
        }
        worst.1
    }

    /// How deep two bodies of flesh are in each other, over the least extent of the thinner one; 0 if that is little, or if they do not touch.
    fn share_inside(&self, pair: [usize; 2], state: &FleshState, buffers: &mut [OutlineBuffer; 2]) -> f64 {
        let groups = pair.map(|k| self.bodies[k].touching_skin().map(|(_, (_, groups))| groups));
        let [Some(first), Some(other)] = groups else { return 0.0 };
        let share_bone = self.ignored[pair[0]].iter().any(|bone| self.ignored[pair[1]].contains(bone));
        let [a, b] = pair.map(|k| extent(&state.nodes[k].positions));
        let common = (a.0.max(b.0), a.1.min(b.1));
        let thin = pair.map(|k| self.thickness(k)).into_iter().fold(f64::INFINITY, f64::min);
        let is_far = (common.1 - common.0).min_element() <= VISIBLE * thin;
        if is_far || share_bone || !first.meet(other) {
            return 0.0;
        }
        let [one, two] = buffers;
        let (Some(a), Some(b)) = (self.outline(pair[0], state, one), self.outline(pair[1], state, two))
        else {
            return 0.0;
        };
        let is_common = |x: &&DVec3| x.cmpge(common.0).all() && x.cmple(common.1).all();
        let deepest = |skin: PlacedSkin<'_>, other: PlacedSkin<'_>| {
            skin.points().iter().filter(is_common).map(|&point| other.depth(point)).fold(0.0, f64::max)
        };
        deepest(a.skin, b.skin).max(deepest(b.skin, a.skin)) / thin
    }

    /// The least extent of a body of flesh at rest, along the axes of the world (m).
    pub fn thickness(&self, flesh: usize) -> f64 {
        let (low, high) = extent(self.bodies[flesh].fem.mesh().positions());
        (high - low).min_element()
    }
}

fn extent(points: &[DVec3]) -> Extent {
    let none = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    points.iter().fold(none, |(low, high), x| (low.min(*x), high.max(*x)))
}
