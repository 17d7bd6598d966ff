//! Integration tests of recursive dynamics.

mod agreement;
mod conversion;
mod derivatives;
mod golden;
mod joint_matrices;
mod matrices;
mod motion;
mod refused;
mod support;
