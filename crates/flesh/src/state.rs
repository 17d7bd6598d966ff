//! The state of all flesh: node positions (m), velocities (m/s) and contact stretches (m). Plain data.

use glam::DVec3;
use sinew_contact::Anchors;
use sinew_fem::FemState;

/// The last step of the nodes, for schemes of second order.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NodeHistory {
    /// Velocities before the last step, m/s, world axes; empty if there was none.
    pub velocities: Vec<DVec3>,
    /// Displacements of the last step, m, world axes.
    pub increments: Vec<DVec3>,
}

impl NodeHistory {
    /// Where a step begins for a node at `x` (m): `x` itself, or advanced by `carry` times the last displacement.
    pub(crate) fn carried(&self, x: DVec3, node: usize, carry: f64) -> DVec3 {
        match self.increments.get(node) {
            Some(&increment) => x + increment * carry,
            None => x,
        }
    }
}

/// Nodes of all flesh, and stretches of contacts.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FleshState {
    /// Nodes of each body of flesh.
    pub nodes: Vec<FemState>,
    /// Their last steps.
    pub history: Vec<NodeHistory>,
    /// Stretches of contacts.
    pub anchors: Anchors,
    /// Stretches of contacts between bodies, where flesh makes explicit steps.
    pub body_anchors: Anchors,
}

/// Energy of flesh, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct FleshEnergy {
    /// Of free nodes.
    pub kinetic: f64,
    /// Of the tetrahedra.
    pub elastic: f64,
    /// Of free nodes in gravity, zero at the origin.
    pub gravity: f64,
}

impl FleshEnergy {
    /// The sum.
    pub fn total(&self) -> f64 {
        self.kinetic + self.elastic + self.gravity
    }
}
