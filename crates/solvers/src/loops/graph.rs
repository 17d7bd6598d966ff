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

use super::rows::LoopRows;
use crate::sparse::{FrontFactor, FrontPlan};
use sinew_math::{Force, Motion, Sym6};

/// A tree and its loops as one graph.
#[derive(Clone, Debug, Default)]
pub struct LoopGraph {
    /// All rows: first those of the loops, as they are solved, then those of the tree joints.
    pub rows: LoopRows,
    /// Inverse mass of each port with all that acts on it alone.
    pub inverse_masses: Vec<Sym6>,
    plan: FrontPlan,
    /// Ports and rows of the blocks of the plan.
    planned: Vec<([u32; 2], usize)>,
    /// Products of rows that meet at a body, front by front.
    meetings: Vec<Meeting>,
    /// First meeting of each front, and the end.
    first_meetings: Vec<usize>,
    /// What the factor was made of, then what the next one is made of.
    made_of: [Ingredients; 2],
    factor: FrontFactor,
}

/// Two blocks that meet at a body.
#[derive(Clone, Copy, Debug)]
struct Meeting {
    blocks: [u32; 2],
    sides: [u8; 2],
    /// Column of the first block and row of the second one in their front.
    places: [u32; 2],
}

/// The numbers of which `H` is made.
#[derive(Clone, Debug, Default, PartialEq)]
struct Ingredients {
    /// `J` on both sides, each row divided by the root of its diagonal entry of `H`.
    rows: Vec<[Force; 2]>,
    /// `W Jᵀ` of the same.
    moved: Vec<[Motion; 2]>,
    /// One over that root.
    scales: Vec<f64>,
    /// What the diagonal has beyond the products: `D + ε P`, scaled.
    on_diagonal: Vec<f64>,
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

    /// `r ← (A + ε P)⁻¹ r`.
    pub(crate) fn solve(&mut self, r: &mut [f64]) {
        let Self { plan, planned, factor, made_of: [made, _], .. } = self;
        factor.x.clear();
        factor.x.resize(made.scales.len(), 0.0);
        let mut row = 0;
        for (&(_, n), &position) in planned.iter().zip(&plan.positions) {
            for i in 0..n {
                if let Some(r) = r.get(row + i) {
                    factor.x[position as usize + i] = r * made.scales[row + i];
                }
            }
            row += n;
        }
        factor.solve(plan);
        let mut row = 0;
        for (&(_, n), &position) in planned.iter().zip(&plan.positions) {
            for i in 0..n {
                if let Some(r) = r.get_mut(row + i) {
                    *r = factor.x[position as usize + i] * made.scales[row + i];
                }
            }
            row += n;
        }
    }
}

impl Ingredients {
    /// Takes rows, masses and what is added to the diagonal for the first rows. Blocks that are switched off touch nothing.
    fn fill(&mut self, all: &LoopRows, inverse_masses: &[Sym6], proximal: &[f64]) {
        let Self { rows, moved, scales, on_diagonal } = self;
        rows.clear();
        moved.clear();
        scales.clear();
        on_diagonal.clear();
        for block in all.blocks() {
            let masses = block.ports.map(|port| inverse_masses.get(port as usize));
            for row in block.rows() {
                let is_on = block.weight > 0.0;
                let on = [0, 1].map(|side| if is_on { all.row_on(block, row, side) } else { Force::ZERO });
                let by = [0, 1].map(|side| masses[side].map_or(Motion::ZERO, |mass| apply(mass, on[side])));
                let added = all.compliance()[row] + proximal.get(row).copied().unwrap_or(0.0);
                let diagonal = on[0].dot(by[0]) + on[1].dot(by[1]) + added;
                let scale = if is_on && diagonal > 0.0 { 1.0 / diagonal.sqrt() } else { 0.0 };
                rows.push(on.map(|on| on * scale));
                moved.push(by.map(|by| by * scale));
                scales.push(scale);
                on_diagonal.push(if scale > 0.0 { added * scale * scale } else { 1.0 });
            }
        }
    }

    /// Adds the products of two blocks to the columns of the first one, lower half.
    fn add(
        &self,
        meeting: &Meeting,
        [first, second]: [std::ops::Range<usize>; 2],
        matrix: &mut [f64],
        n: usize,
    ) {
        let (sides, places) = (meeting.sides.map(usize::from), meeting.places.map(|place| place as usize));
        let is_own = meeting.blocks[0] == meeting.blocks[1];
        for (i, row) in first.enumerate() {
            let on = self.rows[row][sides[0]];
            let skipped = if is_own { i } else { 0 };
            let column = &mut matrix[(places[0] + i) * n + places[1]..][skipped..second.len()];
            for (entry, moved) in column.iter_mut().zip(&self.moved[second.clone()][skipped..]) {
                *entry += on.dot(moved[sides[1]]);
            }
        }
    }
}

/// The twist that an impulse gives a body.
fn apply(inverse_mass: &Sym6, impulse: Force) -> Motion {
    let Force { angular, linear } =
        inverse_mass.mul(Motion { angular: impulse.angular, linear: impulse.linear });
    Motion { angular, linear }
}

#[cfg(test)]
mod tests {
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
