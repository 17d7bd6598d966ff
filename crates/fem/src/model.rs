//! The immutable model of flesh: rest quantities, masses, material.
//!
//! Per tetrahedron: `D_m⁻¹`, the filled volume `wV` and the area normals `w b_i = −wV∇φ_i` (rows of `−wV D_m⁻¹`; KP08
//! eq. 14, 15). Per node: a lumped mass. Nodes and tetrahedra have the indices of the mesh. kg, m, Pa. Building costs a
//! sort of the tetrahedra.

use crate::fibres::{FibrePlace, Fibres, Muscle, Tendon};
use crate::flow_cells::FlowCells;
use crate::flow_law::Flow;
use crate::layout::{ElementLayout, RestShape, WIDTH};
use crate::materials::{Law, Material};
use crate::regions::{RegionLaws, Regions};
use crate::{error::FemError, stars::Stars};
use glam::DVec3;
use sinew_math::TetMesh;

/// Density, fill ratios and masses of a model.
#[derive(Clone, Debug)]
pub struct FemOptions {
    /// Density of filled volume, kg/m³.
    pub density_kg_per_m3: f64,
    /// Filled part `w` of each tetrahedron, in (0, 1]; 1 everywhere if absent. Scales stiffness and mass.
    pub fill_ratios: Option<Vec<f64>>,
    /// Mass of each node, kg; a quarter of each tetrahedron's mass per corner if absent.
    pub node_masses_kg: Option<Vec<f64>>,
    /// Smallest mass, as a fraction of the mean, 0 to 1. Lighter nodes are raised to it
    /// ([`FemModel::n_raised_masses`]).
    pub mass_floor: f64,
    /// Whose strain has energy.
    pub strain: Strain,
    /// Parts with a material of their own.
    pub regions: Regions,
    /// Fibres beside the material, numbered as here.
    pub muscles: Vec<Muscle>,
    /// Cords, numbered after the muscles.
    pub tendons: Vec<Tendon>,
    /// How the material of each region flows, from region 0 on; those without an entry do not.
    pub flows: Vec<Flow>,
}

/// Density of water, full elements, no mass floor, strain of each tetrahedron alone, one material that does not flow, no muscles.
impl Default for FemOptions {
    fn default() -> Self {
        Self {
            density_kg_per_m3: 1000.0,
            fill_ratios: None,
            node_masses_kg: None,
            mass_floor: 0.0,
            strain: Strain::Local,
            regions: Regions::default(),
            muscles: Vec::new(),
            tendons: Vec::new(),
            flows: Vec::new(),
        }
    }
}

/// Whose strain has energy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Strain {
    /// That of each tetrahedron (KP08). Bends too little on coarse meshes, and locks as Poisson's ratio nears ½.
    #[default]
    Local,
    /// Mostly the mean strain of small groups of tetrahedra, which bends as the solid does at any Poisson's ratio
    /// (`docs/maths/flesh.md`).
    Mean,
}

/// Flesh: a mesh with its rest quantities, material and masses. Never changes; share it between states.
#[derive(Clone, Debug)]
pub struct FemModel {
    mesh: TetMesh,
    /// Of region 0 and all others.
    pub(crate) laws: Vec<RegionLaws>,
    /// Region of each tetrahedron; empty if there is one only.
    region_of: Vec<u32>,
    masses: Vec<f64>,
    n_raised_masses: usize,
    pub(crate) layout: ElementLayout,
    /// Packet lane of each tetrahedron.
    pub(crate) slots: Vec<u32>,
    /// With [`Strain::Mean`].
    pub(crate) stars: Option<Stars>,
    pub(crate) fibres: Fibres,
    /// What flows.
    pub(crate) flow_cells: FlowCells,
}

/// Largest fill ratio, with a margin for rounding.
const FULL: f64 = 1.0 + 1e-9;

