//! The tree of a mechanism: linearization of bodies and tree joints, and the exact solution in linear time.
//!
//! A linearization point (`point`) with what acts on the bodies (`loads`) is solved by a sweep from the leaves to the root
//! and one back (`sweep`). Hinges and balls have their own linearization (`fused`), two at once where possible (`two_at_once`); all
//! other joints go through the row library (`joint`). `block_form` solves the same system in the form of the paper, as a reference.
//! `acceleration` is the same at the acceleration level. `reaction` answers impulses on the solved tree, for loops and companions.

mod acceleration;
pub(crate) mod block_form;
mod body_terms;
mod fused;
mod geometric;
mod joint;
mod loads;
mod mixing;
mod point;
mod reaction;
mod rotor;
mod scratch;
mod spring_bend;
pub(crate) mod sweep;
mod two_at_once;

pub(crate) use acceleration::{Evaluation, StepStage};
pub(crate) use block_form::{BlockResponder, BlockScratch};
pub(crate) use body_terms::{TreeSystem, add_extra, add_geometric, add_own};
pub(crate) use fused::{
    ANGLE_OVER_SINE, JointPlacement, SMALL_LEAN, angle_over_sine, ball, hinge, lean_squared, twist_force,
};
pub(crate) use geometric::{RESOLVED, is_taut, transmit};
pub(crate) use joint::{JointAt, LinearizedJoint, SHORT_ROW, drives_of, seen_from_body2};
pub(crate) use loads::{BodyLoads, add_spring, grab_spring};
pub(crate) use mixing::Mixing;
pub(crate) use point::{FallenPoint, IslandPoints, LinearizationPoint, StepBase, StepLaws, StepLength};
pub(crate) use reaction::ReactingTree;
pub(crate) use rotor::{Rotor, split_along};
pub(crate) use scratch::{
    Found, PairLoad, SweepStack, TreeReport, TreeScratch, hand_up, transmitted_force, waiting_load,
};
pub(crate) use sweep::{FREE, eliminate_linearized};
pub(crate) use two_at_once::balls::TwoBalls;
pub(crate) use two_at_once::hinges::TwoHinges;
pub(crate) use two_at_once::pairs::{PlacementX2, TwoJoints, TwoPairs};
