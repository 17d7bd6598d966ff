//! Pair elimination of a general block system over rigid bodies: body and joint are eliminated together.
//!
//! **What.** For a body `a` and its joint to the parent `b`, with `Ã`, `z̃` the body's block and right-hand side after
//! its children were eliminated, and `λ` the multipliers:
//! ```text
//! Ã v_a + A_ab v_b = z̃ + J_aᵀλ        J_a v_a + J_b v_b = b
//! ```
//! `Q = [R S]`, `R = J_a⁺`, `J_a S = 0` (QR of the rows, [`RowSpace`]) makes the rows `J_a Q = [1 0]`, so that
//! `v_a = R β + S u` with `β = b − J_b v_b` known and `u` free (docs/maths/elimination.md §2, with
//! `X = −R J_b`, `c = R b`). In these coordinates, `M = QᵀÃQ` and `B = QᵀA_ab`, rows split into `r` and `s`:
//! ```text
//! r rows: −λ = Rᵀz̃ − M_rr β − M_rs u − B_r v_b          s rows:  M_ss u = Sᵀz̃ − M_sr β − B_s v_b
//! parent:  A_abᵀ v_a − J_bᵀλ = B_rᵀβ + B_sᵀu − J_bᵀλ
//! ```
//! Eliminating `β`, `u` and `λ` with `[K; N] = B − [M_rr; M_sr] J_b`, `M_ss = L Lᵀ`, `W = L⁻¹N`:
//! ```text
//! factor, leaves → root:  Ã_b += J_bᵀM_rr J_b − J_bᵀB_r − B_rᵀJ_b − WᵀW
//! solve,  leaves → root:  p = Rᵀz̃,  y = L⁻¹(Sᵀz̃ − M_sr b),   z̃_b −= J_bᵀp + Kᵀb + Wᵀy
//!         root → leaves:  u = L⁻ᵀ(y − W v_b),  −λ = p − M_rr b − M_rs u − K v_b,  v_a = R(b − J_b v_b) + S u
//! ```
//! This is the Schur complement of [`crate::TreeLdlt`] on the pair (body, joint), with a pivot of the size of the
//! *free* directions. It holds for any rows and couplings. If `X` is a rigid shift, the specialized kernels of
//! [`crate::PairFactor`] do the same with a sixth of the numbers; a step uses those.
//!
//! **Frames, units.** The caller's, as in [`BlockSystem`]; variables have six unknowns.
//!
//! **Cost.** Linear; 144 numbers per pair. For a hinge about 1,900 multiplications to factor and 240 to solve. The
//! basis needs square roots and divisions: factoring takes two to three times as long as with [`crate::TreeLdlt`], a
//! solve two thirds. It pays with many right-hand sides. Nothing allocates after `new`. Same bits at every thread
//! count.
//!
//! **Failure.** Dependent rows and a body without mass in a free direction are [`FactorError::SingularPivot`];
//! compliance, another number of unknowns or more rows are [`FactorError::NoPairForm`]. A body may lack mass in directions
//! that its joint locks.

use crate::kernels::{add_columns, cholesky, gram_row, solve_lower, solve_upper, transpose_mul};
use crate::layout::{BlockLayout, NodeLayout};
use crate::threads::{FlatPart, GRAIN, sweep_down, sweep_up};
use crate::{error::FactorError, system::BlockSystem};
use sinew_math::RowSpace;
use sinew_topology::{EliminationPlan, NONE, Schedule};
use std::convert::Infallible;

/// Unknowns of a body.
const N: usize = 6;

/// Entries of a 6×6 block.
const BLOCK: usize = N * N;

/// Entries per pair, four blocks: `Qᵀ` | `Ã`, later `L` and the columns `M_·r` | `[K; W]` | `J_b`.
const STRIDE: usize = 4 * BLOCK;

/// Calls `$kernel::<R>(…)` with the number of rows as a constant, so that the compiler unrolls it.
macro_rules! with_rows {
    ($rows:expr, $kernel:ident($($argument:expr),*)) => {
        match $rows {
            0 => $kernel::<0>($($argument),*),
            1 => $kernel::<1>($($argument),*),
            2 => $kernel::<2>($($argument),*),
            3 => $kernel::<3>($($argument),*),
            4 => $kernel::<4>($($argument),*),
            5 => $kernel::<5>($($argument),*),
            _ => $kernel::<6>($($argument),*),
        }
    };
}

/// The factorization of a [`BlockSystem`] of rigid bodies over the same plan, body and joint together.
#[derive(Clone, Debug)]
pub struct PairTree {
    layout: BlockLayout,
    schedule: Schedule,
    /// Position of the parent's pair, or [`NONE`].
    parents: Vec<u32>,
    factor: Vec<f64>,
}

