//! Pair elimination: a body and the joint to its parent leave the system in one step.
//!
//! **What.** A joint with full-rank rows is the same as `v_a = X v_b + S u + c` (docs/maths/elimination.md §2):
//! `X = [[1, 0], [−[d], 1]]`, `d = x_a − x_b` (`shift`), `S` (6×F) the free directions (`basis`), `c` a
//! motion that meets the joint's right-hand side (`offset`). A force inside the joint gives `a` the impulse
//! `Q − K̂ u` along `S` (`impulse`, `stiffness`). Eliminating `u` and the body, leaves → root:
//! ```text
//! U = Ã S,  D = SᵀU + K̂,  ẑ = z̃ − Ã c,  e = Sᵀẑ + Q,  Y = U D⁻¹ (gain),  w = D⁻¹ e (drive)
//! Ã_b += Xᵀ(Ã − U Yᵀ)X,   z̃_b += Xᵀ(ẑ − U w)
//! ```
//! and root → leaves `u = w − Yᵀ X v_b`, `v_a = X v_b + S u + c`. It is the Schur complement of the block
//! form ([`crate::TreeLdlt`]) on the pair (body, joint): no fill, no multipliers, no parent–child blocks.
//!
//! **Frames, units.** World axes, twists at each body's centre of mass, angular part first; `Ã` is a mass
//! matrix, `z̃` a momentum.
//!
//! **Cost.** About 250 flops and 23 stored numbers for a hinge (`F = 1`); a further right-hand side takes
//! about 100 flops. Loads travel on a stack, so a chain of any length keeps one of them alive.
//!
//! **Failure.** `D` is positive definite when every body has mass; otherwise the pivot is regularized and
//! counted, see [`PairFactorView::eliminate`].

use glam::{DMat3, DVec3};
use sinew_math::{Force, Motion, Sym3};

/// Symmetric 6×6 matrix `[[angular, coupling], [couplingᵀ, linear]]`, from twists to momenta.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EffectiveMass {
    /// Angular–angular block, kg·m².
    pub angular: Sym3,
    /// Angular–linear block, kg·m (rows angular, columns linear).
    pub coupling: DMat3,
    /// Linear–linear block, kg.
    pub linear: Sym3,
}

impl EffectiveMass {
    /// The zero matrix.
    pub const ZERO: Self = Self { angular: Sym3::ZERO, coupling: DMat3::ZERO, linear: Sym3::ZERO };

    /// A rigid body at its centre of mass.
    #[inline]
    pub fn rigid(inertia: Sym3, mass: f64) -> Self {
        Self { angular: inertia, coupling: DMat3::ZERO, linear: Sym3::diagonal(DVec3::splat(mass)) }
    }

    /// Matrix times twist.
    #[inline]
    pub fn mul(&self, v: Motion) -> Force {
        Force {
            angular: self.angular.mul_vec(v.angular) + self.coupling * v.linear,
            linear: self.coupling.transpose() * v.angular + self.linear.mul_vec(v.linear),
        }
    }

    /// Adds another matrix.
    #[inline]
    pub fn add(&mut self, other: &Self) {
        self.angular += other.angular;
        self.coupling += other.coupling;
        self.linear += other.linear;
    }

    /// Adds `k g gᵀ`.
    #[inline]
    pub fn add_outer(&mut self, k: f64, g: Force) {
        self.add_product(Force { angular: g.angular * k, linear: g.linear * k }, g);
    }

    /// Adds `a bᵀ`, of which only the symmetric result is meaningful (`a` and `b` parallel, or one term of
    /// a symmetric sum).
    #[inline]
    fn add_product(&mut self, a: Force, b: Force) {
        self.angular.xx += a.angular.x * b.angular.x;
        self.angular.yy += a.angular.y * b.angular.y;
        self.angular.zz += a.angular.z * b.angular.z;
        self.angular.xy += a.angular.x * b.angular.y;
        self.angular.xz += a.angular.x * b.angular.z;
        self.angular.yz += a.angular.y * b.angular.z;
        self.coupling.x_axis += a.angular * b.linear.x;
        self.coupling.y_axis += a.angular * b.linear.y;
        self.coupling.z_axis += a.angular * b.linear.z;
        self.linear.xx += a.linear.x * b.linear.x;
        self.linear.yy += a.linear.y * b.linear.y;
        self.linear.zz += a.linear.z * b.linear.z;
        self.linear.xy += a.linear.x * b.linear.y;
        self.linear.xz += a.linear.x * b.linear.z;
        self.linear.yz += a.linear.y * b.linear.z;
    }

