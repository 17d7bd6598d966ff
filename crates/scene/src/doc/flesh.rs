//! Flesh: mesh of tetrahedra, material, attachment to bodies, stepping. Plain data; m, Pa, kg/m³, s.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::flow::{PlasticDoc, ViscousDoc};
use super::region::{FibresDoc, RegionDoc, RegionTetsDoc, TendonDoc};
use super::{contact::ContactDoc, omit::is_default, pose::PoseDoc};

document! {
    /// One body of flesh.
    pub struct FleshDoc {
        /// Unique among flesh.
        pub name: String,
        /// Its tetrahedra at rest.
        pub mesh: FleshMeshDoc,
        /// Frame of the mesh in the world.
        [omit] pub pose: PoseDoc,
        /// Initial velocity of every free node (m/s), world axes.
        [omit] pub velocity: DVec3,
        /// Material.
        pub material: FleshMaterialDoc,
        /// Parts with a material of their own.
        [omit] pub regions: Vec<RegionDoc>,
        /// Cords that pull.
        [omit] pub tendons: Vec<TendonDoc>,
        /// Whose strain has energy.
        [omit] pub strain: StrainDoc,
        /// Density of filled volume (kg/m³); that of the file of an embedded body, else that of water, if left out.
        [omit] pub density: Option<f64>,
        /// Stiffness damping (s): forces −βK v. Only in implicit steps.
        [omit] pub stiffness_damping_s: f64,
        /// Damper of free nodes against the motion of their nearest bone (1/s).
        [omit] pub bone_damping: f64,
        /// Mass of the lightest node, relative to the mean, 0 to 1.
        [omit] pub mass_floor: f64,
        /// Which nodes are fixed to which body; later entries take only nodes that are free so far.
        [omit] pub attach: Vec<AttachDoc>,
        /// How its surface touches; nothing touches it if left out.
        [omit] pub contact: Option<ContactDoc>,
        /// How it is stepped.
        [omit] pub stepping: FleshSteppingDoc,
        /// Initial displacement of free nodes, for tests of recovery.
        [omit] pub disturbed: DisturbanceDoc,
        /// Colour to draw it with: red, green, blue from 0 to 1.
        [omit] pub color: Option<DVec3>,
    }
}

impl FleshDoc {
    /// The names of bodies in it, to be changed.
    pub(crate) fn bodies_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let bones = self.attach.iter_mut().filter_map(|attach| attach.body.as_mut());
        bones.chain(self.regions.iter_mut().flat_map(|region| {
            let near = match &mut region.tets {
                RegionTetsDoc::Near { body, .. } => Some(body),
                _ => None,
            };
            let along = match region.muscle.as_mut().map(|muscle| &mut muscle.fibres) {
                Some(FibresDoc::AlongBody(body)) => Some(body),
                _ => None,
            };
            near.into_iter().chain(along)
        }))
    }
}

