//! Disjoint sets: union by size with path halving (Tarjan & van Leeuwen 1984), almost constant time per call.

pub(crate) struct DisjointSets {
    /// Parent of an element; of a root, minus the size of its set.
    links: Vec<i64>,
}

impl DisjointSets {
    /// `n` sets of one element each.
    pub(crate) fn new(n: usize) -> Self {
        Self { links: vec![-1; n] }
    }

    /// The representative of the set that holds `element`.
    pub(crate) fn find(&mut self, mut element: usize) -> usize {
        while let Ok(parent) = usize::try_from(self.links[element]) {
            if let Ok(grandparent) = usize::try_from(self.links[parent]) {
                self.links[element] = grandparent as i64;
                element = grandparent;
            } else {
                return parent;
            }
        }
        element
    }

    /// Merges two sets; false when both elements were in the same one already.
    pub(crate) fn union(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return false;
        }
        let (large, small) = if self.links[a] <= self.links[b] { (a, b) } else { (b, a) };
        self.links[large] += self.links[small];
        self.links[small] = large as i64;
        true
    }
}
