//! Which degrees of freedom follow from the others where loops close: elimination with the largest pivots.
//!
//! An actuator holds its rate. In a loop, rates of some joints follow from those of others: if all were held, rounding would pull the loop apart. With `J` the rows of
//! the loops, `J q̇ = 0` is solved for as many rates as `J` has rank: joints without an actuator first, then those that it is solved for best. Cost: rows² × dofs.
//! Nothing allocates once warm, nothing fails.

use sinew_recursive::{Dynamics, LoopDynamics, LoopedTree};

/// Share of a row below which what is left of it counts as rounding.
const ROUNDING: f64 = 1e-4;

/// Share of the longest row below which a whole row counts as rounding. Rows in metres of mechanisms of a micrometre are a millionth of those in radians.
const NOTHING: f64 = 1e-12;

/// Buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct Following {
    rows: Vec<f64>,
    is_used: Vec<bool>,
    follows: Vec<bool>,
}

impl Following {
    /// Whether the rate of a degree of freedom follows from others.
    pub(super) fn follows(&self, dof: usize) -> bool {
        self.follows.get(dof).copied().unwrap_or(false)
    }

    /// Chooses, at the last kinematics of `dynamics`. `is_active` marks the degrees of freedom with an actuator.
    pub(super) fn choose(
        &mut self,
        looped: &LoopedTree,
        dynamics: &Dynamics,
        loops: &mut LoopDynamics,
        is_active: impl Fn(usize) -> bool,
    ) {
        let (n, m) = (looped.tree().n_dofs(), looped.n_rows());
        self.rows.resize(n * m, 0.0);
        self.follows.clear();
        self.follows.resize(if m > 0 { n } else { 0 }, false);
        self.is_used.clear();
        self.is_used.resize(m, false);
        if m == 0 {
            return;
        }
        loops.kinematics(looped, dynamics);
        loops.fill_jacobian(looped, dynamics, &mut self.rows);
        let length = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>().sqrt();
        let longest = self.rows.chunks_exact(n).map(length).fold(f64::MIN_POSITIVE, f64::max);
        for row in self.rows.chunks_exact_mut(n) {
            // Rows that hold whatever the rates are, such as those across the plane of a linkage, are rounding.
            let length = length(row);
            let scale = if length > NOTHING * longest { 1.0 / length } else { 0.0 };
            row.iter_mut().for_each(|x| *x *= scale);
        }
        for active in [false, true] {
            while let Some((row, dof)) = self.largest(n, |dof| is_active(dof) == active) {
                self.eliminate(n, row, dof);
            }
        }
    }

    /// The largest entry that is left of some columns, if it is more than rounding.
    fn largest(&self, n: usize, is_of: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
        let (mut most, mut place) = (ROUNDING, None);
        for (row, entries) in self.rows.chunks_exact(n).enumerate().filter(|(row, _)| !self.is_used[*row]) {
            for (dof, entry) in entries.iter().enumerate().filter(|(dof, _)| is_of(*dof)) {
                if entry.abs() > most {
                    (most, place) = (entry.abs(), Some((row, dof)));
                }
            }
        }
        place
    }

    /// Solves a row for a degree of freedom, and takes it out of the others.
    fn eliminate(&mut self, n: usize, row: usize, dof: usize) {
        (self.is_used[row], self.follows[dof]) = (true, true);
        for other in (0..self.is_used.len()).filter(|other| !self.is_used[*other]) {
            let share = self.rows[other * n + dof] / self.rows[row * n + dof];
            for k in 0..n {
                self.rows[other * n + k] -= share * self.rows[row * n + k];
            }
            self.rows[other * n + dof] = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use sinew_math::{MassProperties, Pose};
    use sinew_mechanism::{BodySpec, JointFrames, JointKind, JointSpec, MechanismBuilder, rotation_to_axis};
    use sinew_recursive::{Dynamics, LoopDynamics, LoopedTree, TreeState};

    use super::Following;

    #[test]
    fn a_four_bar_linkage_has_one_rate_of_its_own_at_an_actuator_if_there_is_one() {
        let y = rotation_to_axis(DVec3::Y).expect("not zero");
        let mut builder = MechanismBuilder::new();
        let points = [[0.0, 0.0], [0.3, 0.8], [1.4, 1.1], [1.6, 0.1]].map(|[x, z]| DVec3::new(x, 0.0, z));
        let mut above = None;
        for (k, at) in points.iter().enumerate() {
            let body = above.filter(|_| k == 3).unwrap_or_else(|| {
                let pose = Pose::from_translation((*at + points[k + 1]) * 0.5);
                builder.add_body(BodySpec::dynamic("", pose, MassProperties::cuboid(DVec3::ONE, 1.0)))
            });
            let parent = above.filter(|_| k < 3);
            let other = parent.map_or(Pose::IDENTITY, |parent| builder.body_pose(parent));
            let frames = JointFrames::coincident(&builder.body_pose(body), &other, &Pose::new(y, *at));
            builder.add_joint(JointSpec::new("", JointKind::Hinge, body, parent, frames));
            above = Some(body);
        }
        let model = builder.build().expect("a linkage");
        let looped = LoopedTree::from_model(&model).expect("a tree with loops");
        let (mut dynamics, mut loops) = (Dynamics::new(looped.tree()), LoopDynamics::new(&looped));
        dynamics.kinematics(looped.tree(), &TreeState::from_mechanism(looped.tree(), &model.initial_state()));
        let mut following = Following::default();
        for motor in 0..3 {
            following.choose(&looped, &dynamics, &mut loops, |dof| dof == motor);
            let own: Vec<usize> = (0..3).filter(|dof| !following.follows(*dof)).collect();
            assert_eq!(own, [motor]);
        }
        following.choose(&looped, &dynamics, &mut loops, |_| true);
        assert_eq!((0..3).filter(|dof| !following.follows(*dof)).count(), 1);
    }
}
