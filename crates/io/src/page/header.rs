//! What the page knows before frames are unpacked, as JSON: names, colours, sizes, cameras, curves.

use glam::DVec3;
use sinew_math::ops;
use sinew_picture::{Camera, View};

use super::lanes::Lane;
use crate::clip::{Clip, ClipMeasures};
use crate::extent::Extent;
use crate::json::{JsonFields, list, number, numbers, vector};
use crate::table::json_text;

/// Names, times and cameras.
pub(super) fn push_scene(out: &mut JsonFields, clip: &Clip, extent: &Extent) {
    let up = (-clip.gravity).try_normalize().unwrap_or(DVec3::Z);
    out.push("name", json_text(&clip.name));
    out.push("up", vector(up));
    out.push("weight", number(clip.weight));
    out.push("times", list(clip.frames.iter().map(|frame| ((frame.time * 1e6).round() * 1e-6).to_string())));
    out.push("bodies", list(clip.bodies.iter().map(|body| json_text(&body.name))));
    out.push("focus", vector(extent.focus));
    out.push("reach", number(extent.reach));
    out.push("hull", numbers(extent.hull.iter().flat_map(|point| point.to_array())));
    let planes = clip.planes.iter().copied().chain(extent.floor(clip));
    out.push(
        "planes",
        list(planes.map(|(at, up)| numbers([at, up].into_iter().flat_map(|it| it.to_array())))),
    );
    let mut views = JsonFields::default();
    for name in View::NAMES {
        if let Some(view) = View::named(name, extent.places.iter().copied(), clip.gravity) {
            views.push(name, format!("{{\"toward\":{},\"up\":{}}}", vector(view.toward), vector(view.up)));
        }
    }
    out.push("views", views.finish());
    out.push(
        "cameras",
        list(clip.cameras.iter().map(|camera| {
            let opening = camera.field_of_view.map_or(Camera::OPENING, |angle| ops::tan(0.5 * angle));
            let mut fields = JsonFields::default();
            fields.push("name", json_text(&camera.name));
            fields.push("from", vector(camera.from));
            fields.push("at", vector(camera.at));
            fields.push("opening", number(opening));
            fields.finish()
        })),
    );
}

/// Joints: the body that carries them, and where on it they are.
pub(super) fn push_joints(out: &mut JsonFields, clip: &Clip) {
    let first = clip.frames.first();
    let joints = clip.joints.iter().enumerate().filter_map(|(i, joint)| {
        let frame = first?;
        let anchor = *frame.anchors.get(i)?;
        let pose = joint.child.and_then(|child| frame.poses.get(child));
        let at = pose.map_or(anchor, |pose| pose.inverse().transform_point(anchor));
        let body = joint.child.map_or(-1, |child| child as i64);
        Some(format!("{{\"body\":{body},\"at\":{}}}", vector(at)))
    });
    out.push("joints", list(joints));
}

/// Energies and joint errors over time.
pub(super) fn push_curves(out: &mut JsonFields, clip: &Clip) {
    let series = |name: &str, color: usize, value: &dyn Fn(&ClipMeasures) -> f64| {
        let values = numbers(clip.frames.iter().map(|frame| value(&frame.measures)));
        format!("[{},{color},{values}]", json_text(name))
    };
    let has =
        |value: &dyn Fn(&ClipMeasures) -> f64| clip.frames.iter().any(|frame| value(&frame.measures) != 0.0);
    let mut energy = vec![series("kinetic", 0, &|it| it.kinetic), series("gravity", 1, &|it| it.gravity)];
    if has(&|it| it.elastic) {
        energy.push(series("elastic", 2, &|it| it.elastic));
    }
    energy.push(series("total", 3, &|it| it.kinetic + it.gravity + it.elastic));
    let mut curves = JsonFields::default();
    curves.push("energy", list(energy));
    let mut errors = Vec::new();
    if has(&|it| it.position_error) {
        errors.push(series("position [m]", 4, &|it| it.position_error));
    }
    if has(&|it| it.rotation_error) {
        errors.push(series("rotation [rad]", 5, &|it| it.rotation_error));
    }
    if !errors.is_empty() {
        curves.push("error", list(errors));
    }
    out.push("curves", curves.finish());
}

pub(super) fn push_lanes(out: &mut JsonFields, lanes: &[Lane]) {
    let lane = |lane: &Lane| {
        let [scale, offset] = [&lane.scale, &lane.offset].map(|list| numbers(list.iter().copied()));
        format!("{{\"scale\":{scale},\"offset\":{offset}}}")
    };
    out.push("lanes", list(lanes.iter().map(lane)));
}
