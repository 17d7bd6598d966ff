//! Carriers: bodies with fixed nodes that are unknowns of the solve; part of the preconditioner's coarse level.

use glam::DVec3;
use sinew_math::{Force, Motion, Pose};
use sinew_solvers::{NodeRole, TwoLevel};

use crate::body::{FREE, FleshBody};
use crate::model::NO_SLOT;

/// The carriers of one body of flesh.
#[derive(Clone, Debug)]
pub(crate) struct Carriers {
    /// Slot of each among the bodies that are solved for.
    pub(crate) slots: Vec<u32>,
    /// Body of each.
    bodies: Vec<usize>,
    /// Centre of mass of each, m.
    pub(crate) centres: Vec<DVec3>,
    impulses: Vec<Force>,
    twists: Vec<Motion>,
}

impl Carriers {
    /// The carriers of a body of flesh and the role of each of its nodes; `slots` are those of all bodies.
    pub(crate) fn new(body: &FleshBody, slots: &[u32]) -> (Self, Vec<NodeRole>) {
        let has_nodes = |bone: &usize| body.bone_of.contains(&(*bone as u32));
        let is_solved = |bone: &usize| slots[body.bones[*bone]] != NO_SLOT;
        let bones: Vec<usize> = (0..body.bones.len()).filter(has_nodes).filter(is_solved).collect();
        let role = |&bone: &u32| match bones.binary_search(&(bone as usize)) {
            _ if bone == FREE => NodeRole::Free,
            Ok(carrier) => NodeRole::Carried(carrier as u32),
            Err(_) => NodeRole::Fixed,
        };
        let roles = body.bone_of.iter().map(role).collect();
        let bodies: Vec<usize> = bones.iter().map(|&bone| body.bones[bone]).collect();
        let carriers = Self {
            slots: bodies.iter().map(|&body| slots[body]).collect(),
            centres: vec![DVec3::ZERO; bodies.len()],
            bodies,
            impulses: Vec::new(),
            twists: Vec::new(),
        };
        (carriers, roles)
    }

    /// Takes over the poses of the bodies.
    pub(crate) fn place(&mut self, poses: &[Pose]) {
        for (centre, &body) in self.centres.iter_mut().zip(&self.bodies) {
            *centre = poses[body].translation;
        }
    }

    /// First half of a preconditioning: reduces the impulses on the carriers by the response of the nodes.
    pub(crate) fn restrict(&mut self, preconditioner: &mut TwoLevel, r: &[f64], impulses: &mut [Force]) {
        self.impulses.clear();
        self.impulses.extend(self.slots.iter().map(|&slot| impulses[slot as usize]));
        preconditioner.restrict(r, &mut self.impulses);
        self.slots.iter().zip(&self.impulses).for_each(|(&slot, impulse)| impulses[slot as usize] = *impulse);
    }

    /// Second half: the velocities of the nodes for given twists of the bodies.
    pub(crate) fn prolong(
        &mut self,
        preconditioner: &mut TwoLevel,
        r: &[f64],
        twists: &[Motion],
        z: &mut [f64],
    ) {
        self.twists.clear();
        self.twists.extend(self.slots.iter().map(|&slot| twists[slot as usize]));
        preconditioner.prolong(r, &self.twists, z);
    }
}
