#![doc = include_str!("../README.md")]

mod error;
mod fill;
mod id;
mod sets;

mod graph;

mod plan;
mod spanning;

mod edit;
mod order;
mod schedule;

mod planner;

mod check;
mod dot;
mod replan;

pub use check::{PlanDefect, check};
pub use dot::dot;
pub use edit::{GraphEdit, IdMap};
pub use error::TopologyError;
pub use fill::{Elimination, minimum_degree};
pub use graph::{Endpoints, Graph, GraphBuilder, Priority};
pub use id::{ConstraintId, GraphNode, LARGEST_BLOCK, NONE, VariableId};
pub use plan::{EliminationPlan, Island, PlanNode, PlanPair, PlanTree, Role};
pub use planner::plan;
pub use replan::{Replanned, replan};
pub use schedule::{Schedule, Task};
pub use sets::DisjointSets;
