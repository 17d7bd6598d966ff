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
mod kept;
mod key;
mod places;
mod tendons;
mod writer;

use sinew_scene::SceneDoc;

use crate::export_error::ExportError;
use crate::export_report::ExportReport;
use crate::exported::Exported;
use crate::outgoing::{OutGeom, OutScene, OutTree, geoms_of, note_bodies, note_common};

use self::writer::MjcfWriter;

/// How deep elements may be inside each other in what reads XML.
const DEEPEST: usize = 480;

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

impl MjcfWriter<'_, '_> {
    /// Conventions, gravity, the time step, and meshes.
    pub(super) fn write_head(&mut self, geoms: &[OutGeom], report: &mut ExportReport) {
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
}