    /// `Xᵀ self X`: the same matrix acting on the twist of a point that lies `−shift` away.
    #[inline]
    pub fn shifted(&self, d: DVec3) -> Self {
        let c = &self.linear;
        let b = &self.coupling;
        // B' = B + [d] C, column by column.
        let coupling = DMat3 {
            x_axis: b.x_axis + d.cross(DVec3::new(c.xx, c.xy, c.xz)),
            y_axis: b.y_axis + d.cross(DVec3::new(c.xy, c.yy, c.yz)),
            z_axis: b.z_axis + d.cross(DVec3::new(c.xz, c.yz, c.zz)),
        };
        // A'ᵢⱼ = Aᵢⱼ + (d × row_j B)ᵢ + (d × row_i B')ⱼ, upper triangle only.
        let (r0, r1, r2) = rows(b);
        let (s0, s1, s2) = rows(&coupling);
        let a = &self.angular;
        let angular = Sym3 {
            xx: a.xx + cross_x(d, r0) + cross_x(d, s0),
            yy: a.yy + cross_y(d, r1) + cross_y(d, s1),
            zz: a.zz + cross_z(d, r2) + cross_z(d, s2),
            xy: a.xy + cross_x(d, r1) + cross_y(d, s0),
            xz: a.xz + cross_x(d, r2) + cross_z(d, s0),
            yz: a.yz + cross_y(d, r2) + cross_z(d, s1),
        };
        Self { angular, coupling, linear: *c }
    }
}

#[inline(always)]
fn rows(m: &DMat3) -> (DVec3, DVec3, DVec3) {
    (
        DVec3::new(m.x_axis.x, m.y_axis.x, m.z_axis.x),
        DVec3::new(m.x_axis.y, m.y_axis.y, m.z_axis.y),
        DVec3::new(m.x_axis.z, m.y_axis.z, m.z_axis.z),
    )
}
#[inline(always)]
fn cross_x(d: DVec3, r: DVec3) -> f64 {
    d.y * r.z - d.z * r.y
}
#[inline(always)]
fn cross_y(d: DVec3, r: DVec3) -> f64 {
    d.z * r.x - d.x * r.z
}
#[inline(always)]
fn cross_z(d: DVec3, r: DVec3) -> f64 {
    d.x * r.y - d.y * r.x
}

/// What a subtree presents to the body it hangs from: `Ã` and `z̃`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// `Ã`, the effective mass.
    pub mass: EffectiveMass,
    /// `z̃`, the momentum it brings.
    pub momentum: Force,
}

impl Load {
    /// Nothing.
    pub const ZERO: Self = Self { mass: EffectiveMass::ZERO, momentum: Force::ZERO };

    /// Adds another load on the same body.
    #[inline]
    pub fn add(&mut self, other: &Self) {
        self.mass.add(&other.mass);
        self.momentum += other.momentum;
    }
}

/// A joint in the form `v_a = X v_b + S u + c`, with the force inside it.
#[derive(Clone, Copy, Debug)]
pub struct PairJoint<const F: usize> {
    /// `d = x_a − x_b`, m.
    pub shift: DVec3,
    /// `S`, the free directions.
    pub basis: [Motion; F],
    /// `c`, a motion that meets the rows.
    pub offset: Motion,
    /// `K̂`, symmetric: h·damping + h²·stiffness (+ armature) on `u`.
    pub stiffness: [[f64; F]; F],
    /// `Q`, the impulse along `S` at `u = 0`.
    pub impulse: [f64; F],
}

/// The factor of a forest of pairs, flat and in elimination order.
#[derive(Clone, Debug, Default)]
pub struct PairFactor {
    /// First column of each pair, one more entry than pairs.
    columns: Vec<u32>,
    /// First pivot number of each pair, one more entry than pairs.
    pivot_starts: Vec<u32>,
    shift: Vec<DVec3>,
    offset: Vec<Motion>,
    basis: Vec<Motion>,
    gain: Vec<Force>,
    drive: Vec<f64>,
    pivot: Vec<f64>,
}

