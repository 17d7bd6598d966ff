//! The dense elimination within one front (`fronts`), tile by tile.
//!
//! ```text
//! A₁₁ = L D Lᵀ,   L₂₁ = A₂₁ L⁻ᵀ D⁻¹,   F₂₂ −= L₂₁ D L₂₁ᵀ
//! ```
//! Each entry sees the same operations in the same order on every machine. Cost: `n m²` flops for `n` of `m` rows; nothing allocates.

use super::front_plan::TILE;
use super::simd4::Simd4;
#[cfg(target_arch = "x86_64")]
use crate::vectorized::avx;
use sinew_math::F64x2;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::__m256d;

/// A pivot below this is rounding.
const ZERO: f64 = 1e-14;

/// The columns of a front while its own rows are eliminated.
pub(super) struct FrontColumns<'a> {
    /// Own rows, and touched ones in whole tiles.
    pub(super) n: usize,
    pub(super) tiled: usize,
    /// Own columns; those of `L` once eliminated.
    pub(super) panel: &'a mut [f64],
    pub(super) inverse_pivots: &'a mut [f64],
    /// `D⁻¹A₂₁ᵀ`, as the own columns are stored, without the own rows.
    pub(super) scaled: &'a mut [f64],
    /// `F₂₂`.
    pub(super) left: &'a mut [f64],
}

