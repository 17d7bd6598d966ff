//! Rules for flesh: numbers, meshes, files, what it hangs on, how it is stepped.
//!
//! Flesh that a character's generator makes is checked as the generator writes it. Inline tetrahedra are checked in full,
//! the others only as far as the document says: files and characters speak when the scene is built.

use std::path::Path;

use glam::DVec3;
use sinew_math::{TetMesh, TetMeshError};

use super::bodies::{check_color, check_rotation};
use super::contact::check_contact;
use super::{Issues, Looks, looks};
use crate::doc::{
    AttachedDoc, CharacterKindDoc, ContactDoc, DisturbanceDoc, FleshDoc, FleshMaterialDoc, FleshMeshDoc,
    FleshSteppingDoc, GeneratorDoc, SceneDoc, StepperDoc,
};
use crate::error::SceneIssueKind as Kind;
use crate::generate::skeleton;

/// Most cubes along a side.
const MAX_CELLS: u32 = 1_000;
/// Most tetrahedra of one flesh.
const MAX_TETS: u64 = 20_000_000;
/// Most explicit substeps per step.
const MAX_SUBSTEPS: u32 = 100_000;
/// Most iterations of the solver.
const MAX_ITERATIONS: u32 = 1_000_000;

/// What flesh and characters have in common.
struct Tissue<'s> {
    path: String,
    material: &'s FleshMaterialDoc,
    density: f64,
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
    let generated = scene.generators.iter().enumerate().filter_map(|(i, generator)| {
        let GeneratorDoc::Character(character) = generator else { return None };
        Some(Tissue {
            path: format!("generators[{i}]"),
            material: &character.material,
            density: character.density.unwrap_or(1.0),
            stiffness_damping_s: character.stiffness_damping_s,
            bone_damping: character.bone_damping,
            contact: character.contact.as_ref(),
            stepping: character.stepping,
        })
    });
    listed.chain(generated)
}

/// Materials, densities, damping and contact are physical.
pub(super) fn tissues_are_in_range(scene: &SceneDoc, issues: &mut Issues) {
    for tissue in tissues(scene) {
        let path = &tissue.path;
        check_material(issues, tissue.material, &format!("{path}.material"));
        issues.require_positive(tissue.density, || format!("{path}.density"));
        issues.require_not_negative(tissue.stiffness_damping_s, || format!("{path}.stiffness_damping_s"));
        issues.require_not_negative(tissue.bone_damping, || format!("{path}.bone_damping"));
        if let Some(contact) = tissue.contact {
            check_contact(issues, contact, &format!("{path}.contact"));
        }
    }
}

fn check_material(issues: &mut Issues, material: &FleshMaterialDoc, path: &str) {
    if let FleshMaterialDoc::StVenantKirchhoff { band: [low, high], .. } = *material
        && (low <= 0.0 || low >= 1.0 || high <= 1.0)
    {
        let message = format!("{low} to {high} is no band around 1");
        let hint = "squared stretches from above 0 and below 1 to above 1, for instance (0.667, 1.667)";
        issues.add(Kind::OutOfRange, format!("{path}.band"), message, hint);
    }
    let (young, poisson) = material.elasticity();
    issues.require_positive(young, || format!("{path}.young"));
    if poisson <= -1.0 || poisson >= 0.5 {
        let message = format!("no material has Poisson's ratio {poisson}");
        let hint = "use a number above −1 and below 0.5; nearly incompressible flesh has 0.4 to 0.49";
        issues.add(Kind::OutOfRange, format!("{path}.poisson"), message, hint);
    }
}

