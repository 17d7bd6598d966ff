//! The cells of a model that flow: tetrahedra and stars of regions whose material does, in the order of their internal variables.
//!
//! A cell is seen as a star: nodes, gradients, filled volume. 96 bytes per tetrahedron that flows, for its gradients, 1/m.

use crate::fibres::FibrePlace;
use crate::flow_law::CellFlow;
use crate::layout::ElementBlock;
use crate::materials::Law;
use crate::model::FemModel;
use crate::stars::{Star, Stars};
use glam::DVec3;

/// Positions of nodes, and what has flowed in the cells between them.
///
/// Made from positions alone, nothing has flowed.
#[derive(Clone, Copy, Debug)]
pub struct FemShape<'a> {
    /// m, one entry per node.
    pub positions: &'a [DVec3],
    /// One entry per cell that flows ([`FemModel::n_flowing`]), or none at all.
    pub flow: &'a [CellFlow],
    /// If the nodes are where a step ends, its length, s: viscous stress has then decayed for so long.
    pub dt_s: f64,
    /// Whether stress beyond the yield stress has flowed.
    pub yields: bool,
}

impl<'a> From<&'a [DVec3]> for FemShape<'a> {
    fn from(positions: &'a [DVec3]) -> Self {
        Self { positions, flow: &[], dt_s: 0.0, yields: false }
    }
}

impl<'a> From<&'a Vec<DVec3>> for FemShape<'a> {
    fn from(positions: &'a Vec<DVec3>) -> Self {
        positions.as_slice().into()
    }
}

impl<'s> FemShape<'s> {
    /// Whether a region is left to the functions of what has flowed.
    pub(crate) fn leaves_out(&self, model: &FemModel, region: u32) -> bool {
        !self.flow.is_empty() && model.flow(region as usize).is_any()
    }

    /// The blocks of tetrahedra that are not.
    pub(crate) fn blocks<'m>(
        &self,
        model: &'m FemModel,
    ) -> impl Iterator<Item = &'m ElementBlock> + use<'m, 's> {
        let shape = *self;
        model.layout.blocks.iter().filter(move |block| !shape.leaves_out(model, block.region))
    }

    /// The stars that are not, with their numbers.
    pub(crate) fn stars<'m>(
        &self,
        model: &'m FemModel,
    ) -> impl Iterator<Item = (usize, Star<'m>)> + use<'m, 's> {
        let (shape, all) = (*self, model.stars.iter().flat_map(Stars::iter).enumerate());
        all.filter(move |(_, star)| !shape.leaves_out(model, star.region))
    }

    pub(crate) fn check(&self, model: &FemModel) {
        assert_eq!(self.positions.len(), model.n_nodes(), "there must be one position per node");
        let n = self.flow.len();
        assert!(n == 0 || n == model.n_flowing(), "there must be one entry per cell that flows, or none");
    }
}

/// All cells that flow, tetrahedra first.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowCells {
    places: Vec<FibrePlace>,
    /// Of the tetrahedra.
    gradients: Vec<[DVec3; 4]>,
}

impl FlowCells {
    pub(crate) fn new(model: &FemModel) -> Self {
        let flows = |region: usize| model.flow(region).is_any();
        let tets = (0..model.n_tets()).filter(|&tet| flows(model.region(tet))).map(FibrePlace::Tet);
        let stars = (0..model.n_stars()).filter(|&star| flows(model.star_region(star)));
        let places: Vec<_> = tets.chain(stars.map(FibrePlace::Patch)).collect();
        let gradients = places.iter().filter_map(|place| match *place {
            FibrePlace::Tet(tet) => {
                let volume = model.filled_volume(tet);
                Some(model.area_normals(tet).map(|normal| normal / -volume))
            }
            FibrePlace::Patch(_) => None,
        });
        Self { gradients: gradients.collect(), places }
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// All cells with their laws: their share of the material.
    pub(crate) fn iter<'a>(
        &'a self,
        model: &'a FemModel,
    ) -> impl Iterator<Item = (FibrePlace, Star<'a>, &'a Law)> {
        self.places.iter().enumerate().map(move |(k, &place)| {
            let cell = match (place, &model.stars) {
                (FibrePlace::Patch(star), Some(stars)) => stars.star(star),
                (FibrePlace::Tet(tet) | FibrePlace::Patch(tet), _) => Star {
                    nodes: &model.mesh().tets()[tet],
                    gradients: &self.gradients[k],
                    filled_volume: model.filled_volume(tet),
                    named: tet as u32,
                    region: model.region(tet) as u32,
                },
            };
            let law = match place {
                FibrePlace::Tet(_) => model.element_law(cell.region),
                FibrePlace::Patch(_) => model.star_law(cell.region),
            };
            (place, cell, law)
        })
    }

    /// Heap bytes.
    pub(crate) fn n_bytes(&self) -> usize {
        size_of_val(&self.places[..]) + size_of_val(&self.gradients[..])
    }
}
