//! Boxes on a floor or a slope, corner by corner: friction holds, slides, and dissipates.

use crate::rigid::{Brick, Bricks};
use glam::DVec3;
use sinew_contact::{ContactKey, ContactLaw, ContactMaterial, ContactPoint, Mover, Opposite};
use sinew_math::{Pose, exp_so3, ops};

const H: f64 = 1.0 / 60.0;
const G: f64 = 9.81;

/// Corners of every box against the floor `z = 0`, within a margin.
fn floor(bricks: &[Brick], law: ContactLaw, margin: f64) -> Vec<ContactPoint> {
    let mut out = Vec::new();
    for (a, brick) in bricks.iter().enumerate() {
        for (i, &corner) in brick.corners().iter().enumerate() {
            if corner.z < margin {
                out.push(ContactPoint {
                    key: ContactKey { a: a as u32, b: 0, feature: i as u64 },
                    a: Mover::Body(a as u32),
                    b: Opposite::World,
                    point: DVec3::new(corner.x, corner.y, 0.5 * corner.z),
                    normal: DVec3::Z,
                    depth: -corner.z,
                    law,
                });
            }
        }
    }
    out
}

fn law(mass: f64, friction: f64) -> ContactLaw {
    ContactMaterial::for_mass(mass, friction).with(&ContactMaterial::passive(friction))
}

/// A box of unit edges at rest on the floor; gravity is tilted instead of the floor.
fn on_slope(mass: f64, degrees: f64) -> Bricks {
    let (sin, cos) = ops::sin_cos(degrees.to_radians());
    let gravity = G * DVec3::new(sin, 0.0, -cos);
    let brick = Brick::new(Pose::from_translation(DVec3::Z * (0.5 - 1e-4 / 4.0)), mass, DVec3::ONE);
    Bricks::new(vec![brick], gravity)
}

fn run(scene: &mut Bricks, law: ContactLaw, margin: f64, n: usize) {
    for _ in 0..n {
        let contacts = floor(&scene.bricks, law, margin);
        scene.step(&contacts, H);
    }
}

#[test]
fn a_box_of_any_mass_holds_on_a_slope_of_20_degrees_in_implicit_steps() {
    for mass in [1e-3, 1.0, 1e4] {
        for passes in [1, 2, 3] {
            for mass_error in [1.0, 0.01, 100.0, f64::INFINITY] {
                let mut scene = on_slope(mass, 20.0);
                (scene.passes, scene.mass_error) = (passes, mass_error);
                let law = law(mass, 0.5);
                run(&mut scene, law, 0.01, 300);
                let before = scene.bricks[0].pose.translation;
                run(&mut scene, law, 0.01, 300);
                let after = scene.bricks[0].pose.translation;
                let creep = (after - before).length() / 5.0;
                assert_eq!(scene.used, 1, "a box at rest needs no second solve");
                assert!(creep < 1e-12, "{mass} {passes} {mass_error}: {creep} m/s");
                // it sinks by a quarter of 0.1 mm and stretches as much as the slope demands
                assert!((0.5 - after.z) < 3e-5 && after.x < 1e-4, "{mass} {passes} {mass_error}: {after}");
            }
        }
    }
}

#[test]
fn a_box_holds_on_a_slope_in_explicit_steps() {
    for mass in [1.0, 1e4] {
        let mut scene = on_slope(mass, 20.0);
        let law = law(mass, 0.5);
        let mut before = DVec3::ZERO;
        for i in 0..8000 {
            if i == 4000 {
                before = scene.bricks[0].pose.translation;
            }
            let contacts = floor(&scene.bricks, law, 0.0);
            scene.substep(&contacts, 2.5e-4);
        }
        let moved = (scene.bricks[0].pose.translation - before).length();
        assert!(moved < 1e-9, "{mass}: {moved}");
    }
}

