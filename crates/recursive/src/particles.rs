//! Particles: point masses on springs and dampers, as leaves of the tree (KP08 Table 5).
//!
//! In the axes of the bone's central frame; `p = p⁰ + q` is the position from its origin, `(w, v)` the twist of the
//! bone at the origin, and `(ẇ, v̇)` the gravity-augmented rate of that twist:
//! ```text
//! velocity        v_λ + w×p + q̇
//! on the bone     −(p×τ, τ)
//! acceleration    q̈ = (τ + f)/m − w×(v_i + q̇) − v̇ − ẇ×p
//! ```
//! `τ` is the force between bone and particle (a damper `−c q̇`). `f` is any other force on the particle (elastic,
//! contact), without gravity, which is part of `v̇`. A free particle has `Π = 0`: it adds no inertia to the bone, and
//! `f` does not act on the bone. Nodes fixed to a bone are not particles; use [`Tree::add_mass`]. SI units. Constant
//! cost per particle; nothing fails.

use glam::DVec3;
use sinew_math::{Force, Motion, shift_motion};

use crate::dynamics::Dynamics;
use crate::tree::{LinkId, Tree};

/// A point mass that moves relative to a bone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Particle {
    /// The bone.
    pub link: LinkId,
    /// kg, above 0.
    pub mass: f64,
    /// Rest position `p⁰` in the central frame of the bone's body, m.
    pub rest: DVec3,
}

/// Where a particle is relative to its rest position and how it moves, in central axes of the bone.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ParticleState {
    /// `q`, m.
    pub displacement: DVec3,
    /// `q̇`, m/s.
    pub rate: DVec3,
}

/// Motion of a bone: twist and gravity-augmented rate at the origin and in the axes of its central frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParticleBone {
    /// `(w, v)`, rad/s and m/s.
    pub velocity: Motion,
    /// `(ẇ, v̇)`, rad/s² and m/s².
    pub rate: Motion,
}

impl ParticleBone {
    /// Motion of the bone of a link, after [`Dynamics::hybrid`].
    pub fn new(tree: &Tree, dynamics: &Dynamics, link: LinkId) -> Self {
        let here = &dynamics.motions[link.index()];
        let central = &tree.links[link.index()].central;
        let arm = here.rotation * central.translation;
        let to_bone = |m: Motion| {
            let at_origin = shift_motion(m, arm);
            let back = here.rotation.transpose();
            let inward = central.rotation.conjugate();
            Motion::new(inward * (back * at_origin.angular), inward * (back * at_origin.linear))
        };
        Self { velocity: to_bone(here.velocity), rate: to_bone(dynamics.accelerated[link.index()]) }
    }
}

impl Particle {
    /// Velocity in central axes, m/s.
    pub fn velocity(&self, bone: &ParticleBone, state: &ParticleState) -> DVec3 {
        let p = self.rest + state.displacement;
        bone.velocity.linear + bone.velocity.angular.cross(p) + state.rate
    }

    /// Wrench of the force `tie` (between bone and particle, central axes, N) on the bone, in central axes at the
    /// origin of the central frame.
    pub fn reaction(&self, state: &ParticleState, tie: DVec3) -> Force {
        let p = self.rest + state.displacement;
        -Force::new(p.cross(tie), tie)
    }

    /// `q̈` under the forces `tie` (from the bone) and `other` (gravity excluded), central axes, N.
    pub fn acceleration(
        &self,
        bone: &ParticleBone,
        state: &ParticleState,
        tie: DVec3,
        other: DVec3,
    ) -> DVec3 {
        let p = self.rest + state.displacement;
        let turning = bone.velocity.angular.cross(self.velocity(bone, state) + state.rate);
        (tie + other) / self.mass - turning - bone.rate.linear - bone.rate.angular.cross(p)
    }
}

/// Adds the reactions of particles on their bones to the external wrenches of [`Dynamics::hybrid`] (world axes at
/// central frames, one per link). Call after [`Dynamics::kinematics`]. `ties` are in central axes, one per particle.
pub fn add_reactions(
    tree: &Tree,
    dynamics: &Dynamics,
    particles: &[Particle],
    states: &[ParticleState],
    ties: &[DVec3],
    external: &mut [Force],
) {
    for ((particle, state), tie) in particles.iter().zip(states).zip(ties) {
        let link = particle.link.index();
        let wrench = particle.reaction(state, *tie);
        let turn = |v: DVec3| dynamics.motions[link].rotation * (tree.links[link].central.rotation * v);
        external[link] += Force::new(turn(wrench.angular), turn(wrench.linear));
    }
}
