//! Integration tests of bodies, joints, their rows and the steppers.

mod convergence;
mod dense_oracle;
mod golden;
mod invariants;
mod rows;
mod support;
