//! Integration tests of `sinew-contact`.
