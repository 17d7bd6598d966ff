//! Flesh and what touches: tetrahedra around bones, colliders, contact.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::{CharacterKindDoc, PoseDoc, ShapeDoc, is_default};

/// One body of flesh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FleshDoc {
    /// Unique among flesh.
    pub name: String,
    /// Its tetrahedra at rest.
    pub mesh: FleshMeshDoc,
    /// Frame of the mesh in the world.
    #[serde(skip_serializing_if = "is_default")]
    pub pose: PoseDoc,
    /// Initial velocity of every free node (m/s), world axes.
    #[serde(skip_serializing_if = "is_default")]
    pub velocity: DVec3,
    /// What it is made of.
    pub material: FleshMaterialDoc,
    /// Density of filled volume (kg/m³).
    pub density: f64,
    /// Stiffness damping (s): forces −βK v. Only in implicit steps.
    #[serde(skip_serializing_if = "is_default")]
    pub stiffness_damping_s: f64,
    /// Damper of free nodes against the motion of their nearest bone (1/s).
    #[serde(skip_serializing_if = "is_default")]
    pub bone_damping: f64,
    /// Lightest node, as a part of the mean, 0 to 1.
    #[serde(skip_serializing_if = "is_default")]
    pub mass_floor: f64,
    /// Which nodes are fixed to which body; later entries take only nodes that are free so far.
    #[serde(skip_serializing_if = "is_default")]
    pub attach: Vec<AttachDoc>,
    /// How its surface touches; nothing touches it if left out.
    #[serde(skip_serializing_if = "is_default")]
    pub contact: Option<ContactDoc>,
    /// How it is stepped.
    #[serde(skip_serializing_if = "is_default")]
    pub stepping: FleshSteppingDoc,
    /// Initial displacement of free nodes, for tests of recovery.
    #[serde(skip_serializing_if = "is_default")]
    pub disturbed: DisturbanceDoc,
    /// Colour to draw it with: red, green, blue from 0 to 1.
    #[serde(skip_serializing_if = "is_default")]
    pub color: Option<DVec3>,
}

impl Default for FleshDoc {
    fn default() -> Self {
        Self {
            name: String::new(),
            mesh: FleshMeshDoc::default(),
            pose: PoseDoc::default(),
            velocity: DVec3::ZERO,
            material: FleshMaterialDoc::default(),
            density: 1000.0,
            stiffness_damping_s: 0.0,
            bone_damping: 0.0,
            mass_floor: 0.0,
            attach: Vec::new(),
            contact: None,
            stepping: FleshSteppingDoc::default(),
            disturbed: DisturbanceDoc::default(),
            color: None,
        }
    }
}

/// Tetrahedra at rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum FleshMeshDoc {
    /// A box with one corner at the origin, of cubes cut into six tetrahedra each.
    Beam {
        /// Lengths of its sides (m).
        size: DVec3,
        /// Cubes along each side, 1 to 1,000.
        cells: [u32; 3],
    },
    /// Nodes and tetrahedra written out.
    Tets {
        /// Nodes (m).
        nodes: Vec<DVec3>,
        /// Four different nodes each, of positive volume: the first three turn counterclockwise, seen from the fourth.
        tets: Vec<[u32; 4]>,
    },
    /// TetGen files, beside the scene.
    TetGen {
        /// The `.node` file.
        node: String,
        /// The `.ele` file.
        ele: String,
    },
    /// A body made by `sinew embed`, beside the scene.
    Embedded {
        /// The `.ron` file.
        file: String,
    },
    /// A closed surface beside the scene, embedded in a lattice when the scene is built.
    Surface {
        /// An `.obj` or `.stl` file.
        file: String,
        /// Cells along its longest side, 1 to 1,000.
        cells: u32,
    },
    /// The flesh of a character, as its generator makes it.
    Character {
        /// Which one.
        kind: CharacterKindDoc,
    },
}

impl Default for FleshMeshDoc {
    fn default() -> Self {
        Self::Tets { nodes: Vec::new(), tets: Vec::new() }
    }
}

/// What flesh is made of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum FleshMaterialDoc {
    /// St. Venant and Kirchhoff's, extended linearly outside a band of squared stretches.
    StVenantKirchhoff {
        /// Young's modulus (Pa).
        young: f64,
        /// Poisson's ratio, −1 to 0.5, both excluded.
        poisson: f64,
        /// The band of squared stretches, around 1.
        #[serde(default = "band", skip_serializing_if = "is_band")]
        band: [f64; 2],
        /// What happens outside.
        #[serde(default, skip_serializing_if = "is_default")]
        extension: ExtensionDoc,
    },
    /// Stable Neo-Hookean.
    NeoHookean {
        /// Young's modulus (Pa).
        young: f64,
        /// Poisson's ratio, −1 to 0.5, both excluded.
        poisson: f64,
    },
}

fn band() -> [f64; 2] {
    [2.0 / 3.0, 5.0 / 3.0]
}

#[expect(clippy::float_cmp, reason = "the very numbers of the default")]
fn is_band(found: &[f64; 2]) -> bool {
    *found == band()
}

impl FleshMaterialDoc {
    /// Young's modulus (Pa) and Poisson's ratio.
    pub fn elasticity(&self) -> (f64, f64) {
        match *self {
            Self::StVenantKirchhoff { young, poisson, .. } | Self::NeoHookean { young, poisson } => {
                (young, poisson)
            }
        }
    }

