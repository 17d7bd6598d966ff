//! Scenes as models in MJCF, the format of MuJoCo.
//!
//! Bodies are inside each other as joints lead from the world on; body frames are those of the scene. The pose of the file is that at the beginning, and `ref` is the coordinate
//! there, so coordinates are those of the scene; where a ball joint has a spring or a limit, the file shows it at zero. A keyframe `initial` has what a pose does not tell:
//! velocities, targets of motors, turned ball joints. Angles are radians. Linear cost.

mod actuators;
mod bodies;
mod closures;
mod geoms;
mod joints;
mod key;
mod places;
mod tendons;

use std::collections::BTreeMap;

use sinew_math::Pose;
use sinew_scene::SceneDoc;

use crate::export_error::ExportError;
use crate::export_report::ExportReport;
use crate::exported::Exported;
use crate::outgoing::{MeshFiles, Names, OutGeom, OutScene, OutTree, geoms_of, note_bodies, note_common};
use crate::xml_text::XmlText;

use self::closures::HeldSites;
use self::geoms::ContactClasses;
use self::key::KeyFrame;
use self::places::FilePlaces;
use self::tendons::SiteTendon;

/// How deep elements may be inside each other in what reads XML.
const DEEPEST: usize = 480;

/// The name of the world.
const WORLD: &str = "world";

/// Writes a scene as MJCF. `stem` begins the names of the files of its meshes.
///
/// # Errors
/// If the scene cannot be built, has no body, or has more than 480 bodies one below the other.
pub fn mjcf(scene: &SceneDoc, stem: &str) -> Result<Exported, ExportError> {
    let mut report = ExportReport::default();
    let source = OutScene::read(scene, &mut report)?;
    let tree = OutTree::of(&source, &mut report);
    let unfit = |problem: String| Err(ExportError::Unfit { problem });
    if tree.bodies.is_empty() {
        return unfit("an MJCF model needs a body: the scene has none".to_owned());
    }
    if tree.depth() > DEEPEST {
        let depth = tree.depth();
        return unfit(format!(
            "{depth} bodies hang one below the other, and programs read MJCF at most {DEEPEST} deep; URDF has no such bound"
        ));
    }
    note_common(&source.doc, &mut report);
    note_bodies(&tree, &mut report);
    let geoms = geoms_of(&tree, "the convex hull of a mesh touches in MuJoCo", &mut report);
    let mut writer = MjcfWriter::new(&tree, &geoms, stem, &mut report);
    writer.write_head(&geoms, &mut report);
    writer.write_world(&mut report);
    writer.write_excludes();
    writer.write_closures(&mut report);
    writer.write_actuators(&mut report);
    writer.write_key(&mut report);
    let MjcfWriter { xml, meshes, .. } = writer;
    Ok(Exported { text: xml.finish(), files: meshes.finish(), report })
}

/// A model that is being written.
struct MjcfWriter<'a, 't> {
    xml: XmlText,
    tree: &'t OutTree<'a>,
    /// Per body, and for the world at the end.
    geoms: Vec<Vec<&'t OutGeom>>,
    meshes: MeshFiles,
    classes: ContactClasses,
    places: FilePlaces,
    bodies: Vec<String>,
    joint_names: Names,
    site_names: Names,
    /// Names of joints by those of their moves.
    moves: BTreeMap<&'t str, String>,
    /// Names and frames of sites per body, and of the world at the end.
    sites: Vec<Vec<(String, Pose)>>,
    held: Vec<HeldSites>,
    paths: Vec<SiteTendon>,
    key: KeyFrame,
}

impl<'a, 't> MjcfWriter<'a, 't> {
    fn new(tree: &'t OutTree<'a>, geoms: &'t [OutGeom], stem: &str, report: &mut ExportReport) -> Self {
        let n = tree.bodies.len();
        let mut body_names = Names::reserving(&[WORLD]);
        let mut joint_names = Names::default();
        let bodies = tree.bodies.iter().map(|body| body_names.give("body", &body.doc.name, report)).collect();
        let joints = tree.bodies.iter().filter_map(|body| body.joint.as_ref());
        let steps =
            joints.filter(|joint| !joint.is_free() || joint.upper.is_some()).flat_map(|joint| &joint.moves);
        let moves =
            steps.map(|step| (step.name.as_str(), joint_names.give("joint", &step.name, report))).collect();
        let mut on_body: Vec<Vec<&OutGeom>> = vec![Vec::new(); n + 1];
        geoms.iter().for_each(|geom| on_body[geom.body.unwrap_or(n)].push(geom));
        Self {
            xml: XmlText::default(),
            tree,
            geoms: on_body,
            meshes: MeshFiles::new(stem),
            classes: ContactClasses::of(geoms),
            places: FilePlaces::of(tree),
            bodies,
            joint_names,
            site_names: Names::default(),
            moves,
            sites: vec![Vec::new(); n + 1],
            held: Vec::new(),
            paths: Vec::new(),
            key: KeyFrame::default(),
        }
    }

    /// Conventions, gravity, the time step, and meshes.
    fn write_head(&mut self, geoms: &[OutGeom], report: &mut ExportReport) {
        let scene = self.tree.scene;
        self.xml.begin("mujoco").put("model", &scene.name);
        self.xml.begin("compiler").put("angle", "radian");
        self.xml.end();
        let option =
            self.xml.begin("option").numbers("timestep", &[scene.dt]).vector("gravity", scene.gravity);
        option.put("integrator", "implicitfast");
        self.xml.end();
        self.write_meshes(geoms, report);
    }

    /// The name of a body, or of the world.
    fn body_name(&self, body: Option<usize>) -> &str {
        body.map_or(WORLD, |body| &self.bodies[body])
    }

    /// Adds a site; gives its name.
    fn add_site(&mut self, wanted: &str, body: Option<usize>, at: Pose) -> String {
        let name = self.site_names.fresh(wanted);
        self.sites[body.unwrap_or(self.tree.bodies.len())].push((name.clone(), at));
        name
    }
}