/// Mass floors and colours are shares, disturbances have a size, boxes of nodes two corners.
pub(super) fn flesh_numbers_are_in_range(scene: &SceneDoc, issues: &mut Issues) {
    for (i, flesh) in scene.flesh.iter().enumerate() {
        if flesh.mass_floor < 0.0 || flesh.mass_floor > 1.0 {
            let message = format!("{} is not a part of the mean mass", flesh.mass_floor);
            issues.add(Kind::OutOfRange, format!("flesh[{i}].mass_floor"), message, "use 0 to 1");
        }
        check_color(issues, flesh.color, || format!("flesh[{i}].color"));
        check_rotation(issues, &flesh.pose.rotation, || format!("flesh[{i}].pose.rotation"));
        if let DisturbanceDoc::Random { amount, .. } = flesh.disturbed {
            issues.require_not_negative(amount, || format!("flesh[{i}].disturbed.amount"));
        }
        for (k, attach) in flesh.attach.iter().enumerate() {
            match &attach.nodes {
                AttachedDoc::Within(distance) => {
                    issues.require_not_negative(*distance, || format!("flesh[{i}].attach[{k}].nodes"));
                }
                AttachedDoc::Inside { low, high } if low.cmpgt(*high).any() => {
                    let message = format!("there is no box from {low} to {high}");
                    let field = format!("flesh[{i}].attach[{k}].nodes");
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

/// Characters stand somewhere, and their springs can pull.
pub(super) fn characters_are_in_range(scene: &SceneDoc, issues: &mut Issues) {
    for (i, generator) in scene.generators.iter().enumerate() {
        let GeneratorDoc::Character(character) = generator else { continue };
        let (path, spring) = (format!("generators[{i}].joint"), &character.joint);
        check_rotation(issues, &character.pose.rotation, || format!("generators[{i}].pose.rotation"));
        issues.require_not_negative(spring.stiffness, || format!("{path}.stiffness"));
        issues.require_not_negative(spring.damping, || format!("{path}.damping"));
        if spring.rest_rotation != DVec3::ZERO {
            let message = "the joints of characters have angles";
            issues.add(Kind::WrongJointKind, format!("{path}.rest_rotation"), message, "use rest");
        }
        if !character.follow.is_empty() && spring.stiffness == 0.0 && spring.damping == 0.0 {
            let message = "joints cannot follow tracks without stiffness or damping";
            issues.add(Kind::NotPositive, path, message, "add joint: (stiffness: …, damping: …)");
        }
    }
}

/// Meshes have a size, a number of cells that fits into memory, and sound tetrahedra.
pub(super) fn meshes_are_sound(scene: &SceneDoc, issues: &mut Issues) {
    for (i, flesh) in scene.flesh.iter().enumerate() {
        let path = format!("flesh[{i}].mesh");
        match &flesh.mesh {
            FleshMeshDoc::Beam { size, cells } => {
                issues.require_positive(size.min_element(), || format!("{path}.size"));
                check_cells(issues, *cells, format!("{path}.cells"));
            }
            FleshMeshDoc::Tets { nodes, tets } => check_tets(issues, nodes, tets, &path),
            FleshMeshDoc::Surface { cells, .. } => {
                check_cells(issues, [*cells, 1, 1], format!("{path}.cells"))
            }
            FleshMeshDoc::Character { kind } => check_kind(issues, *kind, &format!("{path}.kind")),
            FleshMeshDoc::TetGen { .. } | FleshMeshDoc::Embedded { .. } => {}
        }
    }
    for (i, generator) in scene.generators.iter().enumerate() {
        if let GeneratorDoc::Character(character) = generator {
            check_kind(issues, character.kind, &format!("generators[{i}].kind"));
        }
    }
}

fn check_kind(issues: &mut Issues, kind: CharacterKindDoc, path: &str) {
    if let CharacterKindDoc::WormFine { cells } = kind {
        check_cells(issues, cells, format!("{path}.cells"));
    }
}

/// Cubes of six tetrahedra.
fn check_cells(issues: &mut Issues, cells: [u32; 3], field: String) {
    let n_tets = 6 * cells.iter().map(|&n| u64::from(n)).fold(1, u64::saturating_mul);
    if let Some(n) = cells.iter().find(|n| !(1..=MAX_CELLS).contains(*n)) {
        let message = format!("{n} cells cannot be made");
        issues.add(Kind::OutOfRange, field, message, format!("use 1 to {MAX_CELLS} along each side"));
    } else if n_tets > MAX_TETS {
        let message = format!("this makes {n_tets} tetrahedra");
        issues.add(Kind::OutOfRange, field, message, format!("at most {MAX_TETS}"));
    }
}

/// The first thing that is wrong with tetrahedra written out. Coordinates that are not finite are left to another rule.
fn check_tets(issues: &mut Issues, nodes: &[DVec3], tets: &[[u32; 4]], path: &str) {
    let Err(error) = TetMesh::new(nodes.to_vec(), tets.to_vec()) else { return };
    let (field, hint) = match error {
        TetMeshError::NonFiniteNode { .. } => return,
        TetMeshError::Empty => (String::new(), "add mesh: Tets(nodes: […], tets: […]) or another mesh"),
        TetMeshError::MissingNode { tet, .. } => (format!(".tets[{tet}]"), "nodes are counted from 0"),
        TetMeshError::Flat { tet, .. } | TetMeshError::RepeatedNode { tet, .. } => {
            (format!(".tets[{tet}]"), "leave it out, or name four nodes that are not in one plane")
        }
        TetMeshError::Inverted { tet, .. } => {
            (format!(".tets[{tet}]"), "the first three turn counterclockwise, seen from the fourth")
        }
        TetMeshError::UnusedNode { node } => (format!(".nodes[{node}]"), "leave it out"),
        _ => (String::new(), ""),
    };
    issues.add(Kind::BadMesh, format!("{path}{field}"), error.to_string(), hint);
}

/// Files are named, and have the extension of their kind.
pub(super) fn files_have_their_extension(scene: &SceneDoc, issues: &mut Issues) {
    let mut check = |field: String, name: &str, extensions: &[&str]| {
        let found = Path::new(name).extension().and_then(|extension| extension.to_str()).unwrap_or("");
        if name.is_empty() {
            issues.add(
                Kind::MissingField,
                field,
                "the name of a file is missing",
                "name a file beside the scene",
            );
        } else if !extensions.iter().any(|extension| extension.eq_ignore_ascii_case(found)) {
            let hint = format!("use a file that ends in .{}", extensions.join(" or ."));
            issues.add(Kind::WrongFile, field, format!("`{name}` is not a file of this kind"), hint);
        }
    };
    for (i, flesh) in scene.flesh.iter().enumerate() {
        let field = |name: &str| format!("flesh[{i}].mesh.{name}");
        match &flesh.mesh {
            FleshMeshDoc::TetGen { node, ele } => {
                check(field("node"), node, &["node"]);
                check(field("ele"), ele, &["ele"]);
            }
            FleshMeshDoc::Embedded { file } => check(field("file"), file, &["ron"]),
            FleshMeshDoc::Surface { file, .. } => check(field("file"), file, &["obj", "stl"]),
            FleshMeshDoc::Beam { .. } | FleshMeshDoc::Tets { .. } | FleshMeshDoc::Character { .. } => {}
        }
    }
}

/// Nodes that are listed exist, bodies to be near have shapes, and only characters know their bones.
pub(super) fn attachments_fit(scene: &SceneDoc, issues: &mut Issues) {
    for (i, flesh) in scene.flesh.iter().enumerate() {
        for (k, attach) in flesh.attach.iter().enumerate() {
            let path = format!("flesh[{i}].attach[{k}]");
            match (&attach.nodes, attach.body.as_deref()) {
                (AttachedDoc::OfCharacter(prefix), None) => {
                    check_character(scene, issues, flesh, prefix, &path);
                }
                (AttachedDoc::OfCharacter(_), Some(_)) => {
                    let message = "the character says which bone holds a node";
                    issues.add(Kind::WrongAttachment, format!("{path}.body"), message, "leave it out");
                }
                (AttachedDoc::Within(_), Some(body)) if looks(scene, body) == Some(Looks::Nothing) => {
                    let message = format!("`{body}` has no shapes to be near");
                    let hint = "give it shapes, or use List(…) or Inside(low: …, high: …)";
                    issues.add(Kind::NoShapes, format!("{path}.body"), message, hint);
                }
                (_, None)
                    if scene.bodies.iter().all(|b| b.shapes.is_empty()) && scene.generators.is_empty() =>
                {
                    let message = "no body has shapes to be near";
                    issues.add(
                        Kind::NoShapes,
                        path.clone(),
                        message,
                        "add body: \"world\", or a body with shapes",
                    );
                }
                _ => {}
            }
            if let (AttachedDoc::List(nodes), Some(n)) = (&attach.nodes, n_nodes(&flesh.mesh)) {
                for (j, &node) in nodes.iter().enumerate() {
                    require_node(issues, node, n, || format!("{path}.nodes[{j}]"));
                }
            }
        }
    }
}

/// The flesh is that of a character, and every bone of it is there.
fn check_character(scene: &SceneDoc, issues: &mut Issues, flesh: &FleshDoc, prefix: &str, path: &str) {
    let FleshMeshDoc::Character { kind } = flesh.mesh else {
        let message = "this flesh is not that of a character";
        let hint = "use Within(…), List(…) or Inside(low: …, high: …)";
        return issues.add(Kind::WrongAttachment, format!("{path}.nodes"), message, hint);
    };
    let mut names = skeleton(kind).bones.iter().map(|bone| format!("{prefix}_{}", bone.name));
    if let Some(missing) = names.find(|name| looks(scene, name).is_none()) {
        let message = format!("there is no body called `{missing}`");
        issues.add(
            Kind::UnknownName,
            format!("{path}.nodes"),
            message,
            "give the prefix that the bones' names have",
        );
    }
}

/// Number of nodes, where the document says it.
pub(super) fn n_nodes(mesh: &FleshMeshDoc) -> Option<u64> {
    match mesh {
        FleshMeshDoc::Beam { cells, .. } => {
            Some(cells.iter().map(|&n| u64::from(n) + 1).fold(1, u64::saturating_mul))
        }
        FleshMeshDoc::Tets { nodes, .. } => Some(nodes.len() as u64),
        _ => None,
    }
}

/// A node that exists.
pub(super) fn require_node(issues: &mut Issues, node: u32, n: u64, field: impl FnOnce() -> String) {
    if u64::from(node) >= n {
        let hint = format!("nodes are counted from 0 to {}", n.saturating_sub(1));
        issues.add(Kind::OutOfRange, field(), format!("there is no node {node}"), hint);
    }
}

/// Implicit flesh wants the implicit stepper; stiffness damping wants implicit flesh.
pub(super) fn stepping_fits_the_stepper(scene: &SceneDoc, issues: &mut Issues) {
    for Tissue { path, stepping, stiffness_damping_s, .. } in tissues(scene) {
        match stepping {
            FleshSteppingDoc::Implicit if !matches!(scene.stepper, StepperDoc::Implicit(_)) => {
                let message = "implicit flesh needs the stepper Implicit";
                let hint = "use stepper: Implicit(), or stepping: Explicit(substeps: 0) for this flesh";
                issues.add(Kind::WrongStepper, format!("{path}.stepping"), message, hint);
            }
            FleshSteppingDoc::Explicit { .. } if stiffness_damping_s > 0.0 => {
                let message = "stiffness damping acts in implicit steps only";
                let hint = "use bone_damping, or stepping: Implicit";
                issues.add(Kind::WrongStepper, format!("{path}.stiffness_damping_s"), message, hint);
            }
            _ => {}
        }
        if let FleshSteppingDoc::Explicit { substeps } = stepping
            && substeps > MAX_SUBSTEPS
        {
            let message = format!("{substeps} substeps cannot be made");
            let hint = format!("use 1 to {MAX_SUBSTEPS}, or 0 for as many as the stiffness needs");
            issues.add(Kind::OutOfRange, format!("{path}.stepping.substeps"), message, hint);
        }
    }
}

/// The solver of flesh and bodies has a precision that can be reached, and iterations to get there.
pub(super) fn flesh_solver_is_in_range(scene: &SceneDoc, issues: &mut Issues) {
    let solver = &scene.flesh_solver;
    if solver.precision.is_finite() && !(1e-14..=0.5).contains(&solver.precision) {
        let message = format!("{:?} is no relative residual to stop at", solver.precision);
        issues.add(Kind::OutOfRange, "flesh_solver.precision".to_owned(), message, "use 1e-14 to 0.5");
    }
    if !(1..=MAX_ITERATIONS).contains(&solver.iterations) {
        let message = format!("{} iterations cannot be made", solver.iterations);
        let hint = format!("use 1 to {MAX_ITERATIONS}");
        issues.add(Kind::OutOfRange, "flesh_solver.iterations".to_owned(), message, hint);
    }
}
