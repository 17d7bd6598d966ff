//! Rules for cameras.

use std::f64::consts::PI;

use super::Issues;
use crate::doc::SceneDoc;
use crate::error::SceneIssueKind as Kind;

/// An eye is not where it looks, and sees more than nothing and less than half of everything.
pub(super) fn cameras_look_at_something(scene: &SceneDoc, issues: &mut Issues) {
    for (i, camera) in scene.cameras.iter().enumerate() {
        if camera.from == camera.at {
            let message = "the eye is where it looks";
            issues.add(Kind::BadDirection, format!("cameras[{i}].at"), message, "use two points");
        }
        if camera.field_of_view.is_some_and(|angle| angle <= 0.0 || angle >= PI) {
            let message = "no picture spans this angle";
            let hint = "use an angle above 0 and below π, for instance 0.5";
            issues.add(Kind::OutOfRange, format!("cameras[{i}].field_of_view"), message, hint);
        }
    }
}
