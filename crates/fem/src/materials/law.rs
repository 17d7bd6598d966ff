//! What a material law must provide: a direct stress for most elements, and functions of the stretches for the others.
//!
//! An isotropic law is three functions of the signed stretches `s` of `F = U diag(s) Vᵀ` ([`crate::svd`]): energy
//! density `Ψ̂(s)`, principal stress `P̂(s)` and its derivative. The stress is `P = U diag(P̂) Vᵀ` (KP08 eq. 17).
//! Because the SVD is expensive, a law also gives its stress directly from `F`, everywhere or inside a band of
//! stretches. All functions are written once over [`Lanes`] and inlined into the kernels. J/m³ of rest volume, Pa. NaN
//! in, NaN out.

use super::{constants::Lame, principal_tangent::PrincipalTangent};
use crate::lanes::{Lanes, Vec3};
use crate::mat3::Mat3;

/// A material law with its constants prepared.
pub(crate) trait MaterialLaw {
    /// Whether the direct functions hold only inside a band of stretches. Elements outside it need an SVD.
    const HAS_BAND: bool;

    /// The stress from `F` without an SVD, times `−k`.
    fn direct_stress<L: Lanes>(&self, f: &Mat3<L>, k: L) -> DirectStress<L>;
    /// The energy density from `F` without an SVD, J/m³.
    fn direct_energy(&self, f: &Mat3<f64>) -> f64;
    /// Whether the direct functions hold at `F`.
    fn holds_directly(&self, f: &Mat3<f64>) -> bool;

    /// `Ψ̂(s)`, J/m³.
    fn energy<L: Lanes>(&self, s: Vec3<L>) -> L;
    /// `P̂(s)`, Pa.
    fn stress<L: Lanes>(&self, s: Vec3<L>) -> Vec3<L>;
    /// `∂P̂/∂s` and the stiffness against rotations of the principal axes, Pa.
    fn tangent<L: Lanes>(&self, s: Vec3<L>) -> PrincipalTangent<L>;

    /// Lamé's constants at rest.
    fn lame(&self) -> Lame;
    /// Bounds of the moduli up to the upper end of the band, for the length of explicit steps.
    fn largest_moduli(&self) -> Lame;
}

/// A stress that needed no SVD.
pub(crate) struct DirectStress<L: Lanes> {
    /// `−k P`, Pa times the unit of `k`.
    pub(crate) scaled: Mat3<L>,
    /// Where the direct stress is the stress of the law; used only if the law has a band.
    pub(crate) holds: L::Mask,
    /// `det F`.
    pub(crate) volume: L,
}
