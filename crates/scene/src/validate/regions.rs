//! Rules for regions of flesh, muscles and tendons: names, places and numbers.

use std::fmt::Display;

use std::collections::BTreeSet;

use glam::DVec3;

use super::bodies::{check_poisson, check_rotation, check_shape};
use super::flow::check_flow;
use super::issues::Issues;
use super::lookup::{Touchable, characters, touchable};
use crate::doc::{
    FibresDoc, FleshSteppingDoc, ForceLengthDoc, MuscleDoc, RegionDoc, RegionTetsDoc, SceneDoc, TargetDoc,
    TendonDoc,
};
use crate::error::SceneIssueKind as Kind;

/// What regions and tendons of one flesh are checked with.
struct Parts<'s> {
    /// Path and name of the flesh.
    path: String,
    name: &'s str,
    regions: &'s [RegionDoc],
    tendons: &'s [TendonDoc],
    stepping: FleshSteppingDoc,
}

/// All flesh, that of characters included.
fn parts(scene: &SceneDoc) -> impl Iterator<Item = Parts<'_>> {
    let listed = scene.flesh.iter().enumerate().map(|(i, flesh)| Parts {
        path: format!("flesh[{i}]"),
        name: &flesh.name,
        regions: &flesh.regions,
        tendons: &flesh.tendons,
        stepping: flesh.stepping,
    });
    let generated = characters(scene).map(|(i, character)| Parts {
        path: format!("generators[{i}]"),
        name: &character.name,
        regions: &character.regions,
        tendons: &character.tendons,
        stepping: character.stepping,
    });
    listed.chain(generated)
}

/// The names of the regions of all flesh that is called `flesh`.
pub(super) fn regions_of<'s>(scene: &'s SceneDoc, flesh: &'s str) -> impl Iterator<Item = &'s str> {
    let called = parts(scene).filter(move |parts| parts.name == flesh);
    called.flat_map(|parts| parts.regions.iter().map(|region| region.name.as_str()))
}

/// Every region, with its path.
pub(super) fn each_region(scene: &SceneDoc) -> impl Iterator<Item = (String, &RegionDoc)> {
    parts(scene).flat_map(|Parts { path, regions, .. }| {
        regions.iter().enumerate().map(move |(k, region)| (format!("{path}.regions[{k}]"), region))
    })
}

/// Every tendon, with its path.
fn each_tendon(scene: &SceneDoc) -> impl Iterator<Item = (String, &TendonDoc)> {
    parts(scene).flat_map(|Parts { path, tendons, .. }| {
        tendons.iter().enumerate().map(move |(k, tendon)| (format!("{path}.tendons[{k}]"), tendon))
    })
}

/// Regions and tendons have names of their own within their flesh.
pub(super) fn regions_have_names(scene: &SceneDoc, issues: &mut Issues) {
    for Parts { path, regions, tendons, .. } in parts(scene) {
        let mut seen = BTreeSet::new();
        let regions = regions.iter().enumerate().map(|(k, region)| ("regions", k, region.name.as_str()));
        let tendons = tendons.iter().enumerate().map(|(k, tendon)| ("tendons", k, tendon.name.as_str()));
        for (list, k, name) in regions.chain(tendons) {
            let field = format!("{path}.{list}[{k}].name");
            if name.is_empty() {
                issues.add(Kind::BadName, field, "the name is missing", "add name: \"…\"");
            } else if !seen.insert(name) {
                let message = format!("the name `{name}` is already taken");
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
        check_flow(issues, (region.plastic, region.viscous), &path);
    }
    for Parts { path, regions, stepping, .. } in parts(scene) {
        let damped =
            regions.iter().position(|region| region.stiffness_damping_s.is_some_and(|beta| beta > 0.0));
        if let (Some(k), FleshSteppingDoc::Explicit { .. }) = (damped, stepping) {
            let message = "stiffness damping acts only in implicit steps";
            let hint = "use bone_damping, or stepping: Implicit";
            issues.add(Kind::WrongStepper, format!("{path}.regions[{k}].stiffness_damping_s"), message, hint);
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
                    check_shape(issues, &shape.solid, format_args!("{path}[{k}]"));
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
            RegionTetsDoc::List(_) | RegionTetsDoc::Marked(_) => {}
        }
        let is_empty = match &region.tets {
            RegionTetsDoc::Inside(shapes) => shapes.is_empty(),
            RegionTetsDoc::Near { .. } | RegionTetsDoc::Marked(_) => false,
            RegionTetsDoc::List(tets) => tets.is_empty(),
        };
        if is_empty {
            let hint = "use for instance tets: Inside([Sphere(radius: 0.1)])";
            issues.add(Kind::Empty, path, "this region has no place", hint);
        }
    }
}

/// What muscles and tendons have in common.
struct PullNumbers<'s> {
    path: String,
    strength: f64,
    stiffness: f64,
    curve: ForceLengthDoc,
    fastest: Option<f64>,
    activation: &'s TargetDoc,
}

/// The muscles of all flesh, with their paths.
fn muscles(scene: &SceneDoc) -> impl Iterator<Item = (String, &MuscleDoc)> {
    each_region(scene).filter_map(|(path, region)| Some((format!("{path}.muscle"), region.muscle.as_ref()?)))
}

/// All muscles and tendons.
fn pulls(scene: &SceneDoc) -> impl Iterator<Item = PullNumbers<'_>> {
    let muscles = muscles(scene).map(|(path, muscle)| {
        let MuscleDoc { strength, stiffness, curve, fastest, ref activation, .. } = *muscle;
        PullNumbers { path, strength, stiffness, curve, fastest, activation }
    });
    let tendons = each_tendon(scene).map(|(path, tendon)| {
        let TendonDoc { strength, stiffness, curve, fastest, ref activation, .. } = *tendon;
        PullNumbers { path, strength, stiffness, curve, fastest, activation }
    });
    muscles.chain(tendons)
}

