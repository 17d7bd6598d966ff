//! Display options: what a drawing shows, and how flesh is coloured.

/// What a drawing shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShowOptions {
    /// Surfaces of flesh.
    pub flesh: bool,
    /// The tetrahedral mesh of flesh instead of its surface: nodes sized by mass, fixed black, free red (KP08 figure
    /// 6).
    pub nodes: bool,
    /// Joints as points.
    pub joints: bool,
    /// How flesh is coloured.
    pub tint: Tint,
    /// Contact forces as arrows.
    pub contacts: bool,
    /// Joint limits as arcs, cones and bars.
    pub limits: bool,
    /// Joint forces as arrows.
    pub joint_forces: bool,
}

impl Default for ShowOptions {
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
    /// By stretch: blue is 40 % shorter, white at rest, red 40 % longer.
    Stretch,
    /// Red where tetrahedra are diagonalized.
    Diagonalized,
}

impl Tint {
    /// All choices.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Stretch, Self::Diagonalized];

    /// Name in user interfaces.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "Plain",
            Self::Stretch => "Stretch",
            Self::Diagonalized => "Diagonalized",
        }
    }
}
