//! Hybrid dynamics in three sweeps (KP08 Table 3): every joint either prescribed (its acceleration is given, its torque found) or
//! passive (the other way round). All passive is forward dynamics, all prescribed inverse dynamics.
//!
//! World axes at the link origins, where `X` is a shift by the arm (see `kinematics`):
//! ```text
//! backward: Ĵ = J + Σ XᵀΠX,   B = −ad(V)ᵀJV − F_ext + Σ Xᵀβ,   U = ĴS
//!   prescribed: Π = Ĵ,          β = B + Ĵη + U q̈
//!   passive:    Ψ = (SᵀU + D)⁻¹,  Π = Ĵ − UΨUᵀ,  β = B + Ĵη + UΨ(τ − Uᵀη − SᵀB)
//! forward:  a = X V̇_p + η;      passive: q̈ = Ψ(τ − Uᵀa − SᵀB)
//!           V̇ = a + S q̈;        F = ĴV̇ + B;   prescribed: τ = SᵀF
//! ```
//! `D` is the resistance of torques to acceleration: zero, or `hC + h²K` in implicit steps. The world accelerates by `−g` instead of gravity acting on bodies. External
//! wrenches are in world axes at the central frames (centres of mass) of the mechanism's bodies, N·m and N.
//! Cost: linear in links. A direction without inertia (not positive `SᵀU + D`) locks its joint (`Ψ = 0`) and is reported.

use glam::DVec3;
use sinew_math::{Block, Force, Motion, SpatialInertia, Sym6, shift_force, shift_motion};
use sinew_mechanism::JointKind;
use sinew_topology::NONE;

use crate::kinematics::LinkMotion;
use crate::{LinkId, Tree, TreeState};

/// What is known of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Mode {
    /// Its torque is given, its acceleration is found.
    #[default]
    Passive,
    /// Its acceleration is given, its torque is found.
    Prescribed,
}

/// What is given of all joints.
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Command {
    /// Per link.
    pub modes: Vec<Mode>,
    /// Per dof: torque (N·m, N) of passive joints, acceleration (rad/s², m/s²) of prescribed ones.
    pub values: Vec<f64>,
}

impl Command {
    /// Every joint passive, no torques.
    pub fn passive(tree: &Tree) -> Self {
        Self { modes: vec![Mode::Passive; tree.n_links()], values: vec![0.0; tree.n_dofs()] }
    }

    /// Every joint prescribed, no accelerations.
    pub fn prescribed(tree: &Tree) -> Self {
        Self { modes: vec![Mode::Prescribed; tree.n_links()], values: vec![0.0; tree.n_dofs()] }
    }

    /// The mode of a link's joint.
    pub fn mode(&self, link: LinkId) -> Mode {
        self.modes[link.index()]
    }
}

/// What a sweep has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[must_use = "a singular joint was locked"]
pub struct SweepReport {
    /// The last joint that was locked because a direction of it moves no mass (or its numbers are not finite), and that direction.
    pub singular: Option<(LinkId, usize)>,
}

/// Scratch and results of all sweeps over one tree. Losing it changes no result.
#[derive(Clone, Debug)]
pub struct Dynamics {
    pub(crate) motions: Vec<LinkMotion>,
    /// `S` per dof.
    pub(crate) columns: Vec<Motion>,
    /// `Ĵ`.
    pub(crate) articulated: Vec<Sym6>,
    /// `B`.
    pub(crate) bias: Vec<Force>,
    /// `U = ĴS` per dof.
    pub(crate) reach: Vec<Force>,
    /// `Ψ` of passive joints.
    pub(crate) psi: Vec<f64>,
    /// `V̇` with gravity as an upward acceleration of the world.
    pub(crate) accelerated: Vec<Motion>,
    pub(crate) modes: Vec<Mode>,
    pub(crate) gravity: DVec3,
    accelerations: Vec<f64>,
    torques: Vec<f64>,
    /// Scratch of inverse dynamics and of the mass matrix.
    pub(crate) loads: Vec<Force>,
    pub(crate) rates: Vec<Motion>,
    pub(crate) composite: Vec<SpatialInertia>,
}

