//! Good surfaces pass, bad ones are refused with the place.

use glam::DVec3;
use sinew_mesh::{MeshError, RoundShape, Surface, Triangles, mesh_shapes};
use sinew_testkit::{Rng, assert_close};

use crate::shapes::{box_parts, box_surface, lump, moved, together};

fn cube() -> (Vec<DVec3>, Vec<[u32; 3]>) {
    box_parts(DVec3::ZERO, DVec3::ONE)
}

#[test]
fn volumes_are_known() {
    assert_close!(box_surface(DVec3::ZERO, DVec3::new(1.0, 2.0, 3.0)).volume(), 6.0, 1e-15);
    let ball = RoundShape::Ellipsoid { centre: DVec3::new(1.0, 0.0, 0.0), half: DVec3::new(0.5, 0.4, 0.3) };
    let exact = 4.0 / 3.0 * std::f64::consts::PI * 0.5 * 0.4 * 0.3;
    assert_close!(mesh_shapes(&[ball], 0.1, DVec3::splat(0.03)).unwrap().volume() / exact, 1.0, 0.02);
    let capsule = RoundShape::Capsule { ends: [DVec3::ZERO, DVec3::X], radii: [0.2; 2] };
    let exact = std::f64::consts::PI * (0.04 + 4.0 / 3.0 * 0.008);
    assert_close!(mesh_shapes(&[capsule], 0.1, DVec3::splat(0.03)).unwrap().volume() / exact, 1.0, 0.02);
}

#[test]
fn implicit_surfaces_are_closed_at_any_resolution() {
    let mut rng = Rng::new(31);
    for _ in 0..20 {
        let cell = rng.uniform(0.04, 0.15);
        let surface = lump(&mut rng, cell);
        let n = surface.positions().len();
        // a sphere by topology (or a torus, if the lump bites its tail)
        assert_eq!(surface.triangles().len() % 2, 0);
        assert!(n >= surface.triangles().len() / 2);
        let turned = moved(&surface, rng.rotation(), rng.vec3(-1.0, 1.0));
        assert_close!(turned.volume(), surface.volume(), 1e-13);
    }
    assert!(mesh_shapes(&[], 0.1, DVec3::ONE).is_err());
    let dot = RoundShape::Ellipsoid { centre: DVec3::ZERO, half: DVec3::ONE };
    for (blend, cell) in [(0.0, 0.1), (0.1, 0.0), (0.1, f64::NAN), (0.1, 1e-7), (f64::INFINITY, 0.1)] {
        assert!(mesh_shapes(&[dot], blend, DVec3::new(0.1, cell, 0.1)).is_err(), "{blend} {cell}");
    }
}

#[test]
fn inside_out_is_flipped() {
    let (positions, mut triangles) = cube();
    triangles.iter_mut().for_each(|t| t.swap(0, 2));
    let surface = Surface::new(positions.clone(), triangles).unwrap();
    assert!(surface.was_flipped() && surface.volume() == 1.0);
    assert!(!Surface::new(positions, surface.triangles().to_vec()).unwrap().was_flipped());
}

