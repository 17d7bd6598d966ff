//! What the benchmark programs share: chains for every engine, timing of steps, tables, plots, results as JSON.
//!
//! | I want … | use |
//! |---|---|
//! | a chain or a tree of equal links | [`Links`] |
//! | to time steps of the same motion in batches | [`Subject`], [`time_steps`], [`MeasureEffort`] |
//! | a mechanism or a fixture to time | [`MechanismRun`], [`SceneRun`] |
//! | the rows of `cargo xtask bench chain` | [`ChainSeries`], [`ChainSuite`] |
//! | those of `cargo xtask bench ladder` | [`Ladder`], [`Method`], [`LadderSuite`] |
//! | those of `cargo xtask bench budget` | [`BudgetSuite`] |
//! | those of `cargo xtask bench flesh` | [`FleshSuite`], [`FleshMotion`] |
//! | those of `cargo xtask bench control` | [`ControlSuite`], [`DynamicsRun`] |
//! | to print, draw or sign figures | [`ReportTable`], [`Figure`], [`Machine`] |
//! | what is asked of figures | [`FigureGoal`] |
//! | a program around a suite | [`run_program`], [`SuiteOptions`] |
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
pub use chain_suite::{AnchorError, ChainSuite, SceneTime, ThreadTime, run_few_steps};
pub use control_scenes::{Control, DynamicsProblem, DynamicsRun, as_keyframes, skeleton};
pub use control_suite::{
    CharacterRow, ControlSuite, MotionTimes, PARTS, PaperModel, SKELETONS, SkeletonRow, TABLE_2,
    run_few_control_steps,
};
pub use flesh_scenes::{EXPLICIT_DT, ExplicitRun, FleshMotion, cantilever};
pub use flesh_shares::{Clock, deform};
pub use flesh_suite::{
    BEAMS, FleshSuite, ImplicitRow, MODES, MotionRow, SHARES, ShareRow, SizeRow, TABLE_1, run_few_flesh_steps,
};
pub use goals::{FigureGoal, GoalBound, goals_table};
pub use ladder_suite::{GrabTimes, LadderSuite, Solve, SolveRow, StepRow, WarmRow, run_few_ladder_steps};
pub use ladders::{CLOSED, Ladder, Method, PAPER_PRECISION};
pub use links::{ChainLink, LinkJoint, Links};
pub use machine::Machine;
pub use plot::{Axes, Figure, PlotCurve};
pub use program::{SuiteOptions, run_program};
#[cfg(feature = "rapier")]
pub use rapier::RapierRun;
pub use series::{ChainRow, ChainSeries, Memory, SIZES};
pub use subjects::{MechanismRun, SceneRun};
pub use table::{ReportTable, grouped, short};
pub use timing::{MeasureEffort, STAGES, StepTimes, Subject, SuiteFailure, Timing, time_steps};
