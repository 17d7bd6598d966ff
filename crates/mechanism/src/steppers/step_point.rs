//! Where an implicit step is linearized and measured, in every phase of its Newton iterations.
//!
//! The first solve is linearized at the start of the step, or where the second-order scheme predicts its end. Later solves measure joint
//! errors and forces at the end just found, and are linearized at the first point or there (docs/maths/stiff-joints.md §3). World axes; cost: one
//! pass over the bodies to move the end, one over the joints to measure it.

use std::f64::consts::TAU;

use glam::DVec3;
use sinew_math::{JointKind, Motion, Pose, ops};
use sinew_topology::NONE;

use crate::coupling::CouplingPoint;
use crate::measure::joint_error;
use crate::prepare::move_pose;
use crate::steppers::{PointProblem, SchemeCoefficients, StepTask};
use crate::tree::{FallenPoint, LinearizationPoint, StepBase, StepLaws, StepLength};
use crate::watch::OPEN;
use crate::workspace::PointScratch;
use crate::{BreakLoad, Implicit, JointId, MotorTarget, RowForm, State};

/// Where an implicit step is linearized.
pub(crate) struct StepPoint<'a> {
    pub(crate) task: &'a StepTask<'a>,
    pub(crate) implicit: &'a Implicit,
    pub(crate) scheme: SchemeCoefficients<'a>,
    /// Points other than the state.
    pub(crate) points: &'a mut PointScratch,
    /// Motor targets per joint.
    pub(crate) targets: &'a [MotorTarget],
    pub(crate) phase: NewtonPhase,
    /// Whether only laws have changed since the last solve.
    pub(crate) is_same: bool,
}

/// Where a solve of a step is linearized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NewtonPhase {
    /// At the start of the step, or where it is predicted to end.
    First,
    /// There, with errors and forces measured at the end just found.
    Again,
    /// At the end just found.
    Moved,
}

/// Turn that takes bodies out of a pose in which no direction closes the joints, rad.
const BEND: f64 = 1e-2;

/// Joint error that needs no further solve in mechanisms with loops: dependent rows are told apart by how far joints are open.
const WITH_LOOPS: f64 = 1e-5;

impl StepPoint<'_> {
    /// Largest joint error at the end just found.
    pub(crate) fn end_error(&self, state: &State) -> (f64, Option<JointId>) {
        let turned = (self.points.velocities.as_slice(), self.task.settings.dt);
        let (joints, worst) = end_error(self.task, state, &self.points.ends, turned);
        let bands = self.band_error(state);
        if bands > joints { (bands, None) } else { (joints, worst) }
    }

    /// Largest error of a hard grab at the end just found, relative to the size of its body.
    pub(crate) fn grab_error(&self) -> f64 {
        let (StepTask { model, input, .. }, ends) = (self.task, &self.points.ends);
        let grabs = input.hard_grabs(model).map(|grab| {
            let port = model.pair_of_body[grab.body.index()];
            grab.gap(model, ends) / model.derived.extents[port as usize].radius
        });
        grabs.fold(0.0, f64::max)
    }

    /// Joint error that needs no further solve.
    pub(crate) fn tolerance(&self) -> f64 {
        let tolerance = self.implicit.newton_tolerance;
        let model = self.task.model;
        let has_loops = !model.loops.is_empty() || model.n_transmissions() > 0;
        if has_loops { tolerance.min(WITH_LOOPS) } else { tolerance }
    }

    /// Turns the linearization point of every body a little, each another way. A straight chain that is to become shorter has no
    /// direction in which to give; a bent one has.
    pub(crate) fn bend(&mut self) {
        for (body, pose) in self.points.ends.iter_mut().enumerate() {
            if self.task.model.pair_of_body[body] != NONE {
                let turn = Motion::new(scattered_direction(body) * BEND, DVec3::ZERO);
                *pose = move_pose(pose, turn);
                self.points.velocities[body] += turn * (1.0 / self.scheme.of(body).h);
            }
        }
    }

    /// Moves the point of measurement to the end that the solved twists (per pair) lead to.
    pub(crate) fn move_ends(&mut self, state: &State, motions: &[Motion]) {
        self.points.move_ends(self.task, state, &self.scheme, motions);
        self.move_rotors();
    }

    /// The system at the present linearization point.
    pub(crate) fn problem<'b>(&'b self, state: &'b State) -> PointProblem<'b> {
        let Self { task, scheme, points, .. } = self;
        let is_again = self.phase != NewtonPhase::First;
        let is_moved = self.phase == NewtonPhase::Moved;
        let is_ahead = is_again || scheme.is_second;
        let poses = |is_second: bool| match self.phase {
            NewtonPhase::Moved => &points.ends,
            _ if is_second => &points.poses,
            _ => &state.poses,
        };
        let displaced = |is_second: bool| (is_again || is_second).then_some(points.velocities.as_slice());
        let lead = |is_second: bool| {
            [is_moved, is_again].map(|is_ahead| if is_ahead || is_second { task.settings.dt } else { 0.0 })
        };
        let step = |h: f64| if task.mends() { StepLength::keeping_errors(h) } else { StepLength::new(h) };
        let fallen = scheme.fallback.bodies().map(|bodies| FallenPoint {
            bodies,
            poses: poses(false),
            displaced: displaced(false),
            lead: lead(false),
            step: StepLength { bends: true, ..step(scheme.longest()) },
        });
        let point = LinearizationPoint {
            model: task.model,
            input: task.input,
            poses: poses(scheme.is_second),
            base: StepBase {
                motions: if scheme.is_second { &points.base } else { &state.motions },
                poses: &state.poses,
            },
            motions: if is_ahead { &points.velocities } else { &state.motions },
            displaced: displaced(scheme.is_second),
            measured: (self.phase == NewtonPhase::Again).then_some(points.ends.as_slice()),
            twists: &state.twists,
            lead: lead(scheme.is_second),
            step: StepLength { is_second: scheme.is_second, bends: scheme.bends, ..step(scheme.h) },
            fallen,
            form: RowForm::Position,
            rates: task.mends(),
            spring_scale: task.input.usable_spring_scale(),
            targets: self.targets,
            laws: StepLaws { joints: &points.laws, bands: &points.bands, held: None },
        };
        let (joint_forces, loop_forces): (&[DVec3], &[DVec3]) =
            match (self.implicit.geometric_stiffness, is_again) {
                (false, _) => (&[], &[]),
                (true, false) => (&state.pulls, &state.loops.pulls),
                (true, true) => (&points.joint_forces, &points.loop_forces),
            };
        PointProblem {
            coupling: CouplingPoint {
                is_same: self.is_same,
                ..scheme.coupling_point(&point, task.settings, is_again)
            },
            point,
            gravity: task.settings.gravity,
            gyroscopic: task.settings.gyroscopic,
            share: task.share,
            joint_forces,
            loop_forces,
            rotors: &points.rotors,
        }
    }
}

