//! Bodies, joints and stiff joint forces in maximal coordinates, with implicit and explicit steppers.
