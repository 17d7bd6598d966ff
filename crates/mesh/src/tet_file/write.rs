//! Meshes of tetrahedra as text, with every digit: what the readers read, they write back bit for bit.

use std::fmt::Write;

use sinew_math::TetMesh;

/// TetGen's `.node` and `.ele`, numbered from 0; with a region per tetrahedron unless `regions` is empty.
pub fn tetgen_text(mesh: &TetMesh, regions: &[f64]) -> (String, String) {
    let (mut node, mut ele) = (String::new(), String::new());
    let _ = writeln!(node, "{} 3 0 0", mesh.positions().len());
    for (i, x) in mesh.positions().iter().enumerate() {
        let _ = writeln!(node, "{i} {} {} {}", x.x, x.y, x.z);
    }
    let _ = writeln!(ele, "{} 4 {}", mesh.tets().len(), u8::from(!regions.is_empty()));
    for (i, [a, b, c, d]) in mesh.tets().iter().enumerate() {
        let region = regions.get(i).map(|region| format!(" {region}")).unwrap_or_default();
        let _ = writeln!(ele, "{i} {a} {b} {c} {d}{region}");
    }
    (node, ele)
}

/// Gmsh's `.msh`, version 2.2, with a physical group per tetrahedron unless `regions` is empty; groups are whole numbers.
pub fn gmsh_text(mesh: &TetMesh, regions: &[f64]) -> String {
    let mut out = String::from("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n");
    let _ = writeln!(out, "$Nodes\n{}", mesh.positions().len());
    for (i, x) in mesh.positions().iter().enumerate() {
        let _ = writeln!(out, "{} {} {} {}", i + 1, x.x, x.y, x.z);
    }
    let _ = writeln!(out, "$EndNodes\n$Elements\n{}", mesh.tets().len());
    for (i, tet) in mesh.tets().iter().enumerate() {
        let [a, b, c, d] = tet.map(|node| node + 1);
        let region = regions.get(i).copied().unwrap_or(0.0);
        let _ = writeln!(out, "{} 4 2 {region} {region} {a} {b} {c} {d}", i + 1);
    }
    out.push_str("$EndElements\n");
    out
}

/// VTK's legacy `.vtk` text.
pub fn vtk_text(mesh: &TetMesh) -> String {
    let (n_nodes, n_tets) = (mesh.positions().len(), mesh.tets().len());
    let mut out = format!(
        "# vtk DataFile Version 3.0\ntetrahedra\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {n_nodes} double\n"
    );
    for x in mesh.positions() {
        let _ = writeln!(out, "{} {} {}", x.x, x.y, x.z);
    }
    let _ = writeln!(out, "CELLS {n_tets} {}", 5 * n_tets);
    for [a, b, c, d] in mesh.tets() {
        let _ = writeln!(out, "4 {a} {b} {c} {d}");
    }
    let _ = writeln!(out, "CELL_TYPES {n_tets}");
    out.push_str(&"10\n".repeat(n_tets));
    out
}
