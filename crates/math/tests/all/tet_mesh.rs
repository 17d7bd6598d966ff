//! Everything that can be wrong with a tetrahedral mesh, and what a valid one tells.

use glam::{DMat3, DVec3};
use sinew_math::{SurfacePoint, TetMesh, TetMeshError};
use sinew_testkit::assert_close;

/// Two cubes of edge 0.5 m, six tetrahedra each.
fn parts() -> (Vec<DVec3>, Vec<[u32; 4]>) {
    let mut positions = Vec::new();
    for n in 0..12u32 {
        positions.push(DVec3::new(f64::from(n / 4), f64::from(n / 2 % 2), f64::from(n % 2)) * 0.5);
    }
    let ring = [4, 6, 2, 3, 1, 5];
    let tets =
        (0..2).flat_map(|i| (0..6).map(move |k| [0, ring[k], ring[(k + 1) % 6], 7].map(|n| n + 4 * i)));
    (positions, tets.collect())
}

#[test]
fn each_fault_is_named() {
    type Change<'a> = &'a dyn Fn(&mut Vec<DVec3>, &mut Vec<[u32; 4]>);
    let fault = |change: Change<'_>| {
        let (mut positions, mut tets) = parts();
        change(&mut positions, &mut tets);
        let strict = TetMesh::new(positions.clone(), tets.clone()).unwrap_err();
        (strict, TetMesh::with_repaired_winding(positions, tets))
    };
    let same = |(strict, lenient): (TetMeshError, Result<(TetMesh, usize), TetMeshError>)| {
        assert_eq!(lenient.unwrap_err(), strict);
        strict
    };
    assert_eq!(same(fault(&|_, tets| tets.clear())), TetMeshError::Empty);
    assert_eq!(
        same(fault(&|_, tets| tets[3][1] = 99)),
        TetMeshError::MissingNode { tet: 3, node: 99, n_nodes: 12 }
    );
    assert_eq!(
        same(fault(&|_, tets| tets[5][3] = u32::MAX)),
        TetMeshError::MissingNode { tet: 5, node: u32::MAX, n_nodes: 12 }
    );
    let node = parts().1[4][0];
    assert_eq!(same(fault(&|_, tets| tets[4][2] = node)), TetMeshError::RepeatedNode { tet: 4, node });
    for bad in [f64::NAN, f64::INFINITY] {
        assert_eq!(same(fault(&|x, _| x[7].y = bad)), TetMeshError::NonFiniteNode { node: 7 });
    }
    assert_eq!(same(fault(&|x, _| x.push(DVec3::ONE))), TetMeshError::UnusedNode { node: 12 });
    let flat = same(fault(&|x, _| x.iter_mut().for_each(|x| x.z = 0.3)));
    assert!(matches!(flat, TetMeshError::Flat { tet: 0, .. }), "{flat}");
    let tiny = same(fault(&|x, _| x.iter_mut().for_each(|x| *x *= 1e-160)));
    assert!(matches!(tiny, TetMeshError::Flat { tet: 0, .. }), "{tiny}");
    let (inverted, repaired) = fault(&|_, tets| tets[6].swap(0, 1));
    assert!(
        matches!(inverted, TetMeshError::Inverted { tet: 6, volume_m3 } if volume_m3 < 0.0),
        "{inverted}"
    );
    let (mesh, n_repaired) = repaired.unwrap();
    assert_eq!(n_repaired, 1);
    assert_close!((0..12).map(|tet| mesh.volume(tet)).sum::<f64>(), 0.25, 1e-15);
}

#[test]
fn a_subset_keeps_the_nodes_that_it_uses() {
    let (positions, tets) = parts();
    let mesh = TetMesh::new(positions, tets).unwrap();
    let second: Vec<bool> = (0..12).map(|tet| tet >= 6).collect();
    let half = mesh.subset(&second).unwrap();
    assert_eq!((half.positions(), half.tets()), (&mesh.positions()[4..], &mesh.tets()[..6]));
    assert_eq!(mesh.subset(&[false; 12]).unwrap_err(), TetMeshError::Empty);
}

#[test]
fn edges_and_boundary_are_counted_once() {
    let (positions, tets) = parts();
    let mesh = TetMesh::new(positions, tets).unwrap();
    // a cube has 12 edges, a diagonal on each of 6 faces and one inside; two cubes share a face with its diagonal
    assert_eq!((mesh.edges().len(), mesh.boundary().len()), (2 * 19 - 5, 2 * 12 - 4));
    let at = SurfacePoint { tet: 3, weights: [0.25; 4] };
    let centre = mesh.corners(3).iter().sum::<DVec3>() / 4.0;
    assert_close!(mesh.point(&at, mesh.positions()), centre, 1e-16);
}

#[test]
fn points_and_deformations_follow_the_nodes() {
    let (positions, tets) = parts();
    let mesh = TetMesh::new(positions, tets).unwrap();
    let map =
        DMat3::from_cols(DVec3::new(1.5, 0.2, 0.0), DVec3::new(-0.3, 0.8, 0.1), DVec3::new(0.4, 0.0, 1.1));
    let moved: Vec<DVec3> = mesh.positions().iter().map(|x| map * *x + DVec3::Y).collect();
    for tet in 0..12 {
        assert_close!(mesh.deformation(tet as usize, &moved), map, 1e-14);
        let weights = [0.1, 0.2, 0.3, 0.4];
        let found = mesh.point(&SurfacePoint { tet, weights }, &moved);
        let rest = mesh.corners(tet as usize).into_iter().zip(weights).map(|(x, w)| x * w).sum::<DVec3>();
        assert_close!(found, map * rest + DVec3::Y, 1e-15);
    }
}

#[test]
fn flat_is_flat_at_every_size() {
    for size in [1e-4, 1.0, 1e4] {
        let sliver = |height: f64| {
            let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(0.6, 0.8, height)];
            TetMesh::new(corners.map(|x| x * size).to_vec(), vec![[0, 1, 2, 3]])
        };
        assert_close!(sliver(2e-13).unwrap().volume(0) / (2e-13 / 6.0 * size.powi(3)), 1.0, 1e-12);
        let Err(TetMeshError::Flat { tet: 0, at, volume_m3 }) = sliver(0.5e-13) else {
            panic!("a sliver of size {size} is a tetrahedron");
        };
        assert_close!(at, DVec3::new(0.4, 0.45, 0.125e-13) * size, 1e-14);
        assert_close!(volume_m3 / (0.5e-13 / 6.0 * size.powi(3)), 1.0, 1e-12);
    }
}
