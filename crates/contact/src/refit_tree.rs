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

/// Buffers of [`RefitTree::meet`].
#[derive(Clone, Debug, Default)]
pub(crate) struct TreeMeeting {
    /// Nodes of the other tree that may be wanted, one list per open node.
    lists: Vec<u32>,
    /// Nodes that are open: where they end, and where their lists begin.
    open: Vec<(u32, u32)>,
    leaves: Vec<u32>,
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
        mut visit: impl FnMut(&mut T, u32),
    ) {
        let mut i = 0;
        while let Some(node) = self.nodes.get(i) {
            if wanted(state, &boxes[i]) {
                self.leaf(node).iter().for_each(|&item| visit(state, item));
                i += 1;
            } else {
                i = node.skip as usize;
            }
        }
    }

    /// Gives `visit` every leaf with its items, and the leaves of `other` that are `wanted` for it, as numbers of nodes in the order of that tree. A pair of
    /// nodes that is not wanted must have no wanted pair below. Both trees are descended together.
    pub(crate) fn meet(
        &self,
        other: &Self,
        wanted: impl Fn(usize, usize) -> bool,
        work: &mut TreeMeeting,
        mut visit: impl FnMut(usize, &[u32], &[u32]),
    ) {
        let TreeMeeting { lists, open, leaves } = work;
        lists.clear();
        open.clear();
        if !other.nodes.is_empty() {
            lists.push(0);
        }
        let mut i = 0;
        while let Some(node) = self.nodes.get(i) {
            while let Some(&(_, first)) = open.last().filter(|(end, _)| *end as usize <= i) {
                lists.truncate(first as usize);
                open.pop();
            }
            // The list of the node above is the last one.
            let list = open.last().map_or(0, |&(_, first)| first as usize)..lists.len();
            if node.count > 0 {
                leaves.clear();
                for k in list {
                    other.walk_below(lists[k] as usize, |b| wanted(i, b), |leaf| leaves.push(leaf));
                }
                if !leaves.is_empty() {
                    visit(i, self.leaf(node), leaves);
                }
                i += 1;
                continue;
            }
            let before = lists.len();
            for k in list {
                let b = lists[k] as usize;
                if wanted(i, b) {
                    other.push_below(b, lists);
                }
            }
            if lists.len() == before {
                i = node.skip as usize;
            } else {
                open.push((node.skip, before as u32));
                i += 1;
            }
        }
    }

    /// Adds a leaf, or the two nodes below another node.
    fn push_below(&self, node: usize, list: &mut Vec<u32>) {
        if self.nodes[node].count > 0 {
            list.push(node as u32);
        } else {
            list.extend([node as u32 + 1, self.nodes[node + 1].skip]);
        }
    }

    /// Gives `visit` the leaves at and below a node that are `wanted`, as are the nodes above them.
    fn walk_below(&self, node: usize, wanted: impl Fn(usize) -> bool, mut visit: impl FnMut(u32)) {
        let (mut i, end) = (node, self.nodes[node].skip as usize);
        while i < end {
            if !wanted(i) {
                i = self.nodes[i].skip as usize;
                continue;
            }
            if self.nodes[i].count > 0 {
                visit(i as u32);
            }
            i += 1;
        }
    }

    /// The items of a leaf.
    pub(crate) fn items(&self, leaf: u32) -> &[u32] {
        self.leaf(&self.nodes[leaf as usize])
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
    fn two_trees_meet_as_all_pairs_of_their_items_do() {
        let mut rng = Rng::new(6);
        for (n, m) in [(1, 1), (3, 200), (200, 3), (150, 170)] {
            let random = |n, rng: &mut Rng| -> Vec<NodeBox> { (0..n).map(|_| random_box(rng)).collect() };
            let (one, other) = (random(n, &mut rng), random(m, &mut rng));
            let trees = [RefitTree::new(&one), RefitTree::new(&other)];
            let mut fitted = [Vec::new(), Vec::new()];
            trees[0].refit(|item| one[item as usize], &mut fitted[0]);
            trees[1].refit(|item| other[item as usize], &mut fitted[1]);
            let mut found = Vec::new();
            let wanted = |a: usize, b: usize| fitted[0][a].overlap(&fitted[1][b]);
            trees[0].meet(&trees[1], wanted, &mut TreeMeeting::default(), |_, items, leaves| {
                assert!(leaves.is_sorted());
                for (a, b) in items.iter().flat_map(|&a| leaves.iter().map(move |&b| (a, b))) {
                    let near =
                        trees[1].items(b).iter().filter(|b| one[a as usize].overlap(&other[**b as usize]));
                    found.extend(near.map(|&b| (a, b)));
                }
            });
            found.sort_unstable();
            let all = (0..n).flat_map(|a| (0..m).map(move |b| (a, b)));
            let expected: Vec<(u32, u32)> =
                all.filter(|&(a, b)| one[a as usize].overlap(&other[b as usize])).collect();
            assert_eq!(found, expected);
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
