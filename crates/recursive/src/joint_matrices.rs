//! Derivatives of inverse and forward dynamics with respect to the state, and the Coriolis matrix, in one pass.
//!
//! In a frame that stands still, let `F` be the wrench of the joint on a link, `V`, `V̇` its twist and acceleration (gravity
//! included), `λ` its parent, and `I^c`, `𝓑`, `𝓡` the composite body at and below it (`composite`). A joint direction `S_d` moves
//! everything below rigidly, but the twists that come from above stay. With `H`, `G` of `subspace_change`, zero for most joints:
//! ```text
//! p = V_λ × S + H(d, v)                         ∂V/∂q_d = S × V + p            for all links below
//! s = V̇_λ × S + V_λ × (V_λ × S) + (V_λ + V) × H(d, v) + H(d, a) + G(d)         ∂V̇/∂q_d = S × V̇ + p × V + s
//! m = V × S + V_λ × S + H(d, v) + H(v, d)       ∂V̇/∂v_d = S × V + m
//! ∂F/∂q_d = S ×* F + 𝓡ω + 𝓑p + I^c s            ∂F/∂v_d = 𝓑S + I^c m
//! ```
//! and for a dof `e` at or below `d`, with `∂F` of the lower one of the two:
//! ```text
//! ∂τ_d/∂q_e = S_d · ∂F/∂q_e                     ∂τ_e/∂q_d = I^cS_e · s_d + 𝓑ᵀS_e · ω_p + 𝓡ᵀS_e · ω_d
//! ∂τ_d/∂v_e = S_d · ∂F/∂v_e                     ∂τ_e/∂v_d = I^cS_e · m_d + 𝓑ᵀS_e · ω_d
//! C_de = S_d · (I^cṠ_e + ½𝓑S_e)                 C_ed = I^cS_e · Ṡ_d + ½ 𝓑ᵀS_e · ω_d
//! ```
//! Two dofs of one joint add `(S_e × S_d + H(e, d))·F` to `∂τ_d/∂q_e`. Forward dynamics: `∂q̈ = −M⁻¹∂τ` at the `q̈` found
//! (`mass_factor`). After Carpentier and Mansard (2018) and Singh, Russell and Wensing (2022). World axes, about the origin of the
//! root link; SI units. Cost: dofs × depth; forward dofs² × depth. Nothing allocates, nothing fails.

use glam::DVec3;
use sinew_math::Force;
use sinew_solvers::vectorized;
use sinew_topology::NONE;

use crate::command::{HybridCommand, HybridReport, TreeLoads};
use crate::composite::CompositeBody;
use crate::dof_pairs::{DofPairs, SeedInput};
use crate::mass_factor::MassFactor;
use crate::subspace_change::{SubspaceChange, unit};
use crate::{dynamics::Dynamics, tree::Tree};

/// Matrices of joint space at one state: `M`, `M⁻¹`, the Coriolis matrix, and the derivatives of inverse and forward dynamics.
///
/// All are square with one row and column per dof, stored by rows. A derivative by the coordinate of a dof is the derivative along
/// `q ⊕ ε e` ([`Tree::advance`]): of a rotation in space, along turns about the axes of joint frame 1 of the declared joint
/// (body-fixed where body 1 is the child); of a free joint, along its twists in that frame. External wrenches keep their world axes
/// and act at the centres of mass, which move.
///
/// ```
/// use glam::DVec3;
/// use sinew_math::{JointKind, MassProperties, Pose};
/// use sinew_mechanism::{BodySpec, JointFrames, JointSpec, MechanismBuilder};
/// use sinew_recursive::{Dynamics, JointMatrices, Tree};
///
/// // A rod of 1 m and 1 kg along x that swings about z under gravity along −y.
/// let mut builder = MechanismBuilder::new();
/// let pose = Pose::from_translation(DVec3::X * 0.5);
/// let rod = MassProperties::cuboid(DVec3::new(1.0, 0.1, 0.1), 100.0);
/// let body = builder.add_body(BodySpec::dynamic("rod", pose, rod));
/// let axis = Pose::from_rotation(sinew_mechanism::rotation_to_axis(DVec3::Z).expect("not zero"));
/// let frames = JointFrames::coincident(&pose, &Pose::IDENTITY, &axis);
/// builder.add_joint(JointSpec::new("pivot", JointKind::Hinge, body, None, frames));
/// let tree = Tree::from_model(&builder.build()?)?;
///
/// let (mut dynamics, mut matrices) = (Dynamics::new(&tree), JointMatrices::new(&tree));
/// let mut state = tree.neutral_state();
/// state.coordinates[0] = 0.3;
/// dynamics.kinematics(&tree, &state);
/// let report = matrices.forward(&tree, &mut dynamics, &[0.0], DVec3::Y * -10.0, &[]);
/// assert_eq!(report.singular, None);
/// // τ = M q̈ + 5 cos q
/// assert!((matrices.torques_by_coordinates()[0] + 5.0 * 0.3f64.sin()).abs() < 1e-12);
/// let expected = 5.0 * 0.3f64.sin() / matrices.mass_matrix()[0];
/// assert!((matrices.accelerations_by_coordinates()[0] - expected).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct JointMatrices {
    composites: Vec<CompositeBody>,
    pairs: DofPairs,
    torques: Vec<f64>,
    accelerations: Vec<f64>,
    mass: Vec<f64>,
    factor: MassFactor,
    /// Every joint passive.
    command: HybridCommand,
    coriolis: Vec<f64>,
    torques_by_coordinates: Vec<f64>,
    torques_by_rates: Vec<f64>,
    accelerations_by_coordinates: Vec<f64>,
    accelerations_by_rates: Vec<f64>,
    inverse_mass: Vec<f64>,
}

