//! Contact materials of surfaces, and the law between two of them.
//!
//! A [`ContactMaterial`] belongs to one surface, a [`ContactLaw`] to a pair ([`ContactMaterial::with`]): the larger
//! stiffness, the larger damping, and the geometric mean of the friction, so that a surface without friction is
//! slippery for everything, and the larger restitution, so that a rubber ball bounces off everything; the larger rolling and torsional friction, too. The larger stiffness, rather than springs in series, keeps a heavy body from sinking into a
//! light one. SI units.

use crate::error::ContactError;

/// Gravity assumed by [`ContactMaterial::for_mass`] (m/s²).
const STANDARD_GRAVITY: f64 = 9.81;
/// How deep a body of the given mass sinks on one contact of [`ContactMaterial::for_mass`] (m).
const STANDARD_SINK: f64 = 1e-4;

/// Depth of [`ContactMaterial::for_mass`] at which hardening doubles the force (m).
const STANDARD_HARDENING: f64 = 3e-4;

/// Part of the depth of hardening by which surfaces that touch may come apart.
const APART: f64 = 0.05;

/// The surface of one collider, or of flesh.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ContactMaterial {
    /// Normal force per depth `k_n` (N/m), ≥ 0; 0 leaves it to the other side, which only the world may do.
    pub stiffness: f64,
    /// Normal force per depth and approach speed `c_n` (N·s/m²), ≥ 0. Over the stiffness: one over the speed (m/s) at
    /// which a separating contact opens.
    pub damping: f64,
    /// Coulomb friction `μ`, ≥ 0.
    pub friction: f64,
    /// Stiffness along the surface of a contact that sticks, over the normal one; > 0, 1 by default.
    pub grip: f64,
    /// Speed `v_s` below which a contact counts as at rest (m/s), > 0, 1e-4 by default. In the law without memory it
    /// is where friction reaches 1/√2 of its limit.
    pub slip_speed: f64,
    /// Depth `s` at which hardening doubles the force (m), > 0; infinite by default: `k_n d (1 + d²/s²)`. It counts where contacts of bodies are
    /// solved together, and keeps heavy loads and hard impacts from sinking deep.
    pub hardening: f64,
    /// Restitution `e`, 0 to 1: speed after an impact over the speed before it. It counts where bodies meet; flesh bounces by its elasticity.
    pub restitution: f64,
    /// Rolling friction, m, ≥ 0: the largest moment against rolling over the load. It counts where bodies meet.
    #[cfg_attr(feature = "serde", serde(default))]
    pub rolling: f64,
    /// Torsional friction, m, ≥ 0: the largest moment about the normal over the load. It counts where bodies meet.
    #[cfg_attr(feature = "serde", serde(default))]
    pub torsion: f64,
    /// Kind of surface, for rules of pairs ([`crate::PairRule`]); 0 by default.
    #[cfg_attr(feature = "serde", serde(default))]
    pub kind: u32,
}

/// The law between two surfaces.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ContactLaw {
    /// `k_n` (N/m).
    pub stiffness: f64,
    /// `c_n` (N·s/m²).
    pub damping: f64,
    /// `k_t`: force along the surface per stretch of a contact that sticks (N/m).
    pub tangential_stiffness: f64,
    /// `μ`.
    pub friction: f64,
    /// `v_s` (m/s).
    pub slip_speed: f64,
    /// `s` (m).
    pub hardening: f64,
    /// `e`.
    pub restitution: f64,
    /// Rolling friction `ρ` (m).
    pub rolling: f64,
    /// Torsional friction `τ` (m).
    pub torsion: f64,
}

impl ContactMaterial {
    /// Sets only the friction; stiffness and damping are those of the other side. For the world, and for bodies that
    /// forces do not move.
    pub const fn passive(friction: f64) -> Self {
        Self::new(0.0, 0.0, friction)
    }

    /// Given stiffness (N/m), damping (N·s/m²) and friction; the rest by default.
    pub const fn new(stiffness: f64, damping: f64, friction: f64) -> Self {
        let (hardening, slip_speed) = (f64::INFINITY, 1e-4);
        let (grip, restitution, rolling, torsion, kind) = (1.0, 0.0, 0.0, 0.0, 0);
        Self {
            stiffness,
            damping,
            friction,
            grip,
            slip_speed,
            hardening,
            restitution,
            rolling,
            torsion,
            kind,
        }
    }

    /// Numbers from the mass that the surface carries (kg): on one contact it sinks 0.1 mm under its weight and is
    /// damped critically there; on several, less. Under much larger loads it hardens.
    pub fn for_mass(mass: f64, friction: f64) -> Self {
        let material = Self::for_load(mass * STANDARD_GRAVITY, mass, STANDARD_SINK, friction);
        Self { hardening: STANDARD_HARDENING, ..material }
    }

    /// Sinks by `sink` (m) under the force `load` (N) and is damped critically there for the mass `mass` (kg).
    pub fn for_load(load: f64, mass: f64, sink: f64, friction: f64) -> Self {
        let stiffness = load / sink;
        Self::new(stiffness, 2.0 * (stiffness * mass).sqrt() / sink, friction)
    }

    /// Every number is in its range.
    ///
    /// # Errors
    /// [`ContactError::Material`] names the first that is not.
    pub fn check(&self) -> Result<(), ContactError> {
        let range = |field, value: f64, positive: bool| {
            let fine = value.is_finite() && if positive { value > 0.0 } else { value >= 0.0 };
            let range = if positive { "positive and finite" } else { "finite and not negative" };
            if fine { Ok(()) } else { Err(ContactError::Material { field, range, value }) }
        };
        range("stiffness", self.stiffness, false)?;
        range("damping", self.damping, false)?;
        range("friction", self.friction, false)?;
        range("rolling friction", self.rolling, false)?;
        range("torsional friction", self.torsion, false)?;
        range("grip", self.grip, true)?;
        range("slip speed", self.slip_speed, true)?;
        let firm = if self.hardening == f64::INFINITY { 1.0 } else { self.hardening };
        range("hardening", firm, true)?;
        let (field, value) = ("restitution", self.restitution);
        let is_share = (0.0..=1.0).contains(&value);
        if is_share { Ok(()) } else { Err(ContactError::Material { field, range: "between 0 and 1", value }) }
    }

    /// The law between this surface and `other`; the order does not matter.
    pub fn with(&self, other: &Self) -> ContactLaw {
        let stiffness = self.stiffness.max(other.stiffness);
        ContactLaw {
            stiffness,
            damping: self.damping.max(other.damping),
            tangential_stiffness: stiffness * self.grip.min(other.grip),
            friction: (self.friction * other.friction).sqrt(),
            slip_speed: self.slip_speed.max(other.slip_speed),
            hardening: self.hardening.min(other.hardening),
            restitution: self.restitution.max(other.restitution),
            rolling: self.rolling.max(other.rolling),
            torsion: self.torsion.max(other.torsion),
        }
    }
}

impl ContactLaw {
    /// How far surfaces that touch may be apart after a step of length `dt` (s) for the touch to go on (m): a twentieth of the depth of hardening,
    /// or, without hardening, what the slip speed covers in the step.
    pub fn touch_gap(&self, dt: f64) -> f64 {
        if self.hardening.is_finite() { APART * self.hardening } else { dt * self.slip_speed }
    }
}
