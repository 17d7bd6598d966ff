//! Contracts of the facade: scenes run as they expect, and the same arguments always give the same bits.

#[cfg(not(feature = "parallel"))]
mod alloc;
mod bad_input;
mod batch;
mod build;
mod changes;
mod common;
mod contacts;
mod determinism;
mod edit_sequences;
mod edits;
mod events;
mod examples;
mod flesh;
mod flesh_friction;
mod flow;
mod frames;
mod health;
mod ice;
mod inputs;
mod linkages;
mod loops;
mod meshes;
mod muscles;
mod posing;
mod ranges;
mod reduced;
mod regions;
mod resume;
mod rolling;
mod scenes;
mod scored;
mod skin;
mod sleep;
