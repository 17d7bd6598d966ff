//! Settings of a step: its length (s), gravity, the stepper of the bodies, and how flesh is stepped.

use crate::sleep_state::Sleep;
use glam::DVec3;
use sinew_mechanism::{Assembly, CgSettings, Displacement, Explicit, Gyroscopic, Implicit, Loops};

/// Settings of a step; plain data with working defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Settings {
    /// Step length, s (default 1/60).
    pub dt: f64,
    /// Gravity, world axes, m/s² (default (0, 0, −9.81)).
    pub gravity: DVec3,
    /// The stepper.
    pub scheme: Scheme,
    /// How flesh is stepped.
    pub flesh: FleshStepping,
    /// How the implicit stepper treats gyroscopic torques.
    pub gyroscopic: Gyroscopic,
    /// How loops are closed.
    pub loops: Loops,
    /// Whether positions and velocities are brought back onto the joints after every step.
    pub stabilize: Option<Assembly>,
    /// Whether islands that nothing holds get back the angular momentum that a step has lost to its order or its stop test.
    pub keep_momentum: bool,
    /// Whether implicit steps take energy that they would gain without a source out of the motion.
    pub limit_energy: bool,
    /// Whether a step leaves wrenches of joints and accelerations of bodies in its workspace ([`crate::Workspace::joint_wrenches`],
    /// [`crate::Workspace::accelerations`]). Then nothing sleeps; else the motion does not depend on it.
    pub reactions: bool,
    /// How precisely bodies and flesh are solved together.
    pub together: CgSettings,
    /// When bodies that rest fall asleep; none: they never do.
    #[cfg_attr(feature = "serde", serde(default))]
    pub sleep: Option<Sleep>,
}

/// The stepper of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Scheme {
    /// Everything implicit: the default.
    Implicit(Implicit),
    /// Acceleration constraints with a Runge–Kutta integrator: the baseline.
    Explicit(Explicit),
    /// Displacements with assembly as the only constraint work (Fau98 §4.2).
    Displacement(Displacement),
    /// Hybrid recursive dynamics in joint coordinates (KP08). The model needs [`crate::Model::reduced`].
    Reduced(Reduced),
}

/// Steps in joint coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Reduced {
    /// The integrator.
    pub method: ReducedMethod,
    /// Substeps at most, while contact is violent. 0 stands for 1.
    pub most_substeps: u32,
}

/// How joint coordinates are integrated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ReducedMethod {
    /// Forces change the velocities, then everything moves by inertia, which is resolved to second order.
    #[default]
    SymplecticEuler,
    /// Fourth-order Runge–Kutta. Commands, and forces of flesh and contacts, are those of the beginning of the substep.
    Rk4,
    /// Symplectic Euler with joint forces at the end of the substep.
    Implicit,
}

/// How flesh is stepped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum FleshStepping {
    /// Solved with the bodies by [`Scheme::Implicit`]; the other schemes take explicit substeps.
    #[default]
    Coupled,
    /// Explicit substeps apart from the bodies, whatever the scheme.
    Explicit {
        /// Substeps of a step; 0 takes as many as are stable.
        substeps: u32,
    },
}

impl Default for Settings {
    fn default() -> Self {
        let bodies = sinew_mechanism::Settings::default();
        Self {
            dt: bodies.dt,
            gravity: bodies.gravity,
            scheme: Scheme::default(),
            flesh: FleshStepping::default(),
            gyroscopic: bodies.gyroscopic,
            loops: bodies.loops,
            stabilize: bodies.stabilize,
            keep_momentum: bodies.keep_momentum,
            limit_energy: bodies.limit_energy,
            reactions: bodies.reactions,
            together: bodies.together,
            sleep: Some(Sleep::default()),
        }
    }
}

impl Default for Scheme {
    fn default() -> Self {
        Self::Implicit(Implicit::default())
    }
}

impl Scheme {
    /// Name in lower case.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Implicit(_) => "implicit",
            Self::Explicit(_) => "explicit",
            Self::Displacement(_) => "displacement",
            Self::Reduced(_) => "reduced",
        }
    }
}

impl Settings {
    /// The settings of the mechanism's own stepper; `None` if steps are made in joint coordinates.
    pub fn mechanism(&self) -> Option<sinew_mechanism::Settings> {
        let scheme = match self.scheme {
            Scheme::Implicit(implicit) => sinew_mechanism::Scheme::Implicit(implicit),
            Scheme::Explicit(explicit) => sinew_mechanism::Scheme::Explicit(explicit),
            Scheme::Displacement(displacement) => sinew_mechanism::Scheme::Displacement(displacement),
            Scheme::Reduced(_) => return None,
        };
        let mut settings = sinew_mechanism::Settings::default();
        settings.dt = self.dt;
        settings.gravity = self.gravity;
        settings.scheme = scheme;
        settings.gyroscopic = self.gyroscopic;
        settings.loops = self.loops;
        settings.stabilize = self.stabilize;
        (settings.keep_momentum, settings.limit_energy) = (self.keep_momentum, self.limit_energy);
        settings.reactions = self.reactions;
        settings.together = self.together;
        Some(settings)
    }

    /// Substeps of flesh that is stepped apart from the bodies (0: as many as are stable); `None` if it is solved with them.
    pub fn flesh_substeps(&self) -> Option<u32> {
        match (self.flesh, self.scheme) {
            (FleshStepping::Explicit { substeps }, _) => Some(substeps),
            (FleshStepping::Coupled, Scheme::Implicit(_)) => None,
            (FleshStepping::Coupled, _) => Some(0),
        }
    }
}
