//! Hybrid dynamics in three sweeps (KP08 Table 3).
//!
//! Each joint is either prescribed (its acceleration is given, its torque is found) or passive (its torque is given,
//! its acceleration is found). All joints passive is forward dynamics, all prescribed is inverse dynamics. World axes
//! at the link origins, where `X` is a shift by the arm (see `link_motion`):
//! ```text
//! backward: Ĵ = J + Σ XᵀΠX,   B = −ad(V)ᵀJV − F_ext + Σ Xᵀβ,   U = ĴS
//!   prescribed: Π = Ĵ,          β = B + Ĵη + U q̈
//!   passive:    Ψ = (SᵀU + D)⁻¹,  Π = Ĵ − UΨUᵀ,  β = B + Ĵη + UΨ(τ − Uᵀη − SᵀB)
//! forward:  a = X V̇_p + η;      passive: q̈ = Ψ(τ − Uᵀa − SᵀB)
//!           V̇ = a + S q̈;        F = ĴV̇ + B;   prescribed: τ = SᵀF
//! ```
//! `D` is a resistance of passive torques to acceleration: zero, or `hC + h²K` in an implicit step. Gravity enters as
//! an upward acceleration `−g` of the world. External wrenches are in world axes at the central frames (centres of
//! mass) of the mechanism's bodies, N·m and N. Cost: linear in links. If `SᵀU + D` is not positive definite, the joint
//! is locked (`Ψ = 0`) and reported.

use std::ops::Range;

use glam::DVec3;
use sinew_math::{Block, Force, Motion, Sym6, shift_force, shift_motion};
use sinew_mechanism::JointKind;
use sinew_topology::NONE;

use crate::command::{HybridCommand, HybridReport, JointMode};
use crate::tree::{LinkId, Tree};
use crate::{dynamics::Dynamics, state::TreeState};

/// Input of the second and third sweep.
#[derive(Clone, Copy)]
struct SweepInput<'a> {
    command: &'a HybridCommand,
    /// `D` per dof; empty means zero.
    resistance: &'a [f64],
    gravity: DVec3,
    external: &'a [Force],
}

impl Dynamics {
    /// Accelerations and torques of all joints. `external` holds one wrench per link, or nothing: torque about the origin of the central frame
    /// of its body (N·m) and force (N), world axes.
    ///
    /// # Panics
    /// If an argument belongs to another tree.
    pub fn hybrid(
        &mut self,
        tree: &Tree,
        state: &TreeState,
        command: &HybridCommand,
        gravity: DVec3,
        external: &[Force],
    ) -> HybridReport {
        self.kinematics(tree, state);
        self.respond(tree, command, gravity, external)
    }

    /// Another command on the state of the last [`Self::kinematics`]: the second and third sweep alone. `external` as in [`Self::hybrid`].
    ///
    /// # Panics
    /// If an argument belongs to another tree.
    pub fn respond(
        &mut self,
        tree: &Tree,
        command: &HybridCommand,
        gravity: DVec3,
        external: &[Force],
    ) -> HybridReport {
        self.respond_resisted(tree, command, &[], gravity, external)
    }

    /// [`Self::respond`] with passive torques that resist acceleration, `τ = value − resistance · q̈`. `resistance` is
    /// given per dof, at least 0 (kg·m², kg): an armature, or the `hC + h²K` of a stiff force over an implicit step.
    ///
    /// # Panics
    /// If an argument belongs to another tree.
    pub fn respond_resisted(
        &mut self,
        tree: &Tree,
        command: &HybridCommand,
        resistance: &[f64],
        gravity: DVec3,
        external: &[Force],
    ) -> HybridReport {
        assert_eq!(command.modes.len(), tree.n_links(), "the command belongs to another tree");
        assert_eq!(command.values.len(), tree.n_dofs(), "the command belongs to another tree");
        assert!([0, tree.n_links()].contains(&external.len()), "there must be one wrench per link");
        assert!([0, tree.n_dofs()].contains(&resistance.len()), "there must be one resistance per dof");
        self.gravity = gravity;
        self.modes.copy_from_slice(&command.modes);
        let input = SweepInput { command, resistance, gravity, external };
        let report = self.eliminate::<true>(tree, &input);
        self.substitute(tree, &input);
        report
    }

