//! Bad graphs are refused with a message that names the culprit.

use crate::{c, graph, prioritized, v};
use sinew_topology::{
    Endpoints, GraphBuilder, GraphEdit, LARGEST_BLOCK, Priority, TopologyError, plan, replan,
};

fn message(build: impl FnOnce(&mut GraphBuilder)) -> String {
    let mut builder = GraphBuilder::new();
    let (a, b) = (builder.add_variable(6), builder.add_variable(6));
    builder.name_variable(a, "hip");
    builder.name_variable(b, "knee");
    build(&mut builder);
    builder.finish().unwrap_err().to_string()
}

#[test]
fn each_fault_names_its_culprit() {
    let pair = |a, b| Endpoints::Pair(v(a), v(b));
    let auto = Priority::Auto;
    assert_eq!(message(|b| _ = b.add_variable(0)), "variable 2 must have 1 to 128 unknowns");
    assert_eq!(message(|b| _ = b.add_variable(LARGEST_BLOCK + 1)), "variable 2 must have 1 to 128 unknowns");
    let text = message(|b| _ = b.add_constraint(LARGEST_BLOCK + 1, pair(0, 1), auto));
    assert_eq!(text, "constraint 0 must have 0 to 128 rows");
    let mut largest = GraphBuilder::new();
    let one = largest.add_variable(LARGEST_BLOCK);
    largest.add_constraint(LARGEST_BLOCK, Endpoints::World(one), auto);
    assert!(largest.finish().is_ok());
    let text = message(|b| _ = b.add_constraint(3, pair(0, 9), auto));
    assert_eq!(text, "constraint 0 refers to variable 9, which does not exist: add the variable first");
    let text = message(|b| {
        let id = b.add_constraint(3, pair(1, 1), auto);
        b.name_constraint(id, "hinge");
    });
    assert!(text.starts_with("constraint 0 \"hinge\" connects variable 1 \"knee\" to itself"), "{text}");
    let text = message(|b| b.name_variable(v(1), "hip"));
    assert_eq!(text, "variable 0 \"hip\" and variable 1 \"hip\" have the same name: rename one of them");
    let is_dangling =
        |text: String| text.starts_with("the name \"ghost\" was given to a variable or constraint");
    assert!(is_dangling(message(|b| b.name_constraint(c(0), "ghost"))));
    assert!(is_dangling(message(|b| b.name_variable(v(2), "ghost"))));
    let text = message(|b| b.name_constraint(c(4), "ghost"));
    assert_eq!(
        text,
        "the name \"ghost\" was given to a variable or constraint that does not exist: add it first"
    );
}

#[test]
fn names_given_later_are_in_messages() {
    let graph =
        graph(2, &[(0, 2), (1, 0)]).with_names(|id| ["hip", ""][id.index()], |id| ["", "knee"][id.index()]);
    assert_eq!([0, 1].map(|i| graph.variable_name(v(i))), [Some("hip"), None]);
    assert_eq!([0, 1].map(|i| graph.constraint_name(c(i))), [None, Some("knee")]);
}

#[test]
fn a_variable_and_a_constraint_may_share_a_name() {
    let mut builder = GraphBuilder::new();
    let a = builder.add_variable(6);
    let id = builder.add_constraint(3, Endpoints::World(a), Priority::Auto);
    builder.name_variable(a, "hip");
    builder.name_constraint(id, "hip");
    assert!(builder.finish().is_ok());
}

#[test]
fn primary_cycle_is_listed_in_order() {
    use Priority::{Auto, Primary};
    let graph = prioritized(4, &[(1, 0, Primary), (3, 0, Auto), (2, 1, Primary), (2, 0, Primary)]);
    let TopologyError::PrimaryCycle { cycle } = plan(&graph).unwrap_err() else { panic!("wrong error") };
    let expected = ["variable 2", "constraint 2", "variable 1", "constraint 0", "variable 0", "constraint 3"];
    assert_eq!(cycle, expected);
    // Two primary constraints between the same two variables, and a cycle through the world.
    let twice = prioritized(2, &[(1, 0, Primary), (1, 0, Primary)]);
    let text = plan(&twice).unwrap_err().to_string();
    assert!(text.contains("variable 1 – constraint 0 – variable 0 – constraint 1;"), "{text}");
    let held_twice = prioritized(2, &[(0, 2, Primary), (1, 0, Primary), (1, 2, Primary)]);
    let text = plan(&held_twice).unwrap_err().to_string();
    assert!(text.contains("variable 0 – constraint 0 – world – constraint 2"), "{text}");
}

#[test]
fn edits_are_checked_too() {
    let graph = graph(3, &[(0, 3), (1, 0), (2, 1)]);
    let plan = plan(&graph).unwrap();
    let fault = |build: &dyn Fn(&mut GraphEdit)| {
        let mut edit = GraphEdit::new(&graph);
        build(&mut edit);
        replan(&plan, &graph, &edit).unwrap_err().to_string()
    };
    let text = fault(&|edit| {
        edit.remove_variable(v(2));
        edit.add_constraint(3, Endpoints::Pair(v(2), v(0)), Priority::Auto);
    });
    assert!(text.starts_with("constraint 3 refers to variable 2"), "{text}");
    let text = fault(&|edit| {
        edit.remove_variable(v(2));
        edit.add_constraint(3, Endpoints::World(v(0)), Priority::Auto);
        edit.add_constraint(3, Endpoints::Pair(v(2), v(0)), Priority::Auto);
    });
    assert!(text.starts_with("constraint 4 refers to variable 2"), "{text}");
    assert_eq!(
        fault(&|edit| edit.remove_variable(v(9))),
        "the edit removes variable 9, which does not exist: remove each node once"
    );
    assert_eq!(
        fault(&|edit| edit.remove_constraint(c(5))),
        "the edit removes constraint 5, which does not exist: remove each node once"
    );
    let text = fault(&|edit| {
        edit.add_constraint(3, Endpoints::Pair(v(2), v(0)), Priority::Primary);
        edit.add_constraint(3, Endpoints::Pair(v(2), v(0)), Priority::Primary);
    });
    assert!(text.contains("constraint 3 – ") && text.contains("constraint 4;"), "{text}");
}
