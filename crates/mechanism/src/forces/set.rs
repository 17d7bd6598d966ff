//! All forces inside one joint, handed to every stepper in a fixed order: twist, slide, rotation, cone.
//!
//! Forces act on body 1 at its centre of mass, world axes; the opposite acts on body 2. They use the relative twist of body 1
//! against body 2 shifted to it.

use glam::DVec3;
use sinew_math::{DriveCoordinate, Force, Motion, Sym3, log_so3};
use sinew_solvers::Load;

use crate::forces::{
    Coordinate, CoordinateLaws, HeldLimits, LimitedCoordinate, RelativeMotion, ScalarImpulse, Tilt, cone,
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
}

impl ForceSettings<'_> {
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
                let x = motion.coordinate(gradient, self.coordinate(measured, coordinate).1);
                *law = force.review(&x, (settings.target, *law), settings.h, gradient.dot(found));
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
                let impulse = force.linearized(&motion.coordinate(gradient, value), laws, scale, h);
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
