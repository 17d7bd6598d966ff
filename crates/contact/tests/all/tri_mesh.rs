//! Triangle meshes: distances against a search through all triangles, and contacts against those of planes and boxes.

use glam::{DVec2, DVec3};
use sinew_contact::{
    Collider, ContactError, ContactMaterial, ContactModel, ContactPoint, ContactShape, ContactWorkspace,
    ConvexHull, HeightField, Owner, TriMesh,
};
use sinew_math::{MassProperties, Pose, Shape, Triangles, exp_so3, ops};
use sinew_testkit::{Rng, soak_scale};

/// A sphere of triangles whose vertices are moved along their radii by `by`.
pub(crate) fn ball(divisions: u32, mut by: impl FnMut() -> f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let mut points = vec![DVec3::X, -DVec3::X, DVec3::Y, -DVec3::Y, DVec3::Z, -DVec3::Z];
    let mut triangles: Vec<[u32; 3]> =
        vec![[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]];
    for _ in 0..divisions {
        let mut finer = Vec::new();
        for [a, b, c] in triangles {
            let mut middle = |i: u32, j: u32| {
                let point = (points[i as usize] + points[j as usize]).normalize();
                points.iter().position(|p| p.distance(point) < 1e-9).unwrap_or_else(|| {
                    points.push(point);
                    points.len() - 1
                }) as u32
            };
            let [x, y, z] = [middle(a, b), middle(b, c), middle(c, a)];
            finer.extend([[a, x, z], [x, b, y], [z, y, c], [x, y, z]]);
        }
        triangles = finer;
    }
    points.iter_mut().for_each(|point| *point *= by());
    (points, triangles)
}

/// A square of `2 n²` triangles about the origin, with cells of different sizes.
fn grid(n: u32, size: f64, height: impl Fn(DVec2) -> f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let place = |i: u32| size * (i as f64 / n as f64 - 0.5 + 0.01 * ops::sin(f64::from(i * 7 % 5)));
    let vertex = |i: u32, j: u32| {
        let at = DVec2::new(place(i), place(j));
        at.extend(height(at))
    };
    let vertices = (0..=n).flat_map(|j| (0..=n).map(move |i| (i, j))).map(|(i, j)| vertex(i, j)).collect();
    let mut triangles = Vec::new();
    for j in 0..n {
        for i in 0..n {
            let a = i + (n + 1) * j;
            let (b, c, d) = (a + 1, a + n + 2, a + n + 1);
            triangles.extend(if (i + j) % 2 == 0 { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] });
        }
    }
    (vertices, triangles)
}

fn solid_angle(eye: DVec3, triangle: [DVec3; 3]) -> f64 {
    let [a, b, c] = triangle.map(|p| p - eye);
    let [x, y, z] = [a, b, c].map(DVec3::length);
    2.0 * ops::atan2(a.dot(b.cross(c)), x * y * z + a.dot(b) * z + b.dot(c) * x + c.dot(a) * y)
}

/// Distance by sampling a triangle with its own parametrization: exact by projection on its plane, sides and corners.
fn from_triangle([a, b, c]: [DVec3; 3], p: DVec3) -> f64 {
    let on_segment = |u: DVec3, v: DVec3| {
        let along = v - u;
        p.distance(u + along * ((p - u).dot(along) / along.length_squared()).clamp(0.0, 1.0))
    };
    let normal = (b - a).cross(c - a).normalize();
    let foot = p - normal * normal.dot(p - a);
    let inside = [(a, b), (b, c), (c, a)].iter().all(|&(u, v)| normal.cross(v - u).dot(foot - u) >= 0.0);
    let sides = on_segment(a, b).min(on_segment(b, c)).min(on_segment(c, a));
    if inside { foot.distance(p) } else { sides }
}

