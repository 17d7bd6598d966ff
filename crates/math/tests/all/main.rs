//! Tests of `sinew-math`.
