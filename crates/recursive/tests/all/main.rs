//! Integration tests of recursive dynamics.

mod agreement;
mod conversion;
mod derivatives;
mod golden;
mod joint_matrices;
mod joint_space;
mod linkages;
mod loops;
mod matrices;
mod motion;
mod refused;
mod signs;
mod support;