/// Tetrahedra at rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum FleshMeshDoc {
    /// A box with one corner at the origin, of cubes cut into six tetrahedra each, neighbours as mirror images.
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
        /// Factor on all coordinates, 0.001 for files in millimetres.
        #[serde(default = "one")]
        scale: f64,
    },
    /// Tetrahedra in a file of Gmsh (`.msh`) or VTK (`.vtk`, `.vtu`) beside the scene.
    TetFile {
        /// The file.
        file: String,
        /// Factor on all coordinates, 0.001 for a file in millimetres.
        #[serde(default = "one")]
        scale: f64,
    },
    /// A body made by `sinew embed`, beside the scene.
    Embedded {
        /// The `.ron` file.
        file: String,
    },
    /// A closed surface beside the scene, embedded in a lattice when the scene is built.
    Surface {
        /// An `.obj`, `.stl` or `.ply` file.
        file: String,
        /// Cells along its longest side, 1 to 1,000.
        cells: u32,
        /// Factor on all coordinates, 0.001 for a file in millimetres.
        #[serde(default = "one")]
        scale: f64,
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

/// Material of flesh.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum FleshMaterialDoc {
    /// St. Venant–Kirchhoff, extended linearly outside a band of squared stretches.
    StVenantKirchhoff {
        /// Young's modulus (Pa).
        young: f64,
        /// Poisson's ratio, −1 to 0.5, both excluded.
        poisson: f64,
        /// The band of squared stretches, around 1.
        #[serde(default = "band", skip_serializing_if = "is_band")]
        band: [f64; 2],
        /// How stress continues outside the band.
        #[serde(default, skip_serializing_if = "is_default")]
        extension: ExtensionDoc,
        /// How it yields; not at all if left out.
        #[serde(default, skip_serializing_if = "is_default")]
        plastic: Option<PlasticDoc>,
        /// What relaxes beside it; nothing if left out.
        #[serde(default, skip_serializing_if = "is_default")]
        viscous: Option<ViscousDoc>,
    },
    /// Stable Neo-Hookean.
    NeoHookean {
        /// Young's modulus (Pa).
        young: f64,
        /// Poisson's ratio, −1 to 0.5, both excluded.
        poisson: f64,
        /// How it yields; not at all if left out.
        #[serde(default, skip_serializing_if = "is_default")]
        plastic: Option<PlasticDoc>,
        /// What relaxes beside it; nothing if left out.
        #[serde(default, skip_serializing_if = "is_default")]
        viscous: Option<ViscousDoc>,
    },
}

fn one() -> f64 {
    1.0
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
            Self::StVenantKirchhoff { young, poisson, .. } | Self::NeoHookean { young, poisson, .. } => {
                (young, poisson)
            }
        }
    }

    /// How it flows.
    pub fn flow(&self) -> (Option<PlasticDoc>, Option<ViscousDoc>) {
        match *self {
            Self::StVenantKirchhoff { plastic, viscous, .. } | Self::NeoHookean { plastic, viscous, .. } => {
                (plastic, viscous)
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
        Self::StVenantKirchhoff {
            young: 1e5,
            poisson: 0.4,
            band: band(),
            extension: ExtensionDoc::default(),
            plastic: None,
            viscous: None,
        }
    }
}

/// How stress continues outside the band.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExtensionDoc {
    /// `Conservative` for implicit flesh, `PerStretch` for explicit flesh.
    #[default]
    Auto,
    /// Each principal stress is extended separately; energy is not conserved.
    PerStretch,
    /// Stress is the gradient of an energy.
    Conservative,
}

/// Whose strain has energy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum StrainDoc {
    /// `Mean` for implicit flesh, `Local` for explicit flesh and for characters.
    #[default]
    Auto,
    /// That of each tetrahedron; too stiff on coarse meshes and as Poisson's ratio nears ½.
    Local,
    /// Mostly the mean strain of small groups of tetrahedra.
    Mean,
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
    /// Those that the bones of a character hold; bone `b` is the body `prefix_b`.
    /// Only for flesh of a character, and without `body`.
    OfCharacter(String),
}

/// How flesh is stepped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum FleshSteppingDoc {
    /// In one system with bodies, joints and contacts; needs the stepper `Implicit`.
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
    /// All coordinates along an axis of the mesh times a factor, about its middle; a negative one turns it inside out.
    Scaled(DVec3),
    /// Twisted about the longest side of the mesh, from one end to the other (rad).
    Twisted(f64),
}

document! {
    /// How the coupled system of flesh and bodies is solved.
    #[derive(Copy)]
    pub struct FleshSolverDoc {
        /// Residual relative to the right-hand side, 1e-14 to 0.5.
        pub precision: f64 = 1e-5,
        /// Most iterations, 1 to 1,000,000.
        pub iterations: u32 = 4000,
    }
}

/// The built-in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum CharacterKindDoc {
    /// Seven bones in a row, 714 tetrahedra.
    #[default]
    Worm,
    /// The worm in finer flesh.
    WormFine {
        /// Bricks along its length, width and height, 1 to 1,000 each, six tetrahedra each at most.
        cells: [u32; 3],
    },
    /// Seven bones from head to tail, 415 tetrahedra.
    Fish,
    /// Five bones and a soft tip, 119 tetrahedra.
    Finger,
    /// Sixteen bones, a few thousand tetrahedra.
    Hand,
}
