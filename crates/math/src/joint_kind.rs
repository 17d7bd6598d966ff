//! Joint kinds: the kinematic pairs that a joint can be, with their free and locked directions.
//!
//! A joint relates frame 1 (on the child) to frame 2 (on the parent). The axes of a frame are written `i, j, k` = x, y,
//! z; **`i` is the main axis**: the pin of a hinge, the rail of a slider, the normal of a plane. The table at
//! [`JointKind`] lists the free directions of each kind; the row families are those of `docs/maths/joints.md`.
//!
//! Units: metres, radians, metres per radian for a pitch. Constant cost, no failure.

/// The kinds of joint, by the directions they remove. The main axis `i` is x of the joint frame.
///
/// | Kind | rows | frees | row families |
/// |---|---|---|---|
/// | `Fixed` | 6 | – | t_x t_y t_z + lock |
/// | `Hinge` | 5 | twist about i | t_x t_y t_z + axis |
/// | `Prismatic` | 5 | slide along i | t_y t_z + lock |
/// | `Cylindrical` | 4 | twist and slide | t_y t_z + axis |
/// | `Planar` | 3 | twist, j and k | t_x + axis |
/// | `Ball` | 3 | all rotations | t_x t_y t_z |
/// | `Universal` | 4 | about i₁ and j₂ | t_x t_y t_z + Hooke |
/// | `Orientation` | 3 | all translations | lock |
/// | `PointOnLine` | 2 | slide, rotations | t_y t_z |
/// | `PointOnPlane` | 1 | j, k, rotations | t_x |
/// | `Free` | 0 | everything | – |
/// | `Screw` | 5 | twist with advance | t_y t_z + axis + screw |
/// | `RollingSphere` | 3 | all rotations | roll (1 position row, 2 velocity rows) |
/// | `RollingDisc` | 3 | all rotations | roll (1 position row, 2 velocity rows) |
/// | `Masked` | 0 to 6 | the rest | some of t_x t_y t_z + nothing, Hooke, axis or lock |
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum JointKind {
    /// The two frames coincide.
    Fixed,
    /// Points coincide, axes `i` coincide: one rotation about `i`.
    Hinge,
    /// Orientations coincide, point 1 stays on the line `i₂`: one translation along `i`.
    Prismatic,
    /// Axes `i` lie on one line: rotation about it and translation along it.
    Cylindrical,
    /// Planes normal to `i` coincide: two translations and the rotation about `i`.
    Planar,
    /// Points coincide.
    Ball,
    /// Points coincide and `i₁ ⊥ j₂` (Hooke joint, a cross with two pins): it turns about the first axis `i₁`, x of frame 1, fixed in the child, and about
    /// the second axis `j₂`, y of frame 2, fixed in the parent. Where the frames coincide, as those of a frame in the world, the child's pin lies along
    /// the main axis and the parent's along the reference direction, y.
    Universal,
    /// Orientations coincide.
    Orientation,
    /// Point 1 stays on the line through point 2 along `i₂`.
    PointOnLine,
    /// Point 1 stays on the plane through point 2 normal to `i₂`.
    PointOnPlane,
    /// No rows: the bodies are only neighbours in the tree.
    Free,
    /// Cylindrical, and the slide follows the twist.
    Screw {
        /// Advance along `i` per radian of twist, in metres (any sign).
        pitch: f64,
    },
    /// A sphere of body 1, centred at point 1, rolls without slipping on the plane of frame 2 (normal `i₂`,
    /// through point 2), staying on the side that `i₂` points to.
    RollingSphere {
        /// Radius in metres.
        radius: f64,
    },
    /// A thin disc of body 1, centred at point 1 with axis `i₁`, rolls without slipping on the plane of frame 2
    /// (normal `i₂`, through point 2). Lying flat (`i₁ ∥ i₂`) is degenerate: the contact point is then arbitrary.
    RollingDisc {
        /// Radius in metres.
        radius: f64,
    },
    /// A combination of locked directions that has no name, see [`JointKind::locking`].
    #[cfg_attr(feature = "serde", serde(skip))]
    Masked {
        /// Locked translations along `i, j, k` of frame 2: bits 0–2.
        translations: u8,
        /// Locked rotations: none, one as `Universal`, two as `Hinge`, all three.
        rotations: u8,
    },
}

