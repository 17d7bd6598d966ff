//! Models in MJCF, the format of MuJoCo: bodies in bodies, with joints and geoms in them, and what holds them together.
//!
//! Body frames are those of the file; a scene begins in its pose (`qpos0`), or in a keyframe. Units are SI; angles are degrees unless the file says otherwise.
//! Defaults are MuJoCo's. Cost: linear in the file and its meshes.

mod defaults;
mod flex_shapes;
mod include;
mod joints;
mod settings;

mod frames;

mod heights;
mod meshes;
mod replicate;

mod flex;
mod geoms;

mod bodies;

mod layout;

mod model;

mod keys;
mod tendon;

mod parts;

mod actuators;
mod equality;
mod flesh;
mod tendons;
mod touching;

use crate::error::ImportError;
use crate::files::Files;
use crate::geometry::GeometryWriter;
use crate::imported::Imported;
use crate::report::ImportReport;
use crate::robot::ImportOptions;
use crate::xml::Element;

use self::keys::{MjcfKey, read_key};
use self::layout::BodyLayout;
use self::model::MjcfModel;
use self::parts::{MjcfScene, StartState};
use self::tendon::read_tendons;

/// Sections of which nothing, or little, is used.
const UNUSED: [&str; 4] = ["custom", "deformable", "extension", "sensor"];

/// Reads the text of an MJCF file, called `file` in errors.
///
/// # Errors
/// Everything that keeps it from being a model, with line and element.
pub fn read_mjcf(
    text: &str,
    file: &str,
    files: &Files,
    options: &ImportOptions,
) -> Result<Imported, ImportError> {
    let mut report = ImportReport::default();
    let mut root = include::read(text, file, files, &mut report)?;
    replicate::expand(&mut root, &mut report)?;
    let model = MjcfModel::read(&root, files, options, &mut report)?;
    let key = read_key(&model, &root, options.key.as_deref(), &mut report)?;
    let layout = BodyLayout::of(&model.tree.bodies, &model.units, &mut report);
    let tendons = read_tendons(&model, &root, &mut report)?;
    let mut scene = MjcfScene::new(&model, &tendons, layout, root.attribute("model").unwrap_or("model"));
    scene.write_bodies(&start_of(&key), &mut report);
    scene.write_equalities(&root, &mut report)?;
    scene.write_tendons(&mut report);
    scene.write_actuators(&root, key.controls.as_deref(), &mut report)?;
    scene.write_flesh(&mut report);
    scene.write_geoms(&mut GeometryWriter::new(files, options), &mut report);
    scene.write_excludes(&root, &model.body_names, &mut report)?;
    let scene = scene.scene;
    // Of these, each part is told by itself.
    UNUSED.iter().flat_map(|tag| root.children(tag)).for_each(Element::mark_read);
    root.note_unread(&mut report);
    report.sort();
    // Copies are told once.
    report.findings.dedup();
    Ok(Imported { scene, report })
}

/// A keyframe as the beginning of a scene.
fn start_of(key: &MjcfKey) -> StartState<'_> {
    StartState {
        coordinates: key.coordinates.as_deref(),
        rates: key.rates.as_deref(),
        mocap: key.mocap.clone(),
    }
}
