//! A fine surface embedded in coarse tetrahedra (KP08 §4.1).
//!
//! Each vertex of the surface has barycentric coordinates in the tetrahedron around it (eq. 9). Each tetrahedron has a
//! fill ratio `w`: the part of it that the solid fills. Each node `i` has the mass `m_i = ρ Σ_K ∫_{K ∩ solid} φ_i`,
//! with the linear shape function `φ_i` of the node at `X_i`, over the tetrahedra `K`. The integrals are exact up to
//! rounding, so `Σ m_i = ρ V` and `Σ m_i X_i = ρ V c̄` for the volume `V` and centroid `c̄` of the solid. Empty
//! tetrahedra and unused nodes are dropped.
//!
//! Metres, kilograms. Cost: see `cut_solid.rs`; 10,000 triangles in 5,000 tetrahedra take a tenth of a second.

use glam::DVec3;
use sinew_math::{SurfacePoint, TetMesh};

use crate::barycentric::{Barycentric, signed_volume};
use crate::box_tree::{Bounds, BoxTree};
use crate::cut_solid::{CellGrid, CutSolid};
use crate::lattice::{Brick, Lattice, Pattern, bricks_around, centred_around, grid_around};
use crate::{error::MeshError, surface::Surface};

/// A tetrahedron with at most this fill ratio is empty; the rest is rounding error.
const EMPTY: f64 = 1e-12;
/// A vertex whose least barycentric coordinate is above this lies in the tetrahedron.
const INSIDE: f64 = -1e-12;
/// The volume inside the tetrahedra may differ from that of the surface by this share.
const COVERED: f64 = 1e-9;
/// No node is lighter than this share of the mean mass, so that every mass is positive.
const LEAST_MASS: f64 = 1e-12;

/// The material inside a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filling {
    /// Density (kg/m³), positive.
    pub density: f64,
    /// Smallest nodal mass, as a share of the mean nodal mass, from 0 to 1. Lighter nodes are raised to it. The others
    /// become lighter in proportion to their excess over it, so the total stays exact. Use about 0.05 for explicit
    /// steps, which very light nodes would make short. With 0 all masses and the centre of mass are exact.
    pub mass_floor: f64,
}

impl Default for Filling {
    /// Water, exact masses.
    fn default() -> Self {
        Self { density: 1000.0, mass_floor: 0.0 }
    }
}

/// A solid ready to be simulated: tetrahedra, their fill ratios, nodal masses, and the embedded surface.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddedBody {
    pub(crate) mesh: TetMesh,
    pub(crate) fill: Vec<f64>,
    pub(crate) masses: Vec<f64>,
    pub(crate) surface: Surface,
    pub(crate) surface_points: Vec<SurfacePoint>,
    pub(crate) n_raised: usize,
}

impl EmbeddedBody {
    /// Encloses a surface in a coarse lattice.
    ///
    /// ```
    /// use glam::DVec3;
    /// use sinew_mesh::{EmbeddedBody, Filling, Lattice, Surface, cube};
    ///
    /// let cube = cube(0.1, 1)?;
    /// let surface = Surface::new(cube.positions().to_vec(), cube.boundary())?;
    /// let body = EmbeddedBody::in_lattice(surface, &Lattice::longest(3), &Filling::default())?;
    /// assert!((body.masses().iter().sum::<f64>() - 1.0).abs() < 1e-12);
    /// # Ok::<(), sinew_mesh::MeshError>(())
    /// ```
    ///
    /// # Errors
    /// Settings out of range.
    pub fn in_lattice(surface: Surface, lattice: &Lattice, filling: &Filling) -> Result<Self, MeshError> {
        Self::in_lattice_observed(surface, lattice, filling, &mut |_| {})
    }

