//! Rules for regions of flesh: names, places and numbers.

use std::collections::BTreeSet;

use super::bodies::{check_rotation, check_shape};
use super::lookup::{Touchable, characters, touchable};
use super::{flesh::check_poisson, issues::Issues};
use crate::doc::{FleshSteppingDoc, RegionDoc, RegionTetsDoc, SceneDoc};
use crate::error::SceneIssueKind as Kind;

/// The regions of all flesh, that of characters included, with the path of the list and how the flesh is stepped.
pub(super) fn regions(scene: &SceneDoc) -> impl Iterator<Item = (String, &[RegionDoc], FleshSteppingDoc)> {
    let listed = scene.flesh.iter().enumerate();
    let listed = listed.map(|(i, flesh)| (format!("flesh[{i}].regions"), &flesh.regions[..], flesh.stepping));
    let generated = characters(scene)
        .map(|(i, each)| (format!("generators[{i}].regions"), &each.regions[..], each.stepping));
    listed.chain(generated)
}

/// Every region, with its path.
pub(super) fn each_region(scene: &SceneDoc) -> impl Iterator<Item = (String, &RegionDoc)> {
    regions(scene).flat_map(|(path, list, _)| {
        list.iter().enumerate().map(move |(k, region)| (format!("{path}[{k}]"), region))
    })
}

/// Regions have names of their own within their flesh.
pub(super) fn regions_have_names(scene: &SceneDoc, issues: &mut Issues) {
    for (path, list, _) in regions(scene) {
        let mut seen = BTreeSet::new();
        for (k, region) in list.iter().enumerate() {
            let field = format!("{path}[{k}].name");
            if region.name.is_empty() {
                issues.add(Kind::BadName, field, "the name is missing", "add name: \"…\"");
            } else if !seen.insert(region.name.as_str()) {
                let message = format!("the name `{}` is already taken", region.name);
                issues.add(Kind::DuplicateName, field, message, "choose another name");
            }
        }
    }
}

/// Materials of regions are in range.
pub(super) fn regions_are_in_range(scene: &SceneDoc, issues: &mut Issues) {
    for (path, region) in each_region(scene) {
        let given = |name, value: Option<f64>| (name, value.unwrap_or(1.0));
        issues.require_positive(&path, &[given("young", region.young), given("density", region.density)]);
        issues.require_not_negative(&path, &[given("stiffness_damping_s", region.stiffness_damping_s)]);
        check_poisson(issues, region.poisson.unwrap_or(0.0), &path);
    }
    for (path, list, stepping) in regions(scene) {
        let damped = list.iter().position(|region| region.stiffness_damping_s.is_some_and(|beta| beta > 0.0));
        if let (Some(k), FleshSteppingDoc::Explicit { .. }) = (damped, stepping) {
            let message = "stiffness damping acts only in implicit steps";
            let hint = "use bone_damping, or stepping: Implicit";
            issues.add(Kind::WrongStepper, format!("{path}[{k}].stiffness_damping_s"), message, hint);
        }
    }
}

/// The places of regions make sense: shapes have a size, bodies have shapes, lists are not empty.
pub(super) fn regions_have_a_place(scene: &SceneDoc, issues: &mut Issues) {
    for (path, region) in each_region(scene) {
        let path = format!("{path}.tets");
        match &region.tets {
            RegionTetsDoc::Inside(shapes) => {
                for (k, shape) in shapes.iter().enumerate() {
                    check_shape(issues, &shape.solid, &format!("{path}[{k}]"));
                    check_rotation(issues, &shape.at.rotation, || format!("{path}[{k}].at.rotation"));
                }
            }
            RegionTetsDoc::Near { body, within } => {
                issues.require_not_negative(&path, &[("within", *within)]);
                if touchable(scene, body) == Some(Touchable::NoShapes) {
                    let message = format!("the body `{body}` has no shapes to measure the distance from");
                    issues.add(Kind::NoShapes, format!("{path}.body"), message, "give it shapes");
                }
            }
            RegionTetsDoc::List(_) => {}
        }
        let is_empty = match &region.tets {
            RegionTetsDoc::Inside(shapes) => shapes.is_empty(),
            RegionTetsDoc::Near { .. } => false,
            RegionTetsDoc::List(tets) => tets.is_empty(),
        };
        if is_empty {
            let hint = "use for instance tets: Inside([Sphere(radius: 0.1)])";
            issues.add(Kind::Empty, path, "this region has no place", hint);
        }
    }
}
