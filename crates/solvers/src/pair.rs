//! Pair elimination: a body and the joint to its parent are eliminated together.
//!
//! **What.** A joint with full-rank rows is equivalent to `v_a = X v_b + S u + c` (docs/maths/elimination.md §2):
//! `X = [[1, 0], [−[d], 1]]`, `d = x_a − x_b` (`shift`), `S` (6×F) the free directions (`basis`), `c` a motion that
//! satisfies the joint's right-hand side (`offset`). A force inside the joint exerts the impulse `Q − K̂ u` on `a`
//! along `S` (`impulse`, `stiffness`). Eliminating `u` and the body, leaves → root:
//! ```text
//! U = Ã S,  D = SᵀU + K̂,  ẑ = z̃ − Ã c,  e = Sᵀẑ + Q,  Y = U D⁻¹ (gain),  w = D⁻¹ e (drive)
//! Ã_b += Xᵀ(Ã − U Yᵀ)X,   z̃_b += Xᵀ(ẑ − U w)
//! ```
//! and root → leaves `u = w − Yᵀ X v_b`, `v_a = X v_b + S u + c`. This is the Schur complement of the block form
//! ([`crate::TreeLdlt`]) on the pair (body, joint): no fill, no multipliers, no parent–child blocks.
//!
//! **Frames, units.** World axes, twists at each body's centre of mass, angular part first; `Ã` is a mass matrix, `z̃`
//! a momentum.
//!
//! **Cost.** About 250 flops and 23 stored numbers for a hinge (`F = 1`); a further right-hand side takes about 100
//! flops. Loads are kept on a stack, so a chain of any length needs one at a time.
//!
//! **Failure.** `D` is positive definite if every body has mass. Otherwise the pivot is regularized and counted; see
//! [`PairFactorView::eliminate`].

use crate::load::Load;
use crate::pivot::{Ldlt3, factor_packed, invert_pivot, solve_packed};
use glam::{DMat3, DVec3};
use sinew_math::{Force, Motion, Sym3, shift_force, shift_motion};

/// A joint in the form `v_a = X v_b + S u + c`, with the force inside it.
#[derive(Clone, Copy, Debug)]
pub struct PairJoint<const F: usize> {
    /// `d = x_a − x_b`, m.
    pub shift: DVec3,
    /// `S`, the free directions.
    pub basis: [Motion; F],
    /// `c`, a motion that satisfies the rows.
    pub offset: Motion,
    /// `K̂`, symmetric: h·damping + h²·stiffness (+ armature) on `u`.
    pub stiffness: [[f64; F]; F],
    /// `Q`, the impulse along `S` at `u = 0`.
    pub impulse: [f64; F],
}

/// A joint that frees all rotations about a point of the body: `S = (1, [arm])`, a specialized `PairJoint<3>`.
#[derive(Clone, Copy, Debug)]
pub struct PointJoint {
    /// `d = x_a − x_b`, m.
    pub shift: DVec3,
    /// From the centre of mass of `a` to the point, world axes, m.
    pub arm: DVec3,
    /// `c`, a motion that satisfies the rows.
    pub offset: Motion,
    /// `K̂` on the relative rotation.
    pub stiffness: Sym3,
    /// `Q`, the angular impulse at `u = 0`.
    pub impulse: DVec3,
}

/// The factor of a forest of pairs, in flat arrays and elimination order.
#[derive(Clone, Debug, Default)]
pub struct PairFactor {
    pub(crate) heads: Vec<Head>,
    pub(crate) columns: Vec<Column>,
    /// Packed LDLᵀ of every `D`, for further right-hand sides.
    pub(crate) pivots: Vec<f64>,
}

/// One pair: first column and pivot, and the joint data with one value per pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) shift: DVec3,
    offset: Motion,
    column: u32,
    pub(crate) pivot: u32,
    /// A ball joint without a spring, whose reaction has a shorter form.
    pub(crate) ball: bool,
}