impl JointMatrices {
    /// Buffers for a tree.
    pub fn new(tree: &Tree) -> Self {
        let n = tree.n_dofs();
        let (vector, matrix) = (vec![0.0; n], vec![0.0; n * n]);
        Self {
            composites: vec![CompositeBody::ZERO; tree.n_links()],
            pairs: DofPairs::new(tree),
            torques: vector.clone(),
            accelerations: vector,
            mass: matrix.clone(),
            factor: MassFactor::new(tree),
            command: HybridCommand::passive(tree),
            coriolis: matrix.clone(),
            torques_by_coordinates: matrix.clone(),
            torques_by_rates: matrix.clone(),
            accelerations_by_coordinates: matrix.clone(),
            accelerations_by_rates: matrix.clone(),
            inverse_mass: matrix,
        }
    }

    /// Inverse dynamics `τ(q, v, q̈)` and its derivatives by `q`, `v` and `q̈` (the mass matrix), at the state of the last
    /// [`Dynamics::kinematics`]. `external` as in [`Dynamics::hybrid`].
    ///
    /// # Panics
    /// If an argument belongs to another tree.
    pub fn inverse(
        &mut self,
        tree: &Tree,
        dynamics: &mut Dynamics,
        accelerations: &[f64],
        gravity: DVec3,
        external: &[Force],
    ) {
        self.accelerations.copy_from_slice(accelerations);
        self.differentiate_inverse(tree, dynamics, gravity, external);
    }

    /// Forward dynamics `q̈(q, v, τ)` and its derivatives by `q`, `v` and `τ` (the inverse mass matrix), at the state of the last
    /// [`Dynamics::kinematics`]; also all results of [`Self::inverse`] at that `q̈`, and [`Dynamics::respond`]. Joints that move no mass
    /// are locked and reported.
    ///
    /// # Panics
    /// If an argument belongs to another tree.
    pub fn forward(
        &mut self,
        tree: &Tree,
        dynamics: &mut Dynamics,
        torques: &[f64],
        gravity: DVec3,
        external: &[Force],
    ) -> HybridReport {
        self.command.values.copy_from_slice(torques);
        let command = std::mem::take(&mut self.command);
        let report =
            self.hybrid(tree, dynamics, &command, &TreeLoads { gravity, external, ..TreeLoads::default() });
        self.command = command;
        report
    }

    /// Hybrid dynamics and the derivatives of its accelerations, at the state of the last [`Dynamics::kinematics`]; also all results of
    /// [`Self::inverse`] at the accelerations found, and [`Dynamics::respond_resisted`]. With passive joints `p` and prescribed ones `c`:
    /// ```text
    /// ∂q̈_p = −(M_pp + D)⁻¹∂τ_p,   ∂q̈_c = 0,   and of the torques of prescribed joints   dτ_c = ∂τ_c + M_cp ∂q̈_p
    /// ```
    /// [`Self::inverse_mass_matrix`] is `(M_pp + D)⁻¹`, with zero rows and columns of prescribed joints; [`Self::torques`] are those of inverse dynamics,
    /// without what the resistance `D` takes of a passive torque.
    ///
    /// # Panics
    /// If an argument belongs to another tree.
    pub fn hybrid(
        &mut self,
        tree: &Tree,
        dynamics: &mut Dynamics,
        command: &HybridCommand,
        loads: &TreeLoads<'_>,
    ) -> HybridReport {
        let TreeLoads { gravity, external, resistance, .. } = *loads;
        let report = dynamics.respond_resisted(tree, command, resistance, gravity, external);
        self.accelerations.copy_from_slice(dynamics.accelerations());
        self.factor.read(tree, dynamics);
        self.differentiate_inverse(tree, dynamics, gravity, external);
        let Self { factor, accelerations_by_coordinates, accelerations_by_rates, .. } = self;
        factor.solve_negative(tree, &self.torques_by_coordinates, accelerations_by_coordinates);
        factor.solve_negative(tree, &self.torques_by_rates, accelerations_by_rates);
        self.factor.fill_inverse(tree, &mut self.inverse_mass);
        report
    }

    /// The inverse of the mass matrix, at the state of the last [`Dynamics::kinematics`]. Joints that move no mass are locked (their
    /// rows and columns are zero) and reported. Results of [`Dynamics::respond`] are lost.
    ///
    /// # Panics
    /// If an argument belongs to another tree.
    pub fn invert_mass(&mut self, tree: &Tree, dynamics: &mut Dynamics) -> HybridReport {
        let report = dynamics.eliminate_only(tree, &self.command, &[]);
        self.factor.read(tree, dynamics);
        self.factor.fill_inverse(tree, &mut self.inverse_mass);
        report
    }