/// Largest joint error at some poses, to which bodies got by twists `turned` within `h`, relative to the size of the joint's
/// bodies (rotations in rad), and its joint; joints that may open do not count.
pub(crate) fn end_error(
    task: &StepTask<'_>,
    state: &State,
    poses: &[Pose],
    (turned, h): (&[Motion], f64),
) -> (f64, Option<JointId>) {
    let (mut largest, mut worst) = (0.0, None);
    for index in 0..task.model.joints.len() {
        let [gap, lean] = relative_error(task, state, poses, (turned, h), index);
        let error = gap.max(lean);
        // An error that is not a number is the largest of all.
        let is_smaller = error <= largest;
        if !is_smaller {
            (largest, worst) = (error, Some(JointId::from_index(index)));
        }
    }
    (largest, worst)
}

/// Of the joints that may break the one that is open the most for what it bears, if any is visibly open: the weakest of several in a row.
pub(crate) fn most_torn(
    task: &StepTask<'_>,
    state: &State,
    poses: &[Pose],
    turned: (&[Motion], f64),
) -> Option<JointId> {
    let model = task.model;
    let torn = model.derived.breakable_joints.iter().filter_map(|&index| {
        let [gap, lean] = relative_error(task, state, poses, turned, index as usize);
        let BreakLoad { force, torque } = model.joints[index as usize].breaks_at?;
        let excess = |open: f64, bears: f64| if open > OPEN { open / bears } else { 0.0 };
        let most = excess(gap, force).max(excess(lean, torque / model.joint_size(index)));
        (most > 0.0).then_some((most, JointId::from_index(index as usize)))
    });
    torn.reduce(|most, next| if next.0 > most.0 { next } else { most }).map(|(_, joint)| joint)
}

/// Anchor distance of a joint at some poses, relative to the size of its bodies, and its rotation error (rad).
fn relative_error(
    task: &StepTask<'_>,
    state: &State,
    poses: &[Pose],
    (turned, h): (&[Motion], f64),
    index: usize,
) -> [f64; 2] {
    let StepTask { model, input, .. } = *task;
    let joint = &model.joints[index];
    let mut turn = 0.0;
    if joint.drives_twist || matches!(joint.kind, JointKind::Screw { .. }) {
        let motion = |body: u32| turned.get(body as usize).copied().unwrap_or(Motion::ZERO);
        turn = h * model.twist_rate(&state.poses, joint, motion);
    }
    let (gap, lean) = joint_error(model, state, poses, input, (index as u32, turn));
    [gap / model.derived.joint_sizes[index], lean]
}

/// A direction that is another one for every number.
fn scattered_direction(number: usize) -> DVec3 {
    // Multiples of irrational numbers are spread evenly.
    let share = |factor: f64| (number as f64 + 1.0) * factor % 1.0;
    let (z, angle) = (2.0 * share(0.618_033_988_749_895) - 1.0, TAU * share(0.414_213_562_373_095));
    let r = (1.0 - z * z).sqrt();
    let (sine, cosine) = ops::sin_cos(angle);
    DVec3::new(r * cosine, r * sine, z)
}
