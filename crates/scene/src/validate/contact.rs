//! Rules for colliders and contact: shapes that can touch, complete height fields, numbers in range.

use std::fmt::Display;

use std::collections::BTreeSet;

use super::bodies::{check_rotation, check_shape};
use super::issues::Issues;
use super::lookup::{Touchable, WORLD, bodies, touchable};
use super::names::Known;
use crate::doc::{
    ColliderDoc, ColliderShapeDoc, ContactDoc, DecomposedDoc, FirmnessDoc, HullDoc, PoseDoc, SceneDoc,
    ShapeDoc, TriMeshDoc,
};
use crate::error::SceneIssueKind as Kind;
use glam::DVec3;

/// The largest number of parts of a decomposed mesh.
const MOST_PARTS: u32 = 1000;

/// What to use instead of a shape that cannot be a collider.
const COLLIDERS: &str = "use a Sphere, Capsule, Cylinder or Box of about the same size";

/// Friction, restitution, stiffness and damping are in range.
pub(super) fn check_contact(issues: &mut Issues, contact: &ContactDoc, path: impl Display + Copy) {
    let frictions = [
        ("friction", contact.friction),
        ("rolling_friction", contact.rolling_friction),
        ("torsional_friction", contact.torsional_friction),
    ];
    issues.require_not_negative(path, &frictions);
    check_restitution(issues, contact.restitution, path);
    if let FirmnessDoc::Given { stiffness, damping } | FirmnessDoc::Scaled { stiffness, damping } =
        contact.firmness
    {
        issues.require_positive(path, &[("firmness.stiffness", stiffness)]);
        issues.require_not_negative(path, &[("firmness.damping", damping)]);
    }
}

/// Pairs name what can touch, once, and say something in range.
pub(super) fn pairs_are_given_once(scene: &SceneDoc, issues: &mut Issues) {
    let known = Known::of(scene);
    let mut seen = BTreeSet::new();
    for (i, pair) in scene.pairs.iter().enumerate() {
        let path = format_args!("pairs[{i}]");
        for (field, name) in [("a", &pair.a), ("b", &pair.b)] {
            let field = || format!("{path}.{field}");
            match pair.apart {
                true if name == WORLD => {}
                true => known.require_body(issues, name, field),
                false => known.require_touching(issues, name, field),
            }
        }
        issues.require_not_negative(path, &[("friction", pair.friction.unwrap_or(0.0))]);
        check_restitution(issues, pair.restitution.unwrap_or(0.0), path);
        let says_more = pair.friction.is_some() || pair.restitution.is_some();
        if pair.apart && says_more {
            let hint = "leave out friction and restitution, or apart";
            issues.add(Kind::Empty, format!("{path}.apart"), "what never touches has no friction", hint);
        } else if !pair.apart && !says_more {
            let hint = "add friction: …, restitution: … or apart: true";
            issues.add(Kind::MissingField, path, "this pair says nothing", hint);
        }
        let names = if pair.a <= pair.b { [&pair.a, &pair.b] } else { [&pair.b, &pair.a] };
        if !seen.insert(names) {
            let message = format!("the pair of `{}` and `{}` is already there", pair.a, pair.b);
            issues.add(Kind::DuplicateName, path, message, "remove one of the two");
        }
    }
}

fn check_restitution(issues: &mut Issues, restitution: f64, path: impl Display + Copy) {
    if !(0.0..=1.0).contains(&restitution) {
        let message = format!("{restitution} is not between 0 and 1");
        issues.add(Kind::OutOfRange, format!("{path}.restitution"), message, "use 0 (no bounce) to 1");
    }
}

/// Bodies that touch have shapes, all of which can be touched.
pub(super) fn touching_bodies_can_be_touched(scene: &SceneDoc, issues: &mut Issues) {
    for (path, body) in bodies(scene) {
        let Some(contact) = &body.contact else { continue };
        let field = format_args!("{path}.contact");
        check_contact(issues, contact, field);
        match Touchable::of(&body.shapes) {
            Touchable::NoShapes => {
                let message = "a body without shapes cannot touch";
                issues.add(Kind::NoShapes, field, message, "add shapes: […], or leave the contact out");
            }
            Touchable::NotAll => {
                let message = "one of its shapes cannot be a collider: an ellipsoid";
                let hint = format!("instead of contact, add a collider with Solid(…): {COLLIDERS}");
                issues.add(Kind::BadCollider, field, message, hint);
            }
            Touchable::All => {}
        }
    }
}

/// Colliders have a shape that can be touched. Unknown bodies are left to another rule.
pub(super) fn colliders_can_be_touched(scene: &SceneDoc, issues: &mut Issues) {
    for (i, collider) in scene.colliders.iter().enumerate() {
        let path = format_args!("colliders[{i}]");
        check_contact(issues, &collider.contact, format_args!("{path}.contact"));
        check_collider(scene, issues, collider, path);
    }
}

fn check_collider(scene: &SceneDoc, issues: &mut Issues, collider: &ColliderDoc, path: impl Display + Copy) {
    let shape = format_args!("{path}.shape");
    match &collider.shape {
        ColliderShapeDoc::Plane { normal, .. } => {
            issues.require_direction(*normal, || format!("{shape}.normal"));
            if collider.body != WORLD {
                let message = "a plane can only belong to the world";
                let hint = "leave the body out, or use Solid(Box(size: …))";
                issues.add(Kind::BadCollider, format!("{path}.body"), message, hint);
            }
        }
        ColliderShapeDoc::Solid(solid) => check_solid(issues, solid, shape),
        ColliderShapeDoc::OfBody => check_body(scene, issues, &collider.body, path),
        ColliderShapeDoc::Convex(hull) => check_hull(issues, hull, shape),
        ColliderShapeDoc::TriMesh(TriMeshDoc { at, points, triangles, file, scale, .. }) => {
            check_placed(issues, at, *scale, shape);
            check_mesh(issues, points, triangles, file, shape);
        }
        ColliderShapeDoc::Decomposed(mesh) => check_decomposed(issues, mesh, shape),
        ColliderShapeDoc::HeightField { at, size, heights } => {
            issues.require_positive(shape, &[("size", size[0].min(size[1]))]);
            check_rotation(issues, &at.rotation, || format!("{shape}.at.rotation"));
            check_heights(issues, heights, format_args!("{shape}.heights"));
        }
    }
}

