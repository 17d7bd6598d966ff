//! Actuators of a character: driven joints, their weights, displacement limits (rad, m) and torque limits (N·m, N).

use sinew_mechanism::JointKind;
use sinew_recursive::{LinkId, Tree};

use crate::error::ControlError;

/// Per joint: driven or passive, weight, displacement limits, torque limit. Flat, in the layout of a [`Tree`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Actuation {
    active: Vec<bool>,
    weights: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    turns: Vec<f64>,
    torques: Vec<f64>,
}

impl Actuation {
    /// Every joint driven with weight 1 and without limits, except free and planar roots, which are passive.
    pub fn new(tree: &Tree) -> Self {
        let floats = |kind| matches!(kind, JointKind::Free | JointKind::Planar);
        let active = tree.links().map(|link| tree.parent(link).is_some() || !floats(tree.joint_kind(link)));
        let (n_links, n_dofs) = (tree.n_links(), tree.n_dofs());
        Self {
            active: active.collect(),
            weights: vec![1.0; n_dofs],
            lower: vec![f64::NEG_INFINITY; n_dofs],
            upper: vec![f64::INFINITY; n_dofs],
            turns: vec![f64::INFINITY; n_links],
            torques: vec![f64::INFINITY; n_links],
        }
    }

    /// Makes the joint of a link driven or passive.
    ///
    /// # Panics
    /// If the link belongs to another tree.
    pub fn set_active(&mut self, link: LinkId, active: bool) {
        self.active[link.index()] = active;
    }

    /// Sets the weight of a joint; joints with a larger weight are used less. The solution minimizes `Σ weight · x²`,
    /// in the velocity style over passive joints as well.
    ///
    /// # Errors
    /// [`ControlError::NotValid`] unless `weight` is positive and finite.
    ///
    /// # Panics
    /// If the link belongs to another tree.
    pub fn set_weight(&mut self, tree: &Tree, link: LinkId, weight: f64) -> Result<(), ControlError> {
        if !(weight > 0.0 && weight.is_finite()) {
            let (what, range) = ("the weight of bone", "positive and finite");
            return Err(ControlError::NotValid { what, index: link.index(), range });
        }
        self.weights[tree.dofs(link)].fill(weight);
        Ok(())
    }

    /// Limits one coordinate of a joint (rad or m), numbered like its rates. For the three rates of a rotation in space
    /// this has no effect; use [`Self::set_turn_limit`].
    ///
    /// # Errors
    /// [`ControlError::NotValid`] unless the joint has such a rate and `lower ≤ upper`.
    ///
    /// # Panics
    /// If the link belongs to another tree.
    pub fn set_limits(
        &mut self,
        tree: &Tree,
        link: LinkId,
        rate: usize,
        [lower, upper]: [f64; 2],
    ) -> Result<(), ControlError> {
        let dofs = tree.dofs(link);
        if rate >= dofs.len() || lower.is_nan() || upper.is_nan() || lower > upper {
            let (what, range) = ("the limit of bone", "on a rate of its joint, with lower ≤ upper");
            return Err(ControlError::NotValid { what, index: link.index(), range });
        }
        self.lower[dofs.start + rate] = lower;
        self.upper[dofs.start + rate] = upper;
        Ok(())
    }

    /// Limits the angle of a rotation in space from its zero, about any axis (rad, effective below π).
    ///
    /// # Errors
    /// [`ControlError::NotValid`] unless `angle` is positive.
    ///
    /// # Panics
    /// If the link belongs to another tree.
    pub fn set_turn_limit(&mut self, link: LinkId, angle: f64) -> Result<(), ControlError> {
        positive(angle, "the turn limit of bone", link)?;
        self.turns[link.index()] = angle;
        Ok(())
    }

    /// Limits the torque of a joint: the norm of the vector of its torques (N·m, N).
    ///
    /// # Errors
    /// [`ControlError::NotValid`] unless `torque` is positive.
    ///
    /// # Panics
    /// If the link belongs to another tree.
    pub fn set_torque_limit(&mut self, link: LinkId, torque: f64) -> Result<(), ControlError> {
        positive(torque, "the torque limit of bone", link)?;
        self.torques[link.index()] = torque;
        Ok(())
    }

    /// Whether the joint of a link is driven.
    pub fn is_active(&self, link: LinkId) -> bool {
        self.active[link.index()]
    }

    /// Weight of a rate, acceleration or torque.
    pub fn weight(&self, dof: usize) -> f64 {
        self.weights[dof]
    }

    /// Limits of a coordinate (rad or m), numbered like its rate.
    pub fn limits(&self, dof: usize) -> [f64; 2] {
        [self.lower[dof], self.upper[dof]]
    }

    /// Largest angle of the rotation in space of a joint (rad).
    pub fn turn_limit(&self, link: LinkId) -> f64 {
        self.turns[link.index()]
    }

    /// Largest torque of a joint (N·m, N).
    pub fn torque_limit(&self, link: LinkId) -> f64 {
        self.torques[link.index()]
    }

    pub(crate) fn has_torque_limits(&self) -> bool {
        self.torques.iter().zip(&self.active).any(|(limit, active)| *active && limit.is_finite())
    }

    pub(crate) fn n_dofs(&self) -> usize {
        self.weights.len()
    }

    pub(crate) fn fits(&self, tree: &Tree) -> bool {
        self.active.len() == tree.n_links() && self.weights.len() == tree.n_dofs()
    }
}

fn positive(value: f64, what: &'static str, link: LinkId) -> Result<(), ControlError> {
    let fault = ControlError::NotValid { what, index: link.index(), range: "positive" };
    if value > 0.0 { Ok(()) } else { Err(fault) }
}
