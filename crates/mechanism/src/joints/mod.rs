//! Joints as equations: frames, drives, and the rows that a joint puts on the motion of its two bodies.
//!
//! A joint ties body 1 (the child) to body 2 (the parent, or the world) through one frame on each. Everything here depends on the
//! poses and twists of those two bodies only; nothing knows a model, a step or a solver. The kinds are those of
//! [`sinew_math::JointKind`].
//!
//! | module | computes |
//! |---|---|
//! | `frames` | the two frames of a joint, and drives |
//! | `relative` | the state of frame 1 relative to frame 2, once for all rows and forces |
//! | `swing`, `twist` | the rotation split into a lean of the axis and a turn about it, with derivatives |
//! | `families` | the pieces of rows that kinds share |
//! | `rows`, `evaluate` | the rows of a kind: residual, Jacobians, bias |

mod evaluate;
mod families;
mod frames;
mod relative;
mod rows;
mod swing;
mod twist;

pub use evaluate::evaluate_rows;
pub(crate) use evaluate::evaluate_rows_without_bias;
pub(crate) use families::RowStack;
pub use frames::{Drive, JointFrames, rotation_to_axis};
pub use relative::{PairState, RelativeState, relative_rotation};
pub(crate) use rows::joint_errors;
pub use rows::{RowForm, Rows};
pub(crate) use swing::{axis_gradients, quarter_turn, swing_rows};
pub use swing::{swing_gradient, swing_vector};
pub(crate) use twist::{fading_twist_gradient, twist_curvature};
pub use twist::{twist_angle, twist_gradient, unwrap_angle};
