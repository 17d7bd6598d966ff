//! Regular tetrahedra.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_3, FRAC_PI_4};

use glam::DVec3;
use sinew_mesh::{Cells, EmbeddedBody, Filling, Lattice, Pattern, TetMesh};
use sinew_testkit::{Rng, assert_close};

use crate::shapes::{box_surface, lump};

#[test]
fn beams_have_the_volume_of_their_box_and_closed_boundaries() {
    for cells in [[1, 1, 1], [4, 1, 2], [3, 3, 3]] {
        let lengths = DVec3::new(2.0, 0.3, 0.7);
        let beam = sinew_mesh::beam(lengths, cells).unwrap();
        let [i, j, k] = cells.map(|n| n as usize);
        assert_eq!(beam.tets().len(), 6 * i * j * k);
        assert_eq!(beam.positions().len(), (i + 1) * (j + 1) * (k + 1));
        assert_eq!(beam.boundary().len(), 4 * (i * j + j * k + k * i));
        let volume: f64 = (0..beam.tets().len()).map(|tet| beam.volume(tet)).sum();
        assert_close!(volume, lengths.element_product(), 1e-14);
        TetMesh::new(beam.positions().to_vec(), beam.tets().to_vec()).unwrap();
    }
    assert!(
        sinew_mesh::beam(DVec3::new(1.0, 0.0, 1.0), [1; 3]).unwrap_err().to_string().contains("length is 0")
    );
    assert!(sinew_mesh::cube(1.0, 0).is_err() && sinew_mesh::cube(1.0, 100_000).is_err());
    assert!(sinew_mesh::cube(f64::INFINITY, 1).is_err() && sinew_mesh::single_tet(0.0).is_err());
    assert_close!(sinew_mesh::single_tet(2.0).unwrap().volume(0), 8.0 / 6.0, 1e-15);
}

#[test]
fn shapes_of_the_patterns() {
    let cube = box_surface(DVec3::ZERO, DVec3::ONE);
    let of = |pattern, n| {
        let lattice = Lattice { cells: Cells::Longest(n), pattern };
        EmbeddedBody::in_lattice(cube.clone(), &lattice, &Filling::default()).unwrap()
    };
    let bricks = of(Pattern::Bricks, 3);
    assert_eq!((bricks.nodes().len(), bricks.tets().len()), (64, 162));
    assert_close!(bricks.quality().dihedral, [FRAC_PI_4, FRAC_PI_2], 1e-14);
    let centred = of(Pattern::BodyCentred, 3);
    // four at each of the 54 + 54 faces between bricks and around them
    assert_eq!(centred.tets().len(), 4 * 108);
    assert_eq!(centred.nodes().len(), 64 + 27 + 54);
    let quality = centred.quality();
    assert_close!(quality.dihedral, [FRAC_PI_3, FRAC_PI_2], 1e-14);
    assert_close!(quality.volume_ratio, 1.0, 1e-12);
    assert_close!(quality.max_aspect, 1.0, 0.35);
}

/// No tetrahedron is empty, every face has at most two tetrahedra, and tetrahedra do not overlap.
#[test]
fn lattices_hold_the_solid_and_nothing_else() {
    let mut rng = Rng::new(21);
    for pattern in [Pattern::Bricks, Pattern::BodyCentred] {
        let surface = lump(&mut rng, 0.06);
        let lattice = Lattice { cells: Cells::Each([7, 5, 4]), pattern };
        let body = EmbeddedBody::in_lattice(surface, &lattice, &Filling::default()).unwrap();
        assert!(body.fill().iter().all(|&w| w > 0.0));
        let mut faces: Vec<[u32; 3]> = Vec::new();
        for t in body.tets() {
            for skip in 0..4 {
                let mut face: Vec<u32> = (0..4).filter(|&k| k != skip).map(|k| t[k]).collect();
                face.sort_unstable();
                faces.push([face[0], face[1], face[2]]);
            }
        }
        faces.sort_unstable();
        assert!(faces.chunk_by(|a, b| a == b).all(|same| same.len() <= 2));
        let full = (0..body.tets().len()).filter(|&tet| body.fill()[tet] == 1.0).count();
        assert!(full > 0 && full < body.tets().len());
    }
}
