//! What becomes of joints that may open, and of hard grabs, while they are open.
//!
//! **They yield.** With `C` the error, `ℓ` the reach of the bodies (radii of gyration from the root to them), `M` the mass of
//! their trees, `e = |C|/ℓ`: rows get the compliance `D = μ (1/M₁ + 1/M₂)`, `μ = 20 min(e², 1)` (Levenberg and Marquardt's
//! damping with the squared error), and a step closes at most a quarter of the reach. A target out of reach then pulls a
//! stretched arm with a bounded force instead of one that grows as the arm straightens; joints that contradict each other
//! share what cannot be met; and since `D` vanishes faster than the error, what can be met is met exactly. Importance
//! divides `D`. A stabilization after a step leaves open joints alone: what they do is up to the dynamics.

use sinew_math::Sym3;
use sinew_solvers::{FreeMass, LoopBlock, LoopRows};
use sinew_topology::NONE;

use crate::model::{Model, PairModel};

/// What becomes of joints that may open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opened {
    /// They are closed like others.
    Close,
    /// They yield while they are open.
    Yield,
    /// Those that are open stay as they are.
    Leave,
    /// They do not count at all.
    Ignore,
}

/// `μ` of a joint that is open by its reach or more: it pulls its tree by `1/μ` of the reach in one step at most.
const SOFTEST: f64 = 20.0;

/// Share of the reach that a step closes at most.
const STRIDE: f64 = 0.25;

/// Relative error from which a joint counts as open.
const OPEN: f64 = 0.05;

/// How a joint that may open is treated at its present error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Treatment {
    /// `μ`.
    pub(super) softness: f64,
    /// Share of the error that the step tries to close.
    pub(super) stride: f64,
    /// Whether it counts at all.
    pub(super) counts: bool,
}

impl Treatment {
    /// Of a joint that may not open.
    pub(super) const RIGID: Self = Self { softness: 0.0, stride: 1.0, counts: true };
}

impl Opened {
    pub(super) fn treat(self, model: &Model, ports: [u32; 2], error: (f64, f64)) -> Treatment {
        if self == Self::Close {
            return Treatment::RIGID;
        }
        let e = relative_error(model, ports, error);
        match self {
            Self::Leave => Treatment { counts: e <= OPEN, ..Treatment::RIGID },
            Self::Ignore => Treatment { counts: false, ..Treatment::RIGID },
            _ => Treatment {
                softness: SOFTEST * (e * e).min(1.0),
                stride: STRIDE / e.max(STRIDE),
                counts: true,
            },
        }
    }

    /// Whether an error (m, rad) of a joint that may open is to be ignored.
    pub(crate) fn ignores(self, model: &Model, ports: [u32; 2], error: (f64, f64)) -> bool {
        match self {
            Self::Ignore => true,
            Self::Leave => relative_error(model, ports, error) > OPEN,
            Self::Close | Self::Yield => false,
        }
    }
}

/// `e`: gap over the reach of the bodies, plus angle.
fn relative_error(model: &Model, ports: [u32; 2], (gap, lean): (f64, f64)) -> f64 {
    let reaches =
        ports.into_iter().filter(|&port| port != NONE).map(|port| model.extents[port as usize].reach);
    gap / reaches.sum::<f64>() + lean
}

/// Softens the last block by a share of the mass of its trees.
pub(super) fn soften_last(model: &Model, rows: &mut LoopRows, yielded: &mut Vec<(u32, u32)>, share: f64) {
    if let (true, Some(range)) = (share > 0.0, rows.blocks().last().map(LoopBlock::rows)) {
        rows.soften_last(share, &|port| model.extents[port as usize].free_mass());
        yielded.push((range.start as u32, range.end as u32));
    }
}

/// The tree that a pair belongs to, as something that pulls at the pair sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// Mass of the whole tree, kg.
    mass: f64,
    /// Radii of gyration of the bodies from the root to the pair, one after the other, m.
    reach: f64,
}

impl Extent {
    /// Of every pair.
    pub(crate) fn of(pairs: &[PairModel]) -> Vec<Self> {
        let radius = |p: &PairModel| (p.inertia.moments.max_element() / p.mass).sqrt();
        let own = |p: &PairModel| Self { mass: p.mass, reach: radius(p).max(f64::MIN_POSITIVE) };
        let mut extents: Vec<Self> = pairs.iter().map(own).collect();
        // Children come before their parents.
        for (k, pair) in pairs.iter().enumerate().filter(|(_, p)| p.parent != NONE) {
            let mass = extents[k].mass;
            extents[pair.parent as usize].mass += mass;
        }
        for (k, pair) in pairs.iter().enumerate().rev().filter(|(_, p)| p.parent != NONE) {
            let above = extents[pair.parent as usize];
            extents[k] = Self { mass: above.mass, reach: extents[k].reach + above.reach };
        }
        extents
    }

    fn free_mass(&self) -> FreeMass {
        let inverse_mass = 1.0 / self.mass;
        FreeMass {
            inverse_mass,
            inverse_inertia: Sym3::IDENTITY * (inverse_mass / (self.reach * self.reach)),
        }
    }
}
