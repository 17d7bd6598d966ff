//! Momentum and centre of mass of floating trees over a step.
//!
//! Nothing but gravity and external wrenches changes the momentum of a tree that floats, whatever its joints do. Its momentum and its
//! centre of mass at the end of a step are therefore known before the motion is, as sums over the stages of the step with
//! weights `w` and times `c`:
//! ```text
//! P⁺ = P + Σ w h F,     x_c⁺ = x_c + Σ w h (p + c h f)/m         (f: of the stage before; p, f: linear parts of P, F)
//! ```
//! Integrators keep them to their order. What they leave is given to the base, which moves the whole tree, while joint coordinates
//! and joint rates stay:
//! ```text
//! x_base += x_c⁺ − x_c(q⁺),     v_base += (SᵀI^c S)⁻¹ Sᵀ (P⁺ − P(q⁺, v⁺))
//! ```
//! `I^c`: the tree as one rigid body, `S`: columns of the base, both at the end. Trees whose base is prescribed or pushed by a command
//! are left alone. World axes, `P` and `F` about the centre of mass (kg·m²/s, kg·m/s). Cost: three passes over the links of floating
//! trees. Nothing fails; a tree with numbers that are not finite is left alone.

use std::ops::Range;

use glam::{DMat3, DVec3};
use sinew_math::{Block, Force, Motion, Pose, SpatialInertia, quat_to_mat3, shift_force};

use crate::command::{HybridCommand, JointMode};
use crate::{dynamics::Dynamics, joint_space::quaternion, state::TreeState, tree::Tree};

/// What the momenta and centres of mass of the floating trees will be at the end of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct BaseMomenta {
    trees: Vec<BaseMomentum>,
}

#[derive(Clone, Debug)]
struct BaseMomentum {
    links: Range<usize>,
    /// Whether the base is prescribed or pushed.
    is_commanded: bool,
    mass: f64,
    /// Centre of mass at the end, m.
    centre: DVec3,
    /// At the start.
    start: Force,
    /// Force of the last stage, N.
    force: DVec3,
    /// At the end.
    momentum: Force,
}

impl BaseMomenta {
    pub(crate) fn new(tree: &Tree) -> Self {
        Self { trees: tree.floating().map(BaseMomentum::new).collect() }
    }

    /// Leaves trees alone that something else than forces holds.
    pub(crate) fn retain(&mut self, is_free: impl Fn(&Range<usize>) -> bool) {
        self.trees.retain(|base| is_free(&base.links));
    }

    /// Takes the momenta of a state; its kinematics are in `dynamics`.
    pub(crate) fn start(&mut self, tree: &Tree, dynamics: &Dynamics, command: &HybridCommand) {
        for base in &mut self.trees {
            let root = base.links.start;
            let pushes = &command.values[tree.links[root].dofs()];
            base.is_commanded =
                command.modes[root] != JointMode::Passive || pushes.iter().any(|push| *push != 0.0);
            let whole = base.as_one_body(dynamics);
            (base.mass, base.centre) = (whole.mass, base.centre_of(dynamics, &whole));
            base.momentum = base.momentum_about(dynamics, base.centre);
            (base.start, base.force) = (base.momentum, DVec3::ZERO);
        }
    }

    /// Adds what gravity and wrenches on links do in the time `h` at the pose of `dynamics`.
    pub(crate) fn push(
        &mut self,
        tree: &Tree,
        dynamics: &Dynamics,
        h: f64,
        gravity: DVec3,
        external: &[Force],
    ) {
        for base in self.trees.iter_mut().filter(|base| !base.is_commanded) {
            let mut sum = Force::ZERO;
            let centre = base.centre_of(dynamics, &base.as_one_body(dynamics));
            for k in base.links.clone() {
                let here = &dynamics.motions[k];
                let mut wrench = here.inertia.mul(Motion::new(DVec3::ZERO, gravity));
                if let Some(own) = external.get(k) {
                    wrench += shift_force(*own, here.rotation * tree.links[k].central.translation);
                }
                sum += shift_force(wrench, here.origin - centre);
            }
            base.force = sum.linear;
            base.momentum += sum * h;
        }
    }

