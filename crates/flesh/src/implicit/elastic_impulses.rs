//! Constant impulses of the cells of flesh, tetrahedra, stars and fibres, in an implicit step.
//!
//! A cell with the forces `f` and the stiffness `K` adds `h f`, and the product of `K` with `h² d` if the linearization point contains the displacement `h d`, or with `h(h + β) w` if the cell turns (`turns.rs`). World axes, N·s.
//! Cost: one product with the matrix of each cell.

use glam::DVec3;
use sinew_fem::{ElementTangent, FibreTangent, STIFFNESS_PAIRS, StarTangent};

use super::turns::{CellTurn, NodeTurns};

/// Constant impulses and forces on all nodes.
#[derive(Clone, Debug)]
pub(super) struct ElasticImpulses {
    pub(super) constant: Vec<DVec3>,
    /// N.
    pub(super) forces: Vec<DVec3>,
    /// Impulses because cells turn, contained in the constant ones.
    pub(super) turned: Vec<DVec3>,
    /// What the matrix of one star is multiplied by.
    moved: Vec<DVec3>,
}

/// Where cells are linearized.
#[derive(Clone, Copy)]
pub(super) struct CellPoint<'a> {
    /// `d`, if the linearization point contains it.
    pub(super) displaced: Option<&'a [DVec3]>,
    /// Turns of cells elsewhere, if they turn.
    pub(super) turns: Option<&'a NodeTurns>,
    /// Nodes, m.
    pub(super) positions: &'a [DVec3],
    /// Effective length of the step and stiffness damping, s.
    pub(super) h: f64,
    pub(super) beta: f64,
}

/// What the matrix of a cell is multiplied by.
#[derive(Clone, Copy)]
enum CellWay<'a> {
    /// `h² d`.
    Ahead(&'a [DVec3], f64),
    /// `h(h + β) w`.
    Turned(&'a NodeTurns, CellTurn, f64),
}

impl<'a> CellPoint<'a> {
    /// How a cell goes that has `damped` times the damping of all.
    #[inline]
    fn way(&self, nodes: impl Iterator<Item = usize> + Clone, damped: f64) -> Option<CellWay<'a>> {
        let h = self.h;
        let ahead = self.displaced.map(|displaced| CellWay::Ahead(displaced, h * h));
        ahead.or_else(|| {
            let turns = self.turns?;
            Some(CellWay::Turned(turns, turns.of(nodes, self.positions, h), h * (h + self.beta) * damped))
        })
    }

    /// What the matrix of a cell is multiplied by at a node.
    #[inline]
    fn along(&self, way: &CellWay<'_>, node: usize) -> DVec3 {
        match way {
            CellWay::Ahead(displaced, factor) => displaced[node] * *factor,
            CellWay::Turned(turns, turn, factor) => {
                turns.moved(turn, node, self.positions[node], self.h) * *factor
            }
        }
    }
}

impl ElasticImpulses {
    pub(super) fn new(n: usize) -> Self {
        let zeros = || vec![DVec3::ZERO; n];
        Self { constant: zeros(), forces: zeros(), turned: zeros(), moved: Vec::new() }
    }

    /// Nothing.
    pub(super) fn clear(&mut self) {
        let Self { constant, forces, turned, .. } = self;
        [constant, forces, turned].into_iter().for_each(|values| values.fill(DVec3::ZERO));
    }

    /// Adds `f` and `h f` of a node.
    #[inline]
    fn push(&mut self, node: usize, force: DVec3, h: f64) {
        self.constant[node] += force * h;
        self.forces[node] += force;
    }

    /// Adds a part of the product.
    #[inline]
    fn give(&mut self, way: &CellWay<'_>, node: usize, product: DVec3) {
        self.constant[node] += product;
        if let CellWay::Turned(..) = way {
            self.turned[node] += product;
        }
    }

    /// Adds a tetrahedron.
    #[inline]
    pub(super) fn add_element(
        &mut self,
        point: &CellPoint<'_>,
        element: &ElementTangent,
        nodes: [usize; 4],
        damped: f64,
    ) {
        for (&node, &force) in nodes.iter().zip(&element.forces) {
            self.push(node, force, point.h);
        }
        let Some(way) = point.way(nodes.into_iter(), damped) else { return };
        let moved = nodes.map(|node| point.along(&way, node));
        for (&(a, b), block) in STIFFNESS_PAIRS.iter().zip(&element.stiffness) {
            self.give(&way, nodes[a], *block * moved[b]);
            if a != b {
                self.give(&way, nodes[b], block.transpose() * moved[a]);
            }
        }
    }

    /// Adds a fibre. Its damper belongs to the velocities at the end.
    pub(super) fn add_fibre(&mut self, point: &CellPoint<'_>, fibre: &FibreTangent<'_>, damped: f64) {
        let nodes = || fibre.nodes.iter().map(|&node| node as usize);
        for (node, weight) in nodes().zip(fibre.weights) {
            self.push(node, fibre.tension * -*weight, point.h);
        }
        let Some(way) = point.way(nodes(), damped) else { return };
        let moved = nodes().zip(fibre.weights).map(|(node, weight)| point.along(&way, node) * *weight);
        let product = fibre.stiffness * moved.sum::<DVec3>();
        for (node, weight) in nodes().zip(fibre.weights) {
            self.give(&way, node, product * *weight);
        }
    }

    /// Adds a star.
    pub(super) fn add_star(&mut self, point: &CellPoint<'_>, star: &StarTangent<'_>, damped: f64) {
        let nodes = || star.nodes.iter().map(|&node| node as usize);
        for (node, &force) in nodes().zip(star.forces) {
            self.push(node, force, point.h);
        }
        let Some(way) = point.way(nodes(), damped) else { return };
        let mut moved = std::mem::take(&mut self.moved);
        moved.clear();
        moved.extend(nodes().map(|node| point.along(&way, node)));
        let mut blocks = star.stiffness.iter();
        for (k, a) in nodes().enumerate() {
            for ((l, b), block) in nodes().enumerate().skip(k).zip(&mut blocks) {
                self.give(&way, a, *block * moved[l]);
                if l != k {
                    self.give(&way, b, block.transpose() * moved[k]);
                }
            }
        }
        self.moved = moved;
    }
}