#[test]
fn signed_distances_are_those_of_a_search_through_all_triangles_soak() {
    let mut rng = Rng::new(41);
    for round in 0..6 * soak_scale() {
        let (vertices, triangles) = ball(2, || rng.uniform(0.3, 1.0));
        let mesh = ContactShape::from(TriMesh::new(&vertices, &triangles, None).unwrap());
        let sheet = ContactShape::from(TriMesh::new(&vertices, &triangles, Some(false)).unwrap());
        let corners = |t: &[u32; 3]| t.map(|i| vertices[i as usize]);
        for _ in 0..300 {
            let point = rng.vec3(-1.2, 1.2);
            let expected =
                triangles.iter().map(|t| from_triangle(corners(t), point)).fold(f64::INFINITY, f64::min);
            let winding: f64 = triangles.iter().map(|t| solid_angle(point, corners(t))).sum();
            let sign = if winding > 2.0 * std::f64::consts::PI { -1.0 } else { 1.0 };
            let found = mesh.signed_distance(point).unwrap();
            assert!((found - sign * expected).abs() < 1e-12, "round {round}: {found}, not {sign} {expected}");
            assert!((sheet.signed_distance(point).unwrap() - expected).abs() < 1e-12);
        }
    }
}

#[test]
fn meshes_that_face_inward_are_turned_and_open_ones_are_no_solids() {
    let (vertices, mut triangles) = ball(1, || 1.0);
    triangles.iter_mut().for_each(|t| t.swap(0, 1));
    let mesh = TriMesh::new(&vertices, &triangles, Some(true)).unwrap();
    assert!(ContactShape::from(mesh).signed_distance(DVec3::ZERO).unwrap() < -0.5);
    triangles.pop();
    let open = TriMesh::new(&vertices, &triangles, Some(true)).unwrap_err();
    assert!(matches!(&open, ContactError::Mesh(message) if message.contains("solid: false")), "{open}");
    assert!(!TriMesh::new(&vertices, &triangles, None).unwrap().is_solid());
    for (bad, part) in [
        (TriMesh::new(&[DVec3::ZERO, DVec3::X, DVec3::X * 2.0], &[[0, 1, 2]], None), "area"),
        (TriMesh::new(&[DVec3::ZERO, DVec3::X], &[[0, 1, 2]], None), "exist"),
        (TriMesh::new(&[DVec3::ZERO, DVec3::X, DVec3::NAN], &[[0, 1, 2]], None), "finite"),
        (TriMesh::new(&[], &[], None), "area"),
    ] {
        let bad = bad.unwrap_err().to_string();
        assert!(bad.contains(part), "{bad}");
    }
}

fn bodies() -> Vec<ContactShape> {
    let mut rng = Rng::new(3);
    let points: Vec<DVec3> = (0..14).map(|_| rng.unit_vec() * 0.3).collect();
    vec![
        ContactShape::Solid(Shape::Box { size: DVec3::new(0.5, 0.3, 0.4) }),
        ContactShape::Solid(Shape::Sphere { radius: 0.2 }),
        ContactShape::Solid(Shape::Capsule { radius: 0.15, length: 0.5 }),
        ContactShape::Solid(Shape::Cylinder { radius: 0.2, length: 0.4 }),
        ContactShape::Convex(ConvexHull::new(&points).unwrap()),
    ]
}

/// Contacts of a body with one collider of the world.
fn contacts(
    ground: &ContactShape,
    at: Pose,
    body: &ContactShape,
    pose: Pose,
    margin: f64,
) -> Vec<ContactPoint> {
    let material = ContactMaterial::for_mass(1.0, 0.5);
    let ground = Collider::new(Owner::World, at, ground.clone(), material).unwrap();
    let body = Collider::new(Owner::Body(0), Pose::IDENTITY, body.clone(), material).unwrap();
    let model = ContactModel::new(vec![ground, body], 1, &[]).unwrap();
    let mut out = Vec::new();
    model.rigid_contacts(&[pose], margin, &mut ContactWorkspace::new(), &mut out);
    out.sort_by(|a, b| a.point.x.total_cmp(&b.point.x).then(a.point.y.total_cmp(&b.point.y)));
    out
}

