//! The relative state of the two frames of a joint, computed once and shared by all its rows and forces.
//!
//! With `B_k = R_k Q_k`, `r_k = R_k p_k`, `P_k = x_k + r_k`, `d = P₁ − P₂` (docs/maths, joints):
//! ```text
//! w = B₂ᵀ(ω₁ − ω₂)                              relative angular velocity
//! u = B₂ᵀ(v₁ + ω₁×r₁ − v₂ − ω₂×(r₂ + d))        velocity at P₁ relative to body 2 there; = d/dt (B₂ᵀd)
//! ẇ = B₂ᵀ(ω̇₁ − ω̇₂) + w̄,   w̄ = −B₂ᵀ(ω₂×ω₁)
//! u̇ = (linear in the accelerations) + ū,   ū = B₂ᵀ(ω₁×(ω₁×r₁) − ω₂×(ω₂×r₂) − 2ω₂×ḋ + ω₂×(ω₂×d))
//! ```
//! Relative quantities are in frame 2 (Fau98 §3.1, with body 2 taken at `P₁`), lever arms in world axes; metres,
//! radians, seconds. About 250 flops, no failure: unit quaternions are the caller's duty.

use glam::{DMat3, DQuat, DVec3};
use sinew_math::{DriveCoordinate, Force, Motion, Pose, quat_to_mat3};

use crate::joints::{
    JointFrames, fading_twist_gradient, swing_vector, twist_angle, twist_gradient, unwrap_angle,
};

/// Poses and motions of the two bodies of a joint, with the memory of its twist.
///
/// For a joint to the world, body 2 has the identity pose and zero motion, as in the default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairState {
    /// `world_from_central` of body 1: central frame, or any whose points [`JointFrames`] has.
    pub pose1: Pose,
    /// `world_from_central` of body 2: central frame, or any whose points [`JointFrames`] has.
    pub pose2: Pose,
    /// Angular velocity of body 1 and velocity of the origin of that frame, world axes.
    pub motion1: Motion,
    /// Angular velocity of body 2 and velocity of the origin of that frame, world axes.
    pub motion2: Motion,
    /// The continuous twist angle last seen (rad): the new one is taken within half a turn of it.
    pub previous_twist: f64,
}

/// Frame 1 relative to frame 2: position, orientation, velocity and velocity-product acceleration.
#[derive(Clone, Copy, Debug)]
pub struct RelativeState {
    /// `B₂`: columns are the axes `i₂, j₂, k₂` in world axes.
    pub axes2: DMat3,
    /// `P₁ − x₁`, world axes.
    pub arm1: DVec3,
    /// `P₁ − x₂ = r₂ + d`, world axes.
    pub arm2: DVec3,
    /// `B₂ᵀ d`: point 1 from point 2 in frame 2; its x component is the slide.
    pub offset: DVec3,
    /// `B₂ᵀ B₁` as a quaternion.
    pub rotation: DQuat,
    /// `B₂ᵀ B₁` as a matrix; its first column is `s`, axis `i₁` seen in frame 2.
    pub matrix: DMat3,
    /// Relative motion `(w, u)` in frame 2 at `P₁`.
    pub motion: Motion,
    /// The velocity products `(w̄, ū)` of its rate, in frame 2.
    pub bias: Motion,
    /// Twist angle, continuous with [`PairState::previous_twist`], in radians.
    pub twist: f64,
}

/// `R_rel = B₂ᵀ B₁` alone, for callers that need no more than the twist angle or the lean. Frames and poses as in [`PairState`].
#[must_use]
#[inline]
pub fn relative_rotation(frames: &JointFrames, pose1: &Pose, pose2: &Pose) -> DMat3 {
    let frame2 = pose2.rotation * frames.rotation2;
    quat_to_mat3(frame2.conjugate() * (pose1.rotation * frames.rotation1))
}

impl RelativeState {
    /// Value and rate of a coordinate: twist (rad) or slide (m).
    pub(crate) fn along(&self, coordinate: DriveCoordinate) -> (f64, f64) {
        match coordinate {
            DriveCoordinate::Twist => (self.twist, self.twist_rate()),
            DriveCoordinate::Slide => (self.slide(), self.motion.linear.x),
        }
    }

    /// Computes the relative state of a joint.
    #[must_use]
    #[inline]
    pub fn new(frames: &JointFrames, pair: &PairState) -> Self {
        Self::moving::<true>(frames, pair)
    }

    /// The same without the velocity products, which steps of velocities do not need.
    #[must_use]
    #[inline]
    pub(crate) fn without_bias(frames: &JointFrames, pair: &PairState) -> Self {
        Self::moving::<false>(frames, pair)
    }

