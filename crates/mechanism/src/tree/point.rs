//! One linearization point of the implicit step, and the general joint path.
//!
//! Unknown: the twists `v` at the end of a step of effective length `h` (docs/maths/stiff-joints.md). With poses
//! `q_k` that already contain the displacement `h d`, twists `v_k` and momentum base `v̂`:
//! ```text
//! A v + Jᵀλ = M v̂ + h F_k − h F_v v_k − h² F_q d,    J v = J d − C_k/h
//! ```
//! The paper's step (Her11 eq. 3–6) is `q_k = q`, `d = 0`, `v_k = v̂ = v`; Newton iterations and the second-order
//! scheme move `q_k` ahead. Forces inside a joint act on the relative twist `r = v_a − X v_b` as `q − K r`, so
//! they fold into the pair. Everything is in world axes at centres of mass.
//!
//! **A step of length zero** moves bodies only as the joints demand, by the smallest `vᵀMv`: with `h = 0` every force
//! vanishes, and the factor of `C` is a choice of its own. `1/h ← 1`, `v̂ = 0` gives the displacement that meets
//! the joints (assembly); `1/h ← 0`, `v̂ = v` the velocities compatible with them.

use glam::DVec3;
use sinew_math::{DriveCoordinate, Force, Motion, Pose, Sym3, log_so3, shift_force, shift_motion};
use sinew_solvers::Load;
use smallvec::SmallVec;

use crate::forces::point_spring::{PointSpringState, add_point_spring};
use crate::forces::rotation::rotation_tangent;
use crate::forces::scalar::{Coordinate, Limit, MotorTarget, ScalarForce, dry_friction};
use crate::forces::sink::ForceSink;
use crate::input::Input;
use crate::joints::errors::joint_errors;
use crate::joints::evaluate::evaluate_rows;
use crate::joints::frames::Drive;
use crate::joints::relative::{PairState, RelativeState};
use crate::joints::rows::{RowForm, Rows};
use crate::model::ids::JointId;
use crate::model::mechanism::Model;
use crate::model::records::{JointModel, PairModel, WORLD, pose_of};
use crate::settings::Gyroscopic;
use crate::tree::held_limits::{HeldLimits, LimitedCoordinate};
use crate::tree::joint::Linearized;

/// Everything a sweep reads.
#[derive(Clone, Copy)]
pub(crate) struct Iterate<'a> {
    pub(crate) model: &'a Model,
    pub(crate) poses: &'a [Pose],
    /// `v̂`.
    pub(crate) base: &'a [Motion],
    /// `v_k`.
    pub(crate) motions: &'a [Motion],
    /// `d`, if the poses contain a displacement.
    pub(crate) displaced: Option<&'a [Motion]>,
    /// Continuous twist angles per joint.
    pub(crate) twists: &'a [f64],
    /// Effective step `h`, s, with `1/h`, and with `h²` and `1/h²` for the geometric stiffness.
    pub(crate) h: f64,
    pub(crate) per_h: f64,
    pub(crate) square: f64,
    pub(crate) per_square: f64,
    pub(crate) gravity: DVec3,
    pub(crate) gyro: Gyroscopic,
    /// Second-order scheme.
    pub(crate) is_second: bool,
    /// Scale of joint springs and dampers.
    pub(crate) spring_scale: f64,
    /// Which equations represent rotations.
    pub(crate) form: RowForm,
    /// Whether driven rows ask for their rate instead of their value.
    pub(crate) rates: bool,
    /// Poses at which joint errors are measured, if not at `poses`; rows keep the directions they have there.
    pub(crate) measured: Option<&'a [Pose]>,
    /// Motor goals per joint; empty if no joint has a motor.
    pub(crate) targets: &'a [MotorTarget],
    pub(crate) input: &'a Input,
    /// Per body: net force of its joints in the step or iterate before, for the geometric stiffness; empty if off.
    pub(crate) pulls: &'a [DVec3],
    /// Per pair: index into `extras`, or `NONE`.
    pub(crate) extra_slots: &'a [u32],
    /// Loads on single bodies: input wrenches, grabs, springs to immovable points.
    pub(crate) extras: &'a [Load],
    /// Per pair: whether a companion holds it; empty without one.
    pub(crate) held: &'a [bool],
    /// TwoJoints that are held at an end of their range, in an assembly.
    pub(crate) stops: Option<&'a HeldLimits>,
}

impl<'a> Iterate<'a> {
    /// A step of length zero from twists `base`, joint errors counting `per_h` times.
    pub(crate) fn zero_step(
        model: &'a Model,
        poses: &'a [Pose],
        base: &'a [Motion],
        twists: &'a [f64],
        input: &'a Input,
        per_h: f64,
    ) -> Self {
        Self {
            model,
            poses,
            base,
            motions: base,
            displaced: None,
            twists,
            h: 0.0,
            per_h,
            square: 1.0,
            per_square: 1.0,
            gravity: DVec3::ZERO,
            gyro: Gyroscopic::None,
            is_second: false,
            spring_scale: 0.0,
            form: RowForm::SmallError,
            rates: false,
            measured: None,
            targets: &[],
            input,
            pulls: &[],
            extra_slots: &[],
            extras: &[],
            held: &[],
            stops: None,
        }
    }
}

