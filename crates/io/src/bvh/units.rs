//! The unit of a BVH file, which does not say it: guessed from the height of the skeleton.
//!
//! | The skeleton is tall | unit |
//! |---|---|
//! | up to 5 | metre |
//! | up to 12 | decimetre, 0.1 m |
//! | up to 50 | 0.05644 m: an inch over 0.45, the unit of a well-known collection |
//! | up to 500 | centimetre |
//! | more | millimetre |

use glam::DVec3;

use super::parse::BvhJoint;
use crate::error::ImportFault;
use crate::report::{FilePlace, ImportReport, Outcome};
use crate::rig::{RigOptions, extent};

/// Length of a unit (m): as told, or guessed, with a line in the report.
pub(super) fn scale(
    joints: &[BvhJoint],
    options: &RigOptions,
    file: &str,
    report: &mut ImportReport,
) -> Result<f64, ImportFault> {
    let place = FilePlace { element: "HIERARCHY".to_owned(), ..FilePlace::whole(file) };
    let tall = height(joints);
    if !(tall.is_finite() && tall > 1e-9) {
        return Err(ImportFault::new(place, "all joints are at one place"));
    }
    if let Some(scale) = options.scale {
        return Ok(scale);
    }
    let (scale, unit) = guess(tall);
    let what = format!(
        "the skeleton spans {tall:.4}, taken as {unit}: {:.2} m; --scale S gives the length of a unit in metres",
        tall * scale
    );
    report.note(Outcome::Approximated, place, what);
    Ok(scale)
}

/// Length of a unit (m), and what it is called.
fn guess(tall: f64) -> (f64, &'static str) {
    match tall {
        ..=5.0 => (1.0, "metres"),
        ..=12.0 => (0.1, "decimetres"),
        ..=50.0 => (0.0254 / 0.45, "units of 0.05644 m"),
        ..=500.0 => (0.01, "centimetres"),
        _ => (0.001, "millimetres"),
    }
}

/// The longest side of the box around a skeleton whose joints are all at zero.
fn height(joints: &[BvhJoint]) -> f64 {
    let mut at = Vec::with_capacity(joints.len());
    let mut points = Vec::new();
    for joint in joints {
        let origin = joint.parent.map_or(DVec3::ZERO, |parent: usize| at[parent] + joint.offset);
        at.push(origin);
        points.push(origin);
        points.extend(joint.end.map(|end| origin + end));
    }
    extent(points.iter())
}
