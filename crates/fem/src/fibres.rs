//! Fibres in flesh: the cells they run through and their weights.
//!
//! A fibre runs through one cell, a star with mean strain or else a tetrahedron, along the unit vector `m` at rest. With the gradients `G_b` of the cell it is a spring between all its nodes,
//!
//! ```text
//! l = F m = Σ c_b x_b        c_b = G_b · m        Σ c_b = 0        λ = |l|
//! ```
//!
//! with the filled volume of the tetrahedra of its muscle in the cell. A piece of a tendon is the same between two points of the flesh, `l = (x₂ − x₁)/L`, with its length `L` in place of the volume and
//! forces in place of stresses. In a star, `m` is the mean of their directions by volume. 1/m, m³; linear in the fibres, once.

use crate::error::FemError;
use crate::fibre_law::FibreLaw;
use crate::stars::Stars;
use glam::DVec3;
use sinew_math::{SurfacePoint, TetMesh};

/// Fibres that have one law and one activation.
#[derive(Clone, Debug, Default)]
pub struct Muscle {
    /// Their law.
    pub law: FibreLaw,
    /// Tetrahedra, and the direction of the fibres in each at rest: of any length but zero, of either sign.
    pub fibres: Vec<(u32, DVec3)>,
}

/// A cord through points of the flesh. The piece between two points is a fibre of its own, without width.
#[derive(Clone, Debug, Default)]
pub struct Tendon {
    /// Its law, with forces in place of stresses: N, and N·s for dampers.
    pub law: FibreLaw,
    /// What it runs through, from end to end.
    pub points: Vec<SurfacePoint>,
}

/// What a fibre runs through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FibrePlace {
    /// A tetrahedron.
    Tet(usize),
    /// A patch of nodes ([`crate::FemModel::patches`]): a star, or the ends of a piece of a tendon.
    Patch(usize),
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
    /// How many of them are no pieces of tendons.
    n_in_cells: usize,
    has_stars: bool,
}

/// Where a fibre runs.
#[derive(Clone, Copy, Debug)]
struct FibreCell {
    cell: u32,
    muscle: u32,
    /// m³; m for pieces of tendons.
    volume: f64,
}

/// One fibre.
#[derive(Clone, Copy)]
pub(crate) struct Fibre<'a> {
    pub(crate) nodes: &'a [u32],
    pub(crate) weights: &'a [f64],
    pub(crate) volume: f64,
    pub(crate) place: FibrePlace,
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
        (muscles, tendons): (&[Muscle], &[Tendon]),
        stars: Option<&Stars>,
        filled_volume: impl Fn(usize) -> f64,
    ) -> Result<Self, FemError> {
        let mut all = Self { start: vec![0], has_stars: stars.is_some(), ..Self::default() };
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
        all.n_in_cells = all.list.len();
        for tendon in tendons {
            tendon.law.check()?;
            all.laws.push(tendon.law);
            for ends in tendon.points.windows(2) {
                all.push_piece(mesh, [ends[0], ends[1]], stars.map_or(0, Stars::len))?;
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

    /// The piece of the last tendon between two points: `l = (x₂ − x₁)/L`, with its length `L` at rest in place of a volume.
    fn push_piece(
        &mut self,
        mesh: &TetMesh,
        ends: [SurfacePoint; 2],
        n_stars: usize,
    ) -> Result<(), FemError> {
        let n_tets = mesh.tets().len();
        if let Some(end) = ends.iter().find(|end| end.tet as usize >= n_tets) {
            return Err(FemError::WrongLength {
                what: "tetrahedra",
                found: end.tet as usize,
                expected: n_tets,
            });
        }
        let [from, to] = ends.map(|end| mesh.point(&end, mesh.positions()));
        let length = from.distance(to);
        if !(length > 0.0 && length.is_finite()) {
            let (what, range) = ("length (m) of a piece of a tendon", "positive and finite");
            return Err(FemError::OutOfRange { what, value: length, range });
        }
        let mut weights: Vec<(u32, f64)> = Vec::new();
        for (end, sign) in ends.iter().zip([-1.0, 1.0]) {
            let corners = mesh.tets()[end.tet as usize].into_iter().zip(end.weights);
            weights.extend(corners.map(|(node, weight)| (node, sign * weight / length)));
        }
        weights.sort_by_key(|&(node, _)| node);
        for same in weights.chunk_by(|a, b| a.0 == b.0) {
            self.nodes.push(same[0].0);
            self.weights.push(same.iter().map(|(_, weight)| weight).sum());
        }
        self.start.push(self.nodes.len() as u32);
        let cell = (n_stars + self.list.len() - self.n_in_cells) as u32;
        self.list.push(FibreCell { cell, muscle: self.laws.len() as u32 - 1, volume: length });
        Ok(())
    }

    /// The nodes of the pieces of tendons.
    pub(crate) fn piece_nodes(&self) -> impl Iterator<Item = &[u32]> {
        self.start
            .windows(2)
            .skip(self.n_in_cells)
            .map(|range| &self.nodes[range[0] as usize..range[1] as usize])
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Fibre<'_>> {
        self.list.iter().zip(self.start.windows(2)).enumerate().map(|(index, (fibre, range))| {
            let range = range[0] as usize..range[1] as usize;
            Fibre {
                nodes: &self.nodes[range.clone()],
                weights: &self.weights[range],
                volume: fibre.volume,
                place: if self.has_stars || index >= self.n_in_cells {
                    FibrePlace::Patch(fibre.cell as usize)
                } else {
                    FibrePlace::Tet(fibre.cell as usize)
                },
                muscle: fibre.muscle as usize,
            }
        })
    }

    /// Bounds of stiffness (Pa) and damping (Pa·s) in each of at most `n` cells; empty without fibres.
    pub(crate) fn largest_moduli(&self, n: usize) -> Vec<[f64; 2]> {
        let moduli: Vec<_> = self.laws.iter().map(FibreLaw::largest_moduli).collect();
        let mut cells = vec![[0.0; 2]; if self.n_in_cells == 0 { 0 } else { n }];
        for fibre in &self.list[..self.n_in_cells] {
            let [stiffness, damping] = moduli[fibre.muscle as usize];
            let cell = &mut cells[fibre.cell as usize];
            *cell = [cell[0] + stiffness, cell[1] + damping];
        }
        cells
    }

    /// Bounds of the squared frequency (1/s²) and of the rate of dampers (1/s) that all tendons add, for node masses in kg.
    pub(crate) fn largest_of_tendons(&self, masses: &[f64]) -> [f64; 2] {
        let mut sum = [0.0; 2];
        for piece in self.iter().skip(self.n_in_cells) {
            let each = piece.nodes.iter().zip(piece.weights);
            let light: f64 = each.map(|(&node, weight)| weight * weight / masses[node as usize]).sum();
            let [stiffness, damping] = self.laws[piece.muscle].largest_moduli();
            sum = [sum[0] + stiffness * piece.volume * light, sum[1] + damping * piece.volume * light];
        }
        sum
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
