//! Vectors, quaternions and matrices of two bodies at once, in the two lanes of a SIMD register.
//!
//! Each function applies the scalar function of the same name to both lanes, in the same order of operations. A result
//! therefore has the same bits in either lane and as a scalar. Frames and units are those of the scalar function. SSE2,
//! NEON or plain arrays, by platform; only `+ − × ÷ √`, never fused.

use crate::sym3::Sym3;
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
    /// Zero twice.
    pub const ZERO: Self = Self { x: f64x2::ZERO, y: f64x2::ZERO, z: f64x2::ZERO };

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

/// Two quaternions.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the components are their names")]
pub struct Quatx2 {
    pub x: F64x2,
    pub y: F64x2,
    pub z: F64x2,
    pub w: F64x2,
}

impl Quatx2 {
    /// From its halves.
    #[inline(always)]
    pub fn new(a: DQuat, b: DQuat) -> Self {
        Self { x: both(a.x, b.x), y: both(a.y, b.y), z: both(a.z, b.z), w: both(a.w, b.w) }
    }

    /// Both halves.
    #[inline(always)]
    pub fn halves(self) -> [DQuat; 2] {
        let [x, y, z, w] = [self.x, self.y, self.z, self.w].map(F64x2::to_array);
        [0, 1].map(|i| DQuat::from_xyzw(x[i], y[i], z[i], w[i]))
    }

    /// Inverses of unit quaternions.
    #[inline(always)]
    pub fn conjugate(self) -> Self {
        Self { x: -self.x, y: -self.y, z: -self.z, w: self.w }
    }
}

impl Mul for Quatx2 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        let a = self;
        Self {
            x: a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            y: a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
            z: a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
            w: a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
        }
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
    pub fn from_quats(q: Quatx2) -> Self {
        let Quatx2 { x, y, z, w } = q;
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
    /// From its halves.
    #[inline(always)]
    pub fn new(a: Sym3, b: Sym3) -> Self {
        Self {
            xx: both(a.xx, b.xx),
            yy: both(a.yy, b.yy),
            zz: both(a.zz, b.zz),
            xy: both(a.xy, b.xy),
            xz: both(a.xz, b.xz),
            yz: both(a.yz, b.yz),
        }
    }

    /// Multiples of the unit matrix.
    #[inline(always)]
    pub fn isotropic(d: F64x2) -> Self {
        let zero = twice(0.0);
        Self { xx: d, yy: d, zz: d, xy: zero, xz: zero, yz: zero }
    }

    /// `v vᵀ`.
    #[inline(always)]
    pub fn outer(v: Vec3x2) -> Self {
        Self { xx: v.x * v.x, yy: v.y * v.y, zz: v.z * v.z, xy: v.x * v.y, xz: v.x * v.z, yz: v.y * v.z }
    }

    /// Matrices times vectors.
    #[inline(always)]
    pub fn mul_vec(&self, v: Vec3x2) -> Vec3x2 {
        Vec3x2 {
            x: self.xx * v.x + self.xy * v.y + self.xz * v.z,
            y: self.xy * v.x + self.yy * v.y + self.yz * v.z,
            z: self.xz * v.x + self.yz * v.y + self.zz * v.z,
        }
    }

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

impl Add for Sym3x2 {
    type Output = Self;
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self {
            xx: self.xx + b.xx,
            yy: self.yy + b.yy,
            zz: self.zz + b.zz,
            xy: self.xy + b.xy,
            xz: self.xz + b.xz,
            yz: self.yz + b.yz,
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