/// The tracks that muscles and tendons follow, with the path of the field.
pub(super) fn muscle_tracks(scene: &SceneDoc) -> impl Iterator<Item = (String, &String)> {
    pulls(scene).filter_map(|pull| match pull.activation {
        TargetDoc::Track(track) => Some((format!("{}.activation", pull.path), track)),
        TargetDoc::Value(_) => None,
    })
}

/// Muscles and tendons have numbers in range, and a direction or path.
pub(super) fn muscles_are_in_range(scene: &SceneDoc, issues: &mut Issues) {
    for PullNumbers { path, strength, stiffness, curve, fastest, activation } in pulls(scene) {
        issues.require_not_negative(&path, &[("strength", strength), ("stiffness", stiffness)]);
        if strength == 0.0 && stiffness == 0.0 {
            let hint = "give it a `strength`, or a `stiffness` if it only resists being stretched";
            issues.add(Kind::Empty, format!("{path}.strength"), "this muscle or tendon does nothing", hint);
        }
        issues.require_positive(&path, &[("fastest", fastest.unwrap_or(1.0))]);
        if let TargetDoc::Value(value) = *activation
            && !(value.is_nan() || (0.0..=1.0).contains(&value))
        {
            let message = format!("an activation of {value} is out of range");
            issues.add(Kind::OutOfRange, format!("{path}.activation"), message, "use 0 to 1");
        }
        if let ForceLengthDoc::Bell { optimum, width } = curve {
            let path = format!("{path}.curve");
            issues.require_positive(&path, &[("optimum", optimum), ("width", width)]);
            if width >= optimum && optimum > 0.0 {
                let message = "fibres would pull when they have no length";
                let hint = "use a width below the optimum";
                issues.add(Kind::OutOfRange, format!("{path}.width"), message, hint);
            }
        }
    }
    for (path, muscle) in muscles(scene) {
        check_fibres(issues, &muscle.fibres, format_args!("{path}.fibres"));
    }
    for (path, tendon) in each_tendon(scene) {
        check_path(issues, &tendon.path, format_args!("{path}.path"));
    }
}

fn check_fibres(issues: &mut Issues, fibres: &FibresDoc, path: impl Display + Copy) {
    match fibres {
        FibresDoc::Along(direction) => issues.require_direction(*direction, || path.to_string()),
        FibresDoc::Around { axis, .. } => issues.require_direction(*axis, || format!("{path}.axis")),
        FibresDoc::Path(points) => check_path(issues, points, path),
        FibresDoc::AlongBody(_) => {}
    }
}

/// A path of at least two points, no two of them the same in a row.
fn check_path(issues: &mut Issues, points: &[DVec3], path: impl Display + Copy) {
    if points.len() < 2 {
        issues.add(Kind::Empty, path, "a path has at least two points", "list at least two points");
    }
    for (k, pair) in points.windows(2).enumerate() {
        if pair[0] == pair[1] {
            let field = format!("{path}[{}]", k + 1);
            issues.add(Kind::BadDirection, field, "this point is the one before it", "leave one of them out");
        }
    }
}
