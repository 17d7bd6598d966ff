#![doc = include_str!("../README.md")]

mod check;
mod dot;
mod edit;
mod error;
mod graph;
mod id;
mod order;
mod plan;
mod replan;
mod schedule;
mod sets;
mod spanning;

pub use check::{PlanDefect, check};
pub use dot::dot;
pub use edit::{GraphEdit, IdMap};
pub use error::TopologyError;
pub use graph::{Endpoints, Graph, GraphBuilder, Priority};
pub use id::{ConstraintId, Node, VariableId};
pub use plan::{EliminationPlan, Island, NONE, Pair, PlanNode, Role, Tree, plan};
pub use replan::{Replanned, replan};
pub use schedule::{Schedule, Task};
