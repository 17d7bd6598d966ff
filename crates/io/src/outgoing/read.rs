//! A scene that is to be written in another format, and its world.

use sinew_math::{MassProperties, Pose, Sym3, quat_to_mat3};
use sinew_scene::{BodyDoc, BodyKindDoc, SceneDoc};
use sinew_sim::World;

use crate::export_error::ExportError;
use crate::export_report::ExportReport;

/// Openings of joints that count as none (m or rad).
const CLOSED: f64 = 1e-9;

/// A scene with its generators written out, and its world at the beginning.
pub(crate) struct OutScene {
    pub(crate) doc: SceneDoc,
    pub(crate) world: World,
}

impl OutScene {
    /// Builds a scene. Joints that are open at first are closed, which is told.
    pub(crate) fn read(scene: &SceneDoc, report: &mut ExportReport) -> Result<Self, ExportError> {
        let mut doc = scene.expanded();
        let build = |doc: &SceneDoc| {
            World::from_scene(doc).map_err(|error| ExportError::Unfit { problem: error.to_string() })
        };
        let mut world = build(&doc)?;
        let open = world.violation();
        let worst = open.position.max(open.rotation);
        if !doc.assemble && worst > CLOSED {
            doc.assemble = true;
            world = build(&doc)?;
            let what = format!("joints are open at first by {worst:.1e} m or rad; the file has them closed");
            report.approximated("initial poses", what);
        }
        Ok(Self { doc, world })
    }

    /// Mass, centre of mass and inertia of a body in its frame.
    pub(crate) fn mass(&self, body: &BodyDoc) -> MassProperties {
        let written = body.mass_properties();
        let mechanism = self.world.mechanism();
        let Some(id) = self.world.body(&body.name).filter(|_| body.kind == BodyKindDoc::Dynamic) else {
            return written;
        };
        let mass = mechanism.body_mass(id);
        if (written.mass - mass).abs() <= 1e-12 * mass {
            return written;
        }
        // Meshes give it its mass.
        let Pose { rotation, .. } = mechanism.central_frame(id);
        let inertia = Sym3::diagonal(mechanism.principal_moments(id)).rotated_by(&quat_to_mat3(rotation));
        MassProperties { mass, com: mechanism.center_of_mass(id), inertia }
    }
}