impl FemModel {
    /// Builds a model from a mesh and a material.
    ///
    /// # Errors
    /// [`FemError::WrongLength`], [`FemError::OutOfRange`] or [`FemError::EntryOutOfRange`] for bad options, or a node
    /// that would have no mass.
    pub fn new(mesh: TetMesh, material: Material, options: &FemOptions) -> Result<Self, FemError> {
        check_options(&mesh, options)?;
        let fill = |tet: usize| options.fill_ratios.as_ref().map_or(1.0, |w| w[tet]);
        let mut masses = match &options.node_masses_kg {
            Some(masses) => masses.clone(),
            None => lumped_masses(&mesh, |tet| options.density_kg_per_m3 * fill(tet)),
        };
        let floor = options.mass_floor * masses.iter().sum::<f64>() / masses.len() as f64;
        let mut n_raised_masses = 0;
        for (index, mass) in masses.iter_mut().enumerate() {
            if *mass < floor {
                (*mass, n_raised_masses) = (floor, n_raised_masses + 1);
            }
            if *mass <= 0.0 {
                let (what, range) = ("mass (kg) of node", "positive, or raised by a mass floor");
                return Err(FemError::EntryOutOfRange { what, index, value: *mass, range });
            }
        }
        let filled = |tet: usize| mesh.volume(tet) * fill(tet);
        let region = |tet: usize| options.regions.of(tet);
        let layout = ElementLayout::new(&mesh, filled, region);
        let has_stars = options.strain == Strain::Mean;
        let stars = has_stars.then(|| Stars::new(&mesh, filled, region));
        let pulling = (&options.muscles[..], &options.tendons[..]);
        let fibres = Fibres::new(&mesh, pulling, stars.as_ref(), filled)?;
        let mut slots = vec![0; mesh.tets().len()];
        for (slot, &element) in (0..).zip(&layout.elements) {
            if let Some(entry) = slots.get_mut(element as usize) {
                *entry = slot;
            }
        }
        let materials = std::iter::once(&material).chain(&options.regions.materials);
        let flows = options.flows.iter().copied().chain(std::iter::repeat(Flow::default()));
        let laws = materials.zip(flows).map(|(material, flow)| RegionLaws::new(*material, flow, has_stars));
        let (laws, region_of) = (laws.collect(), options.regions.of_tets.clone());
        let flow_cells = FlowCells::default();
        let mut model =
            Self { mesh, laws, region_of, masses, n_raised_masses, layout, slots, stars, fibres, flow_cells };
        model.flow_cells = model.find_flow_cells();
        Ok(model)
    }

    /// The same flesh with another material where no region has its own.
    #[must_use]
    pub fn with_material(mut self, material: Material) -> Self {
        self.laws[0] = RegionLaws::new(material, self.laws[0].flow, self.stars.is_some());
        self
    }

    /// The mesh at rest.
    pub fn mesh(&self) -> &TetMesh {
        &self.mesh
    }

    /// The material where no region has its own.
    pub fn material(&self) -> &Material {
        &self.laws[0].material
    }

    /// The material of all regions, from region 0 on.
    pub fn materials(&self) -> impl Iterator<Item = &Material> {
        self.laws.iter().map(|laws| &laws.material)
    }

    /// The region of a tetrahedron; 0 if no region names it.
    pub fn region(&self, tet: usize) -> usize {
        self.region_of.get(tet).map_or(0, |&region| region as usize)
    }

    /// The material of a tetrahedron.
    pub fn material_of(&self, tet: usize) -> &Material {
        &self.laws[self.region(tet)].material
    }

    /// How the material of a region flows.
    pub fn flow(&self, region: usize) -> &Flow {
        &self.laws[region].flow
    }

    /// Whether a material has a yield stress.
    pub fn is_plastic(&self) -> bool {
        self.laws.iter().any(|laws| laws.flow.plasticity.is_some())
    }

    /// Number of tetrahedra and stars that flow.
    pub fn n_flowing(&self) -> usize {
        self.flow_cells.places.len()
    }

    fn find_flow_cells(&self) -> FlowCells {
        let flows = |region: usize| self.flow(region).is_any();
        let gradients = |tet: usize| self.area_normals(tet).map(|normal| normal / -self.filled_volume(tet));
        let tets = (0..self.n_tets()).filter(|&tet| flows(self.region(tet)));
        let stars = (0..self.n_stars()).filter(|&star| flows(self.star_region(star)));
        FlowCells::new(tets.map(|tet| (tet, gradients(tet))), stars)
    }

    /// The law of single tetrahedra in a region.
    pub(crate) fn element_law(&self, region: u32) -> &Law {
        &self.laws[region as usize].element
    }

    /// The law of stars in a region.
    pub(crate) fn star_law(&self, region: u32) -> &Law {
        &self.laws[region as usize].star
    }

    /// The region of a star.
    pub fn star_region(&self, star: usize) -> usize {
        self.stars.as_ref().map_or(0, |stars| stars.star(star).region as usize)
    }

    /// The region of what a fibre runs through; 0 for tendons.
    pub fn place_region(&self, place: FibrePlace) -> usize {
        match place {
            FibrePlace::Tet(tet) => self.region(tet),
            FibrePlace::Patch(patch) if patch < self.n_stars() => self.star_region(patch),
            FibrePlace::Patch(_) => 0,
        }
    }

    /// The nodes that stars and pieces of tendons couple, ascending in each: the stars first.
    pub fn patches(&self) -> impl Iterator<Item = &[u32]> {
        self.star_nodes().chain(self.fibres.piece_nodes())
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.mesh.positions().len()
    }

    /// Number of tetrahedra.
    pub fn n_tets(&self) -> usize {
        self.mesh.tets().len()
    }

    /// How many stars average strain; none if each tetrahedron has its own strain only.
    pub fn n_stars(&self) -> usize {
        self.stars.as_ref().map_or(0, Stars::len)
    }

