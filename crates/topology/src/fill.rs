//! Minimum degree: an order of elimination that keeps a symmetric matrix sparse.
//!
//! Eliminating a node of a graph connects its neighbours with each other; in a tree, leaves first, nothing new is connected. Here the
//! node whose neighbours have the least total size is eliminated next, the smallest number among equals, so the order is the
//! same everywhere. Cost: about the sum of the squares of the degrees met, plus a heap; for planning, not for a step.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An order of elimination.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Elimination {
    /// Nodes, in the order in which they are eliminated.
    pub order: Vec<u32>,
    /// Neighbours of each node when it is eliminated, ascending: the pattern of its column of the factor.
    pub later: Vec<Vec<u32>>,
}

/// Orders the nodes of a graph, given the neighbours of each (ascending, both ways, not itself) and the size of each.
pub fn minimum_degree(mut neighbours: Vec<Vec<u32>>, sizes: &[u32]) -> Elimination {
    let degree_of = |neighbours: &[u32]| neighbours.iter().map(|&n| sizes[n as usize]).sum::<u32>();
    let mut degrees: Vec<u32> = neighbours.iter().map(|n| degree_of(n)).collect();
    let mut queue: BinaryHeap<_> =
        degrees.iter().enumerate().map(|(node, &degree)| Reverse((degree, node as u32))).collect();
    let mut is_done = vec![false; sizes.len()];
    let mut order = Vec::with_capacity(sizes.len());
    let mut merged = Vec::new();
    while let Some(Reverse((degree, node))) = queue.pop() {
        // Entries of nodes whose degree has changed since are stale.
        if is_done[node as usize] || degrees[node as usize] != degree {
            continue;
        }
        is_done[node as usize] = true;
        order.push(node);
        let clique = std::mem::take(&mut neighbours[node as usize]);
        for &other in &clique {
            merge(&neighbours[other as usize], &clique, [other, node], &mut merged);
            std::mem::swap(&mut neighbours[other as usize], &mut merged);
            degrees[other as usize] = degree_of(&neighbours[other as usize]);
            queue.push(Reverse((degrees[other as usize], other)));
        }
        neighbours[node as usize] = clique;
    }
    Elimination { order, later: neighbours }
}

/// The union of two ascending lists without two of their members.
fn merge(a: &[u32], b: &[u32], without: [u32; 2], out: &mut Vec<u32>) {
    out.clear();
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    loop {
        let next = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if x == y => {
                b.next();
                a.next()
            }
            (Some(x), Some(y)) if x > y => b.next(),
            (Some(_), _) => a.next(),
            (None, _) => b.next(),
        };
        match next {
            Some(next) if without.contains(&next) => {}
            Some(next) => out.push(next),
            None => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(width: u32) -> Vec<Vec<u32>> {
        let at = |x: u32, y: u32| y * width + x;
        (0..width * width)
            .map(|node| {
                let (x, y) = (node % width, node / width);
                let mut near = Vec::new();
                if y > 0 {
                    near.push(at(x, y - 1));
                }
                if x > 0 {
                    near.push(at(x - 1, y));
                }
                if x + 1 < width {
                    near.push(at(x + 1, y));
                }
                if y + 1 < width {
                    near.push(at(x, y + 1));
                }
                near
            })
            .collect()
    }

    #[test]
    fn a_tree_fills_nothing() {
        // A binary tree in heap order.
        let n = 127u32;
        let neighbours = (0..n)
            .map(|k| {
                let parent = k.checked_sub(1).map(|k| k / 2);
                parent.into_iter().chain([2 * k + 1, 2 * k + 2].into_iter().filter(|&c| c < n)).collect()
            })
            .collect();
        let found = minimum_degree(neighbours, &vec![1; n as usize]);
        assert_eq!(found.later.iter().map(Vec::len).sum::<usize>(), n as usize - 1);
    }

    #[test]
    fn the_pattern_is_that_of_the_elimination() {
        let neighbours = grid(7);
        let found = minimum_degree(neighbours.clone(), &[1; 49]);
        let mut order = found.order.clone();
        order.sort_unstable();
        assert!(order.into_iter().eq(0..49), "every node once");
        // By hand, on a dense matrix.
        let mut dense = [[false; 49]; 49];
        for (node, near) in neighbours.iter().enumerate() {
            near.iter().for_each(|&other| dense[node][other as usize] = true);
        }
        let mut is_left = [true; 49];
        for &node in &found.order {
            is_left[node as usize] = false;
            let later: Vec<u32> = (0..49)
                .filter(|&other| is_left[other as usize] && dense[node as usize][other as usize])
                .collect();
            assert_eq!(found.later[node as usize], later);
            for &a in &later {
                later.iter().filter(|&&b| b != a).for_each(|&b| dense[a as usize][b as usize] = true);
            }
        }
    }

    #[test]
    fn a_grid_stays_sparse() {
        let found = minimum_degree(grid(20), &[1; 400]);
        // Row by row it would be 20 per node.
        assert!(found.later.iter().map(Vec::len).sum::<usize>() < 400 * 10);
    }
}
