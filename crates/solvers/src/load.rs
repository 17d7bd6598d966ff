//! The load that a subtree puts on the body it hangs from.
//!
//! A subtree acts on its parent body by the effective mass `Ã` (symmetric 6×6, from twists to momenta) and the momentum
//! `z̃` (docs/maths/elimination.md §2). World axes, angular part first, at the body's centre of mass; SI units.
//! Sums only: nothing fails.

use sinew_math::{Force, Sym6};

/// Effective mass and momentum of a subtree, at the body it hangs from: `Ã` and `z̃`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// `Ã`, the effective mass.
    pub mass: Sym6,
    /// `z̃`, the momentum.
    pub momentum: Force,
}

impl Load {
    /// No load.
    pub const ZERO: Self = Self { mass: Sym6::ZERO, momentum: Force::ZERO };

    /// Adds another load on the same body.
    #[inline]
    pub fn add(&mut self, other: &Self) {
        self.mass.add(&other.mass);
        self.momentum += other.momentum;
    }
}
