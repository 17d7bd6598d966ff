//! Flesh on slopes: Coulomb's law.

use crate::common::small;
use sinew_math::ops;
use sinew_sim::DVec3;

/// How far a soft box gets on a slope (degrees) of friction 0.5 within some seconds, m.
fn slid(degrees: f64, young: f64, cells: &str, seconds: u32) -> f64 {
    let (sin, cos) = ops::sin_cos(degrees.to_radians());
    let mut world = small(&format!(
        r#"gravity: ({}, 0, {}), flesh: [(name: "box", mesh: Beam(size: (0.3, 0.2, 0.1), cells: {cells}),
            material: NeoHookean(young: {young}, poisson: 0.4), stiffness_damping_s: 0.01, contact: (friction: 0.5))],
        colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1)), contact: (friction: 0.5))]"#,
        9.81 * sin,
        -9.81 * cos
    ));
    for _ in 0..60 * seconds {
        world.step();
    }
    let nodes = &world.state().flesh.nodes[0].positions;
    let rest = world.model().flesh().expect("flesh").bodies()[0].fem().mesh().positions();
    let moved = nodes.iter().zip(rest).map(|(x, start)| *x - *start).sum::<DVec3>() / nodes.len() as f64;
    moved.x
}

#[test]
fn flesh_slides_down_a_slope_as_coulombs_law_says() {
    let (mut told, mut is_right) = (String::new(), true);
    for (degrees, young, cells, seconds, tolerance) in [
        (35.0_f64, 1e5, "(6, 4, 2)", 1, 0.01),
        (35.0, 1e6, "(3, 2, 1)", 1, 0.01),
        (30.0, 1e5, "(6, 4, 2)", 2, 0.01),
        // Half a degree beyond the friction angle: a thousandth of the friction is 4 % of what is left.
        (27.065, 1e5, "(6, 4, 2)", 5, 0.01),
    ] {
        let (sin, cos) = ops::sin_cos(degrees.to_radians());
        // Steps of first order take the speed of their end: ½ a t² (1 + 1/n) in n steps.
        let exact = 0.5 * 9.81 * (sin - 0.5 * cos) * f64::from(seconds * seconds);
        let expected = exact * (1.0 + 1.0 / f64::from(60 * seconds));
        let found = slid(degrees, young, cells, seconds);
        is_right &= (found / expected - 1.0).abs() < tolerance;
        told += &format!("{degrees}° {young} Pa {cells}: {found} m of {expected}; ");
    }
    assert!(is_right, "{told}");
}

#[test]
fn flesh_stays_on_a_slope_below_its_friction_angle() {
    let crept = slid(26.065, 1e5, "(6, 4, 2)", 5);
    assert!(crept.abs() < 2e-3, "{crept}");
}
