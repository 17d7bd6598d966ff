//! The shape that forces and energies belong to: positions of nodes, and what has flowed in the cells between them.

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
    /// m, one entry per node, in any frame; forces are in its axes.
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

/// All cells that flow as stars, with their laws: their share of the material.
pub(crate) fn flow_cells(model: &FemModel) -> impl Iterator<Item = (FibrePlace, Star<'_>, &Law)> {
    let cells = &model.flow_cells;
    cells.places.iter().enumerate().map(move |(k, &place)| match (place, &model.stars) {
        (FibrePlace::Patch(star), Some(stars)) => {
            let cell = stars.star(star);
            (place, cell, model.star_law(cell.region))
        }
        (FibrePlace::Tet(tet) | FibrePlace::Patch(tet), _) => {
            let region = model.region(tet) as u32;
            let cell = Star {
                nodes: &model.mesh().tets()[tet],
                gradients: &cells.gradients[k],
                filled_volume: model.filled_volume(tet),
                named: tet as u32,
                region,
            };
            (place, cell, model.element_law(region))
        }
    })
}
