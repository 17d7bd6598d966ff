//! What acts on flesh from outside during one step: grabs, pressure and wind. Plain data.
//!
//! The mechanism itself leaves it to whoever steps the flesh. Entries that make no sense are left alone and counted there. World axes, SI.

use glam::DVec3;
use sinew_math::SurfacePoint;

/// A user's hold on a point of flesh: an implicit spring to a moving target.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FleshGrab {
    /// Number of the flesh.
    pub flesh: u32,
    /// The point held.
    pub point: SurfacePoint,
    /// Where it should be at the end of the step, world, m.
    pub target: DVec3,
    /// N/m. Infinite: the point is at its target at the end of the step; for this no node around it may be fixed to a bone.
    pub stiffness: f64,
    /// N·s/m, against the velocity of the point, in every direction.
    pub damping: f64,
}

impl FleshGrab {
    /// Whether the point is held exactly instead of by a spring.
    pub fn is_hard(&self) -> bool {
        self.stiffness == f64::INFINITY
    }
}

/// A pressure on the surface of flesh, along its outer normals as they are during the step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SkinPressure {
    /// Number of the flesh.
    pub flesh: u32,
    /// Region whose faces it acts on, 0 for what is in no region; all faces if none.
    pub region: Option<u32>,
    /// Pa; positive pushes outwards.
    pub pressure: f64,
}

/// Wind on the surface of flesh: each face is dragged along with a force of `drag` times its area times the velocity of the air relative to
/// it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SkinWind {
    /// Number of the flesh.
    pub flesh: u32,
    /// Region whose faces it acts on, 0 for what is in no region; all faces if none.
    pub region: Option<u32>,
    /// Velocity of the air, world, m/s.
    pub velocity: DVec3,
    /// N·s/m³: force per area and relative speed.
    pub drag: f64,
}

/// All that acts on flesh from outside.
#[derive(Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SkinInput {
    /// Holds.
    pub grabs: Vec<FleshGrab>,
    /// Pressures.
    pub pressures: Vec<SkinPressure>,
    /// Winds.
    pub winds: Vec<SkinWind>,
}

impl SkinInput {
    /// Number of grabs, pressures and winds.
    pub fn n_entries(&self) -> u32 {
        (self.grabs.len() + self.pressures.len() + self.winds.len()) as u32
    }

    /// Whether nothing acts.
    pub fn is_empty(&self) -> bool {
        self.n_entries() == 0
    }
}

impl Clone for SkinInput {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    /// Reuses the memory of the lists.
    fn clone_from(&mut self, from: &Self) {
        self.grabs.clone_from(&from.grabs);
        self.pressures.clone_from(&from.pressures);
        self.winds.clone_from(&from.winds);
    }
}