    /// Adds wrenches, one per link, to those of the last response, which had the same command and resistance.
    pub(crate) fn respond_more(
        &mut self,
        tree: &Tree,
        command: &HybridCommand,
        resistance: &[f64],
        wrenches: &[Force],
    ) {
        self.add_wrenches(tree, wrenches);
        self.substitute(tree, &SweepInput { command, resistance, gravity: self.gravity, external: &[] });
    }

    /// The backward sweep alone, for inertias and not for wrenches. What the last response found is no longer valid.
    pub(crate) fn eliminate_only(
        &mut self,
        tree: &Tree,
        command: &HybridCommand,
        resistance: &[f64],
    ) -> HybridReport {
        self.modes.copy_from_slice(&command.modes);
        self.eliminate::<false>(
            tree,
            &SweepInput { command, resistance, gravity: DVec3::ZERO, external: &[] },
        )
    }

    /// `J` and, if there are loads, `−ad(V)ᵀJV − F_ext` of a link alone.
    #[inline(always)]
    fn own<const LOADED: bool>(&self, tree: &Tree, external: &[Force], k: usize) -> (Sym6, Force) {
        let here = &self.motions[k];
        if !LOADED {
            return (Sym6::from(&here.inertia), Force::ZERO);
        }
        let mut bias = here.gyroscopic();
        if let Some(wrench) = external.get(k) {
            bias -= shift_force(*wrench, here.rotation * tree.links[k].central.translation);
        }
        (Sym6::from(&here.inertia), bias)
    }

    /// Adds `XᵀΠX` and `Xᵀβ` to the parent. The first child that is eliminated also sets the parent's own terms.
    #[inline(always)]
    fn hand_up<const LOADED: bool>(
        &mut self,
        tree: &Tree,
        k: usize,
        external: &[Force],
        inertia: &Sym6,
        bias: Force,
    ) {
        let link = &tree.links[k];
        let parent = link.parent as usize;
        if parent != NONE as usize {
            let arm = self.motions[k].arm;
            let (mut sum, mut sum_bias) = if link.is_first {
                self.own::<LOADED>(tree, external, parent)
            } else {
                (self.articulated[parent], self.bias[parent])
            };
            sum.add_shifted(inertia, arm);
            if LOADED {
                sum_bias += shift_force(bias, arm);
            }
            (self.articulated[parent], self.bias[parent]) = (sum, sum_bias);
        }
    }

    /// Leaves to roots. Without loads, `B` and `β` stay zero.
    fn eliminate<const LOADED: bool>(&mut self, tree: &Tree, input: &SweepInput<'_>) -> HybridReport {
        let mut report = HybridReport::default();
        for (k, link) in tree.links.iter().enumerate().rev() {
            if link.is_leaf {
                (self.articulated[k], self.bias[k]) = self.own::<LOADED>(tree, input.external, k);
            }
            let hinged = link.kind == JointKind::Hinge && input.command.modes[k] != JointMode::Prescribed;
            let outcome = match link.n_dofs {
                _ if hinged => self.eliminate_hinge::<LOADED>(tree, k, input),
                0 => self.eliminate_general::<0, LOADED>(tree, k, input),
                1 => self.eliminate_general::<1, LOADED>(tree, k, input),
                2 => self.eliminate_general::<2, LOADED>(tree, k, input),
                3 => self.eliminate_general::<3, LOADED>(tree, k, input),
                4 => self.eliminate_general::<4, LOADED>(tree, k, input),
                5 => self.eliminate_general::<5, LOADED>(tree, k, input),
                _ => self.eliminate_general::<6, LOADED>(tree, k, input),
            };
            if let Err(direction) = outcome {
                report.singular = Some((LinkId::from_index(k), direction));
            }
        }
        report
    }

