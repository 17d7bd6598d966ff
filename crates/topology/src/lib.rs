#![doc = include_str!("../README.md")]

mod check;
mod dot;
mod edit;
mod error;
mod graph;
mod id;
mod order;
mod plan;
mod planner;
mod replan;
mod schedule;
mod sets;
mod spanning;

pub use check::{PlanDefect, check};
pub use dot::dot;
pub use edit::{GraphEdit, IdMap};
pub use error::TopologyError;
pub use graph::{Endpoints, Graph, GraphBuilder, Priority};
pub use id::{ConstraintId, GraphNode, NONE, VariableId};
pub use plan::{EliminationPlan, Island, PlanNode, PlanPair, PlanTree, Role};
pub use planner::plan;
pub use replan::{Replanned, replan};
pub use schedule::{Schedule, Task};