impl PairFactor {
    /// Storage for pairs with the given free dimensions (0–6), in elimination order.
    pub fn new(free_dimensions: impl IntoIterator<Item = usize>) -> Self {
        let (mut columns, mut pivot_starts) = (vec![0u32], vec![0u32]);
        let (mut column, mut pivot) = (0u32, 0u32);
        for f in free_dimensions {
            assert!(f <= 6, "a joint has at most six free directions");
            column += f as u32;
            pivot += (f * (f + 1) / 2) as u32;
            columns.push(column);
            pivot_starts.push(pivot);
        }
        let n = columns.len() - 1;
        Self {
            columns,
            pivot_starts,
            shift: vec![DVec3::ZERO; n],
            offset: vec![Motion::ZERO; n],
            basis: vec![Motion::ZERO; column as usize],
            gain: vec![Force::ZERO; column as usize],
            drive: vec![0.0; column as usize],
            pivot: vec![0.0; pivot as usize],
        }
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.shift.len()
    }

    /// True if there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.shift.is_empty()
    }

    /// Free dimension of a pair.
    #[inline]
    pub fn free_dimension(&self, pair: usize) -> usize {
        (self.columns[pair + 1] - self.columns[pair]) as usize
    }

    /// A mutable view of all pairs, to be split among threads.
    pub fn view(&mut self) -> PairFactorView<'_> {
        PairFactorView {
            first: 0,
            columns: &self.columns,
            pivot_starts: &self.pivot_starts,
            shift: &mut self.shift,
            offset: &mut self.offset,
            basis: &mut self.basis,
            gain: &mut self.gain,
            drive: &mut self.drive,
            pivot: &mut self.pivot,
        }
    }

    /// `v_a` from the parent's twist, after the eliminations: `u = w − Yᵀ X v_b`, `v_a = X v_b + S u + c`.
    #[inline]
    pub fn substitute(&self, pair: usize, parent: Motion) -> Motion {
        let (lo, hi) = (self.columns[pair] as usize, self.columns[pair + 1] as usize);
        let carried = shift_motion(parent, self.shift[pair]);
        let mut v = carried + self.offset[pair];
        for j in lo..hi {
            let u = self.drive[j] - self.gain[j].dot(carried);
            v += self.basis[j] * u;
        }
        v
    }

    /// One more right-hand side, leaves → root: takes the momentum `z̃` on the pair's body and the impulse
    /// `Q` along the free directions being zero, writes `w`, and returns what the parent receives.
    #[inline]
    pub fn eliminate_momentum(&self, pair: usize, momentum: Force, drive: &mut [f64]) -> Force {
        let (lo, hi) = (self.columns[pair] as usize, self.columns[pair + 1] as usize);
        let mut e = [0.0; 6];
        let mut up = momentum;
        for (i, j) in (lo..hi).enumerate() {
            e[i] = momentum.dot(self.basis[j]);
            // U w = U D⁻¹ e = Y e
            up = up - self.gain[j] * e[i];
        }
        let pivot = &self.pivot[self.pivot_starts[pair] as usize..];
        solve_packed(pivot, hi - lo, &mut e);
        drive[lo..hi].copy_from_slice(&e[..hi - lo]);
        shift_force(up, self.shift[pair])
    }

    /// The matching root → leaves step of [`Self::eliminate_momentum`], with `c = 0`.
    #[inline]
    pub fn substitute_drive(&self, pair: usize, parent: Motion, drive: &[f64]) -> Motion {
        let (lo, hi) = (self.columns[pair] as usize, self.columns[pair + 1] as usize);
        let carried = shift_motion(parent, self.shift[pair]);
        let mut v = carried;
        for j in lo..hi {
            v += self.basis[j] * (drive[j] - self.gain[j].dot(carried));
        }
        v
    }

    /// Bytes held, for memory reports.
    pub fn bytes(&self) -> usize {
        let n = self.shift.len();
        8 * (n + 1) + n * (3 + 6) * 8 + self.basis.len() * (6 + 6 + 1) * 8 + self.pivot.len() * 8
    }

    /// Total number of free directions, the length of a `drive` buffer.
    pub fn n_columns(&self) -> usize {
        self.basis.len()
    }
}

