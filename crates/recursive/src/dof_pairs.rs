//! Entries of the matrices of joint space, by pairs of dofs of which one is above the other.
//!
//! Equations: `joint_matrices`. A dof has twists (its seed) for what it does to dofs below it, and wrenches (its columns of the
//! table) for what dofs above it do to it; all about the origin of the root link, world axes. Cost: constant per dof and per pair.

use glam::DVec3;
use sinew_math::{Motion, shift_force, shift_motion};
use sinew_solvers::vectorized;
use sinew_topology::NONE;

use crate::composite::CompositeBody;
use crate::dof_table::{DofTable, set_column};
use crate::dynamics::Dynamics;
use crate::subspace_change::{SubspaceChange, padded, unit};
use crate::tree::{Tree, TreeLink};

/// First rows of the table: `I^cS`, `𝓑ᵀS`, `𝓡ᵀS`, `∂F/∂q`, `∂F/∂v`.
const REACH: usize = 0;
const TURNED: usize = 6;
const HELD: usize = 9;
const BY_COORDINATE: usize = 12;
const BY_RATE: usize = 18;
const TABLE_ROWS: usize = 24;

/// Seeds and columns of all dofs.
#[derive(Clone, Debug)]
pub(crate) struct DofPairs {
    seeds: Vec<DofSeed>,
    table: DofTable,
    /// Part of a column of a matrix.
    scratch: Vec<f64>,
}

/// Twists of one dof.
#[derive(Clone, Copy, Debug)]
struct DofSeed {
    /// `S`.
    column: Motion,
    /// Angular part of `p`.
    turn: DVec3,
    /// `s`.
    sweep: Motion,
    /// `m`, or `Ṡ` for the Coriolis matrix.
    rate: Motion,
}

/// What the seeds of a state are made of; `dynamics` has accelerations and wrenches of its last inverse dynamics.
#[derive(Clone, Copy)]
pub(crate) struct SeedInput<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) dynamics: &'a Dynamics,
    pub(crate) accelerations: &'a [f64],
    pub(crate) gravity: DVec3,
    /// Whether there are external wrenches.
    pub(crate) has_loads: bool,
}

impl DofPairs {
    pub(crate) fn new(tree: &Tree) -> Self {
        let (n, zero) = (tree.n_dofs(), Motion::ZERO);
        Self {
            seeds: vec![DofSeed { column: zero, turn: DVec3::ZERO, sweep: zero, rate: zero }; n],
            table: DofTable::new(tree, TABLE_ROWS),
            scratch: vec![0.0; n],
        }
    }

    /// `S` and `I^cS` of a link.
    #[inline(always)]
    fn seed_reach(&mut self, tree: &Tree, dynamics: &Dynamics, k: usize) {
        let place = dynamics.motions[k].place;
        for dof in tree.links[k].dofs() {
            let column = dynamics.columns[dof];
            self.seeds[dof].column = shift_motion(column, -place);
            let reach = dynamics.composite[k].mul(column);
            self.table.set_force(REACH, dof, shift_force(reach, place));
        }
    }

    /// What the Coriolis matrix needs of a link.
    pub(crate) fn seed_coriolis(&mut self, tree: &Tree, dynamics: &Dynamics, k: usize, body: &CompositeBody) {
        let (link, place) = (&tree.links[k], dynamics.motions[k].place);
        self.seed_reach(tree, dynamics, k);
        for (dof, rate) in link.dofs().zip(dynamics.column_rates(tree, k)) {
            let column = dynamics.columns[dof];
            self.seeds[dof].rate = shift_motion(rate, -place);
            self.table.set_vector(TURNED, dof, 0.5 * body.turned_transpose(column));
            let force = body.turned(0.5 * column.angular) + dynamics.composite[k].mul(rate);
            self.table.set_force(BY_RATE, dof, shift_force(force, place));
        }
    }

    /// What derivatives by the state need of a link, after the mass matrix and inverse dynamics.
    #[inline(always)]
    pub(crate) fn seed_state(&mut self, input: &SeedInput<'_>, k: usize, body: &CompositeBody) {
        let SeedInput { tree, dynamics, .. } = *input;
        let place = dynamics.motions[k].place;
        let (link, load, inertia) = (&tree.links[k], dynamics.loads[k], &dynamics.composite[k]);
        let change = SubspaceChange::new(tree, dynamics, k);
        self.seed_reach(tree, dynamics, k);
        for (m, dof) in link.dofs().enumerate() {
            let column = dynamics.columns[dof];
            let local = input.local_seed(k, m, change.as_ref());
            let seed = &mut self.seeds[dof];
            seed.turn = local.turn;
            seed.sweep = shift_motion(local.sweep, -place);
            seed.rate = shift_motion(local.rate, -place);
            let mut by_coordinate =
                column.cross_dual(load) + body.turned(local.turn) + inertia.mul(local.sweep);
            if input.has_loads {
                by_coordinate += body.held(column.angular);
                self.table.set_vector(HELD, dof, body.held_transpose(column));
            }
            let by_rate = body.turned(column.angular) + inertia.mul(local.rate);
            self.table.set_vector(TURNED, dof, body.turned_transpose(column));
            self.table.set_force(BY_COORDINATE, dof, shift_force(by_coordinate, place));
            self.table.set_force(BY_RATE, dof, shift_force(by_rate, place));
        }
    }