impl Iterate<'_> {
    #[inline]
    pub(crate) fn pose(&self, body: u32) -> Pose {
        pose_of(self.poses, body)
    }

    #[inline]
    pub(crate) fn motion(&self, motions: &[Motion], body: u32) -> Motion {
        if body == WORLD { Motion::ZERO } else { motions[body as usize] }
    }

    /// Whether a companion acts on the body of a pair.
    #[inline]
    pub(crate) fn is_held(&self, pair: usize) -> bool {
        self.held.get(pair).is_some_and(|&is_held| is_held)
    }

    /// Adds what holds a coordinate at an end to the impulse of its forces.
    pub(crate) fn held_at_end(
        &self,
        joint: u32,
        coordinate: LimitedCoordinate,
        value: f64,
        (q, kappa): (f64, f64),
    ) -> (f64, f64) {
        let Some(stops) = self.stops else { return (q, kappa) };
        let held = stops.hold(joint, coordinate, value);
        (q + held.0, kappa + held.1)
    }

    pub(crate) fn target(&self, joint: u32) -> MotorTarget {
        self.targets.get(joint as usize).copied().unwrap_or_default()
    }

    /// A joint at this linearization point, through the row library.
    pub(crate) fn joint_at(&self, index: u32) -> JointAt<'_> {
        let joint = &self.model.joints[index as usize];
        let end = JointEnds::new(self, joint);
        let state = PairState {
            pose1: end.pose1,
            pose2: end.pose2,
            motion1: self.motion(self.motions, joint.body1),
            motion2: self.motion(self.motions, joint.body2),
            previous_twist: self.twists[index as usize],
        };
        let relative = RelativeState::new(&joint.frames, &state);
        let drives = self.drives_of(index, joint);
        let mut rows = evaluate_rows(joint.kind, &relative, &drives, self.form);
        if let Some(poses) = self.measured {
            let (pose1, pose2) = (pose_of(poses, joint.body1), pose_of(poses, joint.body2));
            let there = RelativeState::new(&joint.frames, &PairState { pose1, pose2, ..state });
            rows.residual = evaluate_rows(joint.kind, &there, &drives, self.form).residual;
        }
        let (position_error, rotation_error) = joint_errors(joint.kind, joint.drives_twist, &rows);
        JointAt { index, joint, end, relative, rows, position_error, rotation_error }
    }

    /// Right-hand side of a row of a joint, on the relative twist `v₁ − X v₂`.
    pub(crate) fn rhs_of(&self, at: &JointAt<'_>, row: usize) -> f64 {
        let rows = &at.rows;
        let displaced = Force::from_array(rows.jacobian1[row]).dot(at.end.displaced);
        let carried = if rows.velocity_only[row] { 0.0 } else { displaced };
        let rate = if self.rates { rows.rate_target[row] } else { 0.0 };
        carried - rows.residual[row] * self.per_h + rate
    }

    /// The tree joint of a pair through the row library.
    pub(crate) fn general(&self, pair: &PairModel) -> Linearized {
        let at = self.joint_at(pair.joint);
        let mut inside = Load::ZERO;
        self.add_forces(&at, &mut inside);
        let JointAt { joint, end, rows, .. } = &at;
        for spring in &self.model.joint_springs[joint.springs.0 as usize..joint.springs.1 as usize] {
            let anchor2 = end.pose2.transform_point(spring.point2);
            let arm = end.pose1.rotation * spring.point1;
            let gap = end.pose1.translation + arm - anchor2;
            let carried = shift_motion(end.displaced, arm).linear;
            let spring_end = PointSpringState { arm, gap, carried, end_velocity: DVec3::ZERO };
            add_point_spring(&mut inside, spring, &spring_end, self.h);
        }

        let jacobian = if pair.flipped { &rows.jacobian2 } else { &rows.jacobian1 };
        let mut out = Linearized {
            shift: if pair.flipped { -end.shift } else { end.shift },
            n: rows.n,
            rows: *jacobian,
            rhs: [0.0; 6],
            inside,
            twist: at.relative.twist,
            position_error: at.position_error,
            rotation_error: at.rotation_error,
            degenerate: 0,
        };
        if pair.flipped {
            // The same force seen from body 2: K ← XᵀKX, q ← −Xᵀq.
            out.inside.mass = out.inside.mass.shifted(end.shift);
            out.inside.momentum = shift_force(out.inside.momentum, end.shift) * -1.0;
        }
        for i in 0..rows.n {
            out.rhs[i] = self.rhs_of(&at, i);
        }
        out.soften_degenerate();
        if joint.compliance > 0.0 {
            // A soft row is an implicit spring of stiffness 1/compliance.
            let k = self.h * self.h / joint.compliance;
            for i in 0..out.n {
                let row = Force::from_array(out.rows[i]);
                out.inside.mass.add_outer(k, row);
                out.inside.momentum += row * (k * out.rhs[i]);
            }
            out.n = 0;
        }
        out
    }

    fn drives_of(&self, index: u32, joint: &JointModel) -> SmallVec<[Drive; 2]> {
        [DriveCoordinate::Twist, DriveCoordinate::Slide]
            .into_iter()
            .filter(|c| joint.drives(*c))
            .map(|coordinate| {
                let id = JointId::from_index(index as usize);
                self.input.drive(id, coordinate).copied().unwrap_or(Drive::at_rest(coordinate))
            })
            .collect()
    }

    /// Hands the forces along twist and slide and on the rotation, as seen by body 1, to a sink.
    pub(crate) fn add_forces(&self, at: &JointAt<'_>, sink: &mut impl ForceSink) {
        let JointAt { end, relative, .. } = at;
        let forces = &self.model.forces[at.joint.forces as usize];
        let target = self.target(at.index);
        let axis = relative.axes2.x_axis;
        if let Some(twist) = &forces.twist {
            let gradient = Force::new(axis, DVec3::ZERO);
            let force =
                twist.impulse(&end.coordinate(gradient, relative.twist), target, self.spring_scale, self.h);
            let (q, kappa) = self.held_at_end(at.index, LimitedCoordinate::Twist, relative.twist, force);
            sink.along(gradient, q, kappa);
        }
        if let Some(slide) = &forces.slide {
            let gradient = Force::new(relative.arm1.cross(axis), axis);
            let force =
                slide.impulse(&end.coordinate(gradient, relative.slide()), target, self.spring_scale, self.h);
            let (q, kappa) = self.held_at_end(at.index, LimitedCoordinate::Slide, relative.slide(), force);
            sink.along(gradient, q, kappa);
        }
        if let Some(rotation) = &forces.rotation {
            let h = self.h;
            let phi = relative.axes2 * log_so3(relative.rotation);
            let (k, c) = (rotation.stiffness * self.spring_scale, rotation.damping * self.spring_scale);
            let tangent = rotation_tangent(phi) * (h * h * k);
            let mut isotropic = h * c + rotation.armature;
            if rotation.friction > 0.0 {
                isotropic += dry_friction(rotation.friction, end.rate.angular.length(), h);
            }
            let impulse =
                tangent.mul_vec(end.displaced.angular) - phi * (h * k) + end.base.angular * rotation.armature;
            sink.turning(tangent + Sym3::IDENTITY * isotropic, impulse);
            if let Some(cone) = &rotation.cone {
                let lean = axis.cross(relative.axes2 * relative.axis());
                let sine = lean.length();
                let (mut gradient, mut stop) = (Force::ZERO, (0.0, 0.0));
                if sine > CONE_DEGENERATE {
                    gradient = Force::new(lean / sine, DVec3::ZERO);
                    let angle = sinew_math::ops::atan2(sine, relative.axis().x);
                    let limit = ScalarForce {
                        limit: Some(Limit { min: f64::NEG_INFINITY, ..*cone }),
                        ..Default::default()
                    };
                    stop = limit.impulse(&end.coordinate(gradient, angle), MotorTarget::default(), 1.0, h);
                    stop = self.held_at_end(at.index, LimitedCoordinate::Tilt, angle, stop);
                }
                sink.along(gradient, stop.0, stop.1);
            }
        }
    }
}

