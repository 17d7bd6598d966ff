//! `.node` and `.ele` text.

use glam::DVec3;
use sinew_mesh::{TetFile, TetMesh};
use sinew_testkit::assert_close;

const NODES: &str = "# a bipyramid\n5 3 1 1\n\n1  0 0 0  7.5 1 # with attribute and marker\n2  1 0 0  0 0\n3  0 1 0  0 0\n4  0 0 1e0  0 0\n5  0 0 -2  0 0\n";
const ELEMENTS: &str = "2 4 1\n1  1 2 3 4  10\n2  1 2 3 5  20\n# done\n";

#[test]
fn numbers_from_one_and_from_zero() {
    let found = TetFile::from_tetgen(NODES.as_bytes(), ELEMENTS.as_bytes()).unwrap();
    assert_eq!((found.n_turned, found.n_unused), (1, 0));
    assert_eq!(found.regions, [10.0, 20.0]);
    assert_close!([found.mesh.volume(0), found.mesh.volume(1)], [1.0 / 6.0, 1.0 / 3.0], 1e-15);

    let nodes = "6 3 0 0\r\n0 0 0 0\r\n1 1 0 0\r\n2 0 1 0\r\n3 0 0 1\r\n4 9 9 9\r\n5 0 0 -2\r\n";
    let elements = "2 10 0\r\n0 0 1 2 3 9 9 9 9 9 9\r\n1 0 1 2 5 9 9 9 9 9 9\r\n";
    let zero = TetFile::from_tetgen(nodes.as_bytes(), elements.as_bytes()).unwrap();
    assert_eq!((zero.mesh, zero.n_turned, zero.n_unused), (found.mesh, 1, 1));
    assert!(zero.regions.is_empty());
}

#[test]
fn a_mesh_survives_the_way_through_text() {
    let beam = sinew_mesh::beam(DVec3::new(0.3, 0.1, 0.7), [3, 2, 2]).unwrap();
    let mut node = format!("{} 3 0 0\n", beam.positions().len());
    for (i, x) in beam.positions().iter().enumerate() {
        node += &format!("{i} {} {} {}\n", x.x, x.y, x.z);
    }
    let mut ele = format!("{} 4 0\n", beam.tets().len());
    for (i, [a, b, c, d]) in beam.tets().iter().enumerate() {
        ele += &format!("{i} {a} {b} {c} {d}\n");
    }
    let read = TetFile::from_tetgen(node.as_bytes(), ele.as_bytes()).unwrap();
    assert_eq!((read.mesh, read.n_turned, read.n_unused), (beam, 0, 0));
}

#[test]
fn faults_name_line_and_file() {
    let fault = |node: &str, ele: &str, place: &str, what: &str| {
        let error = TetFile::from_tetgen(node.as_bytes(), ele.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(place) && error.contains(what), "{error}");
    };
    fault("", ELEMENTS, "line 0", "empty (.node file)");
    fault(NODES, "# nothing\n", "line 1", "empty (.ele file)");
    fault("5 2 0 0\n", ELEMENTS, "line 1", "dimension");
    fault("x 3\n", ELEMENTS, "line 1", "\"x\" is not a count");
    fault("-1 3\n", ELEMENTS, "line 1", "\"-1\" is not a count");
    fault(&NODES.replace("1 0 0  0 0", "1 zero 0  0 0"), ELEMENTS, "line 5", "\"zero\" is not a coordinate");
    fault(&NODES.replace("1 0 0  0 0", "1 NaN 0  0 0"), ELEMENTS, "line 5", "node 2 has a NaN");
    fault(&NODES.replace("1 0 0  0 0", "1 0"), ELEMENTS, "line 5", "a coordinate is missing");
    fault(&NODES.replace("3  0 1", "7  0 1"), ELEMENTS, "line 6", "node 7 is out of order");
    fault(&NODES.replace("\n5 3", "\n6 3"), ELEMENTS, "line 8", "1 entries are missing");
    fault("4000000000 3 0 0\n", ELEMENTS, "line 1", "too many");
    fault("1000000000 3 0 0\n1 0 0 0\n", ELEMENTS, "line 2", "999999999 entries are missing");
    fault(NODES, &ELEMENTS.replace("1 2 3 5", "1 2 3 6"), "line 3", "refers to node 6");
    fault(NODES, &ELEMENTS.replace("1 2 3 5", "0 2 3 5"), "line 3", "refers to node 0");
    fault(NODES, &ELEMENTS.replace("2 4 1", "2 8 1"), "line 1", "8 corners");
    fault(NODES, &ELEMENTS.replace("2  1", "3  1"), "line 3", "element 3 is out of order");
    fault(NODES, &ELEMENTS.replace("  20", ""), "line 3", "a region is missing");
    fault(NODES, &ELEMENTS.replace("1 2 3 5", "1 2 3 3"), "tetrahedron 1", "uses node 2 twice");
    fault(NODES, "0 4 0\n", "the mesh", "no tetrahedra");
}

#[test]
fn meshes_are_checked() {
    let good = sinew_mesh::cube(1.0, 1).unwrap();
    type Change<'a> = &'a dyn Fn(&mut Vec<DVec3>, &mut Vec<[u32; 4]>);
    let of = |change: Change<'_>| {
        let (mut nodes, mut tets) = (good.positions().to_vec(), good.tets().to_vec());
        change(&mut nodes, &mut tets);
        TetMesh::new(nodes, tets).unwrap_err().to_string()
    };
    assert!(of(&|_, t| t.clear()).contains("no tetrahedra"));
    assert!(of(&|_, t| t[2].swap(0, 1)).starts_with("tetrahedron 2 is inverted"));
    assert!(of(&|n, _| n.push(DVec3::ONE)).contains("no tetrahedron uses node 8"));
    assert!(of(&|_, t| t[3][2] = 99).contains("tetrahedron 3 refers to node 99"));
    assert!(of(&|n, _| n[4].z = f64::INFINITY).contains("node 4 has a NaN"));
    assert!(of(&|_, t| t[1][3] = t[1][0]).starts_with("tetrahedron 1 uses node"));
}
