//! Contacts as queries return them: plain data, one entry per touching point. World axes, metres.

use crate::{contact_step::ContactStart, material::ContactLaw};
use glam::DVec3;

/// The owner of a collider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Owner {
    /// The world: it does not move.
    World,
    /// A body, by its index.
    Body(u32),
}

/// The first side of a contact, to which the normal points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Mover {
    /// A body, by its index.
    Body(u32),
    /// A point of flesh, by its index plus [`crate::PointCloud::first`].
    Vertex(u32),
    /// A place of the skin of flesh between its points: a face in [`crate::SkinContact`], then whatever number the caller
    /// gives it.
    Face(u32),
}

/// The other side of a contact, from which the normal points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Opposite {
    /// The world: it does not move.
    World,
    /// A body, by its index.
    Body(u32),
    /// A place of the skin of flesh.
    Flesh {
        /// The flesh.
        flesh: u32,
        /// A face in [`crate::SkinMeeting`], then whatever number the caller gives it.
        place: u32,
    },
}

impl From<Owner> for Opposite {
    fn from(owner: Owner) -> Self {
        match owner {
            Owner::World => Self::World,
            Owner::Body(body) => Self::Body(body),
        }
    }
}

/// Identifies a contact from step to step, by its two sides and the features that touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ContactKey {
    /// Collider of the first side, or index of the vertex.
    pub a: u32,
    /// Collider of the other side; `u32::MAX` less its number for flesh.
    pub b: u32,
    /// Corners, edges and faces that touch; [`ContactKey::VERTEX`] for a vertex.
    pub feature: u64,
}

impl ContactKey {
    /// The feature of a point of flesh.
    pub const VERTEX: u64 = u64::MAX;
    /// Set in features of contacts where a step ends; its next higher bits, too.
    pub const AHEAD: u64 = 1 << 50;
    /// Set in features of corners of a solid on a face of a skin.
    pub(crate) const CORNER: u64 = 1 << 63;
    /// Set in features of edges of a skin.
    pub(crate) const EDGE: u64 = 3 << 62;

    /// Whether its first side is flesh: `a` is then no collider.
    pub fn is_of_flesh(self) -> bool {
        self.feature & Self::CORNER != 0
    }
}

/// How the sides of a contact approach each other in a step of first order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// Speed of approach at the start of the step (m/s).
    pub closing: f64,
    /// Acceleration towards each other (m/s²).
    pub pull: f64,
    /// Length of the step (s).
    pub dt: f64,
    /// How many steps speeds lag behind positions: ½ where they are means of a step, 0 where they belong to its end.
    pub lag: f64,
}

/// One touching point, or one that is about to touch. World axes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ContactPoint {
    /// Key of the contact. Lists are sorted by it and contain each key once.
    pub key: ContactKey,
    /// The first side, pushed along the normal.
    pub a: Mover,
    /// The other side, pushed against the normal.
    pub b: Opposite,
    /// Where both forces act (m, world): midway between the surfaces, or at the vertex of flesh.
    pub point: DVec3,
    /// Unit normal (world), from `b` to `a`.
    pub normal: DVec3,
    /// Depth (m); negative for a gap.
    pub depth: f64,
    /// The law between the two surfaces.
    pub law: ContactLaw,
}

impl ContactPoint {
    /// The bodies on its two sides; none for flesh and for the world.
    pub fn bodies(&self) -> [Option<usize>; 2] {
        let first = if let Mover::Body(body) = self.a { Some(body as usize) } else { None };
        let other = if let Opposite::Body(body) = self.b { Some(body as usize) } else { None };
        [first, other]
    }

    /// Speed at which the sides separate at the end of a step because they bounce (m/s); 0 if they do not meet in it, if they would come to
    /// rest within it, and for flesh, which bounces by its elasticity.
    ///
    /// They meet at `v_i² = u² + 2 a g` and separate at `e v_i`, with `u` the speed of approach when the step begins, `a` the acceleration towards each
    /// other and `g` the gap. A step of first order puts them `g + h v` apart, wherever in it they met. So `v` is what is left of `e v_i` at
    /// that distance, and the energy is that of the bounce. Where speeds of a scheme are means of a step, they are those of half a step before.
    pub fn rebound(&self, impact: &Impact) -> f64 {
        let Impact { closing, pull, dt, lag } = *impact;
        let (e, gap, kick) = (self.law.restitution, (-self.depth).max(0.0), pull.max(0.0) * dt);
        let is_of_bodies = matches!(self.a, Mover::Body(_));
        if !is_of_bodies || e == 0.0 || closing <= 0.0 || dt * (closing + kick) < gap {
            return 0.0;
        }
        let climb = 2.0 * pull.max(0.0) * gap;
        let square =
            e * e * ((closing + lag * kick).powi(2) + climb) - climb + (1.0 - 2.0 * lag) * kick * kick;
        let speed = square.max(0.0).sqrt() - (1.0 - lag) * kick;
        // What is so deep that it would not come out is pushed out first.
        if speed > kick && dt * speed > self.depth { speed } else { 0.0 }
    }

    /// The contact at the start of an implicit step, with its stretch (m, world) and the mass at the contact (kg).
    pub fn start(&self, stretch: DVec3, mass: f64) -> ContactStart {
        let is_soft = !matches!(self.a, Mover::Body(_));
        ContactStart {
            law: self.law,
            normal: self.normal,
            depth: self.depth,
            stretch,
            slide: DVec3::ZERO,
            mass,
            rebound: 0.0,
            is_soft,
        }
    }
}