    /// Young's modulus (Pa), to change it.
    pub fn young_mut(&mut self) -> &mut f64 {
        match self {
            Self::StVenantKirchhoff { young, .. } | Self::NeoHookean { young, .. } => young,
        }
    }
}

impl Default for FleshMaterialDoc {
    fn default() -> Self {
        Self::StVenantKirchhoff { young: 1e5, poisson: 0.4, band: band(), extension: ExtensionDoc::default() }
    }
}

/// How stress goes on outside the band.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExtensionDoc {
    /// The best of the two for how the flesh is stepped: `Conservative` if implicit, `PerStretch` if explicit.
    #[default]
    Auto,
    /// Each stretch on a line of its own; energy is not conserved.
    PerStretch,
    /// The gradient of an energy.
    Conservative,
}

/// Which nodes are fixed to a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttachDoc {
    /// The body, or `world`; every body in turn if left out (the nearest one wins).
    #[serde(default, skip_serializing_if = "is_default")]
    pub body: Option<String>,
    /// Which nodes.
    pub nodes: AttachedDoc,
}

/// Which nodes of flesh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum AttachedDoc {
    /// Those within a distance (m) of the surface of the body's shapes, or inside.
    Within(f64),
    /// Those listed.
    List(Vec<u32>),
    /// Those in a box between two corners (m, frame of the mesh), its faces included.
    Inside {
        /// Lowest corner.
        low: DVec3,
        /// Highest corner.
        high: DVec3,
    },
    /// Those that a character's bones hold, each by the bone that the character says: bone `b` is the body `prefix_b`.
    /// Only for flesh of a character, and without `body`.
    OfCharacter(String),
}

/// How flesh is stepped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum FleshSteppingDoc {
    /// In one system with bodies, joints and contacts; wants the stepper `Implicit`.
    #[default]
    Implicit,
    /// In explicit substeps between the motions of its bones.
    Explicit {
        /// Substeps per step, 1 to 100,000; chosen from the stiffness if 0.
        substeps: u32,
    },
}

/// Initial displacement of free nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum DisturbanceDoc {
    /// None.
    #[default]
    None,
    /// Every coordinate by a random amount up to this (m), from a seed.
    Random {
        /// Largest displacement (m).
        amount: f64,
        /// Any number.
        seed: u64,
    },
    /// All coordinates along an axis of the mesh times a factor, about its middle; a negative one turns the flesh inside out.
    Scaled(DVec3),
    /// Turned about the axis of the mesh's longest side, from one end to the other (rad).
    Twisted(f64),
}

/// How a surface touches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContactDoc {
    /// Coefficient of friction; of two surfaces the geometric mean counts.
    pub friction: f64,
    /// How far it gives under its own weight.
    pub firmness: FirmnessDoc,
    /// Groups it belongs to, one bit each.
    pub groups: u32,
    /// Groups it touches.
    pub touches: u32,
}

impl Default for ContactDoc {
    fn default() -> Self {
        Self { friction: 0.5, firmness: FirmnessDoc::default(), groups: u32::MAX, touches: u32::MAX }
    }
}

/// How a contact resists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum FirmnessDoc {
    /// From the mass of the body: it sinks in by 0.1 mm under its weight, and does not bounce.
    #[default]
    Auto,
    /// As told.
    Given {
        /// Normal stiffness of one contact point (N/m).
        stiffness: f64,
        /// Damping (N·s/m²): force per depth and speed.
        damping: f64,
    },
    /// The numbers of `Auto` times factors.
    Scaled {
        /// Factor on the stiffness, above 0.
        stiffness: f64,
        /// Factor on the damping, at least 0.
        damping: f64,
    },
}

/// Something that can be touched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColliderDoc {
    /// The body it is fixed to, or `world`.
    #[serde(default = "world", skip_serializing_if = "is_world")]
    pub body: String,
    /// Its form.
    pub shape: ColliderShapeDoc,
    /// Its surface.
    #[serde(default, skip_serializing_if = "is_default")]
    pub contact: ContactDoc,
}

fn world() -> String {
    "world".to_owned()
}

fn is_world(name: &String) -> bool {
    name == "world"
}

/// The form of a collider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum ColliderShapeDoc {
    /// Everything behind a plane; only of the world.
    Plane {
        /// A point of it (m).
        point: DVec3,
        /// Where it is free; any length but zero.
        normal: DVec3,
    },
    /// A solid; ellipsoids cannot be touched.
    Solid(ShapeDoc),
    /// All shapes of the body.
    OfBody,
    /// Heights over a grid in the xy-plane of its frame.
    HeightField {
        /// Frame in the body's frame.
        #[serde(default, skip_serializing_if = "is_default")]
        at: PoseDoc,
        /// Extent along x and y (m), centred on the frame.
        size: [f64; 2],
        /// Rows along y of heights along x (m), all of the same length, at least two each.
        heights: Vec<Vec<f64>>,
    },
}

/// How the coupled system of flesh and bodies is solved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FleshSolverDoc {
    /// Residual relative to the right-hand side, 1e-14 to 0.5.
    pub precision: f64,
    /// Most iterations, 1 to 1,000,000.
    pub iterations: u32,
}

impl Default for FleshSolverDoc {
    fn default() -> Self {
        Self { precision: 1e-5, iterations: 1000 }
    }
}
