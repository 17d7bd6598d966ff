//! Meshes: golden tetrahedron, an independent polygon integrator (Mir96), shapes, errors.

use glam::{DMat3, DVec3};
use sinew_math::{MassProperties, MeshMassError, Pose, Sym3, ops};
use sinew_testkit::golden::{case, matrix, number, vector, vectors};
use sinew_testkit::{Rng, assert_close};
use std::f64::consts::PI;

/// A closed polyhedron: triangles for the code under test, planar polygons for the oracle.
struct Solid {
    vertices: Vec<DVec3>,
    polygons: Vec<Vec<u32>>,
}

impl Solid {
    fn triangles(&self) -> Vec<[u32; 3]> {
        let fan = |p: &Vec<u32>| (1..p.len() - 1).map(|i| [p[0], p[i], p[i + 1]]).collect::<Vec<_>>();
        self.polygons.iter().flat_map(fan).collect()
    }

    fn mass(&self, density: f64) -> MassProperties {
        MassProperties::from_mesh(&self.vertices, &self.triangles(), density).unwrap()
    }

    fn placed(mut self, pose: Pose) -> Self {
        self.vertices.iter_mut().for_each(|v| *v = pose.transform_point(*v));
        self
    }

    fn cuboid(edges: DVec3) -> Self {
        let corner = |i: u32| DVec3::from([0, 1, 2].map(|k| f64::from((i >> k) & 1) - 0.5)) * edges;
        let faces = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        Self { vertices: (0..8).map(corner).collect(), polygons: faces.map(|f| f.to_vec()).to_vec() }
    }

    /// A prism with an `n`-sided star-shaped base (not convex) along x: polygons with many edges.
    fn star_prism(n: u32, length: f64) -> Self {
        let ring = |x: f64| {
            (0..n).map(move |i| {
                let angle = 2.0 * PI * f64::from(i) / f64::from(n);
                let radius = if i % 2 == 0 { 1.0 } else { 0.6 };
                DVec3::new(x, 0.3, -0.2) + DMat3::from_rotation_x(angle) * DVec3::Y * radius
            })
        };
        let vertices = ring(-0.5 * length).chain(ring(0.5 * length)).collect();
        let side = |i: u32| vec![i, (i + 1) % n, (i + 1) % n + n, i + n];
        let mut polygons: Vec<Vec<u32>> = (0..n).map(side).collect();
        polygons.push((0..n).rev().collect());
        polygons.push((n..2 * n).collect());
        Self { vertices, polygons }
    }

