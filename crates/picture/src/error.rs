//! Errors of making and writing pictures.

use thiserror::Error;

/// Longest side of a picture in pixels.
pub(crate) const MAX_SIDE: usize = 16_384;

/// Why a picture cannot be made or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PictureError {
    /// A side of zero, or one that is too long.
    #[error("a picture cannot be {width} × {height} pixels large: each side must be from 1 to {MAX_SIDE}")]
    Size {
        /// Wanted width in pixels.
        width: usize,
        /// Wanted height in pixels.
        height: usize,
    },
    /// A filmstrip or an animation without pictures.
    #[error("an animation or a filmstrip needs at least one picture")]
    NoFrames,
    /// The pictures of an animation differ in size.
    #[error("picture {frame} of the animation is {found:?} pixels large, but the first one is {wanted:?}")]
    Uneven {
        /// Index of the picture, from 0.
        frame: usize,
        /// Its width and height in pixels.
        found: (usize, usize),
        /// Width and height of the first picture in pixels.
        wanted: (usize, usize),
    },
    /// The bytes could not be written.
    #[error("the picture cannot be written: {0}")]
    Write(#[from] std::io::Error),
}
