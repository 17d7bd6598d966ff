//! Bodies, joints and stiff joint forces in maximal coordinates, with implicit and explicit steppers.

mod joint;
mod rows;

pub use joint::{Drive, DriveCoordinate, JointFrames, JointKind, rotation_to_axis};
pub use rows::{
    PairState, RelativeState, RowForm, Rows, evaluate_rows, relative_rotation, swing_gradient, swing_vector,
    twist_angle, twist_gradient, unwrap_angle,
};