#[test]
fn broken_surfaces_name_the_place() {
    let (good, triangles) = cube();
    let of = |p: &[DVec3], t: &[[u32; 3]]| Surface::new(p.to_vec(), t.to_vec()).unwrap_err();

    assert_eq!(of(&good, &[]), MeshError::NoTriangles);
    assert_eq!(of(&[], &[]), MeshError::NoTriangles);
    let mut positions = good.clone();
    positions[5].y = f64::NAN;
    assert_eq!(of(&positions, &triangles), MeshError::NonFiniteVertex { vertex: 5 });
    let mut broken = triangles.clone();
    broken[3][1] = 8;
    assert_eq!(of(&good, &broken), MeshError::MissingVertex { triangle: 3, vertex: 8, n_vertices: 8 });
    assert!(matches!(Surface::welded(&good, &broken), Err(MeshError::MissingVertex { triangle: 3, .. })));

    let mut broken = triangles.clone();
    broken[4][0] = broken[4][1];
    assert!(matches!(of(&good, &broken), MeshError::FlatTriangle { triangle: 4, .. }));

    let removed = triangles[6];
    let mut broken = triangles.clone();
    broken.remove(6);
    let MeshError::OpenEdge { edge, at, .. } = of(&good, &broken) else { panic!("a hole") };
    assert!(edge.iter().all(|i| removed.contains(i)));
    assert_eq!(at, (good[edge[0] as usize] + good[edge[1] as usize]) / 2.0);

    let mut broken = triangles.clone();
    broken[7].swap(0, 1);
    let MeshError::InvertedTriangle { triangles: pair, .. } = of(&good, &broken) else { panic!("inverted") };
    assert!(pair.contains(&7));

    // two cubes that share an edge
    let second = |p: DVec3| good.iter().position(|&q| q == p).map_or_else(|| p, |i| good[i]);
    let (mut positions, mut both) = (good.clone(), triangles.clone());
    let names: Vec<u32> = good
        .iter()
        .map(|&p| second(p + DVec3::new(1.0, 1.0, 0.0)))
        .map(|p| match positions.iter().position(|&q| q == p) {
            Some(i) => i as u32,
            None => {
                positions.push(p);
                positions.len() as u32 - 1
            }
        })
        .collect();
    both.extend(triangles.iter().map(|t| t.map(|i| names[i as usize])));
    let MeshError::NonManifoldEdge { n_triangles, at, .. } = of(&positions, &both) else {
        panic!("an edge of four")
    };
    assert_eq!((n_triangles, at), (4, DVec3::new(1.0, 1.0, 0.5)));

    // a pillow without volume
    let flat = [DVec3::ZERO, DVec3::X, DVec3::Y];
    assert!(matches!(of(&flat, &[[0, 1, 2], [0, 2, 1]]), MeshError::NoVolume { .. }));
}

#[test]
fn crossings_and_contacts_are_found() {
    let unit = cube();
    let at = |lo: DVec3, hi: DVec3| together(&[unit.clone(), box_parts(lo, hi)]);
    let crosses = |result: Result<Surface, MeshError>| {
        let error = result.expect_err("a crossing");
        let MeshError::SelfIntersection { triangles: [a, b], at } = error else { panic!("{error}") };
        assert!(a < 12 && b >= 12 && at.cmpge(DVec3::splat(-1e-9)).all(), "{a} {b} {at}");
    };
    // through a face, a corner, with planes in common, identical, face on face, corner on face, bar through bar
    crosses(at(DVec3::new(0.3, 0.4, 0.5), DVec3::new(2.0, 0.8, 0.7)));
    crosses(at(DVec3::splat(0.5), DVec3::splat(1.5)));
    crosses(at(DVec3::new(0.5, 0.0, 0.0), DVec3::new(1.5, 1.0, 1.0)));
    crosses(at(DVec3::ZERO, DVec3::ONE));
    crosses(at(DVec3::new(1.0, 0.0, 0.0), DVec3::new(2.0, 1.0, 1.0)));
    crosses(at(DVec3::new(1.0, 0.2, 0.3), DVec3::new(2.0, 0.8, 0.8)));
    crosses(at(DVec3::new(-1.0, 0.25, 0.25), DVec3::new(2.0, 0.75, 0.75)));
    // a needle through one triangle
    let needle = sinew_mesh::single_tet(1.0).unwrap();
    let points = needle
        .positions()
        .iter()
        .map(|p| DVec3::new(p.x * 0.01, p.y * 0.01, p.z) + DVec3::new(0.2, 0.3, 0.6));
    crosses(together(&[unit.clone(), (points.collect(), needle.boundary())]));

    // apart by a hair is fine; a vertex pulled through the opposite face is not
    assert!(at(DVec3::new(1.0 + 1e-9, 0.0, 0.0), DVec3::new(2.0, 1.0, 1.0)).is_ok());
    let mut rng = Rng::new(14);
    for _ in 0..10 {
        let surface = lump(&mut rng, 0.1);
        let mut positions = surface.positions().to_vec();
        let vertex = rng.below(positions.len());
        let centre = surface.mass_properties(1.0).unwrap().com;
        positions[vertex] = centre + (centre - positions[vertex]) * 4.0;
        let result = Surface::new(positions, surface.triangles().to_vec());
        let Err(MeshError::SelfIntersection { triangles: pair, .. }) = result else { panic!("{result:?}") };
        let uses = |t: usize| surface.triangles()[t].contains(&(vertex as u32));
        assert!(uses(pair[0]) || uses(pair[1]));
    }
}

