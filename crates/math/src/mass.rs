//! Mass properties of simple solids and of their unions.
//!
//! Uniform density in kg/m³, lengths in metres; shapes are centred on the origin, their axis (where one exists) along
//! x. Formulas: docs/maths, mass properties. Sizes and densities are not checked: callers ensure that they are positive
//! and finite, or call [`MassProperties::is_physical`] afterwards. Constant cost.

use crate::exp_log::{mat3_to_quat, quat_to_mat3};
use crate::{eigen3::symmetric_eigen, inertia::SpatialInertia, pose::Pose, sym3::Sym3};
use glam::{DQuat, DVec3};
use std::f64::consts::PI;

/// Tolerance of the triangle inequality, as a fraction of the largest moment: flat and thin bodies reach equality, and files of robots
/// round their moments to two or three digits. Dynamics needs no more than positive moments.
const TRIANGLE_TOLERANCE: f64 = 1e-2;

/// Mass, centre of mass and inertia about it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MassProperties {
    /// Mass (kg).
    pub mass: f64,
    /// Centre of mass, in the frame (m).
    pub com: DVec3,
    /// Inertia about the centre of mass, in the axes of the frame (kg·m²).
    pub inertia: Sym3,
}

impl MassProperties {
    /// Solid box with the full edge lengths `edges`.
    pub fn cuboid(edges: DVec3, density: f64) -> Self {
        let mass = density * edges.x * edges.y * edges.z;
        Self::centred(mass, sum_of_others(edges * edges) * (mass / 12.0))
    }

    /// Solid sphere.
    pub fn sphere(radius: f64, density: f64) -> Self {
        Self::ellipsoid(DVec3::splat(radius), density)
    }

    /// Solid ellipsoid with these half axes.
    pub fn ellipsoid(semi_axes: DVec3, density: f64) -> Self {
        let mass = density * (4.0 / 3.0 * PI) * semi_axes.x * semi_axes.y * semi_axes.z;
        Self::centred(mass, sum_of_others(semi_axes * semi_axes) * (mass / 5.0))
    }

    /// Solid cylinder of full length `length` along x.
    pub fn cylinder(radius: f64, length: f64, density: f64) -> Self {
        let mass = density * PI * radius * radius * length;
        let axial = 0.5 * mass * radius * radius;
        let transverse = mass * (3.0 * radius * radius + length * length) / 12.0;
        Self::centred(mass, DVec3::new(axial, transverse, transverse))
    }

    /// Solid capsule along x: a cylinder of length `length` with half spheres on its ends.
    pub fn capsule(radius: f64, length: f64, density: f64) -> Self {
        let tube = Self::cylinder(radius, length, density);
        let caps = density * (4.0 / 3.0 * PI) * radius * radius * radius;
        let axial = 0.4 * caps * radius * radius;
        let transverse = caps * (0.4 * radius * radius + 0.375 * length * radius + 0.25 * length * length);
        let inertia = tube.inertia + Sym3::diagonal(DVec3::new(axial, transverse, transverse));
        Self { mass: tube.mass + caps, com: DVec3::ZERO, inertia }
    }

    /// This shape with another total mass (kg).
    pub fn with_mass(self, mass: f64) -> Self {
        Self { mass, com: self.com, inertia: self.inertia * (mass / self.mass) }
    }

    /// This body in the outer frame of `outer_from_frame`.
    pub fn transformed_by(&self, outer_from_frame: Pose) -> Self {
        Self {
            mass: self.mass,
            com: outer_from_frame.transform_point(self.com),
            inertia: self.inertia.rotated_by(&quat_to_mat3(outer_from_frame.rotation)),
        }
    }

    /// Union of bodies, each placed in the common frame by its pose. Massless parts or none at all give zeros.
    pub fn combine(parts: &[(Pose, Self)]) -> Self {
        let placed = || parts.iter().map(|(pose, part)| part.transformed_by(*pose));
        let mass: f64 = placed().map(|p| p.mass).sum();
        let moment: DVec3 = placed().map(|p| p.com * p.mass).sum();
        let com = if mass == 0.0 { DVec3::ZERO } else { moment / mass };
        // Huygens–Steiner about the common centre
        let inertia = placed()
            .fold(Sym3::ZERO, |sum, p| sum + p.inertia + Sym3::minus_skew_squared(p.com - com) * p.mass);
        Self { mass, com, inertia }
    }

    /// Rotation from principal to frame axes, and the principal moments in ascending order (kg·m²).
    pub fn principal_axes(&self) -> (DQuat, DVec3) {
        let (moments, axes) = symmetric_eigen(self.inertia);
        (mat3_to_quat(&axes), moments)
    }

    /// Spatial inertia about the frame origin.
    pub fn spatial_inertia(&self) -> SpatialInertia {
        SpatialInertia::from_parts(self.mass, self.com, self.inertia)
    }

    /// Whether a body of positive mass could have these properties.
    ///
    /// # Errors
    /// [`MassError`] says which property fails.
    pub fn is_physical(&self) -> Result<(), MassError> {
        if !(self.mass.is_finite() && self.com.is_finite() && self.inertia.is_finite()) {
            return Err(MassError::NotFinite);
        }
        if self.mass <= 0.0 {
            return Err(MassError::MassNotPositive { mass: self.mass });
        }
        let moments = self.principal_moments();
        if moments.x <= 0.0 {
            return Err(MassError::MomentNotPositive { moment: moments.x });
        }
        if moments.z > moments.x + moments.y + TRIANGLE_TOLERANCE * moments.z {
            return Err(MassError::TriangleInequality { moments: moments.to_array() });
        }
        Ok(())
    }

    /// Principal moments, ascending (kg·m²).
    fn principal_moments(&self) -> DVec3 {
        let Sym3 { xy, xz, yz, .. } = self.inertia;
        if xy != 0.0 || xz != 0.0 || yz != 0.0 {
            return self.principal_axes().1;
        }
        let mut moments = self.inertia.diagonal_entries().to_array();
        moments.sort_unstable_by(f64::total_cmp);
        moments.into()
    }

    fn centred(mass: f64, moments: DVec3) -> Self {
        Self { mass, com: DVec3::ZERO, inertia: Sym3::diagonal(moments) }
    }
}

/// `(y + z, x + z, x + y)`.
fn sum_of_others(v: DVec3) -> DVec3 {
    DVec3::new(v.y + v.z, v.x + v.z, v.x + v.y)
}

/// Why mass properties are not those of a rigid body.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum MassError {
    /// A number is NaN or infinite.
    NotFinite,
    /// The mass is zero or negative.
    MassNotPositive {
        /// The mass (kg).
        mass: f64,
    },
    /// A principal moment is zero or negative.
    MomentNotPositive {
        /// The smallest principal moment (kg·m²).
        moment: f64,
    },
    /// One principal moment exceeds the sum of the others.
    TriangleInequality {
        /// Principal moments, ascending (kg·m²).
        moments: [f64; 3],
    },
}

messages! {
    MassError {
        Self::NotFinite => "mass properties contain NaN or infinity";
        Self::MassNotPositive { mass } => "mass is {mass} kg; it must be positive";
        Self::MomentNotPositive { moment } =>
            "smallest principal moment of inertia is {moment} kg·m²; it must be positive";
        Self::TriangleInequality { moments: [a, b, c] } =>
            "principal moments of inertia {a}, {b}, {c} kg·m² belong to no body: \
             the largest must not exceed the sum of the others";
    }
}
