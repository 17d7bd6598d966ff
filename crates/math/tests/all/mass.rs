//! Mass properties of shapes: closed forms against golden numbers and against numerical integration.

use glam::{DMat3, DVec3};
use sinew_math::{MassError, MassProperties, Motion, Pose, Sym3};
use sinew_testkit::golden::{case, number, vector};
use sinew_testkit::{Rng, assert_close};
use std::f64::consts::PI;

/// Midpoint rule for solids of revolution about x: discs of radius `profile(x)`.
fn integrated(half_length: f64, density: f64, profile: impl Fn(f64) -> f64) -> (f64, DVec3) {
    let n = 200_000;
    let step = 2.0 * half_length / f64::from(n);
    let (mut mass, mut axial, mut transverse) = (0.0, 0.0, 0.0);
    for i in 0..n {
        let x = -half_length + (f64::from(i) + 0.5) * step;
        let r2 = profile(x).powi(2);
        let disc = density * PI * r2 * step;
        mass += disc;
        axial += 0.5 * disc * r2;
        transverse += disc * (0.25 * r2 + x * x);
    }
    (mass, DVec3::new(axial, transverse, transverse))
}

#[test]
fn golden_shapes() {
    let golden = case("mass", "inertia_shapes");
    let (input, out) = (&golden["in"], &golden["out"]);
    let (mass, r, length) =
        (number(&input["mass_or_density"]), number(&input["r"]), number(&input["length"]));
    let shapes = [
        ("box", MassProperties::cuboid(vector(&input["box"]), 1.0).with_mass(mass)),
        ("sphere", MassProperties::sphere(r, 1.0).with_mass(mass)),
        ("cylinder_x", MassProperties::cylinder(r, length, 1.0).with_mass(mass)),
        ("capsule_x", MassProperties::capsule(r, length, mass)),
    ];
    for (name, shape) in shapes {
        assert_close!(shape.inertia.diagonal_entries(), vector(&out[name]), 1e-15, "{name}");
        assert_eq!(shape.com, DVec3::ZERO);
        shape.is_physical().unwrap();
    }
    assert_close!(shapes[3].1.mass, number(&out["capsule_mass"]), 1e-15);
}

#[test]
fn shapes_equal_their_integrals() {
    let (r, l, density) = (0.3f64, 0.8f64, 2.5);
    let shapes = [
        (MassProperties::sphere(r, density), integrated(r, density, |x| (r * r - x * x).sqrt())),
        (MassProperties::cylinder(r, l, density), integrated(0.5 * l, density, |_| r)),
        (
            MassProperties::capsule(r, l, density),
            integrated(0.5 * l + r, density, |x| {
                let cap = (x.abs() - 0.5 * l).max(0.0);
                (r * r - cap * cap).sqrt()
            }),
        ),
        (
            MassProperties::ellipsoid(DVec3::new(l, r, r), density),
            integrated(l, density, |x| r * (1.0 - (x / l).powi(2)).sqrt()),
        ),
    ];
    for (shape, (mass, moments)) in shapes {
        assert_close!(shape.mass, mass, 1e-9);
        assert_close!(shape.inertia.diagonal_entries(), moments, 1e-9);
    }
}

#[test]
fn limits_between_shapes() {
    let (r, density) = (0.4, 3.0);
    assert_close!(
        MassProperties::capsule(r, 0.0, density).mass,
        MassProperties::sphere(r, density).mass,
        1e-15
    );
    let capsule = MassProperties::capsule(r, 0.0, density).inertia.diagonal_entries();
    assert_close!(capsule, MassProperties::sphere(r, density).inertia.diagonal_entries(), 1e-15);
    assert_close!(MassProperties::cuboid(DVec3::new(1.0, 2.0, 3.0), 2.0).mass, 12.0, 1e-15);
    assert_close!(MassProperties::sphere(0.5, 6.0).mass, PI, 1e-15);
}

