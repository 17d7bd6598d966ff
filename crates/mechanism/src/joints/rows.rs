//! Constraint rows of one joint as data, and the joint errors they hold.
//!
//! Translation errors are in metres, rotation errors in radians; a joint with both reports them apart, because no length relates them.

use sinew_math::{Force, JointKind, Motion};

/// Which equations represent the rotational part of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowForm {
    /// Exact rows on the swing vector and the rotation vector: `J` is the derivative of `residual`.
    Position,
    /// Axis rows on scalar products of axes, also exact; the residual of a reversed axis is zero, so not for assembly.
    Acceleration,
    /// The residuals of `Position` with joint axes as rows: exact at zero error, right to first order nearby.
    SmallError,
}

/// Up to six rows of one joint, in world axes at the centres of mass. Entries beyond `n` are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rows {
    /// Number of rows in use.
    pub n: usize,
    /// `C`: metres for translation rows, radians (or sines) for rotation rows; zero for velocity rows.
    pub residual: [f64; 6],
    /// Rows on `(ω₁, v₁)`, the twist of body 1 at its centre of mass, world axes.
    pub jacobian1: [[f64; 6]; 6],
    /// Rows on `(ω₂, v₂)`, that of body 2.
    pub jacobian2: [[f64; 6]; 6],
    /// `J̇₁v₁ + J̇₂v₂`, per second squared.
    pub bias: [f64; 6],
    /// `ċ` of driven rows, zero otherwise.
    pub rate_target: [f64; 6],
    /// `c̈` of driven rows, zero otherwise.
    pub acceleration_target: [f64; 6],
    /// Marks rows that restrict velocities but not positions (rolling): their residual is always zero.
    pub velocity_only: [bool; 6],
}

impl Rows {
    /// Velocity error `J₁v₁ + J₂v₂ − rate_target` of every row, for twists at the centres of mass, world axes.
    #[must_use]
    #[inline]
    pub fn rate_error(&self, motion1: &Motion, motion2: &Motion) -> [f64; 6] {
        let dot = |row: &[f64; 6], motion: &Motion| Force::from_array(*row).dot(*motion);
        std::array::from_fn(|k| {
            dot(&self.jacobian1[k], motion1) + dot(&self.jacobian2[k], motion2) - self.rate_target[k]
        })
    }
}

/// Largest translation (m) and rotation (rad) error among the rows of a joint.
pub(crate) fn joint_errors(kind: JointKind, drives_twist: bool, rows: &Rows) -> (f64, f64) {
    let n_translation = match kind.locked_mask() {
        Some(mask) => (mask >> 3).count_ones() as usize,
        None => match kind {
            JointKind::Screw { .. } => 2,
            JointKind::Universal => 3,
            JointKind::Masked { translations, .. } => translations.count_ones() as usize,
            _ => kind.n_rows(),
        },
    };
    let (mut position, mut rotation) = (0.0, 0.0);
    for i in 0..rows.n {
        let square = rows.residual[i] * rows.residual[i];
        let last_own = kind.n_rows().wrapping_sub(1);
        let is_length = i < n_translation
            || (i == last_own && matches!(kind, JointKind::Screw { .. }))
            || (i > last_own && last_own != usize::MAX && !(drives_twist && i == last_own + 1));
        *(if is_length { &mut position } else { &mut rotation }) += square;
    }
    (f64::sqrt(position), f64::sqrt(rotation))
}
