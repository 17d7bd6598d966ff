//! Integration tests of `sinew-mesh`.
