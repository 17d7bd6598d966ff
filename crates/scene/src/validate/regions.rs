//! Rules for regions of flesh and their muscles: names, places and numbers.

use std::collections::BTreeSet;

use super::bodies::{check_rotation, check_shape};
use super::lookup::{Touchable, characters, touchable};
use super::{flesh::check_poisson, issues::Issues};
use crate::doc::{
    FibresDoc, FleshSteppingDoc, ForceLengthDoc, MuscleDoc, RegionDoc, RegionTetsDoc, SceneDoc, TargetDoc,
};
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

/// The muscles of all flesh, with their paths.
pub(super) fn muscles(scene: &SceneDoc) -> impl Iterator<Item = (String, &MuscleDoc)> {
    each_region(scene).filter_map(|(path, region)| Some((format!("{path}.muscle"), region.muscle.as_ref()?)))
}

/// The tracks that muscles follow, with the path of the field.
pub(super) fn muscle_tracks(scene: &SceneDoc) -> impl Iterator<Item = (String, &String)> {
    muscles(scene).filter_map(|(path, muscle)| match &muscle.activation {
        TargetDoc::Track(track) => Some((format!("{path}.activation"), track)),
        TargetDoc::Value(_) => None,
    })
}

/// Muscles have a direction, and numbers in range.
pub(super) fn muscles_are_in_range(scene: &SceneDoc, issues: &mut Issues) {
    for (path, muscle) in muscles(scene) {
        issues.require_not_negative(&path, &[("strength", muscle.strength), ("stiffness", muscle.stiffness)]);
        issues.require_positive(&path, &[("fastest", muscle.fastest.unwrap_or(1.0))]);
        if let TargetDoc::Value(value) = muscle.activation
            && !(value.is_nan() || (0.0..=1.0).contains(&value))
        {
            let message = format!("an activation of {value} is out of range");
            issues.add(Kind::OutOfRange, format!("{path}.activation"), message, "use 0 to 1");
        }
        if let ForceLengthDoc::Bell { optimum, width } = muscle.curve {
            let path = format!("{path}.curve");
            issues.require_positive(&path, &[("optimum", optimum), ("width", width)]);
            if width >= optimum && optimum > 0.0 {
                let message = "fibres would pull when they have no length";
                let hint = "use a width below the optimum";
                issues.add(Kind::OutOfRange, format!("{path}.width"), message, hint);
            }
        }
        check_fibres(issues, &muscle.fibres, &format!("{path}.fibres"));
    }
}

fn check_fibres(issues: &mut Issues, fibres: &FibresDoc, path: &str) {
    match fibres {
        FibresDoc::Along(direction) => issues.require_direction(*direction, || path.to_owned()),
        FibresDoc::Around { axis, .. } => issues.require_direction(*axis, || format!("{path}.axis")),
        FibresDoc::Path(points) => {
            if points.len() < 2 {
                let hint = "list at least two points";
                issues.add(Kind::Empty, path, "a path has at least two points", hint);
            }
            for (k, pair) in points.windows(2).enumerate() {
                issues.require_direction(pair[1] - pair[0], || format!("{path}[{}]", k + 1));
            }
        }
        FibresDoc::AlongBody(_) => {}
    }
}
