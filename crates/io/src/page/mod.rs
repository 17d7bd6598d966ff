//! A motion as one page that browsers show without a network: `page.html` with its styles, its programs and the motion.
//!
//! The programs are as they are read here: `clip.js` unpacks frames, `view.js` is the camera, `draw.js` draws with WebGL 2, `panel.js` is what is around
//! the picture. Positions of bodies are exact to 2⁻¹⁹ of the size of the motion, those of skins to 2⁻¹⁶, rotations to 2⁻¹⁶.
//! Cost: linear in frames times bodies and points; memory: twice the page.

mod header;
mod lanes;

use std::collections::BTreeMap;

use glam::{DQuat, DVec3};
use header::{push_curves, push_joints, push_lanes, push_scene};
use lanes::{CHUNK, NumberLane, Streams, chunk_bytes};
use sinew_math::Pose;

use crate::clip::{Clip, ClipFrame, ClipMesh, ClipSkin};
use crate::export_error::ExportError;
use crate::extent::MotionExtent;
use crate::json::{JsonFields, json_text, list, numbers};

const PAGE: &str = include_str!("page.html");
const STYLES: &str = include_str!("page.css");
const PROGRAMS: [&str; 4] =
    [include_str!("clip.js"), include_str!("view.js"), include_str!("draw.js"), include_str!("panel.js")];

/// What a page shows first.
#[derive(Clone, Debug, PartialEq)]
pub struct PageOptions {
    /// Seconds of the motion in a second.
    pub speed: f64,
    /// A camera of the scene, or a view of [`sinew_picture::View::NAMES`].
    pub camera: String,
    /// A line below the name.
    pub facts: String,
}

impl Default for PageOptions {
    fn default() -> Self {
        Self { speed: 1.0, camera: "corner".to_owned(), facts: String::new() }
    }
}

/// A motion as a page of HTML that needs nothing else.
///
/// # Errors
/// If there is no frame.
pub fn page(clip: &Clip, options: &PageOptions) -> Result<String, ExportError> {
    if clip.frames.is_empty() {
        return Err(ExportError::NoFrames);
    }
    let (header, data) = contents(clip, options);
    let title = clip.name.replace('&', "&amp;").replace('<', "&lt;");
    let programs = PROGRAMS.concat();
    let parts =
        [("TITLE", &title[..]), ("CSS", STYLES), ("CLIP", &header), ("DATA", &data), ("JS", &programs)];
    let (mut text, mut rest) = (String::with_capacity(data.len() + header.len() + (1 << 17)), PAGE);
    for (name, part) in parts {
        let (before, after) = rest.split_once(&format!("{{{{{name}}}}}")).unwrap_or((rest, ""));
        text.extend([before, part]);
        rest = after;
    }
    Ok(text + rest)
}

/// What is known at once, and the streams.
fn contents(clip: &Clip, options: &PageOptions) -> (String, String) {
    let extent = MotionExtent::of(clip);
    let mut streams = Streams::default();
    let mut out = JsonFields::default();
    push_scene(&mut out, clip, &extent);
    out.push("speed", options.speed.to_string());
    out.push("camera", json_text(&options.camera));
    out.push("facts", json_text(&options.facts));
    push_joints(&mut out, clip);
    push_curves(&mut out, clip);
    push_meshes(&mut out, clip, &mut streams);
    push_frames(&mut out, clip, &extent, &mut streams);
    (out.finish(), streams.to_base64())
}

/// Where a stream begins, and its length.
fn stream([first, length]: [usize; 2]) -> String {
    format!("[{first},{length}]")
}

/// Solids and skins. Equal meshes are stored once.
fn push_meshes(out: &mut JsonFields, clip: &Clip, streams: &mut Streams) {
    let (mut known, mut bytes) = (BTreeMap::new(), Vec::new());
    let (mut sizes, mut solids) = (Vec::new(), Vec::new());
    for mesh in &clip.meshes {
        let data = mesh_bytes(mesh);
        let next = known.len();
        let index = *known.entry(data).or_insert_with_key(|data| {
            bytes.extend(data);
            sizes.push(format!("[{},{}]", mesh.positions.len(), mesh.triangles.len()));
            next
        });
        let body = mesh.body.map_or(-1.0, |body| body as f64);
        let fixed = [index as f64, body, f64::from(u8::from(mesh.is_bone))];
        solids.push(numbers(fixed.into_iter().chain(mesh.color.to_array())));
    }
    for skin in &clip.skins {
        bytes.extend(skin.triangles.iter().flatten().flat_map(|corner| corner.to_le_bytes()));
        bytes.extend(floats(&skin.rest));
    }
    let stream = stream(streams.push(&bytes));
    out.push("meshes", format!("{{\"stream\":{stream},\"sizes\":{}}}", list(sizes)));
    out.push("solids", list(solids));
    out.push("skins", list(clip.skins.iter().map(skin_text)));
}

