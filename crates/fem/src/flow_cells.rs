//! The cells of a model that flow: tetrahedra and stars of regions whose material does, in the order of their internal variables.
//!
//! 96 bytes per tetrahedron that flows, for its gradients, 1/m.

use crate::fibres::FibrePlace;
use glam::DVec3;

/// All cells that flow, tetrahedra first.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowCells {
    pub(crate) places: Vec<FibrePlace>,
    /// Of the tetrahedra, 1/m.
    pub(crate) gradients: Vec<[DVec3; 4]>,
}

impl FlowCells {
    /// Of tetrahedra with their gradients, and of stars.
    pub(crate) fn new(
        tets: impl Iterator<Item = (usize, [DVec3; 4])>,
        stars: impl Iterator<Item = usize>,
    ) -> Self {
        let (mut places, gradients): (Vec<_>, Vec<_>) =
            tets.map(|(tet, gradients)| (FibrePlace::Tet(tet), gradients)).unzip();
        places.extend(stars.map(FibrePlace::Patch));
        Self { places, gradients }
    }

    /// Heap bytes.
    pub(crate) fn n_bytes(&self) -> usize {
        size_of_val(&self.places[..]) + size_of_val(&self.gradients[..])
    }
}