/// One free direction: a column of `S`, of `Y`, and an entry of `w`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) basis: Motion,
    pub(crate) gain: Force,
    drive: f64,
}

impl PairFactor {
    /// Storage for pairs with the given free dimensions (0–6), in elimination order.
    pub fn new(free_dimensions: impl IntoIterator<Item = usize>) -> Self {
        let mut factor = Self::default();
        factor.refit(free_dimensions);
        factor
    }

    /// The same storage for other pairs, to be factored before it is read: what is in it has no meaning.
    pub fn refit(&mut self, free_dimensions: impl IntoIterator<Item = usize>) {
        let (mut column, mut pivot) = (0, 0);
        self.heads.clear();
        self.heads.extend(free_dimensions.into_iter().map(|f| {
            assert!(f <= 6, "a joint has at most six free directions");
            let head = Head { shift: DVec3::ZERO, offset: Motion::ZERO, column, pivot, ball: false };
            column += f as u32;
            pivot += (f * (f + 1) / 2) as u32;
            head
        }));
        let empty = Column { basis: Motion::ZERO, gain: Force::ZERO, drive: 0.0 };
        self.columns.resize(column as usize, empty);
        self.pivots.resize(pivot as usize, 0.0);
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.heads.len()
    }

    /// True if there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// Total number of free directions, the length of a `drive` buffer.
    pub fn n_columns(&self) -> usize {
        self.columns.len()
    }

    /// Bytes held, for memory reports.
    pub fn bytes(&self) -> usize {
        self.heads.capacity() * size_of::<Head>()
            + self.columns.capacity() * size_of::<Column>()
            + self.pivots.capacity() * 8
    }

    /// A mutable view of all pairs, to be split among threads.
    pub fn view(&mut self) -> PairFactorView<'_> {
        PairFactorView {
            first: 0,
            first_column: 0,
            first_pivot: 0,
            heads: &mut self.heads,
            columns: &mut self.columns,
            pivots: &mut self.pivots,
        }
    }

    /// Range of the columns of a pair.
    #[inline]
    pub(crate) fn columns_of(&self, pair: usize) -> std::ops::Range<usize> {
        let end = self.heads.get(pair + 1).map_or(self.columns.len(), |h| h.column as usize);
        self.heads[pair].column as usize..end
    }

    /// `v_a` from the parent's twist, after the eliminations: `u = w − Yᵀ X v_b`, `v_a = X v_b + S u + c`.
    #[inline]
    pub fn substitute(&self, pair: usize, parent: Motion) -> Motion {
        self.substitute_by(pair, parent, |_, drive| drive)
    }

    /// [`Self::substitute`] with more drives added to those of the elimination.
    #[inline]
    pub fn substitute_with(&self, pair: usize, parent: Motion, drive: &[f64]) -> Motion {
        let more = &drive[self.columns_of(pair)];
        self.substitute_by(pair, parent, |i, drive| drive + more[i])
    }

    #[inline(always)]
    fn substitute_by(&self, pair: usize, parent: Motion, drive: impl Fn(usize, f64) -> f64) -> Motion {
        let head = &self.heads[pair];
        let carried = shift_motion(parent, head.shift);
        let mut v = carried + head.offset;
        for (i, column) in self.columns[self.columns_of(pair)].iter().enumerate() {
            v += column.basis * (drive(i, column.drive) - column.gain.dot(carried));
        }
        v
    }
}

/// A contiguous part of a [`PairFactor`], owned by one thread.
#[derive(Debug)]
pub struct PairFactorView<'a> {
    first: usize,
    first_column: usize,
    first_pivot: usize,
    heads: &'a mut [Head],
    columns: &'a mut [Column],
    pivots: &'a mut [f64],
}

