//! Random tree systems with an independently assembled dense matrix `[A −Jᵀ; J E]`.

use sinew_solvers::BlockSystem;
use sinew_testkit::{Dense, ForestShape, Rng, random_forest, random_spd};
use sinew_topology::{EliminationPlan, Endpoints, GraphBuilder, Priority, VariableId, plan};

/// A system, its plan and the same matrix written out from the same blocks by id.
pub(crate) struct Sample {
    pub(crate) plan: EliminationPlan,
    pub(crate) system: BlockSystem,
    pub(crate) matrix: Dense,
}

/// What a random system is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recipe {
    pub(crate) shape: ForestShape,
    /// Chance that a body has 6 unknowns instead of 1 to `largest`.
    pub(crate) rigid_chance: f64,
    pub(crate) largest: usize,
    /// The number of unknowns of every body, if they all have the same.
    pub(crate) fixed: Option<usize>,
    /// Bodies weigh 1 to 10 to this power.
    pub(crate) mass_decades: i32,
    /// Couplings are up to 10 to this power stiff.
    pub(crate) stiffness_decades: i32,
    /// Rows are those of a permutation plus noise of this size; at 1 some are almost dependent.
    pub(crate) row_noise: f64,
    /// Chance that a constraint has compliance on its diagonal.
    pub(crate) compliance_chance: f64,
}

impl Recipe {
    /// Rigid bodies in one tree, moderately scaled.
    pub(crate) fn rigid(n_bodies: usize, chain_chance: f64) -> Self {
        let shape = ForestShape { n_bodies, root_chance: 0.0, world_chance: 1.0, chain_chance };
        Self {
            shape,
            rigid_chance: 1.0,
            largest: 6,
            fixed: None,
            mass_decades: 1,
            stiffness_decades: 2,
            row_noise: 0.4,
            compliance_chance: 0.0,
        }
    }
}

/// Draws a system: symmetric positive definite masses, full-rank rows, stiff couplings, random directions of
/// declaration.
pub(crate) fn sample(rng: &mut Rng, recipe: Recipe) -> Sample {
    let links = random_forest(rng, recipe.shape);
    let mut builder = GraphBuilder::new();
    let dims: Vec<usize> = (0..recipe.shape.n_bodies)
        .map(|_| {
            let drawn = if rng.chance(recipe.rigid_chance) { 6 } else { 1 + rng.below(recipe.largest) };
            recipe.fixed.unwrap_or(drawn)
        })
        .collect();
    let bodies: Vec<VariableId> = dims.iter().map(|&dim| builder.add_variable(dim)).collect();
    let mut joints = Vec::new();
    for link in links {
        let most = link.parent.map_or(dims[link.child], |parent| dims[link.child].min(dims[parent]));
        let dim = rng.below(most + 1);
        let ends = match link.parent {
            None => (link.child, None),
            Some(parent) if rng.chance(0.5) => (link.child, Some(parent)),
            Some(parent) => (parent, Some(link.child)),
        };
        let endpoints = match ends {
            (child, None) => Endpoints::World(bodies[child]),
            (child, Some(parent)) => Endpoints::Pair(bodies[child], bodies[parent]),
        };
        joints.push((builder.add_constraint(dim, endpoints, Priority::Auto), dim, ends));
    }
    let plan = plan(&builder.finish().unwrap()).unwrap();
    let mut system = BlockSystem::new(&plan);
    let mut masses: Vec<Dense> = dims
        .iter()
        .map(|&dim| {
            let scale = rng.power_of_ten(0, recipe.mass_decades);
            random_spd(rng, dim, scale)
        })
        .collect();
    let mut matrix = Dense::zeros(system.n_unknowns(), system.n_unknowns());
    for (id, dim, (child, parent)) in joints {
        let rows = system.constraint_range(id);
        let mut place = |body: usize, block: &Dense, system: &BlockSystem| {
            let columns = system.variable_range(bodies[body]);
            matrix.add_block(rows.start, columns.start, block);
            let against = Dense::from_fn(block.n_cols(), block.n_rows(), |i, j| -block[(j, i)]);
            matrix.add_block(columns.start, rows.start, &against);
        };
        let child_rows = noisy_rows(rng, recipe.row_noise, dim, dims[child]);
        place(child, &child_rows, &system);
        let mut parent_rows = Dense::zeros(dim, 0);
        if let Some(parent) = parent {
            parent_rows = noisy_rows(rng, recipe.row_noise, dim, dims[parent]);
            place(parent, &parent_rows, &system);
            // Stiffness k GᵀG on (child, parent).
            let (n, total) = (dims[child], dims[child] + dims[parent]);
            let g = Dense::from_fn(2, total, |_, _| rng.uniform(-1.0, 1.0));
            let stiffness = rng.power_of_ten(-1, recipe.stiffness_decades);
            let square = g.transpose().mul(&g);
            let k = Dense::from_fn(total, total, |i, j| stiffness * square[(i, j)]);
            let quadrant = |i0: usize, j0: usize, r, c| Dense::from_fn(r, c, |i, j| k[(i0 + i, j0 + j)]);
            masses[child] = masses[child].plus(&quadrant(0, 0, n, n), 1.0);
            masses[parent] = masses[parent].plus(&quadrant(n, n, total - n, total - n), 1.0);
            let coupling = quadrant(0, n, n, total - n);
            system.set_coupling(id, coupling.entries());
            let (at_child, at_parent) =
                (system.variable_range(bodies[child]).start, system.variable_range(bodies[parent]).start);
            matrix.add_block(at_child, at_parent, &coupling);
            matrix.add_block(at_parent, at_child, &coupling.transpose());
        }
        system.set_jacobians(id, child_rows.entries(), parent_rows.entries());
        if rng.chance(recipe.compliance_chance) {
            for (i, row) in rows.clone().enumerate() {
                system.compliance_mut(id)[i * dim + i] = 1e-3;
                matrix[(row, row)] = 1e-3;
            }
        }
    }
    for (body, mass) in bodies.iter().zip(&masses) {
        system.variable_mut(*body).copy_from_slice(mass.entries());
        let start = system.variable_range(*body).start;
        matrix.add_block(start, start, mass);
    }
    for value in system.rhs_mut() {
        *value = rng.uniform(-1.0, 1.0);
    }
    Sample { plan, system, matrix }
}

/// Rows of a permutation matrix plus noise.
fn noisy_rows(rng: &mut Rng, noise: f64, n_rows: usize, n_columns: usize) -> Dense {
    let shift = rng.below(n_columns);
    Dense::from_fn(n_rows, n_columns, |i, j| {
        let main = if (i + shift) % n_columns == j { 1.0 } else { 0.0 };
        main + rng.uniform(-noise, noise)
    })
}
