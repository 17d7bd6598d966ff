//! Disjoint sets, to find connected elements. Joining and finding take nearly constant time (path halving, smaller root
//! wins).

/// Sets of the numbers `0..n`.
pub(crate) struct UnionFind {
    parent: Vec<u32>,
}

impl UnionFind {
    pub(crate) fn new(n: usize) -> Self {
        Self { parent: (0..n as u32).collect() }
    }

    fn root(&mut self, mut i: u32) -> u32 {
        while self.parent[i as usize] != i {
            let above = self.parent[self.parent[i as usize] as usize];
            self.parent[i as usize] = above;
            i = above;
        }
        i
    }

    pub(crate) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }

    /// The set of each element, numbered by first elements, and how many sets there are.
    pub(crate) fn numbered(mut self) -> (Vec<u32>, usize) {
        let (mut name, mut n) = (vec![0; self.parent.len()], 0);
        for i in 0..self.parent.len() as u32 {
            let root = self.root(i);
            if root == i {
                name[i as usize] = n;
                n += 1;
            } else {
                name[i as usize] = name[root as usize];
            }
        }
        (name, n as usize)
    }
}
