//! The potential of a contact: its derivatives, its convexity, and Coulomb's law.

use glam::DVec3;
use sinew_contact::{ContactMaterial, ContactPotential, ContactStart, Grip};
use sinew_testkit::{Rng, gradient};

const DT: f64 = 1.0 / 60.0;

/// A contact with a depth or gap, a stretch, and a friction limit.
fn random_law(random: &mut Rng) -> ContactPotential {
    let mass = random.uniform(0.5, 20.0);
    let material = ContactMaterial::for_mass(mass, random.uniform(0.0, 1.0));
    let start = ContactStart {
        law: material.with(&ContactMaterial::passive(1.0)),
        normal: random.unit_vec(),
        depth: random.uniform(-2e-3, 2e-3),
        stretch: random.vec3(-1e-4, 1e-4),
        slide: DVec3::ZERO,
        mass,
        rebound: 0.0,
        is_soft: false,
    };
    start.potential(random.vec3(-0.1, 0.1), random.vec3(-0.5, 0.5), DT)
}

#[test]
fn impulse_and_slope_are_the_derivatives_of_the_potential() {
    let mut random = Rng::new(7);
    for _ in 0..300 {
        let law = random_law(&mut random);
        let velocity = random.vec3(-0.2, 0.2);
        let size = law.resistance + law.grip;
        let energy = |v: &[f64]| law.energy(DVec3::from_slice(v));
        let slope = DVec3::from_slice(&gradient(1e-6, &velocity.to_array(), energy));
        let impulse = law.impulse(velocity);
        assert!((impulse + slope).length() < 1e-5 * size, "{impulse} {slope} {law:?}");
        let at = law.linearize(velocity, impulse);
        assert!((at.impulse - impulse).length() <= 1e-12 * size);
        // Not across a kink, where there are two slopes.
        let step = random.unit_vec() * 1e-7;
        let [before, after] = [-1.0, 1.0].map(|sign| {
            let velocity = velocity + step * sign;
            law.linearize(velocity, law.impulse(velocity))
        });
        if (before.slope - after.slope).max_abs() < 1e-3 * size {
            let change = (after.impulse - before.impulse) * 0.5;
            let expected = at.slope.mul_vec(step) * -1.0;
            assert!((change - expected).length() < 1e-4 * size * 1e-7 + 1e-13 * size, "{change} {expected}");
        }
    }
}

#[test]
fn the_potential_is_convex_and_no_contact_pulls() {
    let mut random = Rng::new(8);
    for _ in 0..1000 {
        let law = random_law(&mut random);
        let [a, b] = [random.vec3(-1.0, 1.0), random.vec3(-1.0, 1.0)];
        // Impulses are minus the slope: they are monotone the other way.
        assert!((law.impulse(a) - law.impulse(b)).dot(a - b) <= 1e-12 * (law.resistance + law.grip));
        assert!(law.impulse(a).dot(law.normal) >= -1e-12 * law.resistance);
    }
}

#[test]
fn friction_follows_the_load() {
    let mut random = Rng::new(9);
    for _ in 0..300 {
        let mut law = random_law(&mut random);
        let velocity = random.vec3(-0.5, 0.5);
        law.limit = law.limit_at(velocity);
        let impulse = law.impulse(velocity);
        let load = impulse.dot(law.normal);
        let friction = (impulse - law.normal * load).length();
        assert!(friction <= law.friction * load * (1.0 + 1e-12) + 1e-12);
        // The same as a linear law, which keeps the books of the contact.
        let step = law.step_at(velocity);
        assert!((step.impulse_at(velocity) - impulse).length() < 1e-9 * (law.resistance + law.grip));
        if step.grip == Grip::Slip {
            assert!((friction - law.friction * load).abs() < 1e-9 * law.resistance);
        }
    }
}

#[test]
fn a_law_about_the_impulse_of_a_velocity_is_that_about_the_velocity() {
    let mut random = Rng::new(17);
    let mut n_loaded = 0;
    for _ in 0..300 {
        let mut law = random_law(&mut random);
        let velocity = random.vec3(-0.5, 0.5);
        law.limit = law.limit_at(velocity);
        let impulse = law.impulse(velocity);
        n_loaded += usize::from(law.limit > 0.0);
        let about = law.linearize_about(velocity, impulse, 0.1);
        let at = law.linearize(velocity, impulse);
        assert!((about.impulse - at.impulse).length() <= 1e-5 * at.impulse.length());
        for axis in DVec3::AXES {
            let [about, at] = [about.slope, at.slope].map(|slope| slope.mul_vec(axis));
            assert!((about - at).length() <= 1e-2 * at.length().max(law.grip));
        }
        // Elsewhere it meets the same impulse where that belongs.
        let there = velocity + law.normal * random.uniform(-0.1, 0.1);
        let far = law.linearize_about(there, impulse, 0.1);
        let back = law.normal.dot(far.impulse + far.slope.mul_vec(there - velocity));
        let load = law.normal.dot(impulse);
        if load > 0.0 {
            assert!((back - load).abs() <= 1e-5 * load, "{back} {load}");
        }
    }
    assert!(n_loaded > 50);
}

#[test]
fn a_contact_that_settles_alone_is_in_balance() {
    let mut random = Rng::new(10);
    for _ in 0..500 {
        let mut law = random_law(&mut random);
        let inverse_mass = [0, 1].map(|_| random.power_of_ten(-2, 1));
        let (velocity, before) = (random.vec3(-0.5, 0.5), law.normal * random.uniform(0.0, 2.0));
        let impulse = law.settle(velocity, before, inverse_mass);
        let change = impulse - before;
        let along = law.normal * law.normal.dot(change);
        let end = velocity + along * inverse_mass[0] + (change - along) * inverse_mass[1];
        let given = law.impulse(end);
        // Loads are found to 1e-3 of themselves; the law turns that into much where it is stiff.
        let stiff = 1.0 + (law.resistance + law.grip) * inverse_mass[0].max(inverse_mass[1]);
        assert!(
            (given - impulse).length() <= 4e-3 * stiff * impulse.length() + 1e-12,
            "{given} for {impulse}"
        );
        assert!(impulse.dot(law.normal) >= 0.0);
    }
}

#[test]
fn slopes_of_sliding_contacts_are_positive_whatever_friction_is_expected() {
    let mut random = Rng::new(11);
    for _ in 0..1000 {
        let law = random_law(&mut random);
        let at = law.linearize(random.vec3(-0.5, 0.5), random.vec3(-2.0, 2.0));
        let along = random.unit_vec();
        assert!(at.slope.quadratic_form(along) >= -1e-12 * (law.resistance + law.grip + at.slope.trace()));
    }
}
