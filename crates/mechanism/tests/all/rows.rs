//! Constraint rows of every joint kind.

mod behaviour;
mod derivatives;
mod golden;
mod harness;
mod rolling;
