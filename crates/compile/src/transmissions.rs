//! Ropes and gears of a scene as specs of the mechanism. SI units.

use sinew_engine::BodyPoint;
use sinew_mechanism::{DriveCoordinate, GearSpec, JointId, RopeSpec};
use sinew_scene::{CoordinateDoc, GearDoc, RopeDoc, SceneDoc, TargetDoc};

use crate::error::BuildError;

/// The rope of a document through points, and the track of its length if it has one.
pub(crate) fn rope_spec<'a>(doc: &'a RopeDoc, points: &[BodyPoint]) -> (RopeSpec, Option<&'a str>) {
    let points = points.iter().map(|point| (point.body, point.point)).collect();
    let spec = RopeSpec::new(doc.name.as_str(), points)
        .with_compliance(doc.compliance)
        .with_max_force(doc.max_force.unwrap_or(f64::INFINITY));
    match &doc.length {
        None => (spec, None),
        Some(TargetDoc::Value(length)) => (spec.with_length(*length), None),
        Some(TargetDoc::Track(track)) => (spec, Some(track)),
    }
}

/// The gear of a document; `scene` has its generators written out, `path` is the place of the gear.
pub(crate) fn gear_spec(doc: &GearDoc, scene: &SceneDoc, path: &str) -> Result<GearSpec, BuildError> {
    let driver = coordinate(scene, &doc.driver, doc.driver_coordinate, || format!("{path}.driver"))?;
    let driven = coordinate(scene, &doc.driven, doc.driven_coordinate, || format!("{path}.driven"))?;
    Ok(GearSpec::new(doc.name.as_str(), driver, driven, doc.ratio)
        .with_offset(doc.offset)
        .with_backlash(doc.backlash)
        .with_compliance(doc.compliance)
        .with_max_force(doc.max_force.unwrap_or(f64::INFINITY)))
}

/// A coordinate of a joint: the one asked for, or the first that it has.
fn coordinate(
    scene: &SceneDoc,
    name: &str,
    wanted: Option<CoordinateDoc>,
    field: impl FnOnce() -> String,
) -> Result<(JointId, DriveCoordinate), BuildError> {
    let found = scene.joints.iter().position(|joint| joint.name == name).map(|index| {
        let has_twist = scene.joints[index].kind.can_drive(DriveCoordinate::Twist);
        let coordinate = match wanted {
            Some(CoordinateDoc::Angle) => DriveCoordinate::Twist,
            Some(CoordinateDoc::Slide) => DriveCoordinate::Slide,
            None if has_twist => DriveCoordinate::Twist,
            None => DriveCoordinate::Slide,
        };
        (JointId::from_index(index), coordinate)
    });
    let has = |&(joint, coordinate): &(JointId, DriveCoordinate)| {
        let doc = &scene.joints[joint.index()];
        doc.free.is_none() && doc.kind.can_drive(coordinate)
    };
    found.filter(has).ok_or_else(|| BuildError::Unsupported {
        field: field(),
        what: "no joint of the scene has this name and coordinate",
        hint: "name a joint with an angle or slide",
    })
}