impl PairFactorView<'_> {
    /// Splits into the pairs before `pair` and those from it on.
    pub fn split_at(self, pair: usize) -> (Self, Self) {
        let (heads0, heads1) = self.heads.split_at_mut(pair - self.first);
        let first_column =
            heads1.first().map_or(self.first_column + self.columns.len(), |h| h.column as usize);
        let first_pivot = heads1.first().map_or(self.first_pivot + self.pivots.len(), |h| h.pivot as usize);
        let (columns0, columns1) = self.columns.split_at_mut(first_column - self.first_column);
        let (pivots0, pivots1) = self.pivots.split_at_mut(first_pivot - self.first_pivot);
        let left = PairFactorView {
            first: self.first,
            first_column: self.first_column,
            first_pivot: self.first_pivot,
            heads: heads0,
            columns: columns0,
            pivots: pivots0,
        };
        let right = PairFactorView {
            first: pair,
            first_column,
            first_pivot,
            heads: heads1,
            columns: columns1,
            pivots: pivots1,
        };
        (left, right)
    }

    /// Eliminates a pair: turns the load on its body into the load on its parent.
    ///
    /// Returns the number of pivots that had to be regularized: a pivot not above `1e-14` of the pair's largest
    /// diagonal entry is raised to `1e-14` of that entry plus the trace of `Ã`, a compliance in that direction;
    /// a direction with neither mass nor stiffness is held at `u = 0`.
    #[inline]
    pub fn eliminate<const F: usize>(&mut self, pair: usize, load: &mut Load, joint: &PairJoint<F>) -> u32 {
        self.eliminate_towards::<F, true>(pair, load, joint)
    }

    /// [`Self::eliminate`] for a root pair; the load is consumed.
    #[inline]
    pub fn eliminate_root<const F: usize>(
        &mut self,
        pair: usize,
        load: &mut Load,
        joint: &PairJoint<F>,
    ) -> u32 {
        self.eliminate_towards::<F, false>(pair, load, joint)
    }

    #[inline(always)]
    fn eliminate_towards<const F: usize, const PARENT: bool>(
        &mut self,
        pair: usize,
        load: &mut Load,
        joint: &PairJoint<F>,
    ) -> u32 {
        let head = &mut self.heads[pair - self.first];
        head.shift = joint.shift;
        head.offset = joint.offset;
        head.ball = false;
        // ẑ = z̃ − Ã c
        load.momentum -= load.mass.mul(joint.offset);
        let mut regularized = 0;
        if F > 0 {
            // U = Ã S, D = SᵀU + K̂, e = Sᵀẑ + Q
            let mut u = [Force::ZERO; F];
            let mut d = joint.stiffness;
            let mut e = joint.impulse;
            for i in 0..F {
                u[i] = load.mass.mul(joint.basis[i]);
                e[i] += load.momentum.dot(joint.basis[i]);
                for j in 0..=i {
                    d[i][j] += u[i].dot(joint.basis[j]);
                }
            }
            let at = head.column as usize - self.first_column;
            let columns = &mut self.columns[at..at + F];
            let at = head.pivot as usize - self.first_pivot;
            let pivots = &mut self.pivots[at..at + F * (F + 1) / 2];
            let mut gain = u;
            if F == 1 {
                let (inverse, raised) = invert_pivot(d[0][0], d[0][0].abs(), &load.mass);
                regularized = raised;
                pivots[0] = inverse;
                gain[0] = u[0] * inverse;
                e[0] *= inverse;
            } else {
                regularized = factor_packed(&mut d, &load.mass, pivots);
                solve_packed(pivots, &mut gain);
                solve_packed(pivots, &mut e);
            }
            for i in 0..F {
                columns[i] = Column { basis: joint.basis[i], gain: gain[i], drive: e[i] };
                if PARENT {
                    // Ã − U Yᵀ, ẑ − U w
                    load.mass.subtract_product(u[i], gain[i]);
                    load.momentum -= u[i] * e[i];
                }
            }
        }
        if PARENT {
            load.mass.shift(joint.shift);
            load.momentum = shift_force(load.momentum, joint.shift);
        }
        regularized
    }

    /// [`Self::eliminate`] for a joint that frees all rotations about a point.
    ///
    /// Seen from the point, `S = (1, 0)` and everything is 3×3: with `[[A, B], [Bᵀ, C]]` there, `D = A + K̂`,
    /// ```text
    /// G = D⁻¹[A  B],   A' = K̂ D⁻¹A,   B' = K̂ D⁻¹B,   C' = C − BᵀD⁻¹B,   ẑ' = (K̂ w − Q, ẑ_v − Bᵀw)
    /// ```
    /// so that without a spring only the linear block is passed on.
    #[inline]
    pub fn eliminate_point(&mut self, pair: usize, load: &mut Load, joint: &PointJoint) -> u32 {
        let head = &mut self.heads[pair - self.first];
        head.shift = joint.shift;
        head.offset = joint.offset;
        let arm = joint.arm;
        // To the point.
        load.momentum = shift_force(load.momentum - load.mass.mul(joint.offset), -arm);
        load.mass.shift(-arm);
        let at = head.pivot as usize - self.first_pivot;
        let pivots = &mut self.pivots[at..at + 6];
        let (factor, regularized) = Ldlt3::new(&(load.mass.angular + joint.stiffness), &load.mass);
        pivots.copy_from_slice(&factor.0);
        head.ball = regularized == 0 && joint.stiffness == Sym3::ZERO;
        let w = factor.solve(load.momentum.angular + joint.impulse);
        let b = load.mass.coupling;
        let gb = DMat3 {
            x_axis: factor.solve(b.x_axis),
            y_axis: factor.solve(b.y_axis),
            z_axis: factor.solve(b.z_axis),
        };
        let (a0, a1, a2) = load.mass.angular.columns();
        let ga = DMat3 { x_axis: factor.solve(a0), y_axis: factor.solve(a1), z_axis: factor.solve(a2) };
        load.mass.linear.xx -= b.x_axis.dot(gb.x_axis);
        load.mass.linear.yy -= b.y_axis.dot(gb.y_axis);
        load.mass.linear.zz -= b.z_axis.dot(gb.z_axis);
        load.mass.linear.xy -= b.x_axis.dot(gb.y_axis);
        load.mass.linear.xz -= b.x_axis.dot(gb.z_axis);
        load.mass.linear.yz -= b.y_axis.dot(gb.z_axis);
        let k = joint.stiffness;
        let (k0, k1, k2) = k.columns();
        load.mass.angular = Sym3 {
            xx: k0.dot(ga.x_axis),
            yy: k1.dot(ga.y_axis),
            zz: k2.dot(ga.z_axis),
            xy: k0.dot(ga.y_axis),
            xz: k0.dot(ga.z_axis),
            yz: k1.dot(ga.z_axis),
        };
        load.mass.coupling = DMat3 {
            x_axis: k.mul_vec(gb.x_axis),
            y_axis: k.mul_vec(gb.y_axis),
            z_axis: k.mul_vec(gb.z_axis),
        };
        load.momentum.angular = k.mul_vec(w) - joint.impulse;
        load.momentum.linear -= DVec3::new(b.x_axis.dot(w), b.y_axis.dot(w), b.z_axis.dot(w));
        // On to the parent.
        let onward = joint.shift + arm;
        load.mass.shift(onward);
        load.momentum = shift_force(load.momentum, onward);

        let at = head.column as usize - self.first_column;
        let columns = &mut self.columns[at..at + 3];
        let (g, h) = (ga.transpose(), gb.transpose());
        // S = (1, [arm])
        let columns_of_s = [
            Motion { angular: DVec3::X, linear: DVec3::new(0.0, arm.z, -arm.y) },
            Motion { angular: DVec3::Y, linear: DVec3::new(-arm.z, 0.0, arm.x) },
            Motion { angular: DVec3::Z, linear: DVec3::new(arm.y, -arm.x, 0.0) },
        ];
        let drive = [w.x, w.y, w.z];
        for i in 0..3 {
            let gain = Force { angular: g.col(i) + arm.cross(h.col(i)), linear: h.col(i) };
            columns[i] = Column { basis: columns_of_s[i], gain, drive: drive[i] };
        }
        regularized
    }
}
