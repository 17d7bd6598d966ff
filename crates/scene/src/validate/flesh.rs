//! Rules for flesh: numbers, meshes, files, stepping.
//!
//! The flesh of a character is checked as written in its generator. Inline tetrahedra are checked in full; meshes from files
//! and characters are checked when the scene is compiled.

use std::fmt::Display;

use std::path::Path;

use glam::DVec3;
use sinew_math::{TetMesh, TetMeshError};
use sinew_mesh::{SURFACE_ENDINGS, TET_FILE_ENDINGS};

use super::bodies::{check_color, check_poisson, check_rotation};
use super::flow::check_flow;
use super::{contact::check_contact, issues::Issues, lookup::characters};
use crate::doc::{
    AttachedDoc, CharacterKindDoc, ContactDoc, DisturbanceDoc, FleshMaterialDoc, FleshMeshDoc,
    FleshSteppingDoc, SceneDoc, StepperDoc,
};
use crate::error::SceneIssueKind as Kind;

/// Most cubes along a side.
const MAX_CELLS: u32 = 1_000;
/// Most explicit substeps per step.
const MAX_SUBSTEPS: u32 = 100_000;
/// Most iterations of the solver.
const MAX_ITERATIONS: u32 = 1_000_000;

/// The settings that flesh and characters share.
struct Tissue<'s> {
    path: String,
    material: &'s FleshMaterialDoc,
    density: Option<f64>,
    stiffness_damping_s: f64,
    bone_damping: f64,
    contact: Option<&'s ContactDoc>,
    stepping: FleshSteppingDoc,
}

/// All flesh, that of characters included.
fn tissues(scene: &SceneDoc) -> impl Iterator<Item = Tissue<'_>> {
    let listed = scene.flesh.iter().enumerate().map(|(i, flesh)| Tissue {
        path: format!("flesh[{i}]"),
        material: &flesh.material,
        density: flesh.density,
        stiffness_damping_s: flesh.stiffness_damping_s,
        bone_damping: flesh.bone_damping,
        contact: flesh.contact.as_ref(),
        stepping: flesh.stepping,
    });
    let generated = characters(scene).map(|(i, character)| Tissue {
        path: format!("generators[{i}]"),
        material: &character.material,
        density: character.density,
        stiffness_damping_s: character.stiffness_damping_s,
        bone_damping: character.bone_damping,
        contact: character.contact.as_ref(),
        stepping: character.stepping,
    });
    listed.chain(generated)
}

/// Materials, densities, damping and contact are in range.
pub(super) fn tissues_are_in_range(scene: &SceneDoc, issues: &mut Issues) {
    for tissue in tissues(scene) {
        let path = &tissue.path;
        check_material(issues, tissue.material, format_args!("{path}.material"));
        issues.require_positive(path, &[("density", tissue.density.unwrap_or(1.0))]);
        let damping =
            [("stiffness_damping_s", tissue.stiffness_damping_s), ("bone_damping", tissue.bone_damping)];
        issues.require_not_negative(path, &damping);
        if let Some(contact) = tissue.contact {
            check_contact(issues, contact, format_args!("{path}.contact"));
        }
    }
}

fn check_material(issues: &mut Issues, material: &FleshMaterialDoc, path: impl Display + Copy) {
    if let FleshMaterialDoc::StVenantKirchhoff { band: [low, high], .. } = *material
        && (low <= 0.0 || low >= 1.0 || high <= 1.0)
    {
        let message = format!("the band from {low} to {high} does not contain 1");
        let hint = "use squared stretches between 0 and 1 and above 1, for instance (0.667, 1.667)";
        issues.add(Kind::OutOfRange, format!("{path}.band"), message, hint);
    }
    let (young, poisson) = material.elasticity();
    issues.require_positive(path, &[("young", young)]);
    check_poisson(issues, poisson, path);
    check_flow(issues, material.flow(), path);
}