/// The arguments of a sweep.
#[derive(Clone, Copy)]
struct Load<'a> {
    command: &'a Command,
    /// `D` per dof; empty: zero.
    resistance: &'a [f64],
    gravity: DVec3,
    external: &'a [Force],
}

impl Dynamics {
    /// Buffers for a tree.
    pub fn new(tree: &Tree) -> Self {
        let (n, dofs) = (tree.n_links(), tree.n_dofs());
        Self {
            motions: vec![LinkMotion::WORLD; n],
            columns: vec![Motion::ZERO; dofs],
            articulated: vec![Sym6::ZERO; n],
            bias: vec![Force::ZERO; n],
            reach: vec![Force::ZERO; dofs],
            psi: vec![0.0; tree.n_psi],
            accelerated: vec![Motion::ZERO; n],
            modes: vec![Mode::Passive; n],
            gravity: DVec3::ZERO,
            accelerations: vec![0.0; dofs],
            torques: vec![0.0; dofs],
            loads: vec![Force::ZERO; n],
            rates: vec![Motion::ZERO; n],
            composite: vec![SpatialInertia::ZERO; n],
        }
    }

    /// Accelerations and torques of all joints. `external` holds one wrench per link, or nothing.
    ///
    /// # Panics
    /// If an argument belongs to another tree.
    pub fn hybrid(
        &mut self,
        tree: &Tree,
        state: &TreeState,
        command: &Command,
        gravity: DVec3,
        external: &[Force],
    ) -> SweepReport {
        self.kinematics(tree, state);
        self.respond(tree, command, gravity, external)
    }

    /// The second and third sweep alone, at the state of the last [`Self::kinematics`]: another command on the same state.
    ///
    /// # Panics
    /// If an argument belongs to another tree.
    pub fn respond(
        &mut self,
        tree: &Tree,
        command: &Command,
        gravity: DVec3,
        external: &[Force],
    ) -> SweepReport {
        self.respond_resisted(tree, command, &[], gravity, external)
    }

    /// Like [`Self::respond`], with passive torques that resist acceleration: `τ = value − resistance · q̈`, per dof and at least 0
    /// (kg·m², kg). An armature, or what a stiff force adds over an implicit step (`hC + h²K`).
    ///
    /// # Panics
    /// If an argument belongs to another tree.
    pub fn respond_resisted(
        &mut self,
        tree: &Tree,
        command: &Command,
        resistance: &[f64],
        gravity: DVec3,
        external: &[Force],
    ) -> SweepReport {
        let load = Load { command, resistance, gravity, external };
        assert_eq!(load.command.modes.len(), tree.n_links(), "command of another tree");
        assert_eq!(load.command.values.len(), tree.n_dofs(), "command of another tree");
        assert!([0, tree.n_links()].contains(&load.external.len()), "one wrench per link");
        assert!([0, tree.n_dofs()].contains(&resistance.len()), "one resistance per dof");
        self.gravity = load.gravity;
        self.modes.copy_from_slice(&load.command.modes);
        let report = self.eliminate(tree, &load);
        self.substitute(tree, &load);
        report
    }

    /// `J` and `−ad(V)ᵀJV − F_ext` of a link alone.
    #[inline]
    fn own(&self, tree: &Tree, external: &[Force], k: usize) -> (Sym6, Force) {
        let here = &self.motions[k];
        let mut bias = here.gyroscopic;
        if let Some(wrench) = external.get(k) {
            bias -= shift_force(*wrench, here.rotation * tree.links[k].central.translation);
        }
        (Sym6::from(&here.inertia), bias)
    }

