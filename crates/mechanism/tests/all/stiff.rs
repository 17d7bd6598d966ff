//! Stiff chains at large steps: bounded, with the right equilibrium; joint errors bounded, or gone with Newton iterations.

use glam::DVec3;
use sinew_mechanism::{BodySpec, JointKind, Order, ScalarForce};
use sinew_testkit::Rng;

use crate::support::{Chain, Run, implicit, settings};

const LINKS: usize = 100;
const LENGTH: f64 = 0.1;
const STIFFNESS: [f64; 10] = [0.0, 1e-2, 1.0, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8];

fn stiff_chain(stiffness: f64, damping: f64) -> Chain {
    let spring = ScalarForce::spring(stiffness, 0.0, damping);
    Chain { length: LENGTH, ..Chain::new(LINKS, JointKind::Hinge) }.with_twist(spring)
}

/// Angles below the horizontal of the links of a hanging elastica, by Newton's method on its energy
/// `Σ ½k(θ_i − θ_{i−1})² − Σ W_i ℓ sin θ_i`, with `W_i ℓ` the weight that turns link `i`.
fn static_angles(stiffness: f64) -> Vec<f64> {
    use sinew_math::ops::{cos, sin};
    let weight = |i: usize| 9.81 * LENGTH * (0.5 + (LINKS - 1 - i) as f64);
    let mut theta = vec![1.0; LINKS];
    for _ in 0..200 {
        // Tridiagonal Newton system, positive definite while 0 < θ < π.
        let (mut diagonal, mut gradient) = (vec![0.0; LINKS], vec![0.0; LINKS]);
        for i in 0..LINKS {
            let above = if i == 0 { 0.0 } else { theta[i - 1] };
            gradient[i] += stiffness * (theta[i] - above) - weight(i) * cos(theta[i]);
            diagonal[i] += stiffness + weight(i) * sin(theta[i]);
            if i + 1 < LINKS {
                gradient[i] -= stiffness * (theta[i + 1] - theta[i]);
                diagonal[i] += stiffness;
            }
        }
        // Forward elimination and back substitution with off-diagonals −k.
        for i in 1..LINKS {
            let factor = -stiffness / diagonal[i - 1];
            diagonal[i] -= factor * -stiffness;
            gradient[i] -= factor * gradient[i - 1];
        }
        let mut change = vec![0.0; LINKS];
        for i in (0..LINKS).rev() {
            let below = if i + 1 < LINKS { -stiffness * change[i + 1] } else { 0.0 };
            change[i] = (gradient[i] - below) / diagonal[i];
        }
        let largest = change.iter().fold(0.0f64, |m, c| m.max(c.abs()));
        let damping = if largest > 0.3 { 0.3 / largest } else { 1.0 };
        theta.iter_mut().zip(&change).for_each(|(t, c)| *t -= damping * c);
        if largest < 1e-14 {
            break;
        }
    }
    theta
}

#[test]
fn every_stiffness_settles_at_the_static_equilibrium() {
    for stiffness in STIFFNESS {
        let drag = |_: usize, body: BodySpec| body.with_damping(2.0, 2.0);
        let mut run =
            Run::new(stiff_chain(stiffness, 0.01 * stiffness).build_with(drag), settings(1.0 / 60.0));
        run.steps(60 * 60);
        let (mut end, mut worst) = (DVec3::ZERO, 0.0f64);
        for (link, angle) in static_angles(stiffness).into_iter().enumerate() {
            let along = DVec3::new(sinew_math::ops::cos(angle), 0.0, -sinew_math::ops::sin(angle)) * LENGTH;
            worst = worst.max((run.state.poses[link].translation - (end + along * 0.5)).length());
            end += along;
        }
        let relative = worst / (LENGTH * LINKS as f64);
        println!("worst k = {stiffness:e}: off the equilibrium by {relative:e} of the length");
        assert!(relative < 1e-6, "k = {stiffness:e}: {relative:e}");
    }
}

#[test]
fn undamped_chains_stay_bounded_at_every_stiffness() {
    for stiffness in STIFFNESS {
        let mut run = Run::new(stiff_chain(stiffness, 0.0).build(), settings(1.0 / 60.0));
        // A fall of the whole chain by its length frees this much.
        let budget = 9.81 * LINKS as f64 * LENGTH * LINKS as f64;
        let mut highest = f64::NEG_INFINITY;
        for _ in 0..600 {
            run.step();
            highest = highest.max(run.energy().total());
        }
        println!("worst k = {stiffness:e}: energy rose to {:.4} of the budget", highest / budget);
        assert!(highest < 0.02 * budget, "k = {stiffness:e}: {highest} J of {budget} J");
    }
}