/// Mass floors and colours are from 0 to 1, disturbances are not negative, boxes of nodes are not empty.
pub(super) fn flesh_numbers_are_in_range(scene: &SceneDoc, issues: &mut Issues) {
    for (i, flesh) in scene.flesh.iter().enumerate() {
        let path = format!("flesh[{i}]");
        if flesh.mass_floor < 0.0 || flesh.mass_floor > 1.0 {
            let message = format!("{} is out of range", flesh.mass_floor);
            issues.add(Kind::OutOfRange, format!("{path}.mass_floor"), message, "use 0 to 1");
        }
        check_color(issues, flesh.color, || format!("{path}.color"));
        check_rotation(issues, &flesh.pose.rotation, || format!("{path}.pose.rotation"));
        if let DisturbanceDoc::Random { amount, .. } = flesh.disturbed {
            issues.require_not_negative(&path, &[("disturbed.amount", amount)]);
        }
        for (k, attach) in flesh.attach.iter().enumerate() {
            let field = format!("{path}.attach[{k}].nodes");
            match &attach.nodes {
                AttachedDoc::Within(distance) => issues.require_not_negative(&field, &[("", *distance)]),
                AttachedDoc::Inside { low, high } if low.cmpgt(*high).any() => {
                    let message = format!("the box from {low} to {high} is empty");
                    issues.add(
                        Kind::EmptyRange,
                        field,
                        message,
                        "swap the coordinates that are out of order",
                    );
                }
                _ => {}
            }
        }
    }
}

/// Characters have a pose, and springs that can act.
pub(super) fn characters_are_in_range(scene: &SceneDoc, issues: &mut Issues) {
    for (i, character) in characters(scene) {
        let (path, spring) = (format!("generators[{i}].joint"), &character.joint);
        check_rotation(issues, &character.pose.rotation, || format!("generators[{i}].pose.rotation"));
        issues.require_not_negative(&path, &[("stiffness", spring.stiffness), ("damping", spring.damping)]);
        if spring.rest_rotation != DVec3::ZERO {
            let message = "the joints of characters are hinges and have no rest rotation";
            issues.add(Kind::WrongJointKind, format!("{path}.rest_rotation"), message, "use rest: an angle");
        }
        if !character.follow.is_empty() && spring.stiffness == 0.0 && spring.damping == 0.0 {
            let message = "joints cannot follow tracks without stiffness or damping";
            issues.add(Kind::NotPositive, path, message, "add joint: (stiffness: …, damping: …)");
        }
    }
}

/// Meshes have a size, a possible number of cells, and valid tetrahedra.
pub(super) fn meshes_are_valid(scene: &SceneDoc, issues: &mut Issues) {
    for (i, flesh) in scene.flesh.iter().enumerate() {
        let path = format!("flesh[{i}].mesh");
        match &flesh.mesh {
            FleshMeshDoc::Beam { size, cells } => {
                issues.require_positive(&path, &[("size", size.min_element())]);
                check_cells(issues, scene, *cells, format!("{path}.cells"));
            }
            FleshMeshDoc::Tets { nodes, tets } => check_tets(issues, nodes, tets, &path),
            FleshMeshDoc::Surface { cells, scale, .. } => {
                check_cells(issues, scene, [*cells, 1, 1], format!("{path}.cells"));
                issues.require_positive(&path, &[("scale", *scale)]);
            }
            FleshMeshDoc::Character { kind } => check_kind(issues, scene, *kind, format_args!("{path}.kind")),
            FleshMeshDoc::TetGen { scale, .. } | FleshMeshDoc::TetFile { scale, .. } => {
                issues.require_positive(&path, &[("scale", *scale)])
            }
            FleshMeshDoc::Embedded { .. } => {}
        }
    }
    for (i, character) in characters(scene) {
        check_kind(issues, scene, character.kind, format_args!("generators[{i}].kind"));
    }
}

fn check_kind(issues: &mut Issues, scene: &SceneDoc, kind: CharacterKindDoc, path: impl Display + Copy) {
    if let CharacterKindDoc::WormFine { cells } = kind {
        check_cells(issues, scene, cells, format!("{path}.cells"));
    }
}

/// Counts of bricks along each side; a brick has six tetrahedra.
fn check_cells(issues: &mut Issues, scene: &SceneDoc, cells: [u32; 3], field: String) {
    let n_tets = 6 * cells.iter().map(|&n| u64::from(n)).fold(1, u64::saturating_mul);
    if let Some(n) = cells.iter().find(|n| !(1..=MAX_CELLS).contains(*n)) {
        let message = format!("{n} cells along a side are out of range");
        issues.add(Kind::OutOfRange, field, message, format!("use 1 to {MAX_CELLS}"));
    } else if n_tets > scene.limits.tetrahedra {
        let message = format!("these cells make {n_tets} tetrahedra");
        let hint = format!("use at most {}, or raise the limit `tetrahedra`", scene.limits.tetrahedra);
        issues.add(Kind::OutOfRange, field, message, hint);
    }
}

