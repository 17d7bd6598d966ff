//! Inertial motion of a tree over a step: no forces, only what the links carry.
//!
//! With `P_k` the momentum of link `k` about a point that stays, from `(q, v)` to `(q⁺, v⁺)`:
//! ```text
//! q⁺ = q ⊕ h (v + v⁺)/2,     q̄ = q ⊕ h (v + v⁺)/4
//! S(q̄)ᵀ Σ_{k below} (P_k(q⁺, v⁺) − P_k(q, v)) + D (v⁺ − v) = 0      for every passive joint
//! ```
//! and `v⁺ = v` for prescribed and driven joints; `D` is the resistance of joints to acceleration. A floating tree keeps its whole momentum. A
//! body that is free, or turns about a fixed point, keeps its energy too (Simo and Wong's scheme for rigid bodies). Symmetric in
//! time and of second order: the energy of a tree swings and does not grow.
//!
//! Solved by `v⁺ ← v⁺ − (M(q̄) + D)⁻¹ r`, eliminated anew at the present `q̄` where that contracts slowly. It contracts by about half
//! the angle that links turn; longer turns are cut into parts of [`LARGEST_TURN`], and parts that do not converge are halved.
//! Directions of the middle matter: with those of the start, a heavy link at the end of light ones does not converge.
//!
//! World axes, SI units. Cost: about one elimination and three passes of kinematics and substitution while `h ω` is small. A correction moves all
//! links below by what it changes above, so chains of hundreds of links contract slowly, and the number of parts grows with their length:
//! 0.1 to 0.4 s per step of 1/60 s for 2,000 hinges that fall, up to 2 s for balls. Nothing fails; a motion that cannot be resolved in [`MOST_PARTS`] parts is left as it was found.

use glam::DVec3;
use sinew_math::{Force, Motion, add_scaled, shift_force, shift_motion};
use sinew_topology::NONE;

use crate::command::{HybridCommand, JointMode};
use crate::{dynamics::Dynamics, state::TreeState, tree::Tree};

/// Largest turn of a link in one part, rad.
const LARGEST_TURN: f64 = 0.5;

/// Parts of a step, at most.
const MOST_PARTS: u32 = 256;

/// Error of the rates relative to the rates, in the norm of the kinetic energy, with which they are found.
const PRECISION: f64 = 1e-10;

/// Share of the error (in the square of that norm) that a correction may leave without a new elimination.
const SLOW: f64 = 0.01;

/// Solves of one part, at most.
const MOST_SOLVES: u32 = 20;

/// Buffers of inertial motion for one tree.
#[derive(Clone, Debug)]
pub(crate) struct Drift {
    /// Rates after the kick, and accelerations by velocity products.
    kicked: Vec<f64>,
    products: Vec<f64>,
    /// Start of a part, and its dynamics in all parts but the first.
    start: TreeState,
    start_dynamics: Dynamics,
    part: Part,
}

/// What stays the same over all parts of a step.
#[derive(Clone, Copy)]
struct InertialCourse<'a> {
    tree: &'a Tree,
    resistance: &'a [f64],
    /// Length of a part, s.
    h: f64,
}

impl InertialCourse<'_> {
    /// Eliminates without any forces, at the kinematics given.
    fn eliminate(&self, command: &HybridCommand, dynamics: &mut Dynamics) {
        let _ = dynamics.respond_resisted(self.tree, command, self.resistance, DVec3::ZERO, &[]);
    }
}

/// One part of the motion.
#[derive(Clone, Debug)]
struct Part {
    middle: TreeState,
    end: TreeState,
    /// Kinematics of the middle and of the end.
    middle_dynamics: Dynamics,
    dynamics: Dynamics,
    /// Elimination at some middle.
    matrix: Dynamics,
    /// Modes of the step, without torques.
    command: HybridCommand,
    /// Momenta of the links at the start, at their origins there, and their changes, summed over all links below.
    momenta: Vec<Force>,
    changes: Vec<Force>,
    residual: Vec<f64>,
    correction: Vec<f64>,
}

impl Drift {
    pub(crate) fn new(tree: &Tree) -> Self {
        let (forces, dofs) = (vec![Force::ZERO; tree.n_links()], vec![0.0; tree.n_dofs()]);
        let (state, dynamics) = (tree.neutral_state(), Dynamics::new(tree));
        Self {
            kicked: dofs.clone(),
            products: dofs.clone(),
            start: state.clone(),
            start_dynamics: dynamics.clone(),
            part: Part {
                middle: state.clone(),
                end: state,
                middle_dynamics: dynamics.clone(),
                dynamics: dynamics.clone(),
                matrix: dynamics,
                command: HybridCommand::passive(tree),
                momenta: forces.clone(),
                changes: forces,
                residual: dofs.clone(),
                correction: dofs,
            },
        }
    }

