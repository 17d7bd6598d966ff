//! Rules for colliders and contact.

use super::bodies::{check_rotation, check_shape};
use super::{Issues, Looks, RESERVED, looks};
use crate::doc::{ColliderShapeDoc, ContactDoc, FirmnessDoc, SceneDoc};
use crate::error::SceneIssueKind as Kind;

/// Friction, stiffness and damping are physical.
pub(super) fn check_contact(issues: &mut Issues, contact: &ContactDoc, path: &str) {
    issues.require_not_negative(contact.friction, || format!("{path}.friction"));
    if let FirmnessDoc::Given { stiffness, damping } | FirmnessDoc::Scaled { stiffness, damping } =
        contact.firmness
    {
        issues.require_positive(stiffness, || format!("{path}.firmness.stiffness"));
        issues.require_not_negative(damping, || format!("{path}.firmness.damping"));
    }
}

/// Colliders have a form that can be touched, and sit where they can. Unknown bodies are left to another rule.
pub(super) fn colliders_can_be_touched(scene: &SceneDoc, issues: &mut Issues) {
    for (i, collider) in scene.colliders.iter().enumerate() {
        let path = format!("colliders[{i}].shape");
        check_contact(issues, &collider.contact, &format!("colliders[{i}].contact"));
        match &collider.shape {
            ColliderShapeDoc::Plane { normal, .. } => {
                issues.require_direction(*normal, || format!("{path}.normal"));
                if collider.body != RESERVED {
                    let hint = "leave the body out, or use Solid(Box(size: …))";
                    let field = format!("colliders[{i}].body");
                    issues.add(Kind::BadCollider, field, "a plane can only belong to the world", hint);
                }
            }
            ColliderShapeDoc::Solid(shape) => {
                check_shape(issues, &shape.solid, &path);
                check_rotation(issues, &shape.at.rotation, || format!("{path}.at.rotation"));
                if !shape.solid.is_touchable() {
                    issues.add(
                        Kind::BadCollider,
                        path,
                        "ellipsoids cannot be touched",
                        "use a Sphere, Capsule or Box",
                    );
                }
            }
            ColliderShapeDoc::OfBody => check_body(scene, issues, &collider.body, i),
            ColliderShapeDoc::HeightField { at, size, heights } => {
                issues.require_positive(size[0].min(size[1]), || format!("{path}.size"));
                check_rotation(issues, &at.rotation, || format!("{path}.at.rotation"));
                check_heights(issues, heights, &path);
            }
        }
    }
}

/// A body whose shapes can be touched.
fn check_body(scene: &SceneDoc, issues: &mut Issues, body: &str, i: usize) {
    match looks(scene, body) {
        Some(Looks::Nothing) => {
            let message = format!("`{body}` has no shapes");
            let hint = "name a body with shapes, or write the form: Solid(Box(size: …))";
            issues.add(Kind::NoShapes, format!("colliders[{i}].body"), message, hint);
        }
        Some(Looks::Ellipsoid) => {
            let message = format!("`{body}` has an ellipsoid, and ellipsoids cannot be touched");
            let hint = "instead of OfBody, use a Solid that fits closely: a Sphere, Capsule or Box";
            issues.add(Kind::BadCollider, format!("colliders[{i}].shape"), message, hint);
        }
        Some(Looks::Solid) | None => {}
    }
}

/// At least two rows of at least two heights, all of the same length.
fn check_heights(issues: &mut Issues, heights: &[Vec<f64>], path: &str) {
    let n = heights.first().map_or(0, Vec::len);
    if heights.len() < 2 || n < 2 {
        let message = format!("{} rows of {n} heights make no surface", heights.len());
        issues.add(Kind::BadCollider, format!("{path}.heights"), message, "use at least two rows of two");
    } else if let Some(k) = heights.iter().position(|row| row.len() != n) {
        let message = format!("this row has {} heights, the first has {n}", heights[k].len());
        let hint = "give every row the same length";
        issues.add(Kind::BadCollider, format!("{path}.heights[{k}]"), message, hint);
    }
}
