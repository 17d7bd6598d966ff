//! Names of what is in a file: those of models, links, joints and frames with `::` between.

use crate::error::ImportFault;
use crate::xml::Element;

/// The frame of the world.
pub(super) const WORLD: &str = "world";

/// The name of something in a scope.
pub(super) fn inside(scope: &str, name: &str) -> String {
    match (scope, name) {
        (_, WORLD) => WORLD.to_owned(),
        (_, "__model__") => if scope.is_empty() { WORLD } else { scope }.to_owned(),
        ("", name) => name.to_owned(),
        (scope, name) => format!("{scope}::{name}"),
    }
}

/// The name of an element in a model.
pub(super) fn link_path(element: &Element, model: &str) -> Result<String, ImportFault> {
    let name = element.required("name")?;
    if name.is_empty() || name == WORLD || name.starts_with("__") {
        return Err(element.fault(format!("`{name}` cannot be its name")));
    }
    Ok(inside(model, name))
}
