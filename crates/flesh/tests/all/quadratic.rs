//! An independent reference for bending: quadratic tetrahedra of ten nodes, four points of integration, St. Venant–Kirchhoff,
//! Newton's method with a banded Cholesky factorization. Half a beam: nothing crosses the plane `y = width/2`.

use std::collections::BTreeMap;

use glam::{DMat3, DVec3};

use sinew_fem::TetMesh;

/// Edges of a tetrahedron, by corners.
const EDGES: [(usize, usize); 6] = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];

/// One point of integration: its volume and the gradients of the ten shape functions.
struct Point {
    volume: f64,
    gradients: [DVec3; 10],
    nodes: [usize; 10],
}

/// A clamped half beam.
pub(crate) struct QuadraticBeam {
    rest: Vec<DVec3>,
    points: Vec<Point>,
    /// Weight of each node per density and gravity, m³.
    weights: Vec<f64>,
    /// Number of each unknown, or none where it is held.
    unknowns: Vec<[Option<usize>; 3]>,
    n: usize,
    band: usize,
}

impl QuadraticBeam {
    /// From the corners of its tetrahedra; clamped at `x = 0`, symmetric about `y = middle`.
    pub(crate) fn new(mesh: &TetMesh, middle: f64) -> Self {
        let mut rest = mesh.positions().to_vec();
        let mut of_edge = BTreeMap::new();
        let (mut points, mut loads) = (Vec::new(), Vec::new());
        for (tet, corners) in mesh.tets().iter().enumerate() {
            let corners = corners.map(|node| node as usize);
            let mut nodes = [0; 10];
            nodes[..4].copy_from_slice(&corners);
            for (k, (a, b)) in EDGES.into_iter().enumerate() {
                let (i, j) = (corners[a].min(corners[b]), corners[a].max(corners[b]));
                nodes[4 + k] = *of_edge.entry((i, j)).or_insert_with(|| {
                    rest.push((rest[i] + rest[j]) * 0.5);
                    rest.len() - 1
                });
            }
            let rows = mesh.edge_matrix(tet).inverse().transpose();
            let linear = [-(rows.x_axis + rows.y_axis + rows.z_axis), rows.x_axis, rows.y_axis, rows.z_axis];
            for own in 0..4 {
                let at = [0, 1, 2, 3]
                    .map(|k| if k == own { 0.585_410_196_624_968_5 } else { 0.138_196_601_125_010_5 });
                let mut gradients = [DVec3::ZERO; 10];
                for k in 0..4 {
                    gradients[k] = linear[k] * (4.0 * at[k] - 1.0);
                }
                for (k, (a, b)) in EDGES.into_iter().enumerate() {
                    gradients[4 + k] = (linear[b] * at[a] + linear[a] * at[b]) * 4.0;
                }
                points.push(Point { volume: 0.25 * mesh.volume(tet), gradients, nodes });
            }
            loads.push((nodes, mesh.volume(tet)));
        }
        // Integrals of the shape functions: −1/20 at corners, 1/5 on edges.
        let mut weights = vec![0.0; rest.len()];
        for (nodes, volume) in loads {
            nodes
                .iter()
                .enumerate()
                .for_each(|(k, &node)| weights[node] += volume * if k < 4 { -0.05 } else { 0.2 });
        }
        let mut order: Vec<usize> = (0..rest.len()).collect();
        order.sort_by(|&a, &b| rest[a].x.total_cmp(&rest[b].x).then(a.cmp(&b)));
        let (mut unknowns, mut n) = (vec![[None; 3]; rest.len()], 0);
        for node in order.into_iter().filter(|&node| rest[node].x > 1e-9) {
            for axis in (0..3).filter(|&axis| axis != 1 || (rest[node].y - middle).abs() > 1e-9) {
                unknowns[node][axis] = Some(n);
                n += 1;
            }
        }
        let mut beam = Self { rest, points, weights, unknowns, n, band: 0 };
        beam.band = beam.points.iter().map(|point| beam.spread(point)).max().unwrap_or(0);
        beam
    }

    fn spread(&self, point: &Point) -> usize {
        let used = || point.nodes.iter().flat_map(|&node| self.unknowns[node]).flatten();
        used().max().unwrap_or(0) - used().min().unwrap_or(0)
    }

    /// Positions at rest under gravity of `weight` (N/m³) along −z, from the rest of the unloaded beam, in rising loads.
    pub(crate) fn settle(&self, lame: [f64; 2], weight: f64) -> Vec<DVec3> {
        let mut x = self.rest.clone();
        for share in [0.1, 0.2, 0.3, 0.4, 0.55, 0.7, 0.85, 1.0] {
            for iteration in 0.. {
                let step = self.newton_step(lame, share * weight, &x);
                let largest = step.iter().map(|step| step.abs()).fold(0.0, f64::max);
                for (x, unknowns) in x.iter_mut().zip(&self.unknowns) {
                    (0..3).for_each(|axis| x[axis] += unknowns[axis].map_or(0.0, |row| step[row]));
                }
                assert!(iteration < 30, "no equilibrium: {largest}");
                if largest < if share < 1.0 { 1e-2 } else { 1e-8 } {
                    break;
                }
            }
        }
        x
    }

