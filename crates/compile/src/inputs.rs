//! Entries of the script: recorded inputs of a scene with bodies, joints and tracks as ids. Linear cost.

use sinew_mechanism::{JointId, MechanismBuilder, SkinPressure, SkinWind};
use sinew_scene::{InputDoc, JointDoc, MotorDoc, SceneDoc, TargetDoc};

use crate::joints::{drive_coordinate, motor_track};
use crate::script::{
    ActivationInput, GrabInput, KinematicInput, MotorInput, PrescribedInput, Script, WrenchInput,
};
use crate::skin_script::TimeWindow;
use crate::{error::BuildError, flesh::PreparedFlesh, flesh::scene_muscles, names::Names, names::unknown};

/// Adds the inputs of a scene to its script.
pub(crate) fn add_inputs(
    scene: &SceneDoc,
    names: &Names<'_>,
    (mechanism, flesh): (&MechanismBuilder, &PreparedFlesh),
    script: &mut Script,
) -> Result<(), BuildError> {
    for (i, doc) in scene.inputs.iter().enumerate() {
        let path = || format!("inputs[{i}]");
        add_input(doc, &path, names, mechanism, script)?;
        add_skin_input(doc, &path, names, (scene, flesh), script)?;
    }
    script.spring_scales.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (muscle, path, activation) in scene_muscles(scene) {
        let given = match activation {
            TargetDoc::Value(value) => ActivationInput::Value(*value),
            TargetDoc::Track(track) => ActivationInput::Track(names.track(track, &|| path.clone())?),
        };
        script.muscles.push((muscle, given));
    }
    Ok(())
}

/// Notes the track that a motor follows.
pub(crate) fn add_motor_input(
    motor: Option<&MotorDoc>,
    joint: JointId,
    names: &Names<'_>,
    path: &dyn Fn() -> String,
    script: &mut Script,
) -> Result<(), BuildError> {
    if let Some((track, is_rate)) = motor.and_then(motor_track) {
        script.motors.push(MotorInput { joint, track: names.track(track, path)?, is_rate });
    }
    Ok(())
}

/// Notes which track drives a joint, and when it holds.
pub(crate) fn add_joint_inputs(
    doc: &JointDoc,
    joint: JointId,
    names: &Names<'_>,
    path: &dyn Fn() -> String,
    script: &mut Script,
) -> Result<(), BuildError> {
    if doc.from_s > 0.0 || doc.to_s.is_some() {
        script.held.push((joint, window(doc.from_s, doc.to_s)));
    }
    if let (Some(track), Some(coordinate)) = (&doc.drive, drive_coordinate(doc)) {
        script.drives.push(PrescribedInput { joint, coordinate, track: names.track(track, path)? });
    }
    Ok(())
}

fn add_input(
    doc: &InputDoc,
    path: &dyn Fn() -> String,
    names: &Names<'_>,
    mechanism: &MechanismBuilder,
    script: &mut Script,
) -> Result<(), BuildError> {
    match doc {
        InputDoc::Kinematic(doc) => {
            let body = names.body(&doc.body, path)?;
            let rotation = mechanism.body_pose(body).rotation;
            script.kinematic.push(KinematicInput { body, track: names.track(&doc.track, path)?, rotation });
        }
        InputDoc::Grab(doc) => script.grabs.push(GrabInput {
            body: names.body(&doc.body, path)?,
            point: doc.point,
            track: names.track(&doc.track, path)?,
            stiffness: doc.stiffness,
            damping: doc.damping,
            window: window(doc.from_s, doc.to_s),
        }),
        InputDoc::Wrench(doc) => script.wrenches.push(WrenchInput {
            body: names.body(&doc.body, path)?,
            point: doc.point,
            force: doc.force,
            torque: doc.torque,
            track: doc.track.as_ref().map(|track| names.track(track, path)).transpose()?,
            window: window(doc.from_s, doc.to_s),
        }),
        InputDoc::JointForces(doc) => script.spring_scales.push((doc.at_s, doc.scale)),
        InputDoc::FleshGrab(_) | InputDoc::Pressure(_) | InputDoc::Wind(_) => {}
    }
    Ok(())
}

/// The flesh that an input acts on, and the number of a region of it.
fn skin_target(
    doc: &InputDoc,
    path: &dyn Fn() -> String,
    scene: &SceneDoc,
) -> Result<Option<(usize, Option<u32>)>, BuildError> {
    let Some((name, region)) = doc.flesh() else { return Ok(None) };
    let flesh = scene.flesh.iter().position(|flesh| flesh.name == name).ok_or_else(|| unknown(path()))?;
    let of = |region: &str| scene.flesh[flesh].regions.iter().position(|known| known.name == region);
    let region = region.map(|region| of(region).ok_or_else(|| unknown(path()))).transpose()?;
    Ok(Some((flesh, region.map(|region| region as u32 + 1))))
}

/// Adds what acts on flesh.
fn add_skin_input(
    doc: &InputDoc,
    path: &dyn Fn() -> String,
    names: &Names<'_>,
    (scene, prepared): (&SceneDoc, &PreparedFlesh),
    script: &mut Script,
) -> Result<(), BuildError> {
    let Some((number, region)) = skin_target(doc, path, scene)? else { return Ok(()) };
    let flesh = number as u32;
    let factor = doc.tracks().1.map(|track| names.track(track, path)).transpose()?;
    match doc {
        InputDoc::FleshGrab(doc) => {
            let (grab, track) = (prepared.grab(number, doc, path)?, names.track(&doc.track, path)?);
            script.skin.grabs.push((window(doc.from_s, doc.to_s), grab, doc.point, track));
        }
        InputDoc::Pressure(doc) => {
            let load = SkinPressure { flesh, region, pressure: doc.pressure };
            script.skin.pressures.push((window(doc.from_s, doc.to_s), load, factor));
        }
        InputDoc::Wind(doc) => {
            let load = SkinWind { flesh, region, velocity: doc.velocity, drag: doc.drag };
            script.skin.winds.push((window(doc.from_s, doc.to_s), load, factor));
        }
        _ => {}
    }
    Ok(())
}

fn window(from: f64, to: Option<f64>) -> TimeWindow {
    TimeWindow { from, to: to.unwrap_or(f64::INFINITY) }
}
