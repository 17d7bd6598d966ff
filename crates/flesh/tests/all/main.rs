//! Integration tests of `sinew-flesh`.

mod dense;
mod motions;
mod support;
