//! Joints that may open, and hard grabs: how they are treated while they are open.
//!
//! They yield, as in Levenberg–Marquardt damping with the squared error: their rows get the compliance
//! ```text
//! D = min( min(e₁², 1) d,  20 min(e₂², 1) (1/M₁ + 1/M₂) ) / importance,     e₁ = |C|/ρ,   e₂ = |C|/ℓ
//! ```
//! with `C` the error, `d` the row's own `J M⁻¹Jᵀ`, `ρ` the radii of gyration of the two bodies, `M` the masses of
//! their trees and `ℓ` their reach (radii of gyration from the root to the body). A step closes at most a quarter of
//! the reach, a grab all of it, because its target moves. So a target out of reach pulls with a bounded force, and
//! joints that contradict each other meet in between. `D` vanishes faster than the error: what can be met is met within
//! a few steps. A stabilization after a step leaves open joints alone.

use sinew_math::{Pose, Sym3, quat_to_mat3};
use sinew_solvers::{FreeMass, Load, LoopBlock, LoopRows};
use sinew_topology::NONE;

use crate::model::Model;
use crate::tree::{StepLength, TreeSystem, add_own};

/// What becomes of joints that may open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpeningPolicy {
    /// They are closed like others.
    Close,
    /// They yield while they are open.
    Yield,
    /// Those that are open stay as they are.
    Leave,
    /// They do not count at all.
    Ignore,
}

/// Compliance of a joint that is open by its reach or more, in terms of the masses of its trees.
const SOFTEST: f64 = 20.0;

/// Share of the reach that a step closes at most, of a joint and of a hold.
const STRIDE: f64 = 0.25;
const HELD_STRIDE: f64 = 1.0;

/// Relative error from which a joint counts as open.
const OPEN: f64 = 0.25;

/// How a joint that may open is treated at its present error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Treatment {
    /// Compliance in terms of the row's own mass, and of the masses of the trees; the smaller counts.
    pub(crate) softness: [f64; 2],
    /// Share of the error that the step tries to close.
    pub(crate) stride: f64,
    /// Whether it counts at all.
    pub(crate) counts: bool,
}

impl Treatment {
    /// Of a joint that may not open.
    pub(crate) const RIGID: Self = Self { softness: [0.0; 2], stride: 1.0, counts: true };

    /// Factor of the error that the step is not to remove, 1/s, of what it would remove of other joints.
    pub(crate) fn kept(&self, step: &StepLength, may_open: bool) -> f64 {
        let more = if may_open { step.per_h_open - step.per_h } else { 0.0 };
        step.per_h * (1.0 - self.stride) - more * self.stride
    }
}

impl OpeningPolicy {
    /// How a joint with ports and an error (m, rad) is treated.
    pub(crate) fn treat(self, model: &Model, ports: [u32; 2], error: (f64, f64)) -> Treatment {
        match self {
            Self::Close => Treatment::RIGID,
            Self::Ignore => Treatment { counts: false, ..Treatment::RIGID },
            Self::Leave => Treatment { counts: !self.ignores(model, ports, error), ..Treatment::RIGID },
            Self::Yield => {
                let [own, whole] = relative_errors(model, ports, error);
                let is_held = ports.contains(&NONE);
                let stride = if is_held { HELD_STRIDE } else { STRIDE };
                let is_alone = |port: &u32| *port == NONE || model.derived.extents[*port as usize].is_alone;
                let stride = if ports.iter().all(is_alone) { 1.0 } else { stride / whole.max(stride) };
                let softness = [(own * own).min(1.0), SOFTEST * (whole * whole).min(1.0)];
                Treatment { softness, stride, counts: true }
            }
        }
    }

    /// Whether an error (m, rad) of a joint that may open is to be ignored.
    pub(crate) fn ignores(self, model: &Model, ports: [u32; 2], error: (f64, f64)) -> bool {
        match self {
            Self::Ignore => true,
            Self::Leave => relative_errors(model, ports, error)[1] > OPEN,
            Self::Close | Self::Yield => false,
        }
    }
}

/// `e₁` and `e₂`: gap over the radii and over the reaches of the bodies, plus angle.
fn relative_errors(model: &Model, ports: [u32; 2], (gap, lean): (f64, f64)) -> [f64; 2] {
    let mut sizes = [0.0; 2];
    for port in ports.into_iter().filter(|&port| port != NONE) {
        let extent = &model.derived.extents[port as usize];
        sizes[0] += extent.radius;
        sizes[1] += extent.reach;
    }
    sizes.map(|size| gap / size + lean)
}

/// Softens the last block as a treatment says, or as all blocks are.
pub(crate) fn soften(
    (model, poses): (&Model, &[Pose]),
    rows: &mut LoopRows,
    yielded: &mut Vec<(u32, u32)>,
    [own, whole]: [f64; 2],
    given: f64,
) {
    let Some(range) = rows.blocks().last().map(LoopBlock::rows) else { return };
    let of_tree = |port: u32| model.derived.extents[port as usize].free_mass();
    if own > 0.0 && whole > 0.0 {
        rows.soften_last([(own, &|port| free_mass(model, poses, port)), (whole, &of_tree)]);
    }
    if given > 0.0 {
        rows.soften_last([(given, &of_tree), (given, &of_tree)]);
    }
    if given > 0.0 || own > 0.0 {
        yielded.push((range.start as u32, range.end as u32));
    }
}

/// Inverse mass of a body on its own; what a preconditioner needs.
pub(crate) fn free_mass(model: &Model, poses: &[Pose], port: u32) -> FreeMass {
    if port == NONE {
        return FreeMass::IMMOVABLE;
    }
    let pair = &model.pairs[port as usize];
    let rotation = quat_to_mat3(poses[pair.body as usize].rotation);
    let inertia = Sym3::diagonal(pair.inertial.inertia.moments).rotated_by(&rotation);
    FreeMass {
        inverse_mass: 1.0 / pair.inertial.mass,
        inverse_inertia: inertia.inverse().unwrap_or(Sym3::ZERO),
    }
}

/// Inverse of all that a free body's block of the implicit system holds.
pub(crate) fn loaded_mass(at: &TreeSystem<'_>, k: usize) -> FreeMass {
    let fallen = at.fallen_at(k);
    let at = fallen.as_ref().unwrap_or(at);
    let pair = &at.point.model.pairs[k];
    let rotation = quat_to_mat3(at.point.poses[pair.body as usize].rotation);
    let mut load = Load::ZERO;
    add_own(at, k, pair, &rotation, &mut load);
    FreeMass {
        inverse_mass: 1.0 / load.mass.linear.xx,
        inverse_inertia: load.mass.angular.inverse().unwrap_or(Sym3::ZERO),
    }
}