    /// The Coriolis matrix `C` at the state of the last [`Dynamics::kinematics`]: `C v` are the velocity products of the bias, and
    /// `Ṁ − 2C` is skew.
    ///
    /// # Panics
    /// If an argument belongs to another tree.
    pub fn coriolis(&mut self, tree: &Tree, dynamics: &mut Dynamics) -> &[f64] {
        dynamics.compose(tree);
        self.compose(tree, dynamics, &[]);
        for (k, body) in self.composites.iter().enumerate() {
            self.pairs.seed_coriolis(tree, dynamics, k, body);
        }
        self.pairs.fill_by_rates(tree, &mut self.coriolis);
        &self.coriolis
    }

    /// Sums over the links at and below each.
    fn compose(&mut self, tree: &Tree, dynamics: &Dynamics, external: &[Force]) {
        assert!([0, tree.n_links()].contains(&external.len()), "there must be one wrench per link");
        for (k, (body, here)) in self.composites.iter_mut().zip(&dynamics.motions).enumerate() {
            *body = CompositeBody::of(here);
            if let Some(wrench) = external.get(k) {
                body.add_load(*wrench, here.rotation * tree.links[k].central.translation);
            }
        }
        for (k, link) in tree.links.iter().enumerate().rev() {
            if link.parent != NONE {
                let (above, below) = self.composites.split_at_mut(k);
                let (above, arm) = (&mut above[link.parent as usize], dynamics.motions[k].arm);
                above.add_shifted(&below[0], arm);
                if !external.is_empty() {
                    above.add_shifted_load(&below[0], arm);
                }
            }
        }
    }

    /// Torques and their derivatives, at `self.accelerations`.
    fn differentiate_inverse(
        &mut self,
        tree: &Tree,
        dynamics: &mut Dynamics,
        gravity: DVec3,
        external: &[Force],
    ) {
        self.compose(tree, dynamics, external);
        dynamics.fill_mass_matrix(tree, &mut self.mass);
        dynamics.fill_inverse(tree, &self.accelerations, gravity, external, &mut self.torques);
        let has_loads = !external.is_empty();
        let input = SeedInput { tree, dynamics, accelerations: &self.accelerations, gravity, has_loads };
        vectorized(
            #[inline(always)]
            || {
                for (k, body) in self.composites.iter().enumerate() {
                    self.pairs.seed_state(&input, k, body);
                }
            },
        );
        self.pairs.fill_by_coordinates(&input, &mut self.torques_by_coordinates);
        self.pairs.fill_by_rates(tree, &mut self.torques_by_rates);
        for (k, _) in tree.links.iter().enumerate().filter(|(_, link)| link.n_dofs > 1) {
            turn_own_columns(tree, dynamics, k, &mut self.torques_by_coordinates);
        }
    }

    /// Torques of the last call, per dof (N·m, N).
    pub fn torques(&self) -> &[f64] {
        &self.torques
    }

    /// Accelerations of the last call, per dof (rad/s², m/s²).
    pub fn accelerations(&self) -> &[f64] {
        &self.accelerations
    }

    /// `∂τ/∂q` at given accelerations.
    pub fn torques_by_coordinates(&self) -> &[f64] {
        &self.torques_by_coordinates
    }

    /// `∂τ/∂v` at given accelerations.
    pub fn torques_by_rates(&self) -> &[f64] {
        &self.torques_by_rates
    }

    /// `M = ∂τ/∂q̈`.
    pub fn mass_matrix(&self) -> &[f64] {
        &self.mass
    }

    /// `∂q̈/∂q` at given torques, after [`Self::forward`] or [`Self::hybrid`].
    pub fn accelerations_by_coordinates(&self) -> &[f64] {
        &self.accelerations_by_coordinates
    }

    /// `∂q̈/∂v` at given torques, after [`Self::forward`] or [`Self::hybrid`].
    pub fn accelerations_by_rates(&self) -> &[f64] {
        &self.accelerations_by_rates
    }

    /// `M⁻¹ = ∂q̈/∂τ`, after [`Self::forward`], [`Self::hybrid`] or [`Self::invert_mass`].
    pub fn inverse_mass_matrix(&self) -> &[f64] {
        &self.inverse_mass
    }
}

/// Adds `(S_e × S_d + H(e, d))·F` to `∂τ_d/∂q_e` for the dofs of one joint.
fn turn_own_columns(tree: &Tree, dynamics: &Dynamics, k: usize, out: &mut [f64]) {
    let (n, dofs) = (tree.n_dofs(), tree.links[k].dofs());
    let change = SubspaceChange::new(tree, dynamics, k);
    let load = dynamics.loads[k];
    for e in dofs.clone() {
        for d in dofs.clone() {
            let mut turned = dynamics.columns[e].cross(dynamics.columns[d]);
            if let Some(change) = &change {
                turned += change.along(&unit(e - dofs.start), &unit(d - dofs.start));
            }
            out[d * n + e] += turned.dot(load);
        }
    }
}
