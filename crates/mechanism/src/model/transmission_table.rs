//! The ropes and gears of a model: names, bodies, and the places of their multipliers among those of the loops.

use std::iter::repeat_n;

use glam::DVec3;
use sinew_topology::NONE;

use crate::model::{LoopModel, Model, Quantity, TransmissionId, TransmissionModel};

impl Model {
    /// Number of ropes and gears.
    pub fn n_transmissions(&self) -> usize {
        self.springs.transmissions.len()
    }

    /// All ropes and gears.
    pub fn transmissions(&self) -> impl ExactSizeIterator<Item = TransmissionId> + use<> {
        (0..self.n_transmissions()).map(TransmissionId::from_index)
    }

    /// The rope or gear called `name`.
    pub fn transmission(&self, name: &str) -> Option<TransmissionId> {
        self.names.transmissions.find(name).map(TransmissionId::from_index)
    }

    /// Name of a rope or gear; empty if it has none.
    pub fn transmission_name(&self, transmission: TransmissionId) -> &str {
        self.names.transmissions.get(transmission.index())
    }

    /// The bodies of a transmission, one after the other; the world among them.
    pub(crate) fn transmission_bodies(&self, transmission: &TransmissionModel) -> Vec<u32> {
        let joint_bodies = |joint: u32| {
            let joint = &self.joints[joint as usize];
            [joint.body1, joint.body2]
        };
        transmission.quantity.bodies(joint_bodies)
    }

    /// Ports that transmissions act on.
    pub(crate) fn transmission_ports(&self) -> impl Iterator<Item = u32> + '_ {
        self.springs
            .transmissions
            .iter()
            .flat_map(|t| self.transmission_bodies(t))
            .map(|body| self.port(body))
    }

    /// Multipliers of all transmissions: one each, then two for every free segment.
    pub(crate) fn n_transmission_rows(&self) -> usize {
        let segments = self.springs.transmissions.iter().map(|t| self.free_segments(t).count());
        self.n_transmissions() + 2 * segments.sum::<usize>()
    }

    /// The segments of a rope between two different bodies that forces move, by their first points.
    pub(crate) fn free_segments<'a>(
        &'a self,
        rope: &'a TransmissionModel,
    ) -> impl Iterator<Item = usize> + 'a {
        let points: &[(u32, DVec3)] = match &rope.quantity {
            Quantity::Path(points) => points,
            Quantity::Joints(_) => &[],
        };
        let is_free = |pair: &[(u32, DVec3)]| {
            pair[0].0 != pair[1].0 && pair.iter().all(|&(body, _)| self.port(body) != NONE)
        };
        (0..points.len().saturating_sub(1)).filter(move |&i| is_free(&points[i..i + 2]))
    }

    /// A body of every multiplier of the loops, in their order: one that forces move, unless there is none.
    pub(crate) fn multiplier_bodies(&self) -> impl Iterator<Item = u32> + '_ {
        let moved = |bodies: [u32; 2]| bodies[usize::from(self.port(bodies[0]) == NONE)];
        let of_loop = move |looped: &LoopModel| {
            let joint = &self.joints[looped.joint as usize];
            repeat_n(moved([joint.body1, joint.body2]), self.loop_multipliers(looped))
        };
        let springs = self.springs.in_loops.iter();
        let ropes = self.springs.transmissions.iter().zip(&self.derived.rope_bodies);
        let segments = ropes.flat_map(|(rope, &body)| repeat_n(body, 2 * self.free_segments(rope).count()));
        let primary = self.loops.iter().filter(|looped| looped.is_primary).flat_map(of_loop);
        primary
            .chain(springs.flat_map(move |s| repeat_n(moved([s.spring.body1, s.spring.body2]), 3)))
            .chain(self.derived.rope_bodies.iter().copied())
            .chain(segments)
            .chain(self.loops.iter().filter(|looped| !looped.is_primary).flat_map(of_loop))
    }

    /// First of the multipliers of transmissions.
    pub(crate) fn first_transmission_row(&self) -> usize {
        let primary = self.loops.iter().filter(|l| l.is_primary);
        primary.map(|l| self.loop_multipliers(l)).sum::<usize>() + 3 * self.springs.in_loops.len()
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use sinew_math::{MassProperties, Pose};

    use super::*;
    use crate::{BodyId, BodySpec, JointFrames, JointKind, JointSpec, MechanismBuilder, RopeSpec};

    /// Three bodies that float, one that stands still, two ropes and a joint that closes a loop.
    fn machine() -> Model {
        let mut builder = MechanismBuilder::new();
        let mass = MassProperties::cuboid(DVec3::ONE, 1.0);
        let place = |x: f64| Pose::from_translation(DVec3::X * x);
        let [a, b, c] = [1.0, 2.0, 3.0].map(|x| builder.add_body(BodySpec::dynamic("", place(x), mass)));
        let still = builder.add_body(BodySpec::fixed("", place(4.0)));
        let through = |bodies: &[Option<BodyId>]| bodies.iter().map(|&body| (body, DVec3::Y)).collect();
        // Free are the segments from a to b, from b to c and from c to a only.
        let long = through(&[None, Some(a), Some(a), Some(b), Some(still), Some(b), Some(c), Some(a), None]);
        builder.add_transmission(RopeSpec::new("long", long));
        builder.add_transmission(RopeSpec::new("short", through(&[Some(still), Some(c)])));
        let joint = |body: BodyId, parent: Option<BodyId>, [x1, x2]: [f64; 2]| {
            let frames = JointFrames {
                rotation1: glam::DQuat::IDENTITY,
                point1: DVec3::X * x1,
                rotation2: glam::DQuat::IDENTITY,
                point2: DVec3::X * x2,
            };
            JointSpec::new("", JointKind::Ball, body, parent, frames)
        };
        builder.add_joint(joint(b, Some(a), [-0.5, 0.5]));
        builder.add_joint(joint(c, Some(b), [-0.5, 0.5]));
        // One of these is in the tree, the other closes a loop.
        builder.add_joint(joint(c, None, [-1.0, 2.0]));
        builder.add_joint(joint(c, None, [1.0, 4.0]));
        builder.build().expect("a machine")
    }

    #[test]
    fn free_segments_are_those_between_two_bodies_that_move() {
        let model = machine();
        let [long, short] = &model.springs.transmissions[..] else { panic!("two ropes") };
        assert_eq!(model.free_segments(long).collect::<Vec<_>>(), [2, 5, 6]);
        assert_eq!(model.free_segments(short).count(), 0);
        assert_eq!(model.n_transmission_rows(), 2 + 2 * 3);
        assert_eq!(model.n_loop_multipliers(), 3 + 2 + 6);
        assert_eq!(model.first_transmission_row(), 3);
    }

    #[test]
    fn every_multiplier_has_a_body_that_moves() {
        let model = machine();
        let bodies: Vec<u32> = model.multiplier_bodies().collect();
        assert_eq!(bodies.len(), model.n_loop_multipliers());
        assert!(bodies.iter().all(|&body| model.port(body) != NONE), "{bodies:?}");
        // The short rope moves c alone.
        let short = bodies[model.first_transmission_row() + 1];
        assert_eq!(model.transmission_bodies(&model.springs.transmissions[1])[1], short);
    }
}
