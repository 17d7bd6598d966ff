//! What is told of a session: snapshots for whoever draws, and measures for plots.

use sinew_math::{Pose, exp_so3};
use sinew_scene::StepperDoc;
use sinew_show::surface_stretches;
use sinew_sim::{DriveCoordinate, JointId, JointKind};

use crate::{Frame, Gizmo, Sample, Session, Tint, Wishes};

/// Most joints whose curves are all kept.
const MOST_JOINTS: usize = 64;

/// Stretches from this much shorter to this much longer are shown from blue to red.
const STRETCH: f64 = 0.4;

impl Session {
    /// Writes a snapshot of the present moment.
    pub fn fill(&self, frame: &mut Frame) {
        self.fill_with(frame, &self.wishes);
    }

    /// Writes a snapshot of the present moment that holds what is wished for here.
    pub(crate) fn fill_with(&self, frame: &mut Frame, wishes: &Wishes) {
        let world = &self.world;
        sinew_show::draw(world, &mut frame.draw);
        frame.cast.clone_from(&self.cast);
        frame.doc.clone_from(self.doc());
        frame.said = world.values_in_force().cloned().unwrap_or_default();
        frame.opening = self.opening;
        frame.path.clone_from(&self.opened.path);
        (frame.step, frame.n_steps) = (self.step, self.timeline.n_steps());
        (frame.time, frame.dt) = (world.time(), world.settings().dt);
        (frame.is_playing, frame.is_late, frame.is_posed) =
            (self.is_playing, self.pace.is_late(), self.is_posed);
        let model = world.mechanism();
        frame.poses.clear();
        frame.poses.extend(model.bodies().map(|body| world.pose(body)));
        frame.readings.clear();
        if self.cast.is_guided {
            frame.readings.extend(model.joints().map(|joint| world.reading(joint)));
        }
        let nodes = if wishes.nodes { &world.state().flesh.nodes[..] } else { &[] };
        frame.nodes.resize_with(nodes.len(), Vec::new);
        frame.nodes.iter_mut().zip(nodes).for_each(|(to, from)| to.clone_from(&from.positions));
        self.tint(frame, wishes.tint);
        frame.contacts.clear();
        if wishes.contacts {
            frame.contacts.extend(world.contacts().map(|contact| (contact.point, contact.force)));
        }
        frame.joint_forces.clear();
        if wishes.joint_forces {
            frame.joint_forces = world.joint_forces();
        }
        frame.limits.clear();
        if wishes.limits {
            (0..self.cast.joints.len()).for_each(|joint| self.push_gizmos(joint, &mut frame.limits));
        }
        frame.pins.clear();
        frame.pins.extend(self.pins().map(|grab| grab.target));
        frame.report = self.report;
        frame.sample = self.sample;
        frame.stages.clone_from(&self.stages);
        frame.bytes = self.timeline.bytes();
        frame.digest = if wishes.digest { world.digest() } else { 0 };
    }

    /// Colours of flesh, after the surfaces of the frame were written.
    fn tint(&self, frame: &mut Frame, tint: Tint) {
        let n = if tint == Tint::Plain { 0 } else { frame.draw.flesh.len() };
        frame.tints.resize_with(n, Vec::new);
        let soft = self.world.model().flesh().into_iter().flat_map(|flesh| flesh.bodies());
        let soft = soft.zip(&self.world.state().flesh.nodes).zip(&self.cast.looks.flesh);
        for ((out, draw), ((body, nodes), card)) in frame.tints.iter_mut().zip(&frame.draw.flesh).zip(soft) {
            if tint == Tint::Stretch {
                surface_stretches(&draw.triangles, &card.rest, &draw.points, out);
                out.iter_mut().for_each(|stretch| *stretch = 0.5 + 0.5 * *stretch / STRETCH);
            } else {
                let mut is_diagonalized = Vec::new();
                body.fill_diagonalized(&nodes.positions, &mut is_diagonalized);
                out.clear();
                out.extend(is_diagonalized.into_iter().map(|is| if is { 1.0 } else { 0.5 }));
            }
        }
    }

    /// The ranges of a joint, if it has any, and where it is.
    fn push_gizmos(&self, joint: usize, out: &mut Vec<Gizmo>) {
        let card = &self.cast.joints[joint];
        if card.limits.is_none() && card.cone.is_none() {
            return;
        }
        let base = card.base.0.map_or(Pose::IDENTITY, |body| self.world.pose(body));
        let (frame, reading) = (base.compose(&card.base.1), self.world.reading(JointId::from_index(joint)));
        out.extend(card.limits.map(|range| match card.is_slide {
            true => Gizmo::Slide { frame, range, slide: reading.slide },
            false => Gizmo::Turn { frame, range, angle: reading.twist },
        }));
        let axis = exp_so3(reading.rotation) * glam::DVec3::X;
        out.extend(card.cone.map(|largest| Gizmo::Cone { frame, largest, axis }));
    }

    /// Measures the present moment; the last step took so long.
    pub(crate) fn measure(&mut self, milliseconds: f64) {
        let world = &self.world;
        let (energy, momentum, violation) = (world.energy(), world.momentum(), world.violation());
        let n_tets: usize = self.cast.flesh.iter().map(|flesh| flesh.n_tets).sum();
        let (loops, flesh) = (&self.report.mechanism.loops, &self.report.flesh);
        let stepper = world.values_in_force().and_then(|said| said.stepper.as_ref());
        let share = flesh.elements.n_diagonalized as f64 / n_tets.max(1) as f64;
        let joint = self.wishes.joint.filter(|&joint| joint < self.cast.joints.len());
        self.sample = Sample {
            step: self.step,
            time: world.time(),
            energy: [energy.kinetic, energy.gravity, energy.elastic],
            momentum: [momentum.angular.length(), momentum.linear.length()],
            error: [violation.position, violation.rotation],
            loops: [loops.residual, f64::from(loops.iterations)],
            joint: joint.map_or([f64::NAN; 3], |joint| self.read(joint)),
            flesh: [
                // Implicit steps diagonalize all, which says nothing.
                if matches!(stepper, Some(StepperDoc::Implicit(_))) { f64::NAN } else { share },
                (flesh.contacts.n_stick + flesh.contacts.n_slip) as f64,
            ],
            milliseconds,
        };
    }

    /// Adds the moment that was measured last to the curves.
    pub(crate) fn extend_trace(&mut self) {
        let n = self.cast.joints.len();
        let mut joints = [[0.0; 3]; MOST_JOINTS];
        let joints = joints.get_mut(..n).unwrap_or_default();
        joints.iter_mut().enumerate().for_each(|(joint, numbers)| *numbers = self.read(joint));
        self.trace.push(self.sample, joints);
    }

    /// Coordinate of a joint, its rate, and the force of springs, stops, motors and actuators along it.
    fn read(&self, joint: usize) -> [f64; 3] {
        let (id, world) = (JointId::from_index(joint), &self.world);
        let (card, reading) = (&self.cast.joints[joint], world.reading(id));
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
