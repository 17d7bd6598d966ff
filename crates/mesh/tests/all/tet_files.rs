//! Tetrahedra from Gmsh and VTK files, triangles from PLY files.

use glam::DVec3;
use proptest::prelude::*;
use sinew_mesh::{TetFile, TetMesh, gmsh_text, read_triangles, tetgen_text, vtk_text};

fn beam() -> TetMesh {
    let beam = sinew_mesh::beam(DVec3::new(0.3, 0.1, 0.7), [3, 2, 2]).unwrap();
    let shaken =
        beam.positions().iter().map(|x| *x + 0.01 * DVec3::new(x.y.sqrt(), x.z * x.x, x.x / 3.0)).collect();
    TetMesh::new(shaken, beam.tets().to_vec()).unwrap()
}

#[test]
fn every_format_of_text_keeps_every_bit() {
    let mesh = beam();
    let regions: Vec<f64> = (0..mesh.tets().len()).map(|tet| (1 + tet % 3) as f64).collect();
    let (node, ele) = tetgen_text(&mesh, &regions);
    let tetgen = TetFile::from_tetgen(node.as_bytes(), ele.as_bytes()).unwrap();
    let gmsh = TetFile::from_gmsh(gmsh_text(&mesh, &regions).as_bytes()).unwrap();
    for read in [&tetgen, &gmsh] {
        assert_eq!((&read.mesh, &read.regions), (&mesh, &regions));
        assert_eq!((read.n_turned, read.n_unused, read.n_other), (0, 0, 0));
    }
    let vtk = TetFile::from_bytes("beam.VTK", vtk_text(&mesh).as_bytes()).unwrap();
    assert_eq!((vtk.mesh, vtk.regions), (mesh, Vec::new()));
}

/// One tetrahedron of ten nodes in the volume 7, with a triangle and a point, as Gmsh 4.1 writes them.
const GMSH_4: &str = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 5 \"core\"\n$EndPhysicalNames
$Entities\n1 0 1 1\n1 0 0 0 0\n3 0 0 0 1 1 1 1 2 0\n7 0 0 0 1 1 1 1 5 1 3\n$EndEntities
$Nodes\n2 11 10 30\n0 1 0 1\n30\n9 9 9\n3 7 0 10\n10\n12\n13\n14\n15\n16\n17\n18\n19\n20
0 0 0\n1 0 0\n0 1 0\n0 0 1\n.5 0 0\n.5 .5 0\n0 .5 0\n0 0 .5\n.5 0 .5\n0 .5 .5\n$EndNodes
$Elements\n3 3 1 3\n0 1 15 1\n1 30\n2 3 2 1\n2 10 12 13\n3 7 11 1\n3 10 13 12 14 15 16 17 18 19 20\n$EndElements\n";

#[test]
fn gmsh_4_has_gaps_in_its_numbers_and_groups_of_volumes() {
    let found = TetFile::from_gmsh(GMSH_4.as_bytes()).unwrap();
    assert_eq!(found.mesh.positions(), [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z]);
    assert_eq!((found.regions, found.n_turned, found.n_unused, found.n_other), (vec![5.0], 1, 7, 2));
}

#[test]
fn vtk_of_bytes_is_that_of_text() {
    let mesh = beam();
    let mut old = b"# vtk DataFile Version 2.0\nbeam\nBINARY\nDATASET UNSTRUCTURED_GRID\n".to_vec();
    old.extend(format!("POINTS {} double\n", mesh.positions().len()).bytes());
    mesh.positions().iter().flat_map(|x| x.to_array()).for_each(|x| old.extend(x.to_be_bytes()));
    let mut new = old.clone();
    let n = mesh.tets().len();
    old.extend(format!("\nCELLS {n} {}\n", 5 * n).bytes());
    mesh.tets().iter().for_each(|tet| [4].iter().chain(tet).for_each(|i| old.extend(i.to_be_bytes())));
    new.extend(format!("\nCELLS {} {}\nOFFSETS vtktypeint64\n", n + 1, 4 * n).bytes());
    (0..=n).for_each(|tet| new.extend((4 * tet as i64).to_be_bytes()));
    new.extend(b"\nCONNECTIVITY vtktypeint64\n");
    mesh.tets().iter().flatten().for_each(|i| new.extend(i64::from(*i).to_be_bytes()));
    for bytes in [&mut old, &mut new] {
        bytes.extend(format!("\nCELL_TYPES {n}\n").bytes());
        (0..n).for_each(|_| bytes.extend(10_i32.to_be_bytes()));
        bytes.extend(b"\nPOINT_DATA 3\n");
        assert_eq!(TetFile::from_vtk(bytes).unwrap().mesh, mesh);
    }
}

