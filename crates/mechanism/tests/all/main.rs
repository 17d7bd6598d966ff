//! Integration tests of bodies, joints, their rows and the steppers.

mod rows;