/// `X v`: the twist `d` further along the same rigid body.
#[inline]
pub fn shift_motion(v: Motion, d: DVec3) -> Motion {
    Motion { angular: v.angular, linear: v.linear + v.angular.cross(d) }
}

/// `Xᵀ f`: the wrench seen from `d` back.
#[inline]
pub fn shift_force(f: Force, d: DVec3) -> Force {
    Force { angular: f.angular + d.cross(f.linear), linear: f.linear }
}

/// A contiguous part of a [`PairFactor`], owned by one thread.
#[derive(Debug)]
pub struct PairFactorView<'a> {
    first: usize,
    columns: &'a [u32],
    pivot_starts: &'a [u32],
    shift: &'a mut [DVec3],
    offset: &'a mut [Motion],
    basis: &'a mut [Motion],
    gain: &'a mut [Force],
    drive: &'a mut [f64],
    pivot: &'a mut [f64],
}

impl<'a> PairFactorView<'a> {
    /// Splits into the pairs before `pair` and those from it on.
    pub fn split_at(self, pair: usize) -> (Self, Self) {
        let column = (self.columns[pair] - self.columns[self.first]) as usize;
        let number = (self.pivot_starts[pair] - self.pivot_starts[self.first]) as usize;
        let (shift0, shift1) = self.shift.split_at_mut(pair - self.first);
        let (offset0, offset1) = self.offset.split_at_mut(pair - self.first);
        let (basis0, basis1) = self.basis.split_at_mut(column);
        let (gain0, gain1) = self.gain.split_at_mut(column);
        let (drive0, drive1) = self.drive.split_at_mut(column);
        let (pivot0, pivot1) = self.pivot.split_at_mut(number);
        let (columns, pivot_starts) = (self.columns, self.pivot_starts);
        let left = PairFactorView {
            first: self.first,
            columns,
            pivot_starts,
            shift: shift0,
            offset: offset0,
            basis: basis0,
            gain: gain0,
            drive: drive0,
            pivot: pivot0,
        };
        let right = PairFactorView {
            first: pair,
            columns,
            pivot_starts,
            shift: shift1,
            offset: offset1,
            basis: basis1,
            gain: gain1,
            drive: drive1,
            pivot: pivot1,
        };
        (left, right)
    }

    /// A shorter borrow of the same part.
    pub fn reborrow(&mut self) -> PairFactorView<'_> {
        PairFactorView {
            first: self.first,
            columns: self.columns,
            pivot_starts: self.pivot_starts,
            shift: self.shift,
            offset: self.offset,
            basis: self.basis,
            gain: self.gain,
            drive: self.drive,
            pivot: self.pivot,
        }
    }

    /// Eliminates a pair and returns what its parent receives, with the number of pivots that had to be
    /// regularized (a pivot not above `1e-14` of the pair's largest diagonal entry is raised to it, which is
    /// a compliance in that direction).
    #[inline]
    pub fn eliminate<const F: usize>(
        &mut self,
        pair: usize,
        load: &Load,
        joint: &PairJoint<F>,
    ) -> (Load, u32) {
        let local = pair - self.first;
        let column = (self.columns[pair] - self.columns[self.first]) as usize;
        let number = (self.pivot_starts[pair] - self.pivot_starts[self.first]) as usize;
        self.shift[local] = joint.shift;
        self.offset[local] = joint.offset;

        // ẑ = z̃ − Ã c
        let mut momentum = load.momentum - load.mass.mul(joint.offset);
        let mut mass = load.mass;
        let mut regularized = 0;
        if F > 0 {
            // U = Ã S, D = SᵀU + K̂, e = Sᵀẑ + Q
            let mut u = [Force::ZERO; F];
            let mut d = joint.stiffness;
            let mut e = joint.impulse;
            for i in 0..F {
                u[i] = load.mass.mul(joint.basis[i]);
                e[i] += momentum.dot(joint.basis[i]);
                for j in 0..=i {
                    d[i][j] += u[i].dot(joint.basis[j]);
                }
            }
            let pivot = &mut self.pivot[number..number + F * (F + 1) / 2];
            let gain = <&mut [Force; F]>::try_from(&mut self.gain[column..column + F])
                .expect("one gain column per free direction");
            let drive = <&mut [f64; F]>::try_from(&mut self.drive[column..column + F])
                .expect("one drive number per free direction");
            *drive = e;
            if F == 1 {
                let (inverse, raised) = invert_pivot(d[0][0], d[0][0].abs());
                regularized = raised;
                pivot[0] = inverse;
                gain[0] = u[0] * inverse;
                drive[0] = e[0] * inverse;
            } else {
                regularized = factor_packed(&mut d, pivot);
                *gain = u;
                solve_packed_gain(pivot, gain);
                solve_packed_exact(pivot, drive);
            }
            for i in 0..F {
                // Ã − U Yᵀ, ẑ − U w
                mass.add_product(u[i] * -1.0, gain[i]);
                momentum = momentum - u[i] * drive[i];
            }
            self.basis[column..column + F].copy_from_slice(&joint.basis);
        }
        let up = Load { mass: mass.shifted(joint.shift), momentum: shift_force(momentum, joint.shift) };
        (up, regularized)
    }
}

