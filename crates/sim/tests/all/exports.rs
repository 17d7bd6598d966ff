//! What users of the facade need is named by it: every document of a scene, of which fields of others are made.

use glam::DVec3;
use sinew_sim::{BreakLoadDoc, ColliderShapeDoc, HullDoc, JointDoc, LimitsDoc, TargetDoc, TriMeshDoc};

#[test]
fn fields_of_documents_can_be_written_with_the_facade_alone() {
    let joint = JointDoc {
        limits: Some(LimitsDoc { min: -1.0, ..LimitsDoc::default() }),
        breaks_at: Some(BreakLoadDoc { force: Some(500.0), torque: None }),
        ..JointDoc::default()
    };
    assert_eq!(joint.limits.map(|limits| limits.min), Some(-1.0));
    let shapes = [
        ColliderShapeDoc::TriMesh(TriMeshDoc::default()),
        ColliderShapeDoc::Convex(HullDoc { points: vec![DVec3::X], ..HullDoc::default() }),
    ];
    assert_eq!(shapes.len(), 2);
    assert_eq!(TargetDoc::default(), TargetDoc::Value(0.0));
}

#[test]
fn every_document_of_a_scene_is_named() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |path: &std::path::Path| std::fs::read_to_string(path).expect("a source");
    let facade = read(&crates.join("sim/src/lib.rs"));
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let known: std::collections::BTreeSet<&str> = facade.split(|c| !is_word(c)).collect();
    let mut n_documents = 0;
    for file in std::fs::read_dir(crates.join("scene/src/doc")).expect("the documents") {
        let text = read(&file.expect("a file").path());
        for line in text.lines() {
            let item = ["pub struct ", "pub enum "].iter().find_map(|kind| line.trim().strip_prefix(kind));
            let Some(name) = item.and_then(|item| item.split(|c| !is_word(c)).next()) else { continue };
            n_documents += 1;
            assert!(known.contains(name), "sinew_sim does not name {name}");
        }
    }
    assert!(n_documents > 100, "{n_documents}");
}
