//! Boxes on a floor or a slope: friction holds, slides, and dissipates.

use crate::rigid::{Brick, Bricks, Touch};
use glam::{DQuat, DVec3};
use sinew_contact::{ContactLaw, ContactMaterial};
use sinew_math::{Pose, exp_so3, ops};

const H: f64 = 1.0 / 60.0;
const G: f64 = 9.81;

/// Corners of every box against the floor `z = 0`, within a margin.
fn floor(bricks: &[Brick], law: ContactLaw, margin: f64) -> Vec<Touch<(usize, usize)>> {
    let mut out = Vec::new();
    for (a, brick) in bricks.iter().enumerate() {
        for (i, &corner) in brick.corners().iter().enumerate() {
            if corner.z < margin {
                let point = DVec3::new(corner.x, corner.y, 0.5 * corner.z);
                out.push(Touch { key: (a, i), a, b: None, point, normal: DVec3::Z, depth: -corner.z, law });
            }
        }
    }
    out
}

fn law(mass: f64, friction: f64) -> ContactLaw {
    ContactMaterial::for_mass(mass, friction).with(&ContactMaterial::passive(friction))
}

/// A box of unit edges at rest on the floor; gravity is tilted instead of the floor.
fn on_slope(mass: f64, degrees: f64) -> Bricks<(usize, usize)> {
    let (sin, cos) = ops::sin_cos(degrees.to_radians());
    let gravity = G * DVec3::new(sin, 0.0, -cos);
    let brick = Brick::new(Pose::from_translation(DVec3::Z * (0.5 - 1e-4 / 4.0)), mass, DVec3::ONE);
    Bricks::new(vec![brick], gravity)
}

#[test]
fn a_box_of_any_mass_holds_on_a_slope_of_20_degrees_in_implicit_steps() {
    for mass in [1e-3, 1.0, 1e4] {
        for passes in [1, 2, 3] {
            let mut scene = on_slope(mass, 20.0);
            scene.passes = passes;
            let law = law(mass, 0.5);
            let mut last = DVec3::ZERO;
            for i in 0..600 {
                if i == 300 {
                    last = scene.bricks[0].pose.translation;
                }
                let touches = floor(&scene.bricks, law, 0.01);
                scene.step(&touches, H);
            }
            let creep = (scene.bricks[0].pose.translation - last).length() / 5.0;
            println!("mass {mass} passes {passes}: creep {creep:e} m/s, sink {:e}, moved {:e}", 0.5 - scene.bricks[0].pose.translation.z, scene.bricks[0].pose.translation.x);
            assert!(creep < 1e-9, "{creep}");
            assert!(scene.bricks[0].pose.translation.x < 5e-4);
        }
    }
}

#[test]
fn a_box_holds_on_a_slope_in_explicit_steps() {
    let mut scene = on_slope(1.0, 20.0);
    let law = law(1.0, 0.5);
    let mut last = DVec3::ZERO;
    for i in 0..8000 {
        if i == 4000 {
            last = scene.bricks[0].pose.translation;
        }
        let touches = floor(&scene.bricks, law, 0.0);
        scene.substep(&touches, 2.5e-4);
    }
    let creep = (scene.bricks[0].pose.translation - last).length();
    println!("explicit creep {creep:e}");
    assert!(creep < 1e-6, "{creep}");
}

#[test]
fn a_box_slides_down_a_slope_of_40_degrees_as_coulomb_says() {
    for mass in [1.0, 1e4] {
        for passes in [1, 2, 3] {
            let mut scene = on_slope(mass, 40.0);
            scene.passes = passes;
            let law = law(mass, 0.5);
            let (sin, cos) = ops::sin_cos(40f64.to_radians());
            let exact = G * (sin - 0.5 * cos);
            let mut early = 0.0;
            for i in 0..90 {
                if i == 30 {
                    early = scene.bricks[0].motion.linear.x;
                }
                let touches = floor(&scene.bricks, law, 0.01);
                scene.step(&touches, H);
            }
            let late = scene.bricks[0].motion.linear.x;
            println!("mass {mass} passes {passes}: a {} of {exact}; v {late} of {}", late - early, 1.5 * exact);
            assert!(((late - early) / exact - 1.0).abs() < 0.02);
            assert!((late / (1.5 * exact) - 1.0).abs() < 0.02);
        }
    }
}

#[test]
fn a_sliding_box_stops_where_coulomb_says() {
    for passes in [1, 2, 3] {
        let mut scene = on_slope(1.0, 0.0);
        scene.passes = passes;
        scene.bricks[0].motion.linear.x = 2.0;
        let law = law(1.0, 0.5);
        for _ in 0..120 {
            let touches = floor(&scene.bricks, law, 0.01);
            scene.step(&touches, H);
        }
        let way = scene.bricks[0].pose.translation.x;
        let exact = 4.0 / (2.0 * 0.5 * G);
        println!("passes {passes}: {way} of {exact}, v {}", scene.bricks[0].motion.linear);
        assert!((way / exact - 1.0).abs() < 0.05);
        assert!(scene.bricks[0].motion.linear.length() < 1e-6);
    }
}

#[test]
fn a_dropped_box_comes_to_rest_and_never_gains_energy() {
    for passes in [1, 2, 4] {
        let gravity = DVec3::Z * -G;
        let tilt: DQuat = exp_so3(DVec3::new(0.3, 0.5, 0.1));
        let mut brick = Brick::new(Pose::new(tilt, DVec3::Z * 2.0), 1.0, DVec3::new(0.4, 0.3, 0.2));
        brick.motion.angular = DVec3::new(1.0, -2.0, 0.5);
        brick.motion.linear = DVec3::new(1.0, 0.0, 0.0);
        let mut scene = Bricks::new(vec![brick], gravity);
        scene.passes = passes;
        let law = law(1.0, 0.5);
        let mut energy = scene.bricks[0].energy(gravity);
        for i in 0..360 {
            let touches = floor(&scene.bricks, law, 0.2);
            scene.step(&touches, H);
            let after = scene.bricks[0].energy(gravity);
            if after > energy + 1e-3 {
                println!("step {i}: energy {energy} -> {after}");
            }
            energy = after;
        }
        let brick = &scene.bricks[0];
        println!("passes {passes}: at {} moving {} {}", brick.pose.translation, brick.motion.linear.length(), brick.motion.angular.length());
        assert!(brick.motion.linear.length() < 1e-6 && brick.motion.angular.length() < 1e-6);
    }
}
