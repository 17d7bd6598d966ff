//! Vectors, quaternions and matrices of two bodies at once, in the two lanes of a SIMD register.
//!
//! Each function applies the scalar function of the same name to both lanes, in the same order of operations. A result
//! therefore has the same bits in either lane and as a scalar. Frames and units are those of the scalar function. SSE2,
//! NEON or plain arrays, by platform; only `+ − × ÷ √`, never fused.

use crate::lanes::{F64x2, Scalar, Vector3};
use crate::{exp_log::rotation_columns, sym3::Sym3};
use glam::{DQuat, DVec3};
use std::ops::{Add, Mul, Neg, Sub};

/// Two numbers from two.
#[inline(always)]
pub fn both(a: f64, b: f64) -> F64x2 {
    F64x2::new([a, b])
}

/// One number twice.
#[inline(always)]
pub fn twice(a: f64) -> F64x2 {
    F64x2::splat(a)
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
    pub const ZERO: Self = Self { x: F64x2::ZERO, y: F64x2::ZERO, z: F64x2::ZERO };

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

impl Vector3 for Vec3x2 {
    type Number = F64x2;
    #[inline(always)]
    fn from_xyz([x, y, z]: [F64x2; 3]) -> Self {
        Self { x, y, z }
    }
    #[inline(always)]
    fn xyz(self) -> [F64x2; 3] {
        [self.x, self.y, self.z]
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
    pub fn from_quats(Quatx2 { x, y, z, w }: Quatx2) -> Self {
        let [x_axis, y_axis, z_axis] = rotation_columns([x, y, z, w]);
        Self {
            x_axis: Vec3x2::from_xyz(x_axis),
            y_axis: Vec3x2::from_xyz(y_axis),
            z_axis: Vec3x2::from_xyz(z_axis),
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
pub type Sym3x2 = Sym3<F64x2>;

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
