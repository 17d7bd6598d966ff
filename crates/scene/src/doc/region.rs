//! Regions of flesh: parts with a material of their own. Plain data; m, Pa, kg/m³, s.

use serde::{Deserialize, Serialize};

use super::shape::ShapeDoc;

document! {
    /// A part of flesh that differs from the rest. What is left out is as in the rest.
    pub struct RegionDoc {
        /// Unique among the regions of its flesh.
        pub name: String,
        /// Which tetrahedra; a later region takes only those that are in none so far.
        pub tets: RegionTetsDoc,
        /// Young's modulus (Pa).
        [omit] pub young: Option<f64>,
        /// Poisson's ratio, −1 to 0.5, both excluded.
        [omit] pub poisson: Option<f64>,
        /// Density of filled volume (kg/m³).
        [omit] pub density: Option<f64>,
        /// Stiffness damping (s). Only in implicit steps.
        [omit] pub stiffness_damping_s: Option<f64>,
    }
}

/// Which tetrahedra of flesh, by the places of their middles at rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum RegionTetsDoc {
    /// Those inside any of these shapes (m, frame of the mesh).
    Inside(Vec<ShapeDoc>),
    /// Those within a distance of the surface of a body's shapes, or inside.
    Near {
        /// The body.
        body: String,
        /// Largest distance (m).
        within: f64,
    },
    /// Those listed.
    List(Vec<u32>),
}

impl Default for RegionTetsDoc {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}