    #[inline(always)]
    fn eliminate_hinge<const LOADED: bool>(
        &mut self,
        tree: &Tree,
        k: usize,
        input: &SweepInput<'_>,
    ) -> Result<(), usize> {
        let link = &tree.links[k];
        let dof = link.first_dof as usize;
        let here = &self.motions[k];
        let axis = self.columns[dof].angular;
        let inertia = &self.articulated[k];
        let bias = self.bias[k];
        let reach = inertia.mul_angular(axis);
        let pivot = axis.dot(reach.angular) + input.resistance(dof);
        let singular = !(pivot > 0.0 && pivot.is_finite());
        let psi = if singular { 0.0 } else { 1.0 / pivot };
        self.reach[dof] = reach;
        self.psi[link.first_psi as usize] = psi;
        let mut beta = Force::ZERO;
        if LOADED {
            let product = here.product;
            let effort = psi * (input.torque(dof) - reach.dot(product) - axis.dot(bias.angular));
            beta = bias + inertia.mul(product) + reach * effort;
        }
        let handed = inertia.minus_outer(psi, reach);
        self.hand_up::<LOADED>(tree, k, input.external, &handed, beta);
        if singular { Err(0) } else { Ok(()) }
    }

    fn eliminate_general<const K: usize, const LOADED: bool>(
        &mut self,
        tree: &Tree,
        k: usize,
        input: &SweepInput<'_>,
    ) -> Result<(), usize> {
        let dofs = tree.links[k].dofs();
        let inertia = &self.articulated[k];
        let columns: [Motion; K] = std::array::from_fn(|m| self.columns[dofs.start + m]);
        let reach: [Force; K] = std::array::from_fn(|m| inertia.mul(columns[m]));
        self.reach[dofs.clone()].copy_from_slice(&reach);
        let mut handed = *inertia;
        let mut beta = self.bias[k] + inertia.mul(self.motions[k].product);
        let mut outcome = Ok(());
        if input.command.modes[k] == JointMode::Prescribed {
            for m in 0..K {
                beta += reach[m] * input.command.values[dofs.start + m];
            }
        } else {
            let mut psi = Block::ZERO;
            match pivot(&columns, &reach, input, dofs.start).cholesky() {
                Ok(factor) => {
                    psi = factor.solve_block(&Block::IDENTITY);
                    // Π = Ĵ − WWᵀ, Wᵀ = L⁻¹Uᵀ
                    let w = factor.solve_lower_block(&Block::from_rows(reach.map(Force::to_array)));
                    for row in w.rows {
                        handed = handed.minus_outer(1.0, Force::from_array(row));
                    }
                }
                Err(singular) => outcome = Err(singular.pivot),
            }
            beta = self.add_effort(tree, k, input, &psi, beta);
        }
        self.hand_up::<LOADED>(tree, k, input.external, &handed, beta);
        outcome
    }

    /// Stores `Ψ` of a passive joint; returns `β + UΨ(τ − Uᵀη − SᵀB)`.
    fn add_effort<const K: usize>(
        &mut self,
        tree: &Tree,
        k: usize,
        input: &SweepInput<'_>,
        psi: &Block<K, K>,
        mut beta: Force,
    ) -> Force {
        let link = &tree.links[k];
        let (first_dof, first) = (link.first_dof as usize, link.first_psi as usize);
        let (product, bias) = (self.motions[k].product, self.bias[k]);
        let rest: [f64; K] = std::array::from_fn(|m| {
            let dof = first_dof + m;
            input.torque(dof) - self.reach[dof].dot(product) - self.columns[dof].dot(bias)
        });
        let effort = psi.mul_vec(&rest);
        for m in 0..K {
            beta += self.reach[first_dof + m] * effort[m];
            self.psi[first + K * m..first + K * (m + 1)].copy_from_slice(&psi.rows[m]);
        }
        beta
    }

