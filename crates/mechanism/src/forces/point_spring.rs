//! A spring and damper between points of two bodies, or of a body and the world.
//!
//! With the gap `g` from point 2 to point 1, `L = |g|`, `n = g/L` the force on point 1 is `−k (L − L₀) n`, damped along `n`; a
//! spring of zero rest length is damped in every direction. Implicit: the tangent `k (nnᵀ + max(0, 1 − L₀/L)(1 − nnᵀ))`, which
//! leaves out the part that would destabilize a compressed spring, as a load on one body (across a tree joint, or to something
//! immovable) or as three rows outside the tree. Explicit: the wrench itself. Energy: `½ k (L − L₀)²`. At `L = 0` the direction
//! is undefined: a spring with a rest length then has no force. World axes, m, N, N·s/m.

use glam::DVec3;
use sinew_math::{Force, Motion, Pose, Sym3, Sym6, shift_force, shift_motion};
use sinew_solvers::Load;

/// A spring between two points; `body2` may be the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PointSpring {
    /// Body positions; only the second may be the world.
    pub(crate) body1: u32,
    /// In central frames, or in the world, m.
    pub(crate) point1: DVec3,
    pub(crate) body2: u32,
    pub(crate) point2: DVec3,
    /// m.
    pub(crate) rest_length: f64,
    /// N/m.
    pub(crate) stiffness: f64,
    /// N·s/m.
    pub(crate) damping: f64,
}

/// A point spring at a linearization point, as seen by body 1.
pub(crate) struct PointSpringState {
    /// From the centre of mass to the point.
    pub(crate) arm: DVec3,
    /// From the other end to the point.
    pub(crate) gap: DVec3,
    /// Velocity of the point that the gap already contains, plus the other end's velocity that it does not.
    pub(crate) carried: DVec3,
    /// Velocity of the other end, where it is prescribed.
    pub(crate) end_velocity: DVec3,
}

impl PointSpringState {
    /// The same for a damper whose ends part faster by `bend` than the solve takes them to.
    pub(crate) fn bent(self, bend: DVec3) -> Self {
        Self { end_velocity: self.end_velocity - bend, ..self }
    }
}

/// A point spring along one axis, as a row on the relative velocity `u` of its ends: the impulse `stiff u_d − pull − κ u⁺`, with
/// `u_d` the velocity whose displacement the gap contains.
pub(crate) struct PointSpringRow {
    pub(crate) axis: DVec3,
    /// `h²k` along the axis.
    pub(crate) stiff: f64,
    /// Impulse of the present gap.
    pub(crate) pull: f64,
    pub(crate) kappa: f64,
}

impl PointSpring {
    /// The same spring with its ends exchanged.
    pub(crate) fn swapped(self) -> Self {
        Self { body1: self.body2, point1: self.point2, body2: self.body1, point2: self.point1, ..self }
    }

    /// Implicit: adds to the load on body 1.
    pub(crate) fn linearize(&self, at: &PointSpringState, h: f64, load: &mut Load) {
        let length = at.gap.length();
        let (k, slack) = (self.stiffness, self.rest_length);
        let (direction, ratio) = if length > f64::MIN_POSITIVE {
            (at.gap / length, 1.0 - slack / length)
        } else {
            (DVec3::ZERO, if slack > 0.0 { 0.0 } else { 1.0 })
        };
        // A compressed spring pushes sideways; its negative tangent would make the system indefinite.
        let transverse = ratio.max(0.0);
        let along = Sym3::outer(direction);
        let tangent = (Sym3::IDENTITY * transverse + along * (1.0 - transverse)) * (h * h * k);
        let damper = if slack > 0.0 { along } else { Sym3::IDENTITY } * (h * self.damping);
        let force = tangent.mul_vec(at.carried) + damper.mul_vec(at.end_velocity) - at.gap * (h * k * ratio);
        let at_point = Sym6 { linear: tangent + damper, ..Sym6::ZERO };
        load.mass.add(&at_point.shifted(at.arm));
        load.momentum += shift_force(Force::new(DVec3::ZERO, force), at.arm);
    }

