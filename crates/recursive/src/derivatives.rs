//! Derivatives of accelerations and torques with respect to commands (KP08 Table 6), by column or by row.
//!
//! A command value is the torque of a passive joint or the acceleration of a prescribed one. With `S, U, Ψ` of the last
//! sweep:
//! ```text
//! one pass per command, e its unit vector:
//!   backward: ∂B = Σ Xᵀ∂β;   passive ∂β = ∂B + UΨ(e − Sᵀ∂B)      prescribed ∂β = ∂B + U e
//!   forward:  passive ∂q̈ = Ψ(e − UᵀX∂V̇_p − Sᵀ∂B)               prescribed ∂q̈ = e
//!             ∂V̇ = X∂V̇_p + S∂q̈;   prescribed ∂τ = Uᵀ∂V̇ + Sᵀ∂B
//! the transpose, one pass per row y = Σ G·∂V̇, for all commands z at once:
//!   backward: λ = G + Σ Xᵀλ';  passive g = ΨSᵀλ, λ' = λ − U g     prescribed g = Sᵀλ, λ' = λ
//!   forward:  ν = X μ_p;       passive z = g + ΨUᵀν, μ = ν − S z   prescribed z = g + Uᵀν, μ = ν
//! ```
//! A row on a prescribed torque `τ = UᵀV̇ + SᵀB` starts from `λ = U, μ = S`; one on a passive acceleration from
//! `g = Ψ`. By the transpose, the response of the joints to a unit wrench is the row of the Jacobian for that wrench.
//! World axes. Cost: linear in links; the backward part visits only one path to the root. Nothing fails.

use glam::DVec3;
use sinew_math::{Force, Motion, shift_force, shift_motion};
use sinew_topology::NONE;

use crate::tree::{LinkId, Tree, TreeLink};
use crate::{command::JointMode, dynamics::Dynamics};

/// A scalar to differentiate with respect to all commands.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum DerivativeRow {
    /// `angular·ω̇ + linear·a`: acceleration of a link at a world point, world axes.
    Point {
        /// The link.
        link: LinkId,
        /// World position of the point, m.
        point: DVec3,
        /// Weights of the angular acceleration.
        angular: DVec3,
        /// Weights of the acceleration of the point.
        linear: DVec3,
    },
    /// The acceleration of one dof.
    Acceleration(usize),
    /// The torque of one dof.
    Torque(usize),
}

/// Buffers and results of derivative passes over one tree.
#[derive(Clone, Debug)]
pub struct Derivatives {
    /// `∂B`, or `λ`.
    forces: Vec<Force>,
    /// `∂V̇`, or `μ`.
    motions: Vec<Motion>,
    /// `∂q̈`, or `z`.
    accelerations: Vec<f64>,
    torques: Vec<f64>,
    gradient: Vec<f64>,
}

impl Derivatives {
    /// Buffers for a tree.
    pub fn new(tree: &Tree) -> Self {
        Self {
            forces: vec![Force::ZERO; tree.n_links()],
            motions: vec![Motion::ZERO; tree.n_links()],
            accelerations: vec![0.0; tree.n_dofs()],
            torques: vec![0.0; tree.n_dofs()],
            gradient: vec![0.0; tree.n_dofs()],
        }
    }

    /// Derivatives with respect to the command value `dof`, at the last [`Dynamics::hybrid`] or [`Dynamics::respond`].
    ///
    /// # Panics
    /// If `dof` or a buffer belongs to another tree.
    pub fn command(&mut self, tree: &Tree, dynamics: &Dynamics, dof: usize) {
        self.forces.fill(Force::ZERO);
        self.gradient.fill(0.0);
        self.gradient[dof] = 1.0;
        self.raise_command(tree, dynamics, dof);
        for (k, link) in tree.links.iter().enumerate() {
            self.lower_command(dynamics, k, link);
        }
    }

