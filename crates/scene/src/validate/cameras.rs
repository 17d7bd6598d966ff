//! Rules for cameras: the eye is not at the point it looks at, and the field of view is possible.

use std::f64::consts::PI;

use super::issues::Issues;
use crate::{doc::SceneDoc, error::SceneIssueKind as Kind};

/// A camera is not at the point it looks at, and its field of view is between 0 and π.
pub(super) fn cameras_look_at_something(scene: &SceneDoc, issues: &mut Issues) {
    for (i, camera) in scene.cameras.iter().enumerate() {
        if camera.from == camera.at {
            let message = "the camera is at the point it looks at";
            issues.add(Kind::BadDirection, format!("cameras[{i}].at"), message, "use two different points");
        }
        if let Some(angle) = camera.field_of_view.filter(|angle| *angle <= 0.0 || *angle >= PI) {
            let message = format!("a field of view of {angle} rad is not possible");
            let hint = "use an angle above 0 and below π, for instance 0.5";
            issues.add(Kind::OutOfRange, format!("cameras[{i}].field_of_view"), message, hint);
        }
    }
}