#[test]
fn halves_make_a_whole() {
    let mut rng = Rng::new(71);
    let edges = DVec3::new(1.0, 2.0, 3.0);
    let whole = MassProperties::cuboid(edges, 2.0);
    for _ in 0..100 {
        // cut at a random plane, then place the whole anywhere
        let cut = rng.uniform(0.1, 0.9);
        let pose = Pose::new(rng.rotation(), rng.vec3(-5.0, 5.0));
        let part = |from: f64, to: f64| {
            let piece = MassProperties::cuboid(DVec3::new(edges.x * (to - from), edges.y, edges.z), 2.0);
            let centre = DVec3::new(edges.x * (0.5 * (from + to) - 0.5), 0.0, 0.0);
            (pose * Pose::from_translation(centre), piece)
        };
        let sum = MassProperties::combine(&[part(0.0, cut), part(cut, 1.0)]);
        let expected = whole.transformed_by(pose);
        assert_close!(sum.mass, expected.mass, 1e-14);
        assert_close!(sum.com, expected.com, 1e-14);
        assert_close!(sum.inertia.to_mat3(), expected.inertia.to_mat3(), 1e-13);
        // the same through spatial inertias
        let spatial = whole.spatial_inertia().transformed_by(pose).to_block();
        assert!((spatial - expected.spatial_inertia().to_block()).max_abs() < 1e-11);
        let push = expected.spatial_inertia().mul(Motion::new(DVec3::ZERO, DVec3::X));
        assert_close!(push.linear, DVec3::X * 12.0, 1e-13);
        assert_close!(push.angular, expected.com.cross(DVec3::X) * 12.0, 1e-13);
    }
    assert_eq!(MassProperties::combine(&[]), MassProperties::default());
}

#[test]
fn principal_axes_diagonalize() {
    let mut rng = Rng::new(72);
    for _ in 0..200 {
        let edges = rng.vec3(0.1, 3.0);
        let body = MassProperties::cuboid(edges, 1.0).transformed_by(Pose::new(rng.rotation(), DVec3::ONE));
        let (axes, moments) = body.principal_axes();
        assert!((axes.length() - 1.0).abs() < 1e-15);
        let back = Sym3::diagonal(moments).rotated_by(&DMat3::from_quat(axes));
        assert_close!(back.to_mat3(), body.inertia.to_mat3(), 1e-13);
        assert!(moments.x <= moments.y && moments.y <= moments.z);
        body.is_physical().unwrap();
    }
}

#[test]
fn unphysical_properties_are_named() {
    let good = MassProperties::sphere(1.0, 1.0);
    let of = |mass, moments| MassProperties { mass, com: DVec3::ZERO, inertia: Sym3::diagonal(moments) };
    let cases = [
        (MassProperties { com: DVec3::NAN, ..good }, MassError::NotFinite),
        (of(f64::INFINITY, DVec3::ONE), MassError::NotFinite),
        (of(0.0, DVec3::ONE), MassError::MassNotPositive { mass: 0.0 }),
        (of(-2.0, DVec3::ONE), MassError::MassNotPositive { mass: -2.0 }),
        (of(1.0, DVec3::new(1.0, 0.0, 1.0)), MassError::MomentNotPositive { moment: 0.0 }),
        (of(1.0, DVec3::new(1.0, -1.0, 1.0)), MassError::MomentNotPositive { moment: -1.0 }),
        (of(1.0, DVec3::new(1.0, 2.1, 1.0)), MassError::TriangleInequality { moments: [1.0, 1.0, 2.1] }),
    ];
    for (body, error) in cases {
        assert_eq!(body.is_physical().unwrap_err(), error);
        assert!(!error.to_string().is_empty());
    }
    // moments that products of inertia spoil, each alone, whatever the unit of length
    for unit in [1e-9, 1.0, 1e9] {
        let ones = Sym3::IDENTITY;
        for inertia in [Sym3 { xy: 0.9, ..ones }, Sym3 { xz: 0.9, ..ones }, Sym3 { yz: 0.9, ..ones }] {
            let body = MassProperties { mass: 1.0, com: DVec3::ZERO, inertia: inertia * unit };
            let Err(MassError::TriangleInequality { moments }) = body.is_physical() else {
                panic!("{inertia:?} is physical");
            };
            assert_close!(moments.map(|moment| moment / unit), [0.1, 1.0, 1.9], 1e-14);
        }
    }
    // a flat plate sits on the edge of the triangle inequality
    of(1.0, DVec3::new(1.0, 1.0, 2.0)).is_physical().unwrap();
    good.is_physical().unwrap();
}