/// A surface folded flat onto itself along an edge: the neighbours overlap.
#[test]
fn folds_are_contacts() {
    let (mut positions, mut triangles) = cube();
    // a flap: a thin tetrahedron's tip pressed into the plane of its neighbour
    let first = positions.len() as u32;
    positions.extend([DVec3::new(2.0, 0.0, 0.0), DVec3::new(3.0, 0.0, 0.0), DVec3::new(2.0, 1.0, 0.0)]);
    positions.extend([DVec3::new(2.2, 0.2, 0.0), DVec3::new(2.2, 0.2, 1.0)]);
    let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|k| first + k);
    triangles.extend([[a, c, b], [a, b, d], [b, c, d]]);
    triangles.extend([[c, a, e], [a, d, e], [d, c, e]]);
    let error = Surface::new(positions, triangles).unwrap_err();
    assert!(matches!(error, MeshError::SelfIntersection { .. }), "{error}");
}

#[test]
fn parts_must_nest() {
    let outer = cube();
    let inner = box_parts(DVec3::splat(0.25), DVec3::splat(0.75));
    let error = together(&[outer.clone(), inner.clone()]).unwrap_err();
    assert!(error.to_string().contains("make it a cavity"), "{error}");
    let flipped = |(p, mut t): (Vec<DVec3>, Vec<[u32; 3]>)| {
        t.iter_mut().for_each(|t| t.swap(1, 2));
        (p, t)
    };
    let shell = together(&[outer.clone(), flipped(inner.clone())]).unwrap();
    assert_close!(shell.volume(), 0.875, 1e-15);
    let core = box_parts(DVec3::splat(0.4), DVec3::splat(0.6));
    assert!(together(&[core.clone(), outer.clone(), flipped(inner)]).is_ok());
    let beside = flipped(box_parts(DVec3::splat(2.0), DVec3::splat(2.5)));
    let error = together(&[outer, beside]).unwrap_err();
    let MeshError::MisplacedPart { triangle: 12, .. } = error else { panic!("{error}") };
    assert!(error.to_string().contains("flip its triangles"));
}

#[test]
fn flat_regions_and_far_away_places_are_no_crossings() {
    let mut rng = Rng::new(77);
    let fine = sinew_mesh::beam(DVec3::new(1.0, 0.3, 0.2), [12, 5, 4]).unwrap();
    let boundary = fine.boundary();
    let mut used = vec![false; fine.positions().len()];
    boundary.iter().flatten().for_each(|&i| used[i as usize] = true);
    for scale in [1e-3, 1.0, 1e3] {
        for _ in 0..10 {
            let (turn, by) = (rng.rotation(), rng.vec3(-100.0, 100.0));
            let points: Vec<DVec3> = fine.positions().iter().map(|&x| turn * (x * scale) + by).collect();
            let surface = Surface::welded(&points, &boundary).unwrap();
            assert_eq!(surface.positions().len(), used.iter().filter(|&&u| u).count());
        }
    }
}

#[test]
fn surfaces_are_triangles_and_triangles_may_be_surfaces() {
    let (positions, triangles) = cube();
    let surface = Surface::new(positions.clone(), triangles.clone()).unwrap();
    let plain = Triangles::from(surface.clone());
    assert_eq!(plain, Triangles { positions, triangles });
    assert_eq!(Surface::try_from(plain.clone()), Ok(surface));
    let open = Triangles { triangles: plain.triangles[1..].to_vec(), ..plain };
    assert!(matches!(Surface::try_from(open), Err(MeshError::OpenEdge { .. })));
}
