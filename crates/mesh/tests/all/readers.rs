//! OBJ and STL bytes.

use glam::DVec3;
use proptest::prelude::*;
use sinew_mesh::{MeshError, Surface, TetFile};
use sinew_testkit::Rng;

use crate::shapes::{box_parts, lump};

fn obj(surface: &Surface) -> String {
    let mut text = String::from("mtllib a.mtl\no thing\n");
    for p in surface.positions() {
        text += &format!("v {} {} {}\n", p.x, p.y, p.z);
    }
    text += "vn 0 0 1\ng first\nusemtl red\n";
    for (k, [a, b, c]) in surface.triangles().iter().enumerate() {
        text += &match k % 3 {
            0 => format!("f {} {} {}\n", a + 1, b + 1, c + 1),
            1 => format!("g part{k}\nf {}//1 {}//1 {}//1\n", a + 1, b + 1, c + 1),
            _ => {
                let n = surface.positions().len() as i64;
                format!("f {} {} {}\n", i64::from(*a) - n, i64::from(*b) - n, i64::from(*c) - n)
            }
        };
    }
    text
}

fn facets(surface: &Surface) -> impl Iterator<Item = [[f32; 3]; 3]> {
    surface
        .triangles()
        .iter()
        .map(|t| t.map(|i| surface.positions()[i as usize].to_array().map(|x| x as f32)))
}

