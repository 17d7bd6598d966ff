//! Exactness of fill ratios, masses and anchors.

use glam::DVec3;
use sinew_mesh::{
    Cells, EmbeddedBody, Filling, Lattice, MeshError, Pattern, RoundShape, Surface, TetMesh, mesh_shapes,
    overlap_shares,
};
use sinew_testkit::{Rng, assert_close};

use crate::shapes::{box_parts, box_surface, lump, moved, together};

const PATTERNS: [Pattern; 2] = [Pattern::Bricks, Pattern::BodyCentred];

/// Masses, first moments, anchors and counts of a body whose mass must be exact.
fn check_exact(body: &EmbeddedBody, density: f64) {
    let solid = body.surface().mass_properties(density).unwrap();
    let mass: f64 = body.masses().iter().sum();
    assert!((mass / solid.mass - 1.0).abs() < 1e-12, "{mass} is not {}", solid.mass);
    let moment: DVec3 = body.masses().iter().zip(body.nodes()).map(|(&m, &x)| x * m).sum();
    let size = body.nodes().iter().fold(0.0, |s: f64, x| s.max((*x - solid.com).length()));
    let shift = (moment / mass - solid.com).length();
    assert!(shift < 1e-12 * (size + solid.com.length()), "centre off by {shift}");
    let filled: f64 = (0..body.tets().len()).map(|k| body.fill()[k] * body.mesh().volume(k)).sum();
    assert!((filled / body.surface().volume() - 1.0).abs() < 1e-12);
    assert!(body.fill().iter().all(|w| (0.0..=1.0).contains(w)));
    assert!(body.masses().iter().all(|&m| m > 0.0));
    TetMesh::new(body.nodes().to_vec(), body.tets().to_vec()).expect("a good mesh");

    assert_eq!(body.surface_points().len(), body.surface().positions().len());
    let mut carried = vec![DVec3::ZERO; body.surface_points().len()];
    body.fill_surface(body.nodes(), &mut carried);
    let scale = size + solid.com.length();
    for ((anchor, &x), &at) in body.surface_points().iter().zip(&carried).zip(body.surface().positions()) {
        assert!(anchor.weights.iter().all(|&w| w >= -1e-12), "{anchor:?}");
        assert!((anchor.weights.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        assert!((x - at).length() < 1e-14 * scale, "{x} is not {at}");
    }
}

#[test]
fn masses_of_random_lumps_are_exact() {
    let mut rng = Rng::new(11);
    for round in 0..12 {
        let surface = lump(&mut rng, 0.07);
        let cells = 1 + rng.below(9) as u32;
        for pattern in PATTERNS {
            let far = if round % 3 == 0 { 100.0 } else { 1.0 };
            let turned = moved(&surface, rng.rotation(), rng.vec3(-far, far));
            let lattice = Lattice { cells: Cells::Longest(cells), pattern };
            let filling = Filling { density: rng.uniform(1.0, 2000.0), mass_floor: 0.0 };
            let body = EmbeddedBody::in_lattice(turned, &lattice, &filling).unwrap();
            check_exact(&body, filling.density);
            assert_eq!(body.quality().n_pieces, 1);
        }
    }
}

/// Planes of the grid through faces, edges and corners of the solid, and every plane hit at once.
#[test]
fn surfaces_on_the_planes_of_the_grid() {
    let solid = box_surface(DVec3::ZERO, DVec3::new(1.0, 0.5, 0.25));
    for n in 1..=6 {
        let bricks = sinew_mesh::beam(DVec3::new(1.0, 0.5, 0.25), [4, 2, n]).unwrap();
        check_exact(&EmbeddedBody::in_tets(solid.clone(), bricks, &Filling::default()).unwrap(), 1000.0);
        let large = sinew_mesh::beam(DVec3::splat(2.0), [n, 4, 4]).unwrap();
        let nodes = large.positions().iter().map(|&x| x - DVec3::splat(0.5)).collect();
        let large = TetMesh::new(nodes, large.tets().to_vec()).unwrap();
        let body = EmbeddedBody::in_tets(solid.clone(), large, &Filling::default()).unwrap();
        check_exact(&body, 1000.0);
        assert!(body.fill().iter().all(|&w| w > 1e-12), "what is only touched is dropped");
    }
}

/// Solids of random cubes, with faces, edges and corners in the planes of the grid.
#[test]
fn random_blocks_on_the_planes_of_the_grid() {
    let mut rng = Rng::new(99);
    let block = sinew_mesh::cube(4.0, 4).unwrap();
    let mut n_good = 0;
    for _ in 0..400 {
        // all cubes but a few
        let gone: Vec<usize> = (0..1 + rng.below(6)).map(|_| rng.below(64)).collect();
        let tets: Vec<[u32; 4]> = block
            .tets()
            .iter()
            .enumerate()
            .filter(|(k, _)| !gone.contains(&(k / 6)))
            .map(|(_, &t)| t)
            .collect();
        let mesh = TetMesh::new(block.positions().to_vec(), tets);
        let surface = mesh.map(|mesh| Surface::welded(mesh.positions(), &mesh.boundary()));
        let Ok(Ok(solid)) = surface else {
            // a missing corner leaves its node unused, two missing cubes may share an edge
            continue;
        };
        n_good += 1;
        for pattern in PATTERNS {
            let cells = [rng.below(4), rng.below(4), rng.below(4)].map(|n| n as u32 + 1);
            let lattice = Lattice { cells: Cells::Each(cells), pattern };
            let body = EmbeddedBody::in_lattice(solid.clone(), &lattice, &Filling::default()).unwrap();
            check_exact(&body, 1000.0);
            assert_eq!(body.quality().n_pieces, 1);
            let body = EmbeddedBody::in_tets(solid.clone(), block.clone(), &Filling::default()).unwrap();
            check_exact(&body, 1000.0);
            assert!(body.fill().iter().all(|&w| w > 1.0 - 1e-12), "cubes are there or not");
        }
    }
    assert!(n_good > 100, "{n_good}");
}

/// Bodies close to each other, many in one cell: bricks keep them apart, each with its own mass and its own vertices.
#[test]
fn bricks_keep_neighbours_apart() {
    let bars: Vec<_> = (0..5)
        .map(|k| {
            let lo = DVec3::new(0.0, 0.02 * f64::from(k), 0.001 * f64::from(k));
            box_parts(lo, lo + DVec3::new(1.0, 0.015, 0.012 + 0.01 * f64::from(k)))
        })
        .collect();
    let surface = together(&bars).unwrap();
    for n in [1, 2, 3, 10, 40] {
        let lattice = Lattice { cells: Cells::Longest(n), pattern: Pattern::Bricks };
        let body = EmbeddedBody::in_lattice(surface.clone(), &lattice, &Filling::default()).unwrap();
        check_exact(&body, 1000.0);
        assert_eq!(body.quality().n_pieces, 5, "{n} cells");
        // which bar a node belongs to, by the vertices that its tetrahedra carry
        let mut bar_of = vec![None; body.nodes().len()];
        for (vertex, anchor) in body.surface_points().iter().enumerate() {
            for &node in &body.tets()[anchor.tet as usize] {
                let bar = bar_of[node as usize].get_or_insert(vertex / 8);
                assert_eq!(*bar, vertex / 8, "bars {bar} and {} share node {node}", vertex / 8);
            }
        }
        let glued = Lattice { pattern: Pattern::BodyCentred, ..lattice };
        let glued = EmbeddedBody::in_lattice(surface.clone(), &glued, &Filling::default()).unwrap();
        assert_eq!(glued.quality().n_pieces, 1, "{n} cells");
    }
}

/// A fork: two tines less than a cell apart hang together at the handle only.
#[test]
fn bricks_follow_the_shape() {
    let tine =
        |y: f64| RoundShape::Capsule { ends: [DVec3::ZERO, DVec3::new(1.0, y, 0.0)], radii: [0.06; 2] };
    let handle = RoundShape::Capsule { ends: [DVec3::new(-0.5, 0.0, 0.0), DVec3::ZERO], radii: [0.1, 0.06] };
    let fork = mesh_shapes(&[handle, tine(-0.08), tine(0.08)], 0.01, DVec3::new(0.02, 0.015, 0.02)).unwrap();
    let lattice = Lattice { cells: Cells::Longest(16), pattern: Pattern::Bricks };
    let body = EmbeddedBody::in_lattice(fork, &lattice, &Filling::default()).unwrap();
    check_exact(&body, 1000.0);
    assert_eq!(body.quality().n_pieces, 1);
    // without the nodes of the handle the tines are two
    let mut tets = body.tets().to_vec();
    tets.retain(|t| t.iter().all(|&i| body.nodes()[i as usize].x > 0.9));
    let mut reached = vec![false; body.nodes().len()];
    reached[tets[0][0] as usize] = true;
    for _ in 0..tets.len() {
        for t in &tets {
            if t.iter().any(|&i| reached[i as usize]) {
                t.iter().for_each(|&i| reached[i as usize] = true);
            }
        }
    }
    let n_reached = tets.iter().filter(|t| reached[t[0] as usize]).count();
    assert!(n_reached > 0 && n_reached < tets.len());
    for anchor in body.surface_points() {
        assert!((0.0..=1.0).contains(&body.fill()[anchor.tet as usize]));
    }
}

/// A tunnel through many cells: a hole belongs to what is around it.
#[test]
fn tunnels_do_not_divide_a_cell() {
    let ring: Vec<RoundShape> = (0..12)
        .map(|k| {
            let at = |k: u32| {
                let (sin, cos) = sinew_math::ops::sin_cos(f64::from(k) * std::f64::consts::TAU / 12.0);
                DVec3::new(cos, sin, 0.0) * 0.12
            };
            RoundShape::Capsule { ends: [at(k), at(k + 1)], radii: [0.08; 2] }
        })
        .collect();
    let torus = mesh_shapes(&ring, 0.01, DVec3::new(0.02, 0.015, 0.02)).unwrap();
    assert_eq!(torus.positions().len(), torus.triangles().len() / 2, "a hole");
    for n in [1, 2, 3, 5] {
        let lattice = Lattice { cells: Cells::Longest(n), pattern: Pattern::Bricks };
        let body = EmbeddedBody::in_lattice(torus.clone(), &lattice, &Filling::default()).unwrap();
        check_exact(&body, 1000.0);
        assert_eq!(body.quality().n_pieces, 1);
    }
}

#[test]
fn cavities_are_left_out() {
    let outer = box_parts(DVec3::ZERO, DVec3::ONE);
    let (points, mut triangles) = box_parts(DVec3::splat(0.25), DVec3::splat(0.75));
    triangles.iter_mut().for_each(|t| t.swap(0, 1));
    let apart = box_parts(DVec3::new(2.0, 0.0, 0.0), DVec3::new(2.5, 0.5, 0.5));
    let shell = together(&[outer, (points, triangles), apart]).unwrap();
    assert_close!(shell.volume(), 1.0 - 0.125 + 0.125, 1e-14);
    for pattern in PATTERNS {
        let lattice = Lattice { cells: Cells::Longest(20), pattern };
        let body = EmbeddedBody::in_lattice(shell.clone(), &lattice, &Filling::default()).unwrap();
        check_exact(&body, 1000.0);
        assert_eq!(body.quality().n_pieces, 2);
        let hollow = |x: &DVec3| (*x - DVec3::splat(0.5)).abs().max_element() < 0.1;
        assert!(!body.nodes().iter().any(hollow), "the cavity holds no node");
    }
}

/// Against the definition: signed tetrahedra from the centre of each tetrahedron, clipped by its four faces.
#[test]
fn shares_agree_with_clipped_tetrahedra() {
    let mut rng = Rng::new(5);
    for _ in 0..3 {
        let surface = lump(&mut rng, 0.12);
        let mesh = sinew_mesh::beam(DVec3::splat(2.0), [3, 2, 2]).unwrap();
        let nodes = mesh.positions().iter().map(|&x| x - DVec3::splat(1.0) + rng.vec3(-0.1, 0.1)).collect();
        let mesh = TetMesh::new(nodes, mesh.tets().to_vec()).unwrap();
        for (tet, shares) in overlap_shares(&surface, &mesh).iter().enumerate() {
            let corners = mesh.tets()[tet].map(|i| mesh.positions()[i as usize]);
            let reference = clipped_shares(&surface, corners);
            for k in 0..4 {
                assert!((shares[k] - reference[k]).abs() < 1e-13, "{shares:?} {reference:?}");
            }
        }
    }
}

/// Slow and direct: clips tetrahedra, not triangles.
fn clipped_shares(surface: &Surface, corners: [DVec3; 4]) -> [f64; 4] {
    let det = |t: [DVec3; 4]| (t[1] - t[0]).dot((t[2] - t[0]).cross(t[3] - t[0]));
    let whole = det(corners);
    let phi = |x: DVec3, k: usize| {
        let mut t = corners;
        t[k] = x;
        det(t) / whole
    };
    let centre = corners.iter().sum::<DVec3>() / 4.0;
    let mut shares = [0.0; 4];
    for t in surface.triangles() {
        let [a, b, c] = t.map(|i| surface.positions()[i as usize]);
        let mut pieces = vec![[centre, a, b, c]];
        for k in 0..4 {
            pieces = pieces.into_iter().flat_map(|piece| keep_positive(piece, |x| phi(x, k))).collect();
        }
        for piece in pieces {
            let middle = piece.iter().sum::<DVec3>() / 4.0;
            (0..4).for_each(|k| shares[k] += det(piece) / whole * phi(middle, k));
        }
    }
    shares
}

fn keep_positive(tet: [DVec3; 4], level: impl Fn(DVec3) -> f64) -> Vec<[DVec3; 4]> {
    let mut order = [0, 1, 2, 3];
    order.sort_by(|&i, &j| level(tet[j]).total_cmp(&level(tet[i])));
    let inversions: usize = (0..4).map(|i| (i + 1..4).filter(|&j| order[i] > order[j]).count()).sum();
    let mut p = order.map(|i| tet[i]);
    let n = p.iter().filter(|&&x| level(x) > 0.0).count();
    if inversions % 2 == 1 {
        if n >= 2 { p.swap(0, 1) } else { p.swap(2, 3) }
    }
    let cut = |i: usize, j: usize| {
        let (u, v) = (level(p[i]), level(p[j]));
        p[i] + (p[j] - p[i]) * (u / (u - v))
    };
    match n {
        0 => vec![],
        1 => vec![[p[0], cut(0, 1), cut(0, 2), cut(0, 3)]],
        2 => {
            // a prism between (0, 02, 03) and (1, 12, 13)
            let (low, high) = ([p[0], cut(0, 2), cut(0, 3)], [p[1], cut(1, 2), cut(1, 3)]);
            vec![
                [low[0], high[0], low[1], low[2]],
                [high[0], low[1], low[2], high[2]],
                [high[0], low[1], high[2], high[1]],
            ]
            .into_iter()
            .collect()
        }
        3 => {
            let low = [p[0], p[1], p[2]];
            let high = [cut(0, 3), cut(1, 3), cut(2, 3)];
            vec![
                [low[0], low[1], low[2], high[2]],
                [low[0], low[1], high[2], high[1]],
                [low[0], high[1], high[2], high[0]],
            ]
        }
        _ => vec![p],
    }
}

#[test]
fn the_floor_raises_light_nodes_and_says_so() {
    let surface = lump(&mut Rng::new(2), 0.05);
    let lattice = Lattice::longest(6);
    let exact = EmbeddedBody::in_lattice(surface.clone(), &lattice, &Filling::default()).unwrap();
    assert_eq!(exact.n_raised(), 0);
    let floored =
        EmbeddedBody::in_lattice(surface, &lattice, &Filling { mass_floor: 0.1, ..Filling::default() })
            .unwrap();
    let mean = exact.masses().iter().sum::<f64>() / exact.masses().len() as f64;
    // what light nodes get, the others give in proportion to what they have beyond the floor
    let floor = 0.1 * mean;
    let given: f64 = exact.masses().iter().map(|m| (floor - m).max(0.0)).sum();
    let beyond: f64 = exact.masses().iter().map(|m| (m - floor).max(0.0)).sum();
    let expected: Vec<f64> =
        exact.masses().iter().map(|m| floor + (m - floor).max(0.0) * (1.0 - given / beyond)).collect();
    assert_close!(floored.masses(), expected.as_slice(), 1e-15);
    let total = |body: &EmbeddedBody| body.masses().iter().sum::<f64>();
    assert_close!(total(&floored), total(&exact), 1e-12 * total(&exact));
    assert_eq!(floored.n_raised(), exact.masses().iter().filter(|&&m| m < 0.1 * mean).count());
    assert!(floored.n_raised() > 0 && floored.quality().mass_ratio < exact.quality().mass_ratio);

    // Stiffness with a floor of its own; masses stay.
    let firm = floored.clone().with_fill_floor(0.1);
    assert_eq!(firm.masses(), floored.masses());
    assert!(floored.fill().iter().any(|fill| *fill < 0.1));
    let wanted: Vec<f64> = floored.fill().iter().map(|fill| fill.max(0.1)).collect();
    assert_eq!(firm.fill(), wanted);
}

/// A fine ball hardly touches some cells of a fine lattice: without a floor, their nodes weigh almost nothing.
#[test]
fn slivers_of_a_fine_ball_are_lifted_and_the_mass_stays_exact() {
    let ball = lump(&mut Rng::new(4), 0.03);
    let lattice = Lattice::longest(14);
    for mass_floor in [0.01, 0.05, 1.0] {
        let filling = Filling { mass_floor, ..Filling::default() };
        let body = EmbeddedBody::in_lattice(ball.clone(), &lattice, &filling).unwrap();
        let (mass, mean) = (ball.volume() * 1000.0, body.quality().mass / body.masses().len() as f64);
        assert!((body.quality().mass - mass).abs() <= 1e-10 * mass);
        assert!(body.masses().iter().all(|&m| m >= mass_floor * mean * (1.0 - 1e-12)));
        assert!(body.quality().mass_ratio < 20.0 / mass_floor);
    }
}

#[test]
fn full_tetrahedra_and_their_boundary() {
    let mut rng = Rng::new(8);
    let beam = sinew_mesh::beam(DVec3::new(1.0, 0.2, 0.3), [5, 2, 2]).unwrap();
    let turn = rng.rotation();
    let nodes = beam.positions().iter().map(|&x| turn * x).collect();
    let beam = TetMesh::new(nodes, beam.tets().to_vec()).unwrap();
    let full = EmbeddedBody::from_tets(beam.clone(), &Filling::default()).unwrap();
    check_exact(&full, 1000.0);
    assert!(full.fill().iter().all(|&w| w == 1.0));
    // the same by integration over its own surface
    let integrated = EmbeddedBody::in_tets(full.surface().clone(), beam, &Filling::default()).unwrap();
    assert_close!(full.masses(), integrated.masses(), 1e-13);
}

#[test]
fn what_does_not_fit_is_refused() {
    let solid = box_surface(DVec3::ZERO, DVec3::ONE);
    let small = sinew_mesh::cube(0.9, 2).unwrap();
    let error = EmbeddedBody::in_tets(solid.clone(), small, &Filling::default()).unwrap_err();
    assert!(matches!(error, MeshError::VertexOutside { .. }), "{error}");
    // a hollow mesh holds all vertices but not all of the inside
    let cube = sinew_mesh::cube(1.0, 3).unwrap();
    let centre = |t: &[u32; 4]| t.iter().map(|&i| cube.positions()[i as usize]).sum::<DVec3>() / 4.0;
    let hollow = |t: &&[u32; 4]| (centre(t) - DVec3::splat(0.5)).abs().max_element() > 1.0 / 6.0;
    let tets = cube.tets().iter().filter(hollow).copied().collect();
    let hollow = TetMesh::new(cube.positions().to_vec(), tets).unwrap();
    let error = EmbeddedBody::in_tets(solid.clone(), hollow, &Filling::default()).unwrap_err();
    let MeshError::NotCovered { held, volume } = error else { panic!("{error}") };
    assert_close!(volume - held, 1.0 / 27.0, 1e-13);

    let of = |cells, density, mass_floor| {
        let lattice = Lattice { cells, pattern: Pattern::Bricks };
        let filling = Filling { density, mass_floor };
        EmbeddedBody::in_lattice(solid.clone(), &lattice, &filling).unwrap_err().to_string()
    };
    assert!(of(Cells::Longest(0), 1.0, 0.0).contains("number of cells is 0"));
    assert!(of(Cells::Longest(u32::MAX), 1.0, 0.0).contains("number of cells"));
    assert!(of(Cells::Each([1, 0, 2]), 1.0, 0.0).contains("number of cells is 0"));
    assert!(of(Cells::Longest(2), 0.0, 0.0).contains("density is 0"));
    assert!(of(Cells::Longest(2), f64::NAN, 0.0).contains("density is NaN"));
    assert!(of(Cells::Longest(2), 1.0, 1.5).contains("mass floor is 1.5"));
}

#[test]
fn progress_rises_to_one() {
    let mut shares = vec![0.0];
    let surface = lump(&mut Rng::new(4), 0.1);
    EmbeddedBody::in_lattice_observed(surface, &Lattice::longest(5), &Filling::default(), &mut |s| {
        shares.push(s)
    })
    .unwrap();
    assert!(shares.is_sorted() && shares.last() == Some(&1.0) && shares.len() > 10);
}
