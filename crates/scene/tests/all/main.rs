//! Tests of the scene crate through its public face.
