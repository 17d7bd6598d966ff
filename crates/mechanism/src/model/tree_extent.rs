//! Size of the tree that a body belongs to: mass (kg), radius of gyration (m), reach (m). Linear cost, once per model.

use sinew_math::Sym3;
use sinew_solvers::FreeMass;
use sinew_topology::NONE;

use crate::model::{PairModel, PairPath};

/// The tree that a pair belongs to, as something that pulls at the pair sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeExtent {
    /// Mass of the whole tree, kg.
    pub(crate) mass: f64,
    /// Radius of gyration of the body, m.
    pub(crate) radius: f64,
    /// Radii of gyration of the bodies from the root to the pair, one after the other, m.
    pub(crate) reach: f64,
    /// Whether the tree is this one body, free.
    pub(crate) is_alone: bool,
}

impl TreeExtent {
    /// Of every pair.
    pub(crate) fn of(pairs: &[PairModel]) -> Vec<Self> {
        let radius = |p: &PairModel| (p.inertial.inertia.moments.max_element() / p.inertial.mass).sqrt();
        let own = |p: &PairModel| {
            let radius = radius(p).max(f64::MIN_POSITIVE);
            Self {
                mass: p.inertial.mass,
                radius,
                reach: radius,
                is_alone: p.path == PairPath::FreeRoot && !p.has_children,
            }
        };
        let mut extents: Vec<Self> = pairs.iter().map(own).collect();
        // Children come before their parents.
        for (k, pair) in pairs.iter().enumerate().filter(|(_, p)| p.parent != NONE) {
            let mass = extents[k].mass;
            extents[pair.parent as usize].mass += mass;
        }
        for (k, pair) in pairs.iter().enumerate().rev().filter(|(_, p)| p.parent != NONE) {
            let above = extents[pair.parent as usize];
            extents[k] = Self { mass: above.mass, reach: extents[k].reach + above.reach, ..extents[k] };
        }
        extents
    }

    /// The whole tree as one lump: what a pull at its far end has to move.
    pub(crate) fn free_mass(&self) -> FreeMass {
        let inverse_mass = 1.0 / self.mass;
        FreeMass {
            inverse_mass,
            inverse_inertia: Sym3::IDENTITY * (inverse_mass / (self.reach * self.reach)),
        }
    }
}