#[test]
fn a_box_slides_down_a_slope_of_40_degrees_as_coulomb_says() {
    let (sin, cos) = ops::sin_cos(40f64.to_radians());
    let exact = G * (sin - 0.5 * cos);
    for mass in [1.0, 1e4] {
        for (passes, tolerance) in [(1, 1e-3), (2, 1e-4), (3, 1e-4)] {
            let mut scene = on_slope(mass, 40.0);
            scene.passes = passes;
            let law = law(mass, 0.5);
            run(&mut scene, law, 0.01, 30);
            let early = scene.bricks[0].motion.linear.x;
            run(&mut scene, law, 0.01, 60);
            let late = scene.bricks[0].motion.linear.x;
            assert!(scene.used <= 2, "the loads of the corners differ, so a second solve, but no third");
            assert!(
                ((late - early) / exact - 1.0).abs() < tolerance,
                "{passes}: {} of {exact}",
                late - early
            );
            assert!((late / (1.5 * exact) - 1.0).abs() < tolerance, "{passes}: {late} of {}", 1.5 * exact);
        }
    }
}

#[test]
fn a_wrong_mass_costs_solves_but_slides_as_fast() {
    let (sin, cos) = ops::sin_cos(40f64.to_radians());
    let exact = G * (sin - 0.5 * cos);
    for mass_error in [0.01, 0.1, 0.5, 2.0] {
        let mut scene = on_slope(1.0, 40.0);
        (scene.passes, scene.mass_error) = (4, mass_error);
        run(&mut scene, law(1.0, 0.5), 0.01, 60);
        let speed = scene.bricks[0].motion.linear.x;
        assert!((speed / exact - 1.0).abs() < 0.02, "{mass_error}: {speed} of {exact}");
    }
}

#[test]
fn a_box_slides_in_explicit_steps_as_coulomb_says() {
    let (sin, cos) = ops::sin_cos(40f64.to_radians());
    let mut scene = on_slope(1.0, 40.0);
    for _ in 0..4000 {
        let contacts = floor(&scene.bricks, law(1.0, 0.5), 0.0);
        scene.substep(&contacts, 2.5e-4);
    }
    assert!((scene.bricks[0].motion.linear.x / (G * (sin - 0.5 * cos)) - 1.0).abs() < 0.02);
}

#[test]
fn a_sliding_box_stops_where_coulomb_says_and_stays() {
    for passes in [1, 2, 3] {
        let mut scene = on_slope(1.0, 0.0);
        scene.passes = passes;
        scene.bricks[0].motion.linear.x = 2.0;
        run(&mut scene, law(1.0, 0.5), 0.01, 120);
        let way = scene.bricks[0].pose.translation.x;
        // v²/2μg, less half a step that an implicit step brakes too early
        let exact = 4.0 / (2.0 * 0.5 * G) - 2.0 * H / 2.0;
        assert!((way / exact - 1.0).abs() < 0.01, "{passes}: {way} of {exact}");
        assert!(scene.bricks[0].motion.linear.length() < 1e-12);
    }
}

#[test]
fn a_dropped_box_comes_to_rest() {
    for (passes, margin) in [(1, 0.0), (2, 0.0), (3, 0.0), (3, 0.2), (4, 0.2)] {
        let gravity = DVec3::Z * -G;
        let tilt = exp_so3(DVec3::new(0.3, 0.5, 0.1));
        let mut brick = Brick::new(Pose::new(tilt, DVec3::Z * 2.0), 1.0, DVec3::new(0.4, 0.3, 0.2));
        brick.motion.angular = DVec3::new(1.0, -2.0, 0.5);
        brick.motion.linear = DVec3::new(1.0, 0.0, 0.0);
        let mut scene = Bricks::new(vec![brick], gravity);
        scene.passes = passes;
        let mut energy = scene.bricks[0].energy(gravity);
        for i in 0..360 {
            run(&mut scene, law(1.0, 0.5), margin, 1);
            let after = scene.bricks[0].energy(gravity);
            assert!(after <= energy + 0.01, "{passes} {margin}, step {i}: energy {energy} to {after}");
            energy = after;
        }
        let brick = &scene.bricks[0];
        assert!(brick.motion.linear.length() < 1e-9 && brick.motion.angular.length() < 1e-9);
        assert!((brick.pose.translation.z - 0.1).abs() < 1e-4, "it lies on its largest side");
    }
}