    /// Entries of `∂τ/∂q` of dofs of which one is above the other, but for what dofs of one joint do to each other's directions.
    pub(crate) fn fill_by_coordinates(&mut self, input: &SeedInput<'_>, out: &mut [f64]) {
        vectorized(
            #[inline(always)]
            || {
                for link in &input.tree.links {
                    self.fill_link_by_coordinates(input, link, out);
                }
            },
        );
    }

    /// Entries of `∂τ/∂v`, or of the Coriolis matrix, of dofs of which one is above the other.
    pub(crate) fn fill_by_rates(&mut self, tree: &Tree, out: &mut [f64]) {
        vectorized(
            #[inline(always)]
            || {
                for link in &tree.links {
                    self.fill_link_by_rates(tree, link, out);
                }
            },
        );
    }

    /// Entries of the dofs of a link and those below.
    #[inline(always)]
    fn fill_link_by_coordinates(&mut self, input: &SeedInput<'_>, link: &TreeLink, out: &mut [f64]) {
        let (tree, own) = (input.tree, link.dofs());
        let n = tree.n_dofs();
        for dof in own.clone() {
            let (seed, end) = (&self.seeds[dof], tree.dofs[dof].end as usize);
            let row = &mut out[dof * n + own.start..];
            self.table.fill_products(BY_COORDINATE, own.start..end, seed.column.to_array(), row);
            let below = own.end..end;
            if input.has_loads {
                let weights = joined(seed.sweep, [seed.turn, seed.column.angular]);
                self.table.fill_products::<12>(REACH, below, weights, &mut self.scratch);
            } else {
                let weights = joined(seed.sweep, [seed.turn]);
                self.table.fill_products::<9>(REACH, below, weights, &mut self.scratch);
            }
            set_column(&mut out[own.end * n..], n, dof, &self.scratch[..end - own.end]);
        }
    }

    /// Entries of the dofs of a link and those below.
    #[inline(always)]
    fn fill_link_by_rates(&mut self, tree: &Tree, link: &TreeLink, out: &mut [f64]) {
        let (n, own) = (tree.n_dofs(), link.dofs());
        for dof in own.clone() {
            let (seed, end) = (&self.seeds[dof], tree.dofs[dof].end as usize);
            let row = &mut out[dof * n + own.start..];
            self.table.fill_products(BY_RATE, own.start..end, seed.column.to_array(), row);
            let weights = joined(seed.rate, [seed.column.angular]);
            self.table.fill_products::<9>(REACH, own.end..end, weights, &mut self.scratch);
            set_column(&mut out[own.end * n..], n, dof, &self.scratch[..end - own.end]);
        }
    }
}

impl SeedInput<'_> {
    /// The seed of the rate `m` of a link, about the origin of the link.
    #[inline(always)]
    fn local_seed(&self, k: usize, m: usize, change: Option<&SubspaceChange>) -> DofSeed {
        let (link, here) = (&self.tree.links[k], &self.dynamics.motions[k]);
        let column = self.dynamics.columns[link.first_dof as usize + m];
        let (velocity, acceleration) = if link.parent == NONE {
            (Motion::ZERO, Motion::new(DVec3::ZERO, -self.gravity))
        } else {
            let above = link.parent as usize;
            let velocity = shift_motion(self.dynamics.motions[above].velocity, here.arm);
            (velocity, shift_motion(self.dynamics.rates[above], here.arm))
        };
        let carried = velocity.cross(column);
        let mut seed = DofSeed {
            column,
            turn: carried.angular,
            sweep: acceleration.cross(column) + velocity.cross(carried),
            rate: carried + here.velocity.cross(column),
        };
        if let Some(change) = change {
            let (e, accelerations) = (unit(m), padded(&self.accelerations[link.dofs()]));
            let twist = change.twist_along(&e);
            seed.turn += twist.angular;
            seed.sweep += (velocity + here.velocity).cross(twist)
                + change.along(&e, &accelerations)
                + change.drift_along(&e);
            seed.rate += change.drift_by_rates(&e);
        }
        seed
    }
}

/// A twist and vectors, as numbers in a row.
fn joined<const K: usize, const N: usize>(m: Motion, vectors: [DVec3; K]) -> [f64; N] {
    let twist = m.to_array();
    std::array::from_fn(|c| if c < 6 { twist[c] } else { vectors[(c - 6) / 3][(c - 6) % 3] })
}
