//! Rigs, meshes and animations in glTF 2.0 (`.gltf`, `.glb`).
//!
//! A file with a skin becomes a character: a body for each joint that moves vertices, springs that hold the pose in which the skin was bound or motors that
//! follow an animation, and, if that is wanted, flesh made of the skin. A file without a skin becomes bodies of its meshes ([`scenery`]).
//!
//! Files are y-up, in metres; scenes are z-up: `(x, y, z)` becomes `(x, −z, y)`.

mod accessor;
mod animation;
mod buffers;
mod character;
mod container;
mod document;
mod json;
mod mesh;
mod nodes;
mod scenery;
mod unused;

use sinew_scene::{ColliderDoc, ContactDoc, SceneDoc};

use self::animation::NodeAnimation;
use self::character::SkinnedRig;
use self::document::Document;
use self::json::JsonItem;
use self::nodes::Nodes;
use self::scenery::QUIET;
use self::unused::note_unused;
use crate::error::{ImportError, ImportFault};
use crate::files::Files;
use crate::imported::Imported;
use crate::report::{ImportReport, Outcome};
use crate::rig::{RigSkin, add_flesh, bounds, size_bones};
use crate::robot::{ImportOptions, RootHold};

/// Time in which a character goes from the pose of its skin to the beginning of an animation (s).
const APPROACH: f64 = 0.5;

/// Reads the bytes of a `.gltf` or `.glb` file, called `file` in errors.
///
/// # Errors
/// Everything that keeps it from being a scene, with node, mesh or accessor.
pub fn read_gltf(
    bytes: &[u8],
    file: &str,
    files: &Files,
    options: &ImportOptions,
) -> Result<Imported, ImportError> {
    let document = Document::read(bytes, file, files)?;
    let nodes = Nodes::read(&document)?;
    let mut report = ImportReport::default();
    let stem = std::path::Path::new(file).file_stem().and_then(|stem| stem.to_str());
    let mut scene = SceneDoc::new(stem.unwrap_or("scene"));
    let skinned = (0..nodes.nodes.len()).find_map(|node| nodes.nodes[node].skin);
    match skinned {
        Some(skin) => add_character((&document, &nodes), skin, options, (&mut scene, &mut report))?,
        None => scenery::add((&document, &nodes), options, (&mut scene, &mut report))?,
    }
    note_unused(&document, &nodes, &mut report)?;
    Ok(Imported { scene, report })
}

fn add_character(
    (document, nodes): (&Document<'_>, &Nodes),
    number: usize,
    options: &ImportOptions,
    (scene, report): (&mut SceneDoc, &mut ImportReport),
) -> Result<(), ImportFault> {
    let item = document.entry("skins", number);
    let item = item.ok_or_else(|| document.root().fault(format!("there is no skin {number}")))?;
    let meshes = skinned_meshes((document, nodes), number, &item, report)?;
    let mut character = SkinnedRig::read((document, nodes), &item, &meshes)?;
    size_bones(&mut character.rig, &character.skin, &options.rig);
    let SkinnedRig { rig, skin, .. } = &character;
    let places = character.places(nodes);
    rig.note_names(character.names(nodes).zip(&places), report);
    report.count("joints", rig.bones.len());
    report.count("vertices", skin.positions.len());
    report.count("triangles", skin.triangles.len());
    let animation = NodeAnimation::choose(document, options.rig.animation.as_deref(), report)?;
    scene.duration_s = QUIET;
    let motion = animation.and_then(|animation| {
        let motion = character.motion(nodes, &animation, (&item, report))?;
        report.count("animations", 1);
        rig.note_far_turns(&motion, &places, report);
        scene.description = format!("Plays the animation `{}`.", animation.name);
        scene.duration_s = animation.end + APPROACH;
        Some(motion.approached(rig, APPROACH))
    });
    let (groups, touches) = options.groups();
    let contact = ContactDoc { groups, touches, friction: 0.6, ..ContactDoc::default() };
    let is_led = motion.is_some() && options.root == RootHold::AsWritten;
    let bones_touch = !options.rig.flesh && !is_led;
    rig.write(motion.as_ref(), (&options.rig, options.root), bones_touch.then_some(contact), scene);
    if options.rig.flesh {
        add_flesh(rig, skin, (&options.rig, contact), (&item.place(), report), scene)?;
    }
    if !is_led {
        scene.colliders.push(ColliderDoc::floor(bounds(skin.positions.iter()).0.z));
    }
    Ok(())
}

/// The meshes that a skin moves; those that others move, or none, are listed.
fn skinned_meshes(
    (document, nodes): (&Document<'_>, &Nodes),
    number: usize,
    item: &JsonItem<'_>,
    report: &mut ImportReport,
) -> Result<Vec<RigSkin>, ImportFault> {
    let joints = item.indices("joints")?;
    let mut meshes = Vec::new();
    for node in &nodes.nodes {
        let Some(mesh) = node.mesh else { continue };
        let skin = node.skin.and_then(|skin| document.entry("skins", skin));
        // Several skins of one armature have the same joints.
        let same = skin.map(|skin| skin.indices("joints")).transpose()?.is_some_and(|other| other == joints);
        if same || node.skin == Some(number) {
            meshes.push(bound(mesh::read(document, mesh, item, report)?, item, report));
        } else {
            let what = "this mesh is not bound to the joints of the character, and is left out: join them";
            report.note(Outcome::Ignored, node.place.clone(), what);
        }
    }
    Ok(meshes)
}

/// A mesh whose vertices all follow a joint.
fn bound(mut mesh: RigSkin, item: &JsonItem<'_>, report: &mut ImportReport) -> RigSkin {
    let mut n_free = 0;
    for weights in mesh.weights.iter_mut().filter(|weights| weights.is_empty()) {
        weights.push((0, 1.0));
        n_free += 1;
    }
    if n_free > 0 {
        let what = format!("{n_free} vertices follow no joint; they follow the first one");
        report.note(Outcome::Repaired, item.place(), what);
    }
    mesh
}