    /// All forces at once: `dynamics` holds the response at the state, with this resistance per dof.
    pub(crate) fn kick(
        &mut self,
        tree: &Tree,
        dynamics: &mut Dynamics,
        resistance: &[f64],
        state: &TreeState,
        h: f64,
    ) {
        self.begin(tree, dynamics, resistance, state);
        // q̈ = (M + D)⁻¹(forces − c), of which the velocity products c belong to the drift
        add_scaled(&mut self.kicked, h, &dynamics.accelerations);
        add_scaled(&mut self.kicked, -h, &self.products);
    }

    /// No forces: `dynamics` holds the elimination at the state, with this resistance per dof.
    pub(crate) fn begin(
        &mut self,
        tree: &Tree,
        dynamics: &mut Dynamics,
        resistance: &[f64],
        state: &TreeState,
    ) {
        self.find_products(tree, dynamics, resistance, state);
        self.kicked.copy_from_slice(&state.rates);
    }

    /// Rates after the kick.
    pub(crate) fn kicked(&self) -> &[f64] {
        &self.kicked
    }

    /// Adds to the rates after the kick.
    pub(crate) fn push(&mut self, change: &[f64]) {
        add_scaled(&mut self.kicked, 1.0, change);
    }

    /// Inertial motion for the time `h` from a state, with the rates after the kick. Returns the end and its kinematics.
    pub(crate) fn coast(
        &mut self,
        tree: &Tree,
        dynamics: &mut Dynamics,
        resistance: &[f64],
        state: &TreeState,
        h: f64,
    ) -> (&TreeState, &Dynamics) {
        let turn = h * self.fastest_turn(tree, dynamics);
        let mut parts = (turn / LARGEST_TURN).ceil().clamp(1.0, f64::from(MOST_PARTS)) as u32;
        loop {
            let course = InertialCourse { tree, resistance, h: h / f64::from(parts) };
            let is_found = self.try_parts(&course, dynamics, state, parts);
            if is_found || parts >= MOST_PARTS || !turn.is_finite() {
                break;
            }
            parts *= 2;
        }
        (&self.part.end, &self.part.dynamics)
    }

    /// How fast the fastest link turns after the kick, rad/s.
    fn fastest_turn(&self, tree: &Tree, dynamics: &mut Dynamics) -> f64 {
        carry(tree, dynamics, &self.kicked);
        dynamics.rates.iter().map(|twist| twist.angular.length_squared()).fold(0.0, f64::max).sqrt()
    }

    /// Accelerations by velocity products alone; those of driven joints stay what they are.
    fn find_products(&mut self, tree: &Tree, dynamics: &mut Dynamics, resistance: &[f64], state: &TreeState) {
        let command = &mut self.part.command;
        for (mode, given) in command.modes.iter_mut().zip(&dynamics.modes) {
            *mode = if *given == JointMode::Passive { JointMode::Passive } else { JointMode::Prescribed };
        }
        if dynamics.modes.contains(&JointMode::Driven) {
            let free = &mut self.start_dynamics;
            free.kinematics(tree, state);
            let _ = free.respond_resisted(tree, command, resistance, DVec3::ZERO, &[]);
            self.products.copy_from_slice(&free.accelerations);
            return;
        }
        let bias = &mut self.part.residual;
        dynamics.fill_bias(tree, DVec3::ZERO, &[], bias);
        bias.iter_mut().for_each(|c| *c = -*c);
        dynamics.respond_to_impulses(tree, bias, &mut self.products);
    }

    /// Whether every part converged.
    fn try_parts(
        &mut self,
        course: &InertialCourse<'_>,
        dynamics: &mut Dynamics,
        state: &TreeState,
        parts: u32,
    ) -> bool {
        let Self { start, start_dynamics, part, .. } = self;
        start.coordinates.copy_from_slice(&state.coordinates);
        start.rates.copy_from_slice(&self.kicked);
        let mut is_found = part.find_end(course, dynamics, start, &self.products);
        for _ in 1..parts {
            if !is_found && parts < MOST_PARTS {
                break;
            }
            std::mem::swap(start, &mut part.end);
            std::mem::swap(start_dynamics, &mut part.dynamics);
            course.eliminate(&part.command, start_dynamics);
            self.products.copy_from_slice(&start_dynamics.accelerations);
            is_found &= part.find_end(course, start_dynamics, start, &self.products);
        }
        is_found
    }
}