impl JointKind {
    /// The kind that locks these translations along `i, j, k` of frame 2 and so many rotations, at most 3: one as `Universal`
    /// (`i₁ ⊥ j₂`), two as `Hinge` (`i₁ = i₂`).
    pub fn locking(translations: [bool; 3], rotations: u8) -> Self {
        let bits = translations.iter().rev().fold(0, |bits, &locked| 2 * bits + u8::from(locked));
        let masked = Self::Masked { translations: bits, rotations: rotations.min(3) };
        match masked {
            Self::Masked { translations: 0b111, rotations: 1 } => Self::Universal,
            _ => {
                let is_same =
                    |kind: &Self| kind.locked_mask().is_some() && kind.locked_mask() == masked.locked_mask();
                Self::all(0.0).into_iter().find(is_same).unwrap_or(masked)
            }
        }
    }

    /// Every named kind once, with `parameter` as its pitch (m/rad) or radius (m).
    pub fn all(parameter: f64) -> [Self; 14] {
        [
            Self::Fixed,
            Self::Hinge,
            Self::Prismatic,
            Self::Cylindrical,
            Self::Planar,
            Self::Ball,
            Self::Universal,
            Self::Orientation,
            Self::PointOnLine,
            Self::PointOnPlane,
            Self::Free,
            Self::Screw { pitch: parameter },
            Self::RollingSphere { radius: parameter },
            Self::RollingDisc { radius: parameter },
        ]
    }

