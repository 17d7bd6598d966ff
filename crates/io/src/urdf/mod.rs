//! Robots in URDF, the format of ROS: links with inertia, looks and collisions, and the joints between them.
//!
//! Body frames are link frames. Joints are placed by the frames of the file; the robot stands with every coordinate at zero, or as near as its
//! limits allow. Units are SI and radians, as in the format.
//!
//! A root link called `world` is the world. Links without mass that are fixed to another one become part of it; those that move get a mass of 1e-12 of the robot's.

mod joints;
mod links;
mod placement;
mod robot;
mod written_joints;

use std::collections::{BTreeMap, BTreeSet};

use sinew_math::Pose;
use sinew_scene::{BodyDoc, BodyKindDoc, ContactDoc, SceneDoc};

use crate::error::{ImportError, ImportFault};
use crate::files::Files;
use crate::geometry::{Geometry, GeometryWriter};
use crate::imported::Imported;
use crate::report::{ImportReport, Outcome};
use crate::robot::{ImportOptions, RootHold};
use crate::xml::{Element, XACRO};

use self::placement::{UrdfPlacement, WORLD};
use self::robot::Robot;

/// Reads the text of a URDF file, called `file` in errors.
///
/// # Errors
/// Everything that keeps it from being a robot, with line and element.
pub fn read_urdf(
    text: &str,
    file: &str,
    files: &Files,
    options: &ImportOptions,
) -> Result<Imported, ImportError> {
    let xml = Element::parse(text, file)?;
    refuse_macros(&xml)?;
    let mut report = ImportReport::default();
    let mut robot = Robot::read(&xml)?;
    let mut scene = SceneDoc::new(xml.attribute("name").unwrap_or("robot"));
    let free = options.root == RootHold::Free;
    let placement = UrdfPlacement::of(&robot, free, &mut report)?;
    rename_worlds(&mut robot, &placement, &mut report);
    write_bodies(&robot, &placement, &mut scene, &mut report);
    written_joints::write_joints(&robot, &placement, &mut scene, &mut report)?;
    write_geometry(&robot, &placement, (files, options), &mut scene, &mut report);
    xml.note_unread(&mut report);
    report.sort();
    Ok(Imported { scene, report })
}

/// Gives links that are called as the world, and are not it, another name.
fn rename_worlds(robot: &mut Robot<'_>, placement: &UrdfPlacement, report: &mut ImportReport) {
    let names: BTreeSet<String> = robot.links.iter().map(|link| link.name.clone()).collect();
    let is_other = |number: usize, name: &str| name == WORLD && !placement.is_world(number);
    for (number, link) in robot.links.iter_mut().enumerate() {
        if is_other(number, &link.name) {
            let mut name = format!("{WORLD}_link");
            while names.contains(&name) {
                name.push('_');
            }
            let what = format!("no body may be called `{WORLD}`; it is called `{name}`");
            report.note(Outcome::Repaired, link.place.clone(), what);
            link.name = name;
        }
    }
}

/// Refuses a file that is still to be expanded by xacro.
fn refuse_macros(xml: &Element) -> Result<(), ImportFault> {
    xml.first_macro().map_or(Ok(()), |element| Err(element.fault(XACRO)))
}

fn write_bodies(
    robot: &Robot<'_>,
    placement: &UrdfPlacement,
    scene: &mut SceneDoc,
    report: &mut ImportReport,
) {
    for (number, link) in robot.links.iter().enumerate() {
        let Some(mass) = placement.mass(robot, number, report) else { continue };
        report.place_body(&link.name, &link.place);
        let kind = if placement.is_held(number) { BodyKindDoc::Fixed } else { BodyKindDoc::Dynamic };
        let pose = placement.world_from_link[number].into();
        scene.bodies.push(BodyDoc {
            name: link.name.clone(),
            kind,
            pose,
            mass,
            color: link.color(),
            ..BodyDoc::default()
        });
    }
    report.count("links", robot.links.len());
}

fn write_geometry(
    robot: &Robot<'_>,
    placement: &UrdfPlacement,
    (files, options): (&Files, &ImportOptions),
    scene: &mut SceneDoc,
    report: &mut ImportReport,
) {
    let mut writer = GeometryWriter::new(files, options);
    let (groups, touches) = options.groups();
    let contact = ContactDoc { groups, touches, ..ContactDoc::default() };
    let bodies: BTreeMap<String, usize> =
        scene.bodies.iter().enumerate().map(|(number, body)| (body.name.clone(), number)).collect();
    for (number, link) in robot.links.iter().enumerate() {
        let (host, host_from_link) = placement.host(number);
        let body = bodies.get(&robot.links[host].name).copied();
        let placed = |geometry| placed(geometry, &host_from_link);
        for (visual, _) in &link.visuals {
            match body {
                Some(body) => writer.show(scene, body, &placed(visual), report),
                // What touches on the world is drawn.
                None if link.collisions.is_empty() => {
                    let untouched = ContactDoc { groups: 0, touches: 0, ..ContactDoc::default() };
                    writer.touch(scene, None, (&placed(visual), untouched), report);
                }
                None => {}
            }
        }
        for collision in &link.collisions {
            writer.touch(scene, body, (&placed(collision), contact), report);
        }
    }
}

/// Geometry of a link as that of the body that carries it.
fn placed(geometry: &Geometry, host_from_link: &Pose) -> Geometry {
    Geometry { at: host_from_link.compose(&geometry.at), ..geometry.clone() }
}