#[test]
fn a_tessellated_plane_touches_as_the_plane_does() {
    let (vertices, triangles) = grid(9, 6.0, |_| 0.0);
    // a slab below the same square
    let mut slab = vertices.clone();
    slab.extend(vertices.iter().map(|v| *v - DVec3::Z));
    let n = vertices.len() as u32;
    let mut closed = triangles.clone();
    closed.extend(triangles.iter().map(|&[a, b, c]| [a + n, c + n, b + n]));
    let border: Vec<u32> = (0..9)
        .chain((0..9).map(|j| 9 + 10 * j))
        .chain((1..10).rev().map(|i| 90 + i))
        .chain((1..10).rev().map(|j| 10 * j))
        .collect();
    for (i, &a) in border.iter().enumerate() {
        let b = border[(i + 1) % border.len()];
        closed.extend([[b, a, a + n], [b, a + n, b + n]]);
    }
    let sheet = ContactShape::from(TriMesh::new(&vertices, &triangles, None).unwrap());
    let solid = TriMesh::new(&slab, &closed, Some(true)).unwrap();
    assert!(solid.is_solid());
    let solid = ContactShape::from(solid);
    let field = ContactShape::Field(HeightField::from_fn([11, 8], DVec2::splat(6.0), |_, _| 0.0).unwrap());
    let mut rng = Rng::new(8);
    for shape in bodies() {
        let mut n_touching = 0;
        for round in 0..60 {
            let at = Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0));
            // level, lying on an edge, and anyhow
            let turn = match round % 3 {
                0 => exp_so3(DVec3::Z * rng.uniform(0.0, 6.0)),
                1 => exp_so3(DVec3::Z * rng.uniform(0.0, 6.0)) * exp_so3(DVec3::X * 0.785),
                _ => rng.rotation(),
            };
            let place = DVec3::new(rng.uniform(-1.0, 1.0), rng.uniform(-1.0, 1.0), rng.uniform(0.1, 0.4));
            let pose = at * Pose::new(turn, place);
            let expected = contacts(&ContactShape::Plane, at, &shape, pose, 0.1);
            n_touching += expected.len();
            for mesh in [&sheet, &solid, &field] {
                let found = contacts(mesh, at, &shape, pose, 0.1);
                assert_eq!(found.len(), expected.len(), "{shape:?} {found:?} {expected:?}");
                for (a, b) in found.iter().zip(&expected) {
                    assert!(a.point.distance(b.point) < 1e-12 && a.normal.distance(b.normal) < 1e-12);
                    assert!((a.depth - b.depth).abs() < 1e-12);
                }
            }
            // A sheet is the same from below.
            let below = at * Pose::new(exp_so3(DVec3::X * std::f64::consts::PI), DVec3::ZERO);
            let expected = contacts(&ContactShape::Plane, below, &shape, below * Pose::new(turn, place), 0.1);
            let found = contacts(&sheet, at, &shape, below * Pose::new(turn, place), 0.1);
            assert_eq!(found.len(), expected.len());
        }
        assert!(n_touching > 20);
    }
}

#[test]
fn keys_stay_while_a_body_slides_over_inner_edges() {
    let (vertices, triangles) = grid(12, 3.0, |_| 0.0);
    let sheet = ContactShape::from(TriMesh::new(&vertices, &triangles, None).unwrap());
    let field = ContactShape::Field(HeightField::from_fn([13, 12], DVec2::splat(3.0), |_, _| 0.0).unwrap());
    for (shape, ground) in bodies().into_iter().flat_map(|body| [(body.clone(), &sheet), (body, &field)]) {
        let height = match &shape {
            ContactShape::Solid(solid) => solid.half_extents().z,
            _ => 0.25,
        };
        let keys = |x: f64| -> Vec<_> {
            let pose = Pose::from_translation(DVec3::new(x, 0.3 * x, height - 1e-4));
            let mut keys: Vec<_> =
                contacts(ground, Pose::IDENTITY, &shape, pose, 0.0).iter().map(|c| c.key).collect();
            keys.sort_unstable();
            keys
        };
        for i in 1..100 {
            assert_eq!(keys(0.01 * f64::from(i)), keys(0.0), "{shape:?}");
        }
    }
}