    /// The name of the kind in snake case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Hinge => "hinge",
            Self::Prismatic => "prismatic",
            Self::Cylindrical => "cylindrical",
            Self::Planar => "planar",
            Self::Ball => "ball",
            Self::Universal => "universal",
            Self::Orientation => "orientation",
            Self::PointOnLine => "point_on_line",
            Self::PointOnPlane => "point_on_plane",
            Self::Free => "free",
            Self::Screw { .. } => "screw",
            Self::RollingSphere { .. } => "rolling_sphere",
            Self::RollingDisc { .. } => "rolling_disc",
            Self::Masked { .. } => "masked",
        }
    }

    /// The kind called `name`; `parameter` is the pitch (m/rad) or radius (m) and is ignored by kinds without one.
    pub fn from_name(name: &str, parameter: f64) -> Option<Self> {
        Self::all(parameter).into_iter().find(|kind| kind.name() == name)
    }

    /// The pitch (m/rad) or radius (m) of the kinds that have one.
    #[inline]
    pub fn parameter(self) -> Option<f64> {
        match self {
            Self::Screw { pitch } => Some(pitch),
            Self::RollingSphere { radius } | Self::RollingDisc { radius } => Some(radius),
            _ => None,
        }
    }

    /// Number of rows (removed velocity directions), 0 to 6, without drives.
    #[inline]
    pub fn n_rows(self) -> usize {
        match self {
            Self::Free => 0,
            Self::PointOnPlane => 1,
            Self::PointOnLine => 2,
            Self::Planar
            | Self::Ball
            | Self::Orientation
            | Self::RollingSphere { .. }
            | Self::RollingDisc { .. } => 3,
            Self::Cylindrical | Self::Universal => 4,
            Self::Hinge | Self::Prismatic | Self::Screw { .. } => 5,
            Self::Fixed => 6,
            Self::Masked { translations, rotations } => {
                (translations.count_ones() + u32::from(rotations)) as usize
            }
        }
    }

    /// Number of relative velocity directions left free, `6 − n_rows`.
    #[inline]
    pub fn free_dimension(self) -> usize {
        6 - self.n_rows()
    }

    /// The locked directions in frame 2 as six bits (Fau98 Table 1, angular first): bits 0–2 rotation about
    /// `i, j, k`, bits 3–5 translation along `i, j, k`. `None` where the removed directions depend on the pose
    /// (universal) or couple two of the six (screw, rolling).
    #[inline]
    pub fn locked_mask(self) -> Option<u8> {
        match self {
            Self::Free => Some(0b000_000),
            Self::PointOnPlane => Some(0b001_000),
            Self::PointOnLine => Some(0b110_000),
            Self::Planar => Some(0b001_110),
            Self::Ball => Some(0b111_000),
            Self::Orientation => Some(0b000_111),
            Self::Cylindrical => Some(0b110_110),
            Self::Hinge => Some(0b111_110),
            Self::Prismatic => Some(0b110_111),
            Self::Fixed => Some(0b111_111),
            Self::Masked { rotations: 1, .. } => None,
            Self::Masked { translations, rotations } => {
                Some(translations << 3 | [0b000, 0b001, 0b110, 0b111][usize::from(rotations)])
            }
            Self::Universal | Self::Screw { .. } | Self::RollingSphere { .. } | Self::RollingDisc { .. } => {
                None
            }
        }
    }

    /// Whether every row restricts positions. False for rolling joints, whose slip rows restrict velocities only.
    #[inline]
    pub fn is_holonomic(self) -> bool {
        !matches!(self, Self::RollingSphere { .. } | Self::RollingDisc { .. })
    }

    /// Whether a drive of `coordinate` can be added: the coordinate is free and well defined in this joint.
    #[inline]
    pub fn can_drive(self, coordinate: DriveCoordinate) -> bool {
        match coordinate {
            DriveCoordinate::Twist => {
                matches!(
                    self,
                    Self::Hinge
                        | Self::Cylindrical
                        | Self::Planar
                        | Self::Screw { .. }
                        | Self::Masked { rotations: 2, .. }
                )
            }
            DriveCoordinate::Slide => match self {
                Self::Prismatic | Self::Cylindrical | Self::PointOnLine => true,
                Self::Masked { translations, .. } => translations & 1 == 0,
                _ => false,
            },
        }
    }

    /// Whether limits and motors may act on the twist about `i`: it can be driven, or the axis leans and the twist is what is
    /// left of the rotation once the lean is taken away.
    #[inline]
    pub fn has_twist(self) -> bool {
        self.can_drive(DriveCoordinate::Twist) || self.accepts_rotation_force()
    }

    /// Whether a spring, damper or cone limit may act on the whole relative rotation.
    #[inline]
    pub fn accepts_rotation_force(self) -> bool {
        matches!(self, Self::Ball | Self::Universal | Self::Free | Self::Masked { rotations: 0 | 1, .. })
    }

    /// Whether the inverse of the relative pose is of the same kind about the opposite axis, coordinates unchanged.
    #[inline]
    pub fn is_reversible(self) -> bool {
        matches!(self, Self::Fixed | Self::Hinge | Self::Prismatic | Self::Cylindrical | Self::Screw { .. })
    }

    /// Whether the first four coordinates are a unit quaternion `w, x, y, z`, and the first three rates the relative
    /// angular velocity.
    #[inline]
    pub fn has_quaternion(self) -> bool {
        matches!(self, Self::Ball | Self::PointOnLine | Self::PointOnPlane | Self::Free)
            || !self.is_holonomic()
    }

    /// Number of joint coordinates: as many as rates, one more with a quaternion, and the two contact coordinates of
    /// rolling joints, which are no free velocity directions.
    #[inline]
    pub fn n_coordinates(self) -> usize {
        match self {
            Self::RollingSphere { .. } | Self::RollingDisc { .. } => 6,
            _ => self.free_dimension() + usize::from(self.has_quaternion()),
        }
    }

    /// Index of the twist or slide among the rates of the joint; meaningful where [`JointKind::can_drive`] holds.
    #[inline]
    pub fn rate_index(self, coordinate: DriveCoordinate) -> usize {
        match (coordinate, self) {
            (DriveCoordinate::Slide, Self::Cylindrical) => 1,
            (DriveCoordinate::Slide, Self::PointOnLine) => 3,
            _ => 0,
        }
    }

    /// Index of the twist or slide among the coordinates of the joint; meaningful where [`JointKind::can_drive`] holds.
    #[inline]
    pub fn coordinate_index(self, coordinate: DriveCoordinate) -> usize {
        self.rate_index(coordinate) + usize::from(self.has_quaternion())
    }
}

/// The free coordinate that a drive prescribes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum DriveCoordinate {
    /// The twist angle ϑ of frame 1 about `i` of frame 2, continuous across ±π, in radians.
    Twist,
    /// The distance of point 1 from point 2 along `i₂`, in metres.
    Slide,
}
