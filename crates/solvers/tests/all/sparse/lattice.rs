//! Test bodies: a block of cubes cut into six tetrahedra each, of linearly elastic material.

use glam::{DMat3, DVec3};
use sinew_solvers::{BlockMatrix, ELEMENT_PAIRS, SparsePattern};

/// Isotropic material: Young's modulus (Pa), Poisson's ratio, density (kg/m³).
#[derive(Clone, Copy)]
pub(crate) struct Material {
    pub(crate) young: f64,
    pub(crate) poisson: f64,
    pub(crate) density: f64,
}

pub(crate) const SOFT: Material = Material { young: 1e6, poisson: 0.4, density: 1000.0 };

/// A mesh at rest.
pub(crate) struct Lattice {
    pub(crate) rest: Vec<DVec3>,
    pub(crate) elements: Vec<[u32; 4]>,
}

impl Lattice {
    /// `n` cubes of side `side` (m) along each axis, from the origin; all cubes are cut along the same diagonal.
    pub(crate) fn new(n: [u32; 3], side: f64) -> Self {
        let index = |c: [u32; 3]| (c[0] * (n[1] + 1) + c[1]) * (n[2] + 1) + c[2];
        let cells = |n: [u32; 3]| {
            (0..n[0]).flat_map(move |x| (0..n[1]).flat_map(move |y| (0..n[2]).map(move |z| [x, y, z])))
        };
        let rest = cells(n.map(|n| n + 1)).map(|c| DVec3::from_array(c.map(f64::from)) * side).collect();
        let walks = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]];
        let elements = cells(n)
            .flat_map(|cell| {
                walks.map(|walk| {
                    let mut corner = cell;
                    let mut nodes = [index(corner); 4];
                    for (k, axis) in walk.into_iter().enumerate() {
                        corner[axis] += 1;
                        nodes[k + 1] = index(corner);
                    }
                    nodes
                })
            })
            .collect();
        Self { rest, elements }
    }

    /// A beam of 1 × 0.2 × 0.2 m with `n` cubes across.
    pub(crate) fn cantilever(n: u32) -> Self {
        Self::new([5 * n, n, n], 0.2 / f64::from(n))
    }

    pub(crate) fn pattern(&self) -> SparsePattern {
        SparsePattern::new(self.rest.len(), &self.elements).unwrap()
    }

    /// Whether a node is in the plane x = 0.
    pub(crate) fn clamped(&self) -> Vec<bool> {
        self.rest.iter().map(|x| x.x < 1e-9).collect()
    }

    /// Node masses (kg): a quarter of each element's.
    pub(crate) fn masses(&self, density: f64) -> Vec<f64> {
        let mut masses = vec![0.0; self.rest.len()];
        for nodes in &self.elements {
            let (volume, _) = gradients(nodes.map(|i| self.rest[i as usize]));
            nodes.iter().for_each(|&i| masses[i as usize] += 0.25 * density * volume);
        }
        masses
    }

    /// The ten blocks of the stiffness of each element (N/m).
    pub(crate) fn stiffness(&self, material: Material) -> Vec<[DMat3; 10]> {
        self.elements.iter().map(|nodes| stiffness(nodes.map(|i| self.rest[i as usize]), material)).collect()
    }

    /// `M + h² K`.
    pub(crate) fn matrix(&self, material: Material, h: f64) -> BlockMatrix {
        let mut matrix = BlockMatrix::new(self.pattern());
        let (masses, stiffness) = (self.masses(material.density), self.stiffness(material));
        matrix.assemble(|fill| {
            for (element, blocks) in stiffness.iter().enumerate() {
                fill.add_element(element, &blocks.map(|block| block * (h * h)));
            }
            masses.iter().enumerate().for_each(|(node, &mass)| fill.add_mass(node, mass));
        });
        matrix
    }
}

/// Volume of a tetrahedron and the gradients of its four shape functions.
fn gradients(x: [DVec3; 4]) -> (f64, [DVec3; 4]) {
    let edges = DMat3::from_cols(x[1] - x[0], x[2] - x[0], x[3] - x[0]);
    let rows = edges.inverse().transpose();
    let (a, b, c) = (rows.x_axis, rows.y_axis, rows.z_axis);
    (edges.determinant().abs() / 6.0, [-(a + b + c), a, b, c])
}

/// `K_ab = V (λ g_a g_bᵀ + μ g_b g_aᵀ + μ (g_a·g_b) 1)`, for the ten pairs.
fn stiffness(x: [DVec3; 4], material: Material) -> [DMat3; 10] {
    let (volume, g) = gradients(x);
    let Material { young, poisson, .. } = material;
    let lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
    let mu = 0.5 * young / (1.0 + poisson);
    let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
    ELEMENT_PAIRS.map(|(a, b)| {
        (outer(g[a], g[b]) * lambda
            + outer(g[b], g[a]) * mu
            + DMat3::from_diagonal(DVec3::splat(mu * g[a].dot(g[b]))))
            * volume
    })
}