/// The box as a mesh, each face divided.
fn box_mesh(half: DVec3, n: u32) -> TriMesh {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let (square, faces) = grid(n, 2.0, |_| 0.0);
            let first = vertices.len() as u32;
            let even = |x: f64| (x * f64::from(n) * 0.5).round() / f64::from(n) * 2.0;
            let turned = |p: DVec3| {
                let mut q = DVec3::ZERO;
                q[axis] = side;
                q[(axis + 1) % 3] = even(p.x).clamp(-1.0, 1.0);
                q[(axis + 2) % 3] = even(p.y).clamp(-1.0, 1.0) * side;
                q * half
            };
            vertices.extend(square.into_iter().map(turned));
            triangles.extend(faces.into_iter().map(|t| t.map(|i| first + i)));
        }
    }
    TriMesh::new(&vertices, &triangles, Some(true)).unwrap()
}

#[test]
fn a_box_of_triangles_is_as_deep_as_the_box_soak() {
    let half = DVec3::new(0.6, 0.5, 0.4);
    let corners: Vec<DVec3> = crate::distances::box_corners(half * 2.0);
    let solid = ContactShape::Convex(ConvexHull::new(&corners).unwrap());
    let mesh = ContactShape::from(box_mesh(half, 4));
    let mut rng = Rng::new(77);
    for shape in bodies() {
        let mut n_touching = 0;
        for _ in 0..200 * soak_scale() {
            let pose = Pose::new(rng.rotation(), rng.unit_vec() * rng.uniform(0.4, 1.2));
            let deepest = |ground: &ContactShape| {
                contacts(ground, Pose::IDENTITY, &shape, pose, 0.2)
                    .iter()
                    .map(|c| c.depth)
                    .fold(f64::MIN, f64::max)
            };
            let (a, b) = (deepest(&mesh), deepest(&solid));
            // gaps agree; small overlaps, too
            if b > -0.15 && b < 0.02 {
                n_touching += 1;
                let within = if b < 0.0 { 1e-4 } else { 2e-3 };
                assert!((a - b).abs() < within, "{shape:?}: {a} {b} at {pose:?}");
            }
        }
        assert!(n_touching > 20 * soak_scale(), "{shape:?}: {n_touching}");
    }
}

/// The deepest contact of a body with a collider of the world at the origin.
fn deepest(ground: &ContactShape, body: &ContactShape, pose: Pose) -> Option<ContactPoint> {
    let found = contacts(ground, Pose::IDENTITY, body, pose, 0.0);
    found.into_iter().max_by(|a, b| a.depth.total_cmp(&b.depth))
}

#[test]
fn thin_bodies_that_an_edge_has_half_cut_are_pushed_back_soak() {
    let half = DVec3::new(0.5, 0.5, 0.05);
    let corners: Vec<DVec3> = crate::distances::box_corners(half * 2.0);
    let solid = ContactShape::Convex(ConvexHull::new(&corners).unwrap());
    let mesh = ContactShape::from(box_mesh(half, 1));
    let mut rng = Rng::new(78);
    for size in [DVec3::new(1.0, 0.1, 0.03), DVec3::new(0.6, 0.6, 0.02), DVec3::new(0.3, 0.2, 0.05)] {
        let hull = ContactShape::Convex(ConvexHull::new(&crate::distances::box_corners(size)).unwrap());
        for body in [ContactShape::Solid(Shape::Box { size }), hull] {
            let (mut n, mut n_poor) = (0, 0);
            while n < 400 * soak_scale() {
                let place = DVec3::new(rng.uniform(0.3, 1.0), rng.uniform(-0.5, 0.5), rng.uniform(-0.1, 0.3));
                let pose = Pose::new(exp_so3(rng.vec3(-0.6, 0.6)), place);
                let Some(expected) = deepest(&solid, &body, pose) else { continue };
                let is_cut = expected.depth > 5e-4 && expected.depth < 0.9 * size.min_element();
                if !is_cut || place.abs().cmplt(half).all() {
                    continue;
                }
                n += 1;
                let found = deepest(&mesh, &body, pose).expect("something pushes");
                assert!(found.depth > 0.0, "{expected:?} {found:?} at {pose:?}");
                let is_poor = found.depth < 0.5 * expected.depth || found.normal.dot(expected.normal) < 0.5;
                n_poor += usize::from(is_poor);
            }
            assert!(10 * n_poor <= n, "{body:?}: {n_poor} of {n}");
        }
    }
}

