//! Shapes: scaling, and the pieces that they are drawn from.

use glam::DVec3;
use sinew_math::{Shape, ShapePiece, UnitSolid};

const ALL: [Shape; 5] = [
    Shape::Box { size: DVec3::new(0.3, 0.2, 0.1) },
    Shape::Sphere { radius: 0.2 },
    Shape::Capsule { radius: 0.1, length: 0.5 },
    Shape::Cylinder { radius: 0.1, length: 0.5 },
    Shape::Ellipsoid { semi_axes: DVec3::new(0.3, 0.2, 0.1) },
];

#[test]
fn doubled_shapes_have_doubled_sizes_and_eightfold_mass() {
    for shape in ALL {
        let double = shape.scaled(2.0);
        assert!((double.half_extents() - shape.half_extents() * 2.0).length() < 1e-15, "{shape:?}");
        let ratio = double.mass_properties(10.0).mass / shape.mass_properties(10.0).mass;
        assert!((ratio - 8.0).abs() < 1e-12, "{shape:?}");
        for (size, double) in shape.sizes().zip(double.sizes()) {
            assert_eq!((size.name, size.value * 2.0), (double.name, double.value), "{shape:?}");
        }
    }
}

#[test]
fn the_pieces_of_a_shape_fill_its_extents() {
    for shape in ALL {
        let reach = |piece: ShapePiece| {
            let unit = match piece.solid {
                UnitSolid::Cube => DVec3::splat(0.5),
                UnitSolid::Ball => DVec3::ONE,
                UnitSolid::Cylinder => DVec3::new(0.5, 1.0, 1.0),
            };
            unit * piece.scale + DVec3::X * piece.x.abs()
        };
        let around = shape.pieces().map(reach).fold(DVec3::ZERO, DVec3::max);
        assert!((around - shape.half_extents()).length() < 1e-15, "{shape:?}");
    }
}

#[test]
fn lengths_and_sizes_by_name() {
    let lengths = ALL.map(|shape| shape.length());
    for (found, expected) in lengths.into_iter().zip([0.3, 0.4, 0.5, 0.5, 0.6]) {
        assert!((found - expected).abs() < 1e-15, "{found}");
    }
    assert_eq!(ALL.map(|shape| shape.name()), ["box", "sphere", "capsule", "cylinder", "ellipsoid"]);
    assert_eq!(ALL.map(|shape| shape.is_touchable()), [true, true, true, true, false]);
    // of a vector, the component that is wrong
    for bad in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        let shape = Shape::Box { size: DVec3::new(1.0, bad, 2.0) };
        let size = shape.sizes().next().unwrap();
        assert_eq!((size.name, size.value.to_bits(), size.may_be_zero), ("size", bad.to_bits(), false));
    }
    let good = Shape::Ellipsoid { semi_axes: DVec3::new(1.0, 2.0, 3.0) };
    assert_eq!(good.sizes().map(|size| size.value).collect::<Vec<_>>(), [1.0]);
    let capsule: Vec<_> = ALL[2].sizes().map(|size| (size.name, size.may_be_zero)).collect();
    assert_eq!(capsule, [("radius", false), ("length", true)]);
}

#[test]
fn a_capsule_has_a_ball_at_each_end() {
    let mut ends: Vec<f64> = ALL[2].pieces().map(|piece| piece.x).collect();
    ends.sort_by(f64::total_cmp);
    assert_eq!(ends, [-0.25, 0.0, 0.25]);
}