    #[inline]
    fn moving<const BIASED: bool>(frames: &JointFrames, pair: &PairState) -> Self {
        let (omega1, omega2) = (pair.motion1.angular, pair.motion2.angular);
        let (still, r2) = Self::placed(frames, [&pair.pose1, &pair.pose2], pair.previous_twist);
        let to_frame2 = still.axes2.transpose();
        let d = still.arm2 - r2;
        let spin1 = omega1.cross(still.arm1);
        let spin2 = omega2.cross(r2);
        // Body 2 is taken at P₁, so that J₂ = −J₁ X holds at any joint error.
        let swept = omega2.cross(d);
        let d_dot = (pair.motion1.linear - pair.motion2.linear) + (spin1 - spin2);
        let mut bias = Motion::ZERO;
        if BIASED {
            let u_bias = omega1.cross(spin1) - omega2.cross(spin2) + omega2.cross(swept - 2.0 * d_dot);
            bias = Motion::new(to_frame2 * omega1.cross(omega2), to_frame2 * u_bias);
        }
        let motion = Motion::new(to_frame2 * (omega1 - omega2), to_frame2 * (d_dot - swept));
        Self { motion, bias, ..still }
    }

    /// The relative state of a joint whose bodies are at rest.
    #[must_use]
    #[inline]
    pub(crate) fn at_rest(frames: &JointFrames, poses: [&Pose; 2], previous_twist: f64) -> Self {
        Self::placed(frames, poses, previous_twist).0
    }

    /// [`Self::at_rest`], and `r₂`.
    #[inline]
    fn placed(frames: &JointFrames, [pose1, pose2]: [&Pose; 2], previous_twist: f64) -> (Self, DVec3) {
        let world_from_frame2 = pose2.rotation * frames.rotation2;
        let rotation = world_from_frame2.conjugate() * (pose1.rotation * frames.rotation1);
        let axes2 = quat_to_mat3(world_from_frame2);
        let matrix = quat_to_mat3(rotation);
        let arm1 = pose1.rotation * frames.point1;
        let r2 = pose2.rotation * frames.point2;
        let arm2 = (pose1.translation - pose2.translation) + arm1;
        let still = Self {
            axes2,
            arm1,
            arm2,
            offset: axes2.transpose() * (arm2 - r2),
            rotation,
            matrix,
            motion: Motion::ZERO,
            bias: Motion::ZERO,
            twist: unwrap_angle(twist_angle(&matrix), previous_twist),
        };
        (still, r2)
    }

    /// `s`: axis `i₁` seen in frame 2, unit.
    #[must_use]
    #[inline]
    pub fn axis(&self) -> DVec3 {
        self.matrix.x_axis
    }

    /// The slide `(B₂ᵀd)_x` in metres; its rate is `motion.linear.x`.
    #[must_use]
    #[inline]
    pub fn slide(&self) -> f64 {
        self.offset.x
    }

    /// The rate of the twist angle, `g·w`, in rad/s.
    #[must_use]
    #[inline]
    pub fn twist_rate(&self) -> f64 {
        twist_gradient(self.axis()).dot(self.motion.angular)
    }

    /// Gradient (on the twist of body 1 at its centre of mass, world axes) and value of a coordinate.
    #[must_use]
    #[inline]
    pub(crate) fn coordinate(&self, coordinate: DriveCoordinate) -> (Force, f64) {
        let axis = self.axes2.x_axis;
        match coordinate {
            DriveCoordinate::Twist => (Force::new(axis, DVec3::ZERO), self.twist),
            DriveCoordinate::Slide => (Force::new(self.arm1.cross(axis), axis), self.slide()),
        }
    }

    /// [`Self::coordinate`] of the twist where the axis may lean: the gradient is `g`, not `i₂`.
    #[must_use]
    pub(crate) fn leaning_twist(&self) -> (Force, f64) {
        (Force::new(self.axes2 * fading_twist_gradient(self.axis()), DVec3::ZERO), self.twist)
    }

    /// The swing vector σ: the lean of `i₁` from `i₂` as a rotation vector in frame 2, rad.
    #[must_use]
    #[inline]
    pub fn swing(&self) -> DVec3 {
        swing_vector(self.axis())
    }

    /// Jacobian row pair of a rate `angular·w + linear·u`, both given in frame 2: what it is on `(ω₁, v₁)` and on `(ω₂, v₂)` of the
    /// [`PairState`], world axes.
    ///
    /// Rows built here satisfy `J₂ = −J₁ X`, `X = [[1, 0], [−[x₁ − x₂], 1]]`, at any joint error.
    #[must_use]
    #[inline]
    pub fn world_rows(&self, angular: DVec3, linear: DVec3) -> ([f64; 6], [f64; 6]) {
        let (m, n) = (self.axes2 * angular, self.axes2 * linear);
        let m1 = m + self.arm1.cross(n);
        let m2 = m + self.arm2.cross(n);
        ([m1.x, m1.y, m1.z, n.x, n.y, n.z], [-m2.x, -m2.y, -m2.z, -n.x, -n.y, -n.z])
    }
}
