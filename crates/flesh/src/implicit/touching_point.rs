//! One contact of two bodies, or of a body and the world, in a solve. World axes at centres of mass, SI.

use glam::DVec3;
use sinew_contact::ContactPotential;
use sinew_math::{Force, Motion, Sym3};

use crate::node_vectors::{velocity_at, wrench_at};

/// A side that no force moves.
pub(super) const GIVEN: u32 = u32::MAX;

/// By how much bodies are apart alike (m): rounding far from the origin.
const TOGETHER: f64 = 1e-8;

/// The two sides of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TouchedSides {
    /// Places among the touched bodies, or `GIVEN`.
    pub(super) places: [u32; 2],
    /// From the centres of mass to the contact (m).
    pub(super) arms: [DVec3; 2],
}

impl Default for TouchedSides {
    /// Both are given.
    fn default() -> Self {
        Self { places: [GIVEN; 2], arms: [DVec3::ZERO; 2] }
    }
}

/// How a contact resists the spin of its sides.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turning {
    /// Largest moments against rolling, and about the normal (N·m·s).
    pub(super) limits: [f64; 2],
    /// Relative spin of the sides that are given (rad/s).
    pub(super) given: DVec3,
}

/// One contact.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TouchingPoint {
    pub(super) law: ContactPotential,
    pub(super) sides: TouchedSides,
    /// Relative velocity of the sides that are given, m/s.
    pub(super) given: DVec3,
    /// Relative velocity where the contact was linearized, its change along a search, and impulse and slope there; before, those that are expected.
    pub(super) velocity: DVec3,
    pub(super) change: DVec3,
    pub(super) impulse: DVec3,
    pub(super) slope: Sym3,
    /// Friction that the last linear law expects (N·s).
    pub(super) friction: DVec3,
    /// What one impulse changes of the velocity, along the normal and across it (1/kg); known once loose bodies have settled.
    pub(super) inverse_masses: [f64; 2],
    /// Rolling and torsional friction.
    pub(super) turning: Turning,
    /// Whether a solution of the step had it.
    pub(super) is_known: bool,
    /// Friction limit that was found last, and by how much friction changed with it (N·s).
    pub(super) before: Option<[f64; 2]>,
}

impl TouchingPoint {
    /// By how much friction would change with the limit of the load where the contact was linearized (N·s).
    pub(super) fn friction_change(&self) -> f64 {
        self.law.friction_change(self.velocity, self.law.limit_at(self.velocity))
    }
}

impl TouchedSides {
    /// Whether no force moves a side.
    pub(super) fn is_given(&self, side: usize) -> bool {
        self.places[side] == GIVEN
    }

    /// Whether a contact is between the same bodies as another one, in the same places.
    pub(super) fn are_with(&self, other: &Self) -> bool {
        let apart = |sides: &Self| sides.arms[0] - sides.arms[1];
        let is_one_given = self.is_given(0) || self.is_given(1);
        self.places == other.places && (is_one_given || apart(self).distance(apart(other)) <= TOGETHER)
    }

    /// Place of a side among bodies of which the first one has the place `first`; beyond them if it is given.
    #[inline]
    pub(super) fn place(&self, side: usize, first: usize) -> usize {
        (self.places[side] as usize).wrapping_sub(first)
    }

    /// Velocity of the first side minus that of the other, without those that are given; twists of bodies from a first one on.
    #[inline]
    pub(super) fn relative(&self, first: usize, motions: &[Motion]) -> DVec3 {
        let side = |i: usize| match motions.get(self.place(i, first)) {
            Some(motion) => velocity_at(*motion, self.arms[i]),
            None => DVec3::ZERO,
        };
        side(0) - side(1)
    }

    /// Adds an impulse on the first side, and its opposite on the other, to those of bodies from a first one on.
    #[inline]
    pub(super) fn push(&self, impulse: DVec3, first: usize, impulses: &mut [Force]) {
        for (i, impulse) in [impulse, -impulse].into_iter().enumerate() {
            if let Some(sum) = impulses.get_mut(self.place(i, first)) {
                *sum += wrench_at(impulse, self.arms[i]);
            }
        }
    }
}
