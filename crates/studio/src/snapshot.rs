//! What is told of a session: snapshots for whoever draws, and measures for plots.

use sinew_math::Pose;
use sinew_sim::{DriveCoordinate, JointId, JointKind, joint_forces};

use crate::{Frame, Gizmo, Sample, Session, Wishes};

impl Session {
    /// Writes a snapshot of the present moment.
    pub fn fill(&self, frame: &mut Frame) {
        self.fill_with(frame, &self.wishes);
    }

    /// Writes a snapshot of the present moment that holds what is wished for here.
    pub(crate) fn fill_with(&self, frame: &mut Frame, wishes: &Wishes) {
        let world = &self.world;
        world.draw(&mut frame.draw);
        frame.cast.clone_from(&self.cast);
        frame.doc.clone_from(self.doc());
        frame.said = world.said().cloned().unwrap_or_default();
        frame.opening = self.opening;
        (frame.step, frame.n_steps) = (self.step, self.timeline.n_steps());
        (frame.time, frame.dt) = (world.time(), world.settings().dt);
        (frame.is_playing, frame.is_late, frame.is_posed) =
            (self.is_playing, self.pace.is_late(), self.is_posed);
        let model = world.model();
        frame.poses.clear();
        frame.poses.extend(model.bodies().map(|body| world.pose(body)));
        frame.readings.clear();
        if self.cast.is_guided {
            frame.readings.extend(model.joints().map(|joint| world.reading(joint)));
        }
        let nodes = if wishes.nodes { &world.state().flesh.nodes[..] } else { &[] };
        frame.nodes.resize_with(nodes.len(), Vec::new);
        frame.nodes.iter_mut().zip(nodes).for_each(|(to, from)| to.clone_from(&from.positions));
        frame.joint_forces.clear();
        if wishes.joint_forces {
            frame.joint_forces = joint_forces(world.model(), world.state());
        }
        frame.limits.clear();
        if wishes.limits {
            frame.limits.extend((0..self.cast.joints.len()).filter_map(|joint| self.gizmo(joint)));
        }
        frame.pins.clear();
        frame.pins.extend(self.pins().map(|grab| grab.target));
        frame.report = self.report;
        frame.sample = self.sample;
        frame.stages.clone_from(&self.stages);
        frame.bytes = self.timeline.bytes();
        frame.digest = if wishes.digest { world.digest() } else { 0 };
    }

    /// The range of a joint that turns, if it has one.
    fn gizmo(&self, joint: usize) -> Option<Gizmo> {
        let card = self.cast.joints.get(joint).filter(|card| !card.is_slide)?;
        let base = card.base.0.map_or(Pose::IDENTITY, |body| self.world.pose(body));
        let angle = self.world.reading(JointId::from_index(joint)).twist;
        Some(Gizmo { frame: base.compose(&card.base.1), range: card.limits?, angle })
    }

    /// Measures the present moment; the last step took so long.
    pub(crate) fn measure(&mut self, milliseconds: f64) {
        let world = &self.world;
        let (energy, momentum, violation) = (world.energy(), world.momentum(), world.violation());
        let n_tets: usize = self.cast.flesh.iter().map(|flesh| flesh.n_tets).sum();
        let (loops, flesh) = (&self.report.mechanism.loops, &self.report.flesh);
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
                flesh.elements.n_diagonalized as f64 / n_tets.max(1) as f64,
                (flesh.contacts.n_stick + flesh.contacts.n_slip) as f64,
            ],
            milliseconds,
        };
    }

    /// Coordinate of a joint, its rate, and the force of springs, stops and motors along it.
    fn read(&self, joint: usize) -> [f64; 3] {
        let (id, world) = (JointId::from_index(joint), &self.world);
        let (card, reading) = (&self.cast.joints[joint], world.reading(id));
        let (coordinate, value) = match () {
            () if card.is_slide => (DriveCoordinate::Slide, [reading.slide, reading.slide_rate]),
            () if card.cone.is_some() || card.kind == JointKind::Ball => {
                return [reading.rotation.length(), reading.angular_rate.length(), f64::NAN];
            }
            () => (DriveCoordinate::Twist, [reading.twist, reading.twist_rate]),
        };
        let force = world.model().scalar_response(id, coordinate, value, world.input(), 0.0).torque;
        [value[0], value[1], force]
    }
}
