//! A tree and its loops as one graph: every joint is rows, every body is free.
//!
//! **What.** The loop matrix `A = Â + D` is dense, because the tree carries an impulse from any loop to any other. It is the Schur
//! complement, on the rows `ℓ` of the loops, of a sparse matrix that also holds the rows `t` of the tree joints:
//! ```text
//! H = J W Jᵀ + D,   W = M⁻¹ body by body,       (A + ε P)⁻¹ r = x_ℓ  of  (H + ε P_ℓ) x = (r, 0)
//! ```
//! Two joints meet in `H` only where they hold one body. `H` is positive semidefinite, so its pivots need no search and the order of
//! elimination only serves to keep it sparse (`sparse::fronts`). Ladders and chains with loops take time in proportion to their
//! length, meshes of `n` bars about `n^1.5`.
//!
//! **Frames, units.** As [`LoopRows`].
//!
//! **Cost.** [`LoopGraph::flops`] for a factor, which is kept as long as rows and masses stay as they are. Plans are made anew when joints
//! come or go; otherwise nothing allocates.
//!
//! **Failure.** Rows that move nothing of their own get 0. Numbers that are not finite are passed on.

use super::ingredients::{Ingredients, Meeting};
use super::rows::LoopRows;
use crate::sparse::{FrontFactor, FrontPlan};
use sinew_math::{Force, Sym6};

/// A tree and its loops as one graph.
#[derive(Clone, Debug, Default)]
pub struct LoopGraph {
    /// All rows: first those of the loops, as they are solved, then those of the tree joints.
    pub rows: LoopRows,
    /// Inverse mass of each port with all that acts on it alone.
    pub inverse_masses: Vec<Sym6>,
    /// Momentum of each port with all that acts on it alone; only [`super::AllRows`] reads it.
    pub momenta: Vec<Force>,
    plan: FrontPlan,
    /// Ports and rows of the blocks of the plan.
    planned: Vec<([u32; 2], usize)>,
    /// Where each row is in the order of elimination.
    row_positions: Vec<u32>,
    /// Products of rows that meet at a body, front by front.
    meetings: Vec<Meeting>,
    /// First meeting of each front, and the end.
    first_meetings: Vec<usize>,
    /// What the factor was made of, then what the next one is made of.
    made_of: [Ingredients; 2],
    factor: FrontFactor,
}

impl LoopGraph {
    /// Whether the plan is that of the present rows.
    fn is_planned(&self) -> bool {
        let blocks = self.rows.blocks().iter().map(|block| (block.ports, block.rows().len()));
        blocks.eq(self.planned.iter().copied())
    }

    /// Plans for the present rows, unless that is done already.
    pub fn plan(&mut self) {
        if self.is_planned() {
            return;
        }
        let blocks = self.rows.blocks();
        self.planned.clear();
        self.planned.extend(blocks.iter().map(|block| (block.ports, block.rows().len())));
        let mut at_port: Vec<Vec<(u32, u8)>> = vec![Vec::new(); self.rows.n_ports()];
        for (number, block) in blocks.iter().enumerate().filter(|(_, block)| !block.rows().is_empty()) {
            for (side, &port) in block.ports.iter().enumerate() {
                if port != LoopRows::FIXED {
                    at_port[port as usize].push((number as u32, side as u8));
                }
            }
        }
        let mut neighbours = vec![Vec::new(); blocks.len()];
        for &(block, _) in at_port.iter().flatten() {
            for port in blocks[block as usize].ports.into_iter().filter(|&port| port != LoopRows::FIXED) {
                let near = at_port[port as usize].iter().map(|&(other, _)| other);
                neighbours[block as usize].extend(near.filter(|&other| other != block));
            }
        }
        for near in &mut neighbours {
            near.sort_unstable();
            near.dedup();
        }
        let sizes: Vec<u32> = blocks.iter().map(|block| block.rows().len() as u32).collect();
        self.plan = FrontPlan::new(&sizes, neighbours);
        let positions = sizes.iter().zip(&self.plan.positions).flat_map(|(&n, &first)| first..first + n);
        self.row_positions = positions.collect();
        self.plan_meetings(&at_port);
        self.made_of[0] = Ingredients::default();
    }

