//! Gears between the moves of joints.

use std::collections::BTreeMap;

use sinew_scene::{CoordinateDoc, ForceCoordinate, GearDoc};

use super::joint::{JointMove, MoveKind};
use super::tree::OutTree;
use crate::export_report::ExportReport;

/// A gear between two moves of the tree: `driven = ratio · driver + offset`.
pub(crate) struct OutGear<'a> {
    pub(crate) doc: &'a GearDoc,
    pub(crate) driver: &'a JointMove,
    pub(crate) driven: &'a JointMove,
}

/// The gears whose joints are in the tree; the others are told.
pub(crate) fn gears_of<'a>(tree: &'a OutTree<'_>, report: &mut ExportReport) -> Vec<OutGear<'a>> {
    let joints: BTreeMap<&str, _> = tree
        .bodies
        .iter()
        .filter_map(|body| body.joint.as_ref())
        .map(|joint| (joint.doc.name.as_str(), joint))
        .collect();
    let step = |name: &str, coordinate: Option<CoordinateDoc>| {
        let joint = joints.get(name)?;
        let wanted = match coordinate {
            Some(CoordinateDoc::Angle) => MoveKind::Turn,
            Some(CoordinateDoc::Slide) => MoveKind::Slide,
            None if joint.doc.force_coordinate() == Some(ForceCoordinate::Slide) => MoveKind::Slide,
            None => MoveKind::Turn,
        };
        joint.moves.iter().find(|step| step.kind == wanted)
    };
    let mut gears = Vec::new();
    for doc in &tree.scene.gears {
        let driver = step(&doc.driver, doc.driver_coordinate);
        match (driver, step(&doc.driven, doc.driven_coordinate)) {
            (Some(driver), Some(driven)) => gears.push(OutGear { doc, driver, driven }),
            _ => report.left_out(format!("gear `{}`", doc.name), "one of its joints closes a loop"),
        }
    }
    gears
}
