//! What a kinematic sweep reads: the state, the links it moves, and sine and cosine of their hinges.
//!
//! The angles of all hinges are taken together, several in a register, before the sweep, in which every link waits for its parent.
//! Radians. Cost: linear in the links of the sweep. Nothing fails.

use sinew_math::sin_cos_x8;
use sinew_mechanism::JointKind;
use sinew_topology::NONE;

use crate::{state::TreeState, tree::Tree};

/// The state of the last kinematics, and the links that it moved.
#[derive(Clone, Debug)]
pub(crate) struct MovedLinks {
    pub(crate) state: TreeState,
    /// Links of the sweep, parents first, and room for all.
    path: Vec<u32>,
    n_path: usize,
    /// Angle, sine and cosine of each of them, eight at a time; of a joint that is no hinge, those of zero.
    angles: Vec<[f64; 8]>,
    sines: Vec<[f64; 8]>,
    cosines: Vec<[f64; 8]>,
}

impl MovedLinks {
    pub(crate) fn new(tree: &Tree) -> Self {
        let zeros = vec![[0.0; 8]; tree.n_links().div_ceil(8)];
        Self {
            state: tree.neutral_state(),
            path: vec![0; tree.n_links()],
            n_path: 0,
            angles: zeros.clone(),
            sines: zeros.clone(),
            cosines: zeros,
        }
    }

    /// Takes coordinates and rates; without rates the tree is at rest.
    pub(crate) fn read(&mut self, tree: &Tree, coordinates: &[f64], rates: Option<&[f64]>) {
        assert_eq!(coordinates.len(), tree.n_coordinates(), "the coordinates belong to another tree");
        let n_rates = rates.map_or(tree.n_dofs(), <[f64]>::len);
        assert_eq!(n_rates, tree.n_dofs(), "the rates belong to another tree");
        assert_eq!(self.path.len(), tree.n_links(), "the workspace belongs to another tree");
        self.state.coordinates.copy_from_slice(coordinates);
        match rates {
            Some(rates) => self.state.rates.copy_from_slice(rates),
            None => self.state.rates.fill(0.0),
        }
    }

    /// The sweep moves all links.
    pub(crate) fn choose_all(&mut self, tree: &Tree) {
        self.n_path = tree.n_links();
        for (k, link) in self.path.iter_mut().enumerate() {
            *link = k as u32;
        }
    }

    /// The sweep moves a link and those above it.
    pub(crate) fn choose_path(&mut self, tree: &Tree, link: usize) {
        self.n_path = 0;
        let mut at = link as u32;
        while at != NONE {
            self.path[self.n_path] = at;
            self.n_path += 1;
            at = tree.links[at as usize].parent;
        }
        self.path[..self.n_path].reverse();
    }

    /// Links of the sweep, parents first.
    #[inline(always)]
    pub(crate) fn path(&self) -> &[u32] {
        &self.path[..self.n_path]
    }

    /// Sine and cosine of the hinges of the sweep.
    #[inline(always)]
    pub(crate) fn turn(&mut self, tree: &Tree) {
        for (angle, k) in self.angles.as_flattened_mut().iter_mut().zip(&self.path[..self.n_path]) {
            let link = &tree.links[*k as usize];
            let is_hinge = link.kind == JointKind::Hinge;
            *angle = if is_hinge { self.state.coordinates[link.first_coordinate as usize] } else { 0.0 };
        }
        let n_groups = self.n_path.div_ceil(8);
        for k in 0..n_groups {
            [self.sines[k], self.cosines[k]] = sin_cos_x8(&self.angles[k]);
        }
    }

    /// Sine and cosine of the hinge of a link of the sweep.
    #[inline(always)]
    pub(crate) fn turned(&self, at: usize) -> [f64; 2] {
        [self.sines[at / 8][at % 8], self.cosines[at / 8][at % 8]]
    }
}