    /// `XᵀΠX` and `Xᵀβ` to the parent; the first child to be eliminated brings the parent's own along.
    #[inline]
    fn hand_up(&mut self, tree: &Tree, k: usize, external: &[Force], inertia: &Sym6, bias: Force) {
        let link = &tree.links[k];
        let parent = link.parent as usize;
        if parent != NONE as usize {
            let arm = self.motions[k].arm;
            let (mut sum, mut load) = if link.is_first {
                self.own(tree, external, parent)
            } else {
                (self.articulated[parent], self.bias[parent])
            };
            sum.add_shifted(inertia, arm);
            load += shift_force(bias, arm);
            (self.articulated[parent], self.bias[parent]) = (sum, load);
        }
    }

    /// Leaves to roots.
    fn eliminate(&mut self, tree: &Tree, load: &Load<'_>) -> SweepReport {
        let mut report = SweepReport::default();
        for (k, link) in tree.links.iter().enumerate().rev() {
            if link.is_leaf {
                (self.articulated[k], self.bias[k]) = self.own(tree, load.external, k);
            }
            let hinged = link.kind == JointKind::Hinge && load.command.modes[k] == Mode::Passive;
            let outcome = if hinged {
                self.eliminate_hinge(tree, k, load)
            } else {
                match link.n_dofs {
                    0 => self.eliminate_general::<0>(tree, k, load),
                    1 => self.eliminate_general::<1>(tree, k, load),
                    2 => self.eliminate_general::<2>(tree, k, load),
                    3 => self.eliminate_general::<3>(tree, k, load),
                    4 => self.eliminate_general::<4>(tree, k, load),
                    5 => self.eliminate_general::<5>(tree, k, load),
                    _ => self.eliminate_general::<6>(tree, k, load),
                }
            };
            if let Err(direction) = outcome {
                report.singular = Some((LinkId::from_index(k), direction));
            }
        }
        report
    }

    #[inline]
    fn eliminate_hinge(&mut self, tree: &Tree, k: usize, load: &Load<'_>) -> Result<(), usize> {
        let link = &tree.links[k];
        let dof = link.first_dof as usize;
        let here = &self.motions[k];
        let axis = self.columns[dof].angular;
        let inertia = &self.articulated[k];
        let bias = self.bias[k];
        let reach = inertia.mul_angular(axis);
        let pivot = axis.dot(reach.angular) + load.resistance(dof);
        let singular = !(pivot > 0.0 && pivot.is_finite());
        let psi = if singular { 0.0 } else { 1.0 / pivot };
        self.reach[dof] = reach;
        self.psi[link.first_psi as usize] = psi;
        let product = here.product;
        let effort = psi * (load.torque(dof) - reach.dot(product) - axis.dot(bias.angular));
        let beta = bias + inertia.mul(product) + reach * effort;
        let handed = inertia.minus_outer(psi, reach);
        self.hand_up(tree, k, load.external, &handed, beta);
        if singular { Err(0) } else { Ok(()) }
    }

    fn eliminate_general<const K: usize>(
        &mut self,
        tree: &Tree,
        k: usize,
        load: &Load<'_>,
    ) -> Result<(), usize> {
        let link = &tree.links[k];
        let dofs = link.dofs();
        let here = &self.motions[k];
        let inertia = &self.articulated[k];
        let bias = self.bias[k];
        let columns: [Motion; K] = std::array::from_fn(|m| self.columns[dofs.start + m]);
        let reach: [Force; K] = std::array::from_fn(|m| inertia.mul(columns[m]));
        self.reach[dofs.clone()].copy_from_slice(&reach);
        let mut handed = *inertia;
        let mut beta = bias + inertia.mul(here.product);
        let mut outcome = Ok(());
        if load.command.modes[k] == Mode::Prescribed {
            for m in 0..K {
                beta += reach[m] * load.command.values[dofs.start + m];
            }
        } else {
            let mut pivot = Block::<K, K>::ZERO;
            for i in 0..K {
                for j in 0..=i {
                    pivot[(i, j)] = columns[i].dot(reach[j]);
                }
                pivot[(i, i)] += load.resistance(dofs.start + i);
            }
            let mut psi = Block::ZERO;
            match pivot.cholesky() {
                Ok(factor) => {
                    psi = factor.solve_block(&Block::identity());
                    // Π = Ĵ − WWᵀ, Wᵀ = L⁻¹Uᵀ
                    let w = factor.solve_lower_block(&Block::from_rows(reach.map(Force::to_array)));
                    for row in w.rows {
                        handed = handed.minus_outer(1.0, Force::from_array(row));
                    }
                }
                Err(singular) => outcome = Err(singular.pivot),
            }
            let rest: [f64; K] = std::array::from_fn(|m| {
                load.torque(dofs.start + m) - reach[m].dot(here.product) - columns[m].dot(bias)
            });
            let effort = psi.mul_vec(&rest);
            let first = link.first_psi as usize;
            for m in 0..K {
                beta += reach[m] * effort[m];
                self.psi[first + K * m..first + K * (m + 1)].copy_from_slice(&psi.rows[m]);
            }
        }
        self.hand_up(tree, k, load.external, &handed, beta);
        outcome
    }

