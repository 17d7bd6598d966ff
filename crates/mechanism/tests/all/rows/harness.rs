//! Random joints with a chosen error, and how to move them.

use glam::{DQuat, DVec3};
use sinew_math::{Motion, Pose, exp_so3, normalize_quat, ops};
use sinew_mechanism::{
    Drive, DriveCoordinate, JointFrames, JointKind, PairState, RelativeState, RowForm, Rows, evaluate_rows,
};
use sinew_testkit::Rng;
use std::f64::consts::{FRAC_PI_2, PI};

pub(super) const FORMS: [RowForm; 3] = [RowForm::Position, RowForm::Acceleration, RowForm::SmallError];
pub(super) const MISALIGNMENTS: [f64; 5] = [0.0, 1e-9, 0.2, 1.3, PI - 0.1];

/// One joint at one state, with its drives as quadratic functions of time.
#[derive(Clone)]
pub(super) struct Joint {
    pub(super) kind: JointKind,
    pub(super) frames: JointFrames,
    pub(super) drives: Vec<Drive>,
    pub(super) pair: PairState,
}

impl Joint {
    pub(super) fn state(&self) -> RelativeState {
        RelativeState::new(&self.frames, &self.pair)
    }

    pub(super) fn rows(&self, form: RowForm) -> Rows {
        evaluate_rows(self.kind, &self.state(), &self.drives, form)
    }

    /// Bodies moved by `t` times the twist pair `(ω₁, v₁, ω₂, v₂)`; drives untouched.
    pub(super) fn displaced(&self, t: f64, twists: &[Motion; 2]) -> Self {
        let mut moved = self.clone();
        moved.pair.pose1 = self.pair.pose1.retract(twists[0] * t);
        moved.pair.pose2 = self.pair.pose2.retract(twists[1] * t);
        moved
    }

    /// The state after time `t` at constant motions, drives advanced too.
    pub(super) fn after(&self, t: f64) -> Self {
        let mut moved = self.displaced(t, &[self.pair.motion1, self.pair.motion2]);
        for drive in &mut moved.drives {
            drive.value += drive.rate * t + 0.5 * drive.acceleration * t * t;
            drive.rate += drive.acceleration * t;
        }
        moved
    }
}

/// Random bodies and frames whose relative rotation is `relative` and whose point 1 is at `offset` in frame 2.
pub(super) fn placed(rng: &mut Rng, kind: JointKind, relative: DQuat, offset: DVec3) -> Joint {
    let frames = JointFrames {
        rotation1: rng.rotation(),
        point1: rng.vec3(-0.5, 0.5),
        rotation2: rng.rotation(),
        point2: rng.vec3(-0.5, 0.5),
    };
    let pose2 = Pose { rotation: rng.rotation(), translation: rng.vec3(-1.0, 1.0) };
    let axes2 = pose2.rotation * frames.rotation2;
    let rotation = normalize_quat(axes2 * relative * frames.rotation1.conjugate());
    let point1 = pose2.translation + pose2.rotation * frames.point2 + axes2 * offset;
    let pose1 = Pose { rotation, translation: point1 - rotation * frames.point1 };
    let pair = PairState {
        pose1,
        pose2,
        motion1: Motion::new(rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0)),
        motion2: Motion::new(rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0)),
        previous_twist: 0.0,
    };
    let drive = |coordinate| Drive { coordinate, value: 0.3, rate: -0.7, acceleration: 1.9 };
    let drives = [DriveCoordinate::Twist, DriveCoordinate::Slide]
        .into_iter()
        .filter(|&coordinate| kind.can_drive(coordinate))
        .map(drive)
        .collect();
    Joint { kind, frames, drives, pair }
}

/// A joint whose rotational error is `misalignment`: the angle of R_rel where it is locked, else the lean of `i₁`.
pub(super) fn misaligned(rng: &mut Rng, kind: JointKind, misalignment: f64) -> Joint {
    let relative = match kind {
        JointKind::Fixed
        | JointKind::Prismatic
        | JointKind::Orientation
        | JointKind::Masked { rotations: 3, .. } => exp_so3(rng.unit_vec() * misalignment),
        _ => {
            // A disc stands on its rim: its axis leans by a right angle more or less.
            let disc = matches!(kind, JointKind::RollingDisc { .. });
            let lean = if disc { FRAC_PI_2 - 0.4 * misalignment } else { misalignment };
            let (sin, cos) = ops::sin_cos(rng.uniform(-PI, PI));
            exp_so3(DVec3::new(0.0, cos, sin) * lean) * exp_so3(DVec3::X * rng.uniform(-2.0, 2.0))
        }
    };
    let offset = rng.vec3(-1.0, 1.0) * misalignment.min(0.5);
    placed(rng, kind, relative, offset)
}

/// Every kind, those without a name at the end.
pub(super) fn all_kinds() -> impl Iterator<Item = JointKind> {
    let masks = (0..8u8).flat_map(|bits| (0..4).map(move |rotations| (bits, rotations)));
    let locking = masks
        .map(|(bits, rotations)| JointKind::locking(std::array::from_fn(|m| bits >> m & 1 == 1), rotations));
    JointKind::all(0.35).into_iter().chain(locking.filter(|kind| matches!(kind, JointKind::Masked { .. })))
}

/// Calls `check` for every kind and misalignment, several random poses each.
pub(super) fn for_every_joint(mut check: impl FnMut(&Joint, f64)) {
    let mut rng = Rng::new(20);
    for kind in all_kinds() {
        for misalignment in MISALIGNMENTS {
            for _ in 0..6 {
                check(&misaligned(&mut rng, kind, misalignment), misalignment);
            }
        }
    }
}

/// `J₁v₁ + J₂v₂` of rows at one state with twists given from elsewhere.
pub(super) fn speed(rows: &Rows, twists: &[Motion; 2]) -> [f64; 6] {
    let mut still = *rows;
    still.rate_target = [0.0; 6];
    still.rate_error(&twists[0], &twists[1])
}

/// The unit twist of column `c` of `[J₁ J₂]`.
pub(super) fn unit_twists(c: usize) -> [Motion; 2] {
    let axis = DVec3::AXES[c % 3];
    let unit = if c % 6 < 3 { Motion::new(axis, DVec3::ZERO) } else { Motion::new(DVec3::ZERO, axis) };
    if c < 6 { [unit, Motion::ZERO] } else { [Motion::ZERO, unit] }
}

/// Step of the fourth-order differences. Near α = π derivatives grow like powers of 1/(π − α).
pub(super) fn step(misalignment: f64) -> f64 {
    if misalignment > 2.0 { 2e-4 } else { 1e-3 }
}
