//! Integration tests of bodies, joints, their rows and the steppers.

mod dense_oracle;
mod golden;
mod rows;
mod support;
