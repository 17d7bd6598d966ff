//! Motions as binary glTF 2.0 (`.glb`), for Blender and other programs.
//!
//! A root node turns the world so that up is y; below it is a node per body in the tree of joints (trees deeper than [`DEEPEST`] become flat, as
//! programs walk them recursively), with the body's solids as a mesh. Translations and rotations are animated relative to the body above; key frames
//! that a line or the shortest turn reproduces are left out. Surfaces that deform have a target of shape per key frame, with weights that go from one
//! to the next. Metres, seconds divided by the speed. Cost: linear in frames and points, `n log n` in key frames as a rule.

mod accessors;
mod animate;
mod shapes;

use accessors::Accessors;
use animate::Animator;
use shapes::Shapes;

use crate::clip::Clip;
use crate::export_error::ExportError;
use crate::extent::Extent;
use crate::json::{JsonFields, list, numbers, vector};
use crate::table::json_text;
use crate::up::y_up;

/// Deepest tree of nodes.
const DEEPEST: usize = 120;

/// How a GLB file is written.
#[derive(Clone, Debug, PartialEq)]
pub struct GlbOptions {
    /// Seconds of the motion in a second of the animation.
    pub speed: f64,
    /// Most bytes of surfaces that deform.
    pub most_bytes: usize,
}

impl Default for GlbOptions {
    fn default() -> Self {
        Self { speed: 1.0, most_bytes: 1 << 29 }
    }
}

/// A motion as a GLB file.
///
/// # Errors
/// If there is no frame, or if surfaces that deform need more bytes than allowed.
pub fn glb(clip: &Clip, options: &GlbOptions) -> Result<Vec<u8>, ExportError> {
    let first = clip.frames.first().ok_or(ExportError::NoFrames)?;
    let extent = Extent::of(clip);
    let mut data = Accessors::default();
    let mut shapes = Shapes::default();
    let parents = parents(clip);
    let times = clip.frames.iter().map(|frame| (frame.time - first.time) / options.speed).collect();
    let mut animator = Animator::new(times, extent.reach);
    let mut nodes = vec![String::new()];
    let mut below = vec![Vec::new(); clip.bodies.len()];
    let mut top = Vec::new();
    for (body, parent) in parents.iter().enumerate() {
        parent.map_or(&mut top, |parent| &mut below[parent]).push(body + 1);
    }
    for (body, children) in below.iter().enumerate() {
        let poses = animator.poses(clip, body, parents[body]);
        let mut node = JsonFields::default();
        node.push("name", json_text(&clip.bodies[body].name));
        node.push("translation", vector(poses[0].translation));
        node.push("rotation", numbers(poses[0].rotation.to_array()));
        if let Some(mesh) = shapes.of_body(clip, Some(body), &mut data) {
            node.push("mesh", mesh.to_string());
        }
        if !children.is_empty() {
            node.push("children", list(children.iter().map(ToString::to_string)));
        }
        nodes.push(node.finish());
        animator.animate_body(body + 1, &poses, &mut data);
    }
    let mut add = |name: &str, mesh: usize, nodes: &mut Vec<String>| {
        top.push(nodes.len());
        let mut node = JsonFields::default();
        node.push("name", json_text(name));
        node.push("mesh", mesh.to_string());
        nodes.push(node.finish());
    };
    if let Some(mesh) = shapes.of_body(clip, None, &mut data) {
        add("scenery", mesh, &mut nodes);
    }
    for (place, up) in clip.planes.iter().copied().chain(extent.floor(clip)) {
        let mesh = shapes.plane((place, up), &extent, &mut data);
        add("ground", mesh, &mut nodes);
    }
    for (k, skin) in clip.skins.iter().enumerate() {
        let keys = animator.skin_keys(clip, k, extent.reach);
        let needed = 24 * skin.rest.len() * keys.len();
        if data.bytes.len() + needed > options.most_bytes {
            return Err(too_large(&skin.name, skin.rest.len(), keys.len()));
        }
        let mesh = shapes.skin(clip, k, &keys, &mut data);
        animator.animate_shape(nodes.len(), &keys, &mut data);
        add(if skin.name.is_empty() { "sheet" } else { &skin.name }, mesh, &mut nodes);
    }
    let mut root = JsonFields::default();
    root.push("name", json_text(&clip.name));
    root.push("rotation", numbers(y_up(clip.gravity).to_array()));
    if !top.is_empty() {
        root.push("children", list(top.iter().map(ToString::to_string)));
    }
    nodes[0] = root.finish();
    Ok(file(&document(clip, nodes, &shapes, &animator, &data), &data.bytes))
}

fn too_large(name: &str, points: usize, keys: usize) -> ExportError {
    let megabytes = (24 * points * keys) >> 20;
    let problem = format!(
        "the surface `{name}` has {points} points and needs {keys} key frames, {megabytes} MB: write less with a smaller \
         --fps or a shorter time (--seconds), or take another format (--html, --vtu)"
    );
    ExportError::Unfit { problem }
}

/// The body above each, none if the tree is too deep.
fn parents(clip: &Clip) -> Vec<Option<usize>> {
    let parents: Vec<Option<usize>> = clip.bodies.iter().map(|body| body.parent).collect();
    let depth =
        |body: usize| std::iter::successors(Some(body), |&body| parents[body]).take(DEEPEST + 1).count();
    let is_deep = (0..parents.len()).any(|body| depth(body) > DEEPEST);
    if is_deep { vec![None; parents.len()] } else { parents }
}

fn document(
    clip: &Clip,
    nodes: Vec<String>,
    shapes: &Shapes,
    animator: &Animator,
    data: &Accessors,
) -> String {
    let mut out = JsonFields::default();
    out.push(
        "asset",
        format!("{{\"version\":\"2.0\",\"generator\":\"Sinew {}\"}}", env!("CARGO_PKG_VERSION")),
    );
    out.push("scene", "0");
    out.push("scenes", format!("[{{\"name\":{},\"nodes\":[0]}}]", json_text(&clip.name)));
    out.push("nodes", list(nodes));
    shapes.describe(&mut out);
    animator.describe(&mut out);
    data.describe(&mut out);
    out.finish()
}

/// Header and chunks.
fn file(document: &str, data: &[u8]) -> Vec<u8> {
    let mut json = document.as_bytes().to_vec();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut bytes = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
    bytes.extend((json.len() as u32).to_le_bytes());
    bytes.extend(b"JSON");
    bytes.extend(json);
    if !data.is_empty() {
        bytes.extend((data.len() as u32).to_le_bytes());
        bytes.extend(b"BIN\0");
        bytes.extend(data);
    }
    let length = bytes.len() as u32;
    bytes[8..12].copy_from_slice(&length.to_le_bytes());
    bytes
}
