//! Integration tests of recursive dynamics.

mod agreement;
mod conversion;
mod derivatives;
mod golden;
mod matrices;
mod motion;
mod refused;
mod support;
