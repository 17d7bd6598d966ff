//! What of a scene no format of robots holds.

use sinew_scene::{BodyDoc, InputDoc, JointDoc, JointKind, SceneDoc};

use super::joint::OutJoint;
use super::tree::OutTree;
use crate::export_report::ExportReport;

/// Tells of the parts of a scene that are no robot.
pub(crate) fn note_common(scene: &SceneDoc, report: &mut ExportReport) {
    for flesh in &scene.flesh {
        report.left_out(format!("flesh `{}`", flesh.name), "the format has no flesh; its mass is missing");
    }
    for surface in &scene.surfaces {
        report.left_out(format!("surface `{}`", surface.name), "drawn surfaces");
    }
    for (number, input) in scene.inputs.iter().enumerate() {
        let (kind, on) = match input {
            InputDoc::Kinematic(input) => ("motion", input.body.as_str()),
            InputDoc::Grab(input) => ("grab", input.body.as_str()),
            InputDoc::Wrench(input) => ("wrench", input.body.as_str()),
            InputDoc::JointForces(_) => ("switch of joint forces", ""),
            InputDoc::FleshGrab(input) => ("grab", input.flesh.as_str()),
            InputDoc::Pressure(input) => ("pressure", input.flesh.as_str()),
            InputDoc::Wind(input) => ("wind", input.flesh.as_str()),
        };
        let on = if on.is_empty() { String::new() } else { format!(" on `{on}`") };
        report.left_out(format!("input {number}, a {kind}{on}"), "inputs over time");
    }
    if scene.score.is_some() {
        report.left_out("the score", "what actuators do over time");
    }
    if !scene.changes.is_empty() {
        report.left_out("the changes", "other settings from certain times on");
    }
    for pair in scene.pairs.iter().filter(|pair| !pair.apart) {
        let part = format!("pair `{}`, `{}`", pair.a, pair.b);
        report.left_out(part, "friction and restitution of single pairs");
    }
    for camera in &scene.cameras {
        report.left_out(format!("camera `{}`", camera.name), "cameras");
    }
}

/// Tells of what bodies and joints have besides mass, shapes, and forces along coordinates.
pub(crate) fn note_bodies(tree: &OutTree<'_>, report: &mut ExportReport) {
    let is_damped = |body: &&BodyDoc| body.linear_damping > 0.0 || body.angular_damping > 0.0;
    for body in tree.scene.bodies.iter().filter(is_damped) {
        report.left_out(format!("body `{}`", body.name), "damping of a body by itself");
    }
    let joints = tree.bodies.iter().filter_map(|body| body.joint.as_ref()).chain(&tree.loops);
    for OutJoint { doc, .. } in joints {
        note_joint(doc, report);
    }
}

fn note_joint(doc: &JointDoc, report: &mut ExportReport) {
    let part = || format!("joint `{}`", doc.name);
    if doc.compliance > 0.0 {
        report.left_out(part(), "compliance of locked directions: the joint is rigid in the file");
    }
    if doc.breaks_at.is_some() {
        report.left_out(part(), "the load that breaks it");
    }
    if doc.to_s.is_some() {
        report.left_out(part(), "when it lets go");
    }
    let is_rolling = matches!(doc.kind, JointKind::RollingSphere { .. } | JointKind::RollingDisc { .. });
    if is_rolling && doc.free.is_none() {
        report.left_out(part(), "rolling: its bodies move freely against each other in the file");
    }
}