    /// Lists the products that each front adds up.
    fn plan_meetings(&mut self, at_port: &[Vec<(u32, u8)>]) {
        let Self { plan, meetings, first_meetings, rows, .. } = self;
        meetings.clear();
        first_meetings.clear();
        for (number, front) in plan.fronts.iter().enumerate() {
            first_meetings.push(meetings.len());
            for &block in &front.blocks {
                let from = plan.positions[block as usize];
                for (side, &port) in rows.blocks()[block as usize].ports.iter().enumerate() {
                    let Some(met) = at_port.get(port as usize) else { continue };
                    for &(other, other_side) in met {
                        let to = plan.positions[other as usize];
                        if to >= from {
                            meetings.push(Meeting {
                                blocks: [block, other],
                                sides: [side as u8, other_side],
                                places: [from, to].map(|at| plan.place(number, at)),
                            });
                        }
                    }
                }
            }
        }
        first_meetings.push(meetings.len());
    }

    /// Flops of a factor of the present rows.
    pub fn flops(&mut self) -> f64 {
        self.plan();
        self.plan.flops()
    }

    /// Factors `H + ε P`, with one `ε P` for each row of the loops; nothing if it is as it was.
    pub(crate) fn factor(&mut self, proximal: &[f64]) {
        self.factor_with(|row, _| proximal.get(row).copied().unwrap_or(0.0));
    }

    /// The same with `ε P` of a row by its number and its diagonal entry of `J W Jᵀ`.
    pub(super) fn factor_with(&mut self, proximal: impl Fn(usize, f64) -> f64) {
        self.plan();
        let [made, next] = &mut self.made_of;
        next.fill(&self.rows, &self.inverse_masses, proximal);
        if made == next {
            return;
        }
        std::mem::swap(made, next);
        let Self { rows, plan, meetings, first_meetings, made_of: [made, _], factor, .. } = self;
        let blocks = rows.blocks();
        let assemble = |front: usize, matrix: &mut [f64], n: usize| {
            for meeting in &meetings[first_meetings[front]..first_meetings[front + 1]] {
                made.add(meeting, meeting.blocks.map(|block| blocks[block as usize].rows()), matrix, n);
            }
            let own = plan.fronts[front].blocks.iter().flat_map(|&block| blocks[block as usize].rows());
            for (place, row) in own.enumerate() {
                matrix[place * n + place] += made.on_diagonal[row];
            }
        };
        factor.factor(plan, assemble);
    }

    /// Rows of the first blocks.
    pub fn n_loop_rows(&self, n_loops: usize) -> u32 {
        self.rows.blocks().get(n_loops).map_or(self.rows.len(), |block| block.rows().start) as u32
    }

    /// Largest `ε P λ` of the first rows.
    pub(super) fn held(&self, lambda: &[f64]) -> f64 {
        let Ingredients { on_diagonal, scales, .. } = &self.made_of[0];
        let of_row = |row: usize| {
            let added = on_diagonal[row] / (scales[row] * scales[row]) - self.rows.compliance()[row];
            (added * lambda[row]).abs()
        };
        (0..lambda.len()).filter(|&row| scales[row] > 0.0).map(of_row).fold(0.0, f64::max)
    }