    /// Moves the centres of mass for the time `h`, under the force of the last push for the time `lead` before.
    pub(crate) fn fly(&mut self, h: f64, lead: f64) {
        for base in &mut self.trees {
            base.centre += (base.start.linear + base.force * lead) * (h / base.mass);
        }
    }

    /// What gravity and wrenches gave the floating trees since the start, about their centres of mass, and their links; nothing is
    /// told of trees whose base is prescribed or pushed.
    pub(crate) fn impulses(&self) -> impl Iterator<Item = (Range<usize>, Option<Force>)> + '_ {
        let given = |base: &BaseMomentum| (!base.is_commanded).then(|| base.momentum - base.start);
        self.trees.iter().map(move |base| (base.links.clone(), given(base)))
    }

    /// Gives the bases what is missing in the state at the end of a step; its kinematics are in `dynamics`.
    pub(crate) fn complete(&self, tree: &Tree, dynamics: &Dynamics, state: &mut TreeState) {
        for base in self.trees.iter().filter(|base| !base.is_commanded) {
            base.complete(tree, dynamics, state);
        }
    }
}

impl BaseMomentum {
    fn new(links: Range<usize>) -> Self {
        let (centre, force, start) = (DVec3::ZERO, DVec3::ZERO, Force::ZERO);
        Self { links, is_commanded: false, mass: 0.0, centre, start, force, momentum: start }
    }

    fn complete(&self, tree: &Tree, dynamics: &Dynamics, state: &mut TreeState) {
        let link = &tree.links[self.links.start];
        let (place, dofs) = (dynamics.motions[self.links.start].origin, link.dofs());
        let whole = self.as_one_body(dynamics);
        let centre = self.centre_of(dynamics, &whole);
        let missing = shift_force(self.momentum - self.momentum_about(dynamics, centre), centre - place);
        let Some(change) = rates_of(missing, &whole, &dynamics.columns[dofs.clone()]) else { return };
        let shift = self.centre - centre;
        if !(shift.is_finite() && change.iter().all(|x| x.is_finite())) {
            return;
        }
        state.rates[dofs].iter_mut().zip(change).for_each(|(rate, change)| *rate += change);
        let q = &mut state.coordinates[link.coordinates()];
        let outward = if link.reversed { -quat_to_mat3(quaternion(q)) } else { DMat3::IDENTITY };
        let shift = outward * (link.base_rotation.transpose() * shift);
        for m in 0..3 {
            q[4 + m] += shift[m];
        }
    }

    fn momentum_about(&self, dynamics: &Dynamics, point: DVec3) -> Force {
        let links = dynamics.motions[self.links.clone()].iter();
        links.fold(Force::ZERO, |sum, here| {
            sum + shift_force(here.inertia.mul(here.velocity), here.origin - point)
        })
    }

    /// All links as one rigid body, about the place of the base.
    fn as_one_body(&self, dynamics: &Dynamics) -> SpatialInertia {
        let links = &dynamics.motions[self.links.clone()];
        let mut sum = SpatialInertia::ZERO;
        for here in links {
            sum += here.inertia.transformed_by(Pose::from_translation(here.origin - links[0].origin));
        }
        sum
    }

    fn centre_of(&self, dynamics: &Dynamics, whole: &SpatialInertia) -> DVec3 {
        dynamics.motions[self.links.start].origin + whole.first_moment / whole.mass
    }
}

/// Rates of a base with these columns that give a body this momentum; `None` if there are none.
fn rates_of(momentum: Force, body: &SpatialInertia, columns: &[Motion]) -> Option<[f64; 6]> {
    let mut matrix = Block::<6, 6>::ZERO;
    for i in 0..6 {
        let reach = body.mul(columns[i]);
        (0..6).for_each(|j| matrix[(i, j)] = columns[j].dot(reach));
    }
    Some(matrix.cholesky().ok()?.solve(std::array::from_fn(|m| columns[m].dot(momentum))))
}