impl PairTree {
    /// Storage for the systems of a plan.
    pub fn new(plan: &EliminationPlan) -> Self {
        Self::with_grain(plan, GRAIN)
    }

    /// Storage whose schedule has tasks of at most `max_grain` pairs. Every grain gives the same bits.
    pub fn with_grain(plan: &EliminationPlan, max_grain: usize) -> Self {
        Self {
            layout: BlockLayout::new(plan),
            schedule: plan.schedule(max_grain),
            parents: plan.pairs().iter().map(|pair| pair.parent).collect(),
            factor: vec![0.0; STRIDE * plan.pairs().len()],
        }
    }

    /// Factors a system of the plan given to [`PairTree::new`].
    ///
    /// # Errors
    /// [`FactorError::NoPairForm`] for a variable without six unknowns, a constraint with more rows or with compliance;
    /// [`FactorError::SingularPivot`] for the first node, in elimination order, whose rows are dependent or
    /// whose free directions have no mass.
    pub fn factor(&mut self, system: &BlockSystem) -> Result<(), FactorError> {
        for (pair, own) in (0..).zip(self.factor.chunks_exact_mut(STRIDE)) {
            let (body, joint) = self.layout.pair(pair);
            if usize::from(body.dim) != N {
                return Err(FactorError::NoPairForm { node: body.node });
            }
            let is_soft = |joint: &&NodeLayout| system.blocks[joint.diagonal()].iter().any(|&e| e != 0.0);
            if let Some(joint) = joint.filter(|joint| usize::from(joint.dim) > N || is_soft(joint)) {
                return Err(FactorError::NoPairForm { node: joint.node });
            }
            own[BLOCK..2 * BLOCK].copy_from_slice(&system.blocks[body.diagonal()]);
        }
        let (layout, parents) = (&self.layout, &self.parents);
        sweep_up(&self.schedule, &mut self.factor, &|pair| STRIDE * pair as usize, &|pair, part| {
            let (body, joint) = layout.pair(pair);
            let (own, later) = part.values[STRIDE * pair as usize - part.start..].split_at_mut(STRIDE);
            let parent = parents[pair as usize];
            let parent_mass = (parent != NONE).then(|| {
                let at = STRIDE * (parent - pair - 1) as usize + BLOCK;
                &mut later[at..at + BLOCK]
            });
            with_rows!(n_rows_of(joint), eliminate(system, body, joint, own, parent_mass))
        })
    }

    /// Solves in place with the last factor; `x` holds the right-hand side on entry, both in elimination
    /// order (see [`BlockSystem::variable_range`]).
    pub fn solve(&self, x: &mut [f64]) {
        assert_eq!(x.len(), self.layout.n_unknowns, "the right-hand side does not fit the plan");
        let offset = |pair| self.layout.unknown_of(self.layout.nodes_of_pairs(0..pair).end);
        let Ok(()) = sweep_up(&self.schedule, x, &offset, &|pair, part| {
            let (factor, own, parent) = self.split(pair, part);
            with_rows!(factor.n_rows, forward(&factor, own, parent));
            Ok::<(), Infallible>(())
        });
        sweep_down(&self.schedule, x, &offset, &|pair, part| {
            let (factor, own, parent) = self.split(pair, part);
            with_rows!(factor.n_rows, backward(&factor, own, parent.as_deref()));
        });
    }

    /// The factor of a pair, its unknowns (body, then joint) and those of its parent body.
    #[inline]
    fn split<'x>(
        &self,
        pair: u32,
        part: &'x mut FlatPart<'_>,
    ) -> (PairBlocks<'_>, &'x mut [f64], Option<&'x mut [f64]>) {
        let (body, joint) = self.layout.pair(pair);
        let n_rows = n_rows_of(joint);
        let at = STRIDE * pair as usize;
        let blocks = PairBlocks::new(n_rows, &self.factor[at..at + STRIDE]);
        let (own, later) = part.values[body.unknown - part.start..].split_at_mut(N + n_rows);
        let later_start = body.unknown + N + n_rows;
        let parent = self.parents[pair as usize];
        let parent = (parent != NONE).then(|| {
            let at = self.layout.pair(parent).0.unknown - later_start;
            &mut later[at..at + N]
        });
        (blocks, own, parent)
    }
}

/// Rows of the joint of a pair, none for a free root.
#[inline]
fn n_rows_of(joint: Option<&NodeLayout>) -> usize {
    joint.map_or(0, |joint| usize::from(joint.dim))
}

