//! Where linearized forces go: into the system of the tree, or into rows of the loops.

use glam::DVec3;
use sinew_math::{Force, Sym3};
use sinew_solvers::Load;

/// Where the linearized forces of a joint go. They act on the relative twist of body 1, at its centre of mass, and are
/// handed over in a fixed order and number.
pub(crate) trait ForceSink {
    /// Impulse `q − κ ẋ⁺` along a coordinate.
    fn along(&mut self, gradient: Force, q: f64, kappa: f64);
    /// Angular impulse `q − K ω⁺`.
    fn turning(&mut self, tangent: Sym3, impulse: DVec3);
}

impl ForceSink for Load {
    fn along(&mut self, gradient: Force, q: f64, kappa: f64) {
        self.mass.add_outer(kappa, gradient);
        self.momentum += gradient * q;
    }

    fn turning(&mut self, tangent: Sym3, impulse: DVec3) {
        self.mass.angular += tangent;
        self.momentum.angular += impulse;
    }
}
