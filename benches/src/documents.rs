//! The Rust blocks of the documents, run as doc tests: this crate depends on all that they use.

#[doc = include_str!("../../README.md")]
mod front_page {}

#[doc = include_str!("../../docs/guide/contact.md")]
mod contact {}

#[doc = include_str!("../../docs/guide/determinism.md")]
mod determinism {}

#[doc = include_str!("../../docs/guide/first-scene.md")]
mod first_scene {}

#[doc = include_str!("../../docs/guide/health.md")]
mod health {}

#[doc = include_str!("../../docs/guide/flesh-meshes.md")]
mod flesh_meshes {}

#[doc = include_str!("../../docs/guide/from-mujoco.md")]
mod from_mujoco {}

#[doc = include_str!("../../docs/guide/from-pinocchio.md")]
mod from_pinocchio {}

#[doc = include_str!("../../docs/guide/from-rapier.md")]
mod from_rapier {}

#[doc = include_str!("../../docs/guide/muscles.md")]
mod muscles {}

#[doc = include_str!("../../docs/guide/one-crate-at-a-time.md")]
mod one_crate_at_a_time {}

#[doc = include_str!("../../docs/guide/performance.md")]
mod performance {}

#[doc = include_str!("../../docs/guide/scene-format.md")]
mod scene_format {}

#[doc = include_str!("../../docs/guide/world-in-code.md")]
mod world_in_code {}
