//! The scene document: plain data without behaviour, one struct per item of a scene.
//!
//! Units are SI and radians throughout; suffixes such as `_s` and `_m` mark the few numbers whose unit
//! is not obvious from the name. Positions, directions and velocities are in world axes unless a field
//! says otherwise. The body frame is the frame in which shapes, mass properties and local joint frames
//! are written; its origin need not be the centre of mass.
//!
//! Every struct refuses unknown fields, and a field that is left out takes the value of `Default`: see `document!`.

#[macro_use]
mod omit;

mod body;
mod camera;
mod change;
mod character;
mod contact;
mod expect;
mod flesh;
mod flow;
mod generator;
mod joint;
mod motion;
mod pose;
mod region;
mod scene;
mod score;
mod shape;
mod solve;
mod surface;
mod transmission;

pub use body::*;
pub use camera::*;
pub use change::*;
pub use character::*;
pub use contact::*;
pub use expect::*;
pub use flesh::*;
pub use flow::*;
pub use generator::*;
pub use joint::*;
pub use motion::*;
pub use pose::*;
pub use region::*;
pub use scene::*;
pub use score::*;
pub use shape::*;
pub use solve::*;
pub use surface::*;
pub use transmission::*;
