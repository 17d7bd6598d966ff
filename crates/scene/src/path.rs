//! Paths to values of a scene, such as `joints["elbow"].spring.stiffness`: parsing, finding, replacing. Linear cost.

use crate::outline::{TextContent, TextNode};

/// One step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<'p> {
    /// `.name`
    Field(&'p str),
    /// `[3]`
    Index(usize),
    /// `["name"]`: the item whose field `name` has this value.
    Named(&'p str),
}

/// The steps of a path, or `None` if it is not one.
pub(crate) fn parse_path(path: &str) -> Option<Vec<Step<'_>>> {
    let mut steps = Vec::new();
    let mut rest = path.trim();
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix("[\"") {
            let (name, after) = inner.split_once("\"]")?;
            steps.push(Step::Named(name));
            rest = after;
        } else if let Some(inner) = rest.strip_prefix('[') {
            let (index, after) = inner.split_once(']')?;
            steps.push(Step::Index(index.trim().parse().ok()?));
            rest = after;
        } else {
            let field = if steps.is_empty() { rest } else { rest.strip_prefix('.')? };
            let end = field.find(['.', '[']).unwrap_or(field.len());
            let name = &field[..end];
            if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
                return None;
            }
            steps.push(Step::Field(name));
            rest = &field[end..];
        }
    }
    (!steps.is_empty()).then_some(steps)
}

/// Follows `steps` as far as the text goes: the last value reached and the steps that are left.
pub(crate) fn follow<'n, 't, 's, 'p>(
    text: &str,
    root: &'n TextNode<'t>,
    steps: &'s [Step<'p>],
) -> (&'n TextNode<'t>, &'s [Step<'p>]) {
    let mut node = root;
    for (i, step) in steps.iter().enumerate() {
        let next = match *step {
            Step::Field(name) => node.field(name).or_else(|| component(node, name)),
            Step::Index(index) => node.items().get(index),
            Step::Named(name) => node.items().iter().find(|item| has_name(text, item, name)),
        };
        match next {
            Some(inner) => node = inner,
            None => return (node, &steps[i..]),
        }
    }
    (node, &[])
}

/// The component `x`, `y`, `z` or `w` of a list without names.
fn component<'n, 't>(node: &'n TextNode<'t>, name: &str) -> Option<&'n TextNode<'t>> {
    node.items().get(component_index(name)?)
}

/// The place of a component by its name.
pub(crate) fn component_index(name: &str) -> Option<usize> {
    ["x", "y", "z", "w"].iter().position(|known| *known == name)
}

/// `text` with `value` at the end of `steps`: replaced where it stands, added as a field where it does
/// not. Also gives where in the new text the value begins. `None` if there is no such place.
pub(crate) fn replace(
    text: &str,
    root: &TextNode<'_>,
    steps: &[Step<'_>],
    value: &str,
) -> Option<(String, usize)> {
    let (node, left) = follow(text, root, steps);
    if left.is_empty() {
        let (before, after) = (&text[..node.span.start], &text[node.span.end..]);
        return Some((format!("{before}{value}{after}"), node.span.start));
    }
    // Right after the opening parenthesis: `outer: (inner: value), `.
    let is_open = match &node.content {
        TextContent::Fields(_) => true,
        TextContent::Items(items) => items.is_empty() && text[..node.span.end].ends_with(')'),
        TextContent::Leaf => false,
    };
    if !is_open {
        return None;
    }
    let open = node.span.start + text[node.span.clone()].find('(')? + 1;
    let mut lead = String::new();
    for (i, step) in left.iter().enumerate() {
        let Step::Field(name) = step else { return None };
        lead += if i == 0 { "" } else { "(" };
        lead += &format!("{name}: ");
    }
    let close = ")".repeat(left.len() - 1);
    let edited = format!("{}{lead}{value}{close}, {}", &text[..open], &text[open..]);
    Some((edited, open + lead.len()))
}

/// Whether the field `name` of a value is the string `name`.
fn has_name(text: &str, item: &TextNode<'_>, name: &str) -> bool {
    named(text, item) == Some(name)
}

/// The string that the field `name` of a value is, without its quotation marks.
pub(crate) fn named<'t>(text: &'t str, item: &TextNode<'_>) -> Option<&'t str> {
    let quoted = item.field("name").map(|node| &text[node.span.clone()]);
    quoted.and_then(|q| q.strip_prefix('"')).and_then(|q| q.strip_suffix('"'))
}

#[cfg(test)]
mod tests {
    use super::{Step, follow, parse_path, replace};
    use crate::outline::TextNode;

    const SCENE: &str =
        r#"(joints: [(name: "knee"), (name: "elbow", spring: (stiffness: 1))], stepper: Implicit())"#;

    fn set(path: &str, value: &str) -> Option<String> {
        let root = TextNode::parse(SCENE).expect("well-formed");
        let (edited, at) = replace(SCENE, &root, &parse_path(path)?, value)?;
        assert_eq!(&edited[at..at + value.len()], value);
        assert!(TextNode::parse(&edited).is_some(), "{edited}");
        Some(edited)
    }

    #[test]
    fn paths_are_read() {
        let path = parse_path(r#"joints["left [elbow].x"].spring.stiffness"#);
        let wanted = [
            Step::Field("joints"),
            Step::Named("left [elbow].x"),
            Step::Field("spring"),
            Step::Field("stiffness"),
        ];
        assert_eq!(path.as_deref(), Some(&wanted[..]));
        assert_eq!(
            parse_path("a[2][0]").as_deref(),
            Some(&[Step::Field("a"), Step::Index(2), Step::Index(0)][..])
        );
        for bad in ["", ".a", "a..b", "a[", "a[x]", "a[\"x]", "a b", "a[0]b", "a."] {
            assert_eq!(parse_path(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_path_stops_where_the_text_does() {
        let root = TextNode::parse(SCENE).expect("well-formed");
        let steps = parse_path("joints[0].spring.stiffness").expect("a path");
        let (node, left) = follow(SCENE, &root, &steps);
        assert_eq!(&SCENE[node.span.clone()], r#"(name: "knee")"#);
        assert_eq!(left, &steps[2..]);
    }

    #[test]
    fn values_are_replaced_and_added() {
        assert_eq!(set(r#"joints["elbow"].spring.stiffness"#, "7").expect("there"), SCENE.replace('1', "7"));
        let added = set("joints[0].spring.stiffness", "7").expect("a place");
        assert!(added.contains(r#"(spring: (stiffness: 7), name: "knee")"#), "{added}");
        assert!(set("dt", "0.1").expect("a place").starts_with("(dt: 0.1, joints"));
        assert!(set("stepper.order", "2").expect("a place").contains("Implicit(order: 2, )"));
        for nowhere in ["joints[2].name", r#"joints["hip"].name"#, "joints.name", "joints[0].name.x"] {
            assert_eq!(set(nowhere, "7"), None, "{nowhere}");
        }
    }
}
