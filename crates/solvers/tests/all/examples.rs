//! The examples do what they say.

use sinew_math::ops;

#[path = "../../examples/beads.rs"]
#[expect(dead_code, reason = "an example is a program")]
mod beads;

#[test]
fn beads_swing_down_and_their_rods_keep_their_length() {
    let (_, [height, error]) = beads::run(&[0.05; 20], 96).expect("beads on rods");
    assert!(height < -0.4 && error < 1e-3, "{height} {error}");
}

#[path = "../../examples/affine_chain.rs"]
#[expect(dead_code, reason = "an example is a program")]
mod affine_chain;

/// A stiff affine rod swings as the rigid pendulum, whose angle below the horizontal obeys `I θ̈ = m g ℓ/2 cos θ`.
#[test]
fn an_affine_rod_swings_as_a_rigid_pendulum() {
    let [length, width, _] = affine_chain::LENGTHS_M;
    // per mass, about the pin
    let inertia = (length * length + width * width) / 12.0 + 0.25 * length * length;
    let acceleration = |angle: f64| 9.81 * 0.5 * length / inertia * ops::cos(angle);
    let (mut angle, mut rate, h) = (0.0, 0.0, 1e-5);
    for _ in 0..40_000 {
        // leapfrog
        rate += 0.5 * h * acceleration(angle);
        angle += h * rate;
        rate += 0.5 * h * acceleration(angle);
    }
    let off = |h: f64, n_steps: u32| {
        let (links, [energy, gap]) = affine_chain::run(1, 1e5, h, n_steps).expect("a rod");
        assert!(gap < 1e-12 && energy.abs() < 5.0 * h, "{gap} {energy}");
        let along = links[0][1];
        (ops::atan2(-along.z, along.x) - angle).abs()
    };
    // The steps are of first order.
    let errors = [off(1e-3, 400), off(2.5e-4, 1600)];
    assert!(errors[1] < 2e-3 && errors[1] < 0.3 * errors[0], "{errors:?}");
}

#[test]
fn an_affine_chain_hangs_together_and_stays_orthonormal() {
    let (links, [energy, gap]) = affine_chain::run(6, 1e5, 5e-4, 2000).expect("a chain");
    assert!(gap < 1e-12, "{gap}");
    assert!(energy.abs() < 0.05, "{energy}");
    for [_, a, b, c] in links {
        let open = [a.length() - 1.0, b.length() - 1.0, c.length() - 1.0, a.dot(b), b.dot(c), c.dot(a)];
        assert!(open.iter().all(|open| open.abs() < 1e-2), "{open:?}");
    }
}
