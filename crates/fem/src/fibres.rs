//! Fibres in flesh: the cells they run through and their weights.
//!
//! A fibre runs through one cell, a star with mean strain or else a tetrahedron, along the unit vector `m` at rest. With the gradients `G_b` of the cell it is a spring between all its nodes,
//!
//! ```text
//! l = F m = Σ c_b x_b        c_b = G_b · m        Σ c_b = 0        λ = |l|
//! ```
//!
//! with the filled volume of the tetrahedra of its muscle in the cell. In a star, `m` is the mean of their directions by volume. 1/m, m³; linear in the fibres, once.

use crate::error::FemError;
use crate::fibre_law::FibreLaw;
use crate::stars::Stars;
use glam::DVec3;
use sinew_math::TetMesh;

/// Fibres that have one law and one activation.
#[derive(Clone, Debug, Default)]
pub struct Muscle {
    /// Their law.
    pub law: FibreLaw,
    /// Tetrahedra, and the direction of the fibres in each at rest: of any length but zero, of either sign.
    pub fibres: Vec<(u32, DVec3)>,
}

/// All fibres of a model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fibres {
    pub(crate) laws: Vec<FibreLaw>,
    /// First entry of each fibre in `nodes` and `weights`, and their number.
    start: Vec<u32>,
    nodes: Vec<u32>,
    /// `c`, 1/m.
    weights: Vec<f64>,
    list: Vec<FibreCell>,
}

/// Where a fibre runs.
#[derive(Clone, Copy, Debug)]
struct FibreCell {
    cell: u32,
    muscle: u32,
    /// m³.
    volume: f64,
}

/// One fibre.
#[derive(Clone, Copy)]
pub(crate) struct Fibre<'a> {
    pub(crate) nodes: &'a [u32],
    pub(crate) weights: &'a [f64],
    pub(crate) volume: f64,
    /// A star, or else a tetrahedron.
    pub(crate) cell: usize,
    pub(crate) muscle: usize,
}

impl Fibre<'_> {
    /// `Σ c x` of vectors at the nodes.
    #[inline]
    pub(crate) fn sum(&self, vectors: &[DVec3]) -> DVec3 {
        // From the first node, so that a shift of all changes nothing but rounding.
        let origin = vectors[self.nodes[0] as usize];
        let others = self.nodes.iter().zip(self.weights).skip(1);
        others.fold(DVec3::ZERO, |sum, (&node, &weight)| sum + (vectors[node as usize] - origin) * weight)
    }
}

impl Fibres {
    pub(crate) fn new(
        mesh: &TetMesh,
        muscles: &[Muscle],
        stars: Option<&Stars>,
        filled_volume: impl Fn(usize) -> f64,
    ) -> Result<Self, FemError> {
        let mut all = Self { start: vec![0], ..Self::default() };
        for (index, muscle) in muscles.iter().enumerate() {
            muscle.law.check()?;
            all.laws.push(muscle.law);
            let mut cells: Vec<(u32, u32, DVec3)> = Vec::new();
            for &(tet, direction) in &muscle.fibres {
                if tet as usize >= mesh.tets().len() {
                    let expected = mesh.tets().len();
                    return Err(FemError::WrongLength { what: "tetrahedra", found: tet as usize, expected });
                }
                let unit = direction.normalize_or_zero();
                if unit == DVec3::ZERO {
                    let (what, range) = ("direction of the fibres in tetrahedron", "not zero, and finite");
                    let value = direction.length();
                    return Err(FemError::EntryOutOfRange { what, index: tet as usize, value, range });
                }
                cells.push((stars.map_or(tet, |stars| stars.of_tet(tet)), tet, unit));
            }
            cells.sort_by_key(|&(cell, tet, _)| (cell, tet));
            for fibre in cells.chunk_by(|a, b| a.0 == b.0) {
                all.push(mesh, stars, index, fibre, &filled_volume);
            }
        }
        Ok(all)
    }

    fn push(
        &mut self,
        mesh: &TetMesh,
        stars: Option<&Stars>,
        muscle: usize,
        tets: &[(u32, u32, DVec3)],
        filled_volume: &impl Fn(usize) -> f64,
    ) {
        let (mut volume, mut sum) = (0.0, DVec3::ZERO);
        for &(_, tet, unit) in tets {
            let part = filled_volume(tet as usize);
            volume += part;
            sum += unit * if sum.dot(unit) < 0.0 { -part } else { part };
        }
        let (cell, direction) = (tets[0].0, sum.normalize_or(tets[0].2));
        match stars {
            Some(stars) => {
                let star = stars.star(cell as usize);
                self.nodes.extend_from_slice(star.nodes);
                self.weights.extend(star.gradients.iter().map(|gradient| gradient.dot(direction)));
            }
            None => {
                let rows = mesh.edge_matrix(cell as usize).inverse().transpose();
                let [b, c, d] = [rows.x_axis, rows.y_axis, rows.z_axis].map(|row| row.dot(direction));
                self.nodes.extend_from_slice(&mesh.tets()[cell as usize]);
                self.weights.extend([-(b + c + d), b, c, d]);
            }
        }
        self.start.push(self.nodes.len() as u32);
        self.list.push(FibreCell { cell, muscle: muscle as u32, volume });
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Fibre<'_>> {
        self.list.iter().zip(self.start.windows(2)).map(|(fibre, range)| {
            let range = range[0] as usize..range[1] as usize;
            Fibre {
                nodes: &self.nodes[range.clone()],
                weights: &self.weights[range],
                volume: fibre.volume,
                cell: fibre.cell as usize,
                muscle: fibre.muscle as usize,
            }
        })
    }

    /// Bounds of stiffness (Pa) and damping (Pa·s) in each of at most `n` cells; empty without fibres.
    pub(crate) fn largest_moduli(&self, n: usize) -> Vec<[f64; 2]> {
        let moduli: Vec<_> = self.laws.iter().map(FibreLaw::largest_moduli).collect();
        let mut cells = vec![[0.0; 2]; if self.list.is_empty() { 0 } else { n }];
        for fibre in &self.list {
            let [stiffness, damping] = moduli[fibre.muscle as usize];
            let cell = &mut cells[fibre.cell as usize];
            *cell = [cell[0] + stiffness, cell[1] + damping];
        }
        cells
    }

    /// Heap bytes.
    pub(crate) fn n_bytes(&self) -> usize {
        size_of_val(&self.start[..])
            + size_of_val(&self.nodes[..])
            + size_of_val(&self.weights[..])
            + size_of_val(&self.list[..])
            + size_of_val(&self.laws[..])
    }
}
