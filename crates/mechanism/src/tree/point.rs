//! One linearization point of an implicit step.
//!
//! Unknown: the twists `v` at the end of a step of effective length `h` (docs/maths/stiff-joints.md). With poses `q_k` that
//! already contain the displacement `h d`, twists `v_k` and momentum base `v̂`:
//! ```text
//! A v + Jᵀλ = M v̂ + h F_k − h F_v v_k − h² F_q d,    J v = J d − C_k/h
//! ```
//! The paper's step (Her11 eq. 3–4) is `q_k = q`, `d = 0`, `v_k = v̂ = v`. The second-order scheme moves `q_k` ahead. Newton
//! iterations measure `C` and the forces at `measured`, the end of the step, and keep `J` and the arms of the forces: joint
//! impulses with the arms of one pose keep the angular momentum (docs/maths/stiff-joints.md). Everything is in world axes at centres of mass.
//!
//! **A step of length zero** moves bodies only as the joints demand, by the smallest `vᵀMv`: with `h = 0` every force vanishes,
//! and the factor of `C` is a choice of its own. `1/h ← 1`, `v̂ = 0` gives the displacement that meets the joints (assembly);
//! `1/h ← 0`, `v̂ = v` the velocities compatible with them.

use glam::DVec3;
use sinew_math::{Motion, Pose};

use crate::forces::{BandLaw, CoordinateLaws, HeldLimits, PointSpring};
use crate::input_index::StepInput;
use crate::model::{JointModel, motion_of, pose_of};
use crate::{Model, MotorTarget, RowForm};

/// What a joint needs to know of a linearization point.
#[derive(Clone, Copy)]
pub(crate) struct LinearizationPoint<'a> {
    pub(crate) model: &'a Model,
    pub(crate) input: StepInput<'a>,
    /// `q_k`, per body in the user's order.
    pub(crate) poses: &'a [Pose],
    pub(crate) base: StepBase<'a>,
    /// `v_k`.
    pub(crate) motions: &'a [Motion],
    /// `d`, if the poses contain a displacement.
    pub(crate) displaced: Option<&'a [Motion]>,
    /// Poses at which joint errors are measured, if not at `poses`; rows keep the directions they have there.
    pub(crate) measured: Option<&'a [Pose]>,
    /// Continuous twist angles per joint.
    pub(crate) twists: &'a [f64],
    /// Time by which the poses, and those where joints are measured, are ahead of the twist angles, s.
    pub(crate) lead: [f64; 2],
    pub(crate) step: StepLength,
    /// Islands that are linearized elsewhere.
    pub(crate) fallen: Option<FallenPoint<'a>>,
    /// Which equations represent rotations.
    pub(crate) form: RowForm,
    /// Whether driven rows ask for their rate instead of their value.
    pub(crate) rates: bool,
    /// Scale of joint springs and dampers.
    pub(crate) spring_scale: f64,
    /// Motor targets per joint; empty if no joint has a motor.
    pub(crate) targets: &'a [MotorTarget],
    pub(crate) laws: StepLaws<'a>,
}

/// Where a step begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepBase<'a> {
    /// `v̂`.
    pub(crate) motions: &'a [Motion],
    /// `q`, of which a step of first order takes its displacement.
    pub(crate) poses: &'a [Pose],
}

/// Where islands are linearized that make a step of second order with the first; all else is as for the others.
#[derive(Clone, Copy)]
pub(crate) struct FallenPoint<'a> {
    /// Per body: whether it belongs to one of them.
    pub(crate) bodies: &'a [bool],
    pub(crate) poses: &'a [Pose],
    pub(crate) displaced: Option<&'a [Motion]>,
    pub(crate) lead: [f64; 2],
    pub(crate) step: StepLength,
}

/// Laws that hold in a solve.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StepLaws<'a> {
    /// Of bounded forces along twist and slide, per joint; empty if no force has a bound.
    pub(crate) joints: &'a [[CoordinateLaws; 2]],
    /// Of ropes and gears; empty in a step of length zero.
    pub(crate) bands: &'a [BandLaw],
    /// Joints that are held at a limit, in an assembly.
    pub(crate) held: Option<&'a HeldLimits>,
}

/// The effective step, s, with what is divided by it: a step of length zero chooses its own factors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepLength {
    /// Effective length, s; 0 in an assembly.
    pub(crate) h: f64,
    /// Factor of joint errors, `1/h`.
    pub(crate) per_h: f64,
    /// The same for joints that may open.
    pub(crate) per_h_open: f64,
    /// `h²` and `1/h²` for the geometric stiffness.
    pub(crate) square: f64,
    pub(crate) per_square: f64,
    /// Whether it is one of second order.
    pub(crate) is_second: bool,
    /// Whether its twists are those of a straight line from its start to its end.
    pub(crate) bends: bool,
}

impl StepLength {
    /// A step that takes time.
    pub(crate) fn new(h: f64) -> Self {
        let (per_h, square) = (1.0 / h, h * h);
        Self {
            h,
            per_h,
            per_h_open: per_h,
            square,
            per_square: 1.0 / (h * h),
            is_second: false,
            bends: false,
        }
    }

