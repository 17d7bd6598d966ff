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
use sinew_math::{Force, Motion, Pose, RowSpace, Sym3, Sym6, left_jacobian_inverse_sym, log_so3};
use sinew_solvers::{Load, PairJoint, shift_force, shift_motion};
use smallvec::SmallVec;

use crate::force::{Coordinate, dry_friction};
use crate::loops::Opened;
use crate::model::{JointModel, Model, PairModel, PointSpring, WORLD, pose_of};
use crate::rows::{PairState, RelativeState, RowForm, Rows, evaluate_rows};
use crate::stops::{Bounded, Stops};
use crate::{Drive, DriveCoordinate, Gyroscopic, Input, JointId, JointKind, MotorTarget};

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
    /// What becomes of joints that may open.
    pub(crate) opened: Opened,
    /// Compliance of every row outside the tree, in terms of the masses of its trees.
    pub(crate) yielding: f64,
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
    /// Joints that are held at an end of their range, in an assembly.
    pub(crate) stops: Option<&'a Stops>,
}

/// A joint linearized in the general form: rows on the tree child and the force inside.
pub(crate) struct Linearized {
    /// `x_a − x_b`.
    pub(crate) shift: DVec3,
    pub(crate) n: usize,
    /// `J_a`.
    pub(crate) rows: [[f64; 6]; 6],
    /// `b_λ` on `r = v_a − X v_b`.
    pub(crate) rhs: [f64; 6],
    /// `K` and `q`.
    pub(crate) inside: Load,
    pub(crate) twist: f64,
    pub(crate) position_error: f64,
    pub(crate) rotation_error: f64,
    /// Rows that a degenerate pose has all but erased.
    pub(crate) degenerate: u32,
}

/// Rows have size one unless the pose is degenerate; a row shorter than this counts as all but erased.
pub(crate) const SHORT_ROW: f64 = 1e-2;

impl Linearized {
    /// Fades out what short rows ask for, so that a degenerate pose gives bounded motion: a row of length `l` below the
    /// threshold `l₀` keeps `(l/l₀)²` of its right-hand side.
    pub(crate) fn soften_degenerate(&mut self) {
        for i in 0..self.n {
            let square: f64 = self.rows[i].iter().map(|x| x * x).sum();
            if square < SHORT_ROW * SHORT_ROW {
                self.rhs[i] *= square / (SHORT_ROW * SHORT_ROW);
                self.degenerate += 1;
            }
        }
    }
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
            opened: Opened::Yield,
            yielding: 0.0,
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
        coordinate: Bounded,
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
        let (position_error, rotation_error) = joint_errors(joint, &rows);
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
            let spring_end = SpringEnd { arm, gap, carried, end_velocity: DVec3::ZERO };
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
            let (q, kappa) = self.held_at_end(at.index, Bounded::Twist, relative.twist, force);
            sink.along(gradient, q, kappa);
        }
        if let Some(slide) = &forces.slide {
            let gradient = Force::new(relative.arm1.cross(axis), axis);
            let force =
                slide.impulse(&end.coordinate(gradient, relative.slide()), target, self.spring_scale, self.h);
            let (q, kappa) = self.held_at_end(at.index, Bounded::Slide, relative.slide(), force);
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
                    let limit = crate::ScalarForce {
                        limit: Some(crate::Limit { min: f64::NEG_INFINITY, ..*cone }),
                        ..Default::default()
                    };
                    stop = limit.impulse(&end.coordinate(gradient, angle), MotorTarget::default(), 1.0, h);
                    stop = self.held_at_end(at.index, Bounded::Tilt, angle, stop);
                }
                sink.along(gradient, stop.0, stop.1);
            }
        }
    }
}

/// Where the linearized forces of a joint go. They act on the relative twist of body 1, at its centre of mass, and are
/// handed over in a fixed order and number.
pub(crate) trait ForceSink {
    /// Impulse `q − κ ẋ⁺` along a coordinate.
    fn along(&mut self, gradient: Force, q: f64, kappa: f64);
    /// Angular impulse `q − K ω⁺`.
    fn turning(&mut self, tangent: Sym3, impulse: DVec3);
}

impl ForceSink for Load {
    fn along(&mut self, gradient: Force, q: f64, kappa: f64) {
        self.mass.add_outer(kappa, gradient);
        self.momentum += gradient * q;
    }

    fn turning(&mut self, tangent: Sym3, impulse: DVec3) {
        self.mass.angular += tangent;
        self.momentum.angular += impulse;
    }
}

/// Below this sine the two cone axes have no common normal.
const CONE_DEGENERATE: f64 = 1e-8;

/// Angle from which the rotation spring uses the identity tangent, rad.
pub(crate) const NEAR_HALF_TURN: f64 = std::f64::consts::PI - 0.1;

