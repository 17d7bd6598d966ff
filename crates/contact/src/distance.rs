//! The signed distance of a point from a shape, in the frame of the shape (m).
//!
//! Closed formulas. Inside, the distance is negative and the normal is that of the nearest face. Where several are
//! equally near, such as at the centre of a sphere, a fixed rule chooses one, so that equal input gives equal bits.

use crate::nearest::Nearest;
use crate::shape::ContactShape;
use glam::DVec3;

impl ContactShape {
    /// Distance (m) of a point, in the frame of the shape, from its surface; negative inside. None beyond the border of
    /// a height field, where there is no surface.
    pub fn signed_distance(&self, point: DVec3) -> Option<f64> {
        self.distance(point).map(|nearest| nearest.distance)
    }

    /// Distance and normal; none beyond the border of a height field.
    #[inline]
    pub(crate) fn distance(&self, p: DVec3) -> Option<Nearest> {
        Some(match self {
            Self::Plane => Nearest { distance: p.z, normal: DVec3::Z },
            Self::Box { edges } => from_box(p, *edges * 0.5),
            Self::Sphere { radius } => from_core(p, *radius, DVec3::Z),
            Self::Capsule { radius, length } => {
                let on_axis = DVec3::X * p.x.clamp(-0.5 * length, 0.5 * length);
                from_core(p - on_axis, *radius, DVec3::Z)
            }
            Self::Cylinder { radius, length } => from_cylinder(p, *radius, 0.5 * length),
            Self::Convex(hull) => hull.distance(p),
            Self::Field(field) => return field.distance(p),
        })
    }
}

fn from_core(offset: DVec3, radius: f64, otherwise: DVec3) -> Nearest {
    let length = offset.length();
    let normal = if length > 0.0 { offset / length } else { otherwise };
    Nearest { distance: length - radius, normal }
}

fn from_box(p: DVec3, half: DVec3) -> Nearest {
    let excess = p.abs() - half;
    if excess.max_element() > 0.0 {
        let out = excess.max(DVec3::ZERO);
        let distance = out.length();
        return Nearest { distance, normal: signed(out / distance, p) };
    }
    let axis = if excess.x >= excess.y && excess.x >= excess.z {
        DVec3::X
    } else if excess.y >= excess.z {
        DVec3::Y
    } else {
        DVec3::Z
    };
    Nearest { distance: excess.max_element(), normal: signed(axis, p) }
}

fn signed(v: DVec3, sign: DVec3) -> DVec3 {
    DVec3::new(v.x.copysign(sign.x), v.y.copysign(sign.y), v.z.copysign(sign.z))
}

fn from_cylinder(p: DVec3, radius: f64, half: f64) -> Nearest {
    let radial = DVec3::new(0.0, p.y, p.z);
    let from_axis = radial.length();
    let outward = if from_axis > 0.0 { radial / from_axis } else { DVec3::Z };
    let (side, end) = (from_axis - radius, p.x.abs() - half);
    if side > 0.0 && end > 0.0 {
        let distance = (side * side + end * end).sqrt();
        return Nearest { distance, normal: (outward * side + DVec3::X * end.copysign(p.x)) / distance };
    }
    if side >= end {
        Nearest { distance: side, normal: outward }
    } else {
        Nearest { distance: end, normal: DVec3::X * 1f64.copysign(p.x) }
    }
}