    /// Roots to leaves.
    fn substitute(&mut self, tree: &Tree, input: &SweepInput<'_>) {
        let world = Motion::new(DVec3::ZERO, -input.gravity);
        for (k, link) in tree.links.iter().enumerate() {
            let here = &self.motions[k];
            let above = if link.parent == NONE { world } else { self.accelerated[link.parent as usize] };
            let rate = shift_motion(above, here.arm) + here.product;
            let (bias, dofs) = (self.bias[k], link.dofs());
            self.accelerated[k] = if input.command.modes[k] == JointMode::Prescribed {
                self.follow_command(dofs, input, bias, rate)
            } else if link.n_dofs == 1 {
                let dof = dofs.start;
                let column = self.columns[dof];
                let rest = input.torque(dof) - self.reach[dof].dot(rate) - column.dot(bias);
                let q = self.psi[link.first_psi as usize] * rest;
                self.set_passive(dof, input, q);
                rate + column * q
            } else {
                self.accelerate(dofs, link.first_psi as usize, input, bias, rate)
            };
        }
    }

    /// Prescribed joint: `V̇ = a + S q̈`, `τ = UᵀV̇ + SᵀB`.
    #[inline]
    fn follow_command(
        &mut self,
        dofs: Range<usize>,
        input: &SweepInput<'_>,
        bias: Force,
        mut rate: Motion,
    ) -> Motion {
        let values = &input.command.values[dofs.clone()];
        self.accelerations[dofs.clone()].copy_from_slice(values);
        for (dof, value) in dofs.clone().zip(values) {
            rate += self.columns[dof] * *value;
        }
        for dof in dofs {
            self.torques[dof] = self.reach[dof].dot(rate) + self.columns[dof].dot(bias);
        }
        rate
    }

    /// Passive joint of any size: `q̈ = Ψ(τ − Uᵀa − SᵀB)`, `V̇ = a + S q̈`.
    #[inline]
    fn accelerate(
        &mut self,
        dofs: Range<usize>,
        first_psi: usize,
        input: &SweepInput<'_>,
        bias: Force,
        mut rate: Motion,
    ) -> Motion {
        let n = dofs.len();
        let mut rest = [0.0; 6];
        for (m, dof) in dofs.clone().enumerate() {
            rest[m] = input.torque(dof) - self.reach[dof].dot(rate) - self.columns[dof].dot(bias);
        }
        for (m, dof) in dofs.enumerate() {
            let row = first_psi + n * m;
            let mut q = 0.0;
            for (psi, r) in self.psi[row..row + n].iter().zip(&rest) {
                q += psi * r;
            }
            rate += self.columns[dof] * q;
            self.set_passive(dof, input, q);
        }
        rate
    }

    #[inline]
    fn set_passive(&mut self, dof: usize, input: &SweepInput<'_>, acceleration: f64) {
        self.accelerations[dof] = acceleration;
        self.torques[dof] = input.torque(dof) - input.resistance(dof) * acceleration;
    }
}

/// `SᵀU + D`, the lower triangle.
#[inline]
fn pivot<const K: usize>(
    columns: &[Motion; K],
    reach: &[Force; K],
    input: &SweepInput<'_>,
    first_dof: usize,
) -> Block<K, K> {
    let mut pivot = Block::ZERO;
    for i in 0..K {
        for j in 0..=i {
            pivot[(i, j)] = columns[i].dot(reach[j]);
        }
        pivot[(i, i)] += input.resistance(first_dof + i);
    }
    pivot
}

impl SweepInput<'_> {
    #[inline]
    fn torque(&self, dof: usize) -> f64 {
        self.command.values[dof]
    }

    #[inline]
    fn resistance(&self, dof: usize) -> f64 {
        self.resistance.get(dof).copied().unwrap_or(0.0)
    }
}