// Closures would not be compiled for wide vectors.
impl FrontColumns<'_> {
    /// Eliminates the own rows, with the widest vectors that the machine has.
    pub(super) fn eliminate(&mut self) {
        #[cfg(target_arch = "x86_64")]
        if let Some(token) = avx() {
            return token.vectorize(
                #[inline(always)]
                || self.eliminate_by::<__m256d>(token),
            );
        }
        self.eliminate_by::<[F64x2; 2]>(());
    }

    #[inline(always)]
    fn eliminate_by<F: Simd4>(&mut self, token: F::Token) {
        match (self.n, self.tiled) {
            // Two joints beyond one in a chain: loops of known length.
            (3, 8) => self.eliminate_three::<F>(token, 8),
            (3, tiled) => self.eliminate_three::<F>(token, tiled),
            _ => self.eliminate_any::<F>(token),
        }
    }

    /// Three own rows, those of a joint that holds points together: what is done with one row of tiles stays in registers.
    #[inline(always)]
    fn eliminate_three<F: Simd4>(&mut self, token: F::Token, tiled: usize) {
        let (a, rest) = self.panel[..3 * (3 + tiled)].split_at_mut(3 + tiled);
        let (b, c) = rest.split_at_mut(3 + tiled);
        let (own_a, a) = a.split_first_chunk_mut().expect("three rows");
        let (own_b, b) = b.split_first_chunk_mut().expect("three rows");
        let (own_c, c) = c.split_first_chunk_mut().expect("three rows");
        let inverses = factor_three(own_a, own_b, own_c);
        self.inverse_pivots.copy_from_slice(&inverses);
        let columns = [a, b, c].map(|column| column.as_chunks_mut::<TILE>().0);
        let kept = &mut self.scaled[..3 * tiled];
        let (kept_a, rest) = kept.as_chunks_mut::<TILE>().0.split_at_mut(tiled / TILE);
        let (kept_b, kept_c) = rest.split_at_mut(tiled / TILE);
        let mut three = ThreeColumns { scaled: columns, kept: [kept_a, kept_b, kept_c] };
        three.solve::<F>(token, [own_a[1], own_a[2], own_b[2]], inverses);
        three.update::<F>(token, self.left[..tiled * tiled].as_chunks_mut::<TILE>().0);
    }

    /// Any number of own rows, three at a time where there are three.
    #[inline(always)]
    fn eliminate_any<F: Simd4>(&mut self, token: F::Token) {
        let (n, tiled) = (self.n, self.tiled);
        let stride = n + tiled;
        let mut k = 0;
        while k < n {
            let group = if n - k >= 3 { 3 } else { 1 };
            self.eliminate_group(k, group);
            for p in k..k + group {
                let inverse = self.inverse_pivots[p];
                let column = &mut self.panel[p * stride..][..stride];
                for (l, a) in self.scaled[p * tiled..][..tiled].iter_mut().zip(&column[n..]) {
                    *l = a * inverse;
                }
                for l in &mut column[p + 1..n] {
                    *l *= inverse;
                }
            }
            k += group;
        }
        self.update_left::<F>(token);
        for k in 0..n {
            let at = k * stride + n;
            self.panel[at..at + tiled].copy_from_slice(&self.scaled[k * tiled..][..tiled]);
        }
    }

    /// Eliminates one or three own rows from the own columns behind them.
    #[inline(always)]
    fn eliminate_group(&mut self, k: usize, group: usize) {
        let stride = self.n + self.tiled;
        let (done, later) = self.panel.split_at_mut((k + group) * stride);
        let own = &mut done[k * stride..];
        for p in 0..group {
            let (column, rest) = own[p * stride..].split_at_mut(stride);
            let inverse = invert(column[k + p]);
            self.inverse_pivots[k + p] = inverse;
            for (next, j) in rest.chunks_exact_mut(stride).zip(k + p + 1..) {
                subtract([column[j] * inverse], [&column[j..]], &mut next[j..]);
            }
        }
        let inverses = &self.inverse_pivots[k..k + group];
        let (a, rest) = own.split_at(stride);
        if let [u, v, w] = *inverses {
            let (b, c) = rest.split_at(stride);
            for (next, j) in later.chunks_exact_mut(stride).zip(k + 3..) {
                subtract([a[j] * u, b[j] * v, c[j] * w], [&a[j..], &b[j..], &c[j..]], &mut next[j..]);
            }
        } else {
            for (next, j) in later.chunks_exact_mut(stride).zip(k + 1..) {
                subtract([a[j] * inverses[0]], [&a[j..]], &mut next[j..]);
            }
        }
    }

    /// `F₂₂ −= A₂₁ D⁻¹ A₂₁ᵀ`, tile by tile of its lower half.
    #[inline(always)]
    fn update_left<F: Simd4>(&mut self, token: F::Token) {
        let (n, tiled) = (self.n, self.tiled);
        let stride = n + tiled;
        let (panel, scaled) = (&self.panel[..n * stride], &self.scaled[..n * tiled]);
        for (j, columns) in self.left.chunks_exact_mut(TILE * tiled.max(1)).enumerate() {
            let j = j * TILE;
            let mut i = j;
            while i < tiled {
                let mut sums = [F::new(token, [0.0; TILE]); TILE];
                for c in 0..TILE {
                    sums[c] = F::new(token, *tile(&columns[c * tiled + i..]));
                }
                for k in 0..n {
                    let l = *tile(&scaled[k * tiled + j..]);
                    let a = F::new(token, *tile(&panel[k * stride + n + i..]));
                    for c in 0..TILE {
                        sums[c] = sums[c].minus(token, F::new(token, [l[c]; TILE]).times(token, a));
                    }
                }
                for c in 0..TILE {
                    columns[c * tiled + i..][..TILE].copy_from_slice(&sums[c].to_array());
                }
                i += TILE;
            }
        }
    }
}