    /// Implicit, outside the tree: rows along the spring and, as far as it is stretched, across.
    pub(crate) fn linearized_rows(&self, gap: DVec3, h: f64) -> [PointSpringRow; 3] {
        let (k, slack) = (self.stiffness, self.rest_length);
        let length = gap.length();
        let is_short = length <= f64::MIN_POSITIVE;
        let along = if is_short { DVec3::X } else { gap / length };
        let (across1, across2) = along.any_orthonormal_pair();
        let ratio = if is_short { f64::from(u8::from(slack == 0.0)) } else { 1.0 - slack / length };
        [(along, !is_short), (across1, false), (across2, false)].map(|(axis, is_along)| {
            let stiff = h * h * k * if is_along { 1.0 } else { ratio.max(0.0) };
            let damped = if is_along || slack == 0.0 { h * self.damping } else { 0.0 };
            PointSpringRow { axis, stiff, pull: h * k * ratio * gap.dot(axis), kappa: stiff + damped }
        })
    }

    /// From its end on body 2 to that on body 1, with the two bodies at some poses.
    pub(crate) fn gap(&self, [pose1, pose2]: [Pose; 2]) -> DVec3 {
        pose1.transform_point(self.point1) - pose2.transform_point(self.point2)
    }

    /// The gap measured at one pair of poses, along the line between the ends at another pair, where directions are taken: a force along
    /// that line turns neither body about the other. A spring of zero rest length pulls in every direction.
    pub(crate) fn measured_gap(&self, poses: [Pose; 2], measured: [Pose; 2]) -> DVec3 {
        let (gap, line) = (self.gap(measured), self.gap(poses));
        let length = line.length();
        let has_line = self.rest_length > 0.0 && length > f64::MIN_POSITIVE;
        if has_line { line * (gap.length() / length) } else { gap }
    }

    /// Explicit wrench on body 1, at the poses and twists of its two bodies.
    pub(crate) fn explicit(&self, [pose1, pose2]: [Pose; 2], [motion1, motion2]: [Motion; 2]) -> Force {
        let (arm1, arm2) = (pose1.rotation * self.point1, pose2.rotation * self.point2);
        let gap = pose1.translation + arm1 - pose2.translation - arm2;
        let length = gap.length();
        let velocity = shift_motion(motion1, arm1).linear - shift_motion(motion2, arm2).linear;
        let pull = if self.rest_length > 0.0 {
            let along = gap.normalize_or_zero();
            along * (self.stiffness * (length - self.rest_length) + self.damping * along.dot(velocity))
        } else {
            gap * self.stiffness + velocity * self.damping
        };
        shift_force(Force::new(DVec3::ZERO, -pull), arm1)
    }

    /// Elastic energy at the poses of its two bodies, J.
    pub(crate) fn energy(&self, [pose1, pose2]: [Pose; 2]) -> f64 {
        let length = pose1.transform_point(self.point1).distance(pose2.transform_point(self.point2));
        let stretch = length - self.rest_length;
        0.5 * self.stiffness * stretch * stretch
    }
}

#[cfg(test)]
mod tests {
    use sinew_testkit::{Rng, derivative};

    use super::*;

    const H: f64 = 0.02;

    fn spring(rest_length: f64) -> PointSpring {
        let (point1, point2) = (DVec3::new(0.2, -0.3, 0.4), DVec3::new(-0.5, 0.1, 0.2));
        PointSpring { body1: 3, point1, body2: 5, point2, rest_length, stiffness: 70.0, damping: 2.5 }
    }

