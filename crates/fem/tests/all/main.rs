//! Tests of `sinew-fem`: reference numbers, finite differences, invariants, hard points.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod allocation;
mod attachments;
mod examples;
mod fibres;
mod flow;
mod forces;
mod golden;
mod lanes;
mod materials;
mod meshes;
mod motion;
mod recovery;
mod regions;
mod selection;
mod stars;
mod tangents;
mod von_mises;
