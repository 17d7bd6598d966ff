//! When bodies fall asleep, and which of them do. Plain data, SI, world axes.

use glam::DVec3;
use sinew_contact::ContactPoint;
use sinew_flesh::AWAKE;
use sinew_math::Pose;
use sinew_mechanism::BodyId;

/// When bodies fall asleep.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Sleep {
    /// How far a body may go and still be at rest, m.
    pub distance: f64,
    /// How long it must rest, s.
    pub after: f64,
}

impl Default for Sleep {
    /// 1 mm within half a second.
    fn default() -> Self {
        Self { distance: 1e-3, after: 0.5 }
    }
}

/// Which bodies sleep, and since when the others rest; empty where nothing may sleep.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SleepState {
    /// Per body: the first body of the group that it sleeps with, or `u32::MAX` if it is awake.
    pub groups: Vec<u32>,
    /// Per body: where it rests (pose of its central frame in the world), and since when, s.
    pub places: Vec<(Pose, f64)>,
    /// Gravity in the last step, world axes, m/s².
    pub gravity: DVec3,
    /// When that began, s.
    pub begun: f64,
    /// Contacts of bodies that sleep, as they were when these fell asleep, and their forces on the first side, world axes, N. They change
    /// no motion.
    pub contacts: Vec<(ContactPoint, DVec3)>,
}

impl SleepState {
    /// Whether a body sleeps.
    pub fn is_asleep(&self, body: BodyId) -> bool {
        self.groups.get(body.index()).is_some_and(|&group| group != AWAKE)
    }

    /// Number of bodies that sleep.
    pub fn n_asleep(&self) -> usize {
        self.groups.iter().filter(|&&group| group != AWAKE).count()
    }

    /// Wakes all bodies.
    pub fn wake_all(&mut self) {
        self.groups.clear();
        self.contacts.clear();
    }

    /// Wakes the group of a body, and those that touch the body.
    pub fn disturb(&mut self, body: BodyId) {
        for group in self.disturbed_by(body.index()) {
            self.wake(group);
        }
    }

    /// The groups that wake if a body is disturbed: its own, and those that touch it.
    pub(crate) fn disturbed_by(&self, body: usize) -> Vec<u32> {
        let mut groups = self.carried_by(body);
        groups.extend(self.groups.get(body).filter(|&&group| group != AWAKE));
        groups
    }

    /// Wakes a group: it has to rest as long again.
    pub(crate) fn wake(&mut self, group: u32) {
        let bodies = self.groups.iter_mut().zip(&mut self.places);
        for (other, place) in bodies.filter(|(other, _)| **other == group) {
            (*other, place.1) = (AWAKE, self.begun);
        }
    }

    /// Wakes the groups that touch a body.
    pub(crate) fn wake_carried_by(&mut self, carrying: usize) {
        for group in self.carried_by(carrying) {
            self.wake(group);
        }
    }

    /// The groups that touch a body.
    fn carried_by(&self, carrying: usize) -> Vec<u32> {
        let touching = self.contacts.iter().map(|(point, _)| point.bodies());
        let touching = touching.filter(|bodies| bodies.contains(&Some(carrying)));
        let groups = touching.flatten().flatten().filter_map(|body| self.groups.get(body).copied());
        groups.filter(|&group| group != AWAKE).collect()
    }
}