/// Points or a file, and a scale.
fn check_hull(issues: &mut Issues, hull: &HullDoc, path: impl Display + Copy) {
    check_placed(issues, &hull.at, hull.scale, path);
    match (hull.points.len(), hull.file.is_empty()) {
        (0, true) => {
            let message = "this hull has neither points nor a file";
            issues.add(Kind::BadCollider, path, message, "add points: [(x, y, z), …] or file: \"hull.obj\"");
        }
        (1.., false) => {
            let message = "this hull has points and a file";
            issues.add(Kind::BadCollider, format!("{path}.points"), message, "leave out one of the two");
        }
        (n @ 1..4, true) => {
            let message = format!("{n} points have no volume");
            let hint = "use at least four points that are not in one plane";
            issues.add(Kind::BadCollider, format!("{path}.points"), message, hint);
        }
        _ => {}
    }
}

/// A mesh, and how finely it is decomposed.
fn check_decomposed(issues: &mut Issues, mesh: &DecomposedDoc, path: impl Display + Copy) {
    check_placed(issues, &mesh.at, mesh.scale, path);
    check_mesh(issues, &mesh.points, &mesh.triangles, &mesh.file, path);
    issues.require_positive(path, &[("tolerance", mesh.tolerance.unwrap_or(1.0))]);
    if !(1..=MOST_PARTS).contains(&mesh.max_parts) {
        let message = format!("{} is not between 1 and {MOST_PARTS}", mesh.max_parts);
        let hint = "leave it out, or use a few dozen; a larger tolerance needs fewer parts";
        issues.add(Kind::OutOfRange, format!("{path}.max_parts"), message, hint);
    }
}

fn check_placed(issues: &mut Issues, at: &PoseDoc, scale: f64, path: impl Display + Copy) {
    issues.require_positive(path, &[("scale", scale)]);
    check_rotation(issues, &at.rotation, || format!("{path}.at.rotation"));
}

/// Points and triangles between them, or a file.
fn check_mesh(
    issues: &mut Issues,
    points: &[DVec3],
    triangles: &[[u32; 3]],
    file: &str,
    path: impl Display + Copy,
) {
    let (n, has_file) = (points.len(), !file.is_empty());
    let is_empty = points.is_empty() && triangles.is_empty();
    if has_file && !is_empty {
        let message = "this mesh has a file, and points or triangles";
        issues.add(Kind::BadCollider, format!("{path}.file"), message, "leave out one of the two");
    } else if !has_file && triangles.is_empty() {
        let message = "this mesh has neither triangles nor a file";
        let hint = "add file: \"mesh.obj\", or points: [(x, y, z), …] and triangles: [(0, 1, 2), …]";
        issues.add(Kind::BadCollider, path, message, hint);
    } else if let Some(k) = triangles.iter().position(|t| t.iter().any(|&i| i as usize >= n)) {
        let message = format!("this triangle refers to a point that does not exist; there are {n} points");
        let hint = "count points from 0";
        issues.add(Kind::BadCollider, format!("{path}.triangles[{k}]"), message, hint);
    }
}

fn check_solid(issues: &mut Issues, solid: &ShapeDoc, path: impl Display + Copy) {
    check_shape(issues, &solid.solid, path);
    check_rotation(issues, &solid.at.rotation, || format!("{path}.at.rotation"));
    if !solid.solid.is_touchable() {
        let message = format!("a shape of kind {} cannot be a collider", solid.solid.name());
        issues.add(Kind::BadCollider, path, message, COLLIDERS);
    }
}

/// A body whose shapes can all be touched.
fn check_body(scene: &SceneDoc, issues: &mut Issues, body: &str, path: impl Display + Copy) {
    match touchable(scene, body) {
        Some(Touchable::NoShapes) => {
            let message = format!("the body `{body}` has no shapes");
            let hint = "name a body with shapes, or write the shape here: Solid(Box(size: …))";
            issues.add(Kind::NoShapes, format!("{path}.body"), message, hint);
        }
        Some(Touchable::NotAll) => {
            let message = format!("the body `{body}` has a shape that cannot be a collider: an ellipsoid");
            let hint = format!("instead of OfBody, write Solid(…): {COLLIDERS}");
            issues.add(Kind::BadCollider, format!("{path}.shape"), message, hint);
        }
        Some(Touchable::All) | None => {}
    }
}

/// At least two rows of at least two heights, all of the same length.
fn check_heights(issues: &mut Issues, heights: &[Vec<f64>], field: impl Display) {
    let n = heights.first().map_or(0, Vec::len);
    if heights.len() < 2 || n < 2 {
        let message = format!("{} rows of {n} heights are not a surface", heights.len());
        issues.add(Kind::BadCollider, field, message, "use at least two rows of two heights");
    } else if let Some(k) = heights.iter().position(|row| row.len() != n) {
        let message = format!("this row has {} heights, the first row has {n}", heights[k].len());
        issues.add(Kind::BadCollider, format!("{field}[{k}]"), message, "give every row the same length");
    }
}
