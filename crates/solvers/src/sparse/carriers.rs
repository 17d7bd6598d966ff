//! Coarse solve of the two-level preconditioner for bodies that carry nodes: bones in flesh.
//!
//! **What.** Bodies with their own matrix `A_t` and constraints react to impulses by `V = T q`. With flesh on them, the
//! coarse system of groups and carriers is, after the groups are eliminated,
//! ```text
//! A_t V + S V + Jᵀλ = g,   J V = 0        V = (T⁻¹ + S)⁻¹ g = G (1 + Gᵀ S G)⁻¹ Gᵀ g,   T = G Gᵀ
//! ```
//! with the Schur complement `S` of the carriers, which is dense, because flesh couples every bone to every other. The
//! impulse that belongs to `V` is `q = g − S V`, so that `V = T q`. The preconditioner stays symmetric and positive
//! semidefinite, and every `V` it returns satisfies the constraints. A preconditioner that treats bodies and flesh
//! separately needs 3 to 8 times the iterations.
//!
//! **Cost.** With `n` = 6 numbers per carrier, `refresh` takes `n` reactions and about `1.2 n³` multiply-adds, `react`
//! takes `3 n²`. Meant for tens of carriers. No allocation after `new`. World axes, twists at the carriers' centres,
//! angular part first. **Failure.** None: directions without a pivot are left out.

use super::{envelope::Block6, precondition::TwoLevel, simd4::with_wide_simd};
use crate::cholesky::{cholesky, solve_cholesky};
use sinew_math::{Force, Motion, add_scaled, dot};

/// A pivot below this fraction of its diagonal entry counts as zero; directions removed by constraints have none.
const SINGULAR: f64 = 1e-11;

/// Reaction of carriers to impulses, including the flesh on them.
#[derive(Clone, Debug)]
pub struct CarrierCoupling {
    n: usize,
    /// `G`, lower triangle by columns.
    root: Vec<f64>,
    /// `S`, the full matrix.
    stiffness: Vec<f64>,
    /// The Cholesky factor of `1 + Gᵀ S G`, lower triangle by columns.
    factor: Vec<f64>,
    /// `S G`.
    product: Vec<f64>,
    impulses: Vec<Force>,
    motions: Vec<Motion>,
    vectors: [Vec<f64>; 2],
}

impl CarrierCoupling {
    /// Buffers for a number of carriers.
    pub fn new(n_carriers: usize) -> Self {
        let n = 6 * n_carriers;
        let square = vec![0.0; n * n];
        Self {
            n,
            root: square.clone(),
            stiffness: square.clone(),
            factor: square.clone(),
            product: square,
            impulses: vec![Force::ZERO; n_carriers],
            motions: vec![Motion::ZERO; n_carriers],
            vectors: [vec![0.0; n], vec![0.0; n]],
        }
    }

    /// Adapts to new values. `parts` are preconditioners of flesh after [`TwoLevel::refresh_carried`], each with the
    /// indices of its carriers here. `links` are further couplings between two carriers: their indices, and the block
    /// of `S`, by columns. `respond` is the reaction of the bodies to impulses on the carriers. `is_in_tree` says that
    /// the bodies' own matrix contains the stiffness and mass of the nodes that each body carries, with all other nodes
    /// at rest.
    ///
    /// # Panics
    /// If an index is too large, or a preconditioner has more carriers than indices.
    pub fn refresh<'a>(
        &mut self,
        parts: impl IntoIterator<Item = (&'a TwoLevel, &'a [u32])>,
        links: impl IntoIterator<Item = ([usize; 2], [[f64; 6]; 6])>,
        is_in_tree: bool,
        mut respond: impl FnMut(&[Force], &mut [Motion]),
    ) {
        let n = self.n;
        for (j, column) in self.root.chunks_exact_mut(n.max(1)).enumerate() {
            self.impulses.fill(Force::ZERO);
            self.impulses[j / 6] = unit(j % 6);
            respond(&self.impulses, &mut self.motions);
            for (part, motion) in column.as_chunks_mut::<6>().0.iter_mut().zip(&self.motions) {
                *part = motion.to_array();
            }
        }
        for j in 0..n {
            for i in j + 1..n {
                self.root[j * n + i] = 0.5 * (self.root[j * n + i] + self.root[i * n + j]);
            }
        }
        with_wide_simd!(cholesky(&mut self.root, n, SINGULAR));
        self.stiffness.fill(0.0);
        for (preconditioner, places) in parts {
            for i in 0..preconditioner.n_carriers() {
                for j in 0..=i {
                    let block = preconditioner.carried_block(i, j, is_in_tree);
                    self.add_stiffness([places[i] as usize, places[j] as usize], &block);
                }
            }
        }
        for (places, block) in links {
            self.add_stiffness(places, &block);
        }
        with_wide_simd!(self.factor());
    }

    /// `factor` from `root` and `stiffness`.
    #[inline(always)]
    fn factor(&mut self) {
        let Self { n, root, stiffness, factor, product, .. } = self;
        let n = *n;
        product.fill(0.0);
        for j in 0..n {
            let column = &mut product[j * n..(j + 1) * n];
            for k in j..n {
                add_scaled(column, root[j * n + k], &stiffness[k * n..(k + 1) * n]);
            }
            for i in j..n {
                let own = f64::from(u8::from(i == j));
                factor[j * n + i] = own + dot(&root[i * n + i..(i + 1) * n], &column[i..]);
            }
        }
        cholesky(factor, n, SINGULAR);
    }

    /// Adds a block of `S`, by columns, and its transpose.
    fn add_stiffness(&mut self, [i, j]: [usize; 2], block: &Block6) {
        let n = self.n;
        for (c, column) in block.iter().enumerate() {
            for (r, &entry) in column.iter().enumerate() {
                self.stiffness[(6 * j + c) * n + 6 * i + r] += entry;
                if i != j {
                    self.stiffness[(6 * i + r) * n + 6 * j + c] += entry;
                }
            }
        }
    }

    /// `twists = (T⁻¹ + S)⁻¹ g` for the `impulses` `g`, which are replaced by those with which the bodies alone get the
    /// same twists: `twists = T impulses`.
    ///
    /// # Panics
    /// If there is not one impulse and one twist per carrier.
    pub fn react(&mut self, impulses: &mut [Force], twists: &mut [Motion]) {
        let n = self.n;
        assert_eq!((6 * impulses.len(), 6 * twists.len()), (n, n), "one impulse and one twist per carrier");
        with_wide_simd!({
            let Self { n, root, stiffness, factor, vectors: [w, v], .. } = self;
            let n = *n;
            for (v, impulse) in v.as_chunks_mut::<6>().0.iter_mut().zip(&*impulses) {
                *v = impulse.to_array();
            }
            for j in 0..n {
                w[j] = dot(&root[j * n + j..(j + 1) * n], &v[j..]);
            }
            solve_cholesky(factor, w);
            v.fill(0.0);
            for j in 0..n {
                add_scaled(&mut v[j..], w[j], &root[j * n + j..(j + 1) * n]);
            }
            w.fill(0.0);
            for j in 0..n {
                add_scaled(w, v[j], &stiffness[j * n..(j + 1) * n]);
            }
            for ((impulse, twist), (w, v)) in
                impulses.iter_mut().zip(twists).zip(w.as_chunks().0.iter().zip(v.as_chunks().0))
            {
                *impulse -= Force::from_array(*w);
                *twist = Motion::from_array(*v);
            }
        });
    }
}

/// A unit impulse along one of six axes.
fn unit(axis: usize) -> Force {
    Force::from_array(std::array::from_fn(|k| f64::from(u8::from(k == axis))))
}
