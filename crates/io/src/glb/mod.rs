//! Motions as binary glTF 2.0 (`.glb`), for Blender and other programs.
//!
//! A root node turns the world so that up is y; below it is a node per body in the tree of joints (trees deeper than [`DEEPEST`] become flat, as
//! programs walk them recursively), with the body's solids as a mesh. Translations and rotations are animated relative to the body above; key frames
//! that a line or the shortest turn reproduces are left out. Surfaces that deform have a target of shape per key frame, with weights that go from one
//! to the next; flesh on bones is a skin besides, and its targets hold what the joints leave ([`binding`]). Metres, seconds divided by the speed. Cost: linear in frames and points, `n log n` in key frames as a rule.

mod accessors;

mod binding;

mod animate;
mod shapes;

use accessors::Accessors;
use animate::Animator;
use binding::{SkinBinding, Skins};
use shapes::Shapes;

use crate::clip::Clip;
use crate::export_error::ExportError;
use crate::extent::MotionExtent;
use crate::json::{JsonFields, json_text, list, numbers, vector};
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
    let times = clip.frames.iter().map(|frame| (frame.time - first.time) / options.speed).collect();
    let extent = MotionExtent::of(clip);
    let animator = Animator::new(times, extent.reach);
    let (data, shapes) = (Accessors::default(), Shapes::default());
    // The root comes last, when it is known what is below it.
    let (nodes, top) = (vec![String::new()], Vec::new());
    let skins = Skins::of(clip);
    let mut builder =
        GlbBuilder { clip, extent, data, shapes, skins, animator, nodes, top, bound: Vec::new() };
    builder.push_bodies();
    builder.push_world();
    for skin in 0..clip.skins.len() {
        builder.push_skin(skin, options.most_bytes)?;
    }
    Ok(builder.finish())
}

/// A file that is made.
struct GlbBuilder<'a> {
    clip: &'a Clip,
    extent: MotionExtent,
    data: Accessors,
    shapes: Shapes,
    skins: Skins,
    animator: Animator,
    nodes: Vec<String>,
    /// Nodes below the root.
    top: Vec<usize>,
    /// Nodes beside the root: joints alone place their meshes.
    bound: Vec<usize>,
}

impl GlbBuilder<'_> {
    /// A node per body: that of body `i` is node `i + 1`.
    fn push_bodies(&mut self) {
        let parents = parents(self.clip);
        let mut below = vec![Vec::new(); parents.len()];
        for (body, parent) in parents.iter().enumerate() {
            parent.map_or(&mut self.top, |parent| &mut below[parent]).push(body + 1);
        }
        for (body, children) in below.iter().enumerate() {
            let poses = self.animator.poses(self.clip, body, parents[body]);
            let mut node = JsonFields::default();
            node.push("name", json_text(&self.clip.bodies[body].name));
            node.push("translation", vector(poses[0].translation));
            node.push("rotation", numbers(poses[0].rotation.to_array()));
            if let Some(mesh) = self.shapes.of_body(self.clip, Some(body), &mut self.data) {
                node.push("mesh", mesh.to_string());
            }
            if !children.is_empty() {
                node.push("children", list(children.iter().map(ToString::to_string)));
            }
            self.nodes.push(node.finish());
            self.animator.animate_body(body + 1, &poses, &mut self.data);
        }
    }

    /// Solids and planes of the world.
    fn push_world(&mut self) {
        if let Some(mesh) = self.shapes.of_body(self.clip, None, &mut self.data) {
            self.push_mesh("scenery", mesh);
        }
        let planes: Vec<_> = self.clip.planes.iter().copied().chain(self.extent.floor(self.clip)).collect();
        for plane in planes {
            let mesh = self.shapes.plane(plane, &self.extent, &mut self.data);
            self.push_mesh("ground", mesh);
        }
    }

    /// A surface that deforms.
    fn push_skin(&mut self, k: usize, most_bytes: usize) -> Result<(), ExportError> {
        let skin = &self.clip.skins[k];
        let binding = SkinBinding::of(self.clip, k, &self.skins);
        let frames = binding::unposed(self.clip, k, binding.as_ref());
        let keys = self.animator.skin_keys(&frames, self.extent.reach);
        if self.data.bytes.len() + 24 * skin.rest.len() * keys.len() > most_bytes {
            return Err(too_large(&skin.name, skin.rest.len(), keys.len()));
        }
        let mesh = self.shapes.skin(skin, (&frames, binding.as_ref()), &keys, &mut self.data);
        self.animator.animate_shape(self.nodes.len(), &keys, &mut self.data);
        let name = if skin.name.is_empty() { "sheet" } else { &skin.name };
        match binding {
            None => self.push_mesh(name, mesh),
            Some(binding) => {
                self.bound.push(self.nodes.len());
                let skin = self.skins.describe_group(self.clip, binding.group, &mut self.data);
                self.nodes.push(format!("{{\"name\":{},\"mesh\":{mesh},\"skin\":{skin}}}", json_text(name)));
            }
        }
        Ok(())
    }

    /// A node of its own for a mesh, below the root.
    fn push_mesh(&mut self, name: &str, mesh: usize) {
        self.top.push(self.nodes.len());
        self.nodes.push(format!("{{\"name\":{},\"mesh\":{mesh}}}", json_text(name)));
    }

    /// The root, and the file.
    fn finish(mut self) -> Vec<u8> {
        let mut root = JsonFields::default();
        root.push("name", json_text(&self.clip.name));
        root.push("rotation", numbers(y_up(self.clip.gravity).to_array()));
        if !self.top.is_empty() {
            root.push("children", list(self.top.iter().map(ToString::to_string)));
        }
        self.nodes[0] = root.finish();
        file(&self.document(), &self.data.bytes)
    }

    fn document(&self) -> String {
        let mut out = JsonFields::default();
        let generator = concat!("Sinew ", env!("CARGO_PKG_VERSION"));
        out.push("asset", format!("{{\"version\":\"2.0\",\"generator\":\"{generator}\"}}"));
        out.push("scene", "0");
        let roots = list([0].iter().chain(&self.bound).map(ToString::to_string));
        out.push("scenes", format!("[{{\"name\":{},\"nodes\":{roots}}}]", json_text(&self.clip.name)));
        out.push("nodes", list(self.nodes.iter().cloned()));
        self.shapes.describe(&mut out);
        self.skins.describe(&mut out);
        self.animator.describe(&mut out);
        self.data.describe(&mut out);
        out.finish()
    }
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
