//! Integration tests of recursive dynamics.

mod agreement;
mod conversion;
mod support;
