//! Reference numbers in `fixtures/golden`.

use glam::DVec3;
use serde_json::Value;
use sinew_mesh::{TetMesh, overlap_shares};
use sinew_testkit::assert_close;

use crate::shapes::box_surface;

const MESH: &str = include_str!("../../../../fixtures/golden/mesh.json");

fn vector(value: &Value) -> DVec3 {
    let list: Vec<f64> = value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    DVec3::from_slice(&list)
}

/// A box that sticks out of the only tetrahedron on all sides.
#[test]
fn a_box_in_a_tetrahedron() {
    let all: Value = serde_json::from_str(MESH).unwrap();
    let case = &all["cases"]["embedded_box_in_tet"];
    let nodes = case["in"]["tet"].as_array().unwrap().iter().map(vector).collect();
    let tet = TetMesh::new(nodes, vec![[0, 1, 2, 3]]).unwrap();
    let origin = vector(&case["in"]["origin"]);
    let solid = box_surface(origin, origin + vector(&case["in"]["size"]));
    let shares = overlap_shares(&solid, &tet)[0];
    let expected = &case["out"];
    let reference = expected["nodal_integrals"].as_array().unwrap();
    for (share, reference) in shares.iter().zip(reference) {
        assert_close!(share * tet.volume(0), reference.as_f64().unwrap(), 1e-15);
    }
    let fill = shares.iter().sum::<f64>();
    assert_close!(fill, expected["w"].as_f64().unwrap(), 1e-14);
    assert_close!(fill * tet.volume(0), expected["filled_volume"].as_f64().unwrap(), 1e-15);
}
