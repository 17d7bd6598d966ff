//! A model that is being written.

use std::collections::BTreeMap;

use sinew_math::Pose;

use super::kept::{ContactClasses, HeldSites, KeyFrame, SiteTendon};
use super::places::FilePlaces;
use crate::export_report::ExportReport;
use crate::outgoing::{MeshFiles, OutGeom, OutNames, OutTree};
use crate::xml_text::XmlText;

/// The name of the world.
pub(super) const WORLD: &str = "world";

/// A model that is being written.
pub(super) struct MjcfWriter<'a, 't> {
    pub(super) xml: XmlText,
    pub(super) tree: &'t OutTree<'a>,
    /// Per body, and for the world at the end.
    pub(super) geoms: Vec<Vec<&'t OutGeom>>,
    pub(super) meshes: MeshFiles,
    pub(super) classes: ContactClasses,
    pub(super) places: FilePlaces,
    pub(super) bodies: Vec<String>,
    pub(super) joint_names: OutNames,
    pub(super) site_names: OutNames,
    /// OutNames of joints by those of their moves.
    pub(super) moves: BTreeMap<&'t str, String>,
    /// OutNames and frames of sites per body, and of the world at the end.
    pub(super) sites: Vec<Vec<(String, Pose)>>,
    pub(super) held: Vec<HeldSites>,
    pub(super) paths: Vec<SiteTendon>,
    pub(super) key: KeyFrame,
}

impl<'a, 't> MjcfWriter<'a, 't> {
    pub(super) fn new(
        tree: &'t OutTree<'a>,
        geoms: &'t [OutGeom],
        stem: &str,
        report: &mut ExportReport,
    ) -> Self {
        let n = tree.bodies.len();
        let mut body_names = OutNames::reserving(&[WORLD]);
        let mut joint_names = OutNames::default();
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
            site_names: OutNames::default(),
            moves,
            sites: vec![Vec::new(); n + 1],
            held: Vec::new(),
            paths: Vec::new(),
            key: KeyFrame::default(),
        }
    }

    /// The name of a body, or of the world.
    pub(super) fn body_name(&self, body: Option<usize>) -> &str {
        body.map_or(WORLD, |body| &self.bodies[body])
    }

    /// Adds a site; gives its name.
    pub(super) fn add_site(&mut self, wanted: &str, body: Option<usize>, at: Pose) -> String {
        let name = self.site_names.fresh(wanted);
        self.sites[body.unwrap_or(self.tree.bodies.len())].push((name.clone(), at));
        name
    }
}
