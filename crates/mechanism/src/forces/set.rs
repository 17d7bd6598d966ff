//! All forces inside one joint, handed to every stepper in a fixed order: twist, slide, rotation, cone.
//!
//! Forces act on body 1 at its centre of mass, world axes; the opposite acts on body 2. They use the relative twist of body 1
//! against body 2 shifted to it.

use glam::DVec3;
use sinew_math::{DriveCoordinate, Force, Motion, Sym3, log_so3};
use sinew_solvers::Load;

use crate::forces::{
    Bend, Coordinate, CoordinateLaws, HeldLimits, LimitedCoordinate, RelativeMotion, ScalarImpulse, Tilt,
    cone,
};
use crate::joints::fading_twist_gradient;
use crate::{Motor, MotorTarget, RelativeState, RotationForce, ScalarForce};

/// All forces of one joint.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(crate) struct ForceSet {
    /// Along the twist about `i`.
    pub(crate) twist: Option<ScalarForce>,
    /// Along the slide on `i`.
    pub(crate) slide: Option<ScalarForce>,
    /// On the whole relative rotation.
    pub(crate) rotation: Option<RotationForce>,
    /// Whether the axis `i` of the joint may lean, so that the twist is not a turn about it alone.
    pub(crate) leans: bool,
}

/// What the forces of a joint depend on beyond its state.
pub(crate) struct ForceSettings<'a> {
    /// Effective step, s.
    pub(crate) h: f64,
    /// Scale of springs and dampers.
    pub(crate) scale: f64,
    /// Of the motor.
    pub(crate) target: MotorTarget,
    /// Of bounded forces along twist and slide.
    pub(crate) laws: [CoordinateLaws; 2],
    /// Limits that hold joints, and the number of this one.
    pub(crate) held: Option<(&'a HeldLimits, u32)>,
    /// Of the slide.
    pub(crate) bend: Bend,
}

impl ForceSettings<'_> {
    /// The bend of a coordinate: turning about an axis that turns has none.
    fn bend_of(&self, coordinate: DriveCoordinate) -> Bend {
        match coordinate {
            DriveCoordinate::Twist => Bend::default(),
            DriveCoordinate::Slide => self.bend,
        }
    }

    /// Adds what holds a coordinate at its limit.
    fn hold(&self, coordinate: LimitedCoordinate, value: f64, impulse: ScalarImpulse) -> ScalarImpulse {
        self.held.map_or(impulse, |(limits, joint)| limits.hold(joint, coordinate, value, impulse))
    }
}

/// Where linearized forces go: into the load of a tree joint, or into rows of the loops. They arrive in a fixed order and number.
pub(crate) trait ForceSink {
    /// Impulse `q − κ ẋ⁺` along a coordinate.
    fn along(&mut self, gradient: Force, impulse: ScalarImpulse);
    /// Angular impulse `q − K ω⁺`.
    fn turning(&mut self, tangent: Sym3, impulse: DVec3);
}

impl ForceSink for Load {
    fn along(&mut self, gradient: Force, impulse: ScalarImpulse) {
        self.mass.add_outer(impulse.kappa, gradient);
        self.momentum += gradient * impulse.q;
    }

    fn turning(&mut self, tangent: Sym3, impulse: DVec3) {
        self.mass.angular += tangent;
        self.momentum.angular += impulse;
    }
}

impl ForceSet {
    /// Forces along a coordinate.
    pub(crate) fn along(&self, coordinate: DriveCoordinate) -> Option<&ScalarForce> {
        match coordinate {
            DriveCoordinate::Twist => self.twist.as_ref(),
            DriveCoordinate::Slide => self.slide.as_ref(),
        }
    }

    /// Gradient and value of a coordinate.
    fn coordinate(&self, relative: &RelativeState, coordinate: DriveCoordinate) -> (Force, f64) {
        match coordinate {
            DriveCoordinate::Twist if self.leans => relative.leaning_twist(),
            _ => relative.coordinate(coordinate),
        }
    }

    /// The laws of bounded forces that hold for the relative twist found with other ones.
    pub(crate) fn review(
        &self,
        [relative, measured]: [&RelativeState; 2],
        motion: &RelativeMotion,
        settings: &ForceSettings<'_>,
        found: Motion,
    ) -> [CoordinateLaws; 2] {
        let mut laws = settings.laws;
        for (coordinate, limited) in COORDINATES {
            let law = &mut laws[limited as usize];
            if let Some(force) = self.along(coordinate) {
                let (gradient, _) = self.coordinate(relative, coordinate);
                let bend = settings.bend_of(coordinate);
                let x = motion.coordinate(gradient, self.coordinate(measured, coordinate).1).bent(&bend);
                let rate = gradient.dot(found) + bend.step;
                *law = force.review(&x, (settings.target, *law), settings.h, rate);
            }
        }
        laws
    }