    /// Roots to leaves.
    fn substitute(&mut self, tree: &Tree, load: &Load<'_>) {
        let world = Motion::new(DVec3::ZERO, -load.gravity);
        for (k, link) in tree.links.iter().enumerate() {
            let here = &self.motions[k];
            let above = if link.parent == NONE { world } else { self.accelerated[link.parent as usize] };
            let mut rate = shift_motion(above, here.arm) + here.product;
            let bias = self.bias[k];
            let dofs = link.dofs();
            if load.command.modes[k] == Mode::Prescribed {
                self.accelerations[dofs.clone()].copy_from_slice(&load.command.values[dofs.clone()]);
                for dof in dofs.clone() {
                    rate += self.columns[dof] * load.command.values[dof];
                }
                for dof in dofs {
                    self.torques[dof] = self.reach[dof].dot(rate) + self.columns[dof].dot(bias);
                }
            } else if link.n_dofs == 1 {
                let dof = dofs.start;
                let column = self.columns[dof];
                let rest = load.torque(dof) - self.reach[dof].dot(rate) - column.dot(bias);
                let q = self.psi[link.first_psi as usize] * rest;
                rate += column * q;
                self.accelerations[dof] = q;
                self.torques[dof] = load.torque(dof) - load.resistance(dof) * q;
            } else {
                let n = dofs.len();
                let mut rest = [0.0; 6];
                for (m, dof) in dofs.clone().enumerate() {
                    rest[m] = load.torque(dof) - self.reach[dof].dot(rate) - self.columns[dof].dot(bias);
                }
                for (m, dof) in dofs.enumerate() {
                    let row = link.first_psi as usize + n * m;
                    let mut q = 0.0;
                    for (psi, r) in self.psi[row..row + n].iter().zip(&rest) {
                        q += psi * r;
                    }
                    rate += self.columns[dof] * q;
                    self.accelerations[dof] = q;
                    self.torques[dof] = load.torque(dof) - load.resistance(dof) * q;
                }
            }
            self.accelerated[k] = rate;
        }
    }

    /// Joint accelerations of the last call, per dof (rad/s², m/s²).
    pub fn accelerations(&self) -> &[f64] {
        &self.accelerations
    }

    /// Joint torques of the last call, per dof (N·m, N).
    pub fn torques(&self) -> &[f64] {
        &self.torques
    }

    /// Wrench that the joint (with its torques) exerts on a link in the last call: `F = ĴV̇ + B`, world axes at the joint frame's
    /// origin (N·m, N).
    pub fn reaction(&self, link: LinkId) -> Force {
        let k = link.index();
        self.articulated[k].mul(self.accelerated[k]) + self.bias[k]
    }
}

impl Load<'_> {
    #[inline]
    fn torque(&self, dof: usize) -> f64 {
        self.command.values[dof]
    }

    #[inline]
    fn resistance(&self, dof: usize) -> f64 {
        self.resistance.get(dof).copied().unwrap_or(0.0)
    }
}