/// What is known of a skin besides its points.
fn skin_text(skin: &ClipSkin) -> String {
    let mut fields = JsonFields::default();
    fields.push("name", json_text(&skin.name));
    fields.push("points", skin.rest.len().to_string());
    fields.push("triangles", skin.triangles.len().to_string());
    fields.push("color", numbers(skin.color.to_array()));
    fields.push("flesh", skin.is_flesh.to_string());
    fields.finish()
}

/// Positions, normals (16 bits, filled up to whole words) and corners.
fn mesh_bytes(mesh: &ClipMesh) -> Vec<u8> {
    let mut bytes = floats(&mesh.positions);
    let normals = mesh.normals.iter().flat_map(|normal| (32767.0 * *normal).round().to_array());
    bytes.extend(normals.flat_map(|part| (part as i16).to_le_bytes()));
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes.extend(mesh.triangles.iter().flatten().flat_map(|corner| corner.to_le_bytes()));
    bytes
}

fn floats(points: &[DVec3]) -> Vec<u8> {
    points.iter().flat_map(|point| point.to_array()).flat_map(|part| (part as f32).to_le_bytes()).collect()
}

/// Lanes of all frames: poses, contacts, lines, forces, then the skins.
fn lanes_of(clip: &Clip, extent: &MotionExtent) -> Vec<NumberLane> {
    let focus = extent.focus.to_array();
    let [fine, coarse] = [18, 15].map(|bits: u32| extent.reach / f64::from(1u32 << bits));
    let (turn, force) = (f64::from(1u32 << 15).recip(), 1.0 / 2048.0);
    let placed = |place: f64, more: &[f64]| NumberLane {
        scale: [&[place; 3], more].concat(),
        offset: [&focus[..], &vec![0.0; more.len()]].concat(),
    };
    let mut lines = placed(fine, &[fine, fine, fine, 1.0]);
    lines.offset[3..6].copy_from_slice(&focus);
    let forces = NumberLane { scale: vec![force; 3], offset: vec![0.0; 3] };
    let mut lanes = vec![placed(fine, &[turn; 4]), placed(coarse, &[force; 3]), lines, forces];
    lanes.extend(clip.skins.iter().map(|_| placed(coarse, &[])));
    lanes
}

/// Lanes and their chunks.
fn push_frames(out: &mut JsonFields, clip: &Clip, extent: &MotionExtent, streams: &mut Streams) {
    let lanes = lanes_of(clip, extent);
    push_lanes(out, &lanes);
    let mut last = vec![DQuat::IDENTITY; clip.bodies.len()];
    let (mut chunks, mut has) = (Vec::new(), [false; 2]);
    for frames in clip.frames.chunks(CHUNK) {
        let numbers: Vec<Vec<Vec<f64>>> =
            frames.iter().map(|frame| frame_numbers(frame, clip, &mut last)).collect();
        has[0] |= numbers.iter().any(|frame| !frame[1].is_empty());
        has[1] |= numbers.iter().any(|frame| frame[3].iter().any(|part| *part != 0.0));
        let pack = |(k, lane): (usize, &NumberLane)| {
            let whole: Vec<Vec<i32>> = numbers.iter().map(|frame| lane.whole(&frame[k])).collect();
            stream(streams.push(&chunk_bytes(&whole, lane.scale.len())))
        };
        chunks.push(list(lanes.iter().enumerate().map(pack)));
    }
    out.push("chunk", CHUNK.to_string());
    out.push("chunks", list(chunks));
    out.push("has", format!("{{\"contacts\":{},\"forces\":{}}}", has[0], has[1]));
}

/// Numbers of a frame by lane. Rotations have the sign that is nearest to `last`; forces are in units of the weight.
fn frame_numbers(frame: &ClipFrame, clip: &Clip, last: &mut [DQuat]) -> Vec<Vec<f64>> {
    let mut poses = Vec::with_capacity(7 * clip.bodies.len());
    for (last, pose) in last.iter_mut().zip(&frame.poses) {
        let Pose { rotation, translation } = *pose;
        *last = if rotation.dot(*last) < 0.0 { -rotation } else { rotation };
        poses.extend(translation.to_array());
        poses.extend(last.to_array());
    }
    let unit = if clip.weight > 0.0 { clip.weight.recip() } else { 0.0 };
    let contacts = frame.contacts.iter().filter(|_| unit > 0.0);
    let contacts =
        contacts.flat_map(|(at, force)| [*at, *force * unit]).flat_map(|it| it.to_array()).collect();
    let line = |(from, to, is_grab): &(DVec3, DVec3, bool)| {
        let ends = [*from, *to].into_iter().flat_map(|end| end.to_array());
        ends.chain([f64::from(u8::from(*is_grab))]).collect::<Vec<_>>()
    };
    let forces = frame.joint_forces.iter().flat_map(|force| (*force * unit).to_array()).collect();
    let mut lanes = vec![poses, contacts, frame.lines.iter().flat_map(line).collect(), forces];
    lanes.extend(
        (0..clip.skins.len())
            .map(|k| frame.skins.get(k).into_iter().flatten().flat_map(|point| point.to_array()).collect()),
    );
    lanes
}
