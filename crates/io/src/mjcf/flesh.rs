//! Flesh of flexes: where it stands, its material, and what holds it.

use sinew_math::Pose;
use sinew_scene::{AttachDoc, AttachedDoc, FleshDoc, FleshMaterialDoc, FleshMeshDoc, PoseDoc, StrainDoc};

use super::flex::MjcfFlex;
use super::parts::{MjcfScene, WORLD};
use crate::report::ImportReport;

impl MjcfScene<'_, '_> {
    /// Writes flesh, in the order of the flexes.
    pub(super) fn write_flesh(&mut self, report: &mut ImportReport) {
        for flex in &self.model.tree.flexes {
            let (carrier, carrier_from_body) = self.carrier(flex.body);
            let body = carrier.and_then(|name| self.scene.bodies.iter().find(|body| body.name == name));
            let world_from_carrier = body.map_or(Pose::IDENTITY, |body| body.pose.to_pose());
            let at = world_from_carrier.compose(&carrier_from_body).compose(&flex.at);
            let name = self.fresh(if flex.name.is_empty() { "flex" } else { &flex.name });
            report.count("flesh", 1);
            report.count("tetrahedra", flex.mesh.tets().len());
            self.scene.flesh.push(flesh(flex, name, at, carrier.unwrap_or(WORLD)));
        }
    }
}

/// The flesh of a flex in the world, held by a body.
fn flesh(flex: &MjcfFlex, name: String, at: Pose, holder: &str) -> FleshDoc {
    let [young, poisson, damping] = flex.elasticity;
    let volume: f64 = (0..flex.mesh.tets().len()).map(|tet| flex.mesh.volume(tet)).sum();
    let mut material = FleshMaterialDoc::default();
    if let FleshMaterialDoc::StVenantKirchhoff { young: own, poisson: ratio, .. } = &mut material {
        (*own, *ratio) = (young, poisson);
    }
    let pins = AttachDoc { body: Some(holder.to_owned()), nodes: AttachedDoc::List(flex.pins.clone()) };
    FleshDoc {
        name,
        mesh: FleshMeshDoc::Tets { nodes: flex.mesh.positions().to_vec(), tets: flex.mesh.tets().to_vec() },
        pose: PoseDoc::from(at),
        material,
        strain: StrainDoc::Local,
        density: Some(flex.mass / volume),
        stiffness_damping_s: damping.max(0.0),
        attach: if flex.pins.is_empty() { Vec::new() } else { vec![pins] },
        color: flex.color,
        ..FleshDoc::default()
    }
}