/// The first fault of inline tetrahedra. Coordinates that are not finite are left to another rule.
fn check_tets(issues: &mut Issues, nodes: &[DVec3], tets: &[[u32; 4]], path: impl Display + Copy) {
    let Err(error) = TetMesh::new(nodes.to_vec(), tets.to_vec()) else { return };
    let (field, hint) = match error {
        TetMeshError::NonFiniteNode { .. } => return,
        TetMeshError::Empty => (String::new(), "add mesh: Tets(nodes: […], tets: […]) or another mesh"),
        TetMeshError::MissingNode { tet, .. } => {
            (format!(".tets[{tet}]"), "use the numbers of nodes in the list, counted from 0")
        }
        TetMeshError::Flat { tet, .. } | TetMeshError::RepeatedNode { tet, .. } => {
            (format!(".tets[{tet}]"), "leave it out, or use four nodes that are not in one plane")
        }
        TetMeshError::Inverted { tet, .. } => (format!(".tets[{tet}]"), "swap two of its nodes"),
        TetMeshError::UnusedNode { node } => (format!(".nodes[{node}]"), "leave it out"),
        _ => (String::new(), ""),
    };
    issues.add(Kind::BadMesh, format!("{path}{field}"), error.to_string(), hint);
}

/// Names of files are given and have the right extension.
pub(super) fn files_have_their_extension(scene: &SceneDoc, issues: &mut Issues) {
    let mut check = |field: String, name: &str, extensions: &[&str]| {
        let found = Path::new(name).extension().and_then(|extension| extension.to_str()).unwrap_or("");
        if name.is_empty() {
            let hint = "name a file in the folder of the scene";
            issues.add(Kind::MissingField, field, "the name of the file is missing", hint);
        } else if !extensions.iter().any(|extension| extension.eq_ignore_ascii_case(found)) {
            let hint = format!("use a file that ends in .{}", extensions.join(" or ."));
            issues.add(Kind::WrongFile, field, format!("`{name}` does not have the right extension"), hint);
        }
    };
    for (i, flesh) in scene.flesh.iter().enumerate() {
        let field = |name: &str| format!("flesh[{i}].mesh.{name}");
        match &flesh.mesh {
            FleshMeshDoc::TetGen { node, ele, .. } => {
                check(field("node"), node, &["node"]);
                check(field("ele"), ele, &["ele"]);
            }
            FleshMeshDoc::Embedded { file } => check(field("file"), file, &["ron"]),
            FleshMeshDoc::Surface { file, .. } => check(field("file"), file, SURFACE_ENDINGS),
            FleshMeshDoc::TetFile { file, .. } => check(field("file"), file, TET_FILE_ENDINGS),
            FleshMeshDoc::Beam { .. } | FleshMeshDoc::Tets { .. } | FleshMeshDoc::Character { .. } => {}
        }
    }
}

/// Implicit flesh needs the implicit stepper; stiffness damping needs implicit flesh.
pub(super) fn stepping_fits_the_stepper(scene: &SceneDoc, issues: &mut Issues) {
    for Tissue { path, stepping, stiffness_damping_s, .. } in tissues(scene) {
        match stepping {
            FleshSteppingDoc::Implicit if !matches!(scene.stepper, StepperDoc::Implicit(_)) => {
                let message = "implicit flesh needs the stepper Implicit";
                let hint = "use stepper: Implicit(), or stepping: Explicit(substeps: 0) for this flesh";
                issues.add(Kind::WrongStepper, format!("{path}.stepping"), message, hint);
            }
            FleshSteppingDoc::Implicit => {}
            FleshSteppingDoc::Explicit { substeps } => {
                if stiffness_damping_s > 0.0 {
                    let message = "stiffness damping acts only in implicit steps";
                    let hint = "use bone_damping, or stepping: Implicit";
                    issues.add(Kind::WrongStepper, format!("{path}.stiffness_damping_s"), message, hint);
                }
                issues.require_count(format_args!("{path}.stepping.substeps"), substeps, 0..=MAX_SUBSTEPS);
            }
        }
    }
}

/// The precision and the iterations of the flesh solver are in range.
pub(super) fn flesh_solver_is_in_range(scene: &SceneDoc, issues: &mut Issues) {
    let solver = &scene.flesh_solver;
    if solver.precision.is_finite() && !(1e-14..=0.5).contains(&solver.precision) {
        let message = format!("a precision of {:?} is out of range", solver.precision);
        issues.add(Kind::OutOfRange, "flesh_solver.precision", message, "use 1e-14 to 0.5");
    }
    issues.require_count("flesh_solver.iterations", solver.iterations, 1..=MAX_ITERATIONS);
}
