//! Axis-aligned boxes, and a tree that finds the items near a box.
//!
//! The tree is binary, split at the median centre along the longest side, with nodes in preorder. Each node stores
//! where the search continues if its box is missed, so queries need no stack. Boxes that only touch count as near.
//! Build O(n log n), query O(log n + hits).

use glam::DVec3;

/// Items in a leaf.
const LEAF: usize = 4;

/// An axis-aligned box; empty when `lo > hi`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) lo: DVec3,
    pub(crate) hi: DVec3,
}

impl Bounds {
    pub(crate) const EMPTY: Self = Self { lo: DVec3::INFINITY, hi: DVec3::NEG_INFINITY };

    /// The smallest box around points.
    pub(crate) fn of(points: impl IntoIterator<Item = DVec3>) -> Self {
        let grow = |b: Self, p| Self { lo: b.lo.min(p), hi: b.hi.max(p) };
        points.into_iter().fold(Self::EMPTY, grow)
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    pub(crate) fn grown(self, by: f64) -> Self {
        Self { lo: self.lo - DVec3::splat(by), hi: self.hi + DVec3::splat(by) }
    }

    pub(crate) fn size(self) -> DVec3 {
        self.hi - self.lo
    }

    pub(crate) fn centre(self) -> DVec3 {
        self.lo + (self.hi - self.lo) * 0.5
    }

    pub(crate) fn touches(&self, other: &Self) -> bool {
        self.lo.cmple(other.hi).all() && other.lo.cmple(self.hi).all()
    }
}

struct BoxNode {
    bounds: Bounds,
    /// Where the search continues if this box is missed.
    skip: u32,
    /// Items of a leaf; empty for inner nodes.
    first: u32,
    n: u32,
}

/// A tree over the boxes of numbered items.
pub(crate) struct BoxTree {
    nodes: Vec<BoxNode>,
    items: Vec<u32>,
}

impl BoxTree {
    pub(crate) fn new(boxes: &[Bounds]) -> Self {
        let mut tree = Self { nodes: Vec::new(), items: (0..boxes.len() as u32).collect() };
        if !boxes.is_empty() {
            tree.grow(boxes, 0, boxes.len());
        }
        tree
    }

    /// The subtree of `items[first..end]`, appended to the nodes.
    fn grow(&mut self, boxes: &[Bounds], first: usize, end: usize) {
        let items = &mut self.items[first..end];
        let union = |b: Bounds, &i: &u32| b.union(boxes[i as usize]);
        let bounds = items.iter().fold(Bounds::EMPTY, union);
        let here = self.nodes.len();
        let n = end - first;
        if n <= LEAF {
            self.nodes.push(BoxNode { bounds, skip: here as u32 + 1, first: first as u32, n: n as u32 });
            return;
        }
        let centres = Bounds::of(items.iter().map(|&i| boxes[i as usize].centre()));
        let axis = centres.size().max_position();
        items.select_nth_unstable_by(n / 2, |&a, &b| {
            let centre = |i: u32| boxes[i as usize].lo[axis] + boxes[i as usize].hi[axis];
            centre(a).total_cmp(&centre(b)).then(a.cmp(&b))
        });
        self.nodes.push(BoxNode { bounds, skip: 0, first: 0, n: 0 });
        self.grow(boxes, first, first + n / 2);
        self.grow(boxes, first + n / 2, end);
        self.nodes[here].skip = self.nodes.len() as u32;
    }

    /// Calls `visit` with every item of a leaf whose box touches `bounds`: a superset of the items that do.
    pub(crate) fn visit(&self, bounds: &Bounds, mut visit: impl FnMut(u32)) {
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            if node.bounds.touches(bounds) {
                let items = node.first as usize..(node.first + node.n) as usize;
                self.items[items].iter().for_each(|&i| visit(i));
                at += 1;
            } else {
                at = node.skip as usize;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_testkit::Rng;

    #[test]
    fn every_touching_box_is_visited() {
        let mut rng = Rng::new(3);
        for n in [0, 1, 4, 5, 100] {
            let boxes: Vec<Bounds> = (0..n)
                .map(|_| {
                    let p = rng.vec3(-1.0, 1.0);
                    Bounds::of([p, p + rng.vec3(0.0, 0.3)])
                })
                .collect();
            let tree = BoxTree::new(&boxes);
            for query in &boxes {
                let mut found = Vec::new();
                tree.visit(query, |i| found.push(i));
                found.retain(|&i| boxes[i as usize].touches(query));
                found.sort_unstable();
                let expected: Vec<u32> = (0..n).filter(|&i| boxes[i as usize].touches(query)).collect();
                assert_eq!(found, expected);
            }
        }
    }
}
