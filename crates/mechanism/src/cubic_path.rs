//! Prescribed motion within a step: the cubic through values and rates at both of its ends (Hermite).
//!
//! A step is given where it ends and how fast; where it begins, and how fast, is the state. With `u` from 0 to 1 over the step of length `h`:
//! ```text
//! x(u) = x₀ + (3u² − 2u³)(x₁ − x₀) + h (u − 2u² + u³) ẋ₀ + h (u³ − u²) ẋ₁
//! R(u) = exp(φ(u)) R₀,  φ₀ = 0,  φ₁ = log(R₁R₀ᵀ),  φ̇₀ = ω₀,  φ̇₁ = Jl⁻¹(φ₁) ω₁,  ω = Jl(φ) φ̇,  ω̇ = Jl(φ) φ̈ + J̇l φ̇
//! ```
//! Values and rates are continuous from step to step. The cubic differs from a smooth path by O(h⁴), and so does what it moves: its
//! acceleration errs by O(h²), but with vanishing first two integrals over each step. World axes; about 200 flops for a pose.

use sinew_math::{
    Motion, Pose, exp_so3, left_jacobian, left_jacobian_inverse, left_jacobian_rate, normalize_quat,
};

use crate::prepare::increment;

/// Weights of the difference of the ends and of the rates there, in the value, its rate and the rate of that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CubicWeights([[f64; 3]; 3]);

impl CubicWeights {
    /// At the share `u` of a step of length `h`, s.
    pub(crate) fn new(u: f64, h: f64) -> Self {
        let (u2, u3) = (u * u, u * u * u);
        Self([
            [3.0 * u2 - 2.0 * u3, (u - 2.0 * u2 + u3) * h, (u3 - u2) * h],
            [6.0 * (u - u2) / h, 1.0 - 4.0 * u + 3.0 * u2, 3.0 * u2 - 2.0 * u],
            [(6.0 - 12.0 * u) / (h * h), (6.0 * u - 4.0) / h, (6.0 * u - 2.0) / h],
        ])
    }

    /// Value beyond that of the start, its rate, and the rate of that.
    pub(crate) fn blend<T>(&self, difference: T, rates: [T; 2]) -> [T; 3]
    where
        T: Copy + std::ops::Mul<f64, Output = T> + std::ops::Add<Output = T>,
    {
        self.0.map(|[a, b, c]| difference * a + rates[0] * b + rates[1] * c)
    }

    /// Pose, twist and acceleration of a body that goes from one pose and twist to another.
    pub(crate) fn between(&self, start: (&Pose, &Motion), end: (&Pose, &Motion)) -> (Pose, Motion, Motion) {
        let step = increment(start.0, end.0);
        let turning = left_jacobian_inverse(step.angular) * end.1.angular;
        let [turn, turn_rate, turn_rate2] = self.blend(step.angular, [start.1.angular, turning]);
        let [moved, velocity, acceleration] = self.blend(step.linear, [start.1.linear, end.1.linear]);
        let jacobian = left_jacobian(turn);
        let spin = jacobian * turn_rate2 + left_jacobian_rate(turn, turn_rate) * turn_rate;
        let pose = Pose {
            rotation: normalize_quat(exp_so3(turn) * start.0.rotation),
            translation: start.0.translation + moved,
        };
        (pose, Motion::new(jacobian * turn_rate, velocity), Motion::new(spin, acceleration))
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use sinew_math::{Motion, Pose, exp_so3, log_so3};

    use super::CubicWeights;

    const H: f64 = 0.7;

    fn ends() -> [(Pose, Motion); 2] {
        let rotation = exp_so3(DVec3::new(1.0, -0.3, 0.5));
        let turned = exp_so3(DVec3::new(0.2, 1.2, -0.4)) * rotation;
        let v = DVec3::new;
        [
            (Pose::new(rotation, v(0.3, -0.2, 0.1)), Motion::new(v(0.4, 1.2, -0.7), v(0.2, 0.5, -1.0))),
            (Pose::new(turned, v(0.6, 0.1, -0.4)), Motion::new(v(-0.3, 2.0, 0.5), v(-0.4, 0.3, 0.6))),
        ]
    }

    fn at(u: f64) -> (Pose, Motion, Motion) {
        let [a, b] = ends();
        CubicWeights::new(u, H).between((&a.0, &a.1), (&b.0, &b.1))
    }

    #[test]
    fn a_path_meets_its_ends() {
        for (u, (pose, twist)) in [0.0, 1.0].into_iter().zip(ends()) {
            let (found, motion, _) = at(u);
            assert!(log_so3(found.rotation * pose.rotation.conjugate()).length() < 1e-14);
            assert!((found.translation - pose.translation).length() < 1e-14);
            assert!((motion.angular - twist.angular).length() < 1e-13, "{motion:?} {twist:?}");
            assert!((motion.linear - twist.linear).length() < 1e-13);
        }
    }

    #[test]
    fn twists_and_accelerations_are_derivatives_of_the_path() {
        let e = 1e-5;
        for k in 0..=10 {
            let u = f64::from(k) / 10.0;
            let (before, after) = (at(u - e / H), at(u + e / H));
            let (_, motion, acceleration) = at(u);
            let spin = log_so3(after.0.rotation * before.0.rotation.conjugate()) / (2.0 * e);
            let velocity = (after.0.translation - before.0.translation) / (2.0 * e);
            let change = (after.1 - before.1) * (0.5 / e);
            assert!((spin - motion.angular).length() < 1e-8, "{u}: {spin} {motion:?}");
            assert!((velocity - motion.linear).length() < 1e-8);
            assert!(
                (change.angular - acceleration.angular).length() < 1e-7,
                "{u}: {change:?} {acceleration:?}"
            );
            assert!((change.linear - acceleration.linear).length() < 1e-7);
        }
    }
}