/// The factor of one pair with `n_rows` joint rows.
struct PairBlocks<'a> {
    n_rows: usize,
    /// `Qᵀ`, 6×6: the columns of `R`, then those of `S`.
    basis: &'a [f64],
    /// `L`, free×free.
    pivot: &'a [f64],
    /// `[M_rr; M_sr]`, 6×rows.
    carried: &'a [f64],
    /// `[K; W]`, 6×6.
    coupling: &'a [f64],
    /// `J_b`, rows×6.
    parent_rows: &'a [f64],
}

impl<'a> PairBlocks<'a> {
    #[inline]
    fn new(n_rows: usize, blocks: &'a [f64]) -> Self {
        let n_free = N - n_rows;
        let (basis, rest) = blocks.split_at(BLOCK);
        let (mass, rest) = rest.split_at(BLOCK);
        let (coupling, parent_rows) = rest.split_at(BLOCK);
        let (pivot, carried) = mass.split_at(n_free * n_free);
        Self { n_rows, basis, pivot, carried, coupling, parent_rows }
    }
}

/// Changes to the coordinates `(β, u)`, factors the pivot and updates the parent's mass.
fn eliminate<const R: usize>(
    system: &BlockSystem,
    body: &NodeLayout,
    joint: Option<&NodeLayout>,
    own: &mut [f64],
    parent_mass: Option<&mut [f64]>,
) -> Result<(), FactorError> {
    let (basis, rest) = own.split_at_mut(BLOCK);
    let (mass, rest) = rest.split_at_mut(BLOCK);
    let (coupling, parent_rows) = rest.split_at_mut(BLOCK);
    fill_basis::<R>(system, body, joint, basis)?;
    change_coordinates::<R>(basis, mass);
    let (pivot, carried) = mass.split_at_mut((N - R) * (N - R));
    cholesky(N - R, pivot).map_err(|magnitude| FactorError::SingularPivot { node: body.node, magnitude })?;

    let (Some(joint), Some(parent_mass)) = (joint, parent_mass) else { return Ok(()) };
    let at_rows = joint.off_diagonal(0, 0);
    parent_rows[..N * R].copy_from_slice(&system.blocks[at_rows..at_rows + N * R]);
    let mut b = fill_coupling::<R>(system, body, [basis, carried, parent_rows], coupling);
    let (k, w) = coupling.split_at_mut(N * R);
    solve_lower::<N>(N - R, N, pivot, w);
    // H = (B_r + K)/2
    for (h, k) in b.iter_mut().zip(&*k) {
        *h = 0.5 * (*h + k);
    }
    subtract_from_parent::<R>(parent_rows, &b, w, parent_mass);
    Ok(())
}

/// `Qᵀ = [R S]ᵀ` of the joint's rows on the body.
#[inline(always)]
fn fill_basis<const R: usize>(
    system: &BlockSystem,
    body: &NodeLayout,
    joint: Option<&NodeLayout>,
    basis: &mut [f64],
) -> Result<(), FactorError> {
    let mut rows = [[0.0; N]; N];
    for (k, row) in rows[..R].iter_mut().enumerate() {
        *row = std::array::from_fn(|i| system.blocks[body.off_diagonal(i, k)]);
    }
    let space = RowSpace::factor(&rows[..R]);
    if let Some(joint) = joint.filter(|_| space.rank() < R) {
        let magnitude = remainder(&space, &rows[..R]);
        return Err(FactorError::SingularPivot { node: joint.node, magnitude });
    }
    for (k, column) in basis.chunks_exact_mut(N).take(R).enumerate() {
        let mut unit = [0.0; N];
        unit[k] = 1.0;
        column.copy_from_slice(&space.particular(&unit[..R]));
    }
    let free = space.null_basis().0;
    basis[N * R..].copy_from_slice(&free.as_flattened()[..N * (N - R)]);
    Ok(())
}

/// Replaces `Ã` by the blocks of `M = QᵀÃQ` that are used: `M_ss`, then the columns `[M_rr; M_sr]`.
#[inline(always)]
fn change_coordinates<const R: usize>(basis: &[f64], mass: &mut [f64]) {
    let (r, f) = (R, N - R);
    let mut m = [0.0; BLOCK];
    for i in 0..N {
        let product = transpose_mul::<N>(N, N, mass, &basis[N * i..N * (i + 1)]);
        for j in 0..=i {
            m[N * i + j] = (0..N).map(|k| basis[N * j + k] * product[k]).sum();
            m[N * j + i] = m[N * i + j];
        }
    }
    let (pivot, carried) = mass.split_at_mut(f * f);
    for i in 0..f {
        pivot[f * i..f * (i + 1)].copy_from_slice(&m[N * (r + i) + r..N * (r + i + 1)]);
    }
    for i in 0..N {
        carried[r * i..r * (i + 1)].copy_from_slice(&m[N * i..N * i + r]);
    }
}