    fn poses(rng: &mut Rng) -> [Pose; 2] {
        [(); 2].map(|()| Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0)))
    }

    fn motion(rng: &mut Rng) -> Motion {
        Motion::new(rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0))
    }

    /// Force on point 1 at a gap that grows at a rate, as the module states it.
    fn law(spring: &PointSpring, gap: DVec3, rate: DVec3) -> DVec3 {
        if spring.rest_length > 0.0 {
            let along = gap.normalize();
            -along * (70.0 * (gap.length() - spring.rest_length) + 2.5 * along.dot(rate))
        } else {
            -gap * 70.0 - rate * 2.5
        }
    }

    #[test]
    fn the_wrench_is_the_gradient_of_the_energy_on_either_body() {
        let mut rng = Rng::new(1);
        for rest_length in [0.0, 0.7] {
            let spring = spring(rest_length);
            let poses = poses(&mut rng);
            let still = [Motion::ZERO; 2];
            let turned = [poses[1], poses[0]];
            assert!((spring.swapped().energy(turned) - spring.energy(poses)).abs() < 1e-12);
            for (spring, poses) in [(spring, poses), (spring.swapped(), turned)] {
                let wrench = spring.explicit(poses, still);
                for axis in 0..6 {
                    let mut twist = [0.0; 6];
                    twist[axis] = 1.0;
                    let twist = Motion::from_array(twist);
                    let energy = |t: f64| spring.energy([poses[0].retract(twist * t), poses[1]]);
                    let slope = derivative(1e-3, 0.0, energy);
                    assert!((wrench.dot(twist) + slope).abs() < 1e-8, "{axis}: {wrench:?}, {slope}");
                }
            }
        }
        assert_eq!((spring(0.1).swapped().body1, spring(0.1).swapped().body2), (5, 3));
    }

    #[test]
    fn the_wrench_acts_at_the_point_and_is_damped() {
        let mut rng = Rng::new(2);
        for rest_length in [0.0, 0.7] {
            let spring = spring(rest_length);
            let (poses, motions) = (poses(&mut rng), [motion(&mut rng), motion(&mut rng)]);
            let arms = [poses[0].rotation * spring.point1, poses[1].rotation * spring.point2];
            let moving = |t: f64| spring.gap([0, 1].map(|i| poses[i].retract(motions[i] * t)));
            let rate = DVec3::from_array([0, 1, 2].map(|i| derivative(1e-3, 0.0, |t| moving(t)[i])));
            let force = law(&spring, spring.gap(poses), rate);
            let wrench = spring.explicit(poses, motions);
            assert!((wrench.linear - force).length() < 1e-9, "{wrench:?} for {force}");
            assert!((wrench.angular - arms[0].cross(force)).length() < 1e-9);
            let distance = poses[0].transform_point(spring.point1) - poses[1].transform_point(spring.point2);
            assert!((spring.gap(poses) - distance).length() < 1e-15);
        }
    }

    #[test]
    fn a_gap_is_measured_along_the_line_of_the_directions() {
        let mut rng = Rng::new(3);
        let (at, measured) = (poses(&mut rng), poses(&mut rng));
        let (stiff, soft) = (spring(0.7), spring(0.0));
        let found = stiff.measured_gap(at, measured);
        assert!((found.length() - stiff.gap(measured).length()).abs() < 1e-14);
        assert!(found.cross(stiff.gap(at)).length() < 1e-14 && found.dot(stiff.gap(at)) > 0.0);
        assert_eq!(soft.measured_gap(at, measured), soft.gap(measured));
        // Without a line there is no direction: the gap is as it is.
        let (mut point, mut here) = (stiff, at);
        (point.point1, point.point2, here[1]) = (DVec3::ZERO, DVec3::ZERO, at[0]);
        assert_eq!(point.measured_gap(here, measured), point.gap(measured));
    }

    /// The impulse on the point at its velocity at the end of the step, from the law and the derivative of its elastic part. Compressed, it has
    /// no stiffness across.
    fn expected(spring: &PointSpring, gap: DVec3, [moved, rate]: [DVec3; 2]) -> DVec3 {
        let still = |gap: DVec3| law(spring, gap, DVec3::ZERO);
        let moved = if gap.length() < spring.rest_length { moved.project_onto(gap) } else { moved };
        let slope =
            DVec3::from_array([0, 1, 2].map(|i| derivative(1e-4, 0.0, |t| still(gap + moved * t)[i])));
        still(gap) * H + slope * (H * H) + (law(spring, gap, rate) - still(gap)) * H
    }

    #[test]
    fn the_load_is_the_impulse_of_the_law_and_its_tangent() {
        let mut rng = Rng::new(4);
        for (rest_length, size) in [(0.0, 0.9), (0.7, 0.9), (0.7, 0.4)] {
            let spring = spring(rest_length);
            let gap = rng.unit_vec() * size;
            let [arm, carried, end_velocity] = [(); 3].map(|()| rng.vec3(-1.0, 1.0));
            let mut load = Load { momentum: Force::new(DVec3::ONE, DVec3::ONE), ..Load::ZERO };
            spring.linearize(&PointSpringState { arm, gap, carried, end_velocity }, H, &mut load);
            for _ in 0..3 {
                let motion = motion(&mut rng);
                let velocity = motion.linear + motion.angular.cross(arm);
                let force = expected(&spring, gap, [velocity - carried, velocity - end_velocity]);
                let found = load.momentum - load.mass.mul(motion);
                assert!((found.linear - DVec3::ONE - force).length() < 1e-9, "{found:?} for {force}");
                assert!((found.angular - DVec3::ONE - arm.cross(force)).length() < 1e-9);
            }
        }
    }

    #[test]
    fn rows_are_the_impulse_of_the_law_and_its_tangent() {
        let mut rng = Rng::new(5);
        for (rest_length, size) in [(0.0, 0.9), (0.7, 0.9), (0.7, 0.4)] {
            let spring = spring(rest_length);
            let gap = rng.unit_vec() * size;
            let rows = spring.linearized_rows(gap, H);
            let axes = glam::DMat3::from_cols(rows[0].axis, rows[1].axis, rows[2].axis);
            assert!((axes.transpose() * axes).abs_diff_eq(glam::DMat3::IDENTITY, 1e-14));
            let [displaced, velocity] = [(); 2].map(|()| rng.vec3(-1.0, 1.0));
            let impulse = |row: &PointSpringRow| {
                let along = |v: DVec3| row.axis.dot(v);
                row.axis * (row.stiff * along(displaced) - row.pull - row.kappa * along(velocity))
            };
            let found: DVec3 = rows.iter().map(impulse).sum();
            let expected = expected(&spring, gap, [velocity - displaced, velocity]);
            assert!((found - expected).length() < 1e-9, "{found} for {expected}");
        }
    }

    #[test]
    fn a_spring_of_no_length_pulls_nowhere_and_holds_only_if_it_has_no_rest_length() {
        let velocity = DVec3::new(1.0, -2.0, 3.0);
        for (rest_length, kappa) in [(0.0, H * H * 70.0 + H * 2.5), (0.7, 0.0)] {
            let spring = spring(rest_length);
            let mut load = Load::ZERO;
            let at = PointSpringState {
                arm: DVec3::ZERO,
                gap: DVec3::ZERO,
                carried: DVec3::ZERO,
                end_velocity: DVec3::ZERO,
            };
            spring.linearize(&at, H, &mut load);
            assert_eq!(load.momentum, Force::ZERO);
            let resisted = load.mass.mul(Motion::new(DVec3::ZERO, velocity)).linear;
            assert!((resisted - velocity * kappa).length() < 1e-14);
            let rows = spring.linearized_rows(DVec3::ZERO, H);
            for row in &rows {
                let damped = if rest_length > 0.0 { 0.0 } else { H * 2.5 };
                let stiff = if rest_length > 0.0 { 0.0 } else { H * H * 70.0 };
                assert_eq!((row.pull, row.stiff), (0.0, stiff));
                assert!((row.kappa - stiff - damped).abs() < 1e-15);
            }
        }
    }
}