    /// [`EmbeddedBody::in_lattice`]; calls `progress` with the share of the work that is done, from 0 to 1.
    ///
    /// # Errors
    /// As [`EmbeddedBody::in_lattice`].
    pub fn in_lattice_observed(
        surface: Surface,
        lattice: &Lattice,
        filling: &Filling,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Self, MeshError> {
        let grid = grid_around(surface.bounds(), lattice.cells)?;
        let solid = CutSolid::new(&surface, grid, &mut |share| progress(0.3 * share));
        match lattice.pattern {
            Pattern::BodyCentred => {
                Self::assemble(surface, centred_around(&solid)?, &WholeSolid(&solid), filling, progress)
            }
            Pattern::Bricks => {
                let (mesh, bricks) = bricks_around(&solid)?;
                let around = triangles_at_vertices(&surface);
                let source = BrickShards { solid: &solid, bricks: &bricks, around: &around };
                Self::assemble(surface, mesh, &source, filling, progress)
            }
        }
    }

    /// Embeds a surface in given tetrahedra, which must cover its inside exactly once.
    ///
    /// # Errors
    /// Settings out of range, a vertex outside every tetrahedron, an inside that is not covered.
    pub fn in_tets(surface: Surface, mesh: TetMesh, filling: &Filling) -> Result<Self, MeshError> {
        let grid = grid_for(&surface, &mesh);
        let solid = CutSolid::new(&surface, grid, &mut |_| {});
        Self::assemble(surface, mesh, &WholeSolid(&solid), filling, &mut |_| {})
    }

    /// A solid made of full tetrahedra, with their boundary as its surface.
    ///
    /// # Errors
    /// Settings out of range; a boundary that is not a closed surface, such as where two tetrahedra share only an edge.
    pub fn from_tets(mesh: TetMesh, filling: &Filling) -> Result<Self, MeshError> {
        check_filling(filling)?;
        let boundary = mesh.boundary();
        let mut name = vec![u32::MAX; mesh.positions().len()];
        let mut positions = Vec::new();
        let mut rename = |node: u32| {
            let name = &mut name[node as usize];
            if *name == u32::MAX {
                *name = positions.len() as u32;
                positions.push(node);
            }
            *name
        };
        let triangles = boundary.iter().map(|t| t.map(&mut rename)).collect();
        let surface =
            Surface::new(positions.iter().map(|&i| mesh.positions()[i as usize]).collect(), triangles)?;
        let mut place = vec![(0, 0); mesh.positions().len()];
        for (tet, corners) in mesh.tets().iter().enumerate() {
            (0..4).for_each(|k| place[corners[k] as usize] = (tet as u32, k));
        }
        let as_point = |&node: &u32| {
            let (tet, corner) = place[node as usize];
            SurfacePoint { tet, weights: std::array::from_fn(|k| if k == corner { 1.0 } else { 0.0 }) }
        };
        let surface_points = positions.iter().map(as_point).collect();
        let shares = vec![[0.25; 4]; mesh.tets().len()];
        let (masses, n_raised) = nodal_masses(&mesh, &shares, filling);
        Ok(Self { fill: vec![1.0; shares.len()], mesh, masses, surface, surface_points, n_raised })
    }

    fn assemble(
        surface: Surface,
        mesh: TetMesh,
        contents: &dyn Contents,
        filling: &Filling,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Self, MeshError> {
        check_filling(filling)?;
        let n_tets = mesh.tets().len();
        let mut shares = Vec::with_capacity(n_tets);
        for tet in 0..n_tets {
            shares.push(contents.shares(tet, mesh.corners(tet)));
            if tet % 1024 == 0 {
                progress(0.3 + 0.5 * tet as f64 / n_tets as f64);
            }
        }
        let fill = |share: &[f64; 4]| share.iter().sum::<f64>();
        let held = (0..n_tets).map(|tet| fill(&shares[tet]) * signed_volume(mesh.corners(tet))).sum::<f64>();
        let mut keep: Vec<bool> = shares.iter().map(|share| fill(share) > EMPTY).collect();
        let mut surface_points = locate(surface.positions(), &mesh, contents, &mut keep)?;
        if (held - surface.volume()).abs() > COVERED * surface.volume() {
            return Err(MeshError::NotCovered { held, volume: surface.volume() });
        }
        let new_index = indices_of_kept(&keep);
        surface_points.iter_mut().for_each(|point| point.tet = new_index[point.tet as usize]);
        let mesh = mesh.subset(&keep)?;
        let mut kept = keep.iter();
        shares.retain(|_| kept.next().copied().unwrap_or(false));
        let (masses, n_raised) = nodal_masses(&mesh, &shares, filling);
        let fill = shares.iter().map(|share| fill(share).clamp(0.0, 1.0)).collect();
        progress(1.0);
        Ok(Self { mesh, fill, masses, surface, surface_points, n_raised })
    }

    /// Node positions at rest (m).
    pub fn nodes(&self) -> &[DVec3] {
        self.mesh.positions()
    }

    /// Node indices of every tetrahedron, positively oriented.
    pub fn tets(&self) -> &[[u32; 4]] {
        self.mesh.tets()
    }

    /// The tetrahedra.
    pub fn mesh(&self) -> &TetMesh {
        &self.mesh
    }

    /// The same body with fill ratios of at least `floor`, from 0 to 1; masses stay. Fill ratios scale stiffness, so
    /// nodes that a mass floor made heavier get enough stiffness.
    #[must_use]
    pub fn with_fill_floor(mut self, floor: f64) -> Self {
        self.fill.iter_mut().for_each(|fill| *fill = fill.max(floor.min(1.0)));
        self
    }

    /// The share of every tetrahedron that the solid fills, from 0 to 1.
    pub fn fill(&self) -> &[f64] {
        &self.fill
    }

    /// Nodal masses (kg), all positive.
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// The surface at rest.
    pub fn surface(&self) -> &Surface {
        &self.surface
    }

    /// The position of each vertex of the surface in the tetrahedra.
    pub fn surface_points(&self) -> &[SurfacePoint] {
        &self.surface_points
    }

    /// How many nodes were raised to the mass floor. The centre of mass is exact only if this is 0.
    pub fn n_raised(&self) -> usize {
        self.n_raised
    }

    /// The place of each point (m) in the tetrahedron in which it is deepest, or nearest to which it is: what is embedded beside the
    /// surface, such as a look. Points outside all tetrahedra are extrapolated. Cost: points × tetrahedra.
    pub fn places(&self, points: &[DVec3]) -> Vec<SurfacePoint> {
        let maps: Vec<_> =
            (0..self.tets().len()).map(|tet| Barycentric::new(self.mesh.corners(tet))).collect();
        let place = |&x: &DVec3| {
            let all = (0..).zip(&maps).map(|(tet, map)| (tet, map.all(x)));
            let deepest = all.max_by(|(_, (_, a)), (_, (_, b))| a.total_cmp(b));
            let (tet, (weights, _)) = deepest.unwrap_or_default();
            SurfacePoint { tet, weights }
        };
        points.iter().map(place).collect()
    }

    /// Writes the positions of the surface's vertices for nodes at `nodes` into `out` (m).
    ///
    /// # Panics
    /// If `nodes` is shorter than the body's nodes or `out` shorter than its vertices.
    pub fn fill_surface(&self, nodes: &[DVec3], out: &mut [DVec3]) {
        for (point, x) in self.surface_points.iter().zip(out.iter_mut()) {
            *x = self.mesh.point(point, nodes);
        }
    }
}

/// For every tetrahedron, the integrals of its four barycentric coordinates over the common part with the inside of a
/// surface, divided by its volume; the four sum to its fill ratio.
pub fn overlap_shares(surface: &Surface, mesh: &TetMesh) -> Vec<[f64; 4]> {
    let solid = CutSolid::new(surface, grid_for(surface, mesh), &mut |_| {});
    (0..mesh.tets().len()).map(|tet| solid.integrate(mesh.corners(tet))).collect()
}

/// For each entry to keep, its index after the others are removed.
fn indices_of_kept(keep: &[bool]) -> Vec<u32> {
    let count = |n: &mut u32, &kept: &bool| {
        let index = *n;
        *n += u32::from(kept);
        Some(index)
    };
    keep.iter().scan(0, count).collect()
}

/// The parts of the solid that belong to the tetrahedra of a mesh.
trait Contents {
    /// Integrals of barycentric coordinates over the part in a tetrahedron, divided by its volume.
    fn shares(&self, tet: usize, corners: [DVec3; 4]) -> [f64; 4];
    /// Whether a vertex of the surface inside a tetrahedron belongs to its part.
    fn holds(&self, tet: usize, vertex: usize) -> bool;
}

/// Each tetrahedron has all of the solid inside it.
struct WholeSolid<'a>(&'a CutSolid);

impl Contents for WholeSolid<'_> {
    fn shares(&self, _: usize, corners: [DVec3; 4]) -> [f64; 4] {
        self.0.integrate(corners)
    }

