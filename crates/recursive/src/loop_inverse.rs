//! Inverse dynamics with closed loops: the least torques at actuated joints that give accelerations.
//!
//! `t = (M + D) q̈ + bias` of the open tree is shared between the loops and the actuated joints (`loop_torques`). Cost: that of inverse dynamics, rows² × dofs, and
//! the cube of the rows. Nothing allocates, nothing fails.

use crate::command::TreeLoads;
use crate::dynamics::Dynamics;
use crate::loop_dynamics::{LoopDynamics, each_entry};
use crate::loop_response::at_best;
use crate::looped_tree::LoopedTree;

impl LoopDynamics {
    /// Inverse dynamics with closed loops at the state of the last [`Dynamics::kinematics`]: [`Self::torques`] at the dofs that are actuated
    /// that give these accelerations, with the least sum of squares; [`Self::multipliers`] are those of the loops. Returns the largest torque that is
    /// lacking at the other dofs: more than rounding if the actuated ones cannot do it.
    ///
    /// # Panics
    /// If an argument belongs to another tree.
    pub fn inverse(
        &mut self,
        looped: &LoopedTree,
        dynamics: &mut Dynamics,
        accelerations: &[f64],
        actuated: &[bool],
        loads: &TreeLoads<'_>,
    ) -> f64 {
        let (tree, TreeLoads { gravity, external, resistance, torques }) = (looped.tree(), *loads);
        assert_eq!(actuated.len(), tree.n_dofs(), "there must be one mark per dof");
        self.kinematics(looped, dynamics);
        self.multipliers.fill(0.0);
        let work = &mut self.inverse;
        dynamics.fill_inverse(tree, accelerations, gravity, external, &mut work.torques);
        for ((torque, d), q) in work.torques.iter_mut().zip(resistance).zip(accelerations) {
            *torque += d * q;
        }
        let given = work.torques.iter_mut().zip(torques).zip(actuated);
        given.filter(|(_, is)| !**is).for_each(|((torque, given), _)| *torque -= given);
        if looped.n_rows() > 0 {
            work.clear();
            each_entry(looped, dynamics, &self.rows, |row, dof, column, (wrench, lever)| {
                let best = 2.0 * at_best(column, wrench, lever);
                work.set((row, dof), column.dot(wrench), best);
            });
            work.scale_rows();
            work.unload(actuated, false);
            work.add_multipliers(&mut self.multipliers);
            work.free_rows();
            work.unload(actuated, true);
            // z is made of rows N J, so N z = z
            work.add_multipliers(&mut self.multipliers);
        }
        let mut lacking = 0.0f64;
        for (torque, _) in work.torques.iter_mut().zip(actuated).filter(|(_, is)| !**is) {
            lacking = if torque.is_nan() { f64::INFINITY } else { lacking.max(torque.abs()) };
            *torque = 0.0;
        }
        lacking
    }

    /// Torques of the last [`Self::inverse`], per dof (N·m, N); zero where nothing is actuated.
    pub fn torques(&self) -> &[f64] {
        &self.inverse.torques
    }
}
