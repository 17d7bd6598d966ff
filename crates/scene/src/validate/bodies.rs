//! Rules for bodies: positive sizes and masses, possible inertias, rotations that are not zero, colours from 0 to 1; Poisson's ratios.

use std::collections::BTreeSet;
use std::fmt::Display;

use glam::DVec3;
use sinew_math::{MassError, Shape, ShapeSize};

use super::issues::Issues;
use super::lookup::{ItemPath, bodies, templates};
use crate::doc::{BodyKindDoc, CurveDoc, GeneratorDoc, MassDoc, RotationDoc, SceneDoc};
use crate::error::SceneIssueKind as Kind;

/// Edges, radii and lengths are above zero; only the cylinder part of a capsule may have length zero.
pub(super) fn sizes_are_positive(scene: &SceneDoc, issues: &mut Issues) {
    for (path, body) in bodies(scene) {
        for (i, shape) in body.shapes.iter().enumerate() {
            check_shape(issues, &shape.solid, format_args!("{path}.shapes[{i}]"));
        }
    }
}

/// The sizes of one shape.
pub(super) fn check_shape(issues: &mut Issues, shape: &Shape, path: impl Display + Copy) {
    for ShapeSize { name, value, may_be_zero } in shape.sizes() {
        if may_be_zero {
            issues.require_not_negative(path, &[(name, value)]);
        } else {
            issues.require_positive(path, &[(name, value)]);
        }
    }
}

/// Densities and masses are above zero.
pub(super) fn masses_are_positive(scene: &SceneDoc, issues: &mut Issues) {
    for (path, mass) in masses(scene) {
        let mass = match mass {
            MassDoc::Density(value) | MassDoc::Total(value) => ("", *value),
            MassDoc::Properties(written) => ("mass", written.mass),
        };
        issues.require_positive(path, &[mass]);
    }
}

/// A body that forces move has something that gives it mass: shapes, or colliders that are meshes.
pub(super) fn dynamic_bodies_have_mass(scene: &SceneDoc, issues: &mut Issues) {
    let filled = scene.colliders.iter().filter(|collider| collider.shape.is_mesh() && !collider.sensor);
    let filled: BTreeSet<&str> = filled.map(|collider| collider.body.as_str()).collect();
    for (path, body) in bodies(scene) {
        let from_shapes = !matches!(body.mass, MassDoc::Properties(_));
        let is_empty = body.shapes.is_empty() && !filled.contains(body.name.as_str());
        if body.kind == BodyKindDoc::Dynamic && from_shapes && is_empty {
            let hint = "add shapes: […], a Convex, TriMesh or Decomposed collider, or mass: Properties(mass: …, inertia: …), or make it Fixed or Kinematic";
            issues.add(Kind::NoMass, path, "this dynamic body has no mass", hint);
        }
    }
}

/// Inertias are physical: positive moments, none larger than the sum of the two others.
pub(super) fn inertias_are_physical(scene: &SceneDoc, issues: &mut Issues) {
    for (path, mass) in masses(scene) {
        let MassDoc::Properties(written) = mass else { continue };
        let message = match written.to_mass_properties().is_physical() {
            Err(MassError::MomentNotPositive { moment }) => {
                format!("the smallest principal moment is {moment:.6}, which is not positive")
            }
            Err(MassError::TriangleInequality { moments: [a, b, c] }) => {
                format!("the principal moments {a:.6}, {b:.6}, {c:.6} are those of no real body")
            }
            _ => continue,
        };
        let hint = "use positive moments, none larger than the sum of the two others";
        issues.add(Kind::NonPhysicalInertia, format!("{path}.inertia"), message, hint);
    }
}

/// Axes and quaternions are not zero.
pub(super) fn rotations_have_an_axis(scene: &SceneDoc, issues: &mut Issues) {
    for (path, body) in bodies(scene) {
        check_rotation(issues, &body.pose.rotation, || format!("{path}.pose.rotation"));
        for (i, shape) in body.shapes.iter().enumerate() {
            check_rotation(issues, &shape.at.rotation, || format!("{path}.shapes[{i}].at.rotation"));
        }
    }
    for (i, track) in scene.tracks.iter().enumerate() {
        let CurveDoc::Poses(poses) = &track.curve else { continue };
        for (k, (_, _, rotation)) in poses.iter().enumerate() {
            check_rotation(issues, rotation, || format!("tracks[{i}].curve[{k}][2]"));
        }
    }
}

/// Damping is not negative; colours are between 0 and 1.
pub(super) fn damping_and_color_are_in_range(scene: &SceneDoc, issues: &mut Issues) {
    for (path, body) in bodies(scene) {
        let damping = [("linear_damping", body.linear_damping), ("angular_damping", body.angular_damping)];
        issues.require_not_negative(path, &damping);
        check_color(issues, body.color, || format!("{path}.color"));
    }
}

/// A colour, if there is one, between 0 and 1.
pub(super) fn check_color(issues: &mut Issues, color: Option<DVec3>, field: impl FnOnce() -> String) {
    if color.is_some_and(|c| c.min_element() < 0.0 || c.max_element() > 1.0) {
        let message = "red, green and blue must be between 0 and 1";
        issues.add(Kind::OutOfRange, field(), message, "use for instance (0.8, 0.3, 0.1)");
    }
}

/// Every mass, those of generators included, with its path.
fn masses(scene: &SceneDoc) -> impl Iterator<Item = (ItemPath, &MassDoc)> {
    let listed = scene.bodies.iter().enumerate();
    let listed = listed.map(|(i, body)| (ItemPath("bodies", i, ".mass"), &body.mass));
    let links = templates(scene).map(|(i, link, _)| (ItemPath("generators", i, ".link.mass"), &link.mass));
    let last = scene.generators.iter().enumerate().filter_map(|(i, generator)| match generator {
        GeneratorDoc::Chain(chain) => {
            Some((ItemPath("generators", i, ".last_mass"), chain.last_mass.as_ref()?))
        }
        _ => None,
    });
    listed.chain(links).chain(last)
}

/// A rotation that has an axis.
pub(super) fn check_rotation(issues: &mut Issues, rotation: &RotationDoc, field: impl FnOnce() -> String) {
    match *rotation {
        RotationDoc::AxisAngle { axis, .. } => issues.require_direction(axis, || field() + ".axis"),
        #[expect(clippy::float_cmp, reason = "exactly zero is the one quaternion without a direction")]
        RotationDoc::Quaternion { w, x, y, z } if [w, x, y, z] == [0.0; 4] => {
            issues.add(Kind::BadDirection, field(), "this quaternion is zero", "use for instance Identity");
        }
        _ => {}
    }
}

/// Poisson's ratio below `path`.
pub(super) fn check_poisson(issues: &mut Issues, poisson: f64, path: impl Display + Copy) {
    if poisson <= -1.0 || poisson >= 0.5 {
        let message = format!("Poisson's ratio {poisson} is out of range");
        let hint = "use a number above −1 and below 0.5; nearly incompressible flesh has 0.4 to 0.49";
        issues.add(Kind::OutOfRange, format!("{path}.poisson"), message, hint);
    }
}