    /// An octahedron split `levels` times and pushed onto the unit sphere.
    fn sphere(levels: usize) -> Self {
        let mut faces: Vec<[DVec3; 3]> = vec![];
        for (x, y, z) in [(1.0, 1.0, 1.0), (-1.0, 1.0, -1.0), (-1.0, -1.0, 1.0), (1.0, -1.0, -1.0)] {
            faces.push([DVec3::X * x, DVec3::Y * y, DVec3::Z * z]);
            faces.push([DVec3::Y * y, DVec3::X * x, DVec3::Z * -z]);
        }
        for _ in 0..levels {
            let split = |[a, b, c]: [DVec3; 3]| {
                let [ab, bc, ca] = [a + b, b + c, c + a].map(DVec3::normalize);
                [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
            };
            faces = faces.into_iter().flat_map(split).collect();
        }
        // weld equal corners
        let mut vertices: Vec<DVec3> = vec![];
        let mut weld = |p: DVec3| {
            let found = vertices.iter().position(|v| (*v - p).length() < 1e-9);
            found.unwrap_or_else(|| {
                vertices.push(p);
                vertices.len() - 1
            }) as u32
        };
        let polygons = faces.into_iter().map(|f| f.map(&mut weld).to_vec()).collect();
        Self { vertices, polygons }
    }
}

/// Mirtich's integrals over planar polygons; no recentring, so only for solids near the origin.
fn mirtich(solid: &Solid, density: f64) -> MassProperties {
    let (mut volume, mut first, mut second, mut products) = (0.0, [0.0; 3], [0.0; 3], [0.0; 3]);
    for polygon in &solid.polygons {
        let corner = |i: usize| solid.vertices[polygon[i % polygon.len()] as usize];
        let area: DVec3 = (0..polygon.len()).map(|i| corner(i).cross(corner(i + 1))).sum();
        let n = area.normalize();
        let w = -n.dot(corner(0));
        let c = (0..3).max_by(|&i, &j| n[i].abs().total_cmp(&n[j].abs())).unwrap();
        let (a, b) = ((c + 1) % 3, (c + 2) % 3);
        let p = projection_integrals(polygon.len(), |i| (corner(i)[a], corner(i)[b]));
        let (na, nb, nc) = (n[a], n[b], n[c]);
        let k1 = 1.0 / nc;
        let (k2, k3, k4) = (k1 * k1, k1 * k1 * k1, k1 * k1 * k1 * k1);
        let [one, pa, pb, paa, pab, pbb, paaa, paab, pabb, pbbb] = p;
        // face integrals with γ = −(n_α α + n_β β + w)/n_γ
        let mut face = [[0.0; 3]; 3]; // [power − 1][axis]
        (face[0][a], face[0][b]) = (k1 * pa, k1 * pb);
        face[0][c] = -k2 * (na * pa + nb * pb + w * one);
        (face[1][a], face[1][b]) = (k1 * paa, k1 * pbb);
        face[1][c] = k3
            * (na * na * paa
                + 2.0 * na * nb * pab
                + nb * nb * pbb
                + w * (2.0 * (na * pa + nb * pb) + w * one));
        (face[2][a], face[2][b]) = (k1 * paaa, k1 * pbbb);
        face[2][c] = -k4
            * (na.powi(3) * paaa
                + 3.0 * na * na * nb * paab
                + 3.0 * na * nb * nb * pabb
                + nb.powi(3) * pbbb
                + 3.0 * w * (na * na * paa + 2.0 * na * nb * pab + nb * nb * pbb)
                + w * w * (3.0 * (na * pa + nb * pb) + w * one));
        let aab = k1 * paab;
        let bbc = -k2 * (na * pabb + nb * pbbb + w * pbb);
        let cca = k3
            * (na * na * paaa
                + 2.0 * na * nb * paab
                + nb * nb * pabb
                + w * (2.0 * (na * paa + nb * pab) + w * pa));
        volume += n.x * face[0][0];
        for k in 0..3 {
            first[k] += 0.5 * n[k] * face[1][k];
            second[k] += n[k] * face[2][k] / 3.0;
        }
        products[a] += 0.5 * na * aab;
        products[b] += 0.5 * nb * bbc;
        products[c] += 0.5 * nc * cca;
    }
    let com = DVec3::from(first) / volume;
    let moments = Sym3 {
        xx: second[0],
        yy: second[1],
        zz: second[2],
        xy: products[0],
        yz: products[1],
        xz: products[2],
    }
    .add_outer(-volume, com);
    let inertia = (Sym3::IDENTITY * moments.trace() - moments) * density;
    MassProperties { mass: density * volume, com, inertia }
}

/// ∫ over the projected polygon of 1, α, β, α², αβ, β², α³, α²β, αβ², β³.
fn projection_integrals(n: usize, point: impl Fn(usize) -> (f64, f64)) -> [f64; 10] {
    let mut p = [0.0; 10];
    for i in 0..n {
        let ((a0, b0), (a1, b1)) = (point(i), point(i + 1));
        let (da, db) = (a1 - a0, b1 - b0);
        let powers = |x1: f64, x0: f64, k: i32| (0..=k).map(|i| x1.powi(k - i) * x0.powi(i)).sum::<f64>();
        p[0] += db * powers(a1, a0, 1) / 2.0;
        p[1] += db * powers(a1, a0, 2) / 6.0;
        p[2] -= da * powers(b1, b0, 2) / 6.0;
        p[3] += db * powers(a1, a0, 3) / 12.0;
        p[5] -= da * powers(b1, b0, 3) / 12.0;
        p[6] += db * powers(a1, a0, 4) / 20.0;
        p[9] -= da * powers(b1, b0, 4) / 20.0;
        let mixed2 = |x1: f64, x0: f64| 3.0 * x1 * x1 + 2.0 * x1 * x0 + x0 * x0;
        let mixed3 =
            |x1: f64, x0: f64| 4.0 * x1.powi(3) + 3.0 * x1 * x1 * x0 + 2.0 * x1 * x0 * x0 + x0.powi(3);
        p[4] += db * (b1 * mixed2(a1, a0) + b0 * mixed2(a0, a1)) / 24.0;
        p[7] += db * (b1 * mixed3(a1, a0) + b0 * mixed3(a0, a1)) / 60.0;
        p[8] -= da * (a1 * mixed3(b1, b0) + a0 * mixed3(b0, b1)) / 60.0;
    }
    p
}

fn assert_same(a: &MassProperties, b: &MassProperties, tolerance: f64) {
    assert_close!(a.mass, b.mass, tolerance);
    assert_close!(a.com, b.com, tolerance);
    assert_close!(a.inertia.to_mat3(), b.inertia.to_mat3(), tolerance);
}

#[test]
fn golden_tetrahedron() {
    let golden = case("mass", "mesh_mass");
    let (input, out) = (&golden["in"], &golden["out"]);
    let solid = Solid {
        vertices: vectors(&input["vertices"]),
        polygons: vectors(&input["faces"]).iter().map(|f| f.to_array().map(|i| i as u32).to_vec()).collect(),
    };
    for body in [solid.mass(number(&input["density"])), mirtich(&solid, number(&input["density"]))] {
        assert_close!(body.mass, number(&out["mass"]), 1e-14);
        assert_close!(body.com, vector(&out["com"]), 1e-14);
        assert_close!(body.inertia.to_mat3(), matrix(&out["inertia_com"]), 1e-14);
    }
}

#[test]
fn boxes_equal_the_closed_form() {
    let mut rng = Rng::new(91);
    for _ in 0..100 {
        let edges = rng.vec3(0.1, 3.0);
        let pose = Pose::new(rng.rotation(), rng.vec3(-2.0, 2.0));
        let expected = MassProperties::cuboid(edges, 3.0).transformed_by(pose);
        let solid = Solid::cuboid(edges).placed(pose);
        assert_same(&solid.mass(3.0), &expected, 1e-13);
        assert_same(&mirtich(&solid, 3.0), &expected, 1e-11);
    }
}

#[test]
fn tetrahedra_and_polygons_agree_on_a_star() {
    let mut rng = Rng::new(92);
    for n in [6, 10, 24] {
        let pose = Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0));
        // a fan of a star polygon folds over itself; the signed sums do not mind
        let solid = Solid::star_prism(n, 1.7).placed(pose);
        let body = solid.mass(2.0);
        assert_same(&body, &mirtich(&solid, 2.0), 1e-12);
        body.is_physical().unwrap();
        let area = 0.5 * f64::from(n) * 0.6 * ops::sin(2.0 * PI / f64::from(n));
        assert_close!(body.mass, 2.0 * 1.7 * area, 1e-13);
    }
}

