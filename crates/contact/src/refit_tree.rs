//! A tree of bounding boxes over items that move but keep their number: built once, refitted for every query.
//!
//! The items are divided at the median of the longest side of their boxes until few are left. Nodes are stored in preorder with
//! the index that follows their subtree, so a walk needs no stack and always has the same order. Lengths in metres, any
//! axes. Cost: O(n log² n) to build, O(n) to refit, O(log n + found) per walk; nothing is allocated once the boxes have grown.

use glam::DVec3;

/// Most items in a leaf.
const LEAF: usize = 4;

/// Lowest and highest corner (m).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NodeBox {
    pub(crate) low: DVec3,
    pub(crate) high: DVec3,
}

impl NodeBox {
    /// Overlaps nothing.
    pub(crate) const NONE: Self = Self { low: DVec3::INFINITY, high: DVec3::NEG_INFINITY };

    /// Around points.
    pub(crate) fn around(points: impl IntoIterator<Item = DVec3>) -> Self {
        points.into_iter().fold(Self::NONE, |sum, p| Self { low: sum.low.min(p), high: sum.high.max(p) })
    }

    /// False for NaN.
    pub(crate) fn overlap(&self, other: &Self) -> bool {
        self.low.cmple(other.high).all() && other.low.cmple(self.high).all()
    }

    /// The largest product `−a·b` of vectors inside two boxes.
    pub(crate) fn most_opposed(&self, other: &Self) -> f64 {
        let along = |a: DVec3| (a * other.low).max(a * other.high);
        along(-self.low).max(along(-self.high)).element_sum()
    }

    /// Larger by a distance (m) on all sides.
    pub(crate) fn widened(self, by: f64) -> Self {
        Self { low: self.low - by, high: self.high + by }
    }

    /// Squared distance of a point (m²), zero inside.
    pub(crate) fn distance_squared(&self, point: DVec3) -> f64 {
        (self.low - point).max(point - self.high).max(DVec3::ZERO).length_squared()
    }

    /// Where a ray enters (in lengths of its direction, given as the inverse of its components); none if it misses.
    pub(crate) fn entry(&self, origin: DVec3, inverse: DVec3) -> Option<f64> {
        let (a, b) = ((self.low - origin) * inverse, (self.high - origin) * inverse);
        let (enters, leaves) = (a.min(b).max_element().max(0.0), a.max(b).min_element());
        (enters <= leaves).then_some(enters)
    }

    pub(crate) fn with(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }
}

/// The shape of the tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RefitTree {
    nodes: Vec<Node>,
    items: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Node {
    /// The node after this subtree.
    skip: u32,
    /// Items of a leaf; none in other nodes.
    first: u32,
    count: u32,
}

impl RefitTree {
    /// Over items with these boxes.
    pub(crate) fn new(boxes: &[NodeBox]) -> Self {
        let mut tree = Self { nodes: Vec::new(), items: (0..boxes.len() as u32).collect() };
        if !boxes.is_empty() {
            tree.divide(boxes, 0, boxes.len());
        }
        tree
    }

    fn divide(&mut self, boxes: &[NodeBox], first: usize, end: usize) {
        let at = self.nodes.len();
        let is_leaf = end - first <= LEAF;
        let count = if is_leaf { (end - first) as u32 } else { 0 };
        self.nodes.push(Node { skip: 0, first: first as u32, count });
        if !is_leaf {
            let centre = |item: &u32| boxes[*item as usize].low + boxes[*item as usize].high;
            let all = NodeBox::around(self.items[first..end].iter().map(centre));
            let size = all.high - all.low;
            let axis = if size.x >= size.y && size.x >= size.z {
                0
            } else if size.y >= size.z {
                1
            } else {
                2
            };
            self.items[first..end]
                .sort_unstable_by(|a, b| centre(a)[axis].total_cmp(&centre(b)[axis]).then(a.cmp(b)));
            let middle = usize::midpoint(first, end);
            self.divide(boxes, first, middle);
            self.divide(boxes, middle, end);
        }
        self.nodes[at].skip = self.nodes.len() as u32;
    }