/// `[K; N] = B − [M_rr; M_sr] J_b` with `B = QᵀA_ab`, which is returned.
#[inline(always)]
fn fill_coupling<const R: usize>(
    system: &BlockSystem,
    body: &NodeLayout,
    [basis, carried, parent_rows]: [&[f64]; 3],
    coupling: &mut [f64],
) -> [f64; BLOCK] {
    let mut b = [0.0; BLOCK];
    for i in 0..N {
        for k in 0..N {
            let at = body.off_diagonal(k, R);
            for (target, a) in b[N * i..N * (i + 1)].iter_mut().zip(&system.blocks[at..at + N]) {
                *target += basis[N * i + k] * a;
            }
        }
        let row = transpose_mul::<N>(R, N, parent_rows, &carried[R * i..]);
        for j in 0..N {
            coupling[N * i + j] = b[N * i + j] - row[j];
        }
    }
    b
}

/// `Ã_b −= J_bᵀH + HᵀJ_b + WᵀW`, symmetric to the last bit.
#[inline(always)]
fn subtract_from_parent<const R: usize>(parent_rows: &[f64], h: &[f64], w: &[f64], parent_mass: &mut [f64]) {
    for i in 0..N {
        let mut row = gram_row::<N>(N - R, N, w, i, 0);
        for (j_b, h) in parent_rows.chunks_exact(N).zip(h.chunks_exact(N)).take(R) {
            for j in 0..N {
                row[j] += j_b[i] * h[j] + h[i] * j_b[j];
            }
        }
        for j in 0..N {
            parent_mass[N * i + j] -= row[j];
        }
    }
}

/// `(z̃, b) → (p, y, b)`, `z̃_b −= J_bᵀp + Kᵀb + Wᵀy`.
#[inline]
fn forward<const R: usize>(factor: &PairBlocks<'_>, own: &mut [f64], parent: Option<&mut [f64]>) {
    let (r, f) = (R, N - R);
    let (own, b) = own.split_at_mut(N);
    let mut t = [0.0; N];
    for (value, column) in t.iter_mut().zip(factor.basis.chunks_exact(N)) {
        *value = column.iter().zip(&*own).map(|(q, z)| q * z).sum();
    }
    add_columns([f, r], &factor.carried[r * r..], 0, b, -1.0, &mut t[r..]);
    solve_lower::<1>(f, 1, factor.pivot, &mut t[r..]);
    own.copy_from_slice(&t);
    if let Some(parent) = parent {
        let through_rows = transpose_mul::<N>(r, N, factor.parent_rows, &t);
        t[..r].copy_from_slice(b);
        let through_mass = transpose_mul::<N>(N, N, factor.coupling, &t);
        for j in 0..N {
            parent[j] -= through_rows[j] + through_mass[j];
        }
    }
}

/// `(p, y, b) → (v_a, λ)` from the parent's `v_b`.
#[inline]
fn backward<const R: usize>(factor: &PairBlocks<'_>, own: &mut [f64], parent: Option<&[f64]>) {
    let (r, f) = (R, N - R);
    let (own, b) = own.split_at_mut(N);
    let mut coordinates = [0.0; N];
    coordinates[..r].copy_from_slice(b);
    if let Some(parent) = parent {
        // p − K v_b, y − W v_b, β = b − J_b v_b
        add_columns([N, N], factor.coupling, 0, parent, -1.0, own);
        add_columns([r, N], factor.parent_rows, 0, parent, -1.0, &mut coordinates);
    }
    let (p, y) = own.split_at_mut(r);
    solve_upper(f, factor.pivot, y);
    coordinates[r..].copy_from_slice(y);
    // −λ = p − M_rr b − M_rs u
    let (m_rr, m_sr) = factor.carried.split_at(r * r);
    add_columns([r, r], m_rr, 0, b, -1.0, p);
    let through_free = transpose_mul::<N>(f, r, m_sr, y);
    for (k, value) in b.iter_mut().enumerate() {
        *value = through_free[k] - p[k];
    }
    own.copy_from_slice(&transpose_mul::<N>(N, N, factor.basis, &coordinates));
}

/// The largest part of a unit row that lies outside the span of the independent rows.
fn remainder(space: &RowSpace, rows: &[[f64; N]]) -> f64 {
    let free = space.null_basis().0;
    let square = |v: &[f64; N]| v.iter().map(|a| a * a).sum::<f64>();
    let along = |a: &[f64; N], b: &[f64; N]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let outside = |row: &[f64; N]| {
        let part = free.map(|direction| along(&direction, row));
        let length = square(row);
        if length > 0.0 { (square(&part) / length).sqrt() } else { 0.0 }
    };
    rows.iter().map(outside).fold(0.0, f64::max)
}