/// A box with one side drawn together to a smaller rectangle: its centre of mass is not the mean of its corners.
fn stump(size: f64) -> Solid {
    let mut solid = Solid::cuboid(DVec3::new(1.0, 0.8, 0.6));
    for v in solid.vertices.iter_mut().filter(|v| v.x > 0.0) {
        *v = DVec3::new(v.x, 0.5 * v.y + 0.1, 0.5 * v.z);
    }
    solid.vertices.iter_mut().for_each(|v| *v *= size);
    solid
}

#[test]
fn a_stump_of_any_size_and_place() {
    let mut rng = Rng::new(93);
    for size in [1e-8, 1e-2, 1.0, 1e3] {
        let pose = Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0) * size);
        let solid = stump(size).placed(pose);
        let (found, expected) = (solid.mass(2.0), mirtich(&solid, 2.0));
        let cube = size * size * size;
        assert_close!(found.mass / cube, expected.mass / cube, 1e-12);
        assert_close!(found.com / size, expected.com / size, 1e-12);
        let per_size = 1.0 / (cube * size * size);
        assert_close!((found.inertia * per_size).to_mat3(), (expected.inertia * per_size).to_mat3(), 1e-11);
        // a pyramid without its top: V = h/3 (A + B + √(AB))
        assert_close!(found.mass / cube, 2.0 / 3.0 * (0.48 + 0.12 + 0.24), 1e-13);
    }
}