    /// `∂B` on the path from the link of a command to its root.
    fn raise_command(&mut self, tree: &Tree, dynamics: &Dynamics, dof: usize) {
        let mut at = tree.link_of_dof(dof).index() as u32;
        while at != NONE {
            let link = &tree.links[at as usize];
            if link.parent != NONE {
                let known = self.forces[at as usize];
                let beta = known
                    + dynamics.effort(at as usize, link, |dof, prescribed| {
                        let felt = if prescribed { 0.0 } else { dynamics.columns[dof].dot(known) };
                        self.gradient[dof] - felt
                    });
                self.forces[link.parent as usize] += shift_force(beta, dynamics.motions[at as usize].arm);
            }
            at = link.parent;
        }
    }

    /// `∂q̈`, `∂V̇` and `∂τ` of a link whose parent is done.
    #[inline]
    fn lower_command(&mut self, dynamics: &Dynamics, k: usize, link: &TreeLink) {
        let above = self.above(dynamics, k, link);
        let known = self.forces[k];
        let prescribed = dynamics.modes[k] == JointMode::Prescribed;
        let mut rest = [0.0; 6];
        for (m, dof) in link.dofs().enumerate() {
            rest[m] = self.gradient[dof];
            if !prescribed {
                rest[m] -= dynamics.reach[dof].dot(above) + dynamics.columns[dof].dot(known);
            }
        }
        let mut rate = above;
        for (m, dof) in link.dofs().enumerate() {
            let q = if prescribed { rest[m] } else { dynamics.psi_row(link, m, &rest) };
            self.accelerations[dof] = q;
            rate += dynamics.columns[dof] * q;
        }
        for dof in link.dofs() {
            let reaction = dynamics.reach[dof].dot(rate) + dynamics.columns[dof].dot(known);
            self.torques[dof] = if prescribed { reaction } else { self.gradient[dof] };
        }
        self.motions[k] = rate;
    }

    /// Derivatives of all joint accelerations, after [`Self::command`].
    pub fn accelerations(&self) -> &[f64] {
        &self.accelerations
    }

    /// Derivatives of all joint torques, after [`Self::command`].
    pub fn torques(&self) -> &[f64] {
        &self.torques
    }

    /// Derivative of the acceleration `(ω̇, a)` of a link at a world point, world axes, after [`Self::command`].
    pub fn acceleration_at(&self, dynamics: &Dynamics, link: LinkId, point: DVec3) -> Motion {
        shift_motion(self.motions[link.index()], point - dynamics.motions[link.index()].origin)
    }

    /// `μ` of the last [`Self::row`]: what a wrench on the link changes the scalar by, with the opposite sign, at the origin of the link.
    pub(crate) fn motion(&self, link: LinkId) -> Motion {
        self.motions[link.index()]
    }

    /// Derivatives of one scalar with respect to all command values, at the last [`Dynamics::hybrid`] or
    /// [`Dynamics::respond`].
    ///
    /// # Panics
    /// If the row or a buffer belongs to another tree.
    pub fn row(&mut self, tree: &Tree, dynamics: &Dynamics, row: &DerivativeRow) -> &[f64] {
        self.gradient.fill(0.0);
        let (start, wrench, seed) = match *row {
            DerivativeRow::Point { link, point, angular, linear } => {
                let arm = point - dynamics.motions[link.index()].origin;
                (link.index(), shift_force(Force::new(angular, linear), arm), None)
            }
            DerivativeRow::Acceleration(dof) | DerivativeRow::Torque(dof) => {
                let start = tree.link_of_dof(dof).index();
                let prescribed = dynamics.modes[start] == JointMode::Prescribed;
                if prescribed == matches!(row, DerivativeRow::Acceleration(_)) {
                    // the command value itself, which no wrench changes
                    self.gradient[dof] = 1.0;
                    self.motions.fill(Motion::ZERO);
                    return &self.gradient;
                }
                let wrench = if prescribed { dynamics.reach[dof] } else { Force::ZERO };
                (start, wrench, Some(dof))
            }
        };
        self.raise_row(tree, dynamics, start, wrench, seed);
        for (k, link) in tree.links.iter().enumerate() {
            self.lower_row(dynamics, k, link, seed.filter(|_| k == start));
        }
        &self.gradient
    }