/// Largest `|C|/(h² ℓ ω²)` of a ball chain that swings for ten seconds.
fn worst_ratio(links: usize, dt: f64) -> f64 {
    let chain = Chain::new(links, JointKind::Ball);
    let mut run = Run::new(chain.build(), settings(dt));
    let mut worst = 0.0f64;
    for _ in 0..(10.0 / dt).round() as usize {
        run.step();
        let bound = dt * dt * chain.length * run.fastest_spin().powi(2);
        if bound > 1e-9 {
            worst = worst.max(run.worst_anchor() / bound);
        }
    }
    worst
}

#[test]
fn anchor_errors_of_a_swinging_chain_are_second_order_and_do_not_grow() {
    for links in [4, 100, 1_000] {
        for dt in [1.0 / 240.0, 1.0 / 120.0, 1.0 / 60.0, 1.0 / 30.0] {
            let ratio = worst_ratio(links, dt);
            println!("worst |C|/(h²ℓω²) of {links} links at h = {dt:.5}: {ratio:.3}");
            assert!(ratio < if links == 4 { 0.55 } else { 1.0 }, "{links} links, h = {dt}: {ratio}");
        }
    }
}

#[test]
fn newton_iterations_close_the_joints() {
    for (kind, order) in
        [(JointKind::Hinge, Order::First), (JointKind::Ball, Order::First), (JointKind::Hinge, Order::Second)]
    {
        let mut run = Run::new(Chain::new(LINKS, kind).build(), implicit(1.0 / 60.0, order, 12));
        let (mut worst, mut most) = (0.0f64, 0);
        for _ in 0..300 {
            most = most.max(run.step().iterations);
            worst = worst.max(run.violation().position);
        }
        println!("worst with Newton, {kind:?} {order:?}: {worst:e} m, {most} solves");
        assert!(worst <= 1e-9, "{kind:?}: {worst:e} m");
    }
}

#[test]
fn a_light_chain_holds_a_million_times_its_weight() {
    let links = 20;
    let heavy = |link: usize, mut body: BodySpec| {
        let mass = if link + 1 == links { 1e3 } else { 1e-3 };
        body.mass = body.mass.with_mass(mass);
        body.with_damping(2.0, 2.0)
    };
    for kind in [JointKind::Ball, JointKind::Hinge] {
        let mut run = Run::new(Chain::new(links, kind).build_with(heavy), settings(1.0 / 60.0));
        run.steps(60 * 60);
        let gap = run.worst_anchor();
        println!("worst anchor gap of a light chain, {kind:?}: {gap:e} m");
        assert!(gap < 1e-6, "{gap:e} m");
        let bottom = run.state.poses[links - 1].translation;
        let expected = -0.5 * (links as f64 - 0.5);
        assert!((bottom - DVec3::Z * expected).length() < 1e-3, "{bottom}");
    }
}

#[test]
fn a_teleported_body_comes_back_without_an_explosion() {
    let mut rng = Rng::new(4);
    let mut run = Run::new(Chain::new(10, JointKind::Hinge).build(), settings(1.0 / 60.0));
    for body in &mut run.state.poses {
        body.translation += rng.vec3(-0.3, 0.3);
    }
    run.step();
    // One linearized step pulls all anchors together up to the curvature of the jump.
    run.steps(20);
    assert!(run.worst_anchor() < 0.1, "{}", run.worst_anchor());
    assert!(run.fastest_spin() < 200.0, "{}", run.fastest_spin());
}

#[test]
fn the_second_order_scheme_survives_a_whip() {
    // Let go sideways, the free end of a loose chain whips far faster than 1/60 s resolves; steps after such jolts are
    // of first order. Extrapolating them gained 4e11 J here.
    for newton in [1, 3] {
        let mut run = Run::new(
            Chain { length: 0.1, ..Chain::new(LINKS, JointKind::Hinge) }.build(),
            implicit(1.0 / 60.0, Order::Second, newton),
        );
        let start = run.energy().total();
        let mut highest = f64::NEG_INFINITY;
        for _ in 0..900 {
            run.step();
            highest = highest.max(run.energy().total());
        }
        assert!(highest <= start + 1e-6 * start.abs().max(1.0), "{highest} after {start}");
        assert!(run.violation().position < 0.05);
    }
}
