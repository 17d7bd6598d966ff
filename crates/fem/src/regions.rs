//! Regions: parts of a mesh with a material of their own.
//!
//! Region 0 is all that no region names; it has the material of the model. A tetrahedron belongs to one region, and so does a star. The laws of all
//! regions are prepared once; kernels choose one per block of tetrahedra. Pa; an error names the entry.

use crate::error::FemError;
use crate::flow_law::Flow;
use crate::materials::{Law, Material};

/// Parts of a mesh that differ from the rest; none by default.
#[derive(Clone, Debug, Default)]
pub struct Regions {
    /// The material of each region from the first on.
    pub materials: Vec<Material>,
    /// The region of each tetrahedron: `k` is `materials[k − 1]`, 0 none of them. Empty if no tetrahedron is in a region.
    pub of_tets: Vec<u32>,
}

/// The material of a region, and its laws.
#[derive(Clone, Debug)]
pub(crate) struct RegionLaws {
    pub(crate) material: Material,
    /// The law of single tetrahedra: all of the material, or their share.
    pub(crate) element: Law,
    /// The law of stars.
    pub(crate) star: Law,
    /// How it flows.
    pub(crate) flow: Flow,
}

impl RegionLaws {
    /// With stars, single tetrahedra have their share only.
    pub(crate) fn new(material: Material, flow: Flow, has_stars: bool) -> Self {
        let (own, mean) = material.shares();
        let element = if has_stars { own.law() } else { material.law() };
        Self { material, element, star: mean.law(), flow }
    }
}

impl Regions {
    /// The region of a tetrahedron.
    pub(crate) fn of(&self, tet: usize) -> u32 {
        self.of_tets.get(tet).copied().unwrap_or(0)
    }

    pub(crate) fn check(&self, n_tets: usize) -> Result<(), FemError> {
        let n = self.of_tets.len();
        if n != n_tets && !(n == 0 && self.materials.is_empty()) {
            return Err(FemError::WrongLength { what: "region", found: n, expected: n_tets });
        }
        match self.of_tets.iter().position(|&region| region as usize > self.materials.len()) {
            Some(index) => Err(FemError::EntryOutOfRange {
                what: "region of tetrahedron",
                index,
                value: f64::from(self.of_tets[index]),
                range: "that of a material in the list, or 0",
            }),
            None => Ok(()),
        }
    }
}