/// Relative size under which a pivot counts as singular.
const SINGULAR: f64 = 1e-14;

/// `1/d`, with `d` raised to a floor if it is not safely positive.
#[inline]
fn invert_pivot(d: f64, scale: f64) -> (f64, u32) {
    let floor = SINGULAR * scale + f64::MIN_POSITIVE;
    if d > floor { (1.0 / d, 0) } else { (1.0 / floor.max(1e-300), 1) }
}

/// LDLᵀ of the lower triangle of `d`, packed by rows into `out` with `1/D` on the diagonal.
#[inline]
fn factor_packed<const F: usize>(d: &mut [[f64; F]; F], out: &mut [f64]) -> u32 {
    let mut scale = 0.0f64;
    for i in 0..F {
        scale = scale.max(d[i][i].abs());
    }
    let mut regularized = 0;
    for j in 0..F {
        let (inverse, raised) = invert_pivot(d[j][j], scale);
        regularized += raised;
        out[j * (j + 1) / 2 + j] = inverse;
        for i in j + 1..F {
            let l = d[i][j] * inverse;
            out[i * (i + 1) / 2 + j] = l;
            for k in j + 1..=i {
                d[i][k] -= l * d[k][j];
            }
        }
    }
    regularized
}

/// Solves with the packed LDLᵀ in place, constant size.
#[inline]
fn solve_packed_exact<const F: usize>(l: &[f64], x: &mut [f64; F]) {
    for i in 0..F {
        for k in 0..i {
            x[i] -= l[i * (i + 1) / 2 + k] * x[k];
        }
    }
    for i in 0..F {
        x[i] *= l[i * (i + 1) / 2 + i];
    }
    for i in (0..F).rev() {
        for k in i + 1..F {
            x[i] -= l[k * (k + 1) / 2 + i] * x[k];
        }
    }
}

/// The same for wrench-valued right-hand sides: `Y = U D⁻¹`.
#[inline]
fn solve_packed_gain<const F: usize>(l: &[f64], x: &mut [Force; F]) {
    for i in 0..F {
        for k in 0..i {
            x[i] = x[i] - x[k] * l[i * (i + 1) / 2 + k];
        }
    }
    for i in 0..F {
        x[i] = x[i] * l[i * (i + 1) / 2 + i];
    }
    for i in (0..F).rev() {
        for k in i + 1..F {
            x[i] = x[i] - x[k] * l[k * (k + 1) / 2 + i];
        }
    }
}

/// The same with a run-time size.
#[inline]
fn solve_packed(l: &[f64], f: usize, x: &mut [f64; 6]) {
    for i in 0..f {
        for k in 0..i {
            x[i] -= l[i * (i + 1) / 2 + k] * x[k];
        }
    }
    for i in 0..f {
        x[i] *= l[i * (i + 1) / 2 + i];
    }
    for i in (0..f).rev() {
        for k in i + 1..f {
            x[i] -= l[k * (k + 1) / 2 + i] * x[k];
        }
    }
}
