//! Integration tests of `sinew-fem`.