    /// `z` and `μ` of a link whose parent is done; `seed` is the dof of a row on a joint of this link.
    #[inline]
    fn lower_row(&mut self, dynamics: &Dynamics, k: usize, link: &TreeLink, seed: Option<usize>) {
        let above = self.above(dynamics, k, link);
        let prescribed = dynamics.modes[k] == JointMode::Prescribed;
        let mut felt = [0.0; 6];
        for (m, dof) in link.dofs().enumerate() {
            felt[m] = dynamics.reach[dof].dot(above);
        }
        let mut motion = above;
        for (m, dof) in link.dofs().enumerate() {
            if prescribed {
                self.gradient[dof] += felt[m];
            } else {
                self.gradient[dof] += dynamics.psi_row(link, m, &felt);
                motion -= dynamics.columns[dof] * self.gradient[dof];
            }
        }
        if let Some(dof) = seed
            && prescribed
        {
            motion += dynamics.columns[dof];
        }
        self.motions[k] = motion;
    }

    /// `g` on the path from `start` to its root.
    fn raise_row(
        &mut self,
        tree: &Tree,
        dynamics: &Dynamics,
        start: usize,
        mut wrench: Force,
        seed: Option<usize>,
    ) {
        let mut at = start as u32;
        while at != NONE {
            let (k, link) = (at as usize, &tree.links[at as usize]);
            let mut felt = [0.0; 6];
            for (m, dof) in link.dofs().enumerate() {
                felt[m] = dynamics.columns[dof].dot(wrench);
            }
            if dynamics.modes[k] == JointMode::Prescribed {
                for (m, dof) in link.dofs().enumerate() {
                    self.gradient[dof] = felt[m];
                }
            } else {
                if let Some(dof) = seed
                    && k == start
                {
                    felt[dof - link.first_dof as usize] += 1.0;
                }
                for (m, dof) in link.dofs().enumerate() {
                    self.gradient[dof] = dynamics.psi_row(link, m, &felt);
                }
                for dof in link.dofs() {
                    wrench -= dynamics.reach[dof] * self.gradient[dof];
                }
            }
            wrench = shift_force(wrench, dynamics.motions[k].arm);
            at = link.parent;
        }
    }

    /// `X ∂V̇_p`, or `X μ_p`.
    #[inline]
    fn above(&self, dynamics: &Dynamics, k: usize, link: &TreeLink) -> Motion {
        if link.parent == NONE {
            Motion::ZERO
        } else {
            shift_motion(self.motions[link.parent as usize], dynamics.motions[k].arm)
        }
    }
}

impl Dynamics {
    /// Row `m` of `Ψ` times `rest`.
    #[inline]
    pub(crate) fn psi_row(&self, link: &TreeLink, m: usize, rest: &[f64; 6]) -> f64 {
        let n = link.n_dofs as usize;
        let first = link.first_psi as usize + n * m;
        self.psi[first..first + n].iter().zip(rest).map(|(psi, r)| psi * r).sum()
    }

    /// `UΨ r` for a passive joint, `U r` for a prescribed one.
    fn effort(&self, k: usize, link: &TreeLink, rest: impl Fn(usize, bool) -> f64) -> Force {
        let prescribed = self.modes[k] == JointMode::Prescribed;
        let mut values = [0.0; 6];
        for (m, dof) in link.dofs().enumerate() {
            values[m] = rest(dof, prescribed);
        }
        let mut sum = Force::ZERO;
        for (m, dof) in link.dofs().enumerate() {
            sum += self.reach[dof] * if prescribed { values[m] } else { self.psi_row(link, m, &values) };
        }
        sum
    }
}