    fn holds(&self, _: usize, _: usize) -> bool {
        true
    }
}

/// The six tetrahedra of a brick have one shard of the solid.
struct BrickShards<'a> {
    solid: &'a CutSolid,
    bricks: &'a [Brick],
    /// The triangles around every vertex.
    around: &'a [Vec<u32>],
}

impl Contents for BrickShards<'_> {
    fn shares(&self, tet: usize, corners: [DVec3; 4]) -> [f64; 4] {
        match self.bricks[tet / 6].shard {
            Some(shard) => self.solid.integrate_shard(corners, shard),
            None => [0.25; 4],
        }
    }

    fn holds(&self, tet: usize, vertex: usize) -> bool {
        let passes = |shard| {
            let sources = &self.solid.shard(shard).sources;
            self.around[vertex].iter().any(|triangle| sources.binary_search(triangle).is_ok())
        };
        self.bricks[tet / 6].shard.is_some_and(passes)
    }
}

fn triangles_at_vertices(surface: &Surface) -> Vec<Vec<u32>> {
    let mut around = vec![Vec::new(); surface.positions().len()];
    for (triangle, corners) in (0..).zip(surface.triangles()) {
        corners.iter().for_each(|&vertex| around[vertex as usize].push(triangle));
    }
    around
}

fn check_filling(filling: &Filling) -> Result<(), MeshError> {
    let Filling { density, mass_floor } = *filling;
    if !(density.is_finite() && density > 0.0) {
        return Err(MeshError::Setting { what: "the density", value: density, allowed: "positive (kg/m³)" });
    }
    if !(0.0..=1.0).contains(&mass_floor) {
        return Err(MeshError::Setting { what: "the mass floor", value: mass_floor, allowed: "from 0 to 1" });
    }
    Ok(())
}

