//! Regions of flesh: parts with a material or fibres of their own. Plain data; m, Pa, kg/m³, s.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::flow::{PlasticDoc, ViscousDoc};
use super::{joint::TargetDoc, shape::ShapeDoc};

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
        /// How it yields.
        [omit] pub plastic: Option<PlasticDoc>,
        /// What relaxes beside it.
        [omit] pub viscous: Option<ViscousDoc>,
        /// Fibres that resist being stretched, and pull when active; none if left out.
        [omit] pub muscle: Option<MuscleDoc>,
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
    /// Those to which the file of the mesh gives this number: TetGen's first attribute, Gmsh's first physical group.
    Marked(f64),
}

impl Default for RegionTetsDoc {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

document! {
    /// Fibres of a region: stress along one direction, beside that of the material.
    pub struct MuscleDoc {
        /// How they run at rest.
        pub fibres: FibresDoc,
        /// Active stress at full activation (Pa).
        pub strength: f64,
        /// Stiffness of fibres that are longer than at rest (Pa).
        [omit] pub stiffness: f64,
        /// How active stress depends on the length of the fibres.
        [omit] pub curve: ForceLengthDoc,
        /// Rate of shortening at which active stress is zero, by Hill's curve (1/s, lengths at rest per second); it does not depend on the
        /// rate if left out.
        [omit] pub fastest: Option<f64>,
        /// Activation, 0 to 1: a value, or a scalar track, cut off at 0 and 1.
        [omit] pub activation: TargetDoc,
    }
}

document! {
    /// A cord through points of the flesh, which pulls along its pieces: each of them is a fibre of its own.
    pub struct TendonDoc {
        /// Unique among the tendons and regions of its flesh.
        pub name: String,
        /// What it runs through, from end to end: at least two points (m, frame of the mesh), inside the flesh. Where nodes are fixed to a bone it pulls at the bone.
        pub path: Vec<DVec3>,
        /// Active force at full activation (N).
        [omit] pub strength: f64,
        /// Force per stretch of pieces that are longer than at rest (N).
        [omit] pub stiffness: f64,
        /// How active force depends on the length of a piece.
        [omit] pub curve: ForceLengthDoc,
        /// Rate of shortening at which active force is zero, by Hill's curve (1/s); it does not depend on the rate if left out.
        [omit] pub fastest: Option<f64>,
        /// Activation, 0 to 1: a value, or a scalar track, cut off at 0 and 1.
        [omit] pub activation: TargetDoc,
    }
}

/// How fibres run at rest. Their direction has no sign.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum FibresDoc {
    /// All along this direction (frame of the mesh), any non-zero length.
    Along(DVec3),
    /// All along x of the frame of a body.
    AlongBody(String),
    /// Along the nearest piece of a path of at least two points (m, frame of the mesh).
    Path(Vec<DVec3>),
    /// In rings around a line.
    Around {
        /// A point of the line (m, frame of the mesh).
        point: DVec3,
        /// Its direction, any non-zero length.
        axis: DVec3,
    },
}

impl Default for FibresDoc {
    fn default() -> Self {
        Self::Along(DVec3::X)
    }
}

/// How active stress depends on the length of fibres.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum ForceLengthDoc {
    /// Not at all.
    #[default]
    Flat,
    /// Largest at one stretch and zero far from it, as in muscles.
    Bell {
        /// Stretch at which it is largest.
        optimum: f64,
        /// Distance from there at which it is zero, less than the optimum.
        width: f64,
    },
}