    /// Writes the box of every node for items with the boxes `of`.
    pub(crate) fn refit(&self, of: impl Fn(u32) -> NodeBox, out: &mut Vec<NodeBox>) {
        out.clear();
        out.resize(self.nodes.len(), NodeBox::NONE);
        for (i, node) in self.nodes.iter().enumerate().rev() {
            out[i] = if node.count > 0 {
                self.leaf(node).iter().map(|&item| of(item)).fold(NodeBox::NONE, NodeBox::with)
            } else {
                out[i + 1].with(out[self.nodes[i + 1].skip as usize])
            };
        }
    }

    /// Gives `visit` the items of all leaves whose boxes are `wanted`.
    pub(crate) fn walk<T>(
        &self,
        boxes: &[NodeBox],
        state: &mut T,
        wanted: impl Fn(&T, &NodeBox) -> bool,
        visit: impl FnMut(&mut T, u32),
    ) {
        self.walk_nodes(state, |state, node| wanted(state, &boxes[node]), visit);
    }

    /// Gives `visit` the items of all leaves that are `wanted`; nodes are numbered as their boxes.
    pub(crate) fn walk_nodes<T>(
        &self,
        state: &mut T,
        wanted: impl Fn(&T, usize) -> bool,
        mut visit: impl FnMut(&mut T, u32),
    ) {
        let mut i = 0;
        while let Some(node) = self.nodes.get(i) {
            if wanted(state, i) {
                self.leaf(node).iter().for_each(|&item| visit(state, item));
                i += 1;
            } else {
                i = node.skip as usize;
            }
        }
    }

    /// Nodes that together contain all items, each with its items, at most `most` of them.
    pub(crate) fn groups(&self, most: usize) -> impl Iterator<Item = (usize, &[u32])> {
        let mut next = 0;
        std::iter::from_fn(move || {
            loop {
                let (at, node) = (next, self.nodes.get(next)?);
                let after =
                    self.nodes.get(node.skip as usize).map_or(self.items.len(), |node| node.first as usize);
                let items = &self.items[node.first as usize..after];
                let is_group = items.len() <= most || node.count > 0;
                next = if is_group { node.skip as usize } else { at + 1 };
                if is_group {
                    return Some((at, items));
                }
            }
        })
    }

    fn leaf(&self, node: &Node) -> &[u32] {
        &self.items[node.first as usize..(node.first + node.count) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_testkit::Rng;

    #[test]
    fn groups_contain_every_item_once() {
        let mut rng = Rng::new(6);
        for (n, most) in [(1, 4), (9, 4), (300, 16), (300, 1000)] {
            let boxes: Vec<NodeBox> = (0..n).map(|_| random_box(&mut rng)).collect();
            let tree = RefitTree::new(&boxes);
            let mut fitted = Vec::new();
            tree.refit(|item| boxes[item as usize], &mut fitted);
            let mut found: Vec<u32> = Vec::new();
            for (node, items) in tree.groups(most) {
                assert!(
                    items.len() <= most && items.iter().all(|&i| fitted[node].overlap(&boxes[i as usize]))
                );
                found.extend(items);
            }
            found.sort_unstable();
            assert_eq!(found, (0..n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_walk_finds_what_a_search_through_all_items_finds() {
        let mut rng = Rng::new(5);
        for n in [1, 2, 7, 300] {
            let mut boxes: Vec<NodeBox> = (0..n).map(|_| random_box(&mut rng)).collect();
            let tree = RefitTree::new(&boxes);
            let mut fitted = Vec::new();
            for _ in 0..20 {
                // the items move after the tree was built
                boxes.iter_mut().for_each(|each| *each = random_box(&mut rng));
                tree.refit(|item| boxes[item as usize], &mut fitted);
                let around = random_box(&mut rng);
                let mut found = Vec::new();
                tree.walk(
                    &fitted,
                    &mut found,
                    |_, node| node.overlap(&around),
                    |found, item| {
                        if boxes[item as usize].overlap(&around) {
                            found.push(item);
                        }
                    },
                );
                found.sort_unstable();
                let expected: Vec<u32> = (0..n).filter(|&i| boxes[i as usize].overlap(&around)).collect();
                assert_eq!(found, expected);
            }
        }
    }

    fn random_box(rng: &mut Rng) -> NodeBox {
        let centre = rng.vec3(-1.0, 1.0);
        let half = rng.vec3(0.0, 0.3);
        NodeBox { low: centre - half, high: centre + half }
    }
}
