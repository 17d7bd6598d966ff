//! Flow of materials: plasticity and viscosity. Plain data; Pa, s.

use serde::{Deserialize, Serialize};

use super::omit::is_default;

/// Flow beyond a yield stress, which stays.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlasticDoc {
    /// Stress at which a bar under tension yields (Pa).
    pub yield_stress: f64,
    /// How much the yield stress grows per plastic strain (Pa).
    #[serde(default, skip_serializing_if = "is_default")]
    pub hardening: f64,
    /// Largest plastic stretch, and inverse of the smallest; beyond it the material is elastic.
    #[serde(default = "largest_stretch", skip_serializing_if = "is_largest_stretch")]
    pub largest_stretch: f64,
}

/// A spring behind a damper, beside the elastic material.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViscousDoc {
    /// Stiffness of the spring, relative to that of the material; 0 is none.
    pub ratio: f64,
    /// Time in which its stress decays by the factor e (s).
    pub time_s: f64,
}

fn largest_stretch() -> f64 {
    4.0
}

#[expect(clippy::float_cmp, reason = "the very number of the default")]
fn is_largest_stretch(found: &f64) -> bool {
    *found == largest_stretch()
}
