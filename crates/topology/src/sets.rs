//! Disjoint sets: path halving (Tarjan & van Leeuwen 1984), the smaller root wins. Nearly constant time per call.

/// A partition of the numbers `0..n`.
///
/// ```
/// use sinew_topology::DisjointSets;
///
/// let mut sets = DisjointSets::new(4);
/// assert!(sets.join(3, 1));
/// assert_eq!([0, 1, 2, 3].map(|i| sets.first(i)), [0, 1, 2, 1]);
/// assert_eq!(sets.numbered(), (vec![0, 1, 2, 1], 3));
/// ```
#[derive(Clone, Debug, Default)]
pub struct DisjointSets {
    /// Another element of the same set, which comes earlier; the first one has itself.
    parents: Vec<u32>,
}

impl DisjointSets {
    /// `n` sets of one element each.
    pub fn new(n: usize) -> Self {
        let mut sets = Self::default();
        sets.reset(n);
        sets
    }

    /// Begins again with `n` sets of one element each. Allocates nothing once it has had as many.
    pub fn reset(&mut self, n: usize) {
        self.parents.clear();
        self.parents.extend(0..n as u32);
    }

    /// The first element of the set that holds `element`.
    pub fn first(&mut self, mut element: u32) -> u32 {
        while self.parents[element as usize] != element {
            let above = self.parents[self.parents[element as usize] as usize];
            self.parents[element as usize] = above;
            element = above;
        }
        element
    }

    /// Merges two sets; false when both elements were in the same one already.
    pub fn join(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.first(a), self.first(b));
        self.parents[a.max(b) as usize] = a.min(b);
        a != b
    }

    /// The set of each element, numbered by first elements, and how many sets there are.
    pub fn numbered(mut self) -> (Vec<u32>, usize) {
        let (mut names, mut n) = (vec![0; self.parents.len()], 0);
        for element in 0..self.parents.len() as u32 {
            let first = self.first(element);
            names[element as usize] = if first == element { n } else { names[first as usize] };
            n += u32::from(first == element);
        }
        (names, n as usize)
    }
}
