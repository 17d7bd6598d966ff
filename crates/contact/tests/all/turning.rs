//! Rolling and torsional friction: the moment is the slope of the energy, its slope that of the moment.

use glam::DVec3;
use sinew_contact::TurningLaw;
use sinew_testkit::Rng;

#[test]
fn the_moment_is_the_slope_of_the_energy() {
    let mut rng = Rng::new(11);
    for _ in 0..200 {
        let normal = rng.vec3(-1.0, 1.0).normalize();
        let law = TurningLaw { normal, rolling: rng.uniform(0.0, 2.0), torsion: rng.uniform(0.0, 2.0) };
        let spin = rng.vec3(-1.0, 1.0) * rng.power_of_ten(-5, 1);
        let (moment, slope) = law.at(spin);
        // Friction never drives, and no moment is larger than its limit.
        assert!(moment.dot(spin) <= 0.0);
        assert!(normal.dot(moment).abs() <= law.torsion * (1.0 + 1e-12));
        assert!((moment - normal * normal.dot(moment)).length() <= law.rolling * (1.0 + 1e-12));
        let step = 1e-4 * spin.length();
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            let difference = (law.energy(spin + axis * step) - law.energy(spin - axis * step)) / (2.0 * step);
            assert!((difference + axis.dot(moment)).abs() < 1e-5 * (1.0 + moment.length()));
            let change = (law.at(spin + axis * step).0 - law.at(spin - axis * step).0) / (2.0 * step);
            let size = 1.0 + moment.length() / spin.length();
            assert!((change + slope.mul_vec(axis)).length() < 2e-3 * size, "{spin} {change} {slope:?}");
            assert!(axis.dot(slope.mul_vec(axis)) >= -1e-12 * size);
        }
    }
}
