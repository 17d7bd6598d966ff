//! What there is to draw of a scene.

mod draw;