    /// A step that takes time and leaves the errors of joints as they are, unless these may open.
    pub(crate) fn keeping_errors(h: f64) -> Self {
        Self { per_h: 0.0, ..Self::new(h) }
    }

    /// A step of length zero, joint errors counting `per_h` times.
    pub(crate) fn zero(per_h: f64) -> Self {
        Self {
            h: 0.0,
            per_h,
            per_h_open: per_h,
            square: 1.0,
            per_square: 1.0,
            is_second: false,
            bends: false,
        }
    }
}

/// The linearization points of most islands, and of those that fall back to first order.
pub(crate) struct IslandPoints<'a>([LinearizationPoint<'a>; 2]);

impl<'a> IslandPoints<'a> {
    /// The point of some bodies, which are connected.
    #[inline]
    pub(crate) fn at(&self, bodies: &[u32]) -> &LinearizationPoint<'a> {
        &self.0[usize::from(self.0[0].is_fallen(bodies))]
    }
}

impl<'a> LinearizationPoint<'a> {
    /// A step of length zero from twists `base`, joint errors counting `per_h` times.
    pub(crate) fn zero_step(
        model: &'a Model,
        input: StepInput<'a>,
        poses: &'a [Pose],
        base: &'a [Motion],
        twists: &'a [f64],
        per_h: f64,
    ) -> Self {
        Self {
            model,
            input,
            poses,
            base: StepBase { motions: base, poses },
            motions: base,
            displaced: None,
            measured: None,
            twists,
            lead: [0.0; 2],
            step: StepLength::zero(per_h),
            fallen: None,
            form: RowForm::SmallError,
            rates: false,
            spring_scale: 0.0,
            targets: &[],
            laws: StepLaws::default(),
        }
    }

    /// Whether one of the bodies belongs to an island that falls back to first order.
    #[inline]
    pub(crate) fn is_fallen(&self, bodies: &[u32]) -> bool {
        let is_fallen = |&body: &u32, fallen: &[bool]| fallen.get(body as usize) == Some(&true);
        self.fallen.is_some_and(|fallen| bodies.iter().any(|body| is_fallen(body, fallen.bodies)))
    }

    /// The point of islands that fall back to first order, if there are any.
    #[inline]
    pub(crate) fn fallen_point(&self) -> Option<Self> {
        let FallenPoint { poses, displaced, lead, step, .. } = self.fallen?;
        Some(Self { poses, displaced, lead, step, fallen: None, ..*self })
    }

    /// The points of all islands.
    pub(crate) fn by_island(&self) -> IslandPoints<'a> {
        IslandPoints([*self, self.fallen_point().unwrap_or(*self)])
    }

    /// Where a run of pairs from `first` on ends that are linearized alike, `end` at the latest.
    pub(crate) fn run_end(&self, first: usize, end: usize) -> usize {
        let Some(FallenPoint { bodies, .. }) = self.fallen else { return end };
        let is_fallen = |pair: usize| bodies[self.model.pairs[pair].body as usize];
        (first + 1..end).find(|&pair| is_fallen(pair) != is_fallen(first)).unwrap_or(end)
    }

    /// Whether the unknown is a displacement, not a twist: a step of length zero that counts joint errors.
    pub(crate) fn is_displacement(&self) -> bool {
        self.step.h == 0.0 && self.step.per_h > 0.0
    }

    /// Poses at which joint errors and forces are measured.
    pub(crate) fn measured_poses(&self) -> &'a [Pose] {
        self.measured.unwrap_or(self.poses)
    }

    /// What a joint has turned since its twist angle was known: at the poses, and where it is measured, rad.
    pub(crate) fn turns(&self, joint: &JointModel) -> [f64; 2] {
        if self.lead[1] == 0.0 {
            return [0.0; 2];
        }
        let rate = self.model.twist_rate(self.poses, joint, |body| motion_of(self.motions, body));
        self.lead.map(|lead| lead * rate)
    }

    /// The gap of a spring: directions from the poses, length from where forces are measured.
    pub(crate) fn spring_gap(&self, spring: &PointSpring) -> DVec3 {
        let at = |poses: &[Pose]| [spring.body1, spring.body2].map(|body| pose_of(poses, body));
        match self.measured {
            Some(measured) => spring.measured_gap(at(self.poses), at(measured)),
            None => spring.gap(at(self.poses)),
        }
    }

    /// Pose of a body position; the world is the identity.
    #[inline]
    pub(crate) fn pose(&self, body: u32) -> Pose {
        pose_of(self.poses, body)
    }

    /// Laws of the bounded forces of a joint.
    pub(crate) fn laws(&self, joint: u32) -> [CoordinateLaws; 2] {
        self.laws.joints.get(joint as usize).copied().unwrap_or_default()
    }

    /// Target of the motor of a joint.
    pub(crate) fn target(&self, joint: u32) -> MotorTarget {
        self.targets.get(joint as usize).copied().unwrap_or_default()
    }
}
