//! Graphviz output.

use sinew_topology::{Endpoints, GraphBuilder, Priority, dot, plan};

#[test]
fn draws_trees_loops_and_quoted_names() {
    let mut builder = GraphBuilder::new();
    let (a, b) = (builder.add_variable(6), builder.add_variable(6));
    builder.name_variable(a, "the \"hip\"");
    builder.add_constraint(5, Endpoints::World(a), Priority::Auto);
    builder.add_constraint(3, Endpoints::Pair(a, b), Priority::Auto);
    builder.add_constraint(3, Endpoints::World(b), Priority::Auto);
    let graph = builder.finish().unwrap();
    let text = dot(&graph, &plan(&graph).unwrap());
    let expected = r#"digraph kinematics {
  rankdir=BT;
  world [shape=box];
  subgraph cluster_0 {
    v1 [label="variable 1\n#0"];
    v0 [label="variable 0 \"the \"hip\"\"\n#1"];
  }
  v0 -> world [label="constraint 0", style=solid];
  v1 -> v0 [label="constraint 1", style=solid];
  v1 -> world [label="constraint 2", style=dashed];
}
"#;
    assert_eq!(text, expected);
}
