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

/// Translation (m) and rotation (rad) error of the rows of a joint: root of the sum of squares. After the rows of the kind come those of drives,
/// the first of which is that of the twist if it has one.
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
    let n_own = kind.n_rows();
    let (mut position, mut rotation) = (0.0, 0.0);
    for i in 0..rows.n {
        let square = rows.residual[i] * rows.residual[i];
        let is_length = i < n_translation
            || (i + 1 == n_own && matches!(kind, JointKind::Screw { .. }))
            || (i >= n_own && !(drives_twist && i == n_own));
        *(if is_length { &mut position } else { &mut rotation }) += square;
    }
    (f64::sqrt(position), f64::sqrt(rotation))
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "zeros and copies are exact")]
mod tests {
    use super::*;

    /// Which rows are lengths: the names of the rows of each kind, `t` for translations.
    fn is_length(kind: JointKind, drives: &str) -> Vec<bool> {
        let own = match kind {
            JointKind::Fixed => "tttrrr",
            JointKind::Hinge => "tttrr",
            JointKind::Prismatic => "ttrrr",
            JointKind::Cylindrical => "ttrr",
            JointKind::Planar => "trr",
            JointKind::Universal => "tttr",
            JointKind::Orientation => "rrr",
            JointKind::PointOnLine => "tt",
            JointKind::PointOnPlane => "t",
            JointKind::Free => "",
            JointKind::Screw { .. } => "ttrrt",
            JointKind::Ball | JointKind::RollingSphere { .. } | JointKind::RollingDisc { .. } => "ttt",
            JointKind::Masked { translations: 0b101, rotations: 1 } => "ttr",
            JointKind::Masked { translations: 0b010, rotations: 2 } => "trr",
            JointKind::Masked { translations: 0, rotations: 0 } => "",
            kind => panic!("{kind:?}"),
        };
        own.chars().chain(drives.chars()).map(|row| row == 't').collect()
    }

    #[test]
    fn errors_of_lengths_and_of_angles_are_told_apart() {
        let masked = |translations, rotations| JointKind::Masked { translations, rotations };
        let kinds = JointKind::all(0.1).into_iter().chain([masked(0b101, 1), masked(0b010, 2), masked(0, 0)]);
        for kind in kinds {
            for drives in ["", "r", "t", "rt"] {
                let lengths = is_length(kind, drives);
                if lengths.len() > 6 {
                    continue;
                }
                let mut rows = Rows { n: lengths.len(), ..Rows::default() };
                // Entries beyond the rows in use do not count.
                rows.residual = [1.0, -2.0, 4.0, 8.0, -16.0, 32.0];
                let sum = |wanted: bool| -> f64 {
                    let squares = rows.residual.iter().zip(&lengths).map(|(c, is)| (c * c, *is == wanted));
                    squares.filter(|(_, is)| *is).map(|(square, _)| square).sum::<f64>().sqrt()
                };
                let found = joint_errors(kind, drives.starts_with('r'), &rows);
                assert_eq!(found, (sum(true), sum(false)), "{kind:?} with drives {drives:?}");
            }
        }
    }

    #[test]
    fn rates_of_rows_are_those_of_both_bodies_less_the_target() {
        let mut rows = Rows { n: 1, ..Rows::default() };
        rows.jacobian1[0] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        rows.jacobian2[0] = [-6.0, 5.0, -4.0, 3.0, -2.0, 1.0];
        rows.rate_target[0] = 0.5;
        let motion1 = Motion::from_array([1.0, 0.5, -1.0, 2.0, 0.0, 1.0]);
        let motion2 = Motion::from_array([0.0, 1.0, 2.0, -1.0, 3.0, 1.0]);
        assert_eq!(rows.rate_error(&motion1, &motion2), [13.0 - 11.0 - 0.5, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }
}
