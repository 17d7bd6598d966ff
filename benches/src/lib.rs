//! What the benchmark programs share: chains for every engine, timing of steps, tables, plots, results as JSON.
//!
//! | I want … | use |
//! |---|---|
//! | a chain or a tree of equal links | [`Links`] |
//! | to time steps of the same motion in batches | [`Subject`], [`time_steps`], [`Effort`] |
//! | a mechanism or a fixture to time | [`MechanismRun`], [`SceneRun`] |
//! | the rows of `cargo xtask bench chain` | [`Series`], [`ChainSuite`] |
//! | those of `cargo xtask bench ladder` | [`Ladder`], [`Method`], [`LadderSuite`] |
//! | those of `cargo xtask bench budget` | [`BudgetSuite`] |
//! | those of `cargo xtask bench flesh` | [`FleshSuite`], [`FleshMotion`] |
//! | those of `cargo xtask bench control` | [`ControlSuite`], [`DynamicsRun`] |
//! | to print, draw or sign figures | [`Table`], [`Figure`], [`Machine`] |
//! | what is asked of figures | [`Goal`] |
//! | a program around a suite | [`run_program`], [`Options`] |
//!
//! Times are seconds inside and microseconds where they are shown; lengths metres.

mod budget_suite;
mod chain_report;
mod chain_suite;
mod control_report;
mod control_scenes;
mod control_suite;
#[cfg(doctest)]
mod documents;
mod flesh_report;
mod flesh_scenes;
mod flesh_shares;
mod flesh_suite;
mod goals;
mod ladder_report;
mod ladder_suite;
mod ladders;
mod links;
mod machine;
mod plot;
mod program;
#[cfg(feature = "rapier")]
mod rapier;
mod series;
mod subjects;
mod table;
mod timing;

pub use budget_suite::{BUDGETS, BudgetRow, BudgetSuite};
pub use chain_suite::{AnchorError, ChainSuite, Failure, SceneTime, ThreadTime, run_few_steps};
pub use control_scenes::{Control, DynamicsRun, Problem, as_keyframes, skeleton};
pub use control_suite::{
    CharacterRow, ControlSuite, MotionTimes, PARTS, PaperModel, SKELETONS, SkeletonRow, TABLE_2,
    run_few_control_steps,
};
pub use flesh_scenes::{EXPLICIT_DT, ExplicitRun, Motion as FleshMotion, cantilever};
pub use flesh_shares::{Clock, deform};
pub use flesh_suite::{
    BEAMS, FleshSuite, ImplicitRow, MODES, MotionRow, OTHERS, SHARES, ShareRow, SizeRow, TABLE_1,
    run_few_flesh_steps,
};
pub use goals::{Bound, Goal, goals_table};
pub use ladder_suite::{GrabTimes, LadderSuite, Solve, SolveRow, StepRow, WarmRow, run_few_ladder_steps};
pub use ladders::{CLOSED, Ladder, Method, PAPER_PRECISION};
pub use links::{Link, LinkJoint, Links};
pub use machine::Machine;
pub use plot::{Axes, Curve, Figure};
pub use program::{Options, run_program};
#[cfg(feature = "rapier")]
pub use rapier::RapierRun;
pub use series::{Memory, Row, SIZES, Series};
pub use subjects::{MechanismRun, SceneRun};
pub use table::{Table, grouped, short};
pub use timing::{Effort, STAGES, StepTimes, Subject, Timing, time_steps};