impl Part {
    /// Finds the end from the start; `dynamics` holds the kinematics there, `products` the accelerations there. Returns whether it
    /// was found.
    fn find_end(
        &mut self,
        course: &InertialCourse<'_>,
        dynamics: &mut Dynamics,
        start: &TreeState,
        products: &[f64],
    ) -> bool {
        let &InertialCourse { tree, h, .. } = course;
        self.end.rates.copy_from_slice(&start.rates);
        add_scaled(&mut self.end.rates, h, products);
        carry(tree, dynamics, &start.rates);
        for ((momentum, here), rate) in self.momenta.iter_mut().zip(&dynamics.motions).zip(&dynamics.rates) {
            *momentum = here.inertia.mul(*rate);
        }
        let mut before = None;
        for _ in 0..MOST_SOLVES {
            self.move_from(course, start);
            self.fill_residual(course, dynamics, &start.rates);
            let error = before.map(|before| SLOW * before).and_then(|most: f64| {
                let error = self.correct(tree);
                (error <= most).then_some(error)
            });
            let error = error.unwrap_or_else(|| {
                std::mem::swap(&mut self.matrix, &mut self.middle_dynamics);
                course.eliminate(&self.command, &mut self.matrix);
                self.correct(tree)
            });
            if error <= 2.0 * PRECISION * PRECISION * self.dynamics.kinetic_energy() {
                return true;
            }
            before = Some(error);
            add_scaled(&mut self.end.rates, 1.0, &self.correction);
        }
        false
    }

    /// Kinematics of the middle and of the end, with the rates found so far.
    fn move_from(&mut self, course: &InertialCourse<'_>, start: &TreeState) {
        let Self { middle, end, .. } = self;
        middle.coordinates.copy_from_slice(&start.coordinates);
        end.coordinates.copy_from_slice(&start.coordinates);
        course.tree.advance_between(&start.rates, course.h, middle, end);
        self.middle_dynamics.kinematics(course.tree, middle);
        self.dynamics.kinematics(course.tree, end);
    }

    /// Finds the correction of the residual; returns its size, twice a kinetic energy.
    fn correct(&mut self, tree: &Tree) -> f64 {
        self.matrix.respond_to_impulses(tree, &self.residual, &mut self.correction);
        self.residual.iter().zip(&self.correction).map(|(r, v)| r * v).sum()
    }

    /// What the balance of each joint lacks, as an impulse.
    fn fill_residual(&mut self, course: &InertialCourse<'_>, start: &Dynamics, rates: &[f64]) {
        let Self { middle_dynamics: middle, dynamics: end, .. } = self;
        let ends = start.motions.iter().zip(&end.motions).zip(&middle.motions).enumerate();
        for (k, ((from, to), at)) in ends {
            let momentum = to.inertia.mul(to.velocity);
            self.changes[k] = shift_force(momentum, to.origin - at.origin)
                - shift_force(self.momenta[k], from.origin - at.origin);
        }
        for (k, link) in course.tree.links.iter().enumerate().rev() {
            let change = self.changes[k];
            for dof in link.dofs() {
                let held = course.resistance.get(dof).copied().unwrap_or(0.0);
                self.residual[dof] =
                    -middle.columns[dof].dot(change) - held * (self.end.rates[dof] - rates[dof]);
            }
            if link.parent != NONE {
                self.changes[link.parent as usize] += shift_force(change, middle.motions[k].arm);
            }
        }
    }
}

/// Kinetic energy under given rates at the pose of `dynamics`, J; what resists acceleration counts as inertia.
pub(crate) fn kinetic_energy(tree: &Tree, dynamics: &mut Dynamics, resistance: &[f64], rates: &[f64]) -> f64 {
    carry(tree, dynamics, rates);
    let links = dynamics.motions.iter().zip(&dynamics.rates);
    let links: f64 = links.map(|(here, twist)| here.inertia.kinetic_energy(*twist)).sum();
    links + resistance.iter().zip(rates).map(|(held, rate)| 0.5 * held * rate * rate).sum::<f64>()
}

/// Twists of all links under given rates, at the pose of `dynamics`, into its scratch.
fn carry(tree: &Tree, dynamics: &mut Dynamics, rates: &[f64]) {
    for (k, link) in tree.links.iter().enumerate() {
        let above = if link.parent == NONE { Motion::ZERO } else { dynamics.rates[link.parent as usize] };
        let mut twist = shift_motion(above, dynamics.motions[k].arm);
        for dof in link.dofs() {
            twist += dynamics.columns[dof] * rates[dof];
        }
        dynamics.rates[k] = twist;
    }
}