fn binary_stl(surface: &Surface, header: &[u8]) -> Vec<u8> {
    let mut bytes = header.to_vec();
    bytes.resize(80, b' ');
    bytes.extend((surface.triangles().len() as u32).to_le_bytes());
    for facet in facets(surface) {
        bytes.extend([0; 12]);
        bytes.extend(facet.iter().flatten().flat_map(|x| x.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

fn text_stl(surface: &Surface) -> String {
    let facet = |[a, b, c]: [[f32; 3]; 3]| {
        let vertex = |[x, y, z]: [f32; 3]| format!("    vertex {x} {y} {z}\n");
        format!(
            "  facet normal 0 0 0\n   outer loop\n{}{}{}   endloop\n  endfacet\n",
            vertex(a),
            vertex(b),
            vertex(c)
        )
    };
    format!("solid lump\n{}endsolid lump\n", facets(surface).map(facet).collect::<String>())
}

#[test]
fn the_same_surface_from_three_formats() {
    let surface = lump(&mut Rng::new(6), 0.1);
    let from_obj = Surface::from_obj(obj(&surface).as_bytes()).unwrap();
    assert_eq!(from_obj.triangles().len(), surface.triangles().len());
    assert!((from_obj.volume() / surface.volume() - 1.0).abs() < 1e-14);
    let corners = |s: &Surface| -> Vec<[DVec3; 3]> {
        s.triangles().iter().map(|t| t.map(|i| s.positions()[i as usize])).collect()
    };
    assert_eq!(corners(&from_obj), corners(&surface), "double precision, same order");

    let text = Surface::from_stl(text_stl(&surface).as_bytes()).unwrap();
    assert!((text.volume() / surface.volume() - 1.0).abs() < 1e-6);
    assert_eq!(text.positions().len(), surface.positions().len(), "welded");
    for header in [&b"made by hand"[..], b"solid lies, this is binary\n facet"] {
        assert_eq!(Surface::from_stl(&binary_stl(&surface, header)).unwrap(), text);
    }
}

#[test]
fn text_in_capitals_without_name_and_in_two_solids() {
    let cube = |lo: f64| {
        let (positions, triangles) = box_parts(DVec3::splat(lo), DVec3::splat(lo + 0.5));
        Surface::new(positions, triangles).unwrap()
    };
    let text = text_stl(&cube(0.0)).replace(" lump", "").to_uppercase() + "\n" + &text_stl(&cube(1.0));
    let both = Surface::from_stl(text.as_bytes()).unwrap();
    assert_eq!((both.triangles().len(), both.volume()), (24, 0.25));
}

#[test]
fn polygons_and_crowded_lines() {
    let text = "# caf\u{e9}\n  v 0 0 0 1.0 0.5 0.2 # red\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\r\nv 1 1 1\nv 0 1 1\n\
                vt 0 0\nl 1 2\np 1\nf 4/1 3/1 2/1 1/1\nf 5 6 7 8 # top\nf 1 2 6 5\nf 2 3 7 6\ns off\nf 3 4 8 7\nf 4 1 5 8\n";
    let mut bytes = text.as_bytes().to_vec();
    // a comment in another encoding
    bytes.extend(b"# \xe9\xff\n");
    let cube = Surface::from_obj(&bytes).unwrap();
    assert_eq!((cube.positions().len(), cube.triangles().len(), cube.volume()), (8, 12, 1.0));
}

#[test]
fn faults_name_the_line() {
    let cube = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    Surface::from_obj(cube.as_bytes()).unwrap();
    let fault = |text: String, start: &str, what: &str| {
        let error = Surface::from_obj(text.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(start) && error.contains(what), "{error}");
    };
    fault(cube.replace("v 0 1 0", "v 0 one 0"), "line 3", "position");
    fault(cube.replace("v 0 1 0", "v 0 1"), "line 3", "position");
    fault(cube.replace("f 1 2 4", "f 1 2 x"), "line 6", "face");
    fault(cube.replace("f 1 2 4", "f 1 2 5"), "line 6", "vertex 5");
    fault(cube.replace("f 1 2 4", "f 1 2 0"), "line 6", "vertex 0");
    fault(cube.replace("f 1 2 4", "f 1 2 -5"), "line 6", "vertex -5");
    fault(cube.replace("f 1 2 4", "f 1 /2 4"), "line 6", "face");
    fault(cube.replace("f 1 2 4\n", ""), "the surface is open", "edge");
    fault(cube.replace("v 0 0 1", "v 0 0 nan"), "vertex", "NaN");
    fault(String::new(), "the surface has no triangles", "");

    let stl = |text: &str, start: &str, what: &str| {
        let error = Surface::from_stl(text.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(start) && error.contains(what), "{error}");
    };
    let good = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n\
                facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\nendloop\nendfacet\nendsolid a\n";
    stl(good, "the surface encloses no volume", "");
    stl(&good.replace("vertex 1 0 0\nendloop", "vertex 1 0\nendloop"), "line 9", "facet 1");
    stl(&good.replace("endsolid a\n", ""), "line 15", "EOF");
    stl("solid a\nendsolid a\n", "the surface has no triangles", "");
    stl("solid", "line 1", "EOF");
    stl("", "not an STL file", "0 bytes");
    stl("hello", "not an STL file", "5 bytes");
}

#[test]
fn a_header_that_claims_gigabytes_is_not_believed() {
    let mut bytes = vec![0; 84 + 50];
    bytes[80..84].copy_from_slice(&40_000_000u32.to_le_bytes());
    let error = Surface::from_stl(&bytes).unwrap_err();
    assert!(
        matches!(error, MeshError::Format { .. }) && error.to_string().contains("2000000084 bytes"),
        "{error}"
    );
    let nan = {
        let mut bytes = vec![0; 84 + 50];
        bytes[80] = 1;
        bytes[84 + 12..84 + 16].copy_from_slice(&f32::NAN.to_le_bytes());
        bytes
    };
    assert_eq!(Surface::from_stl(&nan).unwrap_err(), MeshError::NonFiniteVertex { vertex: 0 });
}

/// Words that readers care about, in any order, and bytes that they do not.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    let words = "v|f|vt|vn|g|o|usemtl|mtllib|#|\n|\n|\n| | | |solid |facet normal|outer loop|vertex|endloop|endfacet|endsolid|\
                 0|1|2|3|4|-1|-9223372036854775808|9223372036854775807|18446744073709551615|1e999|nan|inf|1/2/3|1//2|/|4 4 0|3 3 0|é";
    let words: Vec<&str> = words.split('|').collect();
    let word = prop_oneof![
        20 => prop::sample::select(words).prop_map(|w| w.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..5),
    ];
    prop::collection::vec(word, 0..80).prop_map(|words| words.join(&b' '))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn noise_never_panics(bytes in noise(), more in noise()) {
        let _ = Surface::from_obj(&bytes);
        let _ = Surface::from_stl(&bytes);
        let _ = Surface::from_stl(&[b"solid x\n", &bytes[..]].concat());
        let _ = TetFile::from_tetgen(&bytes, &more);
        let _ = TetFile::from_tetgen(&[b"4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n", &bytes[..]].concat(), &more);
    }

    #[test]
    fn damaged_files_never_panic(cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4), stop in any::<prop::sample::Index>()) {
        let (positions, triangles) = box_parts(DVec3::ZERO, DVec3::ONE);
        let cube = Surface::new(positions, triangles).unwrap();
        for mut bytes in [obj(&cube).into_bytes(), text_stl(&cube).into_bytes(), binary_stl(&cube, b"")] {
            for (at, value) in &cuts {
                let at = at.index(bytes.len());
                bytes[at] = *value;
            }
            let _ = Surface::from_obj(&bytes);
            let _ = Surface::from_stl(&bytes);
            bytes.truncate(stop.index(bytes.len()));
            let _ = Surface::from_obj(&bytes);
            let _ = Surface::from_stl(&bytes);
        }
    }
}
