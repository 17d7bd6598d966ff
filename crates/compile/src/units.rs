//! Files that are probably not in metres: their meshes are far larger than all that the scene itself gives in numbers.
//!
//! A mesh in millimetres is 1,000 times too large. On what moves it is found if it should be a tenth of the scene or more; scenery is
//! often larger than what moves on it. Cost: linear in points.

use glam::DVec3;
use sinew_scene::{
    BodyKindDoc, ColliderDoc, ColliderShapeDoc, DecomposedDoc, FleshMeshDoc, HullDoc, SceneDoc, SceneIssue,
    SceneIssueKind, ShapeDoc, TriMeshDoc,
};

use crate::{collider_meshes::ColliderMeshes, flesh::PreparedFlesh};

/// A file is doubted if its mesh is so many times as large as the rest of the scene: on what moves, and on what does not.
const MOVING: f64 = 100.0;
const RESTING: f64 = 1000.0;
/// Smallest scene to compare with (m), and the size of a scene that gives no numbers.
const LEAST_SCENE: f64 = 0.05;
const UNKNOWN_SCENE: f64 = 0.5;
/// The fix for files of the scene.
const SCALE: &str = "add scale: 0.001";

/// A box around points, without any at first.
struct PointBox(DVec3, DVec3);

impl PointBox {
    fn of(points: impl IntoIterator<Item = DVec3>) -> Self {
        let start = Self(DVec3::INFINITY, DVec3::NEG_INFINITY);
        points.into_iter().fold(start, |Self(low, high), x| Self(low.min(x), high.max(x)))
    }

    /// Its longest side (m); negative without points.
    fn size(&self) -> f64 {
        (self.1 - self.0).max_element()
    }
}

/// A mesh from a file.
struct FileMesh<'s> {
    field: String,
    file: &'s str,
    /// How to make it smaller.
    hint: &'static str,
    /// Longest side (m), and how many times as large as the rest of the scene it may be.
    size: f64,
    most: f64,
}

/// What of a scene, its generators written out, is probably in other units: the place, and the fix.
pub(crate) fn other_units(
    scene: &SceneDoc,
    flesh: &PreparedFlesh,
    meshes: &ColliderMeshes<'_>,
) -> Vec<SceneIssue> {
    let written = PointBox::of(written_points(scene, flesh)).size();
    let beside = if written > 0.0 { written.max(LEAST_SCENE) } else { UNKNOWN_SCENE };
    let found = of_flesh(scene, flesh).chain(of_colliders(scene, meshes));
    let large = found.filter(|mesh| mesh.size > mesh.most * beside);
    let issue = |FileMesh { field, file, hint, size, .. }| SceneIssue {
        field,
        kind: SceneIssueKind::OutOfRange,
        message: format!("`{file}` is {size:.0} m long, far larger than the rest: is it in millimetres?"),
        hint: hint.to_owned(),
    };
    large.map(issue).collect()
}

fn of_flesh<'s>(scene: &'s SceneDoc, flesh: &'s PreparedFlesh) -> impl Iterator<Item = FileMesh<'s>> {
    scene.flesh.iter().zip(flesh.surfaces()).enumerate().filter_map(|(i, (doc, skin))| {
        let (file, hint) = file_of(&doc.mesh)?;
        let size = PointBox::of(skin.iter().copied()).size();
        Some(FileMesh { field: format!("flesh[{i}].mesh"), file, hint, size, most: MOVING })
    })
}

fn of_colliders<'s>(
    scene: &'s SceneDoc,
    meshes: &'s ColliderMeshes<'_>,
) -> impl Iterator<Item = FileMesh<'s>> {
    scene.colliders.iter().enumerate().filter_map(|(i, doc)| {
        let (ColliderShapeDoc::Convex(HullDoc { file, .. })
        | ColliderShapeDoc::TriMesh(TriMeshDoc { file, .. })
        | ColliderShapeDoc::Decomposed(DecomposedDoc { file, .. })) = &doc.shape
        else {
            return None;
        };
        let points = &meshes.get(i).filter(|_| !file.is_empty())?.surface.positions;
        let size = PointBox::of(points.iter().copied()).size();
        let most = if moves(scene, doc) { MOVING } else { RESTING };
        Some(FileMesh { field: format!("colliders[{i}].shape.file"), file, hint: SCALE, size, most })
    })
}

/// The file of a mesh, and how to make it smaller.
fn file_of(mesh: &FleshMeshDoc) -> Option<(&str, &'static str)> {
    match mesh {
        FleshMeshDoc::Surface { file, .. }
        | FleshMeshDoc::TetFile { file, .. }
        | FleshMeshDoc::TetGen { node: file, .. } => Some((file, SCALE)),
        FleshMeshDoc::Embedded { file } => Some((file, "make it again with `sinew embed --scale 0.001`")),
        FleshMeshDoc::Beam { .. } | FleshMeshDoc::Tets { .. } | FleshMeshDoc::Character { .. } => None,
    }
}

/// Whether the body of a collider moves.
fn moves(scene: &SceneDoc, collider: &ColliderDoc) -> bool {
    scene.bodies.iter().any(|body| body.name == collider.body && body.kind != BodyKindDoc::Fixed)
}

/// Points of all that the scene gives in numbers (m, world axes): places and shapes of bodies, flesh without files.
fn written_points<'s>(scene: &'s SceneDoc, flesh: &'s PreparedFlesh) -> impl Iterator<Item = DVec3> + 's {
    let bodies = scene.bodies.iter().flat_map(|body| {
        let world_from_body = body.pose.to_pose();
        let around = move |shape: &ShapeDoc| {
            let middle = world_from_body.transform_point(shape.at.position);
            let reach = DVec3::splat(shape.solid.half_extents().max_element());
            [middle - reach, middle + reach]
        };
        body.shapes.iter().flat_map(around).chain([world_from_body.translation])
    });
    let flesh = scene.flesh.iter().zip(flesh.surfaces()).filter(|(doc, _)| file_of(&doc.mesh).is_none());
    let flesh = flesh.flat_map(|(doc, skin)| {
        let world_from_mesh = doc.pose.to_pose();
        skin.iter().map(move |&vertex| world_from_mesh.transform_point(vertex))
    });
    bodies.chain(flesh)
}
