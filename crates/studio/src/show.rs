//! What is shown of a scene, and how flesh is coloured.

/// What is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Show {
    /// Surfaces of flesh.
    pub flesh: bool,
    /// The coarse mesh: nodes sized by mass, fixed ones black, free ones red (KP08 figure 6).
    pub nodes: bool,
    /// Joints as points.
    pub joints: bool,
    /// How flesh is coloured.
    pub tint: Tint,
    /// Forces of contacts as arrows.
    pub contacts: bool,
    /// Limits of joints as arcs, cones and bars.
    pub limits: bool,
    /// Forces in joints as arrows.
    pub joint_forces: bool,
}

impl Default for Show {
    fn default() -> Self {
        Self {
            flesh: true,
            nodes: false,
            joints: false,
            tint: Tint::Plain,
            contacts: false,
            limits: false,
            joint_forces: false,
        }
    }
}

/// How flesh is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tint {
    /// As in the scene.
    #[default]
    Plain,
    /// By stretch: blue 40 % shorter, white at rest, red 40 % longer.
    Stretch,
    /// Red where tetrahedra are diagonalized.
    Diagonalized,
}

impl Tint {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Stretch, Self::Diagonalized];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "Plain",
            Self::Stretch => "Stretch",
            Self::Diagonalized => "Diagonalized",
        }
    }
}
