//! Files that want to fill memory: refused, or read in little of it. Inputs that fuzzing found are in `tests/found`.

use std::fmt::Write as _;
use std::path::Path;

use miniz_oxide::deflate::compress_to_vec_zlib;
use sinew_mesh::{Surface, TetFile};

/// A `.vtu` file of pieces that all have the same appended arrays, of which the first holds the points.
fn pieces(n: usize, compressor: &str, data: &[u8], points: usize) -> Vec<u8> {
    let mut text = format!(
        "<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\" header_type=\"UInt32\"{compressor}><UnstructuredGrid>"
    );
    for _ in 0..n {
        let _ = write!(
            text,
            "<Piece><Points><DataArray type=\"Float64\" format=\"appended\" offset=\"0\"/></Points><Cells>\
             <DataArray type=\"Int32\" Name=\"connectivity\" format=\"appended\" offset=\"{points}\"/>\
             <DataArray type=\"Int32\" Name=\"offsets\" format=\"appended\" offset=\"{points}\"/>\
             <DataArray type=\"UInt8\" Name=\"types\" format=\"appended\" offset=\"{points}\"/></Cells></Piece>"
        );
    }
    text.push_str("</UnstructuredGrid><AppendedData encoding=\"raw\">_");
    [text.as_bytes(), data, b"</AppendedData></VTKFile>"].concat()
}

fn refused_for_its_size(bytes: &[u8]) {
    let error = TetFile::from_vtu(bytes).expect_err("it is too large").to_string();
    assert!(error.contains("too large") || error.contains("decompressed"), "{error}");
}

#[test]
fn arrays_that_many_pieces_share_do_not_fill_memory() {
    let mut data = 240_000_u32.to_le_bytes().to_vec();
    data.resize(4 + 240_000, 0);
    let points = data.len();
    data.extend([0; 4]);
    // one piece has nothing wrong with its size
    let one = TetFile::from_vtu(&pieces(1, "", &data, points)).expect_err("no cells").to_string();
    assert!(!one.contains("too large"), "{one}");
    refused_for_its_size(&pieces(5_000, "", &data, points));
}

#[test]
fn arrays_that_unpack_to_a_thousand_times_their_size_are_refused() {
    let zeros = compress_to_vec_zlib(&vec![0; 24_000_000], 9);
    let head = [1, 24_000_000, 0, zeros.len() as u32].map(u32::to_le_bytes).concat();
    let data = [&head[..], &zeros].concat();
    let bytes = pieces(1, " compressor=\"vtkZLibDataCompressor\"", &data, 0);
    assert!(bytes.len() < 100_000);
    refused_for_its_size(&bytes);
}

#[test]
fn inputs_that_were_found_are_harmless() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/found");
    for entry in std::fs::read_dir(folder).expect("the folder is part of the repository") {
        let path = entry.expect("readable").path();
        let bytes = std::fs::read(&path).expect("readable");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        match name.split('-').next() {
            Some("gmsh") => _ = TetFile::from_gmsh(&bytes),
            Some("vtk") => _ = TetFile::from_vtk(&bytes),
            Some("vtu") => _ = TetFile::from_vtu(&bytes),
            Some("tetgen") => {
                let at = bytes.windows(5).position(|window| window == b"\n===\n").unwrap_or(bytes.len());
                _ = TetFile::from_tetgen(&bytes[..at], bytes.get(at + 5..).unwrap_or_default());
            }
            Some("ply") => _ = Surface::from_ply(&bytes),
            Some("obj") => _ = Surface::from_obj(&bytes),
            Some("stl") => _ = Surface::from_stl(&bytes),
            #[cfg(feature = "serde")]
            Some("embedded") => {
                _ = ron::from_str::<sinew_mesh::EmbeddedBody>(&String::from_utf8_lossy(&bytes));
            }
            _ => panic!("{name}: which reader is it for?"),
        }
    }
}
