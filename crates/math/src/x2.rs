//! Two of everything: vectors, matrices and rotations of two bodies in the two halves of a SIMD register.
//!
//! Each function does to both halves exactly what its namesake does to one, in the same order of operations, so a
//! result has the same bits whether it was computed alone or beside another. Where the halves need different formulas
//! (a large angle, a NaN), both are computed one by one. Frames and units as in the namesake. SSE2, NEON or plain
//! arrays by platform; only `+ − × ÷ √`, never fused.

use crate::exp_log::{COS, NEARLY_UNIT, SERIES_LIMIT, SINC};
use crate::{Sym3, exp_so3, normalize_quat};
use glam::{DQuat, DVec3};
use std::ops::{Add, Mul, Neg, Sub};
use wide::f64x2;

/// Two numbers.
pub type F64x2 = f64x2;

/// Two numbers from two.
#[inline(always)]
pub fn both(a: f64, b: f64) -> F64x2 {
    f64x2::new([a, b])
}

/// One number twice.
#[inline(always)]
pub fn twice(a: f64) -> F64x2 {
    f64x2::splat(a)
}

/// Two 3-vectors.
#[derive(Clone, Copy, Debug)]
pub struct Vec3x2 {
    /// First components.
    pub x: F64x2,
    /// Second components.
    pub y: F64x2,
    /// Third components.
    pub z: F64x2,
}

impl Vec3x2 {
    /// From its halves.
    #[inline(always)]
    pub fn new(a: DVec3, b: DVec3) -> Self {
        Self { x: both(a.x, b.x), y: both(a.y, b.y), z: both(a.z, b.z) }
    }

    /// One vector twice.
    #[inline(always)]
    pub fn splat(a: DVec3) -> Self {
        Self { x: twice(a.x), y: twice(a.y), z: twice(a.z) }
    }

    /// The half `I`: 0 or 1.
    #[inline(always)]
    pub fn half<const I: usize>(&self) -> DVec3 {
        DVec3::new(self.x.to_array()[I], self.y.to_array()[I], self.z.to_array()[I])
    }

    /// Scalar products.
    #[inline(always)]
    pub fn dot(self, b: Self) -> F64x2 {
        self.x * b.x + self.y * b.y + self.z * b.z
    }

    /// Vector products.
    #[inline(always)]
    pub fn cross(self, b: Self) -> Self {
        Self {
            x: self.y * b.z - b.y * self.z,
            y: self.z * b.x - b.z * self.x,
            z: self.x * b.y - b.x * self.y,
        }
    }

    /// Component by component.
    #[inline(always)]
    pub fn times(self, b: Self) -> Self {
        Self { x: self.x * b.x, y: self.y * b.y, z: self.z * b.z }
    }
}

impl Add for Vec3x2 {
    type Output = Self;
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self { x: self.x + b.x, y: self.y + b.y, z: self.z + b.z }
    }
}

impl Sub for Vec3x2 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self { x: self.x - b.x, y: self.y - b.y, z: self.z - b.z }
    }
}

impl Mul<F64x2> for Vec3x2 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, k: F64x2) -> Self {
        Self { x: self.x * k, y: self.y * k, z: self.z * k }
    }
}

impl Neg for Vec3x2 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self { x: -self.x, y: -self.y, z: -self.z }
    }
}

/// Two 3×3 matrices by columns.
#[derive(Clone, Copy, Debug)]
pub struct Mat3x2 {
    /// First columns.
    pub x_axis: Vec3x2,
    /// Second columns.
    pub y_axis: Vec3x2,
    /// Third columns.
    pub z_axis: Vec3x2,
}

impl Mat3x2 {
    /// [`crate::quat_to_mat3`] of two unit quaternions.
    #[inline(always)]
    pub fn from_quats(a: DQuat, b: DQuat) -> Self {
        let (x, y, z, w) = (both(a.x, b.x), both(a.y, b.y), both(a.z, b.z), both(a.w, b.w));
        let (x2, y2, z2) = (x + x, y + y, z + z);
        let (xx, yy, zz) = (x * x2, y * y2, z * z2);
        let (xy, xz, yz) = (x * y2, x * z2, y * z2);
        let (wx, wy, wz) = (w * x2, w * y2, w * z2);
        let one = twice(1.0);
        Self {
            x_axis: Vec3x2 { x: one - (yy + zz), y: xy + wz, z: xz - wy },
            y_axis: Vec3x2 { x: xy - wz, y: one - (xx + zz), z: yz + wx },
            z_axis: Vec3x2 { x: xz + wy, y: yz - wx, z: one - (xx + yy) },
        }
    }

