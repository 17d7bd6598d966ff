//! What a rig is: bones, a motion that they follow, a skin around them, and how they are read.

use std::collections::BTreeMap;

use glam::{DQuat, DVec3};
use sinew_math::Pose;
use sinew_scene::ShapeDoc;

/// How rigs and motions are read.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RigOptions {
    /// Whether a skin becomes flesh around the bones.
    pub flesh: bool,
    /// Cells of flesh along the longest side; from the thickness of the limbs if left out.
    pub cells: Option<u32>,
    /// Density of bones and flesh (kg/m³).
    pub density: f64,
    /// Young's modulus of flesh (Pa).
    pub young: f64,
    /// How fast joint springs answer (Hz): 8 for those that follow a motion, 4 for others, if left out.
    pub spring_hz: Option<f64>,
    /// The animation that is played; the first one if left out.
    pub animation: Option<String>,
    /// Length of a unit of a motion file (m); guessed from the height of the skeleton if left out.
    pub scale: Option<f64>,
}

impl Default for RigOptions {
    fn default() -> Self {
        Self {
            flesh: false,
            cells: None,
            density: 1000.0,
            young: 5e4,
            spring_hz: None,
            animation: None,
            scale: None,
        }
    }
}

/// Which bones a vertex follows, with weights of sum one.
pub(crate) type BoneWeights = Vec<(usize, f64)>;

/// A surface whose vertices follow bones.
#[derive(Clone, Debug, Default)]
pub(crate) struct RigSkin {
    pub(crate) positions: Vec<DVec3>,
    /// Counterclockwise from outside.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// One a position.
    pub(crate) weights: Vec<BoneWeights>,
}

/// A bone.
#[derive(Clone, Debug)]
pub(crate) struct RigBone {
    pub(crate) name: String,
    /// The bone that holds it, which comes before it.
    pub(crate) parent: Option<usize>,
    /// `world_from_bone` at the beginning.
    pub(crate) pose: Pose,
    /// The rotation of the bone in its parent at which its spring is relaxed, if there is no motion.
    pub(crate) relaxed: DQuat,
    /// Axis in the bone's frame, if it turns about one only.
    pub(crate) hinge: Option<DVec3>,
    /// Where it ends, world: at bones it holds, and ends that hold none.
    pub(crate) ends: Vec<DVec3>,
    pub(crate) shapes: Vec<ShapeDoc>,
    /// What it carries without its children: mass (kg), its middle in the world, and a radius (m).
    pub(crate) load: (f64, DVec3, f64),
}

/// Bones, the root first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rig {
    pub(crate) bones: Vec<RigBone>,
}

/// A motion of a rig.
#[derive(Clone, Debug, Default)]
pub(crate) struct RigMotion {
    /// Times (s), increasing.
    pub(crate) times: Vec<f64>,
    /// `world_from_bone` of the root at each time.
    pub(crate) root: Vec<Pose>,
    /// Rotation of each bone in its parent at each time.
    pub(crate) turns: Vec<Vec<DQuat>>,
}

/// Names that differ from each other and from `world`: repeated ones get a number.
pub(crate) fn unique_names(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut taken = BTreeMap::from([("world".to_owned(), 2_u64)]);
    let unique = |name: String| {
        let mut free = name.clone();
        while let Some(next) = taken.get(&free).copied() {
            let number = taken.get(&name).copied().unwrap_or(next);
            taken.insert(name.clone(), number + 1);
            free = format!("{name}_{number}");
        }
        taken.insert(free.clone(), 2);
        free
    };
    names.map(unique).collect()
}

#[cfg(test)]
mod tests {
    use super::unique_names;

    #[test]
    fn repeated_names_get_numbers() {
        let names = ["a", "world", "a", "a_2", "a"].map(str::to_owned);
        assert_eq!(unique_names(names.into_iter()), ["a", "world_2", "a_2", "a_2_2", "a_3"]);
    }
}