    /// Whether a force along a coordinate has a bound.
    pub(crate) fn is_bounded(&self) -> bool {
        self.twist.iter().chain(&self.slide).any(|force| force.bounded().is_bounded())
    }

    /// Whether a coordinate has limits.
    pub(crate) fn is_limited(&self) -> bool {
        self.twist.iter().chain(&self.slide).any(|force| force.limit.is_some())
    }

    /// Number of rows that the forces need outside the tree.
    pub(crate) fn n_rows(&self) -> usize {
        let rotation = self.rotation.map_or(0, |r| 3 + usize::from(r.cone.is_some()));
        usize::from(self.twist.is_some()) + usize::from(self.slide.is_some()) + rotation
    }

    /// The motor of the joint; it has at most one.
    pub(crate) fn motor(&self) -> Option<Motor> {
        self.twist.and_then(|f| f.motor).or_else(|| self.slide.and_then(|f| f.motor))
    }

    /// Implicit: hands every force to a sink. Arms and axes of the coordinates are those of the first state, values and
    /// pure torques those of the second.
    pub(crate) fn linearize(
        &self,
        [relative, measured]: [&RelativeState; 2],
        motion: &RelativeMotion,
        settings: &ForceSettings<'_>,
        sink: &mut impl ForceSink,
    ) {
        let &ForceSettings { h, scale, target, .. } = settings;
        for (coordinate, limited) in COORDINATES {
            if let Some(force) = self.along(coordinate) {
                let (gradient, _) = self.coordinate(relative, coordinate);
                let (_, value) = self.coordinate(measured, coordinate);
                let laws = (target, settings.laws[limited as usize]);
                let bend = settings.bend_of(coordinate);
                let x = motion.coordinate(gradient, value).bent(&bend);
                let impulse = force.linearized(&x, laws, scale, h).unbent(&bend);
                sink.along(gradient, settings.hold(limited, value, impulse));
            }
        }
        if let Some(rotation) = &self.rotation {
            let phi = measured.axes2 * log_so3(measured.rotation);
            let (tangent, impulse) = rotation.linearized(phi, motion, scale, h);
            sink.turning(tangent, impulse);
            if let Some(cone) = &rotation.cone {
                let tilt = world_tilt(measured);
                // Where the normal is undefined the cone keeps its row with nothing, so that multipliers keep their places.
                let (mut gradient, mut impulse) = (Force::ZERO, ScalarImpulse::default());
                if let Some(normal) = tilt.normal() {
                    gradient = Force::new(normal, DVec3::ZERO);
                    impulse = cone::linearized(cone, &motion.coordinate(gradient, tilt.angle), h);
                    impulse = settings.hold(LimitedCoordinate::Tilt, tilt.angle, impulse);
                }
                sink.along(gradient, impulse);
            }
        }
    }

    /// Explicit: force on body 1, and armature as inertia of the relative motion; `settings.h` is not used.
    pub(crate) fn explicit(
        &self,
        relative: &RelativeState,
        rate: Motion,
        target: MotorTarget,
        scale: f64,
    ) -> Load {
        let mut load = Load::ZERO;
        for (coordinate, _) in COORDINATES {
            if let Some(force) = self.along(coordinate) {
                let (gradient, value) = self.coordinate(relative, coordinate);
                load.momentum += gradient * force.explicit(value, gradient.dot(rate), target, scale);
                load.mass.add_outer(force.armature, gradient);
            }
        }
        if let Some(rotation) = &self.rotation {
            let phi = relative.axes2 * log_so3(relative.rotation);
            rotation.add_explicit(phi, rate.angular, scale, &mut load.momentum.angular);
            load.mass.angular += Sym3::IDENTITY * rotation.armature;
            let torque =
                rotation.cone.and_then(|cone| cone::explicit(&cone, &world_tilt(relative), rate.angular));
            load.momentum.angular -= torque.unwrap_or(DVec3::ZERO);
        }
        load
    }

    /// Armature alone, as compliant rows of the acceleration level; the cone keeps its place with nothing.
    pub(crate) fn linearize_armature(&self, relative: &RelativeState, sink: &mut impl ForceSink) {
        let inertia = |kappa: f64| ScalarImpulse { q: 0.0, kappa };
        for (coordinate, _) in COORDINATES {
            if let Some(force) = self.along(coordinate) {
                sink.along(self.coordinate(relative, coordinate).0, inertia(force.armature));
            }
        }
        if let Some(rotation) = &self.rotation {
            sink.turning(Sym3::IDENTITY * rotation.armature, DVec3::ZERO);
            if rotation.cone.is_some() {
                sink.along(Force::ZERO, inertia(0.0));
            }
        }
    }

