//! Benchmarks: chains for every engine, timing of steps, and the suites behind `cargo xtask bench`.
//!
//! | I want … | use |
//! |---|---|
//! | a chain or a tree of equal links | [`Links`] |
//! | to time steps of the same motion | [`Subject`] |
//! | a mechanism or a fixture to time | [`MechanismRun`], [`SceneRun`] |
//! | a robot of thirty hinges | [`robot`], [`robot_state`] |
//! | the program of a suite | [`run_program`] |
//!
//! A suite is a file `NAME_suite.rs`; how its figures are shown is in `NAME_report.rs`. Times are seconds inside and
//! microseconds where they are shown; lengths metres.

mod batches;
mod budget_suite;
mod chain_report;
mod chain_suite;
mod contact_suite;
mod control_report;
mod control_scenes;
mod control_suite;
#[cfg(doctest)]
mod documents;
mod flesh_implicit;
mod flesh_report;
mod flesh_scenes;
mod flesh_shares;
mod flesh_suite;
mod goals;
mod joint_space_quantities;
mod joint_space_report;
mod joint_space_suite;
mod ladder_report;
mod ladder_suite;
mod ladders;
mod links;
mod mujoco;
mod pinocchio;
mod program;
#[cfg(feature = "rapier")]
mod rapier;
#[cfg(feature = "rapier")]
mod rapier_piles;
mod robots;
mod series;
mod subjects;
mod table;
mod timing;
mod worms;

pub use links::{ChainLink, LinkJoint, Links};
pub use robots::{ROBOT_HINGES, robot, robot_state};
pub use subjects::{MechanismRun, SceneRun};
pub use timing::{Subject, SuiteFailure};

pub(crate) use goals::{FigureGoal, goals_table};
pub(crate) use program::{Suite, SuiteOptions, SuiteReport};
pub(crate) use table::{ReportTable, grouped, short};
pub(crate) use timing::{Clock, MeasureEffort, StepTimes, Timing, time_steps};

/// The program of the suite called `name`.
///
/// # Panics
/// If there is no such suite.
pub fn run_program(name: &str) -> std::process::ExitCode {
    match name {
        "budget" => program::run::<budget_suite::BudgetSuite>(),
        "chain" => program::run::<chain_suite::ChainSuite>(),
        "contact" => program::run::<contact_suite::ContactSuite>(),
        "control" => program::run::<control_suite::ControlSuite>(),
        "flesh" => program::run::<flesh_suite::FleshSuite>(),
        "joint_space" => program::run::<joint_space_suite::JointSpaceSuite>(),
        "ladder" => program::run::<ladder_suite::LadderSuite>(),
        _ => panic!("there is no suite called {name}"),
    }
}