#[test]
fn a_corner_that_has_come_out_behind_a_wall_is_pushed_back() {
    let mesh = ContactShape::from(box_mesh(DVec3::new(0.5, 0.5, 0.05), 1));
    let cube = ContactShape::Solid(Shape::Box { size: DVec3::splat(0.4) });
    // a corner down
    let turn = exp_so3(DVec3::new(1.0, -1.0, 0.0).normalize() * ops::atan2(2f64.sqrt(), 1.0));
    for depth in [0.02, 0.06, 0.099, 0.101, 0.15] {
        let height = 0.05 + 0.2 * 3f64.sqrt() - depth;
        let pose = Pose::new(turn, DVec3::new(0.1, 0.05, height));
        let found = deepest(&mesh, &cube, pose).expect("a contact");
        assert!((found.depth - depth).abs() < 1e-9, "{depth}: {found:?}");
        assert!(found.normal.distance(DVec3::Z) < 1e-9, "{depth}: {found:?}");
    }
}

#[test]
fn bumpy_ground_pushes_up() {
    let n = [25, 23];
    let mut rng = Rng::new(5);
    let heights: Vec<f64> = (0..n[0] * n[1]).map(|_| rng.uniform(0.0, 0.02)).collect();
    let height = |v: usize| heights[v];
    let field = HeightField::new(n, DVec2::splat(3.0), heights.clone()).unwrap();
    let (columns, rows) = (n[0] as u32, n[1] as u32);
    let place = |v: usize| {
        let at = |i: usize, n: usize| 3.0 * (i as f64 / (n - 1) as f64 - 0.5);
        DVec3::new(at(v % n[0], n[0]), at(v / n[0], n[1]), height(v))
    };
    let vertices: Vec<DVec3> = (0..n[0] * n[1]).map(place).collect();
    let cells = (0..rows - 1).flat_map(|j| (0..columns - 1).map(move |i| i + columns * j));
    let triangles: Vec<[u32; 3]> =
        cells.flat_map(|v| [[v, v + 1, v + columns + 1], [v, v + columns + 1, v + columns]]).collect();
    let sheet = ContactShape::from(TriMesh::new(&vertices, &triangles, None).unwrap());
    for body in bodies() {
        let mut n_deep = 0;
        for _ in 0..300 {
            let place = DVec3::new(rng.uniform(-0.6, 0.6), rng.uniform(-0.6, 0.6), rng.uniform(0.1, 0.3));
            let pose = Pose::new(rng.rotation(), place);
            for ground in [&sheet, &ContactShape::Field(field.clone())] {
                for contact in contacts(ground, Pose::IDENTITY, &body, pose, 0.0) {
                    n_deep += 1;
                    assert!(
                        contact.normal.z > 0.5 && contact.depth < 0.4,
                        "{body:?}: {contact:?} at {pose:?}"
                    );
                }
            }
        }
        assert!(n_deep > 100, "{body:?}");
    }
}

#[test]
fn meshes_and_hulls_convert_to_plain_triangles_and_back() {
    let corner = |i: u32| DVec3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2));
    let points: Vec<DVec3> = (0..8).map(corner).collect();
    let hull = ConvexHull::new(&points).expect("a cube");
    let surface = Triangles::from(&hull);
    assert_eq!((surface.positions.len(), surface.triangles.len()), (8, 12));
    let mesh = TriMesh::try_from(&surface).expect("closed");
    assert!(mesh.is_solid());
    let back = Triangles::from(&mesh);
    let mass = MassProperties::from_mesh(&back.positions, &back.triangles, 1.0).expect("closed");
    assert!((mass.mass - 1.0).abs() < 1e-14);
    assert_eq!(TriMesh::try_from(&back).as_ref(), Ok(&mesh));
    assert!(TriMesh::try_from(&Triangles { triangles: vec![[0, 1, 9]], ..surface }).is_err());
}
