//! How much a scene may ask for: bounds of memory and time that a few bytes of text cannot pass.
//!
//! A body with its joint takes about 7 kB while it is simulated, a tetrahedron about 1.5 kB: the defaults keep a scene
//! within some gigabytes.

/// Bounds of a scene. They are no part of its text: who runs a scene sets them, in [`crate::SceneDoc::limits`] or [`crate::SceneSource::with_limits`].
///
/// ```
/// use sinew_scene::{SceneLimits, SceneSource};
///
/// let text = "(format: 1, generators: [Chain(n: 2000000, link: (shapes: [Capsule(radius: 0.01, length: 0.1)]))])";
/// let source = SceneSource::new(text, "long.ron");
/// assert!(source.parse().is_err());
/// let limits = SceneLimits { bodies: 3_000_000, ..SceneLimits::default() };
/// assert!(source.with_limits(limits).parse().is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SceneLimits {
    /// Bodies, those of generators included; default 1,000,000.
    pub bodies: u64,
    /// Tetrahedra of each flesh that is made of cells; default 2,000,000.
    pub tetrahedra: u64,
    /// Scenes that a sweep makes; default 10,000.
    pub members: u64,
    /// Bytes of a file that is read, the scene included; default 256 MB.
    pub file_bytes: u64,
}

impl Default for SceneLimits {
    fn default() -> Self {
        Self { bodies: 1_000_000, tetrahedra: 2_000_000, members: 10_000, file_bytes: 256_000_000 }
    }
}