/// A grid around the surface, with cells about as large as the tetrahedra.
fn grid_for(surface: &Surface, mesh: &TetMesh) -> CellGrid {
    let bounds = surface.bounds();
    let edge = |tet: usize| Bounds::of(mesh.corners(tet)).size().max_element();
    let n = mesh.tets().len();
    let mean = (0..n).map(edge).sum::<f64>() / n as f64;
    let size = bounds.size().max(DVec3::splat(1e-9 * bounds.size().max_element()));
    // at most 128³ cells
    let cells = (size / mean).to_array().map(|n| n.ceil().clamp(1.0, 128.0) as u32);
    let margin = size * 1e-6;
    let step = (size + margin * 2.0) / DVec3::from_array(cells.map(f64::from));
    CellGrid { origin: bounds.lo - margin, step, cells }
}

/// The tetrahedron around each point, preferably one of those to keep. Others that a point needs are kept, too.
fn locate(
    points: &[DVec3],
    mesh: &TetMesh,
    contents: &dyn Contents,
    keep: &mut [bool],
) -> Result<Vec<SurfacePoint>, MeshError> {
    let maps: Vec<Barycentric> = (0..keep.len()).map(|tet| Barycentric::new(mesh.corners(tet))).collect();
    let boxes: Vec<Bounds> = (0..keep.len()).map(|tet| Bounds::of(mesh.corners(tet))).collect();
    let tree = BoxTree::new(&boxes);
    let mut surface_points = Vec::with_capacity(points.len());
    for (vertex, &at) in points.iter().enumerate() {
        // the tetrahedron in which the point is deepest, of all and of those to keep; the first of equals
        let mut best: [Option<(f64, u32, [f64; 4])>; 2] = [None; 2];
        let near = Bounds { lo: at, hi: at }.grown(1e-12 * at.abs().max_element());
        tree.visit(&near, |tet| {
            if !contents.holds(tet as usize, vertex) {
                return;
            }
            let (weights, depth) = maps[tet as usize].all(at);
            for slot in 0..=usize::from(keep[tet as usize]) {
                let better = best[slot].is_none_or(|(d, t, _)| depth.total_cmp(&d).then(t.cmp(&tet)).is_gt());
                if better {
                    best[slot] = Some((depth, tet, weights));
                }
            }
        });
        let inside = |found: Option<(f64, u32, [f64; 4])>| found.filter(|found| found.0 >= INSIDE);
        let found = inside(best[1]).or(inside(best[0]));
        let Some((_, tet, weights)) = found else {
            return Err(MeshError::VertexOutside { vertex, at });
        };
        keep[tet as usize] = true;
        surface_points.push(SurfacePoint { tet, weights });
    }
    Ok(surface_points)
}

/// `m_i = ρ Σ V_K share_i`, raised to the floor at the expense of the others; also how many were raised.
fn nodal_masses(mesh: &TetMesh, shares: &[[f64; 4]], filling: &Filling) -> (Vec<f64>, usize) {
    let mut masses = vec![0.0; mesh.positions().len()];
    for (tet, (corners, share)) in mesh.tets().iter().zip(shares).enumerate() {
        let mass = filling.density * signed_volume(mesh.corners(tet));
        (0..4).for_each(|k| masses[corners[k] as usize] += mass * share[k]);
    }
    let mean = masses.iter().sum::<f64>() / masses.len() as f64;
    let floor = mean * filling.mass_floor.max(LEAST_MASS);
    let n_raised = masses.iter().filter(|mass| **mass < floor).count();
    if n_raised > 0 {
        let beyond = |mass: f64| (mass - floor).max(0.0);
        let all_beyond = masses.iter().map(|&mass| beyond(mass)).sum::<f64>();
        // The mean is at least the floor, so the remaining excess is not negative.
        let left = ((mean - floor) * masses.len() as f64 / all_beyond).max(0.0);
        masses.iter_mut().for_each(|mass| *mass = floor + beyond(*mass) * left);
    }
    (masses, n_raised)
}
