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

use sinew_scene::{ColliderDoc, ContactDoc, SceneDoc};

use self::animation::NodeAnimation;
use self::character::SkinnedRig;
use self::document::Document;
use self::json::JsonItem;
use self::nodes::Nodes;
use self::scenery::QUIET;
use crate::error::{ImportError, ImportFault};
use crate::files::Files;
use crate::imported::Imported;
use crate::report::{ImportReport, Outcome};
use crate::rig::{RigSkin, add_flesh, size_bones};
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
    note_unused(&document, &mut report);
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
    report.count("joints", rig.bones.len());
    report.count("vertices", skin.positions.len());
    report.count("triangles", skin.triangles.len());
    let animation = NodeAnimation::choose(document, options.rig.animation.as_deref(), report)?;
    let motion = animation.as_ref().and_then(|animation| {
        let motion = character.motion(nodes, animation, (&item, report))?;
        report.count("animations", 1);
        scene.description = format!("Plays the animation `{}`.", animation.name);
        Some(motion.approached(rig, APPROACH))
    });
    scene.duration_s =
        animation.filter(|_| motion.is_some()).map_or(QUIET, |animation| animation.end + APPROACH);
    let (groups, touches) = options.groups();
    let contact = ContactDoc { groups, touches, friction: 0.6, ..ContactDoc::default() };
    let is_led = motion.is_some() && options.root == RootHold::AsWritten;
    let bones_touch = !options.rig.flesh && !is_led;
    rig.write(motion.as_ref(), (&options.rig, options.root), bones_touch.then_some(contact), scene);
    if options.rig.flesh {
        add_flesh(rig, skin, (&options.rig, contact), (&item.place(), report), scene)?;
    }
    if !is_led {
        scene.colliders.push(ColliderDoc::floor(lowest(skin)));
    }
    Ok(())
}

fn lowest(skin: &RigSkin) -> f64 {
    skin.positions.iter().map(|x| x.z).fold(f64::INFINITY, f64::min)
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
    for node in nodes.nodes.iter() {
        let Some(mesh) = node.mesh else { continue };
        let skin = node.skin.and_then(|skin| document.entry("skins", skin));
        // Several skins of one armature have the same joints.
        let fits = match skin {
            Some(skin) => node.skin == Some(number) || skin.indices("joints")? == joints,
            None => false,
        };
        if fits {
            meshes.push(mesh::read(document, mesh, item, report)?);
        } else {
            let what =
                "the character has another skin; this mesh is left out: join them, or export it by itself";
            report.note(Outcome::Ignored, node.place.clone(), what);
        }
    }
    for mesh in &mut meshes {
        let free = mesh.weights.iter().filter(|weights| weights.is_empty()).count();
        if free > 0 {
            let what = format!("{free} vertices follow no joint; they follow the first one");
            report.note(Outcome::Repaired, item.place(), what);
            mesh.weights
                .iter_mut()
                .filter(|weights| weights.is_empty())
                .for_each(|weights| weights.push((0, 1.0)));
        }
    }
    Ok(meshes)
}

/// Lists what has no effect.
fn note_unused(document: &Document<'_>, report: &mut ImportReport) {
    for (list, what) in [
        ("cameras", "cameras are not used"),
        ("textures", "textures are not used"),
        ("images", "images are not read"),
        ("materials", "materials are not used"),
    ] {
        for item in document.entries(list) {
            report.note(Outcome::Ignored, item.place(), what);
        }
    }
    for item in document.entries("scenes").skip(1) {
        report.note(Outcome::Ignored, item.place(), "all nodes are read, whatever scene they are in");
    }
    let root = document.root();
    for name in root.get("extensions").iter().flat_map(JsonItem::keys) {
        report.note(Outcome::Ignored, root.place(), format!("the extension `{name}` is not used"));
    }
}
