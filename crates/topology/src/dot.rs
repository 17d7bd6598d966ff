//! Graphviz text of a graph and its plan, to look at. Linear cost.

use crate::graph::{Endpoints, Graph};
use crate::id::{GraphNode, VariableId};
use crate::plan::{EliminationPlan, Role};
use std::fmt::Write;

/// The graph in the dot language of Graphviz: a circle per variable with its elimination position, an arrow
/// per constraint from the tree's child to its parent, dashed for the loop set, one cluster per island.
pub fn dot(graph: &Graph, plan: &EliminationPlan) -> String {
    let mut text = String::from("digraph kinematics {\n  rankdir=BT;\n  world [shape=box];\n");
    // Writing to a String cannot fail.
    let _ = write_islands(&mut text, graph, plan).and_then(|()| write_constraints(&mut text, graph, plan));
    text.push_str("}\n");
    text
}

fn write_islands(text: &mut String, graph: &Graph, plan: &EliminationPlan) -> std::fmt::Result {
    for (number, island) in plan.islands().iter().enumerate() {
        writeln!(text, "  subgraph cluster_{number} {{")?;
        for position in island.pairs.clone() {
            let id = plan.pairs()[position as usize].variable;
            let label = escaped(&graph.label(GraphNode::Variable(id)));
            writeln!(text, "    {} [label=\"{label}\\n#{position}\"];", name(id))?;
        }
        writeln!(text, "  }}")?;
    }
    Ok(())
}

fn write_constraints(text: &mut String, graph: &Graph, plan: &EliminationPlan) -> std::fmt::Result {
    for id in graph.constraints() {
        let (mut from, mut to) = match graph.endpoints(id) {
            Endpoints::World(child) => (name(child), "world".to_owned()),
            Endpoints::Pair(child, parent) => (name(child), name(parent)),
        };
        let style = match plan.role(id) {
            Role::Forest(pair) => {
                if plan.pairs()[pair as usize].flipped {
                    std::mem::swap(&mut from, &mut to);
                }
                "solid"
            }
            Role::Loop(_) => "dashed",
        };
        let label = escaped(&graph.label(GraphNode::Constraint(id)));
        writeln!(text, "  {from} -> {to} [label=\"{label}\", style={style}];")?;
    }
    Ok(())
}

fn name(id: VariableId) -> String {
    format!("v{}", id.index())
}

fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"")
}
