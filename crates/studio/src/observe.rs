//! Snapshots of a session for the interface, and measures for plots. Cost: one pass over bodies, joints and nodes.

use sinew_math::{Pose, exp_so3};
use sinew_scene::StepperDoc;
use sinew_show::{LimitGizmo, ShowOptions};
use sinew_sim::{DriveCoordinate, JointId, JointKind};

use crate::snapshot::{Snapshot, SnapshotClock, SnapshotWishes};
use crate::{curves::StepSample, session::Session};

/// Up to this number of joints, the curves of all joints are kept.
const MOST_JOINTS: usize = 64;

impl Session {
    /// Writes a snapshot of the present moment.
    pub fn fill(&self, snapshot: &mut Snapshot) {
        self.fill_with(snapshot, &self.wishes);
    }

    /// Writes a snapshot of the present moment with the content that `wishes` names.
    pub(crate) fn fill_with(&self, snapshot: &mut Snapshot, wishes: &SnapshotWishes) {
        let (world, model) = (&self.world, self.world.mechanism());
        snapshot.overview.clone_from(&self.overview);
        snapshot.doc.clone_from(self.doc());
        snapshot.in_force = world.values_in_force().cloned().unwrap_or_default();
        snapshot.opening = self.opening;
        snapshot.path.clone_from(&self.opened.path);
        snapshot.clock = SnapshotClock {
            step: self.step,
            n_steps: self.timeline.n_steps(),
            time: world.time(),
            dt: world.settings().dt,
        };
        snapshot.is_playing = self.is_playing;
        snapshot.is_late = self.pacer.is_late();
        snapshot.is_posed = self.is_posed;
        snapshot.poses.clear();
        snapshot.poses.extend(model.bodies().map(|body| world.pose(body)));
        snapshot.readings.clear();
        if self.overview.is_guided {
            snapshot.readings.extend(model.joints().map(|joint| world.reading(joint)));
        }
        // Contacts of the last step are not those of a pose.
        let show = ShowOptions { contacts: wishes.show.contacts && !self.is_posed, ..wishes.show };
        snapshot.visible.fill(world, &self.overview.looks, &show);
        if show.limits {
            (0..self.overview.joints.len())
                .for_each(|joint| self.push_limits(joint, &mut snapshot.visible.limits));
        }
        snapshot.visible.pins.extend(self.pins().map(|grab| grab.target));
        snapshot.visible.pins.extend(self.flesh_pins().map(|grab| grab.target));
        snapshot.measured.clone_from(&self.measured);
        snapshot.bytes = self.timeline.bytes();
        snapshot.digest = if wishes.digest { world.digest() } else { 0 };
    }

    /// Limits and present coordinates of a joint, if it has limits.
    fn push_limits(&self, joint: usize, out: &mut Vec<LimitGizmo>) {
        let card = &self.overview.joints[joint];
        if card.limits.is_none() && card.cone.is_none() {
            return;
        }
        let base = card.base.0.map_or(Pose::IDENTITY, |body| self.world.pose(body));
        let (frame, reading) = (base.compose(&card.base.1), self.world.reading(JointId::from_index(joint)));
        out.extend(card.limits.map(|range| match card.is_slide {
            true => LimitGizmo::Slide { frame, range, slide: reading.slide },
            false => LimitGizmo::Turn { frame, range, angle: reading.twist },
        }));
        let axis = exp_so3(reading.rotation) * glam::DVec3::X;
        out.extend(card.cone.map(|largest| LimitGizmo::Cone { frame, largest, axis }));
    }

    /// Measures the present moment; `milliseconds` is the computing time of the last step.
    pub(crate) fn measure(&mut self, milliseconds: f64) {
        let world = &self.world;
        let (energy, momentum, violation) = (world.energy(), world.momentum(), world.violation());
        let n_tets: usize = self.overview.flesh.iter().map(|flesh| flesh.n_tets).sum();
        let (loops, flesh) = (&self.measured.report.mechanism.loops, &self.measured.report.flesh);
        let stepper = world.values_in_force().and_then(|said| said.stepper.as_ref());
        let share = flesh.elements.n_diagonalized as f64 / n_tets.max(1) as f64;
        let joint = self.wishes.joint.filter(|&joint| joint < self.overview.joints.len());
        self.measured.sample = StepSample {
            step: self.step,
            time: world.time(),
            energy: [energy.kinetic, energy.gravity, energy.elastic],
            momentum: [momentum.angular.length(), momentum.linear.length()],
            error: [violation.position, violation.rotation],
            loops: [loops.residual, f64::from(loops.iterations)],
            joint: joint.map_or([f64::NAN; 3], |joint| self.read(joint)),
            flesh: [
                // Implicit steps diagonalize all tetrahedra.
                if matches!(stepper, Some(StepperDoc::Implicit(_))) { f64::NAN } else { share },
                (flesh.contacts.n_stick + flesh.contacts.n_slip) as f64,
            ],
            milliseconds,
        };
    }

    /// Adds the last measures to the curves.
    pub(crate) fn extend_curves(&mut self) {
        let n = self.overview.joints.len();
        let mut joints = [[0.0; 3]; MOST_JOINTS];
        let joints = joints.get_mut(..n).unwrap_or_default();
        joints.iter_mut().enumerate().for_each(|(joint, numbers)| *numbers = self.read(joint));
        self.curves.push(self.measured.sample, joints);
    }

    /// Coordinate of a joint, its rate, and the force of springs, limits, motors and actuators along it.
    fn read(&self, joint: usize) -> [f64; 3] {
        let (id, world) = (JointId::from_index(joint), &self.world);
        let (card, reading) = (&self.overview.joints[joint], world.reading(id));
        let (coordinate, value) = match () {
            () if card.is_slide => (Some(DriveCoordinate::Slide), [reading.slide, reading.slide_rate]),
            () if card.cone.is_some() || card.kind == JointKind::Ball => {
                (None, [reading.rotation.length(), reading.angular_rate.length()])
            }
            () => (Some(DriveCoordinate::Twist), [reading.twist, reading.twist_rate]),
        };
        [value[0], value[1], world.joint_effort(id, coordinate)]
    }
}
