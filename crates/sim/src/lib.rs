//! The facade: model, state, step and report of a whole scene.