/// Symmetric tangent of the angle-axis spring: `S = ½(Jl⁻¹ + Jl⁻ᵀ)`, or 1 near half a turn.
#[inline]
pub(crate) fn rotation_tangent(phi: DVec3) -> Sym3 {
    if phi.length_squared() > NEAR_HALF_TURN * NEAR_HALF_TURN {
        Sym3::IDENTITY
    } else {
        left_jacobian_inverse_sym(phi)
    }
}

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

/// A point spring at a linearization point, as seen by one of its ends.
pub(crate) struct SpringEnd {
    /// From the centre of mass to the point.
    pub(crate) arm: DVec3,
    /// From the other end to the point.
    pub(crate) gap: DVec3,
    /// Velocity of the point that the gap already contains, plus the other end's velocity that it does not.
    pub(crate) carried: DVec3,
    /// Velocity of the other end, where it is prescribed.
    pub(crate) end_velocity: DVec3,
}

/// Adds an implicit point spring: `f = −k (L − L₀) n`, tangent `k(nnᵀ + max(0, 1 − L₀/L)(1 − nnᵀ))`, damping
/// along `n`, or in all directions if the rest length is zero.
pub(crate) fn add_point_spring(load: &mut Load, spring: &PointSpring, end: &SpringEnd, h: f64) {
    let length = end.gap.length();
    let (k, slack) = (spring.stiffness, spring.rest_length);
    let (direction, ratio) = if length > f64::MIN_POSITIVE {
        (end.gap / length, 1.0 - slack / length)
    } else {
        (DVec3::ZERO, if slack > 0.0 { 0.0 } else { 1.0 })
    };
    let transverse = ratio.max(0.0);
    let along = Sym3::outer(direction);
    let tangent = (Sym3::IDENTITY * transverse + along * (1.0 - transverse)) * (h * h * k);
    // A hold of zero length damps its point in every direction, a spring along itself.
    let damper = if slack > 0.0 { along } else { Sym3::IDENTITY } * (h * spring.damping);
    let force = tangent.mul_vec(end.carried) + damper.mul_vec(end.end_velocity) - end.gap * (h * k * ratio);
    let at_point = Sym6 { linear: tangent + damper, ..Sym6::ZERO };
    load.mass.add(&at_point.shifted(end.arm));
    load.momentum += shift_force(Force::new(DVec3::ZERO, force), end.arm);
}

/// Largest translation (m) and rotation (rad) error among the rows of a joint.
pub(crate) fn joint_errors(joint: &JointModel, rows: &Rows) -> (f64, f64) {
    let n_translation = match joint.kind.locked_mask() {
        Some(mask) => (mask >> 3).count_ones() as usize,
        None => match joint.kind {
            JointKind::Screw { .. } => 2,
            JointKind::Universal => 3,
            _ => joint.kind.n_rows(),
        },
    };
    let (mut position, mut rotation) = (0.0, 0.0);
    for i in 0..rows.n {
        let square = rows.residual[i] * rows.residual[i];
        let last_own = joint.kind.n_rows().wrapping_sub(1);
        let is_length = i < n_translation
            || (i == last_own && matches!(joint.kind, JointKind::Screw { .. }))
            || (i > last_own && last_own != usize::MAX && !(joint.drives_twist && i == last_own + 1));
        *(if is_length { &mut position } else { &mut rotation }) += square;
    }
    (f64::sqrt(position), f64::sqrt(rotation))
}

/// The pair form of a linearized joint: basis of the free directions, offset, and the force seen along them.
///
/// If the rows have lost rank (a degenerate pose), the directions beyond `F` are held instead of freed and
/// the joint counts as regularized.
pub(crate) fn reduce<const F: usize>(joint: &Linearized) -> (PairJoint<F>, u32) {
    let space = RowSpace::factor(&joint.rows[..joint.n]);
    let (null, n_free) = space.null_basis();
    let basis: [Motion; F] = std::array::from_fn(|i| Motion::from_array(null[i]));
    let offset = Motion::from_array(space.particular(&joint.rhs[..joint.n]));
    let mut stiffness = [[0.0; F]; F];
    let mut impulse = [0.0; F];
    let momentum = joint.inside.momentum - joint.inside.mass.mul(offset);
    for i in 0..F {
        let column = joint.inside.mass.mul(basis[i]);
        impulse[i] = momentum.dot(basis[i]);
        for j in 0..F {
            stiffness[i][j] = column.dot(basis[j]);
        }
    }
    let held = joint.degenerate.max(u32::from(n_free > F));
    (PairJoint { shift: joint.shift, basis, offset, stiffness, impulse }, held)
}
