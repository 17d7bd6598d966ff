//! The Rust blocks of the documents, run as doc tests: this crate depends on all that they use.

#[doc = include_str!("../../README.md")]
#[doc = include_str!("../../docs/guide/determinism.md")]
#[doc = include_str!("../../docs/guide/first-scene.md")]
#[doc = include_str!("../../docs/guide/flesh-meshes.md")]
#[doc = include_str!("../../docs/guide/one-crate-at-a-time.md")]
#[doc = include_str!("../../docs/guide/performance.md")]
#[doc = include_str!("../../docs/guide/scene-format.md")]
mod all {}