    /// Elastic energy of every force, J.
    pub(crate) fn elastic_energy(&self, relative: &RelativeState, scale: f64) -> f64 {
        let along = |coordinate: DriveCoordinate| {
            self.along(coordinate).map_or(0.0, |f| f.energy(self.coordinate(relative, coordinate).1, scale))
        };
        let turning = |rotation: RotationForce| {
            let cone = rotation.cone.map_or(0.0, |cone| cone::energy(&cone, &Tilt::of_axis(relative.axis())));
            rotation.energy(relative.rotation, scale) + cone
        };
        let scalar: f64 = COORDINATES.into_iter().map(|(coordinate, _)| along(coordinate)).sum();
        scalar + self.rotation.map_or(0.0, turning)
    }

    /// Whether a motor turns an inertia of its own.
    pub(crate) fn has_armature(&self) -> bool {
        let mut along = COORDINATES.into_iter().filter_map(|(coordinate, _)| self.along(coordinate));
        along.any(|force| force.armature != 0.0) || self.rotation.is_some_and(|force| force.armature != 0.0)
    }

    /// Kinetic energy of the armatures, J.
    pub(crate) fn armature_energy(&self, relative: &RelativeState) -> f64 {
        let along = |coordinate: DriveCoordinate| {
            self.along(coordinate).map_or(0.0, |f| f.armature * self.rate(relative, coordinate).powi(2))
        };
        let scalar: f64 = COORDINATES.into_iter().map(|(coordinate, _)| along(coordinate)).sum();
        let turning = |rotation: RotationForce| rotation.armature * relative.motion.angular.length_squared();
        0.5 * (scalar + self.rotation.map_or(0.0, turning))
    }

    /// Rate of a coordinate as the forces along it see it, per second.
    pub(crate) fn rate(&self, relative: &RelativeState, coordinate: DriveCoordinate) -> f64 {
        match coordinate {
            DriveCoordinate::Twist if self.leans => {
                fading_twist_gradient(relative.axis()).dot(relative.motion.angular)
            }
            DriveCoordinate::Twist => relative.motion.angular.x,
            DriveCoordinate::Slide => relative.motion.linear.x,
        }
    }
}

/// Coordinates with scalar forces, in their order.
const COORDINATES: [(DriveCoordinate, LimitedCoordinate); 2] =
    [(DriveCoordinate::Twist, LimitedCoordinate::Twist), (DriveCoordinate::Slide, LimitedCoordinate::Slide)];

/// The tilt of a joint in world axes.
fn world_tilt(relative: &RelativeState) -> Tilt {
    Tilt::new(relative.axes2.x_axis, relative.axes2 * relative.axis(), relative.axis().x)
}

impl RelativeMotion {
    /// A coordinate with its rates along a gradient.
    fn coordinate(&self, gradient: Force, value: f64) -> Coordinate {
        Coordinate {
            value,
            rate: gradient.dot(self.rate),
            displaced: gradient.dot(self.displaced),
            base: gradient.dot(self.base),
        }
    }
}

#[cfg(test)]
mod tests {
    use sinew_math::Pose;
    use sinew_testkit::{Rng, derivative};

    use super::*;
    use crate::{JointFrames, Limit, PairState};

    const SCALE: f64 = 1.7;

    fn limit(max: f64) -> Limit {
        Limit { min: -max, max, stiffness: 300.0, damping: 4.0, ramp: 0.05 }
    }

    fn spring_with_limit(stiffness: f64, max: f64) -> ScalarForce {
        ScalarForce { limit: Some(limit(max)), armature: 0.4, ..ScalarForce::spring(stiffness, 0.1, 2.5) }
    }

    fn motor() -> Motor {
        let target = MotorTarget::default();
        Motor { kp: 1.0, kd: 2.0, max_force: 3.0, target, gravity_compensation: false }
    }

    /// Every force at once, beyond every limit.
    fn all() -> ForceSet {
        let rotation = RotationForce { armature: 0.3, ..RotationForce::spring(40.0, 1.5) };
        ForceSet {
            twist: Some(spring_with_limit(70.0, 0.2)),
            slide: Some(spring_with_limit(90.0, 0.05)),
            rotation: Some(RotationForce { cone: Some(limit(0.3)), ..rotation }),
            leans: true,
        }
    }

