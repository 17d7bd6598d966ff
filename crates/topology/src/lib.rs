#![doc = include_str!("../README.md")]

mod error;
mod graph;
mod id;
mod order;
mod plan;
mod sets;
mod spanning;

pub use error::TopologyError;
pub use graph::{Endpoints, Graph, GraphBuilder, Priority};
pub use id::{ConstraintId, Node, VariableId};
pub use plan::{EliminationPlan, Island, NONE, Pair, PlanNode, Role, Tree, plan};