/// What three own columns have in the rows that they touch.
struct ThreeColumns<'a> {
    /// `A₂₁`, then `L₂₁`.
    scaled: [&'a mut [[f64; TILE]]; 3],
    /// `L₂₁ D`.
    kept: [&'a mut [[f64; TILE]]; 3],
}

impl ThreeColumns<'_> {
    /// `L₂₁` from `A₂₁`, with the entries of `L₁₁` below its diagonal, column by column.
    #[inline(always)]
    fn solve<F: Simd4>(&mut self, token: F::Token, [ba, ca, cb]: [f64; 3], [u, v, w]: [f64; 3]) {
        let (ba, ca, cb) = (F::new(token, [ba; TILE]), F::new(token, [ca; TILE]), F::new(token, [cb; TILE]));
        let (u, v, w) = (F::new(token, [u; TILE]), F::new(token, [v; TILE]), F::new(token, [w; TILE]));
        let [a, b, c] = &mut self.scaled;
        let [kept_a, kept_b, kept_c] = &mut self.kept;
        let kept = kept_a.iter_mut().zip(kept_b.iter_mut()).zip(kept_c.iter_mut());
        let columns = a.iter_mut().zip(b.iter_mut()).zip(c.iter_mut());
        for (((a, b), c), ((kept_a, kept_b), kept_c)) in columns.zip(kept) {
            let of_a = F::new(token, *a);
            let of_b = F::new(token, *b).minus(token, ba.times(token, of_a));
            let of_c = F::new(token, *c).minus(token, ca.times(token, of_a));
            let of_c = of_c.minus(token, cb.times(token, of_b));
            (*kept_a, *kept_b, *kept_c) = (of_a.to_array(), of_b.to_array(), of_c.to_array());
            *a = of_a.times(token, u).to_array();
            *b = of_b.times(token, v).to_array();
            *c = of_c.times(token, w).to_array();
        }
    }

    /// `F₂₂ −= L₂₁ D L₂₁ᵀ`, lower half.
    #[inline(always)]
    fn update<F: Simd4>(&self, token: F::Token, left: &mut [[f64; TILE]]) {
        let [a, b, c] = &self.scaled;
        let [kept_a, kept_b, kept_c] = &self.kept;
        let n_tiles = a.len();
        let columns = left.chunks_exact_mut(TILE * n_tiles.max(1));
        for (j, (((a, b), c), columns)) in a.iter().zip(b.iter()).zip(c.iter()).zip(columns).enumerate() {
            for (i, column) in columns.chunks_exact_mut(n_tiles).enumerate() {
                let a = F::new(token, [a[i]; TILE]);
                let (b, c) = (F::new(token, [b[i]; TILE]), F::new(token, [c[i]; TILE]));
                let rows = kept_a[j..].iter().zip(&kept_b[j..]).zip(&kept_c[j..]);
                for (x, ((of_a, of_b), of_c)) in column[j..].iter_mut().zip(rows) {
                    let sum = F::new(token, *x).minus(token, a.times(token, F::new(token, *of_a)));
                    let sum = sum.minus(token, b.times(token, F::new(token, *of_b)));
                    *x = sum.minus(token, c.times(token, F::new(token, *of_c))).to_array();
                }
            }
        }
    }
}

/// `L D Lᵀ` of three columns, lower half, in place but for `D`, whose inverse is returned.
#[inline(always)]
fn factor_three(
    [a0, a1, a2]: &mut [f64; 3],
    [_, b1, b2]: &mut [f64; 3],
    [_, _, c2]: &mut [f64; 3],
) -> [f64; 3] {
    let u = invert(*a0);
    let (ba, ca) = (*a1 * u, *a2 * u);
    *b1 -= ba * *a1;
    *b2 -= ba * *a2;
    *c2 -= ca * *a2;
    let v = invert(*b1);
    let cb = *b2 * v;
    *c2 -= cb * *b2;
    (*a1, *a2, *b2) = (ba, ca, cb);
    [u, v, invert(*c2)]
}

/// One over a pivot; 0 if that is rounding.
#[inline(always)]
fn invert(pivot: f64) -> f64 {
    if pivot > ZERO { 1.0 / pivot } else { 0.0 }
}

/// `x −= l₁ a₁`, then `l₂ a₂` and so on.
#[inline(always)]
fn subtract<const K: usize>(l: [f64; K], a: [&[f64]; K], x: &mut [f64]) {
    for i in 0..x.len() {
        let mut value = x[i];
        for k in 0..K {
            value -= l[k] * a[k][i];
        }
        x[i] = value;
    }
}

/// The first numbers as a tile column.
#[inline(always)]
fn tile(numbers: &[f64]) -> &[f64; TILE] {
    numbers.first_chunk().expect("whole tiles")
}