#[test]
fn spheres_converge() {
    let exact = MassProperties::sphere(1.0, 1.0);
    let error = |levels| (Solid::sphere(levels).mass(1.0).mass / exact.mass - 1.0).abs();
    assert!((error(2) / error(3) - 4.0).abs() < 0.2);
    let body = Solid::sphere(4).mass(1.0);
    assert_close!(body.inertia.diagonal_entries(), exact.inertia.diagonal_entries(), 0.01);
    assert!(body.inertia.xy.abs() < 1e-15);
}

#[test]
fn far_from_the_origin_nothing_is_lost() {
    let near = Solid::star_prism(8, 1.0);
    let expected = near.mass(1.0);
    let far = near.placed(Pose::from_translation(DVec3::new(1e5, -2e5, 3e5)));
    let body = far.mass(1.0);
    // the coordinates themselves carry 1e-11 here
    assert_close!(body.mass, expected.mass, 1e-9);
    assert_close!(body.inertia.to_mat3(), expected.inertia.to_mat3(), 1e-9);
}

#[test]
fn bad_meshes_name_the_place() {
    let solid = Solid::cuboid(DVec3::ONE);
    let (vertices, triangles) = (solid.vertices.clone(), solid.triangles());
    let of = |v: &[DVec3], t: &[[u32; 3]]| MassProperties::from_mesh(v, t, 1.0).unwrap_err();

    let open = of(&vertices, &triangles[1..]);
    assert_eq!(open, MeshMassError::OpenEdge { edge: [0, 4] });

    let mut flipped = triangles.clone();
    flipped[0].swap(1, 2);
    assert_eq!(of(&vertices, &flipped), MeshMassError::InconsistentOrientation { edge: [0, 4] });

    let inward: Vec<[u32; 3]> = triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
    let inverted = of(&vertices, &inward);
    assert!(matches!(inverted, MeshMassError::Inverted { volume } if (volume + 1.0).abs() < 1e-15));

    let mut broken = vertices.clone();
    broken[3].y = f64::NAN;
    assert_eq!(of(&broken, &triangles), MeshMassError::NonFiniteVertex { vertex: 3 });

    let mut missing = triangles.clone();
    missing[2][1] = 99;
    assert_eq!(of(&vertices, &missing), MeshMassError::MissingVertex { triangle: 2, vertex: 99 });

    let mut repeated = triangles.clone();
    repeated[5] = [1, 1, 2];
    assert_eq!(of(&vertices, &repeated), MeshMassError::RepeatedVertex { triangle: 5 });

    let flat: Vec<DVec3> = vertices.iter().map(|v| DVec3::new(v.x, v.y, 0.0)).collect();
    let sheet = [[0, 1, 2], [0, 2, 1]];
    for empty in [of(&flat, &triangles), of(&vertices, &sheet), of(&vertices, &[]), of(&[], &[])] {
        assert!(matches!(empty, MeshMassError::NoVolume { .. }), "{empty}");
    }
    for error in [open, inverted] {
        assert!(!error.to_string().is_empty());
    }
}
