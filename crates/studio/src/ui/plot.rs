//! Plots that the window can show, and their curves.

use crate::curves::StepSample;

/// Name of a curve, and its value in a sample.
pub(super) type PlotCurve = (&'static str, fn(&StepSample) -> f64);

/// A plot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Plot {
    /// Energies (J).
    #[default]
    Energy,
    /// Angular and linear momentum.
    Momentum,
    /// Joint errors.
    Error,
    /// Residual and iterations of the loop solver.
    Loops,
    /// Coordinate, rate and torque of a joint.
    Joint,
    /// Share of diagonalized tetrahedra, and contacts.
    Flesh,
    /// Computing time of steps.
    Time,
}

impl Plot {
    /// All plots.
    pub const ALL: [Self; 7] =
        [Self::Energy, Self::Momentum, Self::Error, Self::Loops, Self::Joint, Self::Flesh, Self::Time];

    /// Name in the interface.
    pub fn name(self) -> &'static str {
        match self {
            Self::Energy => "Energy (J)",
            Self::Momentum => "Momentum",
            Self::Error => "Joint error",
            Self::Loops => "Loops",
            Self::Joint => "Joint",
            Self::Flesh => "Flesh",
            Self::Time => "Step time (ms)",
        }
    }

    /// Names of its curves, and their values.
    pub(super) fn curves(self) -> &'static [PlotCurve] {
        match self {
            Self::Energy => &[
                ("kinetic", |s| s.energy[0]),
                ("gravity", |s| s.energy[1]),
                ("elastic", |s| s.energy[2]),
                ("total", |s| s.energy.iter().sum()),
            ],
            Self::Momentum => {
                &[("angular (kg·m²/s)", |s| s.momentum[0]), ("linear (kg·m/s)", |s| s.momentum[1])]
            }
            Self::Error => &[("position (m)", |s| s.error[0]), ("rotation (rad)", |s| s.error[1])],
            Self::Loops => &[("residual", |s| s.loops[0]), ("iterations", |s| s.loops[1])],
            Self::Joint => &[
                ("coordinate (rad, m)", |s| s.joint[0]),
                ("rate", |s| s.joint[1]),
                ("torque (N·m), force (N)", |s| s.joint[2]),
            ],
            Self::Flesh => &[("diagonalized share", |s| s.flesh[0]), ("contacts", |s| s.flesh[1])],
            Self::Time => &[("step", |s| s.milliseconds)],
        }
    }
}