#[test]
fn vtu_in_text_base64_and_raw_bytes() {
    let wrap = |data: &str, end: &str| {
        format!("<?xml version=\"1.0\"?><VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\" header_type=\"UInt32\">
            <UnstructuredGrid><Piece NumberOfPoints=\"4\" NumberOfCells=\"1\">{data}</Piece></UnstructuredGrid>{end}</VTKFile>")
    };
    let points = "0 0 0 1 0 0 0 1 0 0 0 1";
    let text = format!("<Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">{points}</DataArray></Points>
        <Cells><DataArray type=\"Int32\" Name=\"connectivity\">0 1 2 3</DataArray><DataArray type=\"Int32\" Name=\"offsets\">4</DataArray>
        <DataArray type=\"UInt8\" Name=\"types\">10</DataArray></Cells>");
    let expected = TetFile::from_vtu(wrap(&text, "").as_bytes()).unwrap();
    assert_eq!(expected.mesh.positions()[3], DVec3::Z);
    // 96 bytes of points after their count, in base64
    let base64 = "YAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAPA/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA8D8AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADwPw==";
    let inline =
        text.replace("format=\"ascii\">0 0 0 1 0 0 0 1 0 0 0 1", &format!("format=\"binary\">{base64}"));
    assert_eq!(TetFile::from_vtu(wrap(&inline, "").as_bytes()).unwrap(), expected);
    let appended =
        text.replace("format=\"ascii\">0 0 0 1 0 0 0 1 0 0 0 1", "format=\"appended\" offset=\"0\">");
    let as_text = wrap(&appended, &format!("<AppendedData encoding=\"base64\">_{base64}</AppendedData>"));
    assert_eq!(TetFile::from_vtu(as_text.as_bytes()).unwrap(), expected);
    let raw = wrap(&appended, "<AppendedData encoding=\"raw\">_");
    let mut raw = raw.strip_suffix("</VTKFile>").unwrap().as_bytes().to_vec();
    raw.extend(96_u32.to_le_bytes());
    points.split(' ').for_each(|x| raw.extend(x.parse::<f64>().unwrap().to_le_bytes()));
    raw.extend(b"</AppendedData></VTKFile>");
    assert_eq!(TetFile::from_vtu(&raw).unwrap(), expected);
}

#[test]
fn faults_of_tet_files_name_the_line() {
    let gmsh = |text: &str| TetFile::from_gmsh(text.as_bytes()).unwrap_err().to_string();
    assert_eq!(
        gmsh("$MeshFormat\n2.2 1 8\n"),
        "line 2: binary .msh files are not read; save it as text (Mesh.Binary = 0)"
    );
    assert!(gmsh(&GMSH_4.replace("10 13 12 14", "10 13 99 14")).contains("names node 99"));
    assert!(gmsh(&GMSH_4.replace("11 1\n3 10", "77 1\n3 10")).contains("elements of type 77"));
    assert!(TetFile::from_bytes("a.txt", b"").unwrap_err().to_string().contains(".msh"));
    let stl = TetFile::from_vtk(b"# vtk DataFile Version 3.0\n\nASCII\nDATASET POLYDATA\n").unwrap_err();
    assert!(stl.to_string().contains("UNSTRUCTURED_GRID"), "{stl}");
}

#[test]
fn ply_in_text_and_bytes() {
    let header = |format: &str| {
        format!(
            "ply\nformat {format} 1.0\ncomment made by hand\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
        )
    };
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.5_f32]];
    let mut text = header("ascii");
    let (mut little, mut big) =
        (header("binary_little_endian").into_bytes(), header("binary_big_endian").into_bytes());
    for [x, y, z] in corners {
        text += &format!("{x} {y} {z} 255\n");
        [x, y, z].iter().for_each(|x| little.extend(x.to_le_bytes()));
        [x, y, z].iter().for_each(|x| big.extend(x.to_be_bytes()));
        little.push(255);
        big.push(255);
    }
    text += "4 0 1 2 3\n";
    little.push(4);
    big.push(4);
    (0..4_i32).for_each(|i| little.extend(i.to_le_bytes()));
    (0..4_i32).for_each(|i| big.extend(i.to_be_bytes()));
    let expected = read_triangles("a.ply", text.as_bytes()).unwrap();
    assert_eq!(expected.triangles, [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(read_triangles("a.ply", &little).unwrap(), expected);
    assert_eq!(read_triangles("a.PLY", &big).unwrap(), expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn no_bytes_make_readers_of_tets_panic(cut in 0_usize..700, at in 0_usize..700, byte: u8) {
        for text in [GMSH_4.to_owned(), gmsh_text(&sinew_mesh::single_tet(1.0).unwrap(), &[]), vtk_text(&sinew_mesh::single_tet(1.0).unwrap())] {
            let mut bytes = text.into_bytes();
            bytes.truncate(cut.max(20));
            let n = bytes.len();
            bytes[at % n] = byte;
            let _ = TetFile::from_gmsh(&bytes);
            let _ = TetFile::from_vtk(&bytes);
            let _ = TetFile::from_vtu(&bytes);
            let _ = read_triangles("a.ply", &bytes);
        }
    }
}
