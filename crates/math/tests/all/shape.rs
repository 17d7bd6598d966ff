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