    /// The nodes of each star, ascending.
    pub fn star_nodes(&self) -> impl Iterator<Item = &[u32]> {
        self.stars.iter().flat_map(Stars::iter).map(|star| star.nodes)
    }

    /// The cell that fibres in a tetrahedron run through: its star, or itself.
    pub(crate) fn cell(&self, tet: usize) -> usize {
        self.stars.as_ref().map_or(tet, |stars| stars.of_tet(tet as u32) as usize)
    }

    /// Number of muscles and tendons.
    pub fn n_muscles(&self) -> usize {
        self.fibres.laws.len()
    }

    /// Lumped mass per node, kg.
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// How many nodes were raised to the mass floor.
    pub fn n_raised_masses(&self) -> usize {
        self.n_raised_masses
    }

    /// Filled volume `wV` of a tetrahedron, m³.
    pub fn filled_volume(&self, tet: usize) -> f64 {
        self.rest(tet).filled_volume
    }

    /// `λ + 2μ` of a tetrahedron at the upper end of its band, flow included and fibres left out, Pa.
    pub fn largest_modulus(&self, tet: usize) -> f64 {
        let moduli = self.material_of(tet).largest_moduli();
        (moduli.lambda_pa.max(0.0) + 2.0 * moduli.mu_pa) * self.flow(self.region(tet)).largest_ratio()
    }

    /// Area normals `b_i = −wV∇φ_i` of the four nodes of a tetrahedron, m²; `f_i = P b_i`.
    pub fn area_normals(&self, tet: usize) -> [DVec3; 4] {
        let rest = self.rest(tet);
        let rows = rest.inverse.transpose().0.map(|row| DVec3::from(row) * -rest.filled_volume);
        [-(rows[0] + rows[1] + rows[2]), rows[0], rows[1], rows[2]]
    }

    /// Memory of the rest quantities per tetrahedron, in bytes, the mesh included.
    pub fn bytes_per_tet(&self) -> f64 {
        let total = self.layout.n_bytes()
            + self.stars.as_ref().map_or(0, Stars::n_bytes)
            + size_of_val(self.mesh.positions())
            + size_of_val(self.mesh.tets())
            + size_of_val(&self.masses[..])
            + size_of_val(&self.slots[..])
            + size_of_val(&self.region_of[..])
            + self.fibres.n_bytes()
            + self.flow_cells.n_bytes();
        total as f64 / self.n_tets() as f64
    }

    fn rest(&self, tet: usize) -> RestShape<f64> {
        let slot = self.slots[tet] as usize;
        self.layout.packets[slot / WIDTH].rest((), slot % WIDTH)
    }
}

fn check_options(mesh: &TetMesh, options: &FemOptions) -> Result<(), FemError> {
    let in_range = |what, value: f64, ok: bool, range| {
        if ok { Ok(()) } else { Err(FemError::OutOfRange { what, value, range }) }
    };
    let density = options.density_kg_per_m3;
    in_range("density (kg/m³)", density, density > 0.0 && density.is_finite(), "positive and finite")?;
    let floor = options.mass_floor;
    in_range("mass floor", floor, (0.0..=1.0).contains(&floor), "between 0 and 1")?;
    let n_tets = mesh.tets().len();
    options.regions.check(n_tets)?;
    let n_regions = 1 + options.regions.materials.len();
    if options.flows.len() > n_regions {
        return Err(FemError::WrongLength { what: "flow", found: options.flows.len(), expected: n_regions });
    }
    options.flows.iter().try_for_each(Flow::check)?;
    check_entries("fill ratio", &options.fill_ratios, n_tets, "between 0 (excluded) and 1", |w| {
        w > 0.0 && w <= FULL
    })?;
    let n_nodes = mesh.positions().len();
    check_entries("mass (kg) of node", &options.node_masses_kg, n_nodes, "zero or more and finite", |m| {
        m >= 0.0 && m.is_finite()
    })
}

fn check_entries(
    what: &'static str,
    entries: &Option<Vec<f64>>,
    expected: usize,
    range: &'static str,
    ok: impl Fn(f64) -> bool,
) -> Result<(), FemError> {
    let Some(entries) = entries else { return Ok(()) };
    if entries.len() != expected {
        return Err(FemError::WrongLength { what, found: entries.len(), expected });
    }
    match entries.iter().position(|&entry| !ok(entry)) {
        Some(index) => Err(FemError::EntryOutOfRange { what, index, value: entries[index], range }),
        None => Ok(()),
    }
}

/// A quarter of each tetrahedron's mass on each of its corners.
fn lumped_masses(mesh: &TetMesh, density: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut masses = vec![0.0; mesh.positions().len()];
    for (tet, nodes) in mesh.tets().iter().enumerate() {
        let quarter = 0.25 * density(tet) * mesh.volume(tet);
        for &node in nodes {
            masses[node as usize] += quarter;
        }
    }
    masses
}
