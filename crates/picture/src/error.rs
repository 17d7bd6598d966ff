//! What can go wrong with a picture.

use thiserror::Error;

use crate::image::MAX_SIDE;

/// Why a picture cannot be made or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PictureError {
    /// A side of zero, or one that is too long.
    #[error("a picture of {width} × {height} pixels: both sides must be from 1 to {MAX_SIDE}")]
    Size {
        /// Wanted width in pixels.
        width: usize,
        /// Wanted height in pixels.
        height: usize,
    },
    /// A filmstrip or an animation without pictures.
    #[error("there is nothing to show: no pictures were given")]
    NoFrames,
    /// A picture of an animation that is not as large as the first.
    #[error("picture {frame} of the animation is {found:?} pixels large, the first one {wanted:?}")]
    Uneven {
        /// Which picture, counted from 0.
        frame: usize,
        /// Its width and height.
        found: (usize, usize),
        /// Width and height of the first.
        wanted: (usize, usize),
    },
    /// The bytes could not be written.
    #[error("the picture cannot be written: {0}")]
    Write(#[from] std::io::Error),
}
