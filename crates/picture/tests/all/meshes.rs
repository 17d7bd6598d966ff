//! Solids as triangles: closed, turned outwards, of the right size.

use std::f64::consts::PI;

use glam::DVec3;
use sinew_math::Triangles;
use sinew_picture::{Color, Mesh};

/// Volume inside, by the divergence theorem.
fn volume(mesh: &Mesh) -> f64 {
    let points: Vec<DVec3> = mesh.positions().collect();
    mesh.triangles().map(|[a, b, c]| points[a].dot(points[b].cross(points[c])) / 6.0).sum()
}

/// Every solid with its volume and the largest place on each axis.
fn solids() -> Vec<(Mesh, f64, DVec3)> {
    let (r, l) = (0.4, 1.5);
    vec![
        (Mesh::cuboid(DVec3::new(1.0, 2.0, 3.0)), 6.0, DVec3::new(0.5, 1.0, 1.5)),
        (Mesh::sphere(r, 96), 4.0 / 3.0 * PI * r * r * r, DVec3::splat(r)),
        (Mesh::capsule(r, l, 96), PI * r * r * (l + 4.0 / 3.0 * r), DVec3::new(0.5 * l + r, r, r)),
        (Mesh::cylinder(r, l, 96), PI * r * r * l, DVec3::new(0.5 * l, r, r)),
        (Mesh::cone(r, l, 96), PI * r * r * l / 3.0, DVec3::new(0.5 * l, r, r)),
        (Mesh::ellipsoid(DVec3::new(0.3, 0.5, 0.9), 96), 4.0 / 3.0 * PI * 0.135, DVec3::new(0.3, 0.5, 0.9)),
    ]
}

#[test]
fn volumes_and_extents_are_right() {
    for (i, (mesh, wanted, extent)) in solids().into_iter().enumerate() {
        let found = volume(&mesh);
        assert!((found / wanted - 1.0).abs() < 5e-3, "solid {i}: {found} instead of {wanted}");
        let largest = mesh.positions().fold(DVec3::ZERO, |most, point| most.max(point.abs()));
        assert!((largest - extent).length() < 2e-3, "solid {i}: {largest} instead of {extent}");
        assert!((volume(&mesh.scaled(2.0)) / wanted - 8.0).abs() < 0.05);
    }
}

#[test]
fn few_sides_are_enough_and_none_are_made_three() {
    for detail in [0, 3, 5] {
        for mesh in
            [Mesh::sphere(1.0, detail), Mesh::cylinder(1.0, 1.0, detail), Mesh::cone(1.0, 1.0, detail)]
        {
            assert!(volume(&mesh) > 0.2, "{detail}");
        }
    }
    assert_eq!(Mesh::sphere(0.0, 8).n_triangles(), 0);
}

#[test]
fn a_surface_that_names_missing_vertices_loses_those_triangles() {
    let corners = [DVec3::ZERO, DVec3::X, DVec3::Y];
    let mesh = Mesh::smooth(&corners, &[[0, 1, 2], [0, 1, 3], [7, 8, 9]], Color::srgb(1.0, 1.0, 1.0));
    assert_eq!(mesh.n_triangles(), 1);
}

#[test]
fn plain_triangles_become_a_mesh_and_back() {
    let surface = Triangles {
        positions: vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z],
        triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
    };
    let mesh = Mesh::from(&surface);
    assert_eq!(mesh.n_triangles(), 4);
    assert_eq!(Triangles::from(&mesh), surface);
}