    /// `r ← (A + ε P)⁻¹ r`.
    pub(crate) fn solve(&mut self, r: &mut [f64]) {
        let Self { plan, row_positions, factor, made_of: [made, _], .. } = self;
        factor.x.clear();
        factor.x.resize(made.scales.len(), 0.0);
        for ((r, &position), scale) in r.iter().zip(&*row_positions).zip(&made.scales) {
            factor.x[position as usize] = r * scale;
        }
        factor.solve(plan);
        for ((r, &position), scale) in r.iter_mut().zip(&*row_positions).zip(&made.scales) {
            *r = factor.x[position as usize] * scale;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::all_rows::AllRows;
    use super::super::ingredients::apply;
    use super::super::rows::LoopRow;
    use super::*;
    use glam::DVec3;
    use sinew_math::{Sym3, shift_force};
    use sinew_testkit::{Dense, Rng};

    const N_LOOP_BLOCKS: usize = 5;

    fn force(rng: &mut Rng) -> Force {
        Force { angular: rng.vec3(-1.0, 1.0), linear: rng.vec3(-1.0, 1.0) }
    }

    /// Random joints between random bodies, some with loads that couple rotation and translation.
    fn random_graph(rng: &mut Rng) -> LoopGraph {
        let n_bodies = 4 + rng.below(8) as u32;
        let mut graph = LoopGraph::default();
        for k in 0..n_bodies + N_LOOP_BLOCKS as u32 {
            let port = k % n_bodies;
            let other = rng.below(n_bodies as usize + 1) as u32;
            let other = if other >= n_bodies || other == port { LoopRows::FIXED } else { other };
            if rng.chance(0.3) {
                graph.rows.push_point(
                    [port, other],
                    [rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0)],
                    DVec3::ZERO,
                    1.0,
                );
                continue;
            }
            let mut row = || {
                let on1 = force(rng);
                let compliance = if rng.chance(0.3) { rng.power_of_ten(-6, 2) } else { 0.0 };
                LoopRow { on1, on2: shift_force(on1, rng.vec3(-1.0, 1.0)) * -1.0, rhs: 0.0, compliance }
            };
            let rows = [row(), row()];
            graph.rows.push([port, other], &rows[..1 + k as usize % 2], 1.0);
        }
        graph.inverse_masses = (0..n_bodies)
            .map(|_| {
                let inertia = Sym3::diagonal(rng.vec3(0.1, 1.0));
                let mut mass = Sym6::rigid(inertia, rng.power_of_ten(-3, 3));
                mass.add_outer(rng.power_of_ten(-1, 3), force(rng));
                mass.inverse().expect("a mass")
            })
            .collect();
        graph
    }

    /// `H + ε P`, entry by entry from its definition.
    fn dense(graph: &LoopGraph, proximal: &[f64]) -> Dense {
        let LoopGraph { rows, inverse_masses, .. } = graph;
        let mut h = Dense::zeros(rows.len(), rows.len());
        for a in rows.blocks() {
            for b in rows.blocks() {
                for (side_a, side_b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    let port = a.ports[side_a];
                    if port != b.ports[side_b] || port == LoopRows::FIXED {
                        continue;
                    }
                    for (i, j) in a.rows().flat_map(|i| b.rows().map(move |j| (i, j))) {
                        let moved = apply(&inverse_masses[port as usize], rows.row_on(b, j, side_b));
                        h[(i, j)] += rows.row_on(a, i, side_a).dot(moved);
                    }
                }
            }
        }
        for i in 0..rows.len() {
            h[(i, i)] += rows.compliance()[i] + proximal.get(i).copied().unwrap_or(0.0);
        }
        h
    }

    #[test]
    fn the_factor_is_that_of_the_dense_matrix() {
        let mut rng = Rng::new(3);
        for case in 0..200 {
            let mut graph = random_graph(&mut rng);
            let n_loop_rows = graph.rows.blocks()[N_LOOP_BLOCKS].rows().start;
            let proximal = vec![rng.power_of_ten(-6, 0); n_loop_rows];
            let r: Vec<f64> = (0..n_loop_rows).map(|_| rng.uniform(-1.0, 1.0)).collect();
            let mut rhs = r.clone();
            rhs.resize(graph.rows.len(), 0.0);
            // Rows of one body beyond six may depend on each other.
            let Some(lu) = dense(&graph, &proximal).lu() else { continue };
            let expected = lu.solve(&rhs);
            let mut found = r;
            graph.factor(&proximal);
            graph.solve(&mut found);
            let scale = expected.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
            if scale > 1e9 {
                continue;
            }
            for (x, y) in found.iter().zip(&expected) {
                assert!((x - y).abs() <= 1e-6 * scale, "case {case}: {x} {y}");
            }
        }
    }

    #[test]
    fn all_rows_at_once_give_the_twists_of_the_dense_solution() {
        let (mut rng, mut n_solved) = (Rng::new(11), 0);
        for case in 0..200 {
            let mut graph = random_graph(&mut rng);
            let (n_bodies, n_rows) = (graph.inverse_masses.len(), graph.rows.len());
            graph.momenta = (0..n_bodies).map(|_| force(&mut rng)).collect();
            let free: Vec<_> =
                graph.inverse_masses.iter().zip(&graph.momenta).map(|(mass, &p)| apply(mass, p)).collect();
            let mut rhs = vec![0.0; n_rows];
            graph.rows.gather(&free, &mut rhs);
            rhs.iter_mut().zip(graph.rows.rhs()).for_each(|(x, b)| *x = b - *x);
            let Some(lu) = dense(&graph, &[]).lu() else { continue };
            let expected = lu.solve(&rhs);
            let mut motions = free.clone();
            let size = rhs.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
            let Some(residual) =
                AllRows::default().solve(&mut graph, N_LOOP_BLOCKS, 1e-11 * size, &mut motions)
            else {
                continue;
            };
            n_solved += 1;
            assert!(residual <= 1e-10 * size);
            let mut impulses = graph.momenta.clone();
            graph.rows.scatter(&expected, &mut impulses);
            let scale = impulses.iter().fold(0.0, |a: f64, p| a.max(p.angular.length() + p.linear.length()));
            for ((motion, mass), &impulse) in motions.iter().zip(&graph.inverse_masses).zip(&impulses) {
                let error = *motion - apply(mass, impulse);
                let largest = mass.angular.max_abs() + mass.linear.max_abs();
                let error = error.angular.length() + error.linear.length();
                assert!(error <= 1e-7 * scale * largest, "case {case}: {error}");
            }
        }
        assert!(n_solved > 100, "{n_solved}");
    }

    #[test]
    fn rows_that_contradict_each_other_are_left_to_the_tree() {
        let mut graph = LoopGraph::default();
        for rhs in [DVec3::X, DVec3::X, -DVec3::X] {
            graph.rows.push_point([0, LoopRows::FIXED], [DVec3::Y, DVec3::ZERO], rhs, 1.0);
        }
        graph.inverse_masses = vec![Sym6::rigid(Sym3::diagonal(DVec3::ONE), 1.0)];
        graph.momenta = vec![Force::ZERO];
        let mut motions = [sinew_math::Motion::ZERO];
        assert_eq!(AllRows::default().solve(&mut graph, 3, 1e-10, &mut motions), None);
    }

    #[test]
    fn a_factor_is_kept_while_nothing_changes() {
        let mut graph = random_graph(&mut Rng::new(8));
        let n = graph.rows.blocks()[N_LOOP_BLOCKS].rows().start;
        let solve = |graph: &mut LoopGraph, proximal: f64| {
            let mut x = vec![1.0; n];
            graph.factor(&vec![proximal; n]);
            graph.solve(&mut x);
            x
        };
        let first = solve(&mut graph, 1e-3);
        assert_eq!(solve(&mut graph, 1e-3), first);
        let softer = solve(&mut graph, 1e-1);
        assert_ne!(softer, first);
        graph.inverse_masses[0] = Sym6::ZERO;
        assert_ne!(solve(&mut graph, 1e-1), softer);
    }
}
