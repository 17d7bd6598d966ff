//! Why there is nothing at a path: which name, place or component is missing, and which ones there are. Linear cost.

use crate::left_out::left_out_vector;
use crate::outline::{TextContent, TextNode};
use crate::path::{Step, component_index, follow, named, replace};
use crate::read::{outline, read};
use crate::suggest::suggestion;

/// Message and hint for a path at which the text has nothing; none if nothing better is known than that.
pub(crate) fn path_fault(text: &str, root: &TextNode<'_>, steps: &[Step<'_>]) -> Option<(String, String)> {
    let (node, left) = follow(text, root, steps);
    let reached = steps.get(..steps.len() - left.len())?;
    match left {
        [Step::Named(name), ..] => no_such_name(text, root, (last_field(reached)?, node.items()), name),
        [Step::Field(list), Step::Named(name), ..] if node.items().is_empty() => {
            let is_list = takes_list(text, root, steps.get(..=reached.len())?);
            is_list.then(|| no_such_name(text, root, (*list, &[]), name))?
        }
        [Step::Index(_), ..] if matches!(node.content, TextContent::Items(_)) => {
            let list = last_field(reached)?;
            let n = node.items().len();
            let hint = if n == 0 { "there are none".to_owned() } else { format!("valid are 0 to {}", n - 1) };
            Some((format!("`{list}` has {n} items"), hint))
        }
        [Step::Field(name)] if is_vector(node) => no_such_component(name, node.items().len()),
        _ => None,
    }
}

/// Message and hint for a component that a vector does not have, if the path asks for one of a vector that was left out.
pub(crate) fn component_fault(
    text: &str,
    root: &TextNode<'_>,
    steps: &[Step<'_>],
) -> Option<(String, String)> {
    let (last, parent) = steps.split_last()?;
    if follow(text, root, parent).1.is_empty() {
        return None;
    }
    let (_, usual) = left_out_vector(text, root, parent)?;
    let n = usual.matches(',').count() + 1;
    match last {
        Step::Field(name) => no_such_component(name, n),
        Step::Index(index) if *index >= n => {
            Some((format!("`{}` has {n} items", last_field(parent)?), format!("valid are 0 to {}", n - 1)))
        }
        Step::Index(_) | Step::Named(_) => None,
    }
}

fn no_such_component(name: &str, n: usize) -> Option<(String, String)> {
    let valid = ["x", "y", "z", "w"].get(..n)?;
    let is_there = component_index(name).is_some_and(|index| index < n);
    (!is_there)
        .then(|| (format!("there is no component `{name}` here"), format!("valid are {}", valid.join(", "))))
}

fn no_such_name(
    text: &str,
    root: &TextNode<'_>,
    (list, items): (&str, &[TextNode<'_>]),
    name: &str,
) -> Option<(String, String)> {
    let names: Vec<&str> = items.iter().filter_map(|item| named(text, item)).collect();
    let hint = suggestion(name, &names);
    let made = if root.field("generators").is_some() {
        "; what generators make is set in generators[…]"
    } else {
        ""
    };
    Some((format!("`{list}` has no `{name}`"), format!("{hint}{made}")))
}

/// Whether the scene has a list at a path at which nothing is written.
fn takes_list(text: &str, root: &TextNode<'_>, path: &[Step<'_>]) -> bool {
    let edited = replace(text, root, path, "[]").map(|(edited, _)| edited);
    edited.is_some_and(|text| outline(&text).is_ok_and(|root| read(&text, &root).is_ok()))
}

/// Whether a value is a short list of bare values.
fn is_vector(node: &TextNode<'_>) -> bool {
    let items = node.items();
    (2..=4).contains(&items.len()) && items.iter().all(|item| matches!(item.content, TextContent::Leaf))
}

/// The last field on a path.
fn last_field<'p>(steps: &[Step<'p>]) -> Option<&'p str> {
    steps.iter().rev().find_map(|step| match step {
        Step::Field(name) => Some(*name),
        Step::Index(_) | Step::Named(_) => None,
    })
}