/// Below this sine the two cone axes have no common normal.
const CONE_DEGENERATE: f64 = 1e-8;

/// A joint at a linearization point.
pub(crate) struct JointAt<'a> {
    pub(crate) index: u32,
    pub(crate) joint: &'a JointModel,
    pub(crate) end: JointEnds,
    pub(crate) relative: RelativeState,
    pub(crate) rows: Rows,
    /// Largest translation error, m, and rotation error, rad.
    pub(crate) position_error: f64,
    pub(crate) rotation_error: f64,
}

/// Poses of the two ends of a joint and its relative twists at body 1.
pub(crate) struct JointEnds {
    pub(crate) pose1: Pose,
    pub(crate) pose2: Pose,
    /// `x₁ − x₂`.
    pub(crate) shift: DVec3,
    pub(crate) rate: Motion,
    pub(crate) displaced: Motion,
    pub(crate) base: Motion,
}

impl JointEnds {
    fn new(at: &Iterate<'_>, joint: &JointModel) -> Self {
        let (pose1, pose2) = (at.pose(joint.body1), at.pose(joint.body2));
        let shift = pose1.translation - pose2.translation;
        let relative = |motions: &[Motion]| {
            at.motion(motions, joint.body1) - shift_motion(at.motion(motions, joint.body2), shift)
        };
        let displaced = at.displaced.map_or(Motion::ZERO, relative);
        Self { pose1, pose2, shift, rate: relative(at.motions), displaced, base: relative(at.base) }
    }

    fn coordinate(&self, gradient: Force, value: f64) -> Coordinate {
        Coordinate {
            value,
            rate: gradient.dot(self.rate),
            displaced: gradient.dot(self.displaced),
            base: gradient.dot(self.base),
        }
    }
}