    /// A step of Newton's method. Where the stiffness is not definite, enough is added to its diagonal.
    fn newton_step(&self, lame: [f64; 2], weight: f64, x: &[DVec3]) -> Vec<f64> {
        let (matrix, mut out) = self.assemble(lame, x);
        for (unknowns, volume) in self.unknowns.iter().zip(&self.weights) {
            if let Some(row) = unknowns[2] {
                out[row] -= weight * volume;
            }
        }
        for shift in [0.0, 1e-4, 1e-3, 1e-2, 1e-1] {
            let (mut factor, mut step) = (matrix.clone(), out.clone());
            factor.iter_mut().skip(self.band).step_by(self.band + 1).for_each(|d| *d *= 1.0 + shift);
            solve_banded(&mut factor, self.band, &mut step);
            if step.iter().all(|step| step.is_finite()) {
                return step;
            }
        }
        panic!("no direction");
    }

    /// The node at a place of the beam at rest.
    pub(crate) fn node_at(&self, place: DVec3) -> usize {
        self.rest.iter().position(|x| x.distance(place) < 1e-9).expect("a node there")
    }

    /// Lower half of the stiffness, row by row, and the elastic forces.
    fn assemble(&self, [lambda, mu]: [f64; 2], x: &[DVec3]) -> (Vec<f64>, Vec<f64>) {
        let width = self.band + 1;
        let (mut matrix, mut forces) = (vec![0.0; self.n * width], vec![0.0; self.n]);
        for Point { volume, gradients, nodes } in &self.points {
            let mut f = DMat3::ZERO;
            for (&node, g) in nodes.iter().zip(gradients) {
                f += DMat3::from_cols(x[node] * g.x, x[node] * g.y, x[node] * g.z);
            }
            let second = |strain: DMat3| {
                let trace = strain.x_axis.x + strain.y_axis.y + strain.z_axis.z;
                DMat3::from_diagonal(DVec3::splat(lambda * trace)) + strain * (2.0 * mu)
            };
            let s = second((f.transpose() * f - DMat3::IDENTITY) * 0.5);
            let stress = f * s;
            for (&a, ga) in nodes.iter().zip(gradients) {
                let force = stress * *ga * -*volume;
                for i in 0..3 {
                    let Some(row) = self.unknowns[a][i] else { continue };
                    forces[row] += force[i];
                    // Change of the stress if this unknown moves: δF = e_i g_aᵀ.
                    let mut df = DMat3::ZERO;
                    (0..3).for_each(|j| df.col_mut(j)[i] = ga[j]);
                    let de = (f.transpose() * df + df.transpose() * f) * 0.5;
                    let dp = (df * s + f * second(de)) * *volume;
                    for (&b, gb) in nodes.iter().zip(gradients) {
                        let change = dp * *gb;
                        for j in 0..3 {
                            if let Some(column) = self.unknowns[b][j].filter(|&column| column <= row) {
                                matrix[row * width + column + self.band - row] += change[j];
                            }
                        }
                    }
                }
            }
        }
        (matrix, forces)
    }
}

/// Solves in place; `matrix` has the entries of each row up to the diagonal, `band + 1` of them.
fn solve_banded(matrix: &mut [f64], band: usize, rhs: &mut [f64]) {
    let (n, width) = (rhs.len(), band + 1);
    for row in 0..n {
        let first = row.saturating_sub(band);
        for column in first..=row {
            let common = first.max(column.saturating_sub(band));
            let (a, b) = (row * width + band - row, column * width + band - column);
            let product: f64 = matrix[a + common..a + column]
                .chunks(8)
                .zip(matrix[b + common..b + column].chunks(8))
                .map(|(a, b)| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>())
                .sum();
            let left = matrix[a + column] - product;
            matrix[a + column] = if column < row { left / matrix[b + column] } else { left.sqrt() };
        }
    }
    for row in 0..n {
        let at = row * width + band - row;
        let known: f64 = (row.saturating_sub(band)..row).map(|k| matrix[at + k] * rhs[k]).sum();
        rhs[row] = (rhs[row] - known) / matrix[at + row];
    }
    for row in (0..n).rev() {
        let at = row * width + band - row;
        rhs[row] /= matrix[at + row];
        for k in row.saturating_sub(band)..row {
            rhs[k] -= matrix[at + k] * rhs[row];
        }
    }
}
