//! What the page knows before frames are unpacked, as JSON: names, colours, sizes, cameras, curves.

use glam::DVec3;
use sinew_math::ops;
use sinew_picture::{Camera, View};

use super::lanes::NumberLane;
use crate::clip::{Clip, ClipCamera, ClipMeasures};
use crate::extent::MotionExtent;
use crate::json::{JsonFields, json_text, list, number, numbers, vector};

/// Names, times and cameras.
pub(super) fn push_scene(out: &mut JsonFields, clip: &Clip, extent: &MotionExtent) {
    let up = (-clip.gravity).try_normalize().unwrap_or(DVec3::Z);
    out.push("name", json_text(&clip.name));
    out.push("up", vector(up));
    out.push("weight", number(clip.weight));
    out.push("times", list(clip.frames.iter().map(|frame| format!("{:.6}", frame.time))));
    out.push("bodies", list(clip.bodies.iter().map(|body| json_text(&body.name))));
    out.push("focus", vector(extent.focus));
    out.push("reach", number(extent.reach));
    out.push("hull", numbers(extent.hull.iter().flat_map(|point| point.to_array())));
    let planes = clip.planes.iter().copied().chain(extent.floor(clip));
    out.push(
        "planes",
        list(planes.map(|(at, up)| numbers([at, up].into_iter().flat_map(|it| it.to_array())))),
    );
    push_cameras(out, clip, extent);
}

/// Views that frame the motion, and cameras of the scene.
fn push_cameras(out: &mut JsonFields, clip: &Clip, extent: &MotionExtent) {
    let mut views = JsonFields::default();
    for name in View::NAMES {
        if let Some(view) = View::named(name, extent.places.iter().copied(), clip.gravity) {
            let [toward, up] = [view.toward, view.up].map(vector);
            views.push(name, format!("{{\"toward\":{toward},\"up\":{up}}}"));
        }
    }
    out.push("views", views.finish());
    let camera = |camera: &ClipCamera| {
        let opening = camera.field_of_view.map_or(Camera::OPENING, |angle| ops::tan(0.5 * angle));
        let mut fields = JsonFields::default();
        fields.push("name", json_text(&camera.name));
        fields.push("from", vector(camera.from));
        fields.push("at", vector(camera.at));
        fields.push("opening", number(opening));
        fields.finish()
    };
    out.push("cameras", list(clip.cameras.iter().map(camera)));
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
    let mut curves = JsonFields::default();
    let mut energy: Curves<'_> = vec![("kinetic", 0, |it| it.kinetic), ("gravity", 1, |it| it.gravity)];
    energy.extend(used(clip, ("elastic", 2, |it| it.elastic)));
    energy.push(("total", 3, |it| it.kinetic + it.gravity + it.elastic));
    curves.push("energy", curves_text(clip, &energy));
    let mut errors: Curves<'_> =
        used(clip, ("position [m]", 4, |it| it.position_error)).into_iter().collect();
    errors.extend(used(clip, ("rotation [rad]", 5, |it| it.rotation_error)));
    if !errors.is_empty() {
        curves.push("error", curves_text(clip, &errors));
    }
    out.push("curves", curves.finish());
}

/// A name, the number of its colour, and what it shows.
type Curve<'a> = (&'a str, usize, fn(&ClipMeasures) -> f64);
type Curves<'a> = Vec<Curve<'a>>;

/// A curve if it is not zero all the time.
fn used<'a>(clip: &Clip, curve: Curve<'a>) -> Option<Curve<'a>> {
    clip.frames.iter().any(|frame| curve.2(&frame.measures) != 0.0).then_some(curve)
}

fn curves_text(clip: &Clip, curves: &[Curve<'_>]) -> String {
    list(curves.iter().map(|(name, color, value)| {
        let values = numbers(clip.frames.iter().map(|frame| value(&frame.measures)));
        format!("[{},{color},{values}]", json_text(name))
    }))
}

pub(super) fn push_lanes(out: &mut JsonFields, lanes: &[NumberLane]) {
    let lane = |lane: &NumberLane| {
        let [scale, offset] = [&lane.scale, &lane.offset].map(|list| numbers(list.iter().copied()));
        format!("{{\"scale\":{scale},\"offset\":{offset}}}")
    };
    out.push("lanes", list(lanes.iter().map(lane)));
}
