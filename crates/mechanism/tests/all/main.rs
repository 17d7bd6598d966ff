//! Integration tests of bodies, joints, their rows and the steppers.

mod behaviour;
mod contracts;
mod convergence;
mod dense_oracle;
mod edits;
mod efforts;
mod falling_back;
mod frames;
mod general;
mod golden;
mod holding;
mod invariants;
mod loops;
mod overconstrained;
mod prescribed;
mod reactions;
mod readings;
mod robustness;
mod rotors;
mod rows;
mod signs;
mod stiff;
mod support;
mod transmissions;
mod twins;
mod twisting;