    /// Transposes times vectors.
    #[inline(always)]
    pub fn transpose_mul(&self, v: Vec3x2) -> Vec3x2 {
        Vec3x2 { x: self.x_axis.dot(v), y: self.y_axis.dot(v), z: self.z_axis.dot(v) }
    }
}

impl Mul<Vec3x2> for &Mat3x2 {
    type Output = Vec3x2;
    #[inline(always)]
    fn mul(self, v: Vec3x2) -> Vec3x2 {
        self.x_axis * v.x + self.y_axis * v.y + self.z_axis * v.z
    }
}

/// Two symmetric 3×3 matrices.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the entries are their names")]
pub struct Sym3x2 {
    pub xx: F64x2,
    pub yy: F64x2,
    pub zz: F64x2,
    pub xy: F64x2,
    pub xz: F64x2,
    pub yz: F64x2,
}

impl Sym3x2 {
    /// The half `I`: 0 or 1.
    #[inline(always)]
    pub fn half<const I: usize>(&self) -> Sym3 {
        Sym3 {
            xx: self.xx.to_array()[I],
            yy: self.yy.to_array()[I],
            zz: self.zz.to_array()[I],
            xy: self.xy.to_array()[I],
            xz: self.xz.to_array()[I],
            yz: self.yz.to_array()[I],
        }
    }
}

impl Mul<F64x2> for Sym3x2 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, k: F64x2) -> Self {
        Self {
            xx: self.xx * k,
            yy: self.yy * k,
            zz: self.zz * k,
            xy: self.xy * k,
            xz: self.xz * k,
            yz: self.yz * k,
        }
    }
}

/// [`crate::Pose::retract`]'s rotation for two bodies: `exp(φ) q`, renormalized.
#[inline(always)]
pub fn turn_x2(phi: Vec3x2, a: DQuat, b: DQuat) -> [DQuat; 2] {
    let x = phi.dot(phi);
    let is_small = x.simd_lt(twice(SERIES_LIMIT));
    if !is_small.all() {
        return [normalize_quat(exp_so3(phi.half::<0>()) * a), normalize_quat(exp_so3(phi.half::<1>()) * b)];
    }
    let y = twice(0.25) * x;
    let (w0, scale) = (series_x2(y, &COS), twice(0.5) * series_x2(y, &SINC));
    let (x0, y0, z0) = (scale * phi.x, scale * phi.y, scale * phi.z);
    let (x1, y1, z1, w1) = (both(a.x, b.x), both(a.y, b.y), both(a.z, b.z), both(a.w, b.w));
    let product = [
        w0 * x1 + x0 * w1 + y0 * z1 - z0 * y1,
        w0 * y1 - x0 * z1 + y0 * w1 + z0 * x1,
        w0 * z1 + x0 * y1 - y0 * x1 + z0 * w1,
        w0 * w1 - x0 * x1 - y0 * y1 - z0 * z1,
    ];
    let [px, py, pz, pw] = product;
    let excess = px * px + py * py + pz * pz + pw * pw - twice(1.0);
    let halves = |p: [F64x2; 4]| [0, 1].map(|i| DQuat::from_array(p.map(|p| p.to_array()[i])));
    if excess.abs().simd_lt(twice(NEARLY_UNIT)).all() {
        let scale = twice(1.0) - twice(0.5) * excess;
        let unit = product.map(|p| p * scale);
        halves(unit)
    } else {
        halves(product).map(normalize_quat)
    }
}

/// `exp_log::series` of two numbers.
#[inline(always)]
fn series_x2<const N: usize>(x: F64x2, coefficients: &[f64; N]) -> F64x2 {
    let x2 = x * x;
    let (mut first, mut second) = (twice(coefficients[N - 1]), twice(coefficients[N - 2]));
    for n in (0..N - 2).rev() {
        (first, second) = (second, first * x2 + twice(coefficients[n]));
    }
    second + x * first
}