    /// Steps damp a limit with its chord, the force now with its slope.
    fn without_limit_damping(mut set: ForceSet) -> ForceSet {
        let limits =
            [&mut set.twist, &mut set.slide].map(|force| force.as_mut().and_then(|f| f.limit.as_mut()));
        let cone = set.rotation.as_mut().and_then(|rotation| rotation.cone.as_mut());
        limits.into_iter().flatten().chain(cone).for_each(|limit| limit.damping = 0.0);
        set
    }

    fn frames(rng: &mut Rng) -> JointFrames {
        JointFrames {
            rotation1: rng.rotation(),
            point1: rng.vec3(-0.5, 0.5),
            rotation2: rng.rotation(),
            point2: rng.vec3(-0.5, 0.5),
        }
    }

    /// A pair whose frames lean by 0.7 rad and are turned by 0.5 rad, a step of `t` along a twist of body 1 away.
    fn pair(rng: &mut Rng, frames: &JointFrames, motion1: Motion) -> PairState {
        let pose2 = Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0));
        let lean =
            sinew_math::exp_so3(DVec3::new(0.0, 0.6, -0.8) * 0.7) * sinew_math::exp_so3(DVec3::X * 0.5);
        let rotation = pose2.rotation * frames.rotation2 * lean * frames.rotation1.conjugate();
        let pose1 = Pose::new(rotation, pose2.translation + rng.vec3(-0.8, 0.8));
        PairState { pose1, pose2, motion1, ..PairState::default() }
    }

    fn twists() -> impl Iterator<Item = Motion> {
        (0..6).map(|axis| Motion::from_array(std::array::from_fn(|i| f64::from(u8::from(i == axis)))))
    }

    #[test]
    fn forces_of_a_joint_are_the_gradient_of_its_energy() {
        let mut rng = Rng::new(1);
        for _ in 0..4 {
            let frames = frames(&mut rng);
            let pair = pair(&mut rng, &frames, Motion::ZERO);
            let state = |pair: &PairState| RelativeState::new(&frames, pair);
            let rest = MotorTarget::default();
            let load = all().explicit(&state(&pair), Motion::ZERO, rest, SCALE);
            for twist in twists() {
                let energy = |t: f64| {
                    let moved = PairState { pose1: pair.pose1.retract(twist * t), ..pair };
                    all().elastic_energy(&state(&moved), SCALE)
                };
                let slope = derivative(3e-4, 0.0, energy);
                assert!((load.momentum.dot(twist) + slope).abs() < 1e-6, "{load:?}, {slope} along {twist:?}");
            }
            // The sum of its parts, each by itself.
            let parts = [
                ForceSet { slide: None, rotation: None, ..all() },
                ForceSet { twist: None, rotation: None, ..all() },
                ForceSet { twist: None, slide: None, ..all() },
            ];
            let sum: f64 = parts.iter().map(|part| part.elastic_energy(&state(&pair), SCALE)).sum();
            assert!((all().elastic_energy(&state(&pair), SCALE) - sum).abs() < 1e-12);
            assert!(parts.iter().all(|part| part.elastic_energy(&state(&pair), SCALE) > 0.1));
        }
    }

    #[test]
    fn dampers_take_power_and_armatures_have_kinetic_energy() {
        let mut rng = Rng::new(2);
        let rest = MotorTarget::default();
        for _ in 0..4 {
            let frames = frames(&mut rng);
            let motion = Motion::new(rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0));
            let pair = pair(&mut rng, &frames, motion);
            let at = |t: f64| {
                let moved = PairState { pose1: pair.pose1.retract(motion * t), ..pair };
                RelativeState::new(&frames, &moved)
            };
            let state = at(0.0);
            let twist_rate = derivative(1e-3, 0.0, |t| at(t).twist);
            let slide_rate = derivative(1e-3, 0.0, |t| at(t).slide());
            let tilt_rate = derivative(1e-3, 0.0, |t| world_tilt(&at(t)).angle);
            let turning = motion.angular.length_squared();
            for (coordinate, rate) in
                [(DriveCoordinate::Twist, twist_rate), (DriveCoordinate::Slide, slide_rate)]
            {
                assert!((all().rate(&state, coordinate) - rate).abs() < 1e-9);
            }
            let still = all().explicit(&state, Motion::ZERO, rest, SCALE);
            let moving = all().explicit(&state, motion, rest, SCALE);
            let slope = |limit: Limit, value: f64| limit.law(limit.excess(value)).1 / limit.stiffness;
            let power = (SCALE * 2.5 + 4.0 * slope(limit(0.2), state.twist)) * twist_rate.powi(2)
                + (SCALE * 2.5 + 4.0 * slope(limit(0.05), state.slide())) * slide_rate.powi(2)
                + SCALE * 1.5 * turning
                + 4.0 * slope(limit(0.3), world_tilt(&state).angle) * tilt_rate.powi(2);
            let found = (moving.momentum - still.momentum).dot(motion);
            assert!((found + power).abs() < 1e-7, "{found} for {power}");
            let kinetic = 0.5 * (0.4 * (twist_rate.powi(2) + slide_rate.powi(2)) + 0.3 * turning);
            assert!((all().armature_energy(&state) - kinetic).abs() < 1e-8);
            assert!((0.5 * moving.mass.mul(motion).dot(motion) - kinetic).abs() < 1e-8);
        }
    }

    #[test]
    fn a_short_step_has_the_impulse_of_the_forces_and_of_the_armatures() {
        let mut rng = Rng::new(3);
        let frames = frames(&mut rng);
        let motion = Motion::new(rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0));
        let base = Motion::new(rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0));
        let relative = RelativeState::new(&frames, &pair(&mut rng, &frames, motion));
        let target = MotorTarget::default();
        let rates = RelativeMotion { rate: motion, displaced: motion, base };
        let (laws, bend) = (Default::default(), Bend::default());
        let settings = ForceSettings { h: 1e-7, scale: SCALE, target, laws, held: None, bend };
        let mut load = Load::ZERO;
        let set = without_limit_damping(all());
        set.linearize([&relative; 2], &rates, &settings, &mut load);
        let explicit = set.explicit(&relative, motion, target, SCALE);
        let found = load.momentum - load.mass.mul(motion);
        let expected = explicit.momentum * settings.h + explicit.mass.mul(base - motion);
        let difference = found - expected;
        assert!(difference.angular.length() + difference.linear.length() < 1e-10, "{difference:?}");
        // On the level of accelerations only the armatures are left.
        let mut armature = Load::ZERO;
        set.linearize_armature(&relative, &mut armature);
        assert_eq!(armature.momentum, Force::ZERO);
        for twist in twists() {
            let difference = armature.mass.mul(twist) - explicit.mass.mul(twist);
            assert!(difference.angular.length() + difference.linear.length() < 1e-14);
        }
    }

    #[test]
    fn a_twist_whose_axis_cannot_lean_is_a_turn_about_it() {
        let mut rng = Rng::new(4);
        let frames = frames(&mut rng);
        let motion = Motion::new(rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0));
        let state = RelativeState::new(&frames, &pair(&mut rng, &frames, motion));
        let set = ForceSet { rotation: None, leans: false, ..all() };
        let axis = state.axes2.x_axis;
        assert!((set.rate(&state, DriveCoordinate::Twist) - axis.dot(motion.angular)).abs() < 1e-14);
        let torque = ForceSet { slide: None, ..set }.explicit(&state, motion, MotorTarget::default(), SCALE);
        assert!(
            torque.momentum.angular.cross(axis).length() < 1e-12 && torque.momentum.linear == DVec3::ZERO
        );
    }

    #[test]
    fn sets_count_their_rows_and_know_what_they_have() {
        let none = ForceSet::default();
        let scalar = |force: ScalarForce| {
            [ForceSet { twist: Some(force), ..none }, ForceSet { slide: Some(force), ..none }]
        };
        let rotation = |force: RotationForce| ForceSet { rotation: Some(force), ..none };
        let plain = RotationForce::spring(1.0, 1.0);
        assert_eq!((none.n_rows(), all().n_rows(), rotation(plain).n_rows()), (0, 6, 3));
        assert_eq!(rotation(RotationForce { cone: Some(limit(1.0)), ..plain }).n_rows(), 4);
        assert!(!none.is_bounded() && !none.is_limited() && !none.has_armature() && none.motor().is_none());
        for set in scalar(ScalarForce::spring(1.0, 0.0, 0.0)) {
            assert!(!set.is_bounded() && !set.is_limited() && !set.has_armature() && set.motor().is_none());
            assert_eq!(set.n_rows(), 1);
        }
        for set in scalar(ScalarForce { motor: Some(motor()), ..ScalarForce::default() }) {
            assert!(set.is_bounded() && !set.is_limited() && set.motor() == Some(motor()));
        }
        for set in scalar(ScalarForce { limit: Some(limit(1.0)), ..ScalarForce::default() }) {
            assert!(!set.is_bounded() && set.is_limited());
        }
        for set in scalar(ScalarForce { armature: 0.1, ..ScalarForce::default() }) {
            assert!(set.has_armature());
        }
        assert!(!rotation(plain).has_armature());
        assert!(rotation(RotationForce { armature: 0.1, ..plain }).has_armature());
    }
}
